"""Writes layout.json: PyTorch's random draws for operands in many memory layouts. Run: python3 layout.py

A case is a shape, steps to another layout by views and by operations element by element, and a draw; then the result's
strides, where sizes are above 1, its values, and the generator's next number, which shows how many were drawn. A training
is the result of a Transformer's layer with dropout after the seed 5, and its losses.
"""

import json
import pathlib
import random

import torch
import torch.nn.functional as F
from torch.nn import init

random.seed(7)
torch.set_num_threads(1)

ELEMENTWISE = {
    "relu": torch.relu,
    "neg": torch.neg,
    "sigmoid": torch.sigmoid,
    "softplus": F.softplus,
    "half": lambda x: x.half().float(),
    "clone": torch.clone,
    "zeros": lambda x: torch.zeros_like(x) + x,
    "clamp": lambda x: x.clamp(-1, 1),
    "where": lambda x: torch.where(x > 0, x, -x),
    "masked_fill": lambda x: x.masked_fill(x < 0, 0.5),
    "dropout": lambda x: F.dropout(x, 0.3, True),
    "contiguous": torch.Tensor.contiguous,
}
BINARY = {"add": torch.add, "mul": torch.mul, "maximum": torch.maximum, "radd": lambda x, y: y + x, "lerp": lambda x, y: torch.lerp(x, y, 0.25)}


def feature(f):
    return lambda x: f(x, 0.4, True) if x.dim() >= 2 else x


def weights(x):
    x = x.abs() + 0.1
    return x if 1 <= x.dim() <= 2 else x.reshape(-1)


def filled(fill):
    def draw(x):
        if 0 in [s for s, n in zip(x.stride(), x.shape) if n > 1]:
            x = x.clone()
        fill(x)
        return x

    return draw


DRAWS = {
    "dropout": lambda x: F.dropout(x, 0.4, True),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.4, True),
    "feature_dropout": feature(torch.feature_dropout),
    "feature_alpha_dropout": feature(torch.feature_alpha_dropout),
    "rand_like": torch.rand_like,
    "randn_like": torch.randn_like,
    "multinomial": lambda x: torch.multinomial(weights(x), 1),
    "multinomial several": lambda x: torch.multinomial(weights(x), min(2, weights(x).shape[-1])),
    "multinomial replaced": lambda x: torch.multinomial(weights(x), 4, True),
    "uniform": filled(lambda x: init.uniform_(x, -0.5, 2)),
    "normal": filled(lambda x: init.normal_(x, 1, 0.5)),
    "trunc_normal": filled(lambda x: init.trunc_normal_(x, 0.5, 2, -1, 2)),
    "trunc_normal far out": filled(lambda x: init.trunc_normal_(x, 0.5, 2, 2, 3)),
}


def view(x):
    """A random view of x, as JSON and as a tensor."""
    kind, d = random.choice(["permute", "permute", "slice", "expand", "select"]), random.randrange(x.dim())
    if kind == "permute":
        order = random.sample(range(x.dim()), x.dim())
        return {"permute": order}, x.permute(order)
    if kind == "slice":
        a, step = random.randint(0, x.shape[d] // 2), random.choice([1, 1, 2])
        b = random.randint(a + 1, x.shape[d]) if a < x.shape[d] else x.shape[d]
        at = [slice(None)] * x.dim()
        at[d] = slice(a, b, step)
        return {"slice": [d, a, b, step]}, x[tuple(at)]
    if kind == "expand" and x.dim() < 5:
        n = random.randint(1, 3)
        shape = list(x.shape)
        shape.insert(d, n)
        return {"expand": [d, *shape]}, x.unsqueeze(d).expand(shape)
    if x.dim() > 2:
        i = random.randrange(x.shape[d])
        return {"select": [d, i]}, x.select(d, i)
    return {"permute": list(range(x.dim()))[::-1]}, x.permute(list(range(x.dim()))[::-1])


def operation(x):
    """x after a random operation, and that as JSON."""
    if random.random() < 0.5:
        name = random.choice(list(ELEMENTWISE))
        return {"op": name}, ELEMENTWISE[name](x)
    shape = [random.choice([n, n, n, 1]) for n in x.shape]
    order = random.sample(range(x.dim()), x.dim())
    lies = [0] * x.dim()
    for i, d in enumerate(order):
        lies[d] = shape[i]
    other = torch.arange(float(torch.tensor(shape).prod())).sub(3).reshape(lies).permute(order)
    name = random.choice(list(BINARY))
    return {"op": name, "other": lies, "order": order}, BINARY[name](x, other)


def case(draw, seed):
    shape = [random.randint(1, 5) for _ in range(random.randint(2, 4))]
    torch.manual_seed(seed)
    x, steps = torch.randn(shape), []
    for _ in range(random.randint(1, 5)):
        step, x = (view if random.random() < 0.6 else operation)(x)
        steps.append(step)
    if not 1 <= x.numel() <= 48:
        return case(draw, seed)
    y = DRAWS[draw](x)
    stride = [s for s, n in zip(y.stride(), y.shape) if n > 1]
    values = [float(f"{v:.7g}") for v in y.flatten().tolist()]
    return {"seed": seed, "shape": shape, "steps": steps, "draw": draw, "stride": stride, "values": values, "next": torch.rand(1).item()}


cases = [case(name, seed) for name in DRAWS for seed in range(30)]


def training(kind, **options):
    torch.manual_seed(5)
    layer = {"encoder": torch.nn.TransformerEncoderLayer, "decoder": torch.nn.TransformerDecoderLayer}[kind](4, 2, 6, 0.5, **options)
    x, target = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    operands = [x] if kind == "encoder" else [x, torch.randn(2, 3, 4)]
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.05)
    first, losses = layer(*operands).flatten().tolist(), []
    for _ in range(12):
        optimizer.zero_grad()
        loss = F.mse_loss(layer(*operands), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"kind": kind, **options, "first": first, "losses": losses}


trainings = [
    training(kind, batch_first=batch, norm_first=norm) for kind in ("encoder", "decoder") for batch in (True, False) for norm in (True, False)
]
lines = [",\n".join(json.dumps(c, separators=(",", ":")) for c in rows) for rows in (cases, trainings)]
text = '{"torch": "%s", "cases": [\n%s\n], "trainings": [\n%s\n]}\n' % (torch.__version__, *lines)
pathlib.Path(__file__).with_suffix(".json").write_text(text)
