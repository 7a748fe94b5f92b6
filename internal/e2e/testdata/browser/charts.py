"""Points at interactive charts in JupyterLab, zooms, and opens the saved notebook again."""
import sys

from browser import Browser

chromium, base, token = sys.argv[1:4]
address = f"{base}lab/tree/charts.ipynb?token={token}"
chart = ".jp-RenderedVegaCommon5 canvas.marks"


with Browser(chromium, address) as b:
    b.notebook()
    b.run_all()
    x, y = b.place(chart)

    def hover():
        for dx in range(-60, 61, 4):  # the pointer moves over the chart, as a hand does
            b.mouse("mouseMoved", x + dx, y + 20)
            tip = b.js("document.querySelector('#vg-tooltip-element.visible')?.innerText.replace(/\\s+/g, ' ').trim()")
            if tip:
                return tip

    tip = b.until(hover, "a tooltip")
    print("hover:", tip)
    picture = f"document.querySelector('{chart}').toDataURL()"
    before = b.js(picture)
    b.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-300)
    b.wait(f"{picture} !== {before!r}")
    print("zoomed")
    b.wait("/\\d/.test([...document.querySelectorAll('.jp-InputPrompt')].at(-1).innerText)")
    print("after the loop:", b.wait("[...document.querySelectorAll('.jp-OutputArea-child')].at(-1).querySelector('.jp-RenderedVegaCommon5') !== null"))
    b.js("jupyterapp.commands.execute('docmanager:save').then(() => true)")
    saved = b.js("fetch('/api/contents/charts.ipynb').then(r => r.json()).then(r => Object.keys(r.content.metadata).sort().join(' '))")
    print("saved metadata:", saved)
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5])
with Browser(chromium, address) as b:
    b.wait("document.querySelectorAll('.jp-RenderedVegaCommon5 canvas.marks').length === 2")
    print("opened again: drawn")
    b.notebook()
    dark = """[...document.querySelectorAll('.jp-RenderedVegaCommon5 canvas.marks')].map(c => c.getContext('2d').getImageData(2, 2, 1, 1).data)
        .filter(([r, g, b, a]) => a === 255 && r + g + b < 300).length"""

    def themed(name, count):
        b.js(f"jupyterapp.commands.execute('apputils:change-theme', {{theme: '{name}'}}).then(() => true)")
        b.wait(f"{dark} === {count}")
        saved = f"s.raw.includes('JupyterLab Dark') === {str(name.endswith('Dark')).lower()}"  # light is the default, which need not be saved
        b.wait(f"jupyterapp.serviceManager.settings.fetch('@jupyterlab/apputils-extension:themes').then(s => {saved})")  # for later tests too
        return count

    print("dark charts:", themed("JupyterLab Light", 0), themed("JupyterLab Dark", 2), themed("JupyterLab Light", 0))
