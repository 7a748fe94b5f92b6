"""Writes generator.json: what PyTorch's CPU generator gives. Run: python3 generator.py > generator.json

Made with torch 1.13.1; any version with the same generator gives the same
numbers, up to the last bits of logarithm and cosine."""

import json
import torch


def draw(seed, what, f):
    torch.manual_seed(seed)
    out = []
    for t in f():
        out.append([float(x) for x in t.detach().flatten()])
    return {"seed": seed, "what": what, "values": out}


def linear(i, o):
    l = torch.nn.Linear(i, o)
    return [l.weight, l.bias]


cases = []
for seed in (0, 1, 42, 2**32 + 5):
    cases.append(draw(seed, "rand 5", lambda: [torch.rand(5)]))
    cases.append(draw(seed, "randn 3, rand 3, randn 4", lambda: [torch.randn(3), torch.rand(3), torch.randn(4)]))
    cases.append(draw(seed, "randn 16", lambda: [torch.randn(16)]))
    cases.append(draw(seed, "randn 37, rand 2", lambda: [torch.randn(37), torch.rand(2)]))
    cases.append(draw(seed, "linear 5 3", lambda: linear(5, 3)))
    cases.append(draw(seed, "perm 20", lambda: [torch.randperm(20)]))
torch.manual_seed(7)
cases.append({"seed": 7, "what": "rand 700, last 3", "values": [[float(x) for x in torch.rand(700)[-3:]]]})

print(json.dumps({"torch": torch.__version__, "cases": cases}))
