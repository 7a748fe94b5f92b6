"""Functions whose composition in PyTorch depends on sizes, ranks and optional arguments.

dtypes.py runs them with the others. A name is the function's, then what is particular; the
shapes are those of the floating-point operands, whose dtypes vary. Weights that a function makes
itself are float32.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

N = 8
V, M, C, Q = (N,), (N, N), (N, N, N), (2, 2, 6, 6)
D3 = (1, 2, 4, 4, 4)
ONE = (2, 2, 6)


def weight(x, *shape):
    return torch.full(shape, 0.1, device=x.device)


def zeros(x, *shape):
    return torch.zeros(shape, dtype=torch.long, device=x.device)


VARIANTS = {}

# Recurrent cells: all operands vary, or the input and the states alone.
for name, gates, states in ("rnn_tanh_cell", 1, 1), ("rnn_relu_cell", 1, 1), ("gru_cell", 3, 1), ("lstm_cell", 4, 2):
    f = getattr(torch, name)

    def call(x, *rest, f=f, states=states):
        h = rest[0] if states == 1 else list(rest[:2])
        return f(x, h, *rest[states:])

    def own(x, *h, f=f, gates=gates, states=states, bias=True):
        w = weight(x, gates * N, N)
        b = [weight(x, gates * N)] * 2 if bias else []
        return f(x, h[0] if states == 1 else list(h), w, w, *b)

    first = (lambda g: lambda *a: g(*a)[0]) if states == 2 else (lambda g: g)
    second = lambda g: lambda *a: g(*a)[1]
    G = (gates * N, N)
    VARIANTS[f"{name}"] = ([M] * (1 + states) + [G, G], first(call))
    VARIANTS[f"{name} with biases"] = ([M] * (1 + states) + [G, G, (gates * N,), (gates * N,)], first(call))
    VARIANTS[f"{name} of float32 weights"] = ([M] * (1 + states), first(own))
    VARIANTS[f"{name} of float32 weights without biases"] = ([M] * (1 + states), first(lambda *a, own=own: own(*a, bias=False)))
    if states == 2:
        VARIANTS[f"{name}, c"] = ([M] * 3 + [G, G], second(call))
        VARIANTS[f"{name} of float32 weights, c"] = ([M] * 3, second(own))

# Recurrent layers: the input varies, or the input and the states.
LAYERS = {
    "RNN": lambda: nn.RNN(N, N), "RNN relu": lambda: nn.RNN(N, N, nonlinearity="relu"), "GRU": lambda: nn.GRU(N, N), "LSTM": lambda: nn.LSTM(N, N),
    "GRU two layers": lambda: nn.GRU(N, N, 2, bidirectional=True), "LSTM two layers": lambda: nn.LSTM(N, N, 2, bidirectional=True),
    "LSTM projected": lambda: nn.LSTM(N, N, proj_size=4), "GRU without biases": lambda: nn.GRU(N, N, bias=False), "LSTM without biases": lambda: nn.LSTM(N, N, bias=False),
}
for name, make in LAYERS.items():
    run = lambda x, *s, make=make: make().to(x.device)(x, *s)
    VARIANTS[name] = ([C], lambda x, run=run: run(x)[0])
    VARIANTS[f"{name}, last"] = ([C], lambda x, run=run: run(x)[1] if not isinstance(run(x)[1], tuple) else run(x)[1][0])
    if name.startswith("LSTM"):
        VARIANTS[f"{name}, c"] = ([C], lambda x, run=run: run(x)[1][1])
    if name in ("RNN", "GRU"):
        VARIANTS[f"{name} from a state"] = ([C, (1, N, N)], lambda x, h, run=run: run(x, h)[0])
VARIANTS["LSTM from a state"] = ([C, (1, N, N)], lambda x, h: nn.LSTM(N, N).to(x.device)(x, (h, h))[0])
for name, make in ("RNNCell", lambda: nn.RNNCell(N, N)), ("GRUCell", lambda: nn.GRUCell(N, N)), ("LSTMCell", lambda: nn.LSTMCell(N, N)):
    VARIANTS[name] = ([M], lambda x, make=make: (lambda y: y[0] if isinstance(y, tuple) else y)(make().to(x.device)(x)))

# Einsum: a product of matrices where something is summed over two operands, else none.
EQUATIONS = {
    1: ["ij->", "ii->i", "ii->", "ij->ji", "ij", "ij->i", "ij->j", "...ij->...ji"],
    2: ["ij,jk->ik", "ij,ij->ij", "ij,ij->", "ij,ij->i", "ij,kl->ijkl", "ij,kl->ij", "ij,jk->i", "ij,kj->ik", "ii,ij->j", "ij,jk", "ij,kl->"],
    3: ["ij,jk,kl->il", "ij,ij,ij->ij", "ij,ij,ij->", "ij,kl,mn->im"],
}
for n, equations in EQUATIONS.items():
    for e in equations:
        VARIANTS[f"einsum {e}"] = ([M] * n, lambda *x, e=e: torch.einsum(e, *x))
for e, shapes in {"i,i->": [V, V], "i,i->i": [V, V], "i,j->ij": [V, V], "ij,j->ij": [M, V], "ij,j->i": [M, V], "ij,->ij": [M, ()], "i,ij,j->": [V, M, V],
                  "bij,bjk->bik": [C, C], "bij,bij->b": [C, C], "bij,bij->bij": [C, C], "ij,jk->ik of one": [(1, 1), (1, 1)], "ij,jk->ik of rows": [(N, 1), (1, N)],
                  "i,i,i->": [V, V, V]}.items():
    VARIANTS[f"einsum {e}"] = (shapes, lambda *x, e=e: torch.einsum(e.split(" of")[0], *x))

# Products.
for p in 0, 1, 2, 3, 4, 5:
    VARIANTS[f"linalg_matrix_power {p}"] = ([M], lambda x, p=p: torch.linalg.matrix_power(x, p))
VARIANTS["linalg_matrix_power 0 of a batch"] = ([C], lambda x: torch.linalg.matrix_power(x, 0))
VARIANTS["linalg_matrix_power 1 of a batch"] = ([C], lambda x: torch.linalg.matrix_power(x, 1))
for name, shapes in {"1x1": [V, V], "1x2": [V, M], "2x1": [M, V], "2x2": [M, M], "3x1": [C, V], "1x3": [V, C], "3x2": [C, M], "2x3": [M, C], "3x3": [C, C]}.items():
    VARIANTS[f"matmul {name}"] = (shapes, torch.matmul)
for name, shapes in {"1": [V, M], "1 with bias": [V, M, V], "2": [M, M], "3": [C, M], "3 with bias": [C, M, V]}.items():
    VARIANTS[f"linear {name}"] = (shapes, lambda x, w, b=None: F.linear(x, w, b))
VARIANTS.update({
    "chain_matmul of one": ([M], torch.chain_matmul), "chain_matmul of two": ([M, M], torch.chain_matmul),
    "linalg_multi_dot of two": ([M, M], lambda *x: torch.linalg.multi_dot(x)), "linalg_multi_dot of vectors": ([V, M, V], lambda *x: torch.linalg.multi_dot(x)),
    "linalg_multi_dot of two vectors": ([V, V], lambda *x: torch.linalg.multi_dot(x)),
    "tensordot 0": ([M, M], lambda x, y: torch.tensordot(x, y, 0)), "tensordot 2": ([M, M], lambda x, y: torch.tensordot(x, y, 2)),
    "tensordot of vectors": ([V, V], lambda x, y: torch.tensordot(x, y, 1)),
    "linalg_vecdot of vectors": ([V, V], torch.linalg.vecdot),
    "addmm scaled": ([M, M, M], lambda *x: torch.addmm(*x, beta=0.5, alpha=2)), "addbmm scaled": ([M, C, C], lambda *x: torch.addbmm(*x, beta=0.5, alpha=2)),
    "kron of vectors": ([V, V], torch.kron), "outer of vectors": ([V, V], torch.outer),
    "bilinear without bias": ([(3, 2), (3, 2), (1, 2, 2)], F.bilinear), "bilinear of vectors": ([(2,), (2,), (1, 2, 2)], F.bilinear),
})

# Normalisation.
for name, shape in ("3", ONE), ("4", Q), ("5", D3):
    VARIANTS[f"local_response_norm {name}"] = ([shape], lambda x: F.local_response_norm(x, 2))
    VARIANTS[f"batch_norm {name}"] = ([shape], lambda x: F.batch_norm(x, None, None, training=True))
    VARIANTS[f"instance_norm {name}"] = ([shape], lambda x: F.instance_norm(x))
    VARIANTS[f"group_norm {name}"] = ([shape, (2,), (2,)], lambda x, w, b: F.group_norm(x, 2, w, b))
    VARIANTS[f"batch_norm in use {name}"] = ([shape], lambda x: F.batch_norm(x, weight(x, 2), weight(x, 2)))
VARIANTS.update({
    "layer_norm of two dimensions": ([C], lambda x: F.layer_norm(x, M)), "rms_norm of two dimensions": ([C], lambda x: F.rms_norm(x, M)),
    "rms_norm with eps": ([M], lambda x: F.rms_norm(x, V, eps=1e-5)), "renorm 1": ([C], lambda x: x.renorm(1, 1, 1)),
})
for p in 1.0, 2.0, 3.0, 0.5, float("inf"):
    VARIANTS[f"normalize {p}"] = ([M], lambda x, p=p: F.normalize(x, p))
    VARIANTS[f"pairwise_distance {p}"] = ([M, M], lambda x, y, p=p: F.pairwise_distance(x, y, p))
    VARIANTS[f"cdist {p}"] = ([M, M], lambda x, y, p=p: torch.cdist(x, y, p))
    VARIANTS[f"pdist {p}"] = ([M], lambda x, p=p: torch.pdist(x, p))
    VARIANTS[f"dist {p}"] = ([M, M], lambda x, y, p=p: torch.dist(x, y, p))
for p in 0, 1, 2, 3, float("inf"), -float("inf"):
    VARIANTS[f"norm {float(p)}"] = ([M], lambda x, p=p: torch.norm(x, p))
    VARIANTS[f"norm {float(p)} of rows"] = ([M], lambda x, p=p: torch.norm(x, p, 1, True))
    VARIANTS[f"linalg_vector_norm {float(p)}"] = ([M], lambda x, p=p: torch.linalg.vector_norm(x, p, 1))
for p in "fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf"):
    VARIANTS[f"linalg_matrix_norm {str(p)}"] = ([C], lambda x, p=p: torch.linalg.matrix_norm(x, p))
VARIANTS["cdist of many"] = ([(30, 2), (30, 2)], torch.cdist)
VARIANTS["cosine_similarity of vectors"] = ([V, V], lambda x, y: F.cosine_similarity(x, y, 0))

# Reductions along a dimension, kept or not.
for name in "sum mean prod var std amax amin logsumexp nansum nanmean argmax median mode all any count_nonzero".split():
    keep = {} if name == "count_nonzero" else {"keepdim": True}
    pick = lambda y: y[0] if isinstance(y, tuple) else y
    VARIANTS[f"{name} of rows"] = ([M], lambda x, name=name, pick=pick: pick(getattr(torch, name)(x, dim=1)))
    VARIANTS[f"{name} of rows kept"] = ([M], lambda x, name=name, keep=keep, pick=pick: pick(getattr(torch, name)(x, dim=1, **keep)))
for p in 0.0, 0.5, 1.0, 2.0, 3.0, -1.0, 1.5:
    VARIANTS[f"pow {p}"] = ([V], lambda x, p=p: x.pow(p))

# Pooling, padding, resampling: by rank.
RANKS = {1: (2, 2, 6), 2: Q, 3: D3}
for d, shape in RANKS.items():
    for name in "avg_pool max_pool adaptive_avg_pool adaptive_max_pool".split():
        VARIANTS[f"{name}{d}d 2"] = ([shape], lambda x, f=getattr(F, f"{name}{d}d"): f(x, 2))
        VARIANTS[f"{name}{d}d 2 unbatched"] = ([shape[1:]], lambda x, f=getattr(F, f"{name}{d}d"): f(x, 2))
    VARIANTS[f"adaptive_avg_pool{d}d 1"] = ([shape], lambda x, f=getattr(F, f"adaptive_avg_pool{d}d"): f(x, 1))
    VARIANTS[f"adaptive_max_pool{d}d 1"] = ([shape], lambda x, f=getattr(F, f"adaptive_max_pool{d}d"): f(x, 1))
    if d < 3:
        VARIANTS[f"lp_pool{d}d 2"] = ([shape], lambda x, f=getattr(F, f"lp_pool{d}d"): f(x, 2, 2))
        VARIANTS[f"lp_pool{d}d 3"] = ([shape], lambda x, f=getattr(F, f"lp_pool{d}d"): f(x, 3, 2))
    for mode in "constant", "reflect", "replicate", "circular":
        VARIANTS[f"pad {mode} {d}"] = ([shape], lambda x, d=d, mode=mode: F.pad(x, [1, 1] * d, mode=mode))
    VARIANTS[f"pad constant part {d}"] = ([shape], lambda x, d=d: F.pad(x, [1, 0]))
    for mode in ["nearest", "nearest-exact", "area"] + [["linear"], ["bilinear", "bicubic"], ["trilinear"]][d - 1]:
        VARIANTS[f"interpolate {mode} {d}"] = ([shape], lambda x, mode=mode: F.interpolate(x, 5 if mode == "area" else 3, mode=mode))
        VARIANTS[f"interpolate {mode} {d} by a factor"] = ([shape], lambda x, mode=mode: F.interpolate(x, scale_factor=1.5, mode=mode))
for mode in "bilinear", "bicubic":
    VARIANTS[f"interpolate {mode} antialias"] = ([Q], lambda x, mode=mode: F.interpolate(x, 3, mode=mode, antialias=True))
VARIANTS["max_pool2d indices"] = ([Q], lambda x: F.max_pool2d(x, 2, return_indices=True)[1])
VARIANTS.update({
    "grid_sample 3": ([D3, (1, 2, 2, 2, 3)], lambda x, g: F.grid_sample(x, g, align_corners=False)),
    "grid_sample nearest": ([Q, (2, 3, 3, 2)], lambda x, g: F.grid_sample(x, g, mode="nearest", align_corners=False)),
    "grid_sample bicubic": ([Q, (2, 3, 3, 2)], lambda x, g: F.grid_sample(x, g, mode="bicubic", align_corners=False)),
    "grid_sample border": ([Q, (2, 3, 3, 2)], lambda x, g: F.grid_sample(x, g, padding_mode="border", align_corners=True)),
})

# Convolution.
for d in 1, 2, 3:
    x, w = (2, 4) + (5,) * d, (6, 4) + (3,) * d
    t = (4, 6) + (3,) * d
    VARIANTS[f"conv{d}d with bias"] = ([x, w, (6,)], getattr(F, f"conv{d}d"))
    VARIANTS[f"conv{d}d without bias"] = ([x, w], getattr(F, f"conv{d}d"))
    VARIANTS[f"conv{d}d same"] = ([x, w], lambda x, w, f=getattr(F, f"conv{d}d"): f(x, w, padding="same"))
    VARIANTS[f"conv{d}d unbatched"] = ([x[1:], w], getattr(F, f"conv{d}d"))
    VARIANTS[f"conv_transpose{d}d with bias"] = ([x, t, (6,)], getattr(F, f"conv_transpose{d}d"))

# Losses: reductions, weights and other options.
LOSSES = "l1_loss smooth_l1_loss huber_loss mse_loss kl_div poisson_nll_loss binary_cross_entropy_with_logits soft_margin_loss multilabel_soft_margin_loss hinge_embedding_loss"
for name in LOSSES.split():
    for how in "none", "sum":
        VARIANTS[f"{name} {how}"] = ([M, M], lambda x, y, f=getattr(F, name), how=how: f(x, y, reduction=how))
for how in "none", "sum":
    VARIANTS[f"nll_loss {how}"] = ([M], lambda x, how=how: F.nll_loss(x, zeros(x, N), reduction=how))
    VARIANTS[f"cross_entropy {how}"] = ([M], lambda x, how=how: F.cross_entropy(x, zeros(x, N), reduction=how))
    VARIANTS[f"cross_entropy of probabilities {how}"] = ([M, M], lambda x, y, how=how: F.cross_entropy(x, y, reduction=how))
    VARIANTS[f"multi_margin_loss {how}"] = ([M], lambda x, how=how: F.multi_margin_loss(x, zeros(x, N), reduction=how))
    VARIANTS[f"cosine_embedding_loss {how}"] = ([M, M], lambda x, y, how=how: F.cosine_embedding_loss(x, y, zeros(x, N) + 1, reduction=how))
    VARIANTS[f"triplet_margin_loss {how}"] = ([M, M, M], lambda *x, how=how: F.triplet_margin_loss(*x, reduction=how))
    VARIANTS[f"margin_ranking_loss {how}"] = ([M, M, M], lambda *x, how=how: F.margin_ranking_loss(*x, reduction=how))
    VARIANTS[f"gaussian_nll_loss {how}"] = ([M, M, M], lambda x, y, v, how=how: F.gaussian_nll_loss(x, y, v.abs(), reduction=how))
    VARIANTS[f"binary_cross_entropy {how}"] = ([M, M], lambda x, y, how=how: F.binary_cross_entropy(x.sigmoid(), y.sigmoid(), reduction=how))
VARIANTS.update({
    "nll_loss weighted": ([M, V], lambda x, w: F.nll_loss(x, zeros(x, N), w)), "nll_loss of images": ([Q], lambda x: F.nll_loss(x, zeros(x, 2, 6, 6))),
    "nll_loss of lines": ([ONE], lambda x: F.nll_loss(x, zeros(x, 2, 6))), "nll_loss of a vector": ([V], lambda x: F.nll_loss(x, zeros(x))),
    "cross_entropy weighted": ([M, V], lambda x, w: F.cross_entropy(x, zeros(x, N), w)),
    "cross_entropy smoothed": ([M], lambda x: F.cross_entropy(x, zeros(x, N), label_smoothing=0.1)),
    "cross_entropy of images": ([Q], lambda x: F.cross_entropy(x, zeros(x, 2, 6, 6))),
    "cross_entropy of a vector": ([V], lambda x: F.cross_entropy(x, zeros(x))),
    "binary_cross_entropy_with_logits weighted": ([M, M, M], F.binary_cross_entropy_with_logits),
    "binary_cross_entropy_with_logits with pos_weight": ([M, M, V], lambda x, y, p: F.binary_cross_entropy_with_logits(x, y, pos_weight=p)),
    "binary_cross_entropy weighted": ([M, M, M], lambda x, y, w: F.binary_cross_entropy(x.sigmoid(), y.sigmoid(), w)),
    "kl_div of logarithms": ([M, M], lambda x, y: F.kl_div(x, y, log_target=True)), "poisson_nll_loss full": ([M, M], lambda x, y: F.poisson_nll_loss(x, y, full=True)),
    "poisson_nll_loss of rates": ([M, M], lambda x, y: F.poisson_nll_loss(x.abs(), y, log_input=False)),
    "gaussian_nll_loss": ([M, M, M], lambda x, y, v: F.gaussian_nll_loss(x, y, v.abs())),
    "gaussian_nll_loss full": ([M, M, M], lambda x, y, v: F.gaussian_nll_loss(x, y, v.abs(), full=True)),
    "smooth_l1_loss of beta 0": ([M, M], lambda x, y: F.smooth_l1_loss(x, y, beta=0.0)), "multi_margin_loss 2": ([M], lambda x: F.multi_margin_loss(x, zeros(x, N), p=2)),
    "multi_margin_loss weighted": ([M, V], lambda x, w: F.multi_margin_loss(x, zeros(x, N), weight=w)),
    "multilabel_soft_margin_loss weighted": ([M, M, V], F.multilabel_soft_margin_loss),
    "triplet_margin_loss swapped": ([M, M, M], lambda *x: F.triplet_margin_loss(*x, swap=True)),
    "triplet_margin_with_distance_loss": ([M, M, M], F.triplet_margin_with_distance_loss), "cosine_embedding_loss": ([M, M], lambda x, y: F.cosine_embedding_loss(x, y, zeros(x, N) + 1)),
    "multilabel_margin_loss none": ([M], lambda x: F.multilabel_margin_loss(x, zeros(x, N, N), reduction="none")),
})

# Attention.
VARIANTS.update({
    "scaled_dot_product_attention causal": ([C, C, C], lambda *x: F.scaled_dot_product_attention(*x, is_causal=True)),
    "scaled_dot_product_attention with a mask": ([C, C, C, M], lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m)),
    "scaled_dot_product_attention with a bool mask": ([C, C, C], lambda q, k, v: F.scaled_dot_product_attention(q, k, v, zeros(q, N, N) == 0)),
    "MultiheadAttention": ([C], lambda x: nn.MultiheadAttention(N, 2).to(x.device)(x, x, x)[0]),
    "MultiheadAttention weights": ([C], lambda x: nn.MultiheadAttention(N, 2).to(x.device)(x, x, x)[1]),
    "TransformerEncoderLayer": ([C], lambda x: nn.TransformerEncoderLayer(N, 2, 8).to(x.device)(x)),
    "TransformerDecoderLayer": ([C], lambda x: nn.TransformerDecoderLayer(N, 2, 8).to(x.device)(x, x)),
})

# Activations and others with options.
VARIANTS.update({
    "gelu tanh": ([V], lambda x: F.gelu(x, approximate="tanh")), "softplus sharp": ([V], lambda x: F.softplus(x, 2, 10)), "threshold": ([V], lambda x: F.threshold(x, 0.1, 2)),
    "rrelu in training": ([V], lambda x: F.rrelu(x, training=True)), "prelu of channels": ([(2, 3, 4), (3,)], F.prelu),
    "dropout1d": ([C], lambda x: F.dropout1d(x)), "dropout2d": ([Q], lambda x: F.dropout2d(x)), "feature_alpha_dropout": ([C], lambda x: F.feature_alpha_dropout(x, training=True)),
    "log_softmax as float16": ([M], lambda x: x.log_softmax(1, dtype=torch.float16)), "cumprod as float16": ([V], lambda x: x.cumprod(0, dtype=torch.float16)),
    "nansum as float16": ([V], lambda x: x.nansum(dtype=torch.float16)), "sum of rows as float64": ([M], lambda x: x.sum(1, dtype=torch.float64)),
    "embedding_bag mean": ([M], lambda w: F.embedding_bag(zeros(w, 2, 3), w)), "embedding_bag max": ([M], lambda w: F.embedding_bag(zeros(w, 2, 3), w, mode="max")),
    "embedding_bag weighted": ([M, (2, 3)], lambda w, s: F.embedding_bag(zeros(w, 2, 3), w, mode="sum", per_sample_weights=s)),
    "lerp of tensors": ([V, V, V], torch.lerp), "addcmul scaled": ([V, V, V], lambda *x: torch.addcmul(*x, value=2)), "cat of three": ([V, V, V], lambda *x: torch.cat(x)),
    "index_put adding": ([V, (1,)], lambda x, y: x.index_put((zeros(x, 1),), y, accumulate=True)),
    "scatter_reduce amax": ([M, M], lambda x, y: x.scatter_reduce(0, zeros(x, N, N), y, "amax")), "scatter_reduce mean": ([M, M], lambda x, y: x.scatter_reduce(0, zeros(x, N, N), y, "mean")),
    "linalg_solve of a vector": ([M, V], torch.linalg.solve), "linalg_svd": ([M], lambda x: torch.linalg.svd(x, full_matrices=False)[0]),
    "linalg_solve of a batch": ([C, C], torch.linalg.solve), "diff 2": ([M], lambda x: torch.diff(x, 2, 1)), "fold": ([(2, 8, 25)], lambda x: F.fold(x, 6, 2)),
    "affine_grid 3": ([(1, 3, 4)], lambda x: F.affine_grid(x, (1, 1, 2, 2, 2), align_corners=False)),
    "logit with eps": ([V], lambda x: x.sigmoid().logit(1e-3)), "clamp of tensors": ([V, V, V], lambda x, a, b: x.clamp(a, b)), "trapezoid of rows": ([M], lambda x: torch.trapezoid(x, dim=1)),
})
