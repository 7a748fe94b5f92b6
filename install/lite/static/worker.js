// Loads halfnote's kernel, which takes over the messages of this worker: see package kernel/worker.
importScripts('wasm_exec.js');

var early = []; // messages that arrive before
onmessage = ({ data }) => early.push(data);

(async () => {
  let ended = 'the program of the kernel ended';
  try {
    const go = new Go();
    go.argv = ['halfnote'];
    go.env = { HOME: '/home', TMPDIR: '/tmp' };
    go.exit = code => { ended = `the program of the kernel ended with status ${code}; the console of the browser shows why`; };
    const packed = await fetch(new URL('halfnote.wasm.gz', location.href));
    if (!packed.ok) throw new Error(`halfnote.wasm.gz: ${packed.status} ${packed.statusText}`);
    // A server that names the encoding has made the browser unpack it.
    const plain = packed.headers.get('Content-Encoding') ? packed.body : packed.body.pipeThrough(new DecompressionStream('gzip'));
    const { instance } = await WebAssembly.instantiateStreaming(new Response(plain, { headers: { 'Content-Type': 'application/wasm' } }), go.importObject);
    await go.run(instance);
  } catch (error) {
    ended = String(error);
  }
  postMessage({ died: ended });
})();
