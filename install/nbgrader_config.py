"""nbgrader's configuration for Go notebooks, written by halfnote. nbgrader reads it in the folder of the course."""
import os

c = get_config()  # noqa: F821

# Replaces a solution. A function ends in panic without a return statement, so that the cell still compiles.
c.ClearSolutions.code_stub = {
    "go": '// YOUR CODE HERE\npanic("not implemented")',
    "python": "# YOUR CODE HERE\nraise NotImplementedError()",
}

# A test cell gets 0 points if it writes to stderr. Notes of the kernel do not count: about a type that is declared again, for
# example, or a region of autocast that was left open.
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = r"\A(?:(?:note: |amp: a region )[^\n]*\n?)+\Z"

# Time limit of a cell in seconds.
c.Execute.timeout = 120

# Cells of students are kept out of the history and out of the progress of the teacher who grades them.
os.environ["HALFNOTE_HISTORY"] = ""
os.environ["HALFNOTE_PROGRESS"] = ""
