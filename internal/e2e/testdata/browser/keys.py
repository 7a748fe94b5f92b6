"""Types a block into a cell of JupyterLab, key by key, and prints the cell; asks for help inside a call; runs a cell that needs another after a restart."""
import re
import sys
import time

from browser import Browser

chromium, base, token = sys.argv[1:4]


def type_keys(b, text):
    for c in text:
        key, sent, code = ("Enter", "\r", 13) if c == "\n" else (c, c, 0)
        b.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=sent, unmodifiedText=sent, windowsVirtualKeyCode=code)
        b.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
        time.sleep(.02)


with Browser(chromium, f"{base}doc/tree/typing.ipynb?reset&token={token}") as b:
    b.notebook()
    b.run_all()
    b.js("panel.content.activeCellIndex = 1, panel.content.mode = 'edit', panel.content.activeCell.editor.focus(), true")
    b.wait("panel.content.activeCell.editor.halfnote === true")
    type_keys(b, "if true {\nfor range 2 {\nx++\n}\n}\nx")
    print(repr(b.js("panel.content.activeCell.model.sharedModel.getSource()")))

    b.js("panel.content.activeCellIndex = 2, panel.content.mode = 'edit', panel.content.activeCell.editor.focus(), true")
    b.js("panel.content.activeCell.editor.setCursorPosition({line: 0, column: 23}), true")  # in the second argument

    def tooltip():
        b.call("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9, modifiers=8)
        b.call("Input.dispatchKeyEvent", type="keyUp", key="Tab", code="Tab", windowsVirtualKeyCode=9, modifiers=8)
        return b.js("document.querySelector('.jp-Tooltip')?.innerText")

    print("tooltip:", b.until(tooltip, "a tooltip").split("\n\n")[0])
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5])
    b.js("panel.sessionContext.session.kernel.restart().then(() => { window.restarted = true }), true")
    b.wait("window.restarted && panel.sessionContext.session.kernel.status === 'idle'")
    b.js("panel.content.activeCellIndex = 3, jupyterapp.commands.execute('notebook:run-cell'), true")
    CELL = "[...document.querySelectorAll('.jp-Notebook .jp-CodeCell')][3]"
    b.wait(CELL + ".querySelector('.jp-InputPrompt').innerText === '[1]:'")
    said = b.wait(CELL + ".querySelector('.jp-OutputArea')?.innerText")
    found = re.search(r"(undefined: \w+)[\s\S]*(In\[\d+\] of the kernel before[^\n]*)", said)
    print(": ".join(found.groups()) if found else said)
