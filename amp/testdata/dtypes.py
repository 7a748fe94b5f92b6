"""Writes dtypes.json: the dtypes that PyTorch's functions answer in under autocast.

Run with PyTorch 2.15: python dtypes.py > dtypes.json, which has the functions below and those of
dtypes_variants.py. No GPU is needed: on fake tensors
of device cuda the real dispatcher casts, and nothing is computed.

For each policy and function there is a dtype for each pair of MIX, the dtypes of the
first floating-point operand and of the others: "refused" where autocast itself refuses,
"error" where the function does, "-" where there is one operand.
"""
import contextlib
import json

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

from dtypes_variants import VARIANTS

f32, f16, bf16, f64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
MIX = [(f32, f32), (f16, f16), (bf16, bf16), (f64, f64), (f32, f16), (f16, f32), (f32, bf16), (bf16, f32)]
N = 8
V, M, C, Q = (N,), (N, N), (N, N, N), (2, 2, 6, 6)


def unary(names, shape=V):
    return {n: ([shape], lambda x, n=n: getattr(torch, n)(x)) for n in names.split()}


def binary(names, shape=V):
    return {n: ([shape, shape], lambda x, y, n=n: getattr(torch, n)(x, y)) for n in names.split()}


def functional(names, shape=V):
    return {n: ([shape], lambda x, n=n: getattr(F, n)(x)) for n in names.split()}


def losses(names):
    return {n: ([M, M], lambda x, y, n=n: getattr(F, n)(x, y)) for n in names.split()}


def index(*shape):
    return torch.zeros(shape, dtype=torch.long, device=DEVICE)


CASES = {
    # listed
    **unary("acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan prod sum norm"),
    **binary("pow dist dot vdot atan2"),
    **binary("mm matmul cdist", M),
    **binary("bmm", C),
    **functional("softplus"),
    **losses("l1_loss smooth_l1_loss huber_loss mse_loss kl_div poisson_nll_loss binary_cross_entropy_with_logits soft_margin_loss cosine_similarity"),
    "binary_cross_entropy": ([M, M], lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.sigmoid())),
    "linear": ([M, M, V], F.linear), "prelu": ([V, (1,)], torch.prelu), "conv1d": ([C, C], torch.conv1d), "conv2d": ([(N,) * 4] * 2, torch.conv2d),
    "conv_transpose2d": ([(N,) * 4] * 2, torch.conv_transpose2d), "conv_tbc": ([C, C, V], torch.conv_tbc),
    "addmm": ([M, M, M], torch.addmm), "addmv": ([V, M, V], torch.addmv), "addr": ([M, V, V], torch.addr), "addbmm": ([M, C, C], torch.addbmm),
    "baddbmm": ([C, C, C], torch.baddbmm), "mv": ([M, V], torch.mv), "einsum": ([(N,) * 4] * 2, lambda x, y: torch.einsum("bkhd,bqhd->bqkh", x, y)),
    "chain_matmul": ([M, M, M], torch.chain_matmul), "linalg_multi_dot": ([M, M, M], lambda *x: torch.linalg.multi_dot(x)),
    "linalg_vecdot": ([M, M], torch.linalg.vecdot), "scaled_dot_product_attention": ([C, C, C], F.scaled_dot_product_attention),
    "softmax": ([V], lambda x: x.softmax(0)), "softmin": ([V], lambda x: F.softmin(x, 0)), "log_softmax": ([V], lambda x: x.log_softmax(0)),
    "layer_norm": ([M], lambda x: F.layer_norm(x, V)), "group_norm": ([M], lambda x: F.group_norm(x, 1)), "cumsum": ([V], lambda x: x.cumsum(0)),
    "cumprod": ([V], lambda x: x.cumprod(0)), "logsumexp": ([M], lambda x: x.logsumexp(1)), "renorm": ([M], lambda x: x.renorm(2, 0, 1)),
    "linalg_vector_norm": ([V], torch.linalg.vector_norm), "linalg_matrix_norm": ([M], torch.linalg.matrix_norm), "nuclear_norm": ([M], torch.nuclear_norm),
    "frobenius_norm": ([M], lambda x: torch.frobenius_norm(x, dim=(0, 1))), "pdist": ([M], torch.pdist), "normalize": ([M], F.normalize),
    "nll_loss": ([M], lambda x: F.nll_loss(x, index(N))), "cross_entropy": ([M], lambda x: F.cross_entropy(x, index(N))),
    "cross_entropy of probabilities": ([M, M], F.cross_entropy), "multi_margin_loss": ([M], lambda x: F.multi_margin_loss(x, index(N))),
    "multilabel_margin_loss": ([M], lambda x: F.multilabel_margin_loss(x, index(N, N))),
    "triplet_margin_loss": ([M, M, M], F.triplet_margin_loss), "hinge_embedding_loss": ([M, M], F.hinge_embedding_loss),
    "margin_ranking_loss": ([M, M, M], F.margin_ranking_loss), "addcdiv": ([V, V, V], torch.addcdiv), "addcmul": ([V, V, V], torch.addcmul),
    "cross": ([(3,), (3,)], lambda x, y: torch.cross(x, y, dim=-1)), "bilinear": ([(1, 2), (1, 2), (1, 2, 2), (1,)], F.bilinear),
    "grid_sample": ([Q, (2, 3, 3, 2)], lambda x, g: F.grid_sample(x, g, align_corners=False)),
    "tensordot": ([M, M], lambda x, y: torch.tensordot(x, y, 1)), "scatter_add": ([M, M], lambda x, y: x.scatter_add(0, index(N, N), y)),
    "index_put": ([V, (1,)], lambda x, y: x.index_put((index(1),), y)), "index_copy": ([V, (1,)], lambda x, y: x.index_copy(0, index(1), y)),
    "interpolate nearest": ([Q], lambda x: F.interpolate(x, 5)), "interpolate bilinear": ([Q], lambda x: F.interpolate(x, 5, mode="bilinear")),
    "quantile": ([M], lambda x: torch.quantile(x, 0.3, 1)), "trace": ([M], torch.trace), "linalg_inv": ([M], torch.linalg.inv),
    "linalg_solve": ([M, M], torch.linalg.solve), "linalg_cholesky": ([M], lambda x: torch.linalg.cholesky(torch.eye(N, dtype=x.dtype, device=DEVICE))), "linalg_svdvals": ([M], torch.linalg.svdvals),
    "linalg_eigh": ([M], lambda x: torch.linalg.eigh(x)[0]), "linalg_eigvalsh": ([M], torch.linalg.eigvalsh), "linalg_qr": ([M], lambda x: torch.linalg.qr(x)[0]),
    "linalg_lstsq": ([M, M], lambda x, y: torch.linalg.lstsq(x, y)[0]), "pinverse": ([M], torch.pinverse), "linalg_matrix_rank": ([M], torch.linalg.matrix_rank),
    "linalg_cond": ([M], torch.linalg.cond), "linalg_cond fro": ([M], lambda x: torch.linalg.cond(x, "fro")), "cholesky_solve": ([M, M], torch.cholesky_solve),
    "cholesky_inverse": ([M], torch.cholesky_inverse), "nanquantile": ([M], lambda x: torch.nanquantile(x, 0.3, 1)),

    # unlisted, or made of listed ones
    **unary("abs acosh asinh atan atanh ceil cos erf erfc exp2 floor frac logit mean neg relu round sigmoid sign sin sinc sqrt square std tanh trunc var "
            "nan_to_num amax amin deg2rad nansum nanmean argmax signbit isnan trapezoid"),
    **unary("linalg_det tril triu", M),
    **binary("add sub mul div maximum minimum fmax fmin fmod remainder hypot copysign logaddexp logaddexp2 xlogy eq ge gt le lt ne heaviside floor_divide "
             "outer true_divide rsub"),
    **binary("kron", (2, 2)),
    **functional("celu elu selu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu6 rrelu silu softshrink softsign tanhshrink glu"),
    "linalg_slogdet": ([M], lambda x: torch.linalg.slogdet(x)[1]), "linalg_lu_factor": ([M], lambda x: torch.linalg.lu_factor(x)[0]),
    "linalg_solve_triangular": ([M], lambda x: torch.linalg.solve_triangular(x, x, upper=True)), "linalg_matrix_exp": ([M], torch.linalg.matrix_exp),
    "entr": ([V], torch.special.entr), "ndtr": ([V], torch.special.ndtr), "lgamma": ([V], torch.lgamma), "digamma": ([V], torch.digamma), "polygamma": ([V], lambda x: torch.polygamma(1, x)), "nanmedian": ([V], lambda x: x.nanmedian(0)[0]),
    "cov": ([M], torch.cov), "corrcoef": ([M], torch.corrcoef), "cumulative_trapezoid": ([V], torch.cumulative_trapezoid), "isin": ([V, V], torch.isin),
    "linalg_lu_solve": ([M, M], lambda x, y: torch.linalg.lu_solve(x, torch.ones(N, dtype=torch.int32, device=DEVICE), y)),
    "unique_consecutive": ([V], torch.unique_consecutive), "linalg_det": ([M], torch.linalg.det), "linalg_matrix_power": ([M], lambda x: torch.linalg.matrix_power(x, 3)),
    "rms_norm": ([M], lambda x: F.rms_norm(x, V)), "rms_norm with weight": ([M, V], lambda x, w: F.rms_norm(x, V, w)),
    "layer_norm with weight": ([M, V, V], lambda x, w, b: F.layer_norm(x, V, w, b)),
    "batch_norm": ([M, V, V], lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True)),
    "instance_norm": ([C], lambda x: F.instance_norm(x)), "local_response_norm": ([C], lambda x: F.local_response_norm(x, 2)),
    "dropout": ([V], lambda x: F.dropout(x)), "alpha_dropout": ([V], lambda x: F.alpha_dropout(x, training=True)),
    "embedding": ([M], lambda w: F.embedding(index(3), w)), "embedding_bag": ([M], lambda w: F.embedding_bag(index(2, 3), w, mode="sum")),
    "avg_pool1d": ([C], lambda x: F.avg_pool1d(x, 2)), "avg_pool2d": ([Q], lambda x: F.avg_pool2d(x, 2)),
    "avg_pool3d": ([(1, 1, 4, 4, 4)], lambda x: F.avg_pool3d(x, 2)), "max_pool1d": ([C], lambda x: F.max_pool1d(x, 2)), "max_pool2d": ([Q], lambda x: F.max_pool2d(x, 2)),
    "max_pool3d": ([(1, 1, 4, 4, 4)], lambda x: F.max_pool3d(x, 2)), "adaptive_avg_pool2d": ([Q], lambda x: F.adaptive_avg_pool2d(x, 2)),
    "adaptive_avg_pool3d": ([(1, 1, 4, 4, 4)], lambda x: F.adaptive_avg_pool3d(x, 2)), "adaptive_max_pool2d": ([Q], lambda x: F.adaptive_max_pool2d(x, 2)),
    "adaptive_max_pool3d": ([(1, 1, 4, 4, 4)], lambda x: F.adaptive_max_pool3d(x, 2)), "lp_pool1d": ([C], lambda x: F.lp_pool1d(x, 2, 2)),
    "max_unpool2d": ([(1, 2, 2)], lambda x: F.max_unpool2d(x, index(1, 2, 2), 2)), "pad": ([C], lambda x: F.pad(x, (1, 1))),
    "pad reflect": ([C], lambda x: F.pad(x, (1, 1), mode="reflect")), "pad replicate": ([C], lambda x: F.pad(x, (1, 1), mode="replicate")),
    "pad circular": ([C], lambda x: F.pad(x, (1, 1), mode="circular")), "pixel_shuffle": ([(1, 4, 2, 2)], lambda x: F.pixel_shuffle(x, 2)),
    "unfold": ([Q], lambda x: F.unfold(x, 2)), "affine_grid": ([(1, 2, 3)], lambda x: F.affine_grid(x, (1, 1, 2, 2), align_corners=False)),
    "cat": ([V, V], lambda x, y: torch.cat([x, y])), "stack": ([V, V], lambda x, y: torch.stack([x, y])), "hstack": ([V, V], lambda x, y: torch.hstack([x, y])),
    "where": ([V, V], lambda x, y: torch.where(x > 0, x, y)), "masked_fill": ([V], lambda x: x.masked_fill(x > 0, 1)), "clamp": ([V], lambda x: x.clamp(-1, 1)),
    "lerp": ([V, V], lambda x, y: torch.lerp(x, y, 0.5)), "cummax": ([V], lambda x: x.cummax(0)[0]), "logcumsumexp": ([V], lambda x: x.logcumsumexp(0)),
    "gather": ([M], lambda x: x.gather(0, index(N, N))), "index_select": ([M], lambda x: x.index_select(0, index(3))), "take": ([M], lambda x: x.take(index(3))),
    "index_add": ([V, (1,)], lambda x, y: x.index_add(0, index(1), y)), "index_fill": ([V], lambda x: x.index_fill(0, index(1), 1)),
    "scatter": ([M, M], lambda x, y: x.scatter(0, index(N, N), y)), "scatter_reduce": ([M, M], lambda x, y: x.scatter_reduce(0, index(N, N), y, "sum")),
    "flip": ([V], lambda x: x.flip(0)), "roll": ([V], lambda x: x.roll(1, 0)), "sort": ([V], lambda x: x.sort()[0]), "topk": ([V], lambda x: x.topk(2)[0]),
    "median": ([V], lambda x: x.median(0)[0]), "diff": ([V], torch.diff), "mul by a number": ([V], lambda x: x * 0.7), "rdiv": ([V], lambda x: 1 / x),
    "rpow": ([V], lambda x: 2 ** x), "pow of a number": ([V], lambda x: x ** 2), "pairwise_distance": ([M, M], F.pairwise_distance),
    "multilabel_soft_margin_loss": ([M, M], F.multilabel_soft_margin_loss),
    "var_mean": ([V], lambda x: torch.var_mean(x)[0]), "sum as float16": ([V], lambda x: x.sum(dtype=f16)), "prod as float16": ([V], lambda x: x.prod(dtype=f16)),
    "softmax as float16": ([V], lambda x: x.softmax(0, dtype=f16)), "cumsum as float16": ([V], lambda x: x.cumsum(0, dtype=f16)),
    "norm as float16": ([V], lambda x: torch.norm(x, dtype=f16)), "mean as float16": ([V], lambda x: x.mean(dtype=f16)),
    "linear of a transpose": ([M, M], lambda x, w: F.linear(x, w.t())), "matmul of three dimensions": ([C, C], torch.matmul),
    **VARIANTS,
}


# For these, fake tensors have separate code, or lack a check of the real kernels:
# so a comparison of fake and real tensors on the CPU shows.
NOT_FAKE = {"linalg_lu_factor": MIX[1:3], "affine_grid": MIX, "affine_grid 3": MIX, "roll": MIX, "index_add": MIX[4:], "index_copy": MIX[4:], "embedding_bag weighted": MIX[4:]}
# float64 next to weights of float32, which real kernels reject.
NOT_FAKE.update({n: MIX[3:4] for n in VARIANTS if "float32 weights" in n or n.split()[0] in ("RNNCell", "GRUCell", "LSTMCell", "MultiheadAttention")})
# oneDNN has float16 on some processors, and LSTM layers without a projection are its own.
ONEDNN = [n for n in VARIANTS if n.startswith("LSTM") and not n.startswith(("LSTMCell", "LSTM projected"))]


def answer(f, shapes, mix, low):
    try:
        with FakeTensorMode() if DEVICE == "cuda" else contextlib.nullcontext():
            x = [torch.randn(s, device=DEVICE).to(mix[min(i, 1)]) for i, s in enumerate(shapes)]
            torch.set_autocast_enabled(DEVICE, True)
            torch.set_autocast_dtype(DEVICE, low)
            try:
                return str(f(*x).dtype).removeprefix("torch.")
            finally:
                torch.set_autocast_enabled(DEVICE, False)
                torch.clear_autocast_cache()
    except RuntimeError as e:
        return "refused" if "autocast" in str(e) else "error"


torch.set_num_threads(1)
out = {"torch": torch.__version__, "mix": [[str(d).removeprefix("torch.") for d in m] for m in MIX], "policies": {}}
for policy, DEVICE, low in [("amp.Float16", "cuda", f16), ("amp.BFloat16", "cuda", bf16), ("amp.CPUBFloat16", "cpu", bf16), ("amp.CPUFloat16", "cpu", f16)]:
    out["policies"][policy] = {
        name: " ".join(
            "-" if len(shapes) == 1 and m[0] != m[1] else "error" if DEVICE == "cuda" and m in NOT_FAKE.get(name, []) or DEVICE == "cpu" and name in ONEDNN and f16 in (low, *m) else answer(f, shapes, m, low) for m in MIX
        )
        for name, (shapes, f) in CASES.items()
    }
print(json.dumps(out, indent=0))
