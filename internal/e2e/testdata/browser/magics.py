"""Runs magics that change cells, and the profiler, in JupyterLab."""
import sys

from browser import Browser

chromium, base, token = sys.argv[1:4]
with Browser(chromium, f"{base}lab/tree/magics.ipynb?token={token}") as b:
    b.notebook()
    b.run_all()
    sources = "panel.content.widgets.map(w => w.model.sharedModel.source)"
    b.wait("panel.content.widgets.length > 6")
    b.wait("[...document.querySelectorAll('.jp-OutputArea-output img')].some(e => e.alt.startsWith('Flame graph'))")
    for source in b.js(sources):
        print(repr(source))
    print("table:", b.wait("document.querySelector('.jp-OutputArea-output td:nth-child(5)')?.innerText"))
    print("captured:", b.wait("[...document.querySelectorAll('.jp-OutputArea-output pre')].at(-1)?.innerText.trim()"))
    if len(sys.argv) > 5:
        b.js("document.querySelector('.jp-OutputArea-output img').scrollIntoView({block: 'center'}), true")
        b.screenshot(sys.argv[5])
