"""Reductions that leave size 1 along their dimensions: keepdim=True."""

import torch
import torch.nn.functional as F

from oracle import *

ALL = (0, 1, 2)
X = randn(3, 4, 2)
HOLES = values([[[1.5, float("nan")], [-2.0, 0.25]], [[float("nan"), 3.0], [4.0, -0.5]]])
FLAGS = values([[[True, False], [True, True]], [[True, True], [False, False]]])

# Over any dimensions.
for name, f in {
    "sum": torch.sum,
    "mean": torch.mean,
    "amax": torch.amax,
    "amin": torch.amin,
    "var": torch.var,
    "std": torch.std,
    "logsumexp": torch.logsumexp,
    "linalg_vector_norm": lambda x, dim, keepdim: torch.linalg.vector_norm(x, 3, dim, keepdim),
    "norm": lambda x, dim, keepdim: torch.norm(x, 2, dim, keepdim),
}.items():
    for where, dim in ("first", (0,)), ("two", (2, 0)), ("all", ALL):
        case(f"{name} {where}", lambda x, f=f, dim=dim: f(x, dim=dim, keepdim=True), X, tol=2)
for name, f in ("nansum", torch.nansum), ("nanmean", torch.nanmean):
    case(f"{name} first", lambda x, f=f: f(x, dim=(0,), keepdim=True), HOLES)
    case(f"{name} all", lambda x, f=f: f(x, dim=ALL, keepdim=True), HOLES)
for name, f in ("var", torch.var), ("std", torch.std):
    case(f"{name} correction", lambda x, f=f: f(x, dim=1, correction=0, keepdim=True), X)
for name, f in ("all", torch.all), ("any", torch.any):
    case(f"{name} last", lambda x, f=f: f(x, dim=-1, keepdim=True), FLAGS, grad=False)
    case(f"{name} two", lambda x, f=f: f(x, dim=(0, 1), keepdim=True), FLAGS, grad=False)
    case(f"{name} of uint8", lambda x, f=f: f(x, dim=1, keepdim=True), as_is(FLAGS, torch.uint8), grad=False, dtypes=("float32",))

# Over one dimension.
for name, f in ("argmax", torch.argmax), ("argmin", torch.argmin):
    case(f"{name} last", lambda x, f=f: f(x, dim=-1, keepdim=True), X, grad=False)
case("prod middle", lambda x: x.prod(1, keepdim=True), X, tol=2)
case("quantile", lambda x: x.quantile(0.3, 1, keepdim=True), X, dtypes=("float32",))
for name, f in {
    "max": torch.max,
    "min": torch.min,
    "median": torch.median,
    "mode": torch.mode,
    "kthvalue": lambda x, dim, keepdim: torch.kthvalue(x, 2, dim, keepdim),
}.items():
    case(f"{name} values", lambda x, f=f: f(x, dim=1, keepdim=True)[0], X)
    case(f"{name} indices", lambda x, f=f: f(x, dim=1, keepdim=True)[1], X, grad=False)
for name, f in ("max", torch.max), ("median", torch.median):
    case(f"{name} of a scalar", lambda x, f=f: f(x, dim=0, keepdim=True)[0], randn())

# Two results.
case("aminmax least", lambda x: torch.aminmax(x, dim=1, keepdim=True)[0], X)
case("aminmax largest", lambda x: torch.aminmax(x, dim=1, keepdim=True)[1], X)
case("var_mean variance", lambda x: torch.var_mean(x, dim=1, keepdim=True)[0], X)
case("var_mean mean", lambda x: torch.var_mean(x, dim=1, keepdim=True)[1], X)
case("std_mean deviation", lambda x: torch.std_mean(x, dim=1, keepdim=True)[0], X)
case("std_mean mean", lambda x: torch.std_mean(x, dim=1, keepdim=True)[1], X)

# Norms of matrices, and of differences.
for order in "fro", "nuc":
    case(f"linalg_matrix_norm {order}", lambda x, order=order: torch.linalg.matrix_norm(x, order, (0, 1), True), X, tol=4)
case("linalg_matrix_norm 1", lambda x: torch.linalg.matrix_norm(x, 1, (0, 2), True), X)
case("frobenius_norm", lambda x: torch.linalg.matrix_norm(x, "fro", (-2, -1), True), X)
case("nuclear_norm", lambda x: torch.linalg.matrix_norm(x, "nuc", (-2, -1), True), X, tol=4)
case("pairwise_distance", lambda x, y: F.pairwise_distance(x, y, 3.0, keepdim=True), randn(3, 4), randn(3, 4), tol=2)
