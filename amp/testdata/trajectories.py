"""Writes trajectories.json: an MLP trained under autocast and a gradient scaler. Run: python3 trajectories.py

PyTorch computes in float32 only; a half kernel is its operands in float32 and one rounding of the result, the casts being
recorded, so that gradients round where CUDA's do. The scaler is the state machine of torch/amp/grad_scaler.py for one optimizer.
A run is 40 steps; a row is the loss, the scale before the step, the growth tracker after it, whether the step was skipped, and
how many elements of the unscaled gradients are zero.
"""

import json
import math
import pathlib

import torch

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
HALF, BF16 = torch.float16, torch.bfloat16
INF, NAN = math.inf, math.nan


def linear(x, w, b, d):
    """linear is on the list of the low dtype: d, or None for no autocast."""
    if d is None:
        return x @ w.t() + b
    x, w, b = (t.to(d).float() for t in (x, w, b))
    return (x @ w.t() + b).to(d)


def relu(x):
    return torch.relu(x.float()).to(x.dtype)


def scaled(loss, scale):
    return loss if scale is None else loss * torch.tensor(scale)


def run(dtype=None, init=None, interval=2000, growth=2.0, bad=(), value=INF, steps=40):
    torch.manual_seed(1)
    sizes = ((16, 32), (32, 32), (32, 4))
    layers = [(torch.randn(o, i).mul_(i**-0.5).requires_grad_(), torch.zeros(o, requires_grad=True)) for i, o in sizes]
    params = [p for layer in layers for p in layer]
    x, y = torch.randn(64, 16), torch.randn(64, 4)
    scale, tracker, rows = init, 0, []
    for k in range(steps):
        h = x
        for i, (w, b) in enumerate(layers):
            h = linear(h, w, b, dtype)
            if i < 2:
                h = relu(h)
        loss = ((h.float() - y) ** 2).mean()
        for p in params:
            p.grad = None
        scaled(loss, scale).backward()
        if k in bad:
            params[0].grad.fill_(value)
        grads, found = [p.grad for p in params], False
        before = scale
        if scale is not None:
            found = any(not torch.isfinite(g).all() for g in grads)
            inverse = torch.tensor(1 / scale, dtype=torch.float64).float() if scale else torch.tensor(INF)
            for g in grads:
                g.mul_(inverse)
        zeros = sum(int((g == 0).sum()) for g in grads)
        if not found:
            with torch.no_grad():
                for p in params:
                    p -= 0.1 * p.grad
        if scale is not None:
            if found:
                scale, tracker = float(torch.tensor(scale * 0.5).float()), 0
            else:
                tracker += 1
                if tracker == interval:
                    grown = float(torch.tensor(scale * growth).float())
                    scale, tracker = grown if math.isfinite(grown) else scale, 0
        rows.append([loss.item(), 1.0 if before is None else before, tracker, int(found), zeros])
    return rows


RUNS = {
    "float32": {},
    "autocast float16": dict(dtype=HALF),
    "autocast bfloat16": dict(dtype=BF16),
    "float16, scaler": dict(dtype=HALF, init=65536.0, interval=5),
    "float16, scaler, inf at 7": dict(dtype=HALF, init=65536.0, interval=5, bad=(7,)),
    "float16, scaler, inf at 0": dict(dtype=HALF, init=65536.0, interval=5, bad=(0,)),
    "float16, scaler, inf at 2": dict(dtype=HALF, init=65536.0, interval=2, bad=(2,)),
    "float16, scaler, inf at 3, 4, 5": dict(dtype=HALF, init=65536.0, interval=2, bad=(3, 4, 5)),
    "float16, scaler, NaN at 7": dict(dtype=HALF, init=65536.0, interval=5, bad=(7,), value=NAN),
    "float16, scaler, always inf": dict(dtype=HALF, init=65536.0, interval=5, bad=range(40)),
    "float16, scaler, growth every step": dict(dtype=HALF, init=128.0, interval=1),
    "float16, static scale 8": dict(dtype=HALF, init=8.0),
    "float16, static scale 128": dict(dtype=HALF, init=128.0),
    "float16, static scale 1024": dict(dtype=HALF, init=1024.0),
    "bfloat16, scaler": dict(dtype=BF16, init=65536.0, interval=5),
    "float32, scaler": dict(init=65536.0, interval=5, bad=(7,)),
}

if __name__ == "__main__":
    runs = ",\n".join(f"{json.dumps(name)}: {json.dumps(run(**o))}" for name, o in RUNS.items())
    path = pathlib.Path(__file__).resolve().parent / "trajectories.json"
    path.write_text('{"torch": "%s", "runs": {\n%s\n}}\n' % (torch.__version__, runs))
    print(path.stat().st_size, "bytes")
