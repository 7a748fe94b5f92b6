// The files of cells, in the form of Node's module fs, which Go's port for js calls. Below /drive are the files of JupyterLite, which the page
// keeps and its file browser shows; drive(call, ...args) asks the page's contents for them. Below /site are the data files of the program, which
// the address site has. The other files are in memory, and end with the kernel.
globalThis.filesOf = (drive, cwd, site) => {
  const constants = { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 };
  const fail = code => { throw Object.assign(new Error(code), { code }); };
  const resolve = path => {
    const parts = [];
    for (const part of (path.startsWith('/') ? path : `${cwd}/${path}`).split('/')) {
      if (part === '..') parts.pop();
      else if (part && part !== '.') parts.push(part);
    }
    return `/${parts.join('/')}`;
  };
  const parent = path => path.slice(0, path.lastIndexOf('/')) || '/';
  const onDrive = path => path === '/drive' || path.startsWith('/drive/');
  const inDrive = path => path.slice('/drive/'.length);

  // A node is a folder, or a file with its bytes: the first size of data.
  let inodes = 0;
  const node = (folder, data = new Uint8Array(), mtime = Date.now()) => ({ folder, data, size: data.length, mtime, ino: ++inodes });
  const memory = new Map(['/', '/tmp', '/home', '/drive'].map(path => [path, node(true)]));

  const bytes = ({ content, format }) => {
    if (format === 'base64') return Uint8Array.from(atob(content), c => c.charCodeAt(0));
    return new TextEncoder().encode(typeof content === 'string' ? content : JSON.stringify(content));
  };
  const text = data => {
    let s = '';
    for (let i = 0; i < data.length; i += 0x8000) s += String.fromCharCode(...data.subarray(i, i + 0x8000));
    return btoa(s);
  };
  const ask = async (...call) => {
    try {
      return await drive(...call);
    } catch {
      return null; // JupyterLite has no other error than that a file is missing
    }
  };
  const data = new Map(); // of the site, by path
  const find = async (path, content) => {
    if (path.startsWith('/site/')) {
      if (!data.has(path)) {
        const response = await fetch(new URL(path.slice('/site/'.length), site)).catch(() => null);
        if (!response?.ok) return undefined;
        data.set(path, node(false, new Uint8Array(await response.arrayBuffer())));
      }
      return data.get(path);
    }
    if (!onDrive(path) || path === '/drive') return memory.get(path);
    const model = await ask('get', inDrive(path), { content });
    if (!model) return undefined;
    const found = node(model.type === 'directory', content && model.type !== 'directory' ? bytes(model) : undefined, Date.parse(model.last_modified));
    if (!content && !found.folder) found.size = model.size;
    return found;
  };
  const must = async (path, content) => await find(path, content) ?? fail('ENOENT');
  const names = async path => {
    if (onDrive(path)) return ((await ask('get', inDrive(path), { content: true })) ?? fail('ENOENT')).content.map(m => m.name);
    const below = path === '/' ? '/' : `${path}/`;
    return [...memory.keys()].filter(p => p !== '/' && p.startsWith(below) && !p.slice(below.length).includes('/')).map(p => p.slice(below.length));
  };
  const save = async (path, n) => {
    if (onDrive(path)) await drive('save', inDrive(path), { type: 'file', format: 'base64', content: text(n.data.subarray(0, n.size)) });
  };
  const remove = async (path, folder) => {
    if ((await must(path)).folder !== folder) fail(folder ? 'ENOTDIR' : 'EISDIR');
    if (folder && (await names(path)).length > 0) fail('ENOTEMPTY');
    if (onDrive(path)) await drive('delete', inDrive(path));
    else memory.delete(path);
  };
  const resize = (n, size) => {
    if (size > n.data.length) {
      const larger = new Uint8Array(Math.max(size, 2 * n.data.length));
      larger.set(n.data.subarray(0, n.size));
      n.data = larger;
    } else if (size < n.size) {
      n.data.fill(0, size, n.size);
    }
    n.size = size;
    n.mtime = Date.now();
  };
  const stat = n => ({
    dev: 1, ino: n.ino, mode: n.folder ? 0o40755 : 0o100644, nlink: 1, uid: 0, gid: 0, rdev: 0, size: n.size, blksize: 4096, blocks: Math.ceil(n.size / 512),
    atimeMs: n.mtime, mtimeMs: n.mtime, ctimeMs: n.mtime, isDirectory: () => n.folder
  });

  const open = new Map(); // by descriptor
  const file = fd => open.get(fd) ?? fail('EBADF');
  const flush = async f => {
    if (f.dirty) await save(f.path, f.node);
    f.dirty = false;
  };
  const nothing = async () => {};
  const calls = {
    async open(path, flags) {
      path = resolve(path);
      let n = await find(path, !(flags & constants.O_TRUNC));
      if (n && flags & constants.O_CREAT && flags & constants.O_EXCL) fail('EEXIST');
      if (!n && !(flags & constants.O_CREAT)) fail('ENOENT');
      const writes = flags & (constants.O_WRONLY | constants.O_RDWR);
      if (n?.folder && writes) fail('EISDIR');
      if (n && !n.folder && flags & constants.O_DIRECTORY) fail('ENOTDIR');
      let dirty = false;
      if (!n) {
        if (!(await must(parent(path))).folder) fail('ENOTDIR');
        n = node(false);
        if (!onDrive(path)) memory.set(path, n);
        dirty = true;
      } else if (flags & constants.O_TRUNC && writes) {
        resize(n, 0);
        dirty = true;
      }
      let fd = 3;
      while (open.has(fd)) fd++;
      open.set(fd, { path, node: n, at: 0, append: flags & constants.O_APPEND, dirty });
      return fd;
    },
    async close(fd) {
      const f = file(fd);
      open.delete(fd);
      await flush(f);
    },
    async read(fd, buffer, offset, length, position) {
      const f = file(fd), at = position ?? f.at;
      if (f.node.folder) fail('EISDIR');
      const part = f.node.data.subarray(at, Math.min(at + length, f.node.size));
      buffer.set(part, offset);
      if (position == null) f.at += part.length;
      return part.length;
    },
    async write(fd, buffer, offset, length, position) {
      if (fd === 1 || fd === 2) return fs.writeSync(fd, buffer.subarray(offset, offset + length));
      const f = file(fd), at = position ?? (f.append ? f.node.size : f.at);
      if (at + length > f.node.size) resize(f.node, at + length);
      f.node.data.set(buffer.subarray(offset, offset + length), at);
      if (position == null) f.at = at + length;
      f.dirty = true;
      return length;
    },
    async fstat(fd) { return stat(file(fd).node); },
    async stat(path) { return stat(await must(resolve(path))); },
    async readdir(path) { return names(resolve(path)); },
    async mkdir(path) {
      path = resolve(path);
      if (await find(path)) fail('EEXIST');
      if (!(await must(parent(path))).folder) fail('ENOTDIR');
      if (onDrive(path)) await drive('save', inDrive(path), { type: 'directory', format: 'json', content: null });
      else memory.set(path, node(true));
    },
    async rename(from, to) {
      [from, to] = [resolve(from), resolve(to)];
      const n = await must(from, true);
      if (from === to) return;
      if (onDrive(from) && onDrive(to)) {
        if (await find(to)) await drive('delete', inDrive(to));
        await drive('rename', inDrive(from), inDrive(to));
      } else if (n.folder) {
        if (onDrive(from) || onDrive(to)) fail('EXDEV');
        for (const [path, m] of [...memory]) {
          if (path === from || path.startsWith(`${from}/`)) {
            memory.delete(path);
            memory.set(to + path.slice(from.length), m);
          }
        }
      } else {
        if (onDrive(to)) await save(to, n);
        else memory.set(to, n);
        await remove(from, false);
      }
    },
    async unlink(path) { await remove(resolve(path), false); },
    async rmdir(path) { await remove(resolve(path), true); },
    async truncate(path, size) {
      path = resolve(path);
      const n = await must(path, true);
      resize(n, size);
      await save(path, n);
    },
    async ftruncate(fd, size) {
      const f = file(fd);
      resize(f.node, size);
      f.dirty = true;
    },
    async fsync(fd) { await flush(file(fd)); },
    async readlink() { fail('EINVAL'); },
    async link() { fail('ENOSYS'); },
    async symlink() { fail('ENOSYS'); },
    chmod: nothing, chown: nothing, fchmod: nothing, fchown: nothing, lchown: nothing, utimes: nothing
  };
  calls.lstat = calls.stat;

  const decoder = new TextDecoder();
  let line = '';
  const fs = {
    constants,
    writeSync(fd, buffer) {
      const lines = (line + decoder.decode(buffer, { stream: true })).split('\n');
      line = lines.pop();
      if (lines.length > 0) console.log(lines.join('\n'));
      return buffer.length;
    }
  };
  for (const [name, call] of Object.entries(calls)) {
    fs[name] = (...args) => {
      const done = args.pop();
      call(...args).then(result => done(null, result), error => done(Object.assign(error, { code: error.code ?? 'EIO' })));
    };
  }
  return {
    fs,
    path: { resolve: (...paths) => paths.map(resolve).at(-1) },
    process: {
      getuid: () => -1, getgid: () => -1, geteuid: () => -1, getegid: () => -1, getgroups: () => fail('ENOSYS'), pid: -1, ppid: -1, umask: () => fail('ENOSYS'),
      cwd: () => cwd,
      chdir(path) { cwd = resolve(path); }
    }
  };
};
