"""Runs a lesson cell by cell in JupyterLab, and prints the outputs of its cells and what is drawn, as JSON.

The environment variable LESSON names the notebook. With a folder for screenshots, pictures of the whole lesson in the
light and the dark theme go there.
"""
import json
import os
import sys

from browser import Browser

chromium, base, token = sys.argv[1:4]
lesson = os.environ["LESSON"]
CELLS = "panel.content.widgets"

# The page opens no notebook of an earlier page.
with Browser(chromium, f"{base}lab/tree/{lesson}?reset&token={token}") as b:
    b.call("Emulation.setDeviceMetricsOverride", width=1100, height=1000, deviceScaleFactor=1, mobile=False)
    b.notebook()
    b.js("jupyterapp.shell.collapseLeft(), jupyterapp.shell.collapseRight(), true")
    n = b.js(f"{CELLS}.length")
    for i in range(n):
        if b.js(f"{CELLS}[{i}].model.type") != "code":
            continue
        b.js(f"panel.content.activeCellIndex = {i}, jupyterapp.commands.execute('notebook:run-cell'), true")
        b.wait(f"{CELLS}[{i}].model.executionCount > 0 && panel.sessionContext.session.kernel.status === 'idle'")
    # A high window draws all cells.
    b.call("Emulation.setDeviceMetricsOverride", width=1100, height=30000, deviceScaleFactor=1, mobile=False)
    drawn = "[...document.querySelectorAll('.jp-RenderedVegaCommon5 canvas.marks, .jp-RenderedVegaCommon5 svg.marks')].length"
    wanted = b.js(f"{CELLS}.filter(c => c.model.type === 'code').flatMap(c => c.model.outputs.toJSON()).filter(o => o.data?.['application/vnd.vegalite.v5+json']).length")
    b.wait(f"{drawn} >= {wanted}")
    wide = b.js("""[...document.querySelectorAll('.jp-OutputArea-output')].filter(e => e.scrollWidth > e.clientWidth + 1)
        .map(e => e.innerText.slice(0, 40))""")
    errors = b.js("[...document.querySelectorAll('.jp-OutputArea-output')].filter(e => /Javascript Error|Error displaying/.test(e.innerText)).length")
    cells = b.js(f"{CELLS}.map(c => c.model.type === 'code' ? c.model.outputs.toJSON() : [])")
    if len(sys.argv) > 5:
        folder = os.path.dirname(sys.argv[5])
        height = b.js("[...document.querySelectorAll('.jp-Notebook .jp-Cell')].reduce((sum, e) => sum + e.offsetHeight, 200)")
        b.call("Emulation.setDeviceMetricsOverride", width=1100, height=min(height, 16000), deviceScaleFactor=1, mobile=False)
        for theme in "Light", "Dark":
            b.js(f"jupyterapp.commands.execute('apputils:change-theme', {{theme: 'JupyterLab {theme}'}}).then(() => true)")
            b.js("new Promise(r => setTimeout(() => r(true), 3000))")
            b.js("document.querySelector('.jp-WindowedPanel-outer').scrollTop = 0, new Promise(r => setTimeout(() => r(true), 1000))")
            b.screenshot(os.path.join(folder, f"{lesson.removesuffix('.ipynb')}-{theme.lower()}.png"))
        b.js("jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'}).then(() => true)")
        b.js("new Promise(r => setTimeout(() => r(true), 2000))")
    print(json.dumps({"cells": cells, "charts": wanted, "wide": wide, "errors": errors}))
