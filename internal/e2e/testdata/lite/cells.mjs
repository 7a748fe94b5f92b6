// node cells.mjs GOROOT PROGRAM CELLS: runs cells in a kernel in this process, which takes the place of a worker. CELLS is a JSON list of
// {code}, with "interrupt" after so many milliseconds, or an "answer" to input. Prints for each a line of JSON: its reply's status and its messages on iopub.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
Object.assign(globalThis, { require, fs, path });
const [goroot, program, file] = process.argv.slice(2);
require(path.join(goroot, 'lib', 'wasm', 'wasm_exec.js'));

let take = () => {};
globalThis.postMessage = ({ text, size }) => setImmediate(() => {
  globalThis.onmessage({ data: { taken: size } });
  take(JSON.parse(text));
});
const send = (channel, id, type, content) => {
  const header = { msg_id: id, msg_type: type, session: 's', username: '', date: '', version: '5.3' };
  globalThis.onmessage({ data: { text: JSON.stringify({ channel, header, parent_header: {}, metadata: {}, content }), buffers: [] } });
};

const go = new Go();
go.env = { TMPDIR: '/tmp' };
go.exit = code => process.exit(code || 1); // a kernel does not end by itself
const { instance } = await WebAssembly.instantiate(fs.readFileSync(program), go.importObject);
const started = new Promise(resolve => { take = m => m.content.execution_state === 'starting' && resolve(); });
go.run(instance).catch(error => { console.error(error); process.exit(1); });
await started;

for (const [n, cell] of JSON.parse(fs.readFileSync(file)).entries()) {
  const outputs = [];
  let status;
  await new Promise(resolve => {
    take = m => {
      const type = m.header.msg_type;
      if (type === 'input_request') return send('stdin', `answer ${n}`, 'input_reply', { value: cell.answer });
      if (m.parent_header.msg_id !== `cell ${n}`) return;
      if (m.channel === 'shell') status = m.content.status;
      else if (type === 'execute_input' && cell.interrupt) setTimeout(send, cell.interrupt, 'control', `interrupt ${n}`, 'interrupt_request', {});
      else if (type === 'status') m.content.execution_state === 'idle' && resolve();
      else if (type !== 'execute_input') outputs.push({ type, content: m.content });
    };
    send('shell', `cell ${n}`, 'execute_request', { code: cell.code });
  });
  console.log(JSON.stringify({ status, outputs }));
}
process.exit(0);
