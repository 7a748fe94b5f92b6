"""Writes kitchen-sink.ipynb with Python's nbformat, as the oracle of the round trip.

Run it with a Python that has nbformat 5: python make.py
"""
import nbformat
from nbformat.notebooknode import from_dict

png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
nb = from_dict({
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {
        "kernelspec": {"name": "halfnote", "display_name": "Go (halfnote)", "language": "go"},
        "language_info": {"name": "go", "version": "1.26", "file_extension": ".go"},
        "unknown": {"z": [1, 2.5, 1e-07, True, None, {}, []], "ä": "<b>&amp;</b>", "A": 12345678901234567890},
    },
    "cells": [
        {"id": "title", "cell_type": "markdown", "metadata": {"tags": ["fast"]},
         "attachments": {"dot.png": {"image/png": png}},
         "source": "# Half `a` note\n\n![a dot](attachment:dot.png)\n\n| a | b |\n|---|--:|\n| 1 | 2⁻²⁴ |\n"},
        {"id": "empty", "cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": ""},
        {"id": "print", "cell_type": "code", "metadata": {"tags": ["raises-exception"], "collapsed": False},
         "execution_count": 1,
         "source": "x := 1 < 2 && \"a\\tb\" != `c`\nfmt.Println(x) // <script>\u2028 \u0007",
         "outputs": [
             {"output_type": "stream", "name": "stdout", "text": "true\nno newline\x1b[31m red\x1b[0m\r\nmore\x0cpage"},
             {"output_type": "display_data", "metadata": {"image/png": {"width": 1, "alt": "one dot"}},
              "data": {"image/png": png, "text/plain": "a dot\n1 x 1", "application/json": {"a": ["x", "y"]},
                       "application/vnd.some+json": ["l\n", "m"], "image/svg+xml": "<svg>\n</svg>"}},
             {"output_type": "execute_result", "execution_count": 1, "metadata": {},
              "data": {"text/html": "<b>1</b>\n", "text/plain": "1"}},
             {"output_type": "error", "ename": "Panic", "evalue": "boom", "traceback": ["\x1b[31mPanic\x1b[0m: boom", "cell 1"]},
         ]},
        {"id": "raw_-1", "cell_type": "raw", "metadata": {"format": "text/x-rst"}, "source": "line\x0bvt\x85nel\r\n"},
    ],
})
nbformat.validate(nb)
nbformat.write(nb, "kitchen-sink.ipynb")
