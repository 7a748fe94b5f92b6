"""Writes indexing.json: what PyTorch makes of 600 index expressions. Run: python3 indexing.py   Needs torch."""

import json
import pathlib
import random

import torch

random.seed(5)
torch.manual_seed(5)


def positions(n, shape):
    return torch.randint(-n, n, shape)


def item(x, d, broadcast):
    """A random item for dimension d of x, as JSON and as torch takes it, and how many dimensions it is for."""
    n = x.shape[d]
    kind = random.choices(["int", "range", "all", "tensor", "list", "mask", "flags"], [3, 4, 2, 4, 1, 1, 1])[0]
    if n == 0 and kind in ("int", "tensor", "list"):
        kind = "all"
    if kind == "int":
        i = random.randrange(-n, n)
        return {"int": i}, i, 1
    if kind == "range":
        a, b = random.choice([None, random.randint(-n - 1, n + 1)]), random.choice([None, random.randint(-n - 1, n + 1)])
        c = random.choice([1, 1, 2, 3])
        return {"range": [a or 0, b, c]}, slice(a, b, c), 1
    if kind == "all":
        return {"all": True}, slice(None), 1
    if kind == "tensor":
        shape = random.choice([broadcast, broadcast[-1:], [1] * len(broadcast)])
        t = positions(n, shape)
        return {"tensor": t.flatten().tolist(), "shape": shape}, t, 1
    if kind == "list":
        t = positions(n, broadcast[-1:])
        return {"list": t.tolist()}, t, 1
    if kind == "flags":
        t = torch.zeros(n, dtype=torch.bool)
        if n:
            t[random.randrange(n)] = True  # one: broadcasts with all
        return {"flags": t.tolist()}, t, 1
    k = random.randint(1, x.dim() - d)
    t = torch.rand(x.shape[d : d + k]) < 0.4
    return {"mask": t.flatten().tolist(), "shape": list(t.shape)}, t, k


def expression(x):
    """A random index expression for x."""
    broadcast = random.choice([[2], [3], [2, 3], [1, 2]])
    text, at, d, dots = [], [], 0, False
    while True:
        if random.random() < 0.1:
            text.append({"new": True})
            at.append(None)
        if not dots and random.random() < 0.15:
            dots = True
            text.append({"dots": True})
            at.append(Ellipsis)
            d += random.randint(0, x.dim() - d)
        if d >= x.dim() or random.random() < 0.15:
            return text, tuple(at)
        j, a, k = item(x, d, broadcast)
        text.append(j)
        at.append(a)
        d += k


cases = []
while len(cases) < 600:
    shape = [random.choice([1, 2, 3, 4, 5, 0] if random.random() < 0.1 else [1, 2, 3, 4]) for _ in range(random.randint(1, 4))]
    x = torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape)
    text, at = expression(x)
    c = {"shape": shape, "at": text}
    try:
        y = x[at]
    except (IndexError, RuntimeError):
        # Masks that do not fit what the dots leave, or positions that do not broadcast.
        if sum("error" in c for c in cases) < 60:
            cases.append(c | {"error": True})
        continue
    if y.numel() > 60:
        continue
    c |= {"out": list(y.shape), "y": y.flatten().int().tolist()}
    if y.numel() > 0:
        c["view"] = y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    z = x.clone()
    z[at] = -7
    if y.unique().numel() == y.numel():
        z[at] = -1 - torch.arange(y.numel(), dtype=torch.float32).reshape(y.shape)
    c["set"] = z.flatten().int().tolist()
    leaf = x.clone().requires_grad_()
    w = torch.arange(1, y.numel() + 1, dtype=torch.float32).reshape(y.shape)
    (leaf[at] * w).sum().backward()
    c["grad"] = leaf.grad.flatten().int().tolist()
    cases.append(c)

path = pathlib.Path(__file__).with_name("indexing.json")
lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
path.write_text(f'{{"torch":"{torch.__version__}","cases":[\n{lines}\n]}}\n')
print(len(cases), sum("error" in c for c in cases), path.stat().st_size)
