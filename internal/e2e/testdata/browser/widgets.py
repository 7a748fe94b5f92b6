"""Drags a slider that a Go cell made, in JupyterLab, while another cell runs."""
import sys

from browser import Browser

chromium, base, token = sys.argv[1:4]
with Browser(chromium, f"{base}lab/tree/widgets.ipynb?token={token}") as b:
    b.notebook()
    b.run_all()
    b.place(".widget-slider .noUi-handle")
    b.drag(".widget-slider .noUi-handle", 150)
    b.wait("document.body.innerText.match(/Go says (\\d+)/)?.[1] === document.querySelector('.widget-readout').innerText")
    b.wait("Number(document.querySelector('.widget-readout').innerText) > 0")
    running = b.js("[...document.querySelectorAll('.jp-InputPrompt')].at(-1).innerText.includes('*')")
    print("dragged while a cell runs:", running)
    b.click(".jupyter-button")
    b.wait("document.body.innerText.includes('the cell saw the click')")
    print("clicked")
    readout = b.js("document.querySelector('.widget-readout').innerText")
    b.js("jupyterapp.commands.execute('docmanager:save').then(() => true)")
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5])
with Browser(chromium, f"{base}lab/tree/widgets.ipynb?token={token}") as b:
    b.notebook()
    print("in another browser:", b.wait("document.querySelector('.widget-readout')?.innerText") == readout)
    b.js("panel.sessionContext.shutdown().then(() => true)")
with Browser(chromium, f"{base}lab/tree/widgets.ipynb?token={token}") as b:  # the saved state; a new kernel knows no widgets
    print("without their kernel:", b.wait("document.querySelector('.widget-readout')?.innerText") == readout)
