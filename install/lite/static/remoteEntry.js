// The extension of JupyterLite that starts halfnote's kernel in a worker and passes messages on. It is a container of module federation,
// which webpack would write, by hand.
var _JUPYTERLAB;
(_JUPYTERLAB = _JUPYTERLAB || {})['halfnote-lite'] = (() => {
  const base = document.currentScript.src;
  let scope;
  const shared = async name => {
    const found = Object.values(scope[name] ?? {})[0];
    if (!found) throw new Error(`halfnote: this JupyterLite does not share ${name}`);
    return (await found.get())();
  };

  const load = async () => {
    const [{ IKernelSpecs, IKernelClient }, { Signal }] = await Promise.all([shared('@jupyterlite/services'), shared('@lumino/signaling')]);
    const kernels = new Map();
    let contents; // of JupyterLite: what its file browser shows

    // keep adds what the page loaded before the service worker of the site ran to what that keeps.
    performance.setResourceTimingBufferSize(5000);
    const keep = async () => {
      if (!globalThis.caches || !navigator.serviceWorker) return;
      await navigator.serviceWorker.ready;
      const cache = await caches.open('halfnote');
      const own = ['worker.js', 'files.js', 'fzstd.js', 'wasm_exec.js', 'halfnote.wasm.zst'].map(name => new URL(name, base).href);
      const names = new Set([location.href, ...own, ...performance.getEntriesByType('resource').map(e => e.name)]);
      await Promise.all([...names].map(async name => {
        if (!name.startsWith(location.origin) || name.includes('/service-worker-heartbeat') || await cache.match(name)) return;
        const response = await fetch(name, { cache: 'force-cache' });
        if (response.status === 200) await cache.put(name, response);
      }));
      document.documentElement.dataset.halfnoteKept = 'true';
    };

    // Loading shows how much of the program has arrived, in a corner of the page.
    class Loading {
      constructor() {
        this.node = document.createElement('div');
        this.node.setAttribute('role', 'status');
        this.node.className = 'halfnote-loading';
        this.node.style.cssText = 'position:fixed;right:12px;bottom:32px;z-index:10000;max-width:calc(100vw - 24px);box-sizing:border-box;padding:8px 12px;border-radius:4px;' +
          'font:13px var(--jp-ui-font-family,sans-serif);color:var(--jp-ui-font-color1,#000);background:var(--jp-layout-color1,#fff);border:1px solid var(--jp-border-color1,#bbb);box-shadow:0 2px 6px #0003';
        this.text = document.createElement('div');
        this.bar = document.createElement('progress');
        this.bar.style.cssText = 'display:block;width:100%;margin-top:4px';
        this.node.append(this.text, this.bar);
        this.shows('Loading the Go kernel');
        document.body.append(this.node);
      }
      shows(text) { this.text.textContent = text; }
      took(bytes, total) {
        const mb = n => (n / 1e6).toFixed(1);
        if (total) Object.assign(this.bar, { max: total, value: bytes });
        this.shows(bytes === total ? 'Starting the Go kernel' : `Loading the Go kernel: ${mb(bytes)}${total ? ` of ${mb(total)}` : ''} MB`);
        if (bytes === total) this.bar.removeAttribute('value');
      }
      remove() { this.node.remove(); }
    }

    class Kernel {
      constructor({ id, name, location, sendMessage }) {
        Object.assign(this, { id, name, location, sendMessage });
        this.disposed = new Signal(this);
        this.isDisposed = false;
        this.ready = Promise.resolve(); // the worker keeps messages until it can take them
        this.open = new Map(); // requests without an idle status, by id
        kernels.set(id, this);
        this.start();
      }

      start() {
        const worker = this.worker = new Worker(new URL('worker.js', base));
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = async ({ data: { id, call: [name, ...args] } }) => {
          try {
            port1.postMessage({ id, result: await contents[name](...args) });
          } catch (error) {
            port1.postMessage({ id, error: String(error) });
          }
        };
        const folder = (this.location ?? '').replace(/^[^/]*:/, '');
        worker.postMessage({ port: port2, cwd: folder ? `/drive/${folder}` : '/drive' }, [port2]);
        this.loading ??= new Loading();
        let served = false;
        worker.onerror = e => this.died(worker, served, e.message || 'the program of the kernel could not be loaded');
        worker.onmessage = ({ data }) => {
          if (data.died !== undefined) return this.died(worker, served, data.died);
          if (data.loading) return this.loading?.took(...data.loading);
          if (!served) {
            served = true;
            this.loaded();
            setTimeout(() => keep().catch(error => console.warn(`halfnote: this site will not work without a network: ${error}`)), 1000); // the page comes first
          }
          const msg = JSON.parse(data.text);
          if (msg.channel === 'iopub' && msg.content.execution_state === 'idle') this.open.delete(msg.parent_header.msg_id);
          // JupyterLite finds the front end by the session of the header: the one that asked, or the newest.
          const session = msg.parent_header.session ?? this.session;
          if (session) this.sendMessage({ ...msg, header: { ...msg.header, session }, buffers: data.buffers });
          worker.postMessage({ taken: data.size });
        };
      }

      loaded() {
        this.loading?.remove();
        this.loading = null;
      }

      // The kernel has queues: messages do not wait for a cell here.
      async handleMessage({ channel, header, parent_header, metadata, content, buffers }) {
        if (!this.worker) this.start();
        if (header.session !== this.id) this.session = header.session;
        if (channel !== 'stdin') this.open.set(header.msg_id, { channel, header });
        const text = JSON.stringify({ channel, header, parent_header: parent_header ?? {}, metadata: metadata ?? {}, content });
        this.worker.postMessage({ text, buffers: (buffers ?? []).map(b => (ArrayBuffer.isView(b) ? b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength) : b)) });
      }

      interrupt() {
        const header = { msg_id: crypto.randomUUID(), msg_type: 'interrupt_request', session: this.id, username: '', date: new Date().toISOString(), version: '5.3' };
        this.handleMessage({ channel: 'control', header, content: {} });
      }

      // The notebook stays as it is. What waited for the kernel learns why it died. A new one starts, at the next request if this one could not.
      died(worker, served, reason) {
        if (this.isDisposed || worker !== this.worker) return;
        worker.terminate();
        this.loaded();
        this.worker = null;
        const waiting = [...this.open.values()];
        this.open.clear();
        const evalue = served ? `${reason}. Variables are lost; a new kernel starts` : `${reason}. The kernel did not start`;
        for (const { channel, header } of waiting) {
          const send = (channel, msg_type, content) => this.sendMessage({
            channel, content, metadata: {}, buffers: [], parent_header: header,
            header: { msg_id: crypto.randomUUID(), msg_type, session: header.session, username: '', date: new Date().toISOString(), version: '5.3' }
          });
          const error = { ename: 'KernelDied', evalue, traceback: [`KernelDied: ${evalue}`] };
          if (header.msg_type === 'execute_request') send('iopub', 'error', error);
          if (header.msg_type.endsWith('_request')) send(channel, header.msg_type.replace('_request', '_reply'), { status: 'error', execution_count: 0, ...error });
          send('iopub', 'status', { execution_state: 'idle' });
        }
        if (served) this.start();
      }

      dispose() {
        if (this.isDisposed) return;
        this.isDisposed = true;
        this.worker?.terminate();
        this.loaded();
        kernels.delete(this.id);
        this.disposed.emit(undefined);
        Signal.clearData(this);
      }
    }

    const plugin = {
      id: 'halfnote-lite:kernel',
      autoStart: true,
      requires: [IKernelSpecs],
      optional: [IKernelClient],
      activate: (app, specs, client) => {
        contents = app.serviceManager.contents;
        specs.register({
          spec: { name: 'halfnote', display_name: 'Go (halfnote)', language: 'go', argv: [], resources: {} },
          create: async options => new Kernel(options)
        });
        if (!client) return console.warn('halfnote: this JupyterLite has no kernel client: cells cannot be interrupted');
        const drop = client.interrupt.bind(client); // which only drops messages that JupyterLite keeps
        client.interrupt = async id => {
          kernels.get(id)?.interrupt();
          return drop(id);
        };
      }
    };
    return () => ({ __esModule: true, default: [plugin] });
  };
  return { init: s => { scope = s; }, get: () => load() };
})();
