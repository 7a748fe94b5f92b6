"""Go cells in Python programs around Jupyter: parameters of papermill, and nbconvert's export as a script."""
