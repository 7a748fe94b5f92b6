"""Arithmetic, the pointwise functions of the seeds, reductions, products, views."""

import torch
import torch.nn.functional as F

from oracle import *

ALL = ("float32", "float16", "bfloat16", "float64")
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 65504.0, -65504.0, 6e-8, 1e-4, 300.0, float("inf"), float("-inf"), float("nan")]


def pairs(op, f, a=randn, b=randn, tol=1):
    """A function of two tensors at awkward shapes. tol is for gradients of broadcast operands, which are sums of rounded products."""
    case(f"{op}", f, a(3, 5), b(3, 5), dtypes=ALL)
    case(f"{op} broadcast", f, a(2, 1, 5), b(3, 1), tol=tol)
    case(f"{op} broadcast to a scalar", f, a(2, 3), b())
    case(f"{op} scalars", f, a(), b())
    case(f"{op} one", f, a(1), b(1))
    case(f"{op} empty", f, a(0, 3), b(1, 3))
    case(f"{op} views", lambda x, y: f(x.t(), y[1:3]), a(4, 2), b(5, 4))
    case(f"{op} promotion", f, a(3, 5), b(3, 5), dtypes=("float16+float32", "float32+bfloat16", "float16+bfloat16", "float32+float64"))
    case(f"{op} promotion with a scalar", f, a(3), b(), dtypes=("float16+float32", "bfloat16+float16", "float32+float64"))


pairs("add", lambda x, y: x + y)
pairs("sub", lambda x, y: x - y)
pairs("mul", lambda x, y: x * y)
pairs("div", lambda x, y: x / y, b=lambda *s: uniform(0.5, 2, *s), tol=2)
pairs("maximum", torch.maximum)
pairs("minimum", torch.minimum)
for op, f in ("add", torch.add), ("sub", torch.sub), ("mul", torch.mul), ("div", torch.div), ("maximum", torch.maximum), ("minimum", torch.minimum):
    case(f"{op} edges", f, values([[x] for x in EDGES]), values(EDGES), grad=False)
case("maximum ties", torch.maximum, values([1.0, 2.0, 3.0]), values([1.0, 5.0, 3.0]))
case("minimum ties", torch.minimum, values([1.0, 2.0, 3.0]), values([1.0, 5.0, 3.0]))


def single(op, f, x=randn, **options):
    """A function of one tensor at awkward shapes."""
    case(f"{op}", f, x(3, 7), dtypes=ALL, **options)
    case(f"{op} scalar", f, x(), **options)
    case(f"{op} one", f, x(1), **options)
    case(f"{op} empty", f, x(2, 0), **options)
    case(f"{op} view", lambda t: f(t.t()[1:]), x(3, 4), **options)
    case(f"{op} edges", lambda t: f(t.double()).float(), values(EDGES), grad=False)


positive = lambda *s: uniform(0.1, 4, *s)
single("neg", torch.neg)
single("abs", torch.abs)
single("exp", torch.exp, rounds=True)
single("log", torch.log, positive)
single("log1p", torch.log1p, positive)
single("sqrt", torch.sqrt, positive, rounds=True)
single("reciprocal", torch.reciprocal, positive, rounds=True)
single("erf", torch.erf)
single("tanh", torch.tanh, rounds=True)
single("sigmoid", torch.sigmoid, rounds=True)
single("relu", torch.relu)
single("gelu", F.gelu)
single("step", lambda t: torch.heaviside(t.detach(), torch.tensor(0.0, dtype=t.dtype)))
single("clone", torch.clone)
single("add number", lambda t: t + 0.1)
single("mul number", lambda t: t * 0.7)
for e in 0, 1, 2, 3, 0.5, -1, -2, 1.7:
    single(f"pow {e}", lambda t, e=e: t**e, positive)
case("pow 2 of both signs", lambda t: t**2, randn(3, 3))
case("pow 3 of both signs", lambda t: t**3, randn(3, 3))
case("where", lambda c, x, y: torch.where(c > 0, x, y), fixed(randn(3, 4)), randn(3, 4), randn(3, 4))
case("where broadcast", lambda c, x, y: torch.where(c > 0, x, y), fixed(randn(3, 1)), randn(4), randn(2, 1, 1))
case("to float64", lambda t: t.double(), randn(3, 4), dtypes=("float32",), out="float64")
case("to float16", lambda t: t, randn(3, 4), dtypes=("float32",), out="float16")
case("to bfloat16", lambda t: t, randn(3, 4), dtypes=("float32",), out="bfloat16")
case("to float32", lambda t: t, randn(3, 4), dtypes=("float16", "bfloat16", "float64"), out="float32")


def reduction(op, f, x=randn):
    """f takes a tensor and a tuple of dimensions, or None for all."""
    case(f"{op}", lambda t: f(t, None), x(3, 5), dtypes=ALL)
    case(f"{op} first", lambda t: f(t, (0,)), x(3, 5))
    case(f"{op} last", lambda t: f(t, (-1,)), x(2, 3, 7))
    case(f"{op} two", lambda t: f(t, (0, 2)), x(2, 3, 4))
    case(f"{op} scalar", lambda t: f(t, None), x())
    case(f"{op} one", lambda t: f(t, (0,)), x(1))
    case(f"{op} long", lambda t: f(t, None), x(1031))
    case(f"{op} view", lambda t: f(t.t()[1:], (0,)), x(3, 4))


dims = lambda f: lambda t, d: f(t) if d is None else f(t, dim=d)
reduction("sum", dims(torch.sum))
reduction("mean", dims(torch.mean))
reduction("norm", lambda t, d: torch.linalg.vector_norm(t, dim=d))
reduction("amax", lambda t, d: torch.amax(t, dim=() if d is None else d))
reduction("amin", lambda t, d: torch.amin(t, dim=() if d is None else d))
case("sum empty", torch.sum, randn(0, 3))
case("sum empty rows", lambda t: t.sum(0), randn(0, 3))
case("mean empty", torch.mean, randn(0, 3), double=False)
case("norm empty", torch.linalg.vector_norm, randn(0))
case("sum keep", lambda t: t.sum(1, keepdim=True), randn(2, 3))
case("mean keep", lambda t: t.mean(0, keepdim=True), randn(2, 3))
case("sum as float32", lambda t: t.float().sum(), randn(3, 5), dtypes=("float16", "bfloat16"), out="float32")
case("amax ties", lambda t: t.amax(1), values([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]))
case("amin ties", lambda t: t.amin(), values([[1.0, 3.0, 1.0], [2.0, 1.0, 2.0]]))
case("norm of zeros", torch.linalg.vector_norm, values([0.0, 0.0, 0.0]), double=False)

for op, f in ("softmax", torch.softmax), ("log_softmax", torch.log_softmax):
    case(f"{op}", lambda t, f=f: f(t, -1), randn(3, 5), dtypes=ALL, rounds=True)
    case(f"{op} first", lambda t, f=f: f(t, 0), randn(4, 3), rounds=True)
    case(f"{op} middle", lambda t, f=f: f(t, 1), randn(2, 5, 3), rounds=True)
    case(f"{op} one", lambda t, f=f: f(t, 0), randn(1), rounds=True)
    case(f"{op} scalar", lambda t, f=f: f(t, 0), randn(), rounds=True)
    case(f"{op} empty", lambda t, f=f: f(t, 1), randn(0, 4), rounds=True)
    case(f"{op} long", lambda t, f=f: f(t, 1), randn(2, 131), rounds=True)
    case(f"{op} view", lambda t, f=f: f(t.t()[1:], 1), randn(5, 4), rounds=True)
    case(f"{op} masked", lambda t, f=f: f(t, 1), values([[1.0, float("-inf"), 3.0], [0.0, 0.5, float("-inf")]]), grad=False)
    case(f"{op} large", lambda t, f=f: f(t, 1), values([[60000.0, 0.0, -60000.0], [300.0, 299.0, 298.0]]), double=False)
    case(f"{op} as float32", lambda t, f=f: f(t, 1, dtype=torch.float32), randn(3, 4), dtypes=("float16", "bfloat16"), out="float32")

case("mse_loss", F.mse_loss, randn(3, 4), randn(3, 4), dtypes=ALL)
case("mse_loss one", F.mse_loss, randn(1), randn(1))
case("mse_loss scalar", F.mse_loss, randn(), randn())
case("mse_loss promotion", F.mse_loss, randn(3), randn(3), dtypes=("float16+float32",))
case("l1_loss", F.l1_loss, randn(3, 4), randn(3, 4), dtypes=ALL)
case("l1_loss promotion", F.l1_loss, randn(3), randn(3), dtypes=("float16+float32",))

for k in 1, 7, 8, 64, 1000:
    case(f"matmul k={k}", torch.matmul, randn(3, k), randn(k, 2), double=k < 1000)
case("matmul", torch.matmul, randn(5, 4), randn(4, 3), dtypes=ALL)
case("matmul batch", torch.matmul, randn(2, 3, 4), randn(2, 4, 5))
case("matmul broadcast", torch.matmul, randn(2, 1, 3, 4), randn(3, 4, 2), tol=3)  # a sum of rounded products
case("matmul matrix vector", torch.matmul, randn(3, 4), randn(4))
case("matmul vector matrix", torch.matmul, randn(4), randn(4, 3))
case("matmul vectors", torch.matmul, randn(5), randn(5))
case("matmul batch vector", torch.matmul, randn(2, 3, 4), randn(4))
case("matmul views", lambda a, b: a.t() @ b[:, 1:], randn(4, 3), randn(4, 3))
case("matmul one", torch.matmul, randn(1, 1), randn(1, 1))
case("matmul no rows", torch.matmul, randn(0, 3), randn(3, 2))
case("matmul k=0", torch.matmul, randn(2, 0), randn(0, 3))
case("linear", F.linear, randn(3, 5), randn(2, 5), randn(2), dtypes=ALL)
case("linear, no bias", F.linear, randn(3, 5), randn(2, 5))
case("linear 3-D", F.linear, randn(2, 3, 5), randn(4, 5), randn(4))
case("linear vector", F.linear, randn(5), randn(2, 5), randn(2))
case("linear empty", F.linear, randn(0, 5), randn(2, 5), randn(2))
case("linear one", F.linear, randn(1, 1), randn(1, 1), randn(1))

case("reshape", lambda t: t.reshape(2, -1) ** 2, randn(3, 4))
case("reshape of a transpose", lambda t: t.t().reshape(6) ** 2, randn(2, 3))
case("permute", lambda t: t.permute(2, 0, 1) ** 2, randn(2, 3, 4))
case("expand", lambda t: t.expand(2, 3, 4) ** 2, randn(3, 1))
case("slice", lambda t: t[:, 1:3] ** 2, randn(2, 4))
case("slice select", lambda t: t[-1] ** 2, randn(3, 2))
case("slice empty", lambda t: t[2:2] ** 2, randn(3, 2))

case("chain penalty", lambda x, w: torch.tanh(x @ w).pow(2).sum().sqrt(), randn(3, 4), randn(4, 2), dtypes=("float32", "float64"))
case("chain mlp", lambda x, w, b, v: F.mse_loss(torch.sigmoid(F.linear(x, w, b)) @ v, x), randn(4, 3), randn(5, 3), randn(5), randn(5, 3), dtypes=("float32", "float64"))
