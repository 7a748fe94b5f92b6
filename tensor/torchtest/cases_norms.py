"""Norms, distances, singular values and products of other kinds."""

import math

import torch
import torch.nn.functional as F

from oracle import *

ALL = ("float32", "float16", "bfloat16", "float64")
LN = torch.linalg
ORDERS = {"0": 0, "0.5": 0.5, "1": 1, "1.5": 1.5, "2": 2, "3": 3, "-1": -1, "inf": math.inf, "-inf": -math.inf}
# Derivatives of powers multiply the rounding error of the norm.
for name, p in ORDERS.items():
    case(f"norm {name}", lambda x, p=p: torch.norm(x, p), randn(3, 5), tol=4, grad=name != "0")
    case(f"linalg_vector_norm {name}", lambda x, p=p: LN.vector_norm(x, p, dim=(0, 2)), randn(2, 3, 4), dtypes=ALL, tol=4, grad=name != "0")
case("norm ties", lambda x: torch.norm(x, math.inf), values([1.0, -3.0, 3.0, 2.0]))
case("norm keep", lambda x: torch.norm(x, 3, dim=1, keepdim=True), randn(3, 4), tol=4)
case("norm of zeros 3", lambda x: torch.norm(x, 3), values([0.0, 0.0]), double=False)
case("norm empty 1", lambda x: torch.norm(x, 1), randn(0))
case("norm one", lambda x: torch.norm(x, 3), randn(1), tol=4)
case("norm as float32", lambda x: LN.vector_norm(x.float(), 2), randn(3, 5), dtypes=("float16", "bfloat16"), out="float32")
for order in ("fro", "nuc", 2, -2, 1, -1, math.inf, -math.inf):
    case(f"linalg_matrix_norm {order}", lambda x, o=order: LN.matrix_norm(x, o), randn(2, 3, 4), tol=4)
case("linalg_matrix_norm first", lambda x: LN.matrix_norm(x, 1, dim=(0, 2), keepdim=True), randn(3, 2, 4))
case("frobenius_norm", lambda x: torch.norm(x, "fro", dim=(0, 1)), randn(3, 4))
case("nuclear_norm", lambda x: torch.norm(x, "nuc", dim=(0, 1)), randn(4, 3), tol=4)
case("linalg_svd values", lambda x: LN.svdvals(x), randn(2, 4, 3), tol=8)
case("linalg_svd wide values", lambda x: LN.svdvals(x), randn(2, 5), tol=8)


def polar(x):
    u, s, vh = LN.svd(x, full_matrices=False)
    return (u * s.unsqueeze(-2) ** 2) @ vh + u @ vh  # without the signs of u and vh


case("linalg_svd", polar, randn(4, 3), dtypes=("float32", "float64"), tol=30)  # differences of singular values divide
case("linalg_svd batch", polar, randn(2, 2, 3), dtypes=("float32", "float64"), tol=30)
for p in 0, 1, 2, 3, math.inf:
    case(f"dist {p:g}", lambda x, y, p=p: torch.dist(x, y, p), randn(3, 4), randn(4), tol=8, grad=p != 0)  # broadcast: a sum of gradients
    # torch.cdist has no kernel for its second derivative.
    cd = lambda x, y, p=p: LN.vector_norm(x.unsqueeze(-2) - y.unsqueeze(-3), p, dim=-1)
    case(f"cdist {p:g}", cd, randn(3, 4), randn(5, 4), tol=4, grad=p != 0)
    case(f"cdist itself {p:g}", lambda x, y, p=p: torch.cdist(x, y, p, compute_mode="donot_use_mm_for_euclid_dist"), randn(3, 4), randn(5, 4), tol=4, double=False)
    case(f"pdist {p:g}", lambda x, p=p: F.pdist(x, p), randn(4, 3), tol=4, double=False)
case("cdist batch", lambda x, y: torch.cdist(x, y), randn(2, 1, 3, 4), randn(3, 5, 4), tol=8, double=False)
case("cdist by products", lambda x, y: torch.cdist(x, y, compute_mode="use_mm_for_euclid_dist"), randn(3, 4), randn(5, 4), dtypes=("float64",), tol=4, double=False)
case("cdist empty", lambda x, y: torch.cdist(x, y), randn(0, 4), randn(5, 4), double=False)
case("pairwise_distance", F.pairwise_distance, randn(3, 5), randn(3, 5), dtypes=("float32", "float64"))
case("pairwise_distance 1", lambda x, y: F.pairwise_distance(x, y, p=1, eps=0.01), randn(3, 5), randn(5), dtypes=("float32", "float64"))
case("cosine_similarity", F.cosine_similarity, randn(3, 5), randn(3, 5), dtypes=ALL, tol=2)
case("cosine_similarity first", lambda x, y: F.cosine_similarity(x, y, dim=0), randn(3, 5), randn(3, 1), tol=4)
case("cosine_similarity small", lambda x, y: F.cosine_similarity(x, y, dim=0, eps=2.0), values([0.1, 0.2]), randn(2), tol=2)
case("cross", lambda x, y: LN.cross(x, y), randn(2, 3), randn(2, 3))
case("cross first", lambda x, y: torch.cross(x, y, dim=0), randn(3, 2), randn(3, 1), tol=2)
case("bilinear", F.bilinear, randn(3, 4), randn(3, 5), randn(2, 4, 5), randn(2), tol=2)
case("bilinear, no bias", F.bilinear, randn(2, 3, 4), randn(2, 3, 5), randn(2, 4, 5), tol=2)
case("kron", torch.kron, randn(2, 3), randn(3, 2), dtypes=("float32", "float64"))
case("kron ranks", torch.kron, randn(3), randn(2, 2), dtypes=("float32", "float64"))
for n in 0, 1, 2, 3, 5:
    case(f"linalg_matrix_power {n}", lambda x, n=n: LN.matrix_power(x, n), randn(2, 3, 3, scale=0.7), tol=4)

# Condition numbers of some tens multiply float32's rounding errors.
regular = lambda *s: Operand(lambda g: torch.randn(*s, generator=g) + 3 * torch.eye(s[-1]))
WIDE = dict(dtypes=("float32", "float64"), tol=30)
case("linalg_inv", LN.inv, regular(4, 4), **WIDE)
case("linalg_inv batch", LN.inv, regular(2, 1, 3, 3), **WIDE)
case("linalg_inv empty", LN.inv, regular(0, 3, 3), **WIDE)
case("linalg_det", LN.det, regular(2, 3, 3), **WIDE)
case("linalg_det one", LN.det, randn(1, 1), **WIDE)
case("linalg_solve", LN.solve, regular(4, 4), randn(4, 3), **WIDE)
case("linalg_solve broadcast", LN.solve, regular(3, 3), randn(2, 3, 2), **WIDE)
case("linalg_solve vector", LN.solve, regular(4, 4), randn(4), **WIDE)
case("linalg_cholesky", lambda x: LN.cholesky(x @ x.mT + torch.eye(3, dtype=x.dtype)), randn(2, 3, 3), **WIDE)
