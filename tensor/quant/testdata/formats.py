"""Expected codes of narrow formats: python formats.py [--blocks N] [--values N] OUT.safetensors

Made with Python 3.11, numpy 2.4.6, ml_dtypes 0.6.0, torch 2.15.0 (CPU), torchao 0.18.0, safetensors 0.8.0.
Casts are those of ml_dtypes and torch; MX, block and row scaling and quantisation-aware training are torchao's. Three rules are computed here, in numpy:
the exact ceiling of MX's rceil (torchao takes the float32 logarithm, which is one too small next to powers of two), MXINT8, and Transformer Engine's
reference of NVFP4 (quantization_ref_nvfp4.py). Without arguments the inputs are edges and few random numbers; --values and --blocks add random ones.
"""
import argparse, hashlib, math, warnings
import numpy as np, ml_dtypes as ml, torch
from safetensors.numpy import save_file

warnings.simplefilter("ignore"); np.seterr(all="ignore")
F32, F64, U8, U16, U32 = np.float32, np.float64, np.uint8, np.uint16, np.uint32
ML = ["float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
      "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
TORCH = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]
t_ = lambda x: torch.from_numpy(np.ascontiguousarray(x))
raw = lambda t: t.contiguous().view(torch.uint8).numpy()


def edges():
    """Every number of every format, every middle between two, one ulp to each side, and the ends of float32."""
    vs = [np.array([0, 2.0**-149, 2.0**-127, 2.0**-126, 2.0**-128, .75 * 2.0**-126, 1.5, 3, 2.0**127, 1.5 * 2.0**127, 3.4028234663852886e38, np.inf])]
    for n in ML[:-1]:
        t = np.arange(256, dtype=U8)[: 2 ** (4 if "4_" in n[:7] else 6 if "6_" in n[:7] else 8)].view(getattr(ml, n)).astype(F64)
        t = np.unique(np.abs(t[np.isfinite(t)]))
        vs += [t, (t[:-1] + t[1:]) / 2, np.array([t[-1] + (t[-1] - t[-2]) / 2, 2 * t[-1]])]
    v = np.unique(np.concatenate(vs).astype(F32).view(U32))
    v = np.unique(np.concatenate([v, v + 1, np.maximum(v, 1) - 1]).astype(U32))
    v = v[v <= 0x7F800000]
    return np.concatenate([v, v | 0x80000000, np.array([0x7FC00000, 0xFFC00000, 0x7F800001], U32)]).astype(U32).view(F32)


def casts(out, extra, rng):
    x = edges()
    if extra:
        x = np.concatenate([x, rng.integers(0, 2**32, extra, dtype=np.uint64).astype(U32).view(F32)])
    out["cast/in"] = x
    for n in ML:
        out["cast/ml/" + n] = x.astype(getattr(ml, n)).view(U8)
        out["table/" + n] = np.arange(256, dtype=U8).view(getattr(ml, n)).astype(F32)[: 2 ** (4 if "4_" in n[:7] else 6 if "6_" in n[:7] else 8)]
    for n in TORCH:
        out["cast/torch/" + n] = raw(t_(x).to(getattr(torch, n)))


MX = {"e4m3": (torch.float8_e4m3fn, 448, "float8_e4m3fn"), "e5m2": (torch.float8_e5m2, 57344, "float8_e5m2"), "e2m3": ("fp6_e2m3", 7.5, "float6_e2m3fn"),
      "e3m2": ("fp6_e3m2", 28, "float6_e3m2fn"), "e2m1": (torch.float4_e2m1fn_x2, 6, "float4_e2m1fn")}


def blocks(n, rng):
    g = rng.standard_normal(32)
    B = [np.zeros(32), -np.zeros(32)] + [np.full(32, v) for v in (2.0**-149, 2.0**-127, 2.0**-126, 3.4028234663852886e38, 2.0**127, 1, -1)]
    for v in (np.nan, np.inf, -np.inf):
        b = g.copy(); b[5] = v; B.append(b)
    for vmax, m in ((448, 3), (57344, 2), (7.5, 3), (28, 2), (6, 1), (127 / 64, 6)):
        for base in (1.0, vmax, vmax / 2, 2.0 ** math.floor(math.log2(vmax)), 2 - 2.0 ** -(m + 1)):
            for k in (0, 30, -120, 100):
                for step in (-1, 0, 1):
                    a = F32(math.ldexp(base, k)); a = np.nextafter(a, F32(np.inf * step)) if step else a
                    B.append(rng.uniform(-1, 1, 32) * F64(a)); B[-1][7] = a
    for k in range(-149, -118, 3):
        B.append(rng.uniform(-1, 1, 32) * 2.0**k)
    for _ in range(16):
        B.append(rng.standard_normal(32) * np.exp2(rng.uniform(-20, 20, 32)))
    B = np.array(B).astype(F32)
    if n:
        B = np.concatenate([B, (rng.standard_normal((n, 32)) * np.exp2(rng.integers(-100, 100, (n, 1)))).astype(F32)])
    return B


def mx(out, n, rng):
    from torchao.prototype.mx_formats.config import ScaleCalculationMode as SC
    from torchao.prototype.mx_formats.mx_tensor import to_mx
    x = blocks(n, rng); out["mx/in"] = x
    amax = np.where(np.isnan(x).any(1), F32(np.nan), np.max(np.abs(x), 1)).astype(F32)
    for elem, (ao, vmax, name) in MX.items():
        for mode in ("floor", "ceil", "even"):
            s, d = [], []
            for k in range(0, len(x), 1 << 15):
                a, b = to_mx(t_(x[k:k + (1 << 15)]), ao, 32, SC(mode)); s.append(raw(a).reshape(-1)); d.append(raw(b))
            d = np.concatenate(d)
            if elem == "e2m1":
                d = np.stack([d & 15, d >> 4], -1)                      # the first element is in the low bits
            out[f"mx/{elem}/{mode}/scale"], out[f"mx/{elem}/{mode}/codes"] = np.concatenate(s), d.reshape(x.shape)
        b = (amax / F32(vmax)).astype(F32).view(U32).astype(np.int64)   # the smallest power of two that is not smaller
        e, f = b >> 23, b & 0x7FFFFF
        s = np.where(np.isfinite(amax), np.minimum(np.where(e == 0, f > 0x400000, e + (f > 0)), 254), 255)
        y = np.clip(np.ldexp(x.astype(F64), 127 - s[:, None]), -vmax, vmax)
        out[f"mx/{elem}/rceil/scale"], out[f"mx/{elem}/rceil/codes"] = s.astype(U8), y.astype(F32).astype(getattr(ml, name)).view(U8)
    fin = np.isfinite(x)
    a = np.max(np.abs(np.where(fin, x, 0)), 1).astype(F64)
    e = np.where(a == 0, -127, np.clip(np.frexp(a)[1] - 1, -127, 127))
    q = np.clip(np.rint(np.ldexp(x.astype(F64), 6 - e[:, None])), -127, 127)
    out["mx/int8/floor/scale"] = np.where(fin.all(1), e + 127, 255).astype(U8)
    out["mx/int8/floor/codes"] = np.where(fin.all(1)[:, None], q, 0).astype(np.int8).view(U8)


def e4m3(x):
    return np.clip(x, -448, 448).astype(F32).astype(ml.float8_e4m3fn)


def nvfp4(out, n, rng):
    rows = 32 + n // 64 * 16
    x = (rng.standard_normal((rows, 128)) * np.exp2(rng.integers(-6, 6, (rows, 1)))).astype(F32)
    x[0] = 0; x[1, :16] = 0; x[2] *= F32(1e-7); x[3, 40] = 3000; x[4] *= F32(2.0**-130)
    out["nvfp4/in"] = x
    m, k = x.shape
    for two in (False, True):
        b = x.reshape(m, k // 16, 16); v = np.max(np.abs(b), 2)
        if two:
            v = v.reshape(m // 16, 16, k // 16).max(1).repeat(16, 0)
        enc = F32(min(F32(2688) / np.max(np.abs(x)), np.finfo(F32).max)); g = F32(F32(1) / enc)
        s = e4m3(np.minimum((v * F32(enc * F32(F32(1) / F32(6)))).astype(F32), np.finfo(F32).max))
        r = np.minimum((F32(1) / (s.astype(F32) * g).astype(F32)).astype(F32), np.finfo(F32).max)
        y = np.clip((b * r[:, :, None]).astype(F32), -6, 6).reshape(m, k)
        t = "nvfp4/2d/" if two else "nvfp4/1d/"
        out[t + "codes"], out[t + "scale"], out[t + "global"] = y.astype(ml.float4_e2m1fn).view(U8), s.view(U8), g.reshape(1)
        out[t + "value"] = (y.astype(ml.float4_e2m1fn).astype(F32).reshape(m, k // 16, 16) * (g * s.astype(F32))[:, :, None]).reshape(m, k)


def float8(out, n, rng):
    from torchao.prototype.blockwise_fp8_training.kernels import torch_blockwise_scale_act_quant_lhs as act, torch_blockwise_scale_weight_quant as wgt
    from torchao.float8.float8_utils import tensor_to_scale, to_fp8_saturated
    from torchao.float8.config import ScalingGranularity as SG
    rows = 128 + n // 512 * 128
    x = (rng.standard_normal((rows, 128)) * np.exp2(rng.integers(-8, 8, (rows, 1)))).astype(F32); x[3, :128] = 0
    out["float8/in"] = x
    for name, f in (("1x128", act), ("128x128", wgt)):
        q, s = f(t_(x)); out[f"float8/{name}/codes"], out[f"float8/{name}/scale"] = raw(q), s.contiguous().numpy()
    for d in ("float8_e4m3fn", "float8_e5m2"):
        for gran, dim, name in ((SG.TENSORWISE, None, "tensor"), (SG.AXISWISE, -1, "row")):
            for p2 in (False, True):
                s = tensor_to_scale(t_(x), getattr(torch, d), scaling_granularity=gran, axiswise_dim=dim, round_scales_to_power_of_2=p2)
                k = f"float8/{d}/{name}" + ("/pow2" if p2 else "")
                out[k + "/codes"], out[k + "/scale"] = raw(to_fp8_saturated(t_(x) * s, getattr(torch, d))), (1 / s).reshape(-1).numpy()


def integers(out, n, rng):
    from torchao.quantization.qat.linear import Int8DynActInt4WeightQATLinear as L
    lin = L(64, 48 + n // 2 * 2, groupsize=32, precision=torch.float32)
    w = (rng.standard_normal((48 + n // 2 * 2, 64)) * .2).astype(F32); w[0] = 0
    x = (rng.standard_normal((16 + n, 64)) * 3).astype(F32); x[0] = 0; x[1] = np.abs(x[1]); x[2] = -np.abs(x[2]); x[3] *= F32(1e-6)
    for name, v, f in (("weight", w, lin.weight_fake_quantizer), ("activation", x, lin.activation_fake_quantizer)):
        v = t_(v).requires_grad_(); y = f(v); y.sum().backward()
        out[f"int/{name}/in"], out[f"int/{name}/value"], out[f"int/{name}/grad"] = v.detach().numpy(), y.detach().numpy(), v.grad.numpy()


p = argparse.ArgumentParser()
p.add_argument("out"); p.add_argument("--values", type=int, default=0); p.add_argument("--blocks", type=int, default=0)
a = p.parse_args()
out, rng = {}, np.random.default_rng(0)
casts(out, a.values or 2048, rng)
for f in (mx, nvfp4, float8, integers):
    f(out, a.blocks, rng)
save_file({k: np.ascontiguousarray(v) for k, v in out.items()}, a.out)
print(len(out), "tensors,", sum(v.nbytes for v in out.values()), "bytes,", hashlib.sha256(b"".join(np.ascontiguousarray(out[k]).tobytes() for k in sorted(out))).hexdigest()[:16])
