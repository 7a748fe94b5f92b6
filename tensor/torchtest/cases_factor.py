"""Resizing by a factor. PyTorch's CPU and CUDA differ where the size stays or doubles."""

import torch
import torch.nn.functional as F

from oracle import *

# PyTorch's gradients do not match its results if a factor other than 1 keeps a size: these modes use one rule
# forward and the other backward.
TORN = "nearest", "nearest 3", "bicubic", "bilinear antialias", "bicubic antialias"
FACTORS = 0.45, 0.9, 1.0, 1.1, 1.24, 1.5, 2.0, 2.1, 2.3, 2.45, 3.0
MODES = {"nearest": 1, "nearest-exact": 1, "linear": 1, "area": 1, "bilinear": 2, "bicubic": 2, "bilinear antialias": 2, "bicubic antialias": 2, "nearest 2": 2, "nearest-exact 2": 2, "trilinear": 3, "nearest 3": 3}
for name, dims in MODES.items():
    mode, _, more = name.partition(" ")
    kw = {"antialias": True} if more == "antialias" else {}
    for factor in FACTORS:
        sizes = ((4,), (4, 5), (2, 3, 4))[dims - 1]
        # In several dimensions one stays or doubles while others do not.
        factors = (factor,) if dims == 1 else (1.0 if factor > 1.5 else 2.0, factor, 1.1)[:dims]
        if min(int(n * f) for n, f in zip(sizes, factors)) < 1:
            continue
        f = lambda x, m=mode, s=factors, kw=kw: F.interpolate(x, scale_factor=s if len(s) > 1 else s[0], mode=m, **kw)
        case(f"interpolate {name} {factor:g}", f, randn(1, 1, *sizes), dtypes=("float32",), double=False, grad=name not in TORN, tol=2)
    for factor in 1.24, 2.3:
        factors = (factor,) * dims
        f = lambda x, m=mode, s=factors, kw=kw: F.interpolate(x, scale_factor=s, mode=m, **kw)
        case(f"interpolate {name} all {factor:g}", f, randn(1, 1, *((4,), (4, 4), (3, 3, 3))[dims - 1]), dtypes=("float32",), double=False, grad=name not in TORN, tol=2)
        f = lambda x, m=mode, s=factors, kw=kw: F.interpolate(x, scale_factor=s, mode=m, recompute_scale_factor=True, **kw)
        case(f"interpolate {name} recomputed {factor:g}", f, randn(1, 1, *((4,), (4, 5), (2, 3, 4))[dims - 1]), dtypes=("float32",), double=False, grad=name not in TORN, tol=2)
