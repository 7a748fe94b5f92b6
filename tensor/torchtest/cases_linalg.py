"""Products of vectors, matrices and batches, einsum, tensordot."""

import torch

from oracle import *

ALL = ("float32", "float16", "bfloat16", "float64")
COMPOSED = 2  # gradients of one operand are added after they have been rounded

case("mm", torch.mm, randn(3, 5), randn(5, 4), dtypes=ALL)
case("mm one", torch.mm, randn(1, 1), randn(1, 1))
case("mm empty", torch.mm, randn(0, 3), randn(3, 2))
case("mm k=0", torch.mm, randn(2, 0), randn(0, 3))
case("mm k=4097", torch.mm, randn(2, 4097), randn(4097, 1), double=False)
case("mm integers", torch.mm, ints(-50, 50, 3, 70), ints(-50, 50, 70, 2), dtypes=("float32",))
case("mv", torch.mv, randn(3, 5), randn(5), dtypes=ALL)
case("mv empty", torch.mv, randn(3, 0), randn(0))
case("bmm", torch.bmm, randn(2, 3, 5), randn(2, 5, 4), dtypes=ALL)
case("bmm empty", torch.bmm, randn(0, 3, 5), randn(0, 5, 4))
case("dot", torch.dot, randn(7), randn(7), dtypes=ALL)
case("dot long", torch.dot, randn(1031), randn(1031), double=False)
case("dot empty", torch.dot, randn(0), randn(0))
case("vdot", torch.vdot, randn(7), randn(7))
case("linalg_vecdot", torch.linalg.vecdot, randn(3, 5), randn(3, 5))
case("linalg_vecdot first", lambda a, b: torch.linalg.vecdot(a, b, dim=0), randn(4, 3), randn(4, 3))
case("linalg_vecdot broadcast", torch.linalg.vecdot, randn(2, 1, 5), randn(3, 5), tol=12)  # gradients are sums of rounded products
case("outer", torch.outer, randn(3), randn(4))

for name, o in ("", {}), (" alpha", {"alpha": 0.5}), (" beta", {"beta": -1.5}), (" both", {"beta": 0.3, "alpha": 1.7}):
    tol = 2 if name else 1  # a factor is applied to the rounded product
    case(f"addmm{name}", lambda c, x, y, o=o: torch.addmm(c, x, y, **o), randn(3, 4), randn(3, 5), randn(5, 4), tol=tol)
    case(f"addmv{name}", lambda c, x, y, o=o: torch.addmv(c, x, y, **o), randn(3), randn(3, 5), randn(5), tol=tol)
    case(f"addr{name}", lambda c, x, y, o=o: torch.addr(c, x, y, **o), randn(3, 4), randn(3), randn(4), tol=tol)
    case(f"addbmm{name}", lambda c, x, y, o=o: torch.addbmm(c, x, y, **o), randn(3, 4), randn(2, 3, 5), randn(2, 5, 4), tol=tol)
    case(f"baddbmm{name}", lambda c, x, y, o=o: torch.baddbmm(c, x, y, **o), randn(2, 3, 4), randn(2, 3, 5), randn(2, 5, 4), tol=tol)
case("addmm broadcast", torch.addmm, randn(4), randn(3, 5), randn(5, 4))
case("addmv broadcast", torch.addmv, randn(1), randn(3, 5), randn(5))
case("addbmm broadcast", torch.addbmm, randn(1, 4), randn(2, 3, 5), randn(2, 5, 4))
case("baddbmm broadcast", torch.baddbmm, randn(3, 1), randn(2, 3, 5), randn(2, 5, 4))

case("chain_matmul", torch.chain_matmul, randn(2, 5), randn(5, 3), randn(3, 4))
case("linalg_multi_dot", lambda *x: torch.linalg.multi_dot(x), randn(2, 5), randn(5, 3), randn(3, 1), randn(1, 4))
case("linalg_multi_dot vectors", lambda *x: torch.linalg.multi_dot(x), randn(5), randn(5, 3), randn(3))
case("tensordot", lambda a, b: torch.tensordot(a, b, dims=([0, 2], [1, 0])), randn(2, 3, 4), randn(4, 2, 5))
case("tensordot last and first", lambda a, b: torch.tensordot(a, b, dims=2), randn(2, 3, 4), randn(3, 4, 5))
case("tensordot outer", lambda a, b: torch.tensordot(a, b, dims=0), randn(2, 3), randn(2))

# Each equation is a case of that name; cases_linalg_test.go takes the equation from the name.
for equation, *shapes in (
    ("ij,jk->ik", (3, 5), (5, 2)), ("ij,jk", (3, 5), (5, 2)), ("ba,ca", (3, 5), (2, 5)), ("bX,cX->", (3, 5), (2, 5)), ("i,i", (4,), (4,)),
    ("i,j->ji", (4,), (3,)), ("ii", (4, 4)), ("ii->i", (4, 4)), ("iji->ji", (2, 3, 2)), ("ij->j", (2, 3)), ("ij->ji", (2, 3)),
    ("ii,ij,j->i", (3, 3), (3, 2), (2,)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("ij,ij->ij", (3, 4), (3, 4)),
    ("...ij,...jk", (2, 1, 3, 4), (2, 5, 4, 2)), ("i...j,j...->...i", (3, 2, 5, 4), (4, 2, 5)), ("...,...->...", (2, 3), (1, 3)),
    ("...i->i", (2, 3, 4)), ("a,b,c->abc", (2,), (3,), (2,)), ("ab,bc,cd,de->ae", (2, 3), (3, 4), (4, 2), (2, 3)), ("bn,anm,bm->ba", (2, 3), (4, 3, 5), (2, 5)),
    ("bhld,bhsd->bhls", (2, 2, 3, 4), (2, 2, 5, 4)), ("ij,jk->ik", (3, 0), (0, 2)), (",i->i", (), (3,)), ("b i, b j -> b i j", (2, 3), (2, 4)),
):
    name = f"einsum {equation} {'x'.join(map(str, shapes[0]))}"
    case(name, lambda *x, e=equation: torch.einsum(e, *x), *(randn(*s) for s in shapes), tol=COMPOSED)

case("trace", torch.trace, randn(4, 4))
case("trace wide", torch.trace, randn(2, 5))
case("diagonal", lambda x: torch.diagonal(x, 1, 0, 2) ** 2, randn(3, 2, 4))
case("diagonal below", lambda x: torch.diagonal(x, -1) ** 2, randn(3, 2))
