"""Kills the kernel while a cell runs, and looks at what the page and the next cell say."""
import os
import re
import signal
import sys

from browser import Browser

chromium, base, token = sys.argv[1:4]
CELL = "[...document.querySelectorAll('.jp-Notebook .jp-CodeCell')][%d]"


def run(b, cell):
    b.js(f"panel.content.activeCellIndex = {cell}, jupyterapp.commands.execute('notebook:run-cell'), true")


def text(b, cell):
    return b.js(f"{CELL % cell}.querySelector('.jp-OutputArea')?.innerText ?? ''")


def accept(b):
    closed = lambda: b.js("!document.querySelector('.jp-Dialog-content')")
    b.click_until(".jp-Dialog .jp-mod-accept", closed, "a closed dialog")


with Browser(chromium, f"{base}lab/tree/killed.ipynb?token={token}") as b:
    b.notebook()
    run(b, 0)
    b.wait(f"{CELL % 0}.querySelector('.jp-InputPrompt').innerText === '[1]:'")
    run(b, 1)
    pid = b.until(lambda: re.search(r"process (\d+)", text(b, 1)), "the number of the kernel's process")
    os.kill(int(pid[1]), signal.SIGKILL)
    print("dialog:", " ".join(b.wait("document.querySelector('.jp-Dialog-body')?.innerText").split()))
    accept(b)
    b.wait("panel.sessionContext.session.kernel.status === 'idle'")
    run(b, 2)
    b.wait(f"{CELL % 2}.querySelector('.jp-InputPrompt').innerText === '[1]:'")
    print(re.sub(r"\d\d:\d\d|[0-9.]+ .?s(?= )", "TIME", " ".join(text(b, 2).split())))
    accept(b)  # the page may hear of the restart twice
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5])
