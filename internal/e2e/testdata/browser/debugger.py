"""Turns JupyterLab's debugger on, looks at variables, and stops a Go cell at a breakpoint."""
import sys

from browser import Browser

chromium, base, token = sys.argv[1:4]
with Browser(chromium, f"{base}lab/tree/debugger.ipynb?token={token}") as b:
    b.notebook()

    def run(cell):
        b.js(f"panel.content.activeCellIndex = {cell}, jupyterapp.commands.execute('notebook:run-cell'), true")

    def prompt(cell):
        return b.js(f"document.querySelectorAll('.jp-Notebook .jp-CodeCell .jp-InputPrompt')[{cell}].innerText")

    def highlighted():
        return b.js("document.querySelector('.jp-DebuggerEditor-highlight')?.innerText.trim()")

    def variables():
        return b.js("document.querySelector('.jp-DebuggerVariables')?.innerText ?? ''")

    run(0)
    b.until(lambda: "[1]" in prompt(0), "the first cell")
    b.click_until(".jp-DebuggerBugButton", lambda: b.js("!!document.querySelector('.jp-DebuggerBugButton[aria-pressed=true]')"), "the debugger")
    b.js("jupyterapp.shell.activateById('jp-debugger-sidebar'), true")
    for word in ("at", "list", "weights"):
        b.until(lambda: word in variables(), f"{word} in the list of variables")
    b.click_until(".jp-DebuggerVariables-name", lambda: "X" in variables().split(), "the fields of the struct")  # the first
    print("variables:", " ".join(w for w in ("at", "X", "Y", "list", "weights") if w in variables().replace(":", " ").split()))

    b.js("panel.content.activeCellIndex = 1, panel.content.widgets[1].editor.focus(), true")
    gutter = ".jp-Notebook .jp-Cell:nth-of-type(2) .cm-breakpoint-gutter .cm-gutterElement:nth-of-type(4)"
    b.click_until(gutter, lambda: b.js("document.querySelectorAll('.jp-DebuggerBreakpoint').length == 1"), "a breakpoint")
    run(1)
    b.until(highlighted, "a line where it has stopped")
    print("stopped at:", highlighted(), "| calls:", b.wait("document.querySelector('.jp-DebuggerCallstack')?.innerText.match(/In\\[2\\]/)?.[0]"))
    b.until(lambda: "i" in variables().replace(":", " ").split(), "the loop's variable")
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5])
    b.js("jupyterapp.commands.execute('debugger:next'), true")
    b.until(lambda: highlighted() not in (None, "twice := 2 * i"), "the next line")
    print("next:", highlighted(), "| the cell runs:", "*" in prompt(1))
    b.js("jupyterapp.commands.execute('debugger:continue'), true")
    b.until(lambda: highlighted() == "twice := 2 * i", "the breakpoint again")
    b.click(".jp-DebuggerBugButton")
    b.until(lambda: "[2]" in prompt(1), "the end of the cell")
    print("ended with:", b.wait("[...document.querySelectorAll('.jp-OutputArea-output')].at(-1)?.innerText.trim()"))
