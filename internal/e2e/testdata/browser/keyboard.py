"""Tabs through the outputs of a notebook in JupyterLab, and uses the controls with the keyboard."""
import sys
import time

from browser import Browser

chromium, base, token = sys.argv[1:4]
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowRight": 39}
NAME = """(e => !e.closest('.jp-OutputArea') ? '' : e.name || e.getAttribute('role') || e.closest('.vega-actions') && 'action' || e.type || (e.className || e.tagName).toLowerCase())(document.activeElement)"""
BOX = "(({x, y, width, height}) => ({x: x - 5, y: y - 5, width: width + 10, height: height + 10, scale: 1}))(document.activeElement.getBoundingClientRect())"


def press(b, key):
    text = {"text": "\r"} if key == "Enter" else {}
    b.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key, code=key, windowsVirtualKeyCode=KEYS[key], **text)
    b.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=KEYS[key])
    time.sleep(.1)


def seen(b):
    """Reports whether the page shows which element has the focus, besides the cursor in a text."""
    box = b.js(BOX)
    look = lambda: b.call("Page.captureScreenshot", clip=box)["data"]
    focused = look()
    b.js("window.focused = document.activeElement, focused.blur(), true")
    changed = look() != focused
    b.js("focused.focus(), true")
    return changed


with Browser(chromium, f"{base}doc/tree/keyboard.ipynb?reset&token={token}") as b:
    b.call("Emulation.setDeviceMetricsOverride", width=1000, height=2000, deviceScaleFactor=1, mobile=False)
    b.notebook()
    b.run_all()
    b.wait("document.querySelectorAll('canvas.marks').length === 3")
    b.js("document.head.append(Object.assign(document.createElement('style'), {textContent: '* { caret-color: transparent !important; transition: none !important; }'})), true")
    press(b, "Escape")  # the cell is not being edited
    b.js("panel.content.activeCellIndex = 0, panel.content.activate(), true")
    order, hidden = [], []
    for _ in range(60):
        press(b, "Tab")
        name = b.js(NAME)
        if not name and order:
            break
        if name:
            order.append(name)
            if not seen(b):
                hidden.append(name)
    print("Tab:", ", ".join(order))
    print("focus not seen:", hidden)
    if len(sys.argv) > 5:
        b.js("document.querySelectorAll('input[name=magnify]')[0].focus(), true")
        b.screenshot(sys.argv[5])
    b.js("document.querySelector('.noUi-handle').focus(), true")
    press(b, "ArrowRight")
    print("slider:", b.wait("document.querySelector('.widget-readout').innerText !== '0' && document.querySelector('.widget-readout').innerText"))
    b.js("window.same = true, document.querySelectorAll('input[name=only]')[1].focus(), true")
    b.call("Input.insertText", text="weights")
    press(b, "Enter")
    time.sleep(1)
    print("Enter leaves the page:", not b.js("window.same === true"))
    b.js("document.querySelector('.vega-embed summary').focus(), true")
    press(b, "Enter")
    actions = []
    for _ in range(9):
        press(b, "Tab")
        if b.js(NAME) != "action":
            break
        actions.append(b.js("document.activeElement.innerText"))
    print("menu:", ", ".join(actions))
