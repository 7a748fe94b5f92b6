"""Joining, splitting, selecting and inserting."""

import torch
import torch.nn.functional as F

from oracle import *

I = torch.int64


def index(high, *shape):
    return ints(0, high, *shape)


# Gather and scatter. Operands that several sources go to are rounded once; torch's float32 reference sums in the
# same order.
case("gather", lambda x, i: x.gather(0, i), randn(3, 5), index(3, 4, 5))
case("gather last", lambda x, i: x.gather(-1, i), randn(3, 5), index(5, 2, 7))
case("gather smaller", lambda x, i: x.gather(1, i), randn(4, 3, 5), index(3, 2, 4, 3))
case("gather empty", lambda x, i: x.gather(0, i), randn(3, 5), index(3, 0, 5))
case("gather of a scalar", lambda x, i: x.gather(0, i), randn(), values(0))
case("take_along_dim", lambda x, i: torch.take_along_dim(x, i, 1), randn(1, 5, 3), index(5, 2, 4, 1))
case("take", lambda x, i: torch.take(x, i - 6), randn(3, 4), index(18, 2, 5))
case("scatter", lambda x, i, y: (x).scatter(0, i, y), randn(4, 5), values([[0, 1, 2, 3, 0], [3, 2, 1, 0, 1]]), randn(2, 5))
case("scatter larger", lambda x, i, y: (x).scatter(1, i, y), randn(4, 5), values([[0, 4, 2], [3, 2, 1]]), fixed(randn(3, 4)))
case("scatter a number", lambda x, i: (x).scatter(1, i, 2.5), randn(4, 5), index(5, 3, 4))
case("scatter_add", lambda x, i, y: (x).scatter_add(0, i, y), randn(3, 5), index(3, 6, 5), randn(6, 5), tol=2)
case("scatter_add last", lambda x, i, y: (x).scatter_add(1, i, y), randn(3, 2), index(2, 3, 9), randn(3, 9), tol=2)
case("scatter_add vector", lambda x, i, y: x.scatter_add(0, i, y), randn(3), index(3, 40), randn(40))
case("scatter_add empty", lambda x, i, y: x.scatter_add(0, i, y), randn(3), index(3, 0), randn(0))
for how in "sum", "mean", "prod", "amax", "amin":
    # Products round between their kernels, so the second derivatives of halves differ.
    tol = 4 if how == "prod" else 2
    for name, own in ("", True), (" without itself", False):
        f = lambda x, i, y, how=how, own=own: x.scatter_reduce(0, i, y, how, include_self=own)
        case(f"scatter_reduce {how}{name}", f, uniform(0.5, 2, 3, 4), index(3, 5, 4), uniform(0.5, 2, 5, 4), tol=tol)
case("scatter_reduce prod of zeros", lambda x, i, y: x.scatter_reduce(0, i, y, "prod"), values([1.0, 0.0, 3.0, 2.0]), values([0, 0, 1, 3, 3, 3]), values([0.0, 2.0, 3.0, 0.0, 4.0, 0.5]), double=False)
case("scatter_reduce amax of ties", lambda x, i, y: x.scatter_reduce(0, i, y, "amax"), values([1.0, 2.0, 5.0]), values([0, 0, 1, 1, 2]), values([3.0, 3.0, 2.0, 1.0, 4.0]))
case("scatter_reduce mean of integers", lambda x, i, y: x.scatter_reduce(0, i, y, "mean"), values([1, -2, 5]), values([0, 0, 1, 1, 2]), values([3, 4, 2, -1, -14]), dtypes=("float32",))

# Slices selected by a vector of positions.
case("index_select", lambda x, i: x.index_select(1, i), randn(3, 5, 2), index(5, 7))
case("index_select first", lambda x, i: x.index_select(0, i), randn(3, 5), index(3, 4))
case("index_select empty", lambda x, i: x.index_select(0, i), randn(3, 5), index(3, 0))
case("index_select one", lambda x, i: x.index_select(0, i), randn(3, 5), values(2))
case("index_add", lambda x, i, y: (x).index_add(0, i, y), randn(3, 5), index(3, 6), randn(6, 5), tol=2)
case("index_add alpha", lambda x, i, y: (x).index_add(1, i, y, alpha=-0.7), randn(3, 4, 2), index(4, 5), randn(3, 5, 2), tol=2)
case("index_copy", lambda x, i, y: (x).index_copy(1, i, y), randn(3, 5), values([4, 0]), randn(3, 2))
case("index_fill", lambda x, i: (x).index_fill(0, i, -1.5), randn(4, 3), values([3, 0, -2]))

# Extremes.
TIES = values([[3.0, 1.0, 3.0, -2.0], [float("nan"), 5.0, float("inf"), float("nan")], [0.0, -0.0, -1.0, -1.0]])
for op, f in ("argmax", torch.argmax), ("argmin", torch.argmin):
    case(f"{op}", lambda x, f=f: f(x), randn(3, 5), grad=False)
    case(f"{op} first", lambda x, f=f: f(x, 0), randn(3, 5, 2), grad=False)
    case(f"{op} last", lambda x, f=f: f(x, -1), randn(3, 5, 2), grad=False)
    case(f"{op} keep", lambda x, f=f: f(x, 1, keepdim=True), randn(3, 5, 2), grad=False)
    case(f"{op} ties", lambda x, f=f: f(x, 1), TIES, grad=False)
    case(f"{op} scalar", lambda x, f=f: f(x), randn(), grad=False)

# Joining and splitting.
case("cat", lambda x, y: torch.cat([x, y], 1), randn(3, 2), randn(3, 4))
case("cat three", lambda x, y, z: torch.cat([x, y, z]), randn(3, 2), randn(0, 2), randn(1, 2))
case("cat with an empty vector", lambda x, y: torch.cat([y, x]), randn(3, 2), randn(0))
case("cat promotion", lambda x, y: torch.cat([x, y]), randn(3), randn(2), dtypes=("float16+float32", "float16+bfloat16", "float32+float64"))
case("stack", lambda x, y: torch.stack([x, y], 1), randn(3, 2), randn(3, 2))
case("stack last", lambda x, y: torch.stack([x, y], -1), randn(3, 2), randn(3, 2))
case("stack scalars", lambda x, y: torch.stack([x, y]), randn(), randn())
case("hstack", lambda x, y: torch.hstack([x, y]), randn(3, 2), randn(3, 1))
case("hstack vectors", lambda x, y: torch.hstack([x, y]), randn(3), randn())
case("vstack", lambda x, y: torch.vstack([x, y]), randn(3), randn(2, 3))
case("dstack", lambda x, y: torch.dstack([x, y]), randn(3, 2), randn(3, 2, 2))
case("split", lambda x: x.split(3, 1)[2], randn(2, 7))
case("split sizes", lambda x: x.split([1, 0, 3], 0)[2] * x.split([1, 0, 3], 0)[0], randn(4, 2))
case("chunk", lambda x: x.chunk(4, 1)[2], randn(2, 9))
case("tensor_split", lambda x: x.tensor_split(4, 1)[1], randn(2, 9))
case("unbind", lambda x: x.unbind(1)[0] * x.unbind(1)[2], randn(2, 3, 4))

# Other shapes.
case("slice step", lambda x: x[:, 1:6:2], randn(2, 7))
case("narrow", lambda x: x.narrow(1, -3, 2), randn(2, 7))
case("flatten", lambda x: x.flatten(1, 2), randn(2, 3, 4, 2))
case("unflatten", lambda x: x.unflatten(1, (2, -1)), randn(2, 6, 3))
case("movedim", lambda x: x.movedim(0, 2), randn(2, 3, 4))
case("repeat", lambda x: x.repeat(2, 1, 3), randn(3, 2))
case("tile", lambda x: x.tile(2), randn(3, 2))
case("repeat_interleave", lambda x: x.repeat_interleave(3, 1), randn(2, 3))
case("repeat_interleave each", lambda x, n: x.repeat_interleave(n, 0), randn(4, 3), values([2, 0, 1, 3]))
case("meshgrid", lambda x, y: torch.meshgrid(x, y, indexing="ij")[0] * torch.meshgrid(x, y, indexing="ij")[1], randn(3), randn(4))
case("cartesian_prod", lambda x, y: torch.cartesian_prod(x, y), randn(3), randn(2))
case("squeeze", lambda x: x.squeeze(), randn(1, 3, 1, 2))

# Masks.
MASK = values([[True, False, True, True], [False, False, True, False], [True, True, False, True]])
case("masked_fill", lambda x, m: x.masked_fill(m, -1.5), randn(3, 4), MASK)
case("masked_fill broadcast", lambda x, m: x.masked_fill(m, float("-inf")), randn(2, 1, 4), MASK)
case("masked_select", lambda x, m: x.masked_select(m), randn(3, 4), MASK)
case("masked_select broadcast", lambda x, m: x.masked_select(m), randn(3, 1), MASK)
case("masked_scatter", lambda x, m, y: x.masked_scatter(m, y), randn(3, 4), MASK, randn(9))
case("nonzero", lambda x: torch.stack(torch.nonzero(x, as_tuple=True)), values([[0.0, 1.0, -2.0], [0.5, 0.0, 0.0]]), grad=False)
case("argwhere", lambda x: torch.argwhere(x), values([[0, 1, -2], [5, 0, 0]]), dtypes=("float32",))
case("argwhere scalar", lambda x: torch.argwhere(x), values(3), dtypes=("float32",))

# Sorting.
SORT = values([[3.0, 1.0, 3.0, -2.0, 1.0], [float("nan"), 5.0, float("inf"), float("nan"), 0.0], [0.0, -0.0, -1.0, -1.0, float("-inf")]])
for name, d in ("sort", False), ("sort descending", True):
    case(name, lambda x, d=d: x.sort(dim=1, descending=d, stable=True)[0], randn(3, 5))
    case(name + " first", lambda x, d=d: x.sort(dim=0, descending=d, stable=True)[0], randn(5, 3))
    case(name + " scalar", lambda x, d=d: x.sort(dim=0, descending=d)[0], randn())
    case("arg" + name + " ties", lambda x, d=d: x.argsort(dim=1, descending=d, stable=True), SORT, grad=False)
    case("arg" + name + " integers", lambda x, d=d: x.argsort(dim=0, descending=d, stable=True), ints(-3, 4, 9, 2), dtypes=("float32",))
case("topk", lambda x: x.topk(3, 1)[0], randn(3, 5))
case("topk positions", lambda x: x.topk(3, 0)[1], randn(5, 3), grad=False)
case("topk smallest", lambda x: x.topk(2, -1, largest=False)[0], randn(3, 5))
case("topk special", lambda x: x.topk(3, 1)[0], SORT, grad=False)
case("kthvalue", lambda x: x.kthvalue(2, 1)[0], randn(3, 5))
case("kthvalue positions", lambda x: x.kthvalue(4, 0)[1], randn(5, 3), grad=False)
case("median", lambda x: x.median(1)[0], randn(3, 6))
case("median positions", lambda x: x.median(0)[1], randn(7, 3), grad=False)
case("median special", lambda x: x.median(1)[0], SORT, grad=False)
case("median special positions", lambda x: x.median(1)[1][1:2], SORT, grad=False)
case("mode", lambda x: x.mode(1)[0], values([[3.0, 1.0, 3.0, -2.0, 1.0], [0.0, 2.0, 5.0, 5.0, 7.0]]))
case("mode positions", lambda x: x.mode(0)[1], ints(0, 3, 9, 4), dtypes=("float32",))
case("unique", lambda x: x.unique(), values([[3.0, 1.0, 3.0], [0.0, -1.0, 1.0]]), grad=False)
case("unique inverse", lambda x: x.unique(return_inverse=True)[1], values([[3.0, 1.0, 3.0], [0.0, -1.0, 1.0]]), grad=False)
case("unique counts", lambda x: x.unique(return_counts=True)[1], ints(0, 4, 20), dtypes=("float32",))
EDGE = values([-1.0, 0.0, 0.5, 2.0, 2.0, 3.0, float("inf")])
WANTED = values([[-2.0, -1.0, 0.0], [2.0, 2.5, float("nan")], [float("inf"), 3.0, float("-inf")]])
for name, right in ("", False), (" right", True):
    case("searchsorted" + name, lambda s, x, r=right: torch.searchsorted(s, x, right=r), EDGE, WANTED, grad=False)
    case("searchsorted rows" + name, lambda s, x, r=right: torch.searchsorted(s.sort(1)[0], x, right=r), ints(0, 9, 3, 5), ints(0, 9, 3, 4), dtypes=("float32",))
    case("bucketize" + name, lambda x, s, r=right: torch.bucketize(x, s, right=r), WANTED, EDGE, grad=False)

# Turning and cutting.
case("roll", lambda x: x.roll(2, 1), randn(2, 5))
case("roll back", lambda x: x.roll(-7, 0), randn(3, 2))
case("flip", lambda x: x.flip(0), randn(3, 2))
case("flip all", lambda x: x.flip(0, 1, 2), randn(3, 2, 4))
for k in range(-1, 4):
    case(f"rot90 {k}", lambda x, k=k: x.rot90(k, [0, 1]), randn(3, 2))
for k in -2, 0, 1:
    case(f"tril {k}", lambda x, k=k: x.tril(k), randn(3, 4))
    case(f"triu {k}", lambda x, k=k: x.triu(k), randn(2, 4, 3))
    case(f"diag_embed {k}", lambda x, k=k: x.diag_embed(k), randn(2, 3))
    case(f"diag {k}", lambda x, k=k: x.diag(k), randn(3, 4))
case("diag of a vector", lambda x: x.diag(1), randn(3))
case("as_strided", lambda x: x.contiguous().as_strided((2, 3, 2), (1, 2, 3), 1), randn(4, 3), tol=2)

# Looking up.
case("embedding", lambda i, w: F.embedding(i, w), index(5, 2, 7), randn(5, 3), tol=2)
case("embedding padding", lambda i, w: F.embedding(i, w, padding_idx=0), index(4, 9), randn(4, 3), tol=2)
case("embedding padding from the end", lambda i, w: F.embedding(i, w, padding_idx=-1), index(4, 9), randn(4, 3), tol=2)
case("embedding one", lambda i, w: F.embedding(i, w), values(2), randn(4, 3))
case("embedding max norm", lambda i, w: F.embedding(i, w.clone(), max_norm=1.0), index(5, 2, 4), fixed(randn(5, 3)), grad=False)
case("embedding max norm 1", lambda i, w: F.embedding(i, w.clone(), max_norm=0.7, norm_type=1.0), index(5, 2, 4), fixed(randn(5, 3)), grad=False)
case("one_hot", lambda i: F.one_hot(i), index(5, 2, 3), dtypes=("float32",))
case("one_hot classes", lambda i: F.one_hot(i, 7), index(5, 4), dtypes=("float32",))
BAGS = values([0, 3, 3, 7])
for mode in "sum", "mean", "max":
    # torch has no second derivative of the maximum.
    case(f"embedding_bag {mode}", lambda i, w, m=mode: F.embedding_bag(i, w, mode=m), index(9, 3, 4), randn(9, 2), double=False, tol=2)
    case(f"embedding_bag {mode} offsets", lambda i, w, o, m=mode: F.embedding_bag(i, w, o, mode=m), index(9, 8), randn(9, 2), BAGS, double=False, tol=2)
    case(f"embedding_bag {mode} padding", lambda i, w, o, m=mode: F.embedding_bag(i, w, o, mode=m, padding_idx=1), index(3, 8), randn(3, 2), BAGS, double=False, tol=2)
case("embedding_bag weights", lambda i, w, s: F.embedding_bag(i, w, mode="sum", per_sample_weights=s), index(9, 3, 4), randn(9, 2), randn(3, 4), double=False, tol=2)
