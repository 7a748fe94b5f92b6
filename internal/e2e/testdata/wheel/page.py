"""Runs the cells of docs/python.md that train in Go and plot with matplotlib, as a notebook of a Python kernel.

usage: python3 page.py [PICTURE], in the root of the checkout
"""
import base64
import sys

import nbclient
import nbformat

with open("docs/python.md") as f:
    page = f.read().split("## Go cells in Python notebooks", 1)[1]
cells = [[]]
for line in page.splitlines():
    if line.startswith("    "):
        cells[-1].append(line[4:])
    elif line.strip():  # prose
        cells.append([])
cells = ["\n".join(c) for c in cells if c]
head, rest = cells[0], "\n".join(cells[1:])
first, rest = rest.split("%%go", 1)
go, plot = rest.split("import matplotlib", 1)
cells = [head, first, "%%go" + go.rstrip(), "import matplotlib" + plot, "print(losses[0] > 100 * losses[-1], W.round(1).tolist())"]
v4 = nbformat.v4
nb = v4.new_notebook(cells=[v4.new_code_cell(c) for c in cells], metadata={"kernelspec": {"name": "python3", "display_name": "", "language": "python"}})
nbclient.NotebookClient(nb, timeout=120).execute()
nbformat.validate(nb)
pictures = [o.data["image/png"] for o in nb.cells[3].outputs if "image/png" in o.get("data", {})]
print(len(cells), "cells,", len(pictures), "picture:", "".join(o.get("text", "") for o in nb.cells[4].outputs).strip())
if len(sys.argv) > 1:
    with open(sys.argv[1], "wb") as f:
        f.write(base64.b64decode(pictures[0]))
