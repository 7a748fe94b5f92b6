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
    b.js("jupyterapp.shell.activateById('jp-debugger-sidebar'), true")

    def attached():
        """Turns the debugger on, and off again where JupyterLab's panel does not name the notebook.

        A click while JupyterLab still asks the kernel for its debugger leaves a panel without a
        notebook, which takes no breakpoints.
        """
        on = "document.querySelector('.jp-DebuggerBugButton[aria-pressed=true]')"
        b.click_until(".jp-DebuggerBugButton", lambda: b.js(f"!!{on}"), "the debugger")
        try:
            return b.wait("document.querySelector('#jp-debugger-sidebar').innerText.toLowerCase().includes('debugger.ipynb')", 10)
        except TimeoutError:
            b.click_until(".jp-DebuggerBugButton", lambda: b.js(f"!{on}"), "the debugger off")
            return None

    b.until(attached, "the debugger of the notebook")
    for word in ("at", "list", "weights"):
        b.until(lambda: word in variables(), f"{word} in the list of variables")
    b.click_until(".jp-DebuggerVariables-name", lambda: "X" in variables().split(), "the fields of the struct")  # the first
    print("variables:", " ".join(variables().replace(":", ": ").split()))

    def breakpoint(cell, line, total):
        b.js(f"panel.content.activeCellIndex = {cell}, panel.content.widgets[{cell}].editor.focus(), true")
        gutter = f".jp-Notebook .jp-Cell:nth-of-type({cell + 1}) .cm-breakpoint-gutter .cm-gutterElement:nth-of-type({line + 1})"
        b.click_until(gutter, lambda: b.js(f"document.querySelectorAll('.jp-DebuggerBreakpoint').length == {total}"), "a breakpoint")

    def calls():
        return b.js("document.querySelector('.jp-DebuggerCallstack')?.innerText.match(/Cell \\[[0-9*]+\\]:[0-9]+/g)?.join(' < ')")

    breakpoint(0, 3, 1)  # in a cell that ran before the debugger was on
    breakpoint(1, 3, 2)
    run(1)
    b.until(highlighted, "a line where it has stopped")
    print("stopped at:", highlighted(), "| calls:", b.until(calls, "the calls"))
    b.until(lambda: "i" in variables().replace(":", " ").split(), "the loop's variable")
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5])
    b.js("jupyterapp.commands.execute('debugger:next'), true")
    b.until(lambda: highlighted() not in (None, "twice := double(i)"), "the next stop")
    b.until(lambda: "<" in (calls() or ""), "both calls")
    print("next:", highlighted(), "| calls:", calls(), "| the cell runs:", "*" in prompt(1))
    b.js("jupyterapp.commands.execute('debugger:continue'), true")
    b.until(lambda: highlighted() == "twice := double(i)", "the breakpoint again")
    b.click(".jp-DebuggerBugButton")
    b.until(lambda: "[2]" in prompt(1), "the end of the cell")
    print("ended with:", b.wait("[...document.querySelectorAll('.jp-OutputArea-output')].at(-1)?.innerText.trim()"))

    b.until(attached, "the debugger again")
    b.js("jupyterapp.commands.execute('debugger:pause-on-exceptions', {filter: 'panics'}), true")
    b.until(lambda: b.js("jupyterapp.commands.isToggled('debugger:pause-on-exceptions', {filter: 'panics'})"), "the filter")
    run(2)
    print("panicked at:", b.until(highlighted, "a line where it has panicked"))
    b.js("jupyterapp.commands.execute('debugger:continue'), true")
    b.until(lambda: "[3]" in prompt(2), "the end of the cell")
