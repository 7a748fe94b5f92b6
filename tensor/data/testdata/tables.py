"""Prints what pandas reads from the tables below a folder, a line of JSON for each file.

Run: python3 tables.py FOLDER   Needs pandas. A column is its name, its type, and a checksum: of the float64 bits of numbers, with one NaN
for missing ones, or of the texts, each between zero bytes, with the byte 1 for missing ones. "?" is a missing value, as in LoadCSV. The
index of a file whose header is shorter by one is the column index. TABLES has what files need that are not read without options.
"""

import hashlib
import json
import pathlib
import sys
import warnings

import numpy as np
import pandas as pd

warnings.simplefilter("ignore")

# Options by the end of the path: those of CSVOptions, which are pandas' skiprows, header=None, sep, comment and encoding.
TABLES = {
    "sklearn/datasets/data/breast_cancer.csv": {"Skip": 1, "NoHeader": True}, "sklearn/datasets/data/digits.csv.gz": {"NoHeader": True}, "sklearn/datasets/data/diabetes_data_raw.csv.gz": {"NoHeader": True, "Comma": " "},
    "sklearn/datasets/data/diabetes_target.csv.gz": {"NoHeader": True}, "sklearn/datasets/data/linnerud_exercise.csv": {"Comma": " "}, "sklearn/datasets/data/linnerud_physiological.csv": {"Comma": " "},
    "sklearn/datasets/data/wine_data.csv": {"Skip": 1, "NoHeader": True}, "tsa/tests/results/arima212_forecast.csv": {"Short": True},
    "scotland/src/scotvote.csv": {"Comma": " "},
    ".tsv": {"Comma": "\t"},
}


def options(path):
    for end, o in TABLES.items():
        if path.endswith(end):
            return o
    return {}


def is_bool(column):
    return column.dtype == bool or column.dtype == object and len(column.dropna()) > 0 and all(isinstance(x, bool) for x in column.dropna())


def checksum(column):
    if is_bool(column) or column.dtype == bool or column.dtype.kind in "iuf":
        x = column.to_numpy(np.float64, na_value=np.nan).copy()
        x[np.isnan(x)] = np.nan
        return hashlib.sha256(x.astype("<f8").tobytes()).hexdigest()
    h = hashlib.sha256()
    for text in column:
        h.update(b"\x00" + (b"\x01" if pd.isna(text) else str(text).replace("\r\n", "\n").encode()))
    return h.hexdigest()


def read(path, o):
    frame = pd.read_csv(path, sep=o.get("Comma", ","), skiprows=o.get("Skip", 0), header=None if o.get("NoHeader") else "infer", comment=o.get("Comment"), encoding=o.get("Encoding", "utf-8"), na_values=["?"], float_precision="round_trip", low_memory=False)
    if not isinstance(frame.index, pd.RangeIndex) or frame.index.start != 0:
        frame = frame.reset_index()
    return frame


folder = pathlib.Path(sys.argv[1])
for path in sorted(p for p in folder.rglob("*") if p.name.endswith((".csv", ".csv.gz", ".tsv")) and not p.name.startswith("._")):
    name = path.relative_to(folder).as_posix()
    line = {"file": name, "options": options(name)}
    try:
        frame = read(path, line["options"])
        line["rows"] = len(frame)
        line["columns"] = [[str(c), "bool" if is_bool(frame[c]) else str(frame[c].dtype), checksum(frame[c])] for c in frame.columns]
    except Exception as e:
        line["error"] = f"{type(e).__name__}: {e}"
    print(json.dumps(line))
