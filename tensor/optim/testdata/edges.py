"""Writes edges.json.gz: what PyTorch's optimizers make of parameters and gradients at the edges. Run: python3 edges.py

A case is an optimizer with its options, each with and without the others. A run is a shape, the parameter and the gradients of its steps,
each one of EDGES. What is recorded is the parameter after the last step, as bits. Two runs give equal bytes."""

import base64
import gzip
import itertools
import json
import math
import pathlib

import numpy as np
import torch

torch.set_num_threads(1)
DTYPES = "float64", "float32", "float16", "bfloat16"


def cases():
    """Yields names such as "SGD lr=0.1 momentum=0.9 maximize"."""
    options = {
        "SGD lr=0.1": ["", "momentum=0.9", "momentum=0.9 dampening=0.3", "momentum=0.9 nesterov"],
        "Adam lr=0.01": ["", "amsgrad", "decoupled_weight_decay", "eps=0.0001 betas=0.8,0.95", "betas=0,0.95"],
        "AdamW lr=0.01": ["", "amsgrad"],
        "Adamax lr=0.01": ["", "eps=0.0001 betas=0.8,0.95"],
        "NAdam lr=0.01": ["", "decoupled_weight_decay", "eps=0.0001 betas=0.8,0.95 momentum_decay=0.01"],
        "RAdam lr=0.01": ["", "decoupled_weight_decay", "eps=0.0001 betas=0.8,0.5"],
        "RMSprop lr=0.01": ["", "momentum=0.9", "centered", "centered momentum=0.9", "alpha=0.5 eps=0.0001"],
        "Adagrad lr=0.1": ["", "lr_decay=0.1", "initial_accumulator_value=0.5 eps=0.0001"],
        "Adadelta lr=1": ["", "rho=0.5 eps=0.0001"],
        "Rprop lr=0.01": ["", "etas=0.4,1.5 step_sizes=0.05,0.3"],
        "ASGD lr=0.1": ["", "lambd=0.01 alpha=0.5 t0=1"],
        "Adafactor lr=0.1": ["", "beta2_decay=-0.5 d=1.5"],
        "Muon lr=0.1": ["", "nesterov=0", "momentum=0"],
        "LBFGS lr=0.5": ["max_iter=3"],
    }
    for optimizer, sets in options.items():
        kind = optimizer.split()[0]
        decays = [""] if kind in ("Rprop", "LBFGS") else ["", "weight_decay=0.05"]
        for set, decay, maximize in itertools.product(sets, decays, [""] if kind in ("Muon", "LBFGS") else ["", "maximize"]):
            yield " ".join(filter(None, [optimizer, set, decay, maximize]))


def make(name, params):
    kind, *options = name.split()
    values = {}
    for option in options:
        key, _, value = option.partition("=")
        numbers = [int(v) if key in ("max_iter", "nesterov") else float(v) for v in value.split(",")] if value else [True]
        values[key] = numbers[0] if len(numbers) == 1 else tuple(numbers)
    return getattr(torch.optim, kind)(params, **values)


def first(value):
    return lambda x, d: np.concatenate([[value], x])[: len(x)]


def cycle(x, d):
    f = torch.finfo(d)
    list = [0, -0.0, f.smallest_normal / 4, f.smallest_normal, 1, -1, f.max / 8, -f.max / 8]
    return np.array([list[i % 8] for i in range(len(x))])


EDGES = {
    "usual": lambda x, d: x,
    "zeros": lambda x, d: 0 * abs(x),
    "minus": lambda x, d: -0.0 * abs(x),
    "equal": lambda x, d: 0 * x + 1,
    "least": lambda x, d: np.sign(x) * torch.finfo(d).smallest_normal * torch.finfo(d).eps,
    "1e-30": lambda x, d: x * 1e-30,
    "tiny": lambda x, d: x * torch.finfo(d).smallest_normal,
    "1e30": lambda x, d: x * 1e30,
    "large": lambda x, d: x * (torch.finfo(d).max / 16),
    "nan": first(math.nan),
    "inf": first(math.inf),
    "-inf": first(-math.inf),
    "cycle": cycle,
}


def runs():
    """Yields names such as "6 usual zeros zeros usual": the shape, the parameter and the gradients."""
    for e in EDGES:
        yield f"6 usual {e}"
        yield f"6 usual {e} {e} usual"
        yield f"6 usual usual {e} usual"
        yield f"6 {e} usual usual"
        yield f"6 {e} {e} {e}"
    for shape in "", "0", "1", "2x3", "3x0", "1x4", "5x1":
        yield f"{shape} usual usual zeros usual"
        yield f"{shape} zeros zeros zeros"


def values(edge, k, shape, dtype):
    n = math.prod(shape)
    i = np.arange(n)
    x = np.sin(k + 2 * i) * (1 + i)
    return torch.tensor(EDGES[edge](x, dtype)).to(dtype).reshape(shape)


def result(name, run, dtype):
    """The parameter after a run, or nothing where PyTorch has no result."""
    kind = name.split()[0]
    text, start, *gradients = run.split(" ")
    shape = [int(n) for n in text.split("x") if n]
    if kind == "Muon" and shape == [6]:
        shape = [2, 3]
    none = kind == "Muon" and len(shape) != 2 or kind in ("Adafactor", "LBFGS", "Muon") and 0 in shape
    if none or kind == "LBFGS" and dtype.itemsize == 2:  # estimates of a curvature in halves are mostly rounding
        return torch.zeros(0, dtype=dtype)
    p = values(start, 0, shape, dtype).requires_grad_()
    opt = make(name, [p])
    for k, edge in enumerate(gradients):
        g = values(edge, k + 1, shape, dtype)
        if kind == "LBFGS":  # of the function g p + p²/2

            def closure():
                opt.zero_grad()
                loss = (g * p + p * p / 2).sum()
                loss.backward()
                return loss

            opt.step(closure)
        else:
            p.grad = g
            opt.step()
    return p.detach()


def main():
    out = {}
    for name in cases():
        out[name] = {}
        for d in DTYPES:
            dtype = getattr(torch, d)
            whole = torch.cat([result(name, run, dtype).reshape(-1) for run in runs()])
            out[name][d] = base64.b64encode(whole.view(torch.uint8).numpy().tobytes()).decode()
    text = json.dumps({"torch": torch.__version__, "runs": list(runs()), "cases": out}, separators=(",", ":")).encode()
    path = pathlib.Path(__file__).with_name("edges.json.gz")
    with gzip.GzipFile(path, "wb", compresslevel=9, mtime=0) as f:
        f.write(text)
    print(f"{len(out)} cases, {len(list(runs()))} runs of each, {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
