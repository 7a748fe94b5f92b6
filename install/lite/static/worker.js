// Loads halfnote's kernel, which takes over the messages of this worker: see package kernel/worker.
importScripts('files.js', 'fzstd.js');

var early = []; // messages that arrive before
const connected = new Promise(resolve => {
  onmessage = ({ data }) => (data.port ? resolve(data) : early.push(data));
});

// driveOf returns the function that calls a method of the page's contents.
const driveOf = port => {
  const open = new Map();
  let last = 0;
  port.onmessage = ({ data: { id, result, error } }) => {
    const [resolve, reject] = open.get(id);
    open.delete(id);
    error === undefined ? resolve(result) : reject(new Error(error));
  };
  return (...call) => new Promise((resolve, reject) => {
    open.set(++last, [resolve, reject]);
    port.postMessage({ id: last, call });
  });
};

// unpacked returns the program, which is unpacked while it arrives: by the browser if the server names the encoding, else here.
const unpacked = async name => {
  const packed = await fetch(new URL(name, location.href));
  if (!packed.ok) throw new Error(`${name}: ${packed.status} ${packed.statusText}`);
  const total = Number(packed.headers.get('Content-Length'));
  let taken = 0, shown = 0;
  const plain = new TransformStream({
    start(out) {
      const give = part => out.enqueue(part);
      this.unpack = packed.headers.get('Content-Encoding') === 'zstd' ? { push: give } : new fzstd.Decompress(give);
    },
    transform(part) {
      taken += part.length;
      if (taken - shown > 100000) postMessage({ loading: [shown = taken, total] });
      this.unpack.push(part);
    },
    flush() { postMessage({ loading: [taken, taken] }); }
  });
  return new Response(packed.body.pipeThrough(plain), { headers: { 'Content-Type': 'application/wasm' } });
};

(async () => {
  let ended = 'the program of the kernel ended';
  try {
    const program = unpacked('halfnote.wasm.zst');
    const { port, cwd } = await connected;
    Object.assign(globalThis, filesOf(driveOf(port), cwd, new URL('data/', location.href)));
    importScripts('wasm_exec.js');
    const go = new Go();
    go.argv = ['halfnote'];
    go.env = { HOME: '/home', TMPDIR: '/tmp', HALFNOTE_DATA: '/site' };
    go.exit = code => { ended = `the program of the kernel ended with status ${code}; the console of the browser shows why`; };
    const { instance } = await WebAssembly.instantiateStreaming(program, go.importObject);
    await go.run(instance);
  } catch (error) {
    ended = String(error);
  }
  postMessage({ died: ended });
})();
