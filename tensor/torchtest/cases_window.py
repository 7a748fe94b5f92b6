"""Random windows of every kind: convolution, pooling, padding, resizing. A case's name ends in its options, as JSON."""

import json
import random

import torch
import torch.nn.functional as F

from oracle import *

rng = random.Random(7)
R = rng.randint


def some(d, low, high):
    return [R(low, high) for _ in range(d)]


def add(op, options, f, *operands):
    """Adds a case unless torch refuses it or the result is empty."""
    try:
        if f(*[o.draw(torch.Generator().manual_seed(1)) for o in operands]).numel() == 0:
            return
        case(f"{op} {json.dumps(options, separators=(',', ':'))}", f, *operands, dtypes=("float64", "float16"), double=False, tol=4)
    except (RuntimeError, ValueError):
        pass


for i in range(36):
    d, g, n = i % 3 + 1, R(1, 3), R(1, 2)
    cin, cout = g * R(1, 2), g * R(1, 2)
    size, k, s, p, dil = some(d, 1, 6), some(d, 1, 3), some(d, 1, 3), some(d, 0, 2), some(d, 1, 2)
    o = {"Stride": s, "Padding": p, "Dilation": dil, "Groups": g}
    f = (F.conv1d, F.conv2d, F.conv3d)[d - 1]
    add(f"conv{d}d", o, lambda x, w, b, f=f, s=s, p=p, dil=dil, g=g: f(x, w, b, s, p, dil, g), randn(n, cin, *size), randn(cout, cin // g, *k), randn(cout))
    more = [R(0, x - 1) for x in s]
    f = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[d - 1]
    add(f"conv_transpose{d}d", o | {"OutputPadding": more}, lambda x, w, b, f=f, s=s, p=p, dil=dil, g=g, more=more: f(x, w, b, s, p, more, g, dil),
        randn(n, cin, *size), randn(cin, cout // g, *k), randn(cout))

    size, p, ceil, exclude = some(d, 1, 7), [R(0, x // 2) for x in k], R(0, 1) == 1, R(0, 1) == 1
    if any(p):
        dil = [1] * d  # windows that see only padding read beyond memory in torch
    f = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[d - 1]
    add(f"max_pool{d}d", {"Size": k, "Stride": s, "Padding": p, "Dilation": dil, "CeilMode": ceil}, lambda x, f=f, k=k, s=s, p=p, dil=dil, ceil=ceil: f(x, k, s, p, dil, ceil), randn(n, 2, *size))
    f = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[d - 1]
    add(f"avg_pool{d}d", {"Size": k, "Stride": s, "Padding": p, "CeilMode": ceil, "ExcludePadding": exclude}, lambda x, f=f, k=k, s=s, p=p, ceil=ceil, exclude=exclude: f(x, k, s, p, ceil, not exclude), randn(n, 2, *size))
    out = some(d, 2, 8)
    to = out if d > 1 else out[0]
    f = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[d - 1]
    add(f"adaptive_avg_pool{d}d", {"Size": out}, lambda x, f=f, to=to: f(x, to), randn(n, 2, *size))
    f = (F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d)[d - 1]
    add(f"adaptive_max_pool{d}d", {"Size": out}, lambda x, f=f, to=to: f(x, to), randn(n, 2, *size))

    # Sizes, not factors: torch's gradient of nearest ignores a factor that leaves the size.
    mode = rng.choice(["nearest", "nearest-exact", ("linear", "bilinear", "trilinear")[d - 1]] + ["bicubic"] * (d == 2))
    smooth = "nearest" not in mode
    corners, antialias = smooth and R(0, 1) == 1, d == 2 and smooth and R(0, 1) == 1
    kw = ({"align_corners": corners} if smooth else {}) | ({"antialias": True} if antialias else {})
    add("interpolate", {"Size": out, "Mode": mode, "AlignCorners": corners, "Antialias": antialias}, lambda x, out=out, mode=mode, kw=kw: F.interpolate(x, size=out, mode=mode, **kw), randn(n, 2, *size))
    mode = rng.choice(["constant", "reflect", "replicate", "circular"])
    pad = some(2 * d, -1 if mode == "constant" else 0, 4)
    add("pad", {"Mode": mode, "Pad": pad}, lambda x, mode=mode, pad=pad: F.pad(x, pad, mode=mode), randn(n, 2, *size))
