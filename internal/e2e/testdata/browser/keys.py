"""Types a block into a cell of JupyterLab, key by key, and prints the cell."""
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
