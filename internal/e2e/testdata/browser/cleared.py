"""Runs a cell while its page asks for the outputs of earlier pages, clears outputs by hand, and opens the notebook again."""
import sys

from browser import Browser

chromium, base, token = sys.argv[1:4]
address = f"{base}lab/tree/cleared.ipynb?token={token}"
OUTPUTS = "panel.content.widgets.map(w => w.model.outputs.toJSON().map(o => o.text ?? o.data['text/plain']).flat().join(''))"

with Browser(chromium, address) as b:
    b.notebook()
    b.run_all()
    b.wait("panel.content.widgets.every(w => w.model.executionCount > 0)")
with Browser(chromium, address) as b:
    def attempt():
        b.wait("""(() => {
            window.panel = [...(window.jupyterapp?.shell.widgets('main') ?? [])].find(w => w.sessionContext);
            if (!window.panel?.sessionContext.session?.kernel || panel.content.widgets.length < 2) return false;
            jupyterapp.commands.execute('notebook:run-all-cells');
            return true; })()""")
        try:
            return b.wait("panel.content.widgets.every(w => w.model.executionCount > 2 && w.model.executionState === 'idle')", 20)
        except TimeoutError:
            return None
    b.until(attempt, "cells that run")
    print("run while it was opened:", b.js(OUTPUTS))
    b.js("panel.content.activeCellIndex = 0, jupyterapp.commands.execute('notebook:clear-cell-output').then(() => true)")
    b.js("jupyterapp.commands.execute('docmanager:save').then(() => true)")
    b.js("panel.sessionContext.session.kernel.requestKernelInfo().then(() => true)")  # the kernel has handled what was sent before
with Browser(chromium, address) as b:
    b.notebook()
    b.wait("panel.content.widgets[1].model.outputs.length > 0")
    print("cleared by hand:", b.js(OUTPUTS))
