"""Functions related to the gamma function."""

import torch

from oracle import *

ALL = ("float32", "float16", "bfloat16", "float64")
POINTS = values([0.1, 0.5, 1.0, 1.25, 1.4375, 2.0, 2.5, 3.0, 7.75, 8.0, 12.5, 100.0, 1000.0, -0.25, -0.5, -1.75, -3.625, -10.25, -20.5])
ODD = values([0.0, -0.0, 1.0, 2.0, float("inf"), float("nan")])
for name in "lgamma", "digamma":
    f = getattr(torch, name)
    case(name, f, POINTS, dtypes=ALL, tol=4)
    case(f"{name} odd", f, ODD, dtypes=ALL, grad=False)
    case(f"{name} near", f, uniform(0.5, 3, 40), dtypes=ALL, tol=4)
    case(f"{name} negative", f, uniform(-9, 0, 40), dtypes=("float64",), tol=8)
    case(f"{name} integers", f, ints(1, 20, 7), dtypes=("float32",))
case("lgamma poles", torch.lgamma, values([-1.0, -2.0, -30.0, float("-inf")]), dtypes=ALL, grad=False)
case("lgamma large", torch.lgamma, values([1e5, 3e7, 1e30]), dtypes=("float32", "float64"), tol=2)
case("digamma poles", torch.digamma, values([-1.0, -2.0, -30.0]), dtypes=ALL, grad=False)
for n in 0, 1, 2, 3, 5:
    case(f"polygamma {n}", lambda x, n=n: torch.polygamma(n, x), uniform(0.5, 9, 12), dtypes=ALL, tol=8)
case("polygamma odd", lambda x: torch.polygamma(1, x), values([0.0, 1.0, 2.0, -0.5, float("nan")]), dtypes=("float32", "float64"), grad=False)
case("polygamma poles", lambda x: torch.polygamma(2, x), values([0.0, -1.0, -2.0]), dtypes=("float32", "float64"), grad=False)
