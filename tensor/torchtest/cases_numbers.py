"""Windows of LPPool that are cut, gradients of the weights of losses, and distances in several blocks."""

import torch
import torch.nn.functional as F

from oracle import *

FLOATS = ("float32", "float64")
INF = float("inf")

POOLS = {1: F.lp_pool1d, 2: F.lp_pool2d, 3: F.lp_pool3d}
for d, f in POOLS.items():
    sizes = (7, 5, 6)[:d]
    for p in 1, 2, 3, -1.5, INF, -INF:
        for name, options in {"": {}, "ceil": {"ceil_mode": True}, "ceil stride": {"ceil_mode": True, "stride": 3}, "stride": {"stride": 1}}.items():
            case(f"lp_pool{d}d {p} {name}".strip(), lambda x, f=f, p=p, o=options: f(x, p, 4, **o), uniform(0.5, 2, 1, 2, *sizes), dtypes=FLOATS if d < 3 else FLOATS[:1], tol=2)
    case(f"lp_pool{d}d signs", lambda x, f=f: f(x, 3, 2, ceil_mode=True).nan_to_num(), uniform(-2, 2, 1, 2, *sizes), dtypes=FLOATS, double=False, tol=2)
case("lp_pool1d zeros", lambda x: F.lp_pool1d(x, 2.0, 2, ceil_mode=True), values([[[0.0, 0.0, 0.0, 1.0, 2.0]]]), dtypes=FLOATS, double=False)
case("lp_pool2d sizes", lambda x: F.lp_pool2d(x, 2.0, (2, 3), ceil_mode=True), uniform(0.5, 2, 2, 2, 5, 7), dtypes=FLOATS, tol=2)

share = lambda *s: uniform(0.05, 0.95, *s)
positive = lambda *s: uniform(0.1, 3, *s)
for r in "mean", "sum", "none":
    case(f"cross_entropy weight {r}", lambda x, p, w, r=r: F.cross_entropy(x, p, w, reduction=r), randn(4, 3), share(4, 3), positive(3), dtypes=FLOATS, tol=2)
    case(f"cross_entropy smooth {r}", lambda x, p, w, r=r: F.cross_entropy(x, p, w, reduction=r, label_smoothing=0.2), randn(4, 3, 2), share(4, 3, 2), positive(3), dtypes=FLOATS, tol=2)
    case(f"multilabel_soft_margin_loss weight {r}", lambda x, y, w, r=r: F.multilabel_soft_margin_loss(x, y, w, reduction=r), randn(4, 3), share(4, 3), positive(3), dtypes=FLOATS, tol=2)
case("cross_entropy vector", lambda x, p, w: F.cross_entropy(x, p, w), randn(5), share(5), positive(5), dtypes=FLOATS, tol=2)
case("prelu weight", lambda x, w: F.prelu(x, w), randn(4, 3), positive(3), dtypes=FLOATS)
case("embedding_bag weight", lambda x, w: F.embedding_bag(torch.tensor([[0, 2], [1, 1]]), x, per_sample_weights=w, mode="sum"), randn(3, 4), positive(2, 2), dtypes=FLOATS, double=False)
case("gaussian_nll_loss variance", lambda x, y, v: F.gaussian_nll_loss(x, y, v, full=True), randn(4, 3), randn(4, 3), positive(4, 3), dtypes=FLOATS, tol=2)
targets = torch.tensor([[1, 3, -1, 0], [0, -1, 2, 2], [-1, 0, 0, 0], [3, 2, 1, 0], [2, 2, -1, 0]])
for r in "mean", "sum", "none":
    case(f"multilabel_margin_loss {r}", lambda x, r=r: F.multilabel_margin_loss(x, targets, reduction=r), randn(5, 4), dtypes=FLOATS, double=False)

for p in 0, 0.5, 1, 1.5, 2, 3, INF:
    far = dict(dtypes=FLOATS, tol=8, double=False)
    cdist = lambda x, y, p=p: torch.cdist(x, y, p, compute_mode="donot_use_mm_for_euclid_dist")
    case(f"cdist {p} blocks", lambda x, y, f=cdist: f(x, y)[:, ::37, ::31], randn(2, 300, 2), randn(1, 250, 2), **far)
    case(f"pdist {p} blocks", lambda x, p=p: F.pdist(x, p)[::53], randn(60, 3), **far)
