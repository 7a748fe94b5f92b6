"""Writes schedules.json: 100 steps of PyTorch's schedulers, as rows of the learning rates of two groups and, where it moves, the
momentum or first beta. Run: python3 schedules.py > schedules.json"""

import json
import math
import torch

S = torch.optim.lr_scheduler
sgd = lambda: torch.optim.SGD([{"params": [torch.ones(1)]}, {"params": [torch.ones(1)], "lr": 0.04}], lr=0.1, momentum=0.5)
adam = lambda: torch.optim.Adam([{"params": [torch.ones(1)]}, {"params": [torch.ones(1)], "lr": 0.04}], lr=0.1)
wave = [math.sin(k / 7) / (1 + k / 20) for k in range(100)]
cases = {
    "step": (sgd, lambda o: S.StepLR(o, 7, 0.5)),
    "multistep": (sgd, lambda o: S.MultiStepLR(o, [3, 30, 30, 80], 0.3)),
    "exponential": (sgd, lambda o: S.ExponentialLR(o, 0.95)),
    "constant": (sgd, lambda o: S.ConstantLR(o, 0.25, 9)),
    "linear": (sgd, lambda o: S.LinearLR(o, 0.1, 0.8, 40)),
    "polynomial": (sgd, lambda o: S.PolynomialLR(o, 60, 2.0)),
    "cosine": (sgd, lambda o: S.CosineAnnealingLR(o, 30, 0.001)),
    "warm restarts": (sgd, lambda o: S.CosineAnnealingWarmRestarts(o, 10, 2, 0.002)),
    "warm restarts, one length": (sgd, lambda o: S.CosineAnnealingWarmRestarts(o, 13)),
    "lambda": (sgd, lambda o: S.LambdaLR(o, lambda k: 1 / (1 + k))),
    "lambdas": (sgd, lambda o: S.LambdaLR(o, [lambda k: 1 / (1 + k), lambda k: 0.9**k])),
    "multiplicative": (sgd, lambda o: S.MultiplicativeLR(o, lambda k: 0.97 if k % 2 else 1.01)),
    "cyclic": (sgd, lambda o: S.CyclicLR(o, 0.01, 0.2, 15)),
    "cyclic, triangular2": (adam, lambda o: S.CyclicLR(o, 0.01, 0.2, 10, 20, mode="triangular2")),
    "cyclic, exp_range": (sgd, lambda o: S.CyclicLR(o, 0.01, 0.2, 10, mode="exp_range", gamma=0.98, cycle_momentum=False)),
    "cyclic, scale": (sgd, lambda o: S.CyclicLR(o, 0.01, 0.2, 10, scale_fn=lambda x: 1 / (5**(x * 1e-2)), scale_mode="iterations")),
    "one cycle": (sgd, lambda o: S.OneCycleLR(o, 0.3, 101)),
    "one cycle, linear": (adam, lambda o: S.OneCycleLR(o, 0.3, 120, pct_start=0.4, anneal_strategy="linear", div_factor=10, final_div_factor=100)),
    "one cycle, three phases": (sgd, lambda o: S.OneCycleLR(o, 0.3, 110, three_phase=True, base_momentum=0.7, max_momentum=0.8)),
    "plateau": (sgd, lambda o: S.ReduceLROnPlateau(o, factor=0.5, patience=3)),
    "plateau, max": (sgd, lambda o: S.ReduceLROnPlateau(o, mode="max", factor=0.7, patience=0, threshold=0.1, cooldown=4, min_lr=0.01)),
    "plateau, absolute": (sgd, lambda o: S.ReduceLROnPlateau(o, threshold=0.05, threshold_mode="abs")),
    "chained": (sgd, lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 12), S.ExponentialLR(o, 0.97)])),
    "sequential": (sgd, lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, 1.0, 10), S.CosineAnnealingLR(o, 50), S.ConstantLR(o, 0.5, 5)], [10, 60])),
    "sequential, more": (sgd, lambda o: S.SequentialLR(o, [S.StepLR(o, 3, 0.5), S.MultiplicativeLR(o, lambda k: 0.9), S.LambdaLR(o, lambda k: 1 / (2 + k))], [20, 50])),
}
out = {"torch": torch.__version__, "rows": {}}
for name, (optimizer, make) in cases.items():
    opt = optimizer()
    s = make(opt)
    rows = out["rows"][name] = []
    for k in range(100):
        g = opt.param_groups
        rows.append([g[0]["lr"], g[1]["lr"], g[1]["betas"][0] if "betas" in g[1] else g[1]["momentum"]])
        opt.step()
        s.step(wave[k]) if name.startswith("plateau") else s.step()
print(json.dumps(out, separators=(",", ":")))
