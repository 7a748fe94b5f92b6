"""Writes steps.json: what PyTorch's optimizers make of given gradients. Run: python3 steps.py > steps.json

Made with torch 1.13.1. Gradient of step k, element i: sin(k + 2 i), times 1 + i."""

import json
import math
import torch

cases = {
    "sgd": lambda p: torch.optim.SGD(p, 0.1),
    "sgd, momentum": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    "sgd, momentum, dampening": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, dampening=0.3),
    "sgd, momentum, decay": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.05),
    "sgd, nesterov": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
    "sgd, decay": lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.05),
    "adam": lambda p: torch.optim.Adam(p, 0.01),
    "adam, decay": lambda p: torch.optim.Adam(p, 0.01, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, 0.01),
}
out = {}
for name, make in cases.items():
    p = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64, requires_grad=True)
    opt = make([p])
    out[name] = []
    for k in range(5):
        p.grad = torch.tensor([math.sin(k + 2 * i) * (1 + i) for i in range(3)], dtype=torch.float64)
        opt.step()
        out[name].append(p.detach().tolist())
print(json.dumps(out, indent=1))
