"""Losses: every reduction, weights, smoothing, and the numbers at the bounds."""

import torch
import torch.nn.functional as F

from oracle import *

ALL = ("float32", "float16", "bfloat16", "float64")
REDUCTIONS = "mean", "sum", "none"
positive = lambda *s: uniform(0.1, 3, *s)
share = lambda *s: uniform(0.05, 0.95, *s)
signs = lambda *s: leaves(lambda g: torch.randint(0, 2, s, generator=g) * 2.0 - 1)


def loss(op, f, *operands, shapes=True, **options):
    """f with every reduction, and for the mean at awkward shapes."""
    for r in REDUCTIONS:
        case(f"{op} {r}", lambda *x, r=r: f(*x, reduction=r), *[o(3, 5) for o in operands], dtypes=ALL, **options)
    if shapes:
        for name, shape in ("scalar", ()), ("one", (1,)), ("empty", (0, 3)), ("3-D", (2, 3, 2)):
            double = options.get("double", True) and name != "empty"
            case(f"{op} {name}", f, *[o(*shape) for o in operands], **{**options, "double": double})


loss("mse_loss", F.mse_loss, randn, randn)
loss("l1_loss", F.l1_loss, randn, randn)
loss("smooth_l1_loss", F.smooth_l1_loss, randn, randn)
loss("smooth_l1_loss beta", lambda x, y, **r: F.smooth_l1_loss(x, y, beta=0.3, **r), randn, randn, shapes=False)
case("smooth_l1_loss beta 0", lambda x, y: F.smooth_l1_loss(x, y, beta=0), randn(3, 4), randn(3, 4))
loss("huber_loss", F.huber_loss, randn, randn)
loss("huber_loss delta", lambda x, y, **r: F.huber_loss(x, y, delta=0.3, **r), randn, randn, shapes=False)
EDGES = [[0.0, 1.0, -1.0, 0.5, 2.0, 60000.0, float("inf"), float("nan")], [0.0, 0.0, -1.5, 1.5, 3.0, -60000.0, 1.0, 1.0]]
for op in "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss":
    case(f"{op} edges", lambda x, f=getattr(F, op): f(x[0], x[1], reduction="none"), values(EDGES), double=False)

loss("binary_cross_entropy", F.binary_cross_entropy, share, share)
loss("binary_cross_entropy weight", lambda x, y, w, **r: F.binary_cross_entropy(x, y, w, **r), share, share, lambda *s: fixed(positive(*s[-1:])), shapes=False)
case("binary_cross_entropy bounds", lambda x, y: F.binary_cross_entropy(x, y, reduction="none"), values([0.0, 1.0, 0.0, 1.0, 0.5]), fixed(values([0.0, 0.0, 1.0, 1.0, 0.5])), double=False)
bce = F.binary_cross_entropy_with_logits
loss("binary_cross_entropy_with_logits", bce, randn, share)
loss("binary_cross_entropy_with_logits weight", lambda x, y, w, **r: bce(x, y, w, **r), randn, share, lambda *s: fixed(positive(*s[-1:])), shapes=False)
loss("binary_cross_entropy_with_logits pos_weight", lambda x, y, w, **r: bce(x, y, pos_weight=w, **r), randn, share, lambda *s: fixed(positive(*s[-1:])), shapes=False)
loss("binary_cross_entropy_with_logits both", lambda x, y, w, p, **r: bce(x, y, w, pos_weight=p, **r), randn, share, lambda *s: fixed(positive(*s)), lambda *s: fixed(positive(*s[-1:])), shapes=False)
case("binary_cross_entropy_with_logits edges", lambda x, y: bce(x, y, reduction="none"), values([0.0, -0.0, 20.0, -20.0, 60000.0, -60000.0, 1e-4]), fixed(values([0.5, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0])), double=False)

loss("soft_margin_loss", F.soft_margin_loss, randn, lambda *s: fixed(signs(*s)), shapes=False)
for r in REDUCTIONS:
    # Composed of operations that each round; torch's float32 result is the reference.
    case(f"multilabel_soft_margin_loss {r}", lambda x, y, r=r: F.multilabel_soft_margin_loss(x, y, reduction=r), randn(3, 5), share(3, 5), dtypes=("float32", "float64"))
    case(f"multilabel_soft_margin_loss weight {r}", lambda x, y, w, r=r: F.multilabel_soft_margin_loss(x, y, w, reduction=r), randn(3, 5), share(3, 5), fixed(positive(5)), dtypes=("float32", "float64"))

rank = F.margin_ranking_loss
loss("margin_ranking_loss", rank, randn, randn, lambda *s: fixed(signs(*s)))
loss("margin_ranking_loss margin", lambda a, b, y, **r: rank(a, b, y, margin=0.7, **r), randn, randn, lambda *s: fixed(signs(*s)), shapes=False)
case("margin_ranking_loss ties", lambda a, b: rank(a, b, torch.ones(3)), values([1.0, 2.0, 3.0]), values([1.0, 2.5, 2.5]), double=False)
loss("hinge_embedding_loss", F.hinge_embedding_loss, randn, lambda *s: fixed(signs(*s)))
loss("hinge_embedding_loss margin", lambda x, y, **r: F.hinge_embedding_loss(x, y, margin=0.3, **r), randn, lambda *s: fixed(signs(*s)), shapes=False)
case("hinge_embedding_loss other targets", lambda x: F.hinge_embedding_loss(x, torch.tensor([1.0, -1.0, 0.0, 2.0]), reduction="none"), randn(4))
cosine = F.cosine_embedding_loss
for r in REDUCTIONS:
    case(f"cosine_embedding_loss {r}", lambda a, b, y, r=r: cosine(a, b, y, margin=-0.5, reduction=r), randn(4, 5), randn(4, 5), fixed(signs(4)), dtypes=ALL)
case("cosine_embedding_loss rows", lambda a, b, y: cosine(a, b, y), randn(4, 5), randn(4, 5), as_is(values([1, -1, -1, 1])))
case("cosine_embedding_loss vector", lambda a, b, y: cosine(a, b, y), randn(5), randn(5), as_is(values(1)))
case("cosine_embedding_loss zeros", lambda a, b, y: cosine(a, b, y), values([[0.0, 0.0]]), values([[1.0, 2.0]]), as_is(values([1])), double=False)
triplet = F.triplet_margin_loss
for r in REDUCTIONS:
    case(f"triplet_margin_loss {r}", lambda a, p, n, r=r: triplet(a, p, n, reduction=r), randn(4, 5), randn(4, 5), randn(4, 5), dtypes=ALL)
    case(f"triplet_margin_loss swap {r}", lambda a, p, n, r=r: triplet(a, p, n, margin=3.0, p=3, swap=True, reduction=r), randn(4, 5), randn(4, 5), randn(4, 5))
case("triplet_margin_loss p=1", lambda a, p, n: triplet(a, p, n, margin=9.0, p=1), randn(4, 5), randn(4, 5), randn(4, 5))
case("triplet_margin_loss vector", lambda a, p, n: triplet(a, p, n, margin=9.0), randn(5), randn(5), randn(5))
case("triplet_margin_with_distance_loss", lambda a, p, n: F.triplet_margin_with_distance_loss(a, p, n, distance_function=lambda x, y: (x - y).abs().sum(1), margin=9.0, swap=True), randn(4, 5), randn(4, 5), randn(4, 5), dtypes=("float32", "float64"))

loss("kl_div", F.kl_div, randn, positive)
loss("kl_div logarithms", lambda x, y, **r: F.kl_div(x, y, log_target=True, **r), randn, randn, shapes=False)
case("kl_div batchmean", lambda x, y: F.kl_div(x, y, reduction="batchmean"), randn(4, 5), positive(4, 5))
case("kl_div zeros", lambda x, y: F.kl_div(x, y, reduction="none"), randn(3), fixed(values([0.0, 1.0, 0.5])), double=False)
poisson = F.poisson_nll_loss
loss("poisson_nll_loss", poisson, randn, positive)
loss("poisson_nll_loss full", lambda x, y, **r: poisson(x, y, full=True, **r), randn, positive, shapes=False)
loss("poisson_nll_loss rates", lambda x, y, **r: poisson(x, y, log_input=False, full=True, **r), positive, positive, shapes=False)
gaussian = F.gaussian_nll_loss
for r in REDUCTIONS:
    case(f"gaussian_nll_loss {r}", lambda x, y, v, r=r: gaussian(x, y, v, full=r == "sum", reduction=r), randn(3, 5), randn(3, 5), positive(3, 5), dtypes=("float32", "float64"))
case("gaussian_nll_loss one variance a row", lambda x, y, v: gaussian(x, y, v, eps=0.5), randn(3, 5), randn(3, 5), positive(3), dtypes=("float32", "float64"))
case("gaussian_nll_loss small variance", lambda x, y, v: gaussian(x, y, v, eps=0.5), randn(3, 2), randn(3, 2), values([[0.0], [0.25], [2.0]]), dtypes=("float32", "float64"), double=False)

logs = lambda *s: randn(*s)
CLASSES = [2, 0, 4, 1, -100, 2]
nll = F.nll_loss
for r in REDUCTIONS:
    case(f"nll_loss {r}", lambda x, y, r=r: nll(x, y, reduction=r), randn(6, 5), values(CLASSES), dtypes=ALL)
    case(f"nll_loss weight {r}", lambda x, y, w, r=r: nll(x, y, w, ignore_index=2, reduction=r), randn(4, 5), values([2, 0, 4, 1]), fixed(positive(5)), dtypes=ALL)
    case(f"nll_loss2d {r}", lambda x, y, w, r=r: nll(x, y, w, reduction=r), randn(2, 3, 2, 2), values([[[0, 1], [2, -100]], [[1, 1], [0, 2]]]), fixed(positive(3)), dtypes=ALL)
case("nll_loss vector", lambda x, y: nll(x, y), randn(5), values(3))
case("nll_loss vector none", lambda x, y: nll(x, y, reduction="none"), randn(5), values(3))
case("nll_loss 3-D", lambda x, y: nll(x, y), randn(2, 3, 4), ints(0, 3, 2, 4))
case("nll_loss no rows", lambda x, y: nll(x, y), randn(0, 3), ints(0, 3, 0), double=False)
case("nll_loss all ignored", lambda x, y: nll(x, y, reduction="sum"), randn(2, 3), values([-100, -100]))
case("nll_loss infinite", lambda x, y: nll(x, y, reduction="sum"), values([[-1.0, float("-inf")], [float("-inf"), -2.0], [float("-inf"), float("-inf")]]), values([0, 1, -100]), double=False)
# Composed of operations that each round; torch's float32 result is the reference.
ROUNDS = dict(dtypes=("float32", "float64"))
ce = F.cross_entropy
for r in REDUCTIONS:
    case(f"cross_entropy {r}", lambda x, y, r=r: ce(x, y, reduction=r), randn(6, 5), values(CLASSES), **ROUNDS)
    case(f"cross_entropy weight {r}", lambda x, y, w, r=r: ce(x, y, w, ignore_index=2, reduction=r), randn(4, 5), values([2, 0, 4, 1]), fixed(positive(5)), **ROUNDS)
    case(f"cross_entropy smooth {r}", lambda x, y, r=r: ce(x, y, label_smoothing=0.2, reduction=r), randn(6, 5), values(CLASSES), **ROUNDS)
    case(f"cross_entropy smooth weight {r}", lambda x, y, w, r=r: ce(x, y, w, label_smoothing=0.2, reduction=r), randn(6, 5), values(CLASSES), fixed(positive(5)), **ROUNDS)
    case(f"cross_entropy planes {r}", lambda x, y, w, r=r: ce(x, y, w, label_smoothing=0.1, reduction=r), randn(2, 3, 2, 2), values([[[0, 1], [2, -100]], [[1, 1], [0, 2]]]), fixed(positive(3)), **ROUNDS)
    case(f"cross_entropy probabilities {r}", lambda x, y, r=r: ce(x, y.softmax(1), reduction=r), randn(4, 5), randn(4, 5), **ROUNDS)
    case(f"cross_entropy probabilities weight {r}", lambda x, y, w, r=r: ce(x, y.softmax(1), w, label_smoothing=0.3, reduction=r), randn(2, 3, 4), randn(2, 3, 4), fixed(positive(3)), **ROUNDS)
case("cross_entropy vector", lambda x, y: ce(x, y, label_smoothing=0.1), randn(5), values(3), **ROUNDS)
case("cross_entropy vector of probabilities", lambda x, y: ce(x, y.softmax(0)), randn(5), randn(5), **ROUNDS)
case("cross_entropy large", lambda x, y: ce(x, y, reduction="none"), values([[60000.0, 0.0], [-300.0, 300.0]]), values([1, 1]), double=False, **ROUNDS)
for r in REDUCTIONS:
    case(f"multi_margin_loss {r}", lambda x, y, r=r: F.multi_margin_loss(x, y, reduction=r), randn(4, 5), values([2, 0, 4, 1]), dtypes=ALL, double=False)
    case(f"multi_margin_loss weight {r}", lambda x, y, w, r=r: F.multi_margin_loss(x, y, p=2, margin=0.5, weight=w, reduction=r), randn(4, 5), values([2, 0, 4, 1]), fixed(positive(5)), double=False)
    case(f"multilabel_margin_loss {r}", lambda x, y, r=r: F.multilabel_margin_loss(x, y, reduction=r), randn(3, 4), values([[2, 0, -1, 1], [-1, 0, 1, 2], [3, 1, 0, 2]]), dtypes=ALL, double=False)
case("multi_margin_loss vector", lambda x, y: F.multi_margin_loss(x, y), randn(5), values(3), double=False)
case("multilabel_margin_loss vector", lambda x, y: F.multilabel_margin_loss(x, y), randn(4), values([1, 3, -1, 0]), double=False)


def seeded(f):
    """f with seed 7 and contiguous operands, because torch draws in memory order."""

    def g(x):
        torch.manual_seed(7)
        return f(x.contiguous())

    return g


for name, p in ("", 0.1), (" half", 0.5), (" most", 0.9), (" all", 1.0), (" none", 0.0):
    case(f"dropout{name}", seeded(lambda x, p=p: F.dropout(x, p)), randn(5, 7), dtypes=ALL)
case("dropout scalar", seeded(lambda x: F.dropout(x, 0.4)), randn())
case("dropout empty", seeded(lambda x: F.dropout(x, 0.4)), randn(0, 2))
case("dropout long", seeded(lambda x: F.dropout(x, 0.3)), randn(1031), double=False)
case("dropout not in training", seeded(lambda x: F.dropout(x, 0.4, training=False)), randn(3, 4))
case("dropout infinite", seeded(lambda x: F.dropout(x, 0.5)), values([float("inf"), float("-inf"), float("nan"), 1.0, float("inf")]), double=False)
case("feature_dropout rows", seeded(lambda x: F.dropout1d(x, 0.4)), randn(2, 5, 3), dtypes=ALL)
case("feature_dropout planes", seeded(lambda x: F.dropout2d(x, 0.4)), randn(2, 5, 2, 2))
case("feature_dropout volumes", seeded(lambda x: F.dropout3d(x, 0.4)), randn(2, 5, 2, 1, 2))
case("alpha_dropout", seeded(lambda x: F.alpha_dropout(x, 0.3, training=True)), randn(5, 7), dtypes=ALL)
case("alpha_dropout features", seeded(lambda x: F.feature_alpha_dropout(x, 0.3, training=True)), randn(2, 5, 3))
