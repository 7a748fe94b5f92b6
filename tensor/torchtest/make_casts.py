"""Writes testdata/casts.json: checksums of PyTorch's casts. Run: python3 make_casts.py

The numbers come from rules that casts_test.go has too. A checksum is the CRC-32 of 1024 results in little endian, NaN
being all ones whatever its bits.
"""

import json
import pathlib
import zlib

import numpy as np
import torch

BLOCK = 1024
FLOATS = ["float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"]
INTS = ["int64", "int32", "int16", "int8", "uint8", "bool"]


def mixed(n):
    """n pseudo-random numbers of 32 bits."""
    return mixed_of(np.arange(n, dtype=np.uint32))


def mixed_of(x):
    """MurmurHash3's finalizer, applied to indices."""
    x = x * np.uint32(0x9E3779B9)
    x = (x ^ x >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    x = (x ^ x >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return x ^ x >> np.uint32(16)


def patterns(dtype, bits):
    """All numbers of a dtype."""
    return torch.from_numpy(np.arange(1 << bits, dtype=np.uint32).astype("u%d" % (bits // 8))).view(getattr(torch, dtype))


def midpoints(dtype, bits, step):
    """The float32 bit patterns of numbers halfway between neighbours of a dtype, and one unit to either side."""
    finite = patterns(dtype, bits)[: 1 << (bits - 1)].double().numpy()
    finite = finite[np.isfinite(finite)]
    mid = ((finite[:-1] + finite[1:]) / 2)[::step].astype(np.float32).view(np.uint32)
    return np.concatenate([mid - np.uint32(1), mid, mid + np.uint32(1)])


def float32_edges():
    limits = np.array([0, 1, 2, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000], np.uint32)
    bits = np.concatenate([limits] + [midpoints(d, n, s) for d, n, s in (
        ("float16", 16, 5), ("bfloat16", 16, 11), ("float8_e4m3fn", 8, 1), ("float8_e5m2", 8, 1))])
    bits = np.concatenate([bits, bits | np.uint32(1 << 31), mixed(20000)])
    return torch.from_numpy(bits).view(torch.float32)


def float64_edges():
    """float32 edge cases, one unit of float64 to either side, and numbers between float32 neighbours."""
    x = float32_edges().double().numpy()
    bits = x[np.isfinite(x)].view(np.uint64)
    bits = np.concatenate([bits + np.uint64(1), bits - np.uint64(1), bits ^ np.uint64(1 << 28)])
    x = bits.view(np.float64)
    return torch.from_numpy(x[np.isfinite(x)])


def integers(dtype, bits):
    """Numbers around powers of two, and of all magnitudes."""
    r = mixed(8192).astype(np.uint64)
    lengths = np.arange(4096, dtype=np.uint64) % np.uint64(bits)
    r = ((r[:4096] << np.uint64(32) | r[4096:]) >> (np.uint64(63) - lengths)).view(np.int64)
    p = np.array([(1 << k) + d for k in range(bits - 1) for d in (-1, 0, 1)], np.int64)
    return torch.from_numpy(np.concatenate([p, -p, r, -r])).to(getattr(torch, dtype))


def within(x, low, high):
    """The elements that an integer dtype can represent; casts of others are undefined in C."""
    x = x.double()
    return x[torch.isfinite(x) & (x > low - 1) & (x < high + 1)]


def checksums(x):
    flat = x.contiguous().view(torch.uint8).numpy().reshape(len(x), -1).copy()
    if x.is_floating_point():
        flat[torch.isnan(x.float()).numpy()] = 0xFF
    return " ".join("%08x" % zlib.crc32(flat[i : i + BLOCK].tobytes()) for i in range(0, len(x), BLOCK))


SOURCES = {
    "all float16": lambda: patterns("float16", 16),
    "all bfloat16": lambda: patterns("bfloat16", 16),
    "all float8_e4m3fn": lambda: patterns("float8_e4m3fn", 8),
    "all float8_e5m2": lambda: patterns("float8_e5m2", 8),
    "float32 edges": float32_edges,
    "float64 edges": float64_edges,
    "int64": lambda: integers("int64", 64),
    "int32": lambda: integers("int32", 32),
    "all int16": lambda: torch.arange(-(2**15), 2**15).to(torch.int16),
    "all int8": lambda: torch.arange(-128, 128).to(torch.int8),
    "all uint8": lambda: torch.arange(256).to(torch.uint8),
}
RANGES = {"int64": (-(2.0**62), 2.0**62), "int32": (-(2.0**31), 2.0**31 - 1), "int16": (-(2.0**15), 2.0**15 - 1), "int8": (-128, 127), "uint8": (0, 255)}

if __name__ == "__main__":
    torch.set_num_threads(1)
    rows = []
    for name, make in SOURCES.items():
        x = make()
        for to in FLOATS + INTS:
            y = x
            if x.is_floating_point() and to in RANGES:
                y = within(x, *RANGES[to]).to(x.dtype)
            rows.append({"from": name, "to": to, "n": len(y), "crc": checksums(y.to(getattr(torch, to)))})
    path = pathlib.Path(__file__).resolve().parent / "testdata" / "casts.json"
    lines = ",\n".join(json.dumps(r) for r in rows)
    path.write_text('{"torch": "%s", "casts": [\n%s\n]}\n' % (torch.__version__, lines))
    print(len(rows), "casts,", sum(r["n"] for r in rows), "numbers,", path.stat().st_size, "bytes")
