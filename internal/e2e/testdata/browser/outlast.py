"""Closes the page while a cell runs, and looks at the cell's output in new browsers."""
import sys

from browser import Browser

chromium, base, token = sys.argv[1:4]
address = f"{base}lab/tree/outlast.ipynb?token={token}"
CELL = "[...document.querySelectorAll('.jp-Notebook .jp-CodeCell')][%d]"


def epochs(b, cell=0):
    text = b.js(f"[...({CELL % cell}?.querySelectorAll('.jp-RenderedText') ?? [])].map(e => e.innerText).join('\\n')")
    return [int(line.split()[1]) for line in text.split("\n") if line.startswith("epoch ")]


def look(b, cell):
    found = epochs(b, cell)
    order = "all epochs" if len(found) >= 100 and found == list(range(len(found))) else f"epochs {found}"
    drawn = b.js(f"{CELL % cell}.querySelectorAll('.jp-RenderedVegaCommon5 canvas.marks, .jp-RenderedHTMLCommon img').length")
    charts = b.js(f"panel.content.widgets[{cell}].model.outputs.toJSON().map(o => o.data?.['text/plain']).filter(t => t).map(t => [t].flat().join(''))")
    steps = "of all" if all(f" {len(found)} steps" in c for c in charts) else f"{charts!r}"
    prompt = b.js(f"{CELL % cell}.querySelector('.jp-InputPrompt').innerText")
    return f"{order}, {drawn} of {len(charts)} charts drawn, {steps}, prompt {prompt}"


with Browser(chromium, address) as b:
    b.notebook()
    b.js("jupyterapp.commands.execute('notebook:run-cell'), true")
    b.until(lambda: len(epochs(b)) > 5, "some epochs")
with Browser(chromium, address) as b:
    before = b.until(lambda: epochs(b), "the epochs so far")
    running = b.js(f"{CELL % 0}.querySelector('.jp-InputPrompt').innerText") == "[*]:"
    after = b.until(lambda: len(epochs(b)) > len(before) + 3 and epochs(b), "further epochs")
    print(f"opened while it runs: {running and before == list(range(len(before)))}, it goes on: {after == list(range(len(after)))}")
    b.js("jupyterapp.serviceManager.contents.save('stop', {type: 'file', format: 'text', content: ''}).then(() => true)")
with Browser(chromium, address) as b:
    b.wait("[...(window.jupyterapp?.shell.widgets('main') ?? [])].find(w => w.sessionContext)?.sessionContext?.session?.kernel?.status === 'idle'")
with Browser(chromium, address) as b:
    b.notebook()
    b.wait(f"{CELL % 0}.querySelector('.jp-RenderedVegaCommon5 canvas.marks') !== null")
    print("opened after its end:", look(b, 0))
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5])
    b.js("panel.content.activeCellIndex = 1, jupyterapp.commands.execute('notebook:run-cell'), true")
    b.wait(f"{CELL % 1}.querySelector('.jp-RenderedVegaCommon5 canvas.marks') !== null")
    b.wait(f"/\\d/.test({CELL % 1}.querySelector('.jp-InputPrompt').innerText)")
    print("%output:", look(b, 1))
    print("a cell that was not run:", b.js(f"panel.content.widgets[2].model.outputs.length"), "outputs")
