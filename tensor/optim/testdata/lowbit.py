"""Trajectories of torchao's optimizers with states of few bits, and their codebooks: python lowbit.py lowbit.safetensors

Made with Python 3.11, torch 2.15.0 (CPU), torchao 0.18.0, safetensors 0.8.0. The steps run without torch.compile, whose last bits differ, and with numpy's square root, since MKL's
is not correctly rounded on some processors.
"""
import sys, numpy as np, torch, torchao.optim as ao
from safetensors.torch import save_file
from torchao.optim import subclass_4bit as s4, subclass_8bit as s8

torch.compile = lambda f, **k: f
torch.Tensor.sqrt = lambda t: torch.from_numpy(np.asarray(np.sqrt(t.numpy())))
g = torch.Generator().manual_seed(0)
p0 = torch.randn(32, 128, generator=g).mul(.1).bfloat16()
grads = [(torch.randn(32, 128, generator=g) * torch.exp2(torch.randint(-6, 3, (32, 128), generator=g).float())).bfloat16() for _ in range(4)]
out = {"p": p0.clone(), "grads": torch.stack(grads)}
for n, s in (("map8/signed", s8.get_qmap_signed()), ("map8/unsigned", s8.get_qmap_unsigned()), ("map4/signed", s4.get_qmap_signed()), ("map4/unsigned", s4.get_qmap_unsigned())):
    out[n] = torch.tensor(s)
for name in ("Adam8bit", "AdamW8bit", "Adam4bit", "AdamW4bit", "AdamFp8", "AdamWFp8"):
    for dt in (torch.float32, torch.bfloat16):
        p = p0.to(dt).clone().requires_grad_()
        o = getattr(ao, name)([p], lr=1e-2, weight_decay=0.1)
        w = []
        for gr in grads:
            p.grad = gr.to(dt).clone(); o.step(); w.append(p.detach().clone())
        k = f"{name}/{str(dt)[6:]}/"
        out[k + "weights"] = torch.stack([w[0][:4], w[3][:4]])
        for s in ("exp_avg", "exp_avg_sq"):
            st = o.state[p][s]
            out[k + s + ".codes"] = st.codes.reshape(-1).view(torch.uint8)[:1024].clone(); out[k + s + ".scale"] = st.scale.clone()
save_file(out, sys.argv[1])
