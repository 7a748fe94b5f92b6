"""Runs a notebook in the site that `halfnote lite` has written: results, input, an interrupt, a slider, a kernel that dies, files; then below a sub-path, on a telephone, and without a network.

Arguments: the browser, the address of the site, and its folder; then the file of a picture of what fails, and the beginning of the names of others.
"""
import base64
import http.server
import sys
import threading
import time

from browser import Browser

program, base, site = sys.argv[1:4]
shots = sys.argv[5] if len(sys.argv) > 5 else ""
OUTPUTS = "[...document.querySelectorAll('.jp-Notebook .jp-CodeCell')].map(c => [...c.querySelectorAll('.jp-OutputArea-output')].map(o => o.innerText).join(''))"


def shows(b, cell, text):
    b.wait(f"{OUTPUTS}[{cell}]?.includes({text!r})")


began = time.time()
with Browser(program, base + "lab/index.html?path=walk.ipynb") as b:
    b.notebook()
    print(f"kernel after {time.time() - began:.1f} s", file=sys.stderr)
    b.run_all()
    shows(b, 0, "42")
    print(f"first result after {time.time() - began:.1f} s", file=sys.stderr)
    b.wait("!!document.querySelector('.jp-Stdin-input')")
    b.click(".jp-Stdin-input")
    b.call("Input.insertText", text="Ada")
    b.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    shows(b, 1, "hello Ada")
    shows(b, 2, "begun")
    b.js("jupyterapp.commands.execute('notebook:interrupt-kernel'), true")
    shows(b, 2, "Interrupted")
    # The cells behind the interrupted one have not run. Variables are kept.
    b.js("panel.content.activeCellIndex = 3, true")
    b.js("jupyterapp.commands.execute('notebook:run-cell'), true")
    shows(b, 3, "x is 42")
    b.js("panel.content.activeCellIndex = 4, true")
    b.js("jupyterapp.commands.execute('notebook:run-cell'), true")
    b.wait("!!document.querySelector('.jp-Notebook .noUi-handle')")
    shows(b, 4, "slider at 3")
    b.drag(".jp-Notebook .noUi-handle", 300)
    b.wait(f"/slider at [4-9]/.test({OUTPUTS}[4])")
    # A program that ends tells the cells why, and the next one runs in a new kernel.
    b.js("panel.content.activeCellIndex = 5, true")
    b.js("jupyterapp.commands.execute('notebook:run-cell'), true")
    shows(b, 5, "KernelDied")
    shows(b, 5, "Variables are lost; a new kernel starts")
    b.js("panel.content.activeCellIndex = 6, true")
    b.js("jupyterapp.commands.execute('notebook:run-cell'), true")
    shows(b, 6, "again")
    # Files of cells are those of the drive, which the page keeps.
    def run(cell):
        b.js(f"panel.content.activeCellIndex = {cell}, true")
        b.js("jupyterapp.commands.execute('notebook:run-cell'), true")

    def drive(path):
        return b.js(f"jupyterapp.serviceManager.contents.get({path!r}, {{content: true}}).then(m => m.type === 'directory' ? m.content.map(f => f.name).join() : m.content, String)")

    run(7)
    shows(b, 7, "a,b\n1,ø\n<nil>")
    assert base64.b64decode(drive("kept.csv")).decode() == "a,b\n1,ø\n", drive("kept.csv")
    b.js("jupyterapp.serviceManager.contents.save('given.csv', {type: 'file', format: 'text', content: 'x,y\\n1,2\\n3,4\\n'}).then(() => true)")
    run(8)
    shows(b, 8, "2 rows")
    run(9)
    shows(b, 9, "b.npy given.csv walk.ipynb ")
    assert "kept.csv" not in drive("") and "b.npy" in drive(""), drive("")
    run(10)
    shows(b, 10, "Cut slices s around the first instance of sep")
    print("walked")


def leave():
    """Answers the question about unsaved changes, without which the page does nothing."""
    try:
        return b.call("Page.handleJavaScriptDialog", accept=True) is not None
    except RuntimeError:
        return False


class Below(http.server.SimpleHTTPRequestHandler):
    """Serves the site below another folder."""

    def __init__(self, *args):
        super().__init__(*args, directory=site)

    def translate_path(self, path):
        return super().translate_path(path.removeprefix("/course"))

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Below)
threading.Thread(target=server.serve_forever).start()
base = f"http://127.0.0.1:{server.server_port}/course/"
try:
    with Browser(program, "about:blank") as b:
        # A telephone, a cell in the address, and progress while the program loads.
        b.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
        b.call("Page.navigate", url=base + "repl/index.html?kernel=halfnote&code=6*7")
        b.wait("document.querySelector('.halfnote-loading')?.textContent.includes('MB')")
        b.wait("[...document.querySelectorAll('.jp-OutputArea-output')].some(o => o.innerText.trim() === '42')")
        assert b.js("document.documentElement.scrollWidth") <= 390, "the page is wider than the telephone"
        if shots:
            b.screenshot(shots + ".repl.png")
        b.call("Page.navigate", url=base + "notebooks/index.html?path=walk.ipynb")
        for network in "there", "gone":
            b.notebook()
            assert b.js("document.documentElement.scrollWidth") <= 390, "the page is wider than the telephone"
            b.js("jupyterapp.commands.execute('notebook:run-cell'), true")
            shows(b, 0, "42")
            if shots:
                b.screenshot(f"{shots}.{network}.png")
            if network == "there":
                b.wait("document.documentElement.dataset.halfnoteKept")
                server.shutdown()
                server.server_close()
                b.js("window.before = true")
                b.call("Page.enable")
                b.call("Page.reload")
                b.until(leave, "the question about unsaved changes")
                b.wait("!window.before")
    print("without a network")
finally:
    server.shutdown()
