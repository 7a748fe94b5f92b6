"""Pastes the cells of a notebook into jupyter console, as into a terminal, and prints what
the terminal shows.

    console.py NOTEBOOK KERNEL
"""
import os
import re
import sys

import nbformat
import pexpect

notebook, kernel = sys.argv[1:]
env = dict(os.environ, PROMPT_TOOLKIT_NO_CPR="1", TERM="xterm")  # pexpect does not answer requests for the cursor position
console = pexpect.spawn(
    sys.executable,
    ["-m", "jupyter_console", "--kernel", kernel, "--no-confirm-exit", "--ZMQTerminalInteractiveShell.image_handler=None",
     "--ZMQTerminalInteractiveShell.highlighting_style=bw"],
    env=env, encoding="utf-8", timeout=120, dimensions=(50, 200),
)
seen = []
colour = r"(?:\x1b\[[0-9;]*m)*"
count = 0


def prompt():
    """Waits for the next prompt, which appears when the previous cell has ended."""
    global count
    count += 1
    console.expect(rf"In \[{colour}{count}{colour}\]: ")
    seen.append(console.before)


for cell in nbformat.read(notebook, 4).cells:
    if cell.cell_type != "code" or not cell.source.strip():
        continue
    prompt()
    console.send("\x1b[200~" + cell.source.rstrip() + "\x1b[201~")  # bracketed paste
    console.send("\x1b\r")  # runs the cell even if the console thinks that it is incomplete
prompt()
console.send("\x04")
console.expect(pexpect.EOF)
console.close()
text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", "".join(seen)).replace("\r", "")
print(text)
sys.exit(console.exitstatus)
