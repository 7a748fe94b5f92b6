"""Sets the controls of interactive charts in JupyterLab with the keyboard, looks at their width in pages of three sizes."""
import sys
import time

from browser import Browser

chromium, base, token = sys.argv[1:4]
address = f"{base}doc/tree/controls.ipynb?reset&token={token}"
charts = ".jp-RenderedVegaCommon5 canvas.marks"
KEYS = {"Tab": 9, "Escape": 27, "Backspace": 8, "ArrowUp": 38, "ArrowDown": 40}


def press(b, key):
    for kind in ("rawKeyDown", "keyUp"):
        b.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key])
    time.sleep(.3)


def resize(b, width, height=1000):
    b.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)


for width in (390, 900, 1600):
    with Browser(chromium, "about:blank") as b:
        resize(b, width)
        b.call("Page.navigate", url=address)
        b.notebook()
        b.run_all()
        b.wait(f"document.querySelectorAll('{charts}').length === 4")
        resize(b, width, 2000)  # all outputs are in the page
        wide = "[...document.querySelectorAll('.jp-OutputArea-output')].filter(e => e.scrollWidth > e.clientWidth).length"
        print(f"{width} pixels: {b.js(wide)} outputs that scroll")
        if len(sys.argv) > 5:
            b.screenshot(sys.argv[5].replace(".png", f".{width}.png"))
        if width < 1600:
            continue
        pixels = lambda i: f"(() => {{ const c = document.querySelectorAll('{charts}')[{i}]; return [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data].reduce((h, v) => (h * 31 + v) | 0, 7); }})()"
        focused = "document.activeElement.name || document.activeElement.tagName"
        picture = pixels(0)
        b.js("document.querySelector('.vega-embed input[name=only]').focus()")
        whole = b.js(picture)
        order = [b.js(focused)]
        b.call("Input.insertText", text="auto")
        print("one run:", b.until(lambda: b.js(picture) != whole, "one run"))
        for _ in range(4):
            press(b, "Backspace")
        b.until(lambda: b.js(picture) == whole, "all runs")
        for _ in range(2):
            press(b, "Tab")
            order.append(b.js(focused))
        print("Tab:", ", ".join(order))
        b.js("document.querySelector('.vega-embed input[name=magnify]').focus()")
        press(b, "ArrowUp")
        print("zoomed by keys:", b.until(lambda: b.js(picture) != whole, "zoom"))
        press(b, "ArrowDown")
        b.until(lambda: b.js(picture) == whole, "the whole")
        points = b.js(pixels(3))
        b.js("document.querySelector('.vega-embed input[name=magnifyY]').focus()")
        press(b, "ArrowUp")
        print("vertical axis zoomed by keys:", b.until(lambda: b.js(pixels(3)) != points, "vertical zoom"))
        x, y = b.place(charts)
        b.mouse("mouseMoved", x, y)
        b.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-300)
        b.until(lambda: b.js(picture) != whole, "zoom by the wheel")
        b.mouse("mouseMoved", 5, 5)
        press(b, "Escape")
        print("Escape shows all:", b.until(lambda: b.js(picture) == whole, "the whole"))
        widest = f"Math.max(...[...document.querySelectorAll('{charts}')].map(c => c.clientWidth))"
        before = b.js(widest)
        resize(b, 450)
        print("drawn again in a narrower page:", b.until(lambda: b.js(widest) < before - 100, "narrower charts"))
