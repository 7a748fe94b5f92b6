"""Trajectories of torch.optim.Muon: python muon.py muon.safetensors

Made with Python 3.11, torch 2.15.0 (CPU), safetensors 0.8.0. Matrices are small: there a product in bfloat16 is the exact one rounded once, whatever the order of its sum.
"""
import sys, torch
from safetensors.torch import save_file

out = {}
for dt in (torch.float32, torch.bfloat16):
    for fn in (None, "match_rms_adamw", "spectral_unclamped"):
        for k, (m, n) in enumerate(((8, 8), (24, 10), (10, 24))):
            g = torch.Generator().manual_seed(k)
            p = torch.randn(m, n, generator=g).mul(.1).to(dt).requires_grad_()
            o = torch.optim.Muon([p], lr=0.02, weight_decay=0.1, adjust_lr_fn=fn, nesterov=fn != "spectral_unclamped")
            w, grads = [p.detach().clone()], []
            for _ in range(5):
                p.grad = torch.randn(m, n, generator=g).to(dt); grads.append(p.grad.clone())
                o.step(); w.append(p.detach().clone())
            key = f"{str(dt)[6:]}/{fn or 'original'}/{m}x{n}"
            out[key + "/weights"], out[key + "/grads"] = torch.stack(w), torch.stack(grads)
            out[key + "/buffer"] = o.state[p]["momentum_buffer"].clone()
save_file(out, sys.argv[1])
