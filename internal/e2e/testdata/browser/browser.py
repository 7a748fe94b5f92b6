"""Drives headless Chromium over its DevTools protocol with the mouse, as a user does."""
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

import websocket

# Time limit in seconds for anything that a page should do at once. Test machines are busy.
PATIENCE = 180


class Navigated(RuntimeError):
    """The page was replaced by another one during a call."""


class Browser:
    def __init__(self, program, url):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000", "--remote-debugging-port=0",
             "--remote-allow-origins=*", "--user-data-dir=" + self.profile.name, "about:blank"], stderr=subprocess.DEVNULL)
        port_file = os.path.join(self.profile.name, "DevToolsActivePort")
        self.until(lambda: os.path.exists(port_file) and open(port_file).read().count("\n"), "Chromium's port")
        port = open(port_file).read().split("\n")[0]
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
        page = next(p for p in pages if p["type"] == "page")
        self.socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=PATIENCE)
        self.n = 0
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.call("Page.navigate", url=url)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error and len(sys.argv) > 4:
            self.screenshot(sys.argv[4])
        self.process.terminate()
        self.process.wait()

    def call(self, method, **params):
        self.n += 1
        self.socket.send(json.dumps({"id": self.n, "method": method, "params": params}))
        while True:
            got = json.loads(self.socket.recv())
            if got.get("id") == self.n:
                if "navigated" in got.get("error", {}).get("message", ""):
                    raise Navigated(method)
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]

    def js(self, code):
        got = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{code}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def until(self, f, what, seconds=PATIENCE):
        end = time.time() + seconds
        while time.time() < end:
            got = f()
            if got:
                return got
            time.sleep(0.05)
        raise TimeoutError(f"{what}: timed out after {seconds} s")

    def wait(self, code, seconds=PATIENCE):
        """Waits until an expression is true, and returns its value."""
        def attempt():
            try:
                return self.js(code)
            except Navigated:
                return None
        return self.until(attempt, code, seconds)

    def place(self, selector):
        """Returns the centre of an element, in window coordinates."""
        box = self.wait(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;
            e.scrollIntoView({{block: "nearest"}}); const r = e.getBoundingClientRect();
            return r.width && [r.x + r.width / 2, r.y + r.height / 2]; }})()""")
        return box

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def click(self, selector):
        x, y = self.place(selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.mouse(kind, x, y)

    def click_until(self, selector, done, what):
        """Clicks until done returns true. A click is lost while the page layout still changes."""
        def attempt():
            self.click(selector)
            try:
                return self.until(done, what, 5)
            except TimeoutError:
                return None
        return done() or self.until(attempt, what)

    def drag(self, selector, dx, steps=10):
        x, y = self.place(selector)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y)
        for i in range(1, steps + 1):
            self.mouse("mouseMoved", x + dx * i / steps, y)
            time.sleep(0.03)
        self.mouse("mouseReleased", x + dx, y)

    def notebook(self):
        """Waits until the notebook and its kernel are ready, and focuses the notebook."""
        panel = "[...(window.jupyterapp?.shell.widgets('main') ?? [])].find(w => w.sessionContext)"
        self.wait(f"{panel}?.sessionContext?.session?.kernel?.status === 'idle'")
        self.js(f"window.panel = {panel}, true")
        self.click(".jp-Notebook .jp-CodeCell .cm-content")

    def run_all(self):
        """Runs all cells. It repeats the command if the notebook was not ready for it."""
        prompts = "[...document.querySelectorAll('.jp-Notebook .jp-InputPrompt')]"
        def attempt():
            self.js("jupyterapp.commands.execute('notebook:run-all-cells'), true")
            try:
                return self.wait(f"{prompts}.some(e => /\\[[*0-9]+\\]/.test(e.innerText))", 20)
            except TimeoutError:
                return None
        self.until(attempt, "a running cell")

    def screenshot(self, file):
        import base64
        open(file, "wb").write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
