"""Writes numpy_files.json: files that numpy writes. Run: python3 numpy_files.py >
numpy_files.json

Made with numpy 2.4."""

import base64
import io
import json
import numpy as np
from numpy.lib import format

ours = {"bool": "bool", "uint8": "uint8", "int8": "int8", "int16": "int16", "uint16": "int32", "int32": "int32", "uint32": "int64",
        "int64": "int64", "float16": "float16", "float32": "float32", "float64": "float64"}
shapes = [(), (0,), (1,), (5,), (2, 3), (3, 0, 2), (2, 3, 4), (1, 1, 1, 1, 1, 7)]


def numbers(dtype, shape):
    d = np.dtype(dtype)
    n = int(np.prod(shape))
    x = np.arange(n)
    if d.kind == "b":
        return (x % 2 == 1).reshape(shape)
    if d.kind == "f":
        return (x * 1.5 - 3.25).astype(d).reshape(shape)
    info = np.iinfo(d)
    edges = np.array([info.max, info.min, 1, 0, 7], dtype=d)
    return edges[x % 5].reshape(shape)


def encode(data):
    return base64.b64encode(data).decode()


cases = []


def add(name, array, data, same):
    cases.append({
        "name": name,
        "file": encode(data),
        "dtype": ours[array.dtype.newbyteorder("=").name],
        "shape": list(array.shape),
        "values": [str(v) if array.dtype.kind in "iu" else float(v) for v in array.flatten().tolist()],
        "same": same,  # what is written from the tensor must be this file again
    })


def saved(array, version=None):
    f = io.BytesIO()
    format.write_array(f, array, version=version)
    return f.getvalue()


for dtype in ours:
    for shape in shapes:
        a = numbers(dtype, shape)
        add(f"{dtype} {shape}", a, saved(a), dtype == ours[dtype])
for dtype in ("float32", "int16", "float64"):
    for shape in shapes:
        a = numbers(dtype, shape)
        big = a.astype(a.dtype.newbyteorder(">"))
        add(f"big-endian {dtype} {shape}", big, saved(big), False)
        fortran = np.asfortranarray(a)
        add(f"Fortran's order {dtype} {shape}", fortran, saved(fortran), False)
a = numbers("float32", (2, 3))
for version in ((1, 0), (2, 0), (3, 0)):
    add(f"version {version}", a, saved(a, version), version == (1, 0))
cases.append({"name": "Python 2's long sizes", "dtype": "uint8", "shape": [2, 1], "values": ["1", "2"], "same": False,
              "file": encode(b"\x93NUMPY\x01\x00" + (54).to_bytes(2, "little") + b"{'descr':\"|u1\",'shape':(2L,1L),'fortran_order':False}\n" + b"\1\2")})

archives = []
arrays = {"w": numbers("float32", (2, 3)), "b/ias": numbers("int64", (4,)), "empty": numbers("float64", (0, 2))}
for save in (np.savez, np.savez_compressed):
    f = io.BytesIO()
    save(f, **arrays)
    archives.append({"name": save.__name__, "file": encode(f.getvalue())})

broken = []
for name, array in {"strings": np.array(["a", "b"]), "complex": np.zeros(2, complex), "uint64": np.zeros(2, np.uint64),
                    "structured": np.zeros(2, [("a", "<f4")]), "long double": np.zeros(2, np.longdouble)}.items():
    broken.append({"name": name, "file": encode(saved(array))})

print(json.dumps({"numpy": np.__version__, "cases": cases, "archives": archives, "broken": broken}))
