"""Watches a dashboard in JupyterLab while its cell trains until its pictures have been seen, and then points, selects and zooms in its panels."""
import sys
import time

from browser import Browser

chromium, base, token = sys.argv[1:4]
address = f"{base}lab/tree/dashboard.ipynb?token={token}"
chart = ".jp-RenderedVegaCommon5 canvas.marks"
# The lower half of the chart, in which no pointer is.
below = f"""(() => {{ const c = document.querySelector('{chart}');
    return [...c.getContext('2d').getImageData(0, c.height / 2, c.width, c.height / 2).data].reduce((h, v) => (h * 31 + v) | 0, 7); }})()"""


with Browser(chromium, address) as b:
    b.notebook()
    b.run_all()
    said, kinds = [], set()
    ends = False

    def watch():
        global ends
        alt = b.js("document.querySelector('.jp-OutputArea img')?.alt")
        if alt and alt not in said:
            said.append(alt)
        bar = b.js("document.querySelector('.jp-OutputArea progress')?.value")
        if bar:
            kinds.add(bar)
        if len(said) > 2 and len(kinds) > 2 and not ends:
            ends = b.js("jupyterapp.serviceManager.contents.save('seen', {type: 'file', format: 'text', content: ''}).then(() => true)")
        return b.js(f"document.querySelector('{chart}') !== null")

    b.until(watch, "the interactive chart")
    print("pictures while it trains:", len(said) > 2, "| bar moves:", len(kinds) > 2)
    b.wait("/\\d/.test([...document.querySelectorAll('.jp-InputPrompt')].at(-1).innerText)")
    b.wait(f"document.querySelectorAll('{chart}').length === 2")
    print("a cell that fails has its chart:", b.wait("document.querySelectorAll('.jp-OutputArea')[1].innerText.includes('on purpose')"))
    b.place(chart)
    box = b.js(f"(() => {{ const r = document.querySelector('{chart}').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; }})()")
    x, y = box[0] + box[2] / 2, box[1] + box[3] * .24
    b.mouse("mouseMoved", x, box[1] + 5)
    rest = b.js(below)

    def hover():
        for dx in range(-60, 61, 4):
            b.mouse("mouseMoved", x + dx, y)
            tip = b.js("document.querySelector('#vg-tooltip-element.visible')?.innerText.replace(/\\s+/g, ' ').trim()")
            if tip:
                return tip

    print("hover:", b.until(hover, "a tooltip"))
    print("shown in the panels below:", b.until(lambda: b.js(below) != rest, "the step in the other panels"))
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5].replace(".png", ".hover.png"))
    b.mouse("mouseMoved", x, box[1] + 5)
    b.until(lambda: b.js(below) == rest, "no step")

    def drag(kind, at, buttons=1):
        b.call("Input.dispatchMouseEvent", type=kind, x=at, y=y, button="left", buttons=buttons, clickCount=1, modifiers=8)

    drag("mouseMoved", x - 80, 0)
    drag("mousePressed", x - 80)
    for i in range(9):
        drag("mouseMoved", x - 80 + 20 * i)
        time.sleep(.03)
    drag("mouseReleased", x + 80, 0)
    b.mouse("mouseMoved", x, box[1] + 5)
    print("selected steps are marked below:", b.until(lambda: b.js(below) != rest, "marks in the other panels"))
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5])
    rest = b.js(below)
    b.mouse("mouseMoved", x + 120, y)
    b.call("Input.dispatchMouseEvent", type="mouseWheel", x=x + 120, y=y, deltaX=0, deltaY=-300)
    b.mouse("mouseMoved", x, box[1] + 5)
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5].replace(".png", ".zoom.png"))
    print("zoom is shared:", b.until(lambda: b.js(below) != rest, "zoom in the other panels"))
