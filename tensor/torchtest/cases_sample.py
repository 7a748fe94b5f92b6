"""Max pooling, windows, resizing, sampling at positions."""

import torch
import torch.nn.functional as F

from oracle import *

ALL = ("float32", "float16", "bfloat16", "float64")
SIZES = (7, 5, 3)

for d in 1, 2, 3:
    f = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}[d]
    sizes = SIZES[:d]
    case(f"max_pool{d}d", lambda x, f=f: f(x, 2), randn(2, 3, *sizes), dtypes=ALL)
    case(f"max_pool{d}d stride padding dilation", lambda x, f=f: f(x, 2, stride=1, padding=1, dilation=2), randn(2, 2, *sizes))
    case(f"max_pool{d}d ceil", lambda x, f=f: f(x, 3, stride=2, padding=1, ceil_mode=True), randn(2, 2, *sizes))
    case(f"max_pool{d}d indices", lambda x, f=f: f(x, 3, stride=2, padding=1, return_indices=True)[1], randn(2, 2, *sizes), dtypes=("float32",))
    f = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}[d]
    case(f"adaptive_max_pool{d}d", lambda x, f=f: f(x, 3), randn(2, 2, *sizes), dtypes=ALL)
case("max_pool2d ties", lambda x: F.max_pool2d(x, 2), values([[[1.0, 1, 2, 0], [1, 1, 2, 2], [float("-inf"), float("-inf"), 0, 3], [float("-inf"), float("-inf"), 3, 0]]]))
case("max_pool2d border of -inf", lambda x: F.max_pool2d(x, 3, stride=1, padding=1, return_indices=True)[1], values([[[float("-inf")] * 3] * 3]), grad=False, dtypes=("float32",))
case("max_pool2d nan", lambda x: F.max_pool2d(x, 2), values([[[1.0, float("nan"), 2, 0], [1, 1, 2, 2]]]), grad=False)
case("max_unpool2d", lambda x: torch.zeros(1, 12).scatter(1, torch.tensor([[0, 3, 8, 11]]), x.flatten(1)).reshape(1, 3, 4), randn(1, 2, 2))

WINDOW = dict(kernel_size=(2, 3), stride=(2, 1), padding=(1, 0), dilation=(1, 2))
case("im2col", lambda x: F.unfold(x, **WINDOW), randn(2, 3, 5, 6), dtypes=ALL)
case("col2im", lambda x: F.fold(x, (5, 6), **WINDOW), randn(2, 12, 6), dtypes=ALL)
case("unfold", lambda x: x.unfold(1, 3, 2).pow(2), randn(2, 7, 3), dtypes=ALL)
case("unfold all", lambda x: x.unfold(0, 4, 1).pow(2), randn(4))

for d, sizes, out, factor in (1, (5,), (8,), 1.7), (2, (5, 4), (3, 7), 2.0), (3, (3, 4, 2), (5, 3, 3), 1.5):
    for mode in "nearest", "nearest-exact":
        case(f"upsample {mode} {d}d", lambda x, o=out, m=mode: F.interpolate(x, size=o, mode=m), randn(2, 2, *sizes), dtypes=ALL)
        case(f"upsample {mode} {d}d factor", lambda x, s=factor, m=mode: F.interpolate(x, scale_factor=s, mode=m), randn(1, 2, *sizes))
    mode = {1: "linear", 2: "bilinear", 3: "trilinear"}[d]
    # The oracle's positions are rounded in another order, which moves weights by an ulp.
    case(f"upsample {mode}", lambda x, o=out, m=mode: F.interpolate(x, size=o, mode=m), randn(2, 2, *sizes), dtypes=ALL, tol=2)
    case(f"upsample {mode} corners", lambda x, o=out, m=mode: F.interpolate(x, size=o, mode=m, align_corners=True), randn(1, 2, *sizes), tol=2)
    case(f"upsample {mode} factor", lambda x, s=factor, m=mode: F.interpolate(x, scale_factor=s, mode=m), randn(1, 2, *sizes), tol=2)
case("upsample factor recomputed", lambda x: F.interpolate(x, scale_factor=1.7, mode="linear", recompute_scale_factor=True), randn(1, 2, 5), tol=2)
case("upsample bicubic", lambda x: F.interpolate(x, size=(7, 3), mode="bicubic"), randn(2, 2, 5, 4), dtypes=ALL, tol=2)
case("upsample bicubic corners", lambda x: F.interpolate(x, size=(7, 3), mode="bicubic", align_corners=True), randn(1, 2, 5, 4), tol=2)
for mode in "bilinear", "bicubic":
    case(f"upsample {mode} antialias", lambda x, m=mode: F.interpolate(x, size=(3, 7), mode=m, antialias=True), randn(1, 2, 8, 5), tol=4)
    case(f"upsample {mode} antialias corners", lambda x, m=mode: F.interpolate(x, size=(3, 4), mode=m, antialias=True, align_corners=True), randn(1, 1, 7, 9), tol=4)
case("upsample area", lambda x: F.interpolate(x, size=(3, 2), mode="area"), randn(2, 2, 5, 4), tol=2)

# Positions are kept off whole numbers, where the derivative jumps.
for mode in "bilinear", "nearest", "bicubic":
    for padding in "zeros", "border", "reflection":
        for corners in False, True:
            name = f"grid_sampler {mode} {padding}" + (" corners" if corners else "")
            case(name, lambda x, g, m=mode, p=padding, c=corners: F.grid_sample(x, g, mode=m, padding_mode=p, align_corners=c),
                 randn(1, 2, 4, 5), uniform(-1.3, 1.3, 1, 3, 2, 2), dtypes=("float32", "float64") if mode != "bilinear" else ("float32", "float16", "bfloat16"), tol=8)
for mode in "bilinear", "nearest":
    case(f"grid_sampler {mode} 3-D", lambda x, g, m=mode: F.grid_sample(x, g, mode=m, padding_mode="border", align_corners=False),
         randn(2, 2, 3, 4, 3), uniform(-1.2, 1.2, 2, 2, 1, 2, 3), dtypes=("float32", "float64"), tol=8)
for corners in False, True:
    case("affine_grid" + (" corners" if corners else ""), lambda t, c=corners: F.affine_grid(t, (2, 1, 3, 4), align_corners=c), randn(2, 2, 3), tol=2)
case("affine_grid 3-D", lambda t: F.affine_grid(t, (1, 1, 2, 3, 4), align_corners=False), randn(1, 3, 4), tol=2)

case("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2).pow(2), randn(2, 8, 2, 3), dtypes=ALL)
case("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2).pow(2), randn(2, 2, 4, 6), dtypes=ALL)
case("channel_shuffle", lambda x: torch.reshape(torch.reshape(x, (2, 3, 2, 5)).transpose(1, 2), (2, 6, 5)).pow(2), randn(2, 6, 5), dtypes=ALL)
case("local_response_norm", lambda x: F.local_response_norm(x, 3, alpha=0.5, k=2.0), randn(2, 5, 4), dtypes=ALL, tol=4)
