"""Linear layers under MXFP8(), NVFP4() and BlockFP8(): python blocks.py blocks.safetensors

Made with Python 3.11, numpy 2.4.6, ml_dtypes 0.6.0, torch 2.15.0 (CPU), torchao 0.18.0, safetensors 0.8.0.
Operands are quantised by torchao and multiplied in float64; y is rounded to bfloat16. NVFP4's forward pass uses Transformer Engine's formulas, in numpy.
Only the first 8 rows of results are kept.
"""
import sys, numpy as np, torch, ml_dtypes as ml
from safetensors.torch import save_file
from torchao.prototype.mx_formats.config import ScaleCalculationMode as SC
from torchao.prototype.mx_formats.mx_tensor import to_mx, to_dtype
from torchao.prototype.blockwise_fp8_training.kernels import torch_blockwise_scale_act_quant_lhs as act, torch_blockwise_scale_weight_quant as wgt

F32 = np.float32
g = torch.Generator().manual_seed(0)
n = 128
x = (torch.randn(n, n, generator=g) * torch.randn(n, 1, generator=g).exp()).bfloat16()
w = (torch.randn(n, n, generator=g) * .1).bfloat16().float()
b = torch.randn(n, generator=g).bfloat16().float()
dy = (torch.randn(n, n, generator=g) * torch.randn(n, 1, generator=g).exp() * 1e-3).bfloat16()


def mx(t):
    s, d = to_mx(t.float().contiguous(), torch.float8_e4m3fn, 32, SC.RCEIL)
    return to_dtype(d, s, torch.float8_e4m3fn, 32, torch.float32).double()


def line(t):
    q, s = act(t.float().contiguous())
    return (q.float() * s.repeat_interleave(128, 1)).double()


def square(t):
    q, s = wgt(t.float().contiguous())
    return (q.float() * s).double()


def nv(t, two):
    t = t.float().numpy()
    v = np.abs(t.reshape(n, n // 16, 16)).max(2)
    if two:
        v = v.reshape(n // 16, 16, n // 16).max(1).repeat(16, 0)
    enc = F32(2688) / np.abs(t).max(); d = F32(F32(1) / enc)
    s = np.clip((v * F32(enc * F32(F32(1) / F32(6)))).astype(F32), -448, 448).astype(ml.float8_e4m3fn).astype(F32)
    q = np.clip(t.reshape(n, n // 16, 16) * (F32(1) / (s * d).astype(F32))[:, :, None], -6, 6).astype(ml.float4_e2m1fn).astype(F32)
    return torch.from_numpy((q * (d * s)[:, :, None]).reshape(n, n)).double()


out = {"x": x, "w": w.bfloat16(), "b": b.bfloat16(), "dy": dy}
for name, qx, qw, qg in (("MXFP8", mx, mx, mx), ("BlockFP8", line, square, line)):
    out[name + "/y"] = ((qx(x) @ qw(w).T).float() + b).bfloat16()[:8]
    out[name + "/dx"] = (qg(dy) @ qw(w.T).T).float()[:8]
    out[name + "/dw"] = (qg(dy.T) @ qx(x.T).T).float()[:8]
out["NVFP4/y"] = ((nv(x, False) @ nv(w, True).T).float() + b).bfloat16()[:8]
save_file({k: v.contiguous() for k, v in out.items()}, sys.argv[1])
