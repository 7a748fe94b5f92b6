"""Writes testdata/<family>.safetensors for every cases_<family>.py, or for the families named.

Run: python3 make.py [family...]   Needs torch. Two runs give equal bytes.
"""

import importlib
import json
import pathlib
import struct
import sys

import numpy as np
import torch

import oracle

HERE = pathlib.Path(__file__).resolve().parent
DTYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2",
    torch.int64: "I64", torch.int32: "I32", torch.uint8: "U8", torch.bool: "BOOL",
}


def payload(x):
    """The bytes of x's elements, copied: x may be an expanded view, or zeros without memory."""
    flat = torch.zeros(x.numel(), dtype=x.dtype)
    if not x._is_zerotensor():
        flat.copy_(x.detach().reshape(-1))
    return flat.view(torch.uint8).numpy().tobytes()


def save(path, tensors, metadata):
    """Writes a safetensors file: length of the header, header in JSON, data in little endian."""
    header, parts, at = {"__metadata__": metadata}, [], 0
    for name, x in tensors:
        data = payload(x)
        header[name] = {"dtype": DTYPES[x.dtype], "shape": list(x.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))
    return path.stat().st_size


def make(family):
    oracle.CASES.clear()
    importlib.import_module("cases_" + family)
    tensors, described = [], []
    for c in oracle.CASES:
        try:
            tensors += c.make()
        except Exception as e:
            raise SystemExit(f"{family}: {c.name}: {e}") from e
        described.append({
            "name": c.name, "dtypes": list(c.dtypes), "double": c.double, "tol": c.tol,
            "operands": [{"grad": o.grad and c.grad, "cast": o.cast} for o in c.operands],
        })
    metadata = {"torch": torch.__version__, "cases": json.dumps(described, separators=(",", ":"))}
    size = save(HERE / "testdata" / (family + ".safetensors"), tensors, metadata)
    print(f"{family}: {len(described)} cases, {len(tensors)} tensors, {size / 1e3:.0f} kB")


if __name__ == "__main__":
    assert sys.byteorder == "little" and np.float32(1).tobytes() == b"\0\0\x80?"
    for name in sys.argv[1:] or sorted(p.stem[6:] for p in HERE.glob("cases_*.py")):
        make(name)
