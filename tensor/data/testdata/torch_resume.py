"""Writes torch_resume.json: checkpoints of PyTorch in the middle of training, with optimizer, scheduler and scaler, and the 20 steps after
each. Run: python3 torch_resume.py > torch_resume.json

The network is Linear(6, 8), Tanh, Linear(8, 3) in two groups of the optimizer; the loss is the mean of squares under autocast in
bfloat16 or float32 on the CPU. Losses are rounded to float32."""

import base64
import io
import json
import torch
from torch import nn

torch.set_num_threads(1)
O, S = torch.optim, torch.optim.lr_scheduler
optimizers = {
    "SGD": lambda p: O.SGD(p, 0.05),
    "SGD, momentum": lambda p: O.SGD(p, 0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    "Adam": lambda p: O.Adam(p, 0.01),
    "Adam, amsgrad": lambda p: O.Adam(p, 0.01, amsgrad=True, weight_decay=0.1),
    "AdamW": lambda p: O.AdamW(p, 0.01),
    "AdamW, other betas": lambda p: O.AdamW(p, 0.01, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.2),
    "Adamax": lambda p: O.Adamax(p, 0.01),
    "NAdam": lambda p: O.NAdam(p, 0.01),
    "RAdam": lambda p: O.RAdam(p, 0.01),
    "RMSprop": lambda p: O.RMSprop(p, 0.01, momentum=0.5, centered=True),
    "Adagrad": lambda p: O.Adagrad(p, 0.05, lr_decay=0.01),
    "Adadelta": lambda p: O.Adadelta(p, 1.0),
    "ASGD": lambda p: O.ASGD(p, 0.05, t0=8),
    "Rprop": lambda p: O.Rprop(p, 0.01),
    "Adafactor": lambda p: O.Adafactor(p, 0.05),
}
schedulers = {
    "StepLR": lambda o: S.StepLR(o, 4, 0.5),
    "MultiStepLR": lambda o: S.MultiStepLR(o, [3, 9, 12], 0.3),
    "ExponentialLR": lambda o: S.ExponentialLR(o, 0.95),
    "ConstantLR": lambda o: S.ConstantLR(o, 0.5, 9),
    "LinearLR": lambda o: S.LinearLR(o, 0.25, 1.0, 12),
    "PolynomialLR": lambda o: S.PolynomialLR(o, 30, 2.0),
    "CosineAnnealingLR": lambda o: S.CosineAnnealingLR(o, 10, 0.001),
    "CosineAnnealingWarmRestarts": lambda o: S.CosineAnnealingWarmRestarts(o, 5, 2, 0.001),
    "OneCycleLR": lambda o: S.OneCycleLR(o, 0.1, total_steps=40),
    "CyclicLR": lambda o: S.CyclicLR(o, 0.01, 0.1, step_size_up=5, cycle_momentum=False),
    "SequentialLR": lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, 1.0, 4), S.ExponentialLR(o, 0.9)], [4]),
    "ChainedScheduler": lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 3), S.ExponentialLR(o, 0.95)]),
    "ReduceLROnPlateau": lambda o: S.ReduceLROnPlateau(o, factor=0.5, patience=2, threshold=0.1),
    "LambdaLR": lambda o: S.LambdaLR(o, lambda e: 1 / (1 + e)),
}
cases = [(name, None) for name in optimizers] + [("AdamW", name) for name in schedulers] + [("SGD, momentum", "OneCycleLR"), ("SGD, momentum", "StepLR")]
x = torch.randn(16, 6, generator=torch.Generator().manual_seed(1))
y = torch.randn(16, 3, generator=torch.Generator().manual_seed(2))
BEFORE, AFTER = 7, 20


def encoded(v):
    f = io.BytesIO()
    torch.save(v, f)
    return base64.b64encode(f.getvalue()).decode()


out = []
for i, (optimizer, scheduler) in enumerate(cases):
    for half in (False, True):
        torch.manual_seed(3)
        net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
        opt = optimizers[optimizer]([{"params": net[0].parameters()}, {"params": net[2].parameters(), "weight_decay": 0.0} if optimizer != "Rprop" else {"params": net[2].parameters()}])
        sched = schedulers[scheduler](opt) if scheduler else None
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=6, enabled=half)

        def step():
            opt.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=half):
                loss = (net(x).float() - y).square().mean()
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
            if sched:
                sched.step(loss.item()) if scheduler == "ReduceLROnPlateau" else sched.step()
            return loss.item()

        for _ in range(BEFORE):
            step()
        state = {"model": net.state_dict(), "optimizer": opt.state_dict(), "scaler": scaler.state_dict(), "scheduler": sched.state_dict() if sched else None}
        if scheduler == "LambdaLR":
            state["scheduler"]["lr_lambdas"] = [None, None]
        case = {"optimizer": optimizer, "scheduler": scheduler or "", "half": half, "file": encoded(state)}
        case["losses"] = [step() for _ in range(AFTER)]
        case["rates"] = [g["lr"] for g in opt.param_groups]
        case["scale"] = scaler.get_scale()
        case["weights"] = torch.cat([p.detach().flatten() for p in net.parameters()]).tolist()
        out.append(case)

bowl = nn.Linear(3, 1, bias=False)
with torch.no_grad():
    bowl.weight.copy_(torch.tensor([[1.0, -2.0, 3.0]]))
lbfgs = []
for name, options in {"plain": {}, "strong wolfe": {"line_search_fn": "strong_wolfe"}}.items():
    with torch.no_grad():
        bowl.weight.copy_(torch.tensor([[1.0, -2.0, 3.0]]))
    opt = O.LBFGS(bowl.parameters(), lr=0.1, max_iter=4, **options)

    def closure():
        opt.zero_grad()
        w = bowl.weight
        loss = (w * torch.tensor([1.0, 4.0, 9.0]) * w).sum() + (w**4).sum() / 8
        loss.backward()
        return loss

    opt.step(closure)
    file = encoded({"model": bowl.state_dict(), "optimizer": opt.state_dict()})
    lbfgs.append({"name": name, "file": file, "losses": [opt.step(closure).item() for _ in range(5)], "weights": bowl.weight.flatten().tolist()})
print(json.dumps({"torch": torch.__version__, "x": x.flatten().tolist(), "y": y.flatten().tolist(), "cases": out, "lbfgs": lbfgs}))
