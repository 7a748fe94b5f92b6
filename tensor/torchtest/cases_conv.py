"""Convolution, pooling, padding, normalisation layers."""

import torch
import torch.nn.functional as F

from oracle import *

ALL = ("float32", "float16", "bfloat16", "float64")
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSE = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}

# Long sums of products cancel, and each order of summation loses other bits.
for d, sizes in (1, (7,)), (2, (5, 6)), (3, (3, 4, 3)):
    kernel = (3, 2, 2)[:d]
    f = CONV[d]
    case(f"conv{d}d", f, randn(2, 3, *sizes), randn(4, 3, *kernel), randn(4), dtypes=ALL, tol=2)
    case(f"conv{d}d no bias", lambda x, w, f=f: f(x, w), randn(1, 2, *sizes), randn(2, 2, *kernel), tol=2)
    case(f"conv{d}d stride padding dilation groups", lambda x, w, b, f=f, d=d: f(x, w, b, stride=2, padding=1, dilation=(2, 1, 1)[:d], groups=2),
         randn(2, 4, *sizes), randn(6, 2, *kernel), randn(6), tol=2)
    case(f"conv{d}d same", lambda x, w, b, f=f: f(x, w, b, padding="same"), randn(1, 2, *sizes), randn(3, 2, *kernel), randn(3), tol=2)
    f = TRANSPOSE[d]
    case(f"conv_transpose{d}d", f, randn(2, 3, *sizes), randn(3, 2, *kernel), randn(2), dtypes=ALL, tol=2)
    case(f"conv_transpose{d}d stride padding dilation groups", lambda x, w, b, f=f, d=d: f(x, w, b, stride=2, padding=1, output_padding=1, dilation=(2, 1, 1)[:d], groups=2),
         randn(1, 4, *sizes), randn(4, 1, *kernel), randn(2), tol=2)
case("conv2d one by one", lambda x, w, b: F.conv2d(x, w, b), randn(2, 5, 6, 6), randn(3, 5, 1, 1), randn(3), tol=2)
case("conv2d depthwise", lambda x, w: F.conv2d(x, w, groups=4, padding=1), randn(2, 4, 5, 5), randn(4, 1, 3, 3), tol=2)
case("conv2d long", lambda x, w: F.conv2d(x, w), randn(1, 70, 3, 3), randn(2, 70, 3, 3), tol=2)
case("conv2d no batch", lambda x, w, b: F.conv2d(x, w, b), randn(3, 5, 5), randn(2, 3, 2, 2), randn(2), tol=2)
case("conv2d empty", lambda x, w: F.conv2d(x, w), randn(0, 3, 5, 5), randn(2, 3, 2, 2))
case("conv_tbc", lambda x, w, b: F.conv1d(x.permute(1, 2, 0), w.permute(2, 1, 0), b, padding=1).permute(2, 0, 1), randn(5, 2, 3), randn(3, 3, 4), randn(4), tol=2)

for d in 1, 2, 3:
    f = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}[d]
    sizes = (7, 5, 3)[:d]
    case(f"avg_pool{d}d", lambda x, f=f: f(x, 2), randn(2, 3, *sizes), dtypes=ALL)
    case(f"avg_pool{d}d padding", lambda x, f=f: f(x, 3, stride=2, padding=1), randn(2, 2, *sizes))
    case(f"avg_pool{d}d ceil, padding not counted", lambda x, f=f: f(x, 3, stride=2, padding=1, ceil_mode=True, count_include_pad=False), randn(2, 2, *sizes))
    case(f"avg_pool{d}d ceil", lambda x, f=f: f(x, 2, stride=2, padding=1, ceil_mode=True), randn(1, 2, *sizes))
    f = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}[d]
    case(f"adaptive_avg_pool{d}d", lambda x, f=f: f(x, 3), randn(2, 2, *sizes), dtypes=ALL, tol=2)
    case(f"adaptive_avg_pool{d}d one", lambda x, f=f: f(x, 1), randn(2, 2, *sizes), tol=2)
case("avg_pool2d divisor", lambda x: F.avg_pool2d(x, (2, 3), divisor_override=4), randn(3, 5, 6))
case("lp_pool2d", lambda x: F.lp_pool2d(x, 2.0, (2, 3), stride=2), uniform(0.5, 2, 2, 2, 5, 6), dtypes=("float32", "float64"))

case("pad", lambda x: F.pad(x, (1, 2)), randn(2, 3), dtypes=ALL)
case("pad value", lambda x: F.pad(x, (1, 0, -1, 2, 0, 1), value=1.5), randn(2, 3, 4))
case("pad cut", lambda x: F.pad(x, (-1, -1, -2, 0)), randn(4, 5))
for mode in "reflect", "replicate", "circular":
    case(f"pad {mode} 1d", lambda x, m=mode: F.pad(x, (2, 1), mode=m), randn(2, 3, 4), dtypes=ALL)
    case(f"pad {mode} 2d", lambda x, m=mode: F.pad(x, (2, 1, 0, 3), mode=m), randn(2, 2, 4, 5))
    case(f"pad {mode} 3d", lambda x, m=mode: F.pad(x, (1, 1, 2, 1, 1, 0), mode=m), randn(1, 2, 3, 4, 3))

# Normalisation: subtracting means loses bits, and the oracle sums in another order.



def batch_norm(x, w, b):
    return F.batch_norm(x, None, None, w, b, training=True)


case("batch_norm", batch_norm, randn(4, 3, 5), randn(3), randn(3), dtypes=ALL, tol=4)
case("batch_norm 2d", batch_norm, randn(2, 3, 4, 5), randn(3), randn(3), tol=4)
case("batch_norm no dimensions", batch_norm, randn(6, 3), randn(3), randn(3), tol=4)
case("batch_norm float16", batch_norm, randn(3, 2, 4), randn(2), randn(2), dtypes=("float16+float32",), out="float16", tol=4)
case("batch_norm bfloat16", batch_norm, randn(3, 2, 4), randn(2), randn(2), dtypes=("bfloat16+float32",), out="bfloat16", tol=4)
case("batch_norm plain", lambda x: F.batch_norm(x, None, None, training=True, eps=0.1), randn(3, 2, 4), tol=4)
case("batch_norm far from 0", lambda x: F.batch_norm(x + 100, None, None, training=True), randn(5, 2, 4), dtypes=("float32", "float64"), tol=64)
case("batch_norm running", lambda x, w, b, m, v: F.batch_norm(x, m, v, w, b), randn(3, 2, 4), randn(2), randn(2), fixed(randn(2)), fixed(uniform(0.5, 2, 2)), tol=4)
case("layer_norm", lambda x, w, b: F.layer_norm(x, (7,), w, b), randn(3, 7), randn(7), randn(7), dtypes=ALL, tol=4)
case("layer_norm two", lambda x, w, b: F.layer_norm(x, (3, 4), w, b), randn(2, 3, 4), randn(3, 4), randn(3, 4), tol=4)
case("layer_norm plain", lambda x: F.layer_norm(x, (5,), eps=0.01), randn(2, 2, 5), tol=4)
case("layer_norm empty", lambda x: F.layer_norm(x, (5,)), randn(0, 5))
case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), randn(2, 4, 5), randn(4), randn(4), dtypes=ALL, tol=4)
case("group_norm plain", lambda x: F.group_norm(x, 3), randn(2, 6, 2, 3), tol=4)
case("instance_norm", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), randn(2, 3, 6), randn(3), randn(3), dtypes=ALL, tol=4)
case("instance_norm running", lambda x, m, v: F.instance_norm(x, m, v, use_input_stats=False), randn(2, 3, 6), fixed(randn(3)), fixed(uniform(0.5, 2, 3)), tol=4)
case("rms_norm", lambda x, w: F.rms_norm(x, (7,), w, eps=1e-6), randn(3, 7), randn(7), dtypes=ALL, tol=4)
case("rms_norm plain", lambda x: F.rms_norm(x, (3, 4)), randn(2, 3, 4), dtypes=("float32", "float64"), tol=4)
case("renorm", lambda x: torch.renorm(x, 2, 0, 1.5), randn(4, 3), tol=4)
case("renorm last", lambda x: torch.renorm(x, 3, 2, 1.0), randn(2, 3, 4), tol=4)
