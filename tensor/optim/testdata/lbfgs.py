"""Writes lbfgs.json: PyTorch's LBFGS on Rosenbrock's valley, (1 - x)^2 + 100 (y - x^2)^2 in pairs. Run: python3 lbfgs.py > lbfgs.json"""

import json
import torch

torch.set_num_threads(1)
cases = {
    "default": lambda p: torch.optim.LBFGS(p, lr=0.1),
    "short memory": lambda p: torch.optim.LBFGS(p, lr=0.05, max_iter=5, history_size=3),
    "few calls": lambda p: torch.optim.LBFGS(p, lr=0.1, max_iter=10, max_eval=4),
    "strong wolfe": lambda p: torch.optim.LBFGS(p, lr=1.0, line_search_fn="strong_wolfe"),
    "strong wolfe, long steps": lambda p: torch.optim.LBFGS(p, lr=3.0, max_iter=4, history_size=2, line_search_fn="strong_wolfe"),
    "strong wolfe, short steps": lambda p: torch.optim.LBFGS(p, lr=1e-3, max_iter=6, line_search_fn="strong_wolfe"),
    "strong wolfe, few calls": lambda p: torch.optim.LBFGS(p, lr=0.5, max_iter=10, max_eval=6, line_search_fn="strong_wolfe"),
    "maximize": lambda p: torch.optim.LBFGS(p, lr=0.1, maximize=True),
    "maximize, strong wolfe": lambda p: torch.optim.LBFGS(p, lr=0.1, maximize=True, line_search_fn="strong_wolfe"),
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
        if "maximize" in name:
            loss = -loss
        loss.backward()
        return loss

    rows = out["cases"][name] = []
    for _ in range(6):
        loss = opt.step(closure)
        rows.append([loss.item(), calls, *x.flatten().tolist(), *y.tolist()])
print(json.dumps(out))
