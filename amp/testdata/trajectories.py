"""Writes trajectories.json: small models trained under autocast and torch.amp.GradScaler. Run: python3 trajectories.py

PyTorch computes in float32 only; a half kernel is its operands in float32 and one rounding of the result, the casts being
recorded, so that gradients round where CUDA's do. Optimizers and the scaler, on the CPU, are PyTorch's own. A row is a step: the
loss, the scale before it, the growth tracker after it, which optimizers skipped (1 the first, 2 the second), and how many
elements of the unscaled gradients are zero. The sum of the weights' magnitudes stands after the last step. trajectories_test.go
trains the same.
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
HALF, BF16 = torch.float16, torch.bfloat16
INF, NAN = math.inf, math.nan


class Autocast:
    """The policy of a region with the low dtype d, None for no region."""

    def __init__(self, d):
        self.d = d

    def lower(self, f, *operands):
        if self.d is None:
            return f(*operands)
        return f(*(t.to(self.d).float() for t in operands)).to(self.d)

    def keep(self, f, x):
        return f(x.float()).to(x.dtype)


def linear(x, w, b):
    return x @ w.t() + b


class MLP:
    def __init__(self):
        sizes = ((16, 32), (32, 32), (32, 4))
        self.layers = [(torch.randn(o, i).mul_(i**-0.5).requires_grad_(), torch.zeros(o, requires_grad=True)) for i, o in sizes]
        self.params = [p for layer in self.layers for p in layer]
        self.x, self.y = torch.randn(64, 16), torch.randn(64, 4)

    def loss(self, a, x, y):
        for i, (w, b) in enumerate(self.layers):
            x = a.lower(linear, x, w, b)
            if i < 2:
                x = a.keep(torch.relu, x)
        return ((x.float() - y) ** 2).mean()


class CNN:
    """Two convolutions with batch norm, and a linear layer."""

    def __init__(self):
        def conv(o, i):
            return torch.randn(o, i, 3, 3).mul_((9 * i) ** -0.5).requires_grad_()

        def leaf(n, value):
            return torch.full((n,), value, requires_grad=True)

        self.c1, self.b1, self.g1, self.o1 = conv(8, 3), leaf(8, 0.0), leaf(8, 1.0), leaf(8, 0.0)
        self.c2, self.b2, self.g2, self.o2 = conv(8, 8), leaf(8, 0.0), leaf(8, 1.0), leaf(8, 0.0)
        self.w, self.b = torch.randn(4, 8).mul_(8**-0.5).requires_grad_(), leaf(4, 0.0)
        self.params = [self.c1, self.b1, self.g1, self.o1, self.c2, self.b2, self.g2, self.o2, self.w, self.b]
        self.x, self.y = torch.randn(16, 3, 8, 8), torch.arange(16) % 4

    def loss(self, a, x, y):
        def conv(x, w, b):
            return F.conv2d(x, w, b, padding=1)

        for w, b, g, o in ((self.c1, self.b1, self.g1, self.o1), (self.c2, self.b2, self.g2, self.o2)):
            x = a.lower(conv, x, w, b)
            x = a.keep(lambda x: F.batch_norm(x, None, None, g, o, training=True), x)
            x = a.keep(torch.relu, x)
            x = a.keep(lambda x: F.max_pool2d(x, 2), x)
        x = a.keep(lambda x: x.mean((2, 3)), x)
        return F.cross_entropy(a.lower(linear, x, self.w, self.b).float(), y)


class Transformer:
    """A block of attention with two heads, and a head that classifies."""

    def __init__(self):
        def matrix(o, i):
            return torch.randn(o, i).mul_(i**-0.5).requires_grad_()

        def vector(n, value):
            return torch.full((n,), value, requires_grad=True)

        def layer(o, i):
            return matrix(o, i), vector(o, 0.0)

        def norm():
            return vector(16, 1.0), vector(16, 0.0)

        self.words, self.places = matrix(12, 16), matrix(6, 16)
        self.n1, self.q, self.k, self.v, self.o = norm(), layer(16, 16), layer(16, 16), layer(16, 16), layer(16, 16)
        self.n2, self.up, self.down = norm(), layer(32, 16), layer(16, 32)
        self.n3, self.head = norm(), layer(3, 16)
        pairs = (self.n1, self.q, self.k, self.v, self.o, self.n2, self.up, self.down, self.n3, self.head)
        self.params = [self.words, self.places] + [p for pair in pairs for p in pair]
        self.x, self.y = torch.arange(8 * 6).reshape(8, 6) * 5 % 12, torch.arange(8) % 3

    def loss(self, a, x, y):
        def norm(x, p):
            return F.layer_norm(x.float(), (16,), *p)

        def heads(x):
            return x.reshape(-1, 6, 2, 8).transpose(1, 2)

        h = F.embedding(x, self.words) + self.places
        n = norm(h, self.n1)
        q, k, v = (heads(a.lower(linear, n, *p)) for p in (self.q, self.k, self.v))
        scores = a.keep(lambda s: s * 8**-0.5, a.lower(lambda q, k: q @ k.transpose(-1, -2), q, k))
        mixed = a.lower(lambda s, v: s @ v, torch.softmax(scores.float(), -1), v)
        h = h + a.lower(linear, mixed.transpose(1, 2).reshape(-1, 6, 16), *self.o)
        up = a.keep(F.gelu, a.lower(linear, norm(h, self.n2), *self.up))
        h = h + a.lower(linear, up, *self.down)
        return F.cross_entropy(a.lower(linear, norm(h, self.n3).mean(1), *self.head).float(), y)


MODELS = {
    "mlp": (MLP, lambda p: torch.optim.SGD(p, lr=0.1)),
    "mlp, adamw": (MLP, lambda p: torch.optim.AdamW(p, lr=0.01)),
    "cnn": (CNN, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9)),
    "transformer": (Transformer, lambda p: torch.optim.AdamW(p, lr=0.003)),
}


def run(model, dtype=None, init=None, interval=10**9, bad=(), value=INF, steps=20, optimizers=1, parts=1):
    torch.manual_seed(1)
    make, optimizer = MODELS[model]
    net = make()
    half = len(net.params) // 2 // 2 * 2
    owned = [net.params] if optimizers == 1 else [net.params[:half], net.params[half:]]
    opts, taken = [optimizer(p) for p in owned], [0] * optimizers
    for i, opt in enumerate(opts):
        opt.register_step_post_hook(lambda *_, i=i: taken.__setitem__(i, taken[i] + 1))
    scaler = torch.amp.GradScaler("cpu", init_scale=init or 1.0, growth_interval=interval, enabled=init is not None)
    autocast, rows = Autocast(dtype), []
    for k in range(steps):
        for opt in opts:
            opt.zero_grad()
        total = 0.0
        for part in range(parts):
            n = len(net.x) // parts
            at = slice(part * n, part * n + n)
            loss = net.loss(autocast, net.x[at], net.y[at]) / parts
            total += loss.item()
            scaler.scale(loss).backward()
            if k in bad and part == 0:  # of two optimizers, the second's
                owned[-1][0].grad.fill_(value)
        scale, before = scaler.get_scale(), list(taken)
        for opt in opts:
            scaler.unscale_(opt)
        zeros = sum(int((p.grad == 0).sum()) for p in net.params)
        for opt in opts:
            scaler.step(opt)
        scaler.update()
        skipped = sum(1 << i for i in range(optimizers) if taken[i] == before[i])
        rows.append([float("%.8g" % total), scale, scaler._get_growth_tracker(), skipped, zeros])
    return {"rows": rows, "weights": float("%.8g" % sum(p.detach().double().abs().sum().item() for p in net.params))}


SCALED = dict(dtype=HALF, init=65536.0)
RUNS = {
    "float32": {},
    "float16": dict(dtype=HALF),
    "bfloat16": dict(dtype=BF16),
    "float32, scaler": dict(init=65536.0, interval=5, bad=[7]),
    "bfloat16, scaler": dict(dtype=BF16, init=65536.0, interval=5),
    "scaler": dict(SCALED, interval=5),
    "scaler, growth after 1": dict(SCALED, init=128.0, interval=1),
    "scaler, growth after 2": dict(SCALED, init=128.0, interval=2),
    "scaler, inf at 0": dict(SCALED, interval=5, bad=[0]),
    "scaler, inf at 2": dict(SCALED, interval=2, bad=[2]),
    "scaler, inf at 7": dict(SCALED, interval=5, bad=[7]),
    "scaler, inf at 3, 4, 5": dict(SCALED, interval=2, bad=[3, 4, 5]),
    "scaler, always inf": dict(SCALED, interval=5, bad=list(range(20))),
    "scaler, NaN at 7": dict(SCALED, interval=5, bad=[7], value=NAN),
    "scaler, inf for one of two optimizers": dict(SCALED, interval=3, bad=[2, 7, 8], optimizers=2),
    "scaler, inf during accumulation": dict(SCALED, interval=3, bad=[2, 7], parts=2),
    "static scale 8": dict(SCALED, init=8.0),
    "static scale 128": dict(SCALED, init=128.0),
    "static scale 1024": dict(SCALED, init=1024.0),
}

if __name__ == "__main__":
    lines = []
    for model in MODELS:
        for name, o in RUNS.items():
            o = dict(o, steps=40) if model == "mlp" else o
            settings = dict(o, dtype=str(o.get("dtype", "")).removeprefix("torch."), value=str(o.get("value", INF)))
            result = {"model": model, "name": name, "settings": settings, **run(model, **o)}
            lines.append(json.dumps(result))
    path = pathlib.Path(__file__).resolve().parent / "trajectories.json"
    path.write_text('{"torch": "%s", "runs": [\n%s\n]}\n' % (torch.__version__, ",\n".join(lines)))
    print(len(lines), "runs,", path.stat().st_size, "bytes")
