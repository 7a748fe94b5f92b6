"""Points at interactive charts in JupyterLab, zooms, and opens the saved notebook again."""
import sys

from browser import Browser

chromium, base, token = sys.argv[1:4]
address = f"{base}lab/tree/charts.ipynb?token={token}"
chart = ".jp-RenderedVegaCommon5 :is(canvas, svg)"


with Browser(chromium, address) as b:
    b.notebook()
    b.run_all()
    x, y = b.place(chart)
    tip = None
    for dx in range(-60, 61, 4):  # the pointer moves over the chart, as a hand does
        b.mouse("mouseMoved", x + dx, y + 20)
        tip = b.js("[...document.querySelectorAll('#vg-tooltip-element.visible')].map(e => e.innerText.replace(/\\s+/g, ' ').trim())[0]")
        if tip:
            break
    print("hover:", tip)
    before = b.js(f"document.querySelector('{chart}').outerHTML.length + document.querySelector('{chart}').toDataURL?.()")
    b.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-300)
    b.wait(f"document.querySelector('{chart}').outerHTML.length + document.querySelector('{chart}').toDataURL?.() !== {before!r}")
    print("zoomed")
    b.wait("[...document.querySelectorAll('.jp-InputPrompt')].at(-1).innerText.includes('2')")
    print("after the loop:", b.wait("[...document.querySelectorAll('.jp-OutputArea-child')].at(-1).querySelector('.jp-RenderedVegaCommon5') !== null"))
    b.js("jupyterapp.commands.execute('docmanager:save').then(() => true)")
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5])
with Browser(chromium, address) as b:
    b.wait("document.querySelectorAll('.jp-RenderedVegaCommon5 :is(canvas, svg)').length === 2")
    print("opened again: drawn")
