"""Quantiles, covariances, unique elements, histograms, positions in triangles."""

import torch

from oracle import *

BOTH = dict(dtypes=("float32", "float64"))
FLAT = dict(dtypes=("float32", "float64"), grad=False)
ALL = dict(dtypes=("float32", "float16", "bfloat16", "float64"), grad=False)
INTEGERS = dict(dtypes=("float32",), grad=False)
nan = float("nan")
SHARES = [0.0, 0.1, 0.3, 0.5, 0.77, 1.0]
HOLES = values([[1.0, nan, 2.0, -3.0, 0.5, 7.0], [nan, nan, nan, nan, nan, nan], [4.0, 3.0, 2.0, 1.0, 0.0, -1.0], [nan, 1.5, nan, nan, nan, nan]])
shares = lambda x: torch.tensor(SHARES, dtype=x.dtype)
for mode in "linear", "lower", "higher", "midpoint", "nearest":
    case(f"quantile several {mode}", lambda x, m=mode: torch.quantile(x, shares(x), dim=1, interpolation=m), randn(3, 6), **BOTH)
    case(f"nanquantile {mode}", lambda x, m=mode: torch.nanquantile(x, shares(x), dim=1, interpolation=m), HOLES, **FLAT)
    case(f"quantile holes {mode}", lambda x, m=mode: torch.quantile(x, shares(x), dim=1, interpolation=m), HOLES, **FLAT)
case("quantile first dimension", lambda x: torch.quantile(x, shares(x), dim=0), randn(7, 2, 3), **BOTH)
case("quantile of one", lambda x: torch.quantile(x, shares(x), dim=0), randn(1), **BOTH)
case("nanquantile one share", lambda x: torch.nanquantile(x, 0.4, dim=0), HOLES, **FLAT)
case("nanquantile gradient", lambda x: torch.nanquantile(x, 0.4, dim=1), values([[1.0, nan, 2.0], [0.5, 0.25, -1.0]]), double=False, **BOTH)
case("nanmedian", lambda x: torch.nanmedian(x, 1).values, HOLES, **ALL)
case("nanmedian where", lambda x: torch.nanmedian(x, 1).indices, values([[1.0, nan, 2.0, -3.0], [4.0, 3.0, 2.0, 1.0]]), **FLAT)
case("nanmedian first", lambda x: torch.nanmedian(x, 0).values, randn(5, 3))
case("nanmedian integers", lambda x: torch.nanmedian(x, 1).values, ints(-9, 9, 3, 5), **INTEGERS)
case("nanmedian one", lambda x: torch.nanmedian(x, 0).values, values(3.0), **FLAT)

case("cov", torch.cov, randn(3, 7), tol=4, **BOTH)
case("cov vector", torch.cov, randn(7), tol=4, **BOTH)
case("cov correction", lambda x: torch.cov(x, correction=0), randn(3, 4), tol=4, **BOTH)
case("cov counts", lambda x, f: torch.cov(x, fweights=f), randn(3, 4), ints(1, 4, 4), tol=4, **BOTH)
case("cov weights", lambda x, a: torch.cov(x, aweights=a), randn(3, 4), fixed(uniform(0.5, 2, 4)), tol=4, **BOTH)
case("cov all", lambda x, f, a: torch.cov(x, correction=2, fweights=f, aweights=a), randn(2, 4), ints(1, 4, 4), fixed(uniform(0.5, 2, 4)), tol=4, **BOTH)
case("cov integers", torch.cov, ints(-9, 9, 3, 5), **INTEGERS)
case("corrcoef", torch.corrcoef, randn(3, 7), tol=8, **BOTH)
case("corrcoef vector", torch.corrcoef, randn(7), **FLAT)

ROWS = values([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0], [-1.0, 7.0], [0.0, 5.0], [0.0, 4.0]])
RUNS = values([[3, 3, 3], [3, 3, 3], [1, 1, 2], [3, 3, 3]])
for i, what in enumerate(("", " inverse", " counts")):
    u = lambda x, i=i, **o: torch.unique(x, return_inverse=True, return_counts=True, **o)[i]
    c = lambda x, i=i, **o: torch.unique_consecutive(x, return_inverse=True, return_counts=True, **o)[i]
    case(f"unique dim{what}", lambda x, u=u: u(x, dim=0), ROWS, **ALL)
    case(f"unique last{what}", lambda x, u=u: u(x, dim=-1), ints(0, 2, 2, 3, 9), **INTEGERS)
    case(f"unique_consecutive{what}", lambda x, c=c: c(x), values([1.0, 1.0, 2.0, 2.0, 2.0, 1.0, nan, nan]), **ALL)
    case(f"unique_consecutive all{what}", lambda x, c=c: c(x), RUNS, **INTEGERS)
    case(f"unique_consecutive dim{what}", lambda x, c=c: c(x, dim=0), RUNS, **INTEGERS)
    case(f"unique_consecutive columns{what}", lambda x, c=c: c(x, dim=1), RUNS, **INTEGERS)
case("isin", torch.isin, values([[1.0, 2.0, nan], [0.0, -0.0, 4.0]]), values([2.0, 0.0, nan, 9.0]), **ALL)
case("isin integers", torch.isin, ints(0, 9, 3, 4), ints(0, 9, 3), **INTEGERS)
case("isin mixed", torch.isin, ints(0, 9, 3, 4), values([1.0, 2.5, 4.0]), **INTEGERS)
case("isin empty", lambda x: torch.isin(x, torch.zeros(0, dtype=x.dtype)), randn(3), **INTEGERS)

case("histogram", lambda x: torch.histogram(x, 5).hist, randn(3, 7), **FLAT)
case("histogram edges", lambda x: torch.histogram(x, 5).bin_edges, randn(3, 7), **FLAT)
case("histogram range", lambda x: torch.histogram(x, 4, range=(-1.0, 1.0)).hist, randn(3, 7), **FLAT)
case("histogram at edges", lambda x: torch.histogram(x, 4, range=(0.0, 4.0)).hist, values([0.0, 1.0, 2.0, 3.0, 4.0, 4.5, -0.5]), **FLAT)
case("histogram weight", lambda x, w: torch.histogram(x, 4, range=(-1.0, 1.0), weight=w).hist, randn(9), randn(9), **FLAT)
case("histogram density", lambda x: torch.histogram(x, 4, range=(-2.0, 1.0), density=True).hist, randn(9), **FLAT)
case("histogram of one", lambda x: torch.histogram(x, 2).bin_edges, values([3.0, 3.0]), **FLAT)
case("cumulative_trapezoid", lambda x: torch.cumulative_trapezoid(x, dx=0.5), randn(2, 5), **BOTH)
case("cumulative_trapezoid first", lambda x: torch.cumulative_trapezoid(x, dim=0), randn(4, 2), **BOTH)
for k in -2, 0, 1, 9:
    case(f"tril_indices {k}", lambda x, k=k: torch.tril_indices(3, 4, k), values([0.0]), **INTEGERS)
    case(f"triu_indices {k}", lambda x, k=k: torch.triu_indices(3, 4, k), values([0.0]), **INTEGERS)
