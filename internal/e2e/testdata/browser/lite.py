"""Runs a notebook in the site that `halfnote lite` has written: results, input, an interrupt, a slider, and a kernel that dies. Arguments: the browser, the address of the site."""
import sys
import time

from browser import Browser

program, base = sys.argv[1:3]
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
    print("walked")
