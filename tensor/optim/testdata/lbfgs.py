"""Writes lbfgs.json: PyTorch's LBFGS on Rosenbrock's valley, (1 - x)^2 + 100 (y - x^2)^2 in pairs. Run: python3 lbfgs.py > lbfgs.json"""

import json
import torch

torch.set_num_threads(1)
cases = {
    "default": lambda p: torch.optim.LBFGS(p, lr=0.1),
    "short memory": lambda p: torch.optim.LBFGS(p, lr=0.05, max_iter=5, history_size=3),
    "few calls": lambda p: torch.optim.LBFGS(p, lr=0.1, max_iter=10, max_eval=4),
    "soon content": lambda p: torch.optim.LBFGS(p, lr=0.1, tolerance_grad=3.0),
}
out = {"torch": torch.__version__, "cases": {}}
for name, make in cases.items():
    x = torch.tensor([[-1.0], [0.5]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([1.2, 0.0], dtype=torch.float64, requires_grad=True)
    opt = make([x, y])
    calls = 0

    def closure():
        global calls
        calls += 1
        opt.zero_grad()
        loss = ((1 - x.squeeze(1)) ** 2 + 100 * (y - x.squeeze(1) ** 2) ** 2).sum()
        loss.backward()
        return loss

    rows = out["cases"][name] = []
    for _ in range(6):
        loss = opt.step(closure)
        rows.append([loss.item(), calls, *x.flatten().tolist(), *y.tolist()])
print(json.dumps(out))
