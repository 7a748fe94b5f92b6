"""Products of torch.nn.functional.scaled_mm on a CPU: python products.py products.safetensors

Made with Python 3.11, torch 2.15.0 (CPU), safetensors 0.8.0. In "exact" every partial sum is a float32 number, so that the order of sums does not matter.
"""
import sys, torch, torch.nn.functional as F
from safetensors.torch import save_file

S = F.ScalingType
out = {}
g = torch.Generator().manual_seed(0)
for name, d in (("e4m3", torch.float8_e4m3fn), ("e5m2", torch.float8_e5m2)):
    for kind in ("exact", "random"):
        M, K, N = (24, 48, 16) if kind == "exact" else (17, 500, 9)
        if kind == "exact":
            a, b = (torch.randint(-8, 9, s, generator=g).float() for s in ((M, K), (N, K)))
            sa, sb = torch.exp2(torch.randint(-3, 3, (M, 1), generator=g).float()), torch.exp2(torch.randint(-3, 3, (1, N), generator=g).float())
            ta, tb = torch.tensor(.25), torch.tensor(4.)
        else:
            a, b = torch.randn(M, K, generator=g) * 20, torch.randn(N, K, generator=g) * 20
            sa, sb = torch.rand(M, 1, generator=g) + .1, torch.rand(1, N, generator=g) + .1
            ta, tb = torch.tensor(.37), torch.tensor(1.91)
        a, b = a.to(d), b.to(d)
        k = f"{name}/{kind}/"
        out[k + "row/a"], out[k + "row/a_scale"], out[k + "row/b"], out[k + "row/b_scale"] = a, sa, b, sb.t().contiguous()
        out[k + "tensor/a"], out[k + "tensor/a_scale"], out[k + "tensor/b"], out[k + "tensor/b_scale"] = a.clone(), ta, b.clone(), tb
        for o, t in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
            out[k + "row/" + o] = F.scaled_mm(a, b.t(), sa, S.RowWise, sb, S.RowWise, output_dtype=t)
            out[k + "tensor/" + o] = F.scaled_mm(a, b.t(), ta, S.TensorWise, tb, S.TensorWise, output_dtype=t)
save_file(out, sys.argv[1])
