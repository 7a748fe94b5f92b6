"""Writes functional.json: the results of torch.autograd.functional for the functions below, in float64. Run: python3 functional.py > functional.json"""

import json
import torch
import torch.autograd.functional as F

torch.set_num_threads(1)
A = torch.tensor([[0.7, -0.4, 1.3], [0.9, -1.1, 0.2]], dtype=torch.float64)
B = torch.tensor([[-0.6, 1.2, 0.8]], dtype=torch.float64)
functions = {
    "product": lambda a, b: a * b,
    "matmul": lambda a, b: a @ b.T,
    "only the first": lambda a, b: a.exp().sum(1),
    "constant": lambda a, b: torch.ones(2, dtype=torch.float64),
    "linear": lambda a, b: (3 * a).sum() + b.sum(),
    "loss": lambda a, b: ((a * b).tanh() ** 2).mean(),
    "softmax": lambda a, b: (a.softmax(1).log() * b).sum(),
}


def flat(t):
    return {"shape": list(t.shape), "values": t.flatten().tolist()}


out = {"torch": torch.__version__, "functions": {}}
for name, f in functions.items():
    y = f(A, B)
    row = {"jacobian": [flat(t) for t in F.jacobian(f, (A, B))]}
    v = torch.arange(1, y.numel() + 1, dtype=torch.float64).reshape(y.shape)
    directions = (A.flip(1), B.flip(1))
    row["vjp"] = [flat(t) for t in F.vjp(f, (A, B), v)[1]]
    row["jvp"] = flat(F.jvp(f, (A, B), directions)[1])
    if y.numel() == 1:
        row["hessian"] = [flat(t) for r in F.hessian(f, (A, B)) for t in r]
        row["hvp"] = [flat(t) for t in F.hvp(f, (A, B), directions)[1]]
    out["functions"][name] = row
print(json.dumps(out))
