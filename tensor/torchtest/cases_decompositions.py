"""Eigenvalues, QR, LU, pseudoinverses, least squares and solutions of triangular systems.

Where signs are free, what is compared does not depend on them.
"""

import torch

from oracle import *

LN = torch.linalg
# Condition numbers of some tens multiply float32's rounding errors.
WIDE = dict(dtypes=("float32", "float64"), tol=60)
FLAT = dict(dtypes=("float32", "float64"), grad=False)
regular = lambda *s: Operand(lambda g: torch.randn(*s, generator=g) + 3 * torch.eye(s[-2], s[-1]))
eye = lambda x: torch.eye(x.shape[-1], dtype=x.dtype)


def spectral(x):
    w, v = LN.eigh(x + x.mT)
    return (v * w.unsqueeze(-2) ** 2) @ v.mT + v[..., :1] @ v[..., :1].mT  # without the signs of v


case("linalg_eigh", spectral, randn(4, 4), **WIDE)
case("linalg_eigh batch", spectral, randn(2, 2, 3, 3), **WIDE)
case("linalg_eigh one", spectral, randn(1, 1), **WIDE)
case("linalg_eigh values", lambda x: LN.eigvalsh(x), randn(2, 5, 5), **WIDE)
case("linalg_eigh magnitudes", lambda x: LN.eigh(x)[1].abs(), randn(5, 5), **FLAT)
for name, shape in {"": (4, 4), " tall": (5, 3), " wide": (3, 5), " batch": (2, 3, 2), " one": (1, 1)}.items():
    case(f"linalg_qr{name} q", lambda x: LN.qr(x)[0], regular(*shape), **WIDE)
    case(f"linalg_qr{name} r", lambda x: LN.qr(x)[1], regular(*shape), **WIDE)
    case(f"linalg_qr{name} both", lambda x: torch.cat([y.flatten() ** 2 for y in LN.qr(x)]), regular(*shape), **WIDE)
    case(f"linalg_qr{name} complete", lambda x: torch.cat([y.flatten() for y in LN.qr(x, mode="complete")]), regular(*shape), **FLAT)
case("linalg_qr zeros", lambda x: torch.cat([y.flatten() for y in LN.qr(x)]), values([[0.0, 1.0], [0.0, 2.0], [0.0, -2.0]]), **FLAT)
case("linalg_qr complete wide", lambda x: LN.qr(x, mode="complete")[1], regular(3, 4), **WIDE)

for name, shape in {"": (4, 4), " tall": (5, 3), " wide": (3, 5), " batch": (2, 3, 2)}.items():
    case(f"pinverse{name}", lambda x: LN.pinv(x), regular(*shape), **WIDE)
    case(f"linalg_lstsq{name}", lambda a, b: LN.lstsq(a, b).solution, regular(*shape), randn(*shape[:-1], 2), **WIDE)
    case(f"linalg_lstsq{name} residuals", lambda a, b: LN.lstsq(a, b, driver="gelsd").residuals, regular(*shape), randn(*shape[:-1], 2), **(WIDE if name in (" tall", " batch") else FLAT))
    case(f"linalg_lstsq{name} rank", lambda a, b: LN.lstsq(a, b).rank, regular(*shape), randn(*shape[:-1], 2), **FLAT)
    case(f"linalg_lstsq{name} values", lambda a, b: LN.lstsq(a, b, driver="gelss").singular_values, regular(*shape), randn(*shape[:-1], 2), **FLAT)
    case(f"matrix_rank{name}", lambda x: LN.matrix_rank(x), regular(*shape), **FLAT)
case("linalg_lstsq vector", lambda a, b: LN.lstsq(a, b).solution, regular(4, 2), randn(4), **WIDE)
SINGULAR = values([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, -1.0], [0.0, 0.0, 0.0]])
case("pinverse singular", lambda x: LN.pinv(x), SINGULAR, **FLAT)
case("pinverse rtol", lambda x: LN.pinv(x, rtol=0.3), regular(4, 4), **FLAT)
case("pinverse atol", lambda x: LN.pinv(x, atol=2.5), regular(4, 4), **FLAT)
case("pinverse hermitian", lambda x: LN.pinv(x + x.mT, hermitian=True), regular(3, 3), **WIDE)
case("linalg_lstsq singular", lambda a, b: LN.lstsq(a, b).solution, SINGULAR, randn(4, 2), **FLAT)
case("matrix_rank singular", lambda x: LN.matrix_rank(x), SINGULAR, **FLAT)
case("matrix_rank rtol", lambda x: LN.matrix_rank(x, rtol=0.3), randn(2, 4, 4), **FLAT)
case("matrix_rank atol", lambda x: LN.matrix_rank(x, atol=2.5), randn(2, 4, 4), **FLAT)
case("matrix_rank hermitian", lambda x: LN.matrix_rank(x @ x.mT, hermitian=True), randn(4, 2), **FLAT)
for order in (2, -2, 1, -1, "fro", "nuc", float("inf"), -float("inf")):
    case(f"cond {order}", lambda x, o=order: LN.cond(x, o), regular(2, 3, 3), **WIDE)
case("cond tall", lambda x: LN.cond(x), regular(4, 2), **WIDE)
case("cond singular", lambda x: LN.cond(x, 1), values([[[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 2.0]]]), **FLAT)

case("linalg_slogdet", lambda x: LN.slogdet(x)[1], regular(2, 3, 3), **WIDE)
case("linalg_slogdet sign", lambda x: LN.slogdet(x)[0], randn(5, 3, 3), **FLAT)
case("linalg_slogdet singular", lambda x: torch.stack(LN.slogdet(x)), values([[1.0, 2.0], [2.0, 4.0]]), **FLAT)
case("linalg_lu_factor", lambda x: LN.lu_factor(x)[0], regular(4, 4), **WIDE)
case("linalg_lu_factor batch", lambda x: LN.lu_factor(x)[0], randn(2, 3, 3), **WIDE)
case("linalg_lu_factor pivots", lambda x: LN.lu_factor(x)[1], randn(3, 5, 5), **FLAT)
case("linalg_lu_solve", lambda x, b: LN.lu_solve(*LN.lu_factor(x), b), regular(4, 4), randn(4, 2), **WIDE)
case("linalg_lu_solve batch", lambda x, b: LN.lu_solve(*LN.lu_factor(x), b), regular(2, 3, 3), randn(2, 3, 2), **WIDE)
for n in 1, 2, 4:
    case(f"linalg_matrix_exp {n}", lambda x: LN.matrix_exp(x), randn(2, n, n), **WIDE)
case("linalg_matrix_exp large", lambda x: LN.matrix_exp(x * 4), randn(3, 3), **WIDE)
case("linalg_matrix_exp zero", lambda x: LN.matrix_exp(x), values([[0.0, 1.0], [0.0, 0.0]]), **WIDE)

for upper in (False, True):
    for unit in (False, True):
        name = f"{'upper' if upper else 'lower'}{' unit' if unit else ''}"
        ts = lambda a, b, u=upper, n=unit: LN.solve_triangular(a, b, upper=u, unitriangular=n)
        case(f"linalg_solve_triangular {name}", ts, regular(4, 4), randn(4, 3), **WIDE)
        case(f"linalg_solve_triangular {name} right", lambda a, b, u=upper, n=unit: LN.solve_triangular(a, b, upper=u, unitriangular=n, left=False), regular(3, 3), randn(2, 4, 3), **WIDE)
    name = "upper" if upper else "lower"
    tri = lambda x, u=upper: x.triu() if u else x.tril()
    case(f"cholesky_solve {name}", lambda b, l, u=upper, t=tri: torch.cholesky_solve(b, t(l), upper=u), randn(3, 2), regular(3, 3), **WIDE)
    case(f"cholesky_inverse {name}", lambda l, u=upper, t=tri: torch.cholesky_inverse(t(l), upper=u), regular(3, 3), **WIDE)
case("linalg_solve_triangular broadcast", lambda a, b: LN.solve_triangular(a, b, upper=True), regular(2, 1, 3, 3), randn(4, 3, 2), **WIDE)
case("linalg_solve_triangular empty", lambda a, b: LN.solve_triangular(a, b, upper=True), regular(0, 0), randn(0, 2), **FLAT)
case("cholesky_solve batch", lambda b, l: torch.cholesky_solve(b, l.tril()), randn(2, 3, 2), regular(2, 3, 3), **WIDE)
