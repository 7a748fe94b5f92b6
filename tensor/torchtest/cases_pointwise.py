"""Pointwise functions of one, two and three tensors, comparisons, bits."""

import math

import torch
import torch.nn.functional as F

from oracle import *

ALL = ("float32", "float16", "bfloat16", "float64")
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.0, 65504.0, -65504.0, 6e-8, 1e-4, 300.0, float("inf"), float("-inf"), float("nan")]


def double(f):
    """f computed in float64, where float32 loses digits that one rounding at the end would not."""
    return lambda *t: f(*[x.double() for x in t]).to(torch.promote_types(t[0].dtype, torch.float32))


def single(op, f, x=randn, edges=True, **options):
    """A function of one tensor at awkward shapes."""
    case(f"{op}", f, x(3, 7), dtypes=ALL, **options)
    case(f"{op} scalar", f, x(), **options)
    case(f"{op} empty", f, x(2, 0), **options)
    case(f"{op} view", lambda t: f(t.t()[1:]), x(3, 4), **options)
    if edges:
        case(f"{op} edges", lambda t: f(t.double()).to(torch.float32), values(EDGES), grad=False)


within = lambda low, high: lambda *s: uniform(low, high, *s)
for op in "sin cos tan atan sinh cosh asinh exp2 expm1 erfc".split():
    single(op, getattr(torch, op), rounds=op in ("tan", "exp2", "expm1"))
single("asin", torch.asin, within(-0.9, 0.9))
single("acos", torch.acos, within(-0.9, 0.9))
single("atanh", torch.atanh, within(-0.9, 0.9))
single("erfinv", torch.erfinv, within(-0.9, 0.9))
single("acosh", torch.acosh, within(1.2, 5))
single("log2", torch.log2, within(0.1, 4))
single("log10", torch.log10, within(0.1, 4))
single("rsqrt", torch.rsqrt, within(0.1, 4), rounds=True)
single("square", torch.square)
single("sinc", double(torch.sinc), edges=False)
single("logit", double(torch.logit), within(0.1, 0.9))
case("logit eps", double(lambda t: torch.logit(t, 0.3)), uniform(0, 1, 3, 5))
single("deg2rad", torch.deg2rad)
single("rad2deg", torch.rad2deg)
for op in "floor ceil trunc round sign frac".split():
    single(op, getattr(torch, op), lambda *s: randn(*s, scale=3.0))
case("round half", torch.round, values([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]), grad=False)
case("round decimals", lambda t: torch.round(t, decimals=1), randn(3, 5))
case("round tens", lambda t: torch.round(t, decimals=-1), randn(3, 5, scale=50.0))
single("clamp", lambda t: t.clamp(-0.5, 0.7))
single("clamp min", lambda t: t.clamp(min=-0.3))
single("clamp max", lambda t: t.clamp(max=0.3))
case("clamp at the bounds", lambda t: t.clamp(-1, 2), values([-1.0, 2.0, 0.0, -3.0, 3.0]))
case("clamp crossed", lambda t: t.clamp(2, 1), randn(3), double=False)
case("clamp tensors", lambda t, a, b: torch.clamp(t, a, b), randn(3, 4), uniform(-1, 0, 4), uniform(0, 1, 3, 1))
case("nan_to_num", torch.nan_to_num, values([1.0, float("nan"), -2.0, 3.5]))
case("nan_to_num numbers", lambda t: torch.nan_to_num(t, 1, 2, 3), values([1.0, float("nan"), float("inf"), float("-inf")]))

single("silu", F.silu)
single("mish", F.mish)
single("softsign", F.softsign)
single("tanhshrink", double(F.tanhshrink))
single("log_sigmoid", F.logsigmoid, edges=False)
single("elu", lambda t: F.elu(t, 0.7))
single("celu", lambda t: F.celu(t, 1.3))
single("selu", F.selu)
single("softplus", F.softplus)
single("softplus beta", lambda t: F.softplus(t, 3, 2))
single("gelu tanh", double(lambda t: F.gelu(t, approximate="tanh")), edges=False)
single("gelu precise", double(F.gelu), edges=False)
single("leaky_relu", lambda t: F.leaky_relu(t, 0.01))
single("leaky_relu slope", lambda t: F.leaky_relu(t, 0.3))
single("relu6", F.relu6, lambda *s: randn(*s, scale=5.0))
single("hardtanh", F.hardtanh)
single("hardsigmoid", F.hardsigmoid, lambda *s: randn(*s, scale=3.0), double=False)
single("hardswish", F.hardswish, lambda *s: randn(*s, scale=3.0))
single("hardshrink", F.hardshrink)
single("softshrink", F.softshrink)
single("threshold", lambda t: F.threshold(t, 0.1, 20))
case("hardtanh at the bounds", F.hardtanh, values([-1.0, 1.0, 0.5]))
case("elu at 0", F.elu, values([0.0, -0.0, 1.0]), double=False)
case("glu", lambda t: F.glu(t, 0), randn(4, 3), dtypes=ALL)
case("glu last", lambda t: F.glu(t, -1), randn(2, 3, 4))
case("softmin", lambda t: F.softmin(t, 1), randn(3, 4))
case("prelu", F.prelu, randn(2, 3, 4), uniform(0.1, 0.5, 3), dtypes=ALL, tol=2)  # a sum of products that are rounded
case("prelu one", F.prelu, randn(3, 4), uniform(0.1, 0.5, 1), tol=2)
case("prelu vector", F.prelu, randn(5), uniform(0.1, 0.5, 1), tol=2)
case("prelu empty", F.prelu, randn(0, 3), uniform(0.1, 0.5, 3))


def pairs(op, f, a=randn, b=randn, tol=1, **options):
    """A function of two tensors at awkward shapes."""
    case(f"{op}", f, a(3, 5), b(3, 5), dtypes=ALL, **options)
    case(f"{op} broadcast", f, a(2, 1, 5), b(3, 1), tol=tol, **options)
    case(f"{op} scalars", f, a(), b(), **options)
    case(f"{op} empty", f, a(0, 3), b(1, 3), **options)
    case(f"{op} views", lambda x, y: f(x.t(), y[1:3]), a(4, 2), b(5, 4), **options)
    case(f"{op} promotion", f, a(3, 5), b(3, 5), dtypes=("float16+float32", "float16+bfloat16", "float32+float64"), **options)


positive = within(0.2, 4)
pairs("atan2", torch.atan2, positive, positive)
pairs("hypot", torch.hypot, positive, positive)
pairs("copysign", torch.copysign)
pairs("fmod", torch.fmod, lambda *s: randn(*s, scale=4.0), positive)
pairs("remainder", torch.remainder, lambda *s: randn(*s, scale=4.0), positive)
pairs("floor_divide", torch.floor_divide, lambda *s: randn(*s, scale=4.0), positive, grad=False)
pairs("trunc_divide", lambda x, y: torch.div(x, y, rounding_mode="trunc"), lambda *s: randn(*s, scale=4.0), positive)
pairs("heaviside", torch.heaviside, grad=False)
pairs("pow tensors", torch.pow, positive)
pairs("fmax", torch.fmax)
pairs("fmin", torch.fmin)
pairs("xlogy", torch.xlogy, b=positive)
pairs("logaddexp", torch.logaddexp)
pairs("logaddexp2", torch.logaddexp2)
pairs("lerp number", lambda x, y: torch.lerp(x, y, 0.3))
for op, f in ("atan2", torch.atan2), ("hypot", torch.hypot), ("copysign", torch.copysign), ("fmod", torch.fmod), ("remainder", torch.remainder), ("floor_divide", torch.floor_divide), ("pow", torch.pow), ("fmax", torch.fmax), ("fmin", torch.fmin), ("xlogy", torch.xlogy), ("heaviside", torch.heaviside):
    signs = EDGES[:-1] if op == "copysign" else EDGES  # NaN has no sign to rely on
    case(f"{op} edges", lambda x, y, f=f: f(x.double(), y.double()).float(), values([[x] for x in EDGES]), values(signs), grad=False)
case("pow of zeros", torch.pow, values([0.0, 0.0, 2.0]), values([0.0, 2.0, 0.0]), double=False)
case("xlogy of zeros", torch.xlogy, values([0.0, 0.0, 2.0]), values([1.0, 2.0, 3.0]), double=False)
single("pow of a number", lambda t: 1.7**t)
single("div number", lambda t: t / 3)
single("rsub", lambda t: 3.1 - t)
case("rdiv", lambda t: 3.1 / t, uniform(0.5, 2, 3, 5), dtypes=("float32", "float64"))
case("add alpha", lambda x, y: torch.add(x, y, alpha=0.3), randn(3, 5), randn(5), dtypes=ALL)
case("sub alpha", lambda x, y: torch.sub(x, y, alpha=0.3), randn(3, 5), randn(5))
case("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.7), randn(3, 5), randn(5), randn(3, 1), dtypes=ALL)
case("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=0.7), randn(3, 5), randn(5), positive(3, 1), dtypes=ALL)
case("addcmul promotion", lambda x, y, z: torch.addcmul(x, y, z), randn(3), randn(3), randn(3), dtypes=("float16+float32+float32",))
case("lerp tensor", torch.lerp, randn(3, 5), randn(3, 5), uniform(0, 1, 3, 5), dtypes=ALL)
case("where bool", lambda c, x, y: torch.where(c, x, y), bools(3, 4), randn(3, 4), randn(4))

for op in "eq ne lt le gt ge".split():
    case(f"{op}", getattr(torch, op), values([[x] for x in EDGES]), values(EDGES), grad=False)
    case(f"{op} number", lambda t, op=op: getattr(torch, op)(t, 0.5), values(EDGES), grad=False)
    case(f"{op} integers", getattr(torch, op), ints(-3, 3, 4, 1), ints(-3, 3, 5), dtypes=("float32",))
for op in "isnan isinf isfinite isposinf isneginf signbit".split():
    case(f"{op}", getattr(torch, op), values(EDGES[:-1] if op == "signbit" else EDGES), grad=False)
case("isclose", lambda x, y: torch.isclose(x, y, 0.1, 0.01), values([[x] for x in EDGES]), values(EDGES), grad=False, dtypes=("float32",))
for op in "logical_and logical_or logical_xor".split():
    case(f"{op}", getattr(torch, op), values([0.0, 1.0, float("nan"), -0.0]), bools(3, 4), grad=False)
case("logical_not", torch.logical_not, values([0.0, 1.0, float("nan"), -0.0]), grad=False)
for op in "and or xor left_shift right_shift".split():
    low = 0 if "shift" in op else -9
    case(f"bitwise_{op}", getattr(torch, f"bitwise_{op}"), ints(-9, 9, 4, 1), ints(low, 9, 5), dtypes=("float32",))
for op in "and or xor".split():
    case(f"bitwise_{op} bools", getattr(torch, f"bitwise_{op}"), bools(3, 4), bools(4), dtypes=("float32",))
case("bitwise_not", torch.bitwise_not, ints(-9, 9, 7), dtypes=("float32",))
case("bitwise_not bools", torch.bitwise_not, bools(7), dtypes=("float32",))
for op, f in ("floor_divide", torch.floor_divide), ("fmod", torch.fmod), ("remainder", torch.remainder), ("trunc_divide", lambda x, y: torch.div(x, y, rounding_mode="trunc")):
    case(f"{op} integers", f, ints(-9, 9, 8, 1), values([-3, -2, 1, 4]), dtypes=("float32",))
case("div integers", lambda x, y: x / y, ints(-9, 9, 8, 1), values([-3, -2, 1, 4]), dtypes=("float32",))
case("pow integers", torch.pow, ints(-3, 4, 5, 1), ints(0, 5, 6), dtypes=("float32",))
case("pow integer number", lambda t: t**3, ints(-3, 4, 5), dtypes=("float32",))
case("sign integers", torch.sign, ints(-3, 4, 5), dtypes=("float32",))
case("clamp integers", lambda t: t.clamp(-1, 2), ints(-3, 4, 9), dtypes=("float32",))


def along(op, f, x=randn, **options):
    """A function along a dimension."""
    case(f"{op}", lambda t: f(t, 1), x(3, 5), dtypes=ALL, **options)
    case(f"{op} first", lambda t: f(t, 0), x(4, 3), **options)
    case(f"{op} middle", lambda t: f(t, -2), x(2, 4, 3), **options)
    case(f"{op} scalar", lambda t: f(t, 0), x(), **options)
    case(f"{op} empty", lambda t: f(t, 1), x(2, 0), **options)
    case(f"{op} long", lambda t: f(t, 0), x(150), **options)
    case(f"{op} view", lambda t: f(t.t()[1:], 1), x(3, 4), **options)


along("cumsum", torch.cumsum)
along("cumprod", torch.cumprod, lambda *s: uniform(0.8, 1.25, *s))
along("cummax", lambda t, d: torch.cummax(t, d)[0])
along("cummin", lambda t, d: torch.cummin(t, d)[0])
along("logcumsumexp", torch.logcumsumexp, tol=4)  # torch's derivative adds logarithms, which float32 rounds
ties = values([1.0, 3.0, 3.0, -2.0, float("nan"), 5.0])
case("cummax indices", lambda t: torch.cummax(t, 0)[1], ties, grad=False)
case("cummin indices", lambda t: torch.cummin(t, 0)[1], ties, grad=False)
case("cumprod with a zero", lambda t: torch.cumprod(t, 1), values([[1.0, 2.0, 0.0, 3.0, 4.0], [0.0, 2.0, 3.0, 0.0, 5.0]]))
case("cumsum integers", lambda t: torch.cumsum(t, 1), ints(-9, 9, 3, 4), dtypes=("float32",))
case("cumsum bools", lambda t: torch.cumsum(t, 1), bools(3, 4), dtypes=("float32",))
case("cumprod integers", lambda t: torch.cumprod(t, 1), ints(-9, 9, 3, 4), dtypes=("float32",))
case("logcumsumexp infinite", lambda t: torch.logcumsumexp(t, 0), values([float("-inf"), float("-inf"), 1.0, 2.0]), grad=False)
case("diff", lambda t: torch.diff(t, 1, 1), randn(3, 5))
case("diff twice", lambda t: torch.diff(t, 2, 0), randn(5, 2), dtypes=("float32", "float64"))
case("trapezoid", lambda t: torch.trapezoid(t, dx=0.3, dim=1), randn(3, 5), dtypes=("float32", "float64"))


def reduction(op, f, x=randn, **options):
    """f takes a tensor and a tuple of dimensions, or None for all."""
    case(f"{op}", lambda t: f(t, None), x(3, 5), dtypes=ALL, **options)
    case(f"{op} first", lambda t: f(t, (0,)), x(3, 5), **options)
    case(f"{op} two", lambda t: f(t, (0, 2)), x(2, 3, 4), **options)
    case(f"{op} long", lambda t: f(t, None), x(1031), **options)
    case(f"{op} view", lambda t: f(t.t()[1:], (0,)), x(3, 4), **options)


def product(t, d):
    """torch.prod takes one dimension."""
    for i in sorted(d if d is not None else range(t.dim()), reverse=True):
        t = t.prod(i)
    return t


reduction("prod", product, lambda *s: uniform(0.9, 1.1, *s))
reduction("var", lambda t, d: torch.var(t, d))
reduction("std", lambda t, d: torch.std(t, d))
reduction("logsumexp", lambda t, d: torch.logsumexp(t, tuple(range(t.dim())) if d is None else d))
case("prod with zeros", lambda t: t.prod(1), values([[0.0, 2.0, 3.0], [0.0, 0.0, 5.0], [1.0, 2.0, 3.0]]))
case("prod keep", lambda t: t.prod(1, keepdim=True), randn(2, 3))
case("prod empty", lambda t: t.prod(), randn(0), double=False)
case("prod scalar", lambda t: t.prod(), randn())
case("prod integers", lambda t: t.prod(1), ints(-9, 9, 3, 4), dtypes=("float32",))
case("var of one", lambda t: t.var(), randn(1), grad=False)
case("var correction", lambda t: t.var(1, correction=0, keepdim=True), randn(3, 4))
case("var correction too large", lambda t: t.var(1, correction=5), randn(3, 4), grad=False)
case("std correction", lambda t: t.std(1, correction=2), randn(3, 5))
case("std of equals", lambda t: t.std(1), values([[2.0, 2.0, 2.0], [1.0, 2.0, 4.0]]), double=False)
case("logsumexp large", lambda t: t.logsumexp(1), values([[1000.0, 1000.0], [-300.0, -301.0]]))
case("logsumexp infinite", lambda t: t.logsumexp(1), values([[float("-inf"), float("-inf")], [float("inf"), 1.0]]), grad=False)
case("logsumexp keep", lambda t: t.logsumexp(1, keepdim=True), randn(2, 3))
case("max along", lambda t: t.max(1)[0], randn(3, 5), dtypes=ALL)
case("min along", lambda t: t.min(0)[0], randn(3, 5))
case("max indices", lambda t: t.max(1)[1], values([[1.0, 3.0, 3.0], [float("nan"), 9.0, 2.0]]), grad=False)
case("min indices", lambda t: t.min(1)[1], values([[1.0, 3.0, 1.0], [float("nan"), 9.0, 2.0]]), grad=False)
case("max ties along", lambda t: t.max(1)[0], values([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]))
for q in 0, 0.3, 0.5, 1:
    case(f"quantile {q}", lambda t, q=q: torch.quantile(t, q, dim=1), randn(3, 6), dtypes=("float32", "float64"), double=False)
case("quantile first", lambda t: torch.quantile(t, 0.25, dim=0), values([[1.0, 2.0], [float("nan"), 0.0], [4.0, 7.0]]), grad=False, dtypes=("float32",))
case("nansum", lambda t: t.nansum(1), values([[1.0, float("nan"), 3.0], [4.0, 5.0, 6.0]]))
case("nanmean", lambda t: t.nanmean(1), values([[1.0, float("nan"), 3.0], [4.0, 5.0, 6.0]]), dtypes=("float32", "float64"))
for op in "all any count_nonzero".split():
    case(f"{op}", getattr(torch, op), values([[0.0, 1.0], [float("nan"), -0.0]]), grad=False)
    case(f"{op} first", lambda t, op=op: getattr(torch, op)(t, dim=0), values([[0.0, 1.0], [float("nan"), -0.0]]), grad=False)
    case(f"{op} empty", getattr(torch, op), randn(0, 3), grad=False)
case("bincount", lambda t: torch.bincount(t, minlength=12), ints(0, 9, 20), dtypes=("float32",))
case("histc", lambda t: torch.histc(t, 5, -1, 1), randn(40), grad=False, dtypes=("float32", "float64"))
case("histc of the range", lambda t: torch.histc(t, 4), randn(40), grad=False, dtypes=("float32", "float64"))
single("entr", torch.special.entr, within(0.05, 4))
case("entr at 0", torch.special.entr, values([0.0, -0.0, 1.0, 0.5]), double=False)
single("ndtr", double(torch.special.ndtr))
