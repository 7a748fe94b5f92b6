"""Pairs notebooks with text files, as Jupytext does, and changes a text.

Arguments: a folder for copies, and notebooks. Every notebook must be the same after a turn as text. Of the first, a cell is
changed in the text: after a sync, the notebook has the change, and the outputs of the other cells.
"""
import os
import shutil
import sys
import time

import jupytext
import nbformat
from jupytext.cli import jupytext as command

work, *notebooks = sys.argv[1:]
FORMATS = "ipynb,_text//go:percent"

for path in notebooks:
    before = nbformat.read(path, as_version=4)
    after = jupytext.reads(jupytext.writes(before, fmt="go:percent"), fmt="go:percent")
    cells = lambda nb: [(c.cell_type, c.source, c.metadata) for c in nb.cells]
    assert cells(before) == cells(after), f"{path} differs after a turn as text"
    assert before.metadata.kernelspec == after.metadata.kernelspec, path

copy = shutil.copy(notebooks[0], work)
name = os.path.basename(copy).removesuffix(".ipynb")
before = nbformat.read(copy, as_version=4)
command(["--quiet", "--set-formats", FORMATS, copy])
text = os.path.join(work, "_text", name + ".go")
source = open(text).read()
assert "// %% [markdown]\n// # " in source, source[:1000]
code = [c for c in before.cells if c.cell_type == "code"]
assert source.count(code[0].source) == 1
open(text, "w").write(source.replace(code[0].source, 'fmt.Println("changed in the text")'))
later = time.time() + 10  # the newer of the two files counts
os.utime(text, (later, later))
command(["--quiet", "--sync", copy])
after = [c for c in nbformat.read(copy, as_version=4).cells if c.cell_type == "code"]
assert after[0].source == 'fmt.Println("changed in the text")', after[0].source
assert [c.outputs for c in after[1:]] == [c.outputs for c in code[1:]], "outputs were lost"
assert [c.id for c in after] == [c.id for c in code], "cells got other ids"
