// node files.mjs FILES: calls install/lite/static/files.js as Go's port for js does, with a drive that keeps models as JupyterLite does, and prints a line for each call.
import path from 'node:path';
import { createRequire } from 'node:module';

createRequire(import.meta.url)(path.resolve(process.argv[2]));
const models = new Map([['walk.ipynb', { type: 'notebook', format: 'json', content: { cells: [] } }], ['folder', { type: 'directory' }]]);
const stored = {
  get(name) {
    const inside = [...models.keys()].filter(n => path.dirname(n) === (name || '.')).map(n => ({ name: path.basename(n) }));
    if (name === '') return { type: 'directory', content: inside, last_modified: '2026-01-01T00:00:00Z' };
    const m = models.get(name);
    if (!m) throw new Error('missing');
    return { ...m, content: m.type === 'directory' ? inside : m.content, last_modified: '2026-01-01T00:00:00Z', size: typeof m.content === 'string' ? atob(m.content).length : 0 };
  },
  save(name, model) { models.set(name, model); },
  delete(name) { models.delete(name); },
  rename(from, to) { models.set(to, models.get(from)); models.delete(from); }
};
const { fs } = filesOf(async (call, ...args) => stored[call](...args), '/drive', new URL('http://127.0.0.1:1/'));
const call = (name, ...args) => new Promise((resolve, reject) => fs[name](...args, (error, result) => (error ? reject(error) : resolve(result))));
const { O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = fs.constants;

const write = async (name, text, flags = O_WRONLY | O_CREAT | O_TRUNC) => {
  const fd = await call('open', name, flags, 0o644);
  const bytes = new TextEncoder().encode(text);
  await call('write', fd, bytes, 0, bytes.length, null);
  await call('close', fd);
};
const read = async name => {
  const fd = await call('open', name, 0, 0), parts = [], buffer = new Uint8Array(4);
  for (let n; (n = await call('read', fd, buffer, 0, 4, null)) > 0;) parts.push(...buffer.slice(0, n));
  await call('close', fd);
  return new TextDecoder().decode(Uint8Array.from(parts));
};
const show = async (what, f) => console.log(`${what}: ${await f().then(v => JSON.stringify(v), e => e.code)}`);

for (const folder of ['/tmp', '/drive']) {
  const at = name => `${folder}/${name}`;
  await show('missing', () => read(at('a')));
  await show('write', async () => { await write(at('a'), 'one ø two'); return read(at('a')); });
  await show('append', async () => { await write(at('a'), '!', O_WRONLY | O_APPEND); return read(at('a')); });
  await show('exclusive', () => write(at('a'), 'x', O_WRONLY | O_CREAT | O_EXCL));
  await show('in the middle', async () => {
    const fd = await call('open', at('a'), O_RDWR, 0);
    await call('write', fd, new TextEncoder().encode('TWO'), 0, 3, 7);
    await call('ftruncate', fd, 11);
    await call('close', fd);
    return read(at('a'));
  });
  await show('size', async () => (await call('stat', at('a'))).size);
  await show('folder', async () => { await call('mkdir', at('d'), 0o755); await write(at('d/b'), 'b'); return call('readdir', at('d')); });
  await show('a folder that exists', () => call('mkdir', at('d'), 0o755));
  await show('a folder that is not empty', () => call('rmdir', at('d')));
  await show('not a folder', () => call('rmdir', at('a')));
  await show('rename', async () => { await call('rename', at('a'), at('d/b')); return [await call('readdir', folder), await read(at('d/b'))]; });
  await show('remove', async () => { await call('unlink', at('d/b')); await call('rmdir', at('d')); return call('readdir', folder); });
}
await show('from memory to the drive', async () => { await write('/tmp/m', 'moved'); await call('rename', '/tmp/m', '/drive/m'); return [await call('readdir', '/tmp'), await read('m')]; });
await show('a notebook', () => read('walk.ipynb'));
await show('a site without a server', () => read('/site/z/fmt.docs'));
