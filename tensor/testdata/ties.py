"""Writes ties.json: the positions that PyTorch gives where elements are equal, NaN or infinite, in every dtype. Run: python3 ties.py"""

import json
import math
import pathlib

import torch

NAN, INF = math.nan, math.inf
WHOLE = [[2, 3, 3, 1, 3], [1, 1, 1, 1, 1], [0, 5, 0, 5, 0], [7, 7, 2, 2, 7]]
ROWS = {
    "whole": WHOLE,
    "special": [[NAN, 1.0, NAN, 2.0, 1.0], [0.0, -0.0, 0.0, -0.0, 0.0], [INF, INF, -INF, -INF, 0.0], [-INF, -INF, -INF, -INF, -INF]],
}
DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8"]
OPERATIONS = {
    "argmax": lambda x: x.argmax(1),
    "argmax all": lambda x: x.argmax(),
    "argmin": lambda x: x.argmin(1),
    "argmin all": lambda x: x.argmin(),
    "max": lambda x: x.max(1)[1],
    "min": lambda x: x.min(1)[1],
    "cummax": lambda x: x.cummax(1)[1],
    "cummin": lambda x: x.cummin(1)[1],
    "argsort stable": lambda x: x.argsort(dim=1, stable=True),
    "argsort stable descending": lambda x: x.argsort(dim=1, descending=True, stable=True),
}
out = {}
for dtype in DTYPES:
    for rows, data in ROWS.items():
        if rows == "special" and not getattr(torch, dtype).is_floating_point:
            continue
        x = torch.tensor(data, dtype=getattr(torch, dtype))
        for name, f in OPERATIONS.items():
            out[f"{name}/{dtype}/{rows}"] = f(x).flatten().tolist()
path = pathlib.Path(__file__).with_name("ties.json")
path.write_text(json.dumps({"torch": torch.__version__, "positions": out}, separators=(",", ":")) + "\n")
