"""Writes steps.json: what PyTorch's optimizers make of given gradients. Run: python3 steps.py > steps.json

Parameters are a vector, or a matrix where the name says so. Gradient of step k, element i: sin(k + 2 i), times 1 + i. Parameters and gradients are rounded to the dtype. After 6 steps the
learning rate is halved. What is not finite is null: in float16 Adam's eps is 0, and 0 is divided by 0."""

import json
import math
import torch

torch.set_num_threads(1)
O = torch.optim
cases = {
    "sgd": lambda p: O.SGD(p, 0.1),
    "sgd, momentum": lambda p: O.SGD(p, 0.1, momentum=0.9),
    "sgd, momentum, dampening": lambda p: O.SGD(p, 0.1, momentum=0.9, dampening=0.3),
    "sgd, momentum, decay": lambda p: O.SGD(p, 0.1, momentum=0.9, weight_decay=0.05),
    "sgd, nesterov": lambda p: O.SGD(p, 0.1, momentum=0.9, nesterov=True),
    "sgd, decay": lambda p: O.SGD(p, 0.1, weight_decay=0.05),
    "sgd, maximize": lambda p: O.SGD(p, 0.1, momentum=0.5, weight_decay=0.05, maximize=True),
    "adam": lambda p: O.Adam(p, 0.01),
    "adam, decay": lambda p: O.Adam(p, 0.01, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1),
    "adam, amsgrad, maximize": lambda p: O.Adam(p, 0.01, betas=(0.8, 0.5), amsgrad=True, maximize=True),
    "adamw": lambda p: O.AdamW(p, 0.01),
    "adamw, amsgrad": lambda p: O.AdamW(p, 0.01, betas=(0.8, 0.5), eps=1e-4, weight_decay=0.1, amsgrad=True),
    "rmsprop": lambda p: O.RMSprop(p, 0.01),
    "rmsprop, momentum": lambda p: O.RMSprop(p, 0.01, alpha=0.9, eps=1e-4, momentum=0.9, weight_decay=0.05),
    "rmsprop, centered": lambda p: O.RMSprop(p, 0.01, alpha=0.9, eps=1e-2, centered=True, momentum=0.5, maximize=True),
    "adagrad": lambda p: O.Adagrad(p, 0.1),
    "adagrad, decay": lambda p: O.Adagrad(p, 0.1, lr_decay=0.1, weight_decay=0.05, initial_accumulator_value=0.5, eps=1e-4, maximize=True),
    "adadelta": lambda p: O.Adadelta(p, 1.0),
    "adadelta, decay": lambda p: O.Adadelta(p, 0.5, rho=0.8, eps=1e-4, weight_decay=0.05, maximize=True),
    "adamax": lambda p: O.Adamax(p, 0.01),
    "adamax, decay": lambda p: O.Adamax(p, 0.01, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.05, maximize=True),
    "nadam": lambda p: O.NAdam(p, 0.01),
    "nadam, decoupled": lambda p: O.NAdam(p, 0.01, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1, momentum_decay=0.01, decoupled_weight_decay=True),
    "nadam, decay": lambda p: O.NAdam(p, 0.01, weight_decay=0.1, maximize=True),
    "rprop": lambda p: O.Rprop(p, 0.01),
    "rprop, etas, sizes": lambda p: O.Rprop(p, 0.1, etas=(0.4, 1.5), step_sizes=(0.05, 0.3), maximize=True),
    "asgd": lambda p: O.ASGD(p, 0.01),
    "asgd, averages": lambda p: O.ASGD(p, 0.1, lambd=1e-2, alpha=0.5, t0=3, weight_decay=0.05, maximize=True),
    "adafactor": lambda p: O.Adafactor(p, 0.01),
    "adafactor, decay": lambda p: O.Adafactor(p, 0.5, beta2_decay=-0.5, eps=(1e-3, 1e-2), d=1.5, weight_decay=0.1, maximize=True),
    "adafactor, matrix": lambda p: O.Adafactor(p, 0.1),
    "adafactor, matrix, decay": lambda p: O.Adafactor(p, 0.5, beta2_decay=-0.5, eps=(1e-3, 1e-2), weight_decay=0.1, maximize=True),
    "radam": lambda p: O.RAdam(p, 0.01),
    "radam, decoupled": lambda p: O.RAdam(p, 0.01, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1, decoupled_weight_decay=True),
    "radam, decay": lambda p: O.RAdam(p, 0.01, weight_decay=0.1, maximize=True),
}
out = {"torch": torch.__version__, "steps": {}}
for name, make in cases.items():
    out["steps"][name] = {}
    for d in "float64", "float32", "float16", "bfloat16":
        dtype = getattr(torch, d)
        p = torch.tensor([1.0, -2.0, 0.5, 0.25, -0.125, 3.0], dtype=dtype, requires_grad=True)
        if "matrix" in name:
            p = p.detach().reshape(2, 3).requires_grad_()
        opt = make([p])
        rows = out["steps"][name][d] = []
        for k in range(10):
            if k == 6:
                opt.param_groups[0]["lr"] /= 2
            gradient = torch.tensor([math.sin(k + 2 * i) * (1 + i) for i in range(p.numel())], dtype=torch.float64)
            p.grad = gradient.to(dtype).reshape(p.shape)
            opt.step()
            rows.append([x if math.isfinite(x) else None for x in p.detach().double().flatten().tolist()])
print(json.dumps(out, separators=(",", ":")))
