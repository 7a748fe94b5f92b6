"""Writes apex.json: an MLP and a small CNN trained at the levels of NVIDIA Apex. Run: python3 apex.py

apex.amp is gone, so this is what its documentation and last source say it does, on PyTorch that computes in float32 only: a half
kernel is its operands in float32 and one rounding of the result, the casts being recorded, so that gradients round where CUDA's do.
A run is 30 steps; a row is the loss, the loss scale before the step, whether the step was skipped, and the sum of the absolute values
of the model's parameters after it.
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
HALF, FULL = torch.float16, torch.float32


class Level:
    """How a layer runs: with weights cast (O1), or in the dtype of its operands."""

    def __init__(self, name, dtype=None, keep_bn=False, masters=False, scale=1.0):
        self.patch, self.dtype, self.keep_bn, self.masters, self.scale = name == "O1", dtype, keep_bn, masters, scale

    def product(self, f, x, w, b):
        d = x.dtype
        if self.patch:
            d = HALF
        x, w, b = (t.to(d).float() for t in (x, w, b))
        return f(x, w, b).to(d)


def batch_norm(x, w, b, mean, var):
    m, v = mean.clone().float(), var.clone().float()
    y = F.batch_norm(x.float(), m, v, w.float(), b.float(), training=True, momentum=0.1, eps=1e-5).to(x.dtype)
    mean.copy_(m)
    var.copy_(v)
    return y


def relu(x):
    return torch.relu(x.float()).to(x.dtype)


class MLP:
    lr, momentum = 0.1, 0.0

    def __init__(self):
        self.layers = [(torch.randn(o, i).mul_(i**-0.5), torch.zeros(o)) for i, o in ((16, 32), (32, 32), (32, 4))]
        self.x, self.y = torch.randn(64, 16), torch.randn(64, 4)

    def tensors(self):
        return [t for layer in self.layers for t in layer]

    def kept(self):
        return []

    def forward(self, p, level, x):
        for i in range(0, 6, 2):
            x = level.product(F.linear, x, p[i], p[i + 1])
            if i < 4:
                x = relu(x)
        return x

    def loss(self, out):
        return ((out - self.y) ** 2).mean()


class CNN:
    lr, momentum = 0.01, 0.9

    def __init__(self):
        def conv(o, i):
            return torch.randn(o, i, 3, 3).mul_((i * 9) ** -0.5), torch.zeros(o)

        def norm(n):
            return torch.ones(n), torch.zeros(n)

        self.params = [*conv(8, 3), *norm(8), *conv(16, 8), *norm(16), torch.randn(10, 256).mul_(256**-0.5), torch.zeros(10)]
        self.x, self.y = torch.randn(16, 3, 8, 8), torch.arange(16) % 10

    def tensors(self):
        return self.params

    def kept(self):
        return [2, 3, 6, 7]

    def forward(self, p, level, x):
        def conv(x, w, b):
            return level.product(lambda x, w, b: F.conv2d(x, w, b, padding=1), x, w, b)

        x = relu(batch_norm(conv(x, p[0], p[1]), p[2], p[3], *self.stats[:2]))
        x = F.max_pool2d(x.float(), 2).to(x.dtype)
        x = relu(batch_norm(conv(x, p[4], p[5]), p[6], p[7], *self.stats[2:]))
        return level.product(F.linear, x.flatten(1), p[8], p[9])

    def loss(self, out):
        return F.cross_entropy(out, self.y)



def step(p, g, v, lr, momentum):
    """SGD as torch's fused kernel: velocity and parameter are rounded to their dtype once each."""
    d = p.dtype
    if momentum:
        v = g.clone() if v is None else (v.float() * momentum + g.float()).to(d)
        g = v
    p.copy_((p.float() - lr * g.float()).to(d))
    return v


def run(model, level, start=None, bad=(), steps=30):
    torch.manual_seed(1)
    net = model()
    if model is CNN:
        full = level.dtype is None or level.keep_bn
        net.stats = [t.to(FULL if full else level.dtype) for n in (8, 16) for t in (torch.zeros(n), torch.ones(n))]
    params = []
    for i, t in enumerate(net.tensors()):
        d = FULL if level.dtype is None or level.keep_bn and i in net.kept() else level.dtype
        params.append(t.to(d).requires_grad_())
    # Parameters that are not float16 are their own masters.
    masters = [p.detach().float().requires_grad_() if level.masters and p.dtype == HALF else p for p in params]
    moments = [None] * len(params)
    dynamic = level.scale == "dynamic"
    scale = (start or 65536.0) if dynamic else level.scale
    rows = []
    for k in range(steps):
        for p in params + masters:
            p.grad = None
        x = net.x if level.dtype is None else net.x.to(level.dtype)
        out = net.forward(params, level, x).float()
        loss = net.loss(out)
        (loss.float() * scale).backward()
        if k in bad:
            params[0].grad[0, 0] = math.inf
        before, found = scale, any(not torch.isfinite(p.grad).all() for p in params)
        if level.masters or dynamic or scale != 1.0:
            inverse = torch.tensor(1 / scale, dtype=torch.float64).float()
            for p, m in zip(params, masters):
                m.grad = (p.grad.float() * inverse).to(m.dtype)
        skipped = found and dynamic
        if skipped:
            scale /= 2
        else:
            with torch.no_grad():
                for i, (p, m) in enumerate(zip(params, masters)):
                    moments[i] = step(m, m.grad, moments[i], net.lr, net.momentum)
                    if m is not p:
                        p.copy_(m)
        size = sum(p.detach().double().abs().sum().item() for p in params)
        rows.append([loss.item(), before, int(skipped), size])
    return rows


LEVELS = {
    "O0": Level("O0"),
    "O1": Level("O1", scale="dynamic"),
    "O1 128": Level("O1", scale=128.0),
    "O2": Level("O2", HALF, True, True, "dynamic"),
    "O2 128": Level("O2", HALF, True, True, 128.0),
    "O2 without masters": Level("O2", HALF, True, False, "dynamic"),
    "O2 batch norm half": Level("O2", HALF, False, True, "dynamic"),
    "O3": Level("O3", HALF),
    "O3 128, batch norm kept": Level("O3", HALF, True, False, 128.0),
}

RUNS = {f"{model.__name__} {name}": dict(model=model, level=level) for model in (MLP, CNN) for name, level in LEVELS.items()}
for model in (MLP, CNN):
    for name in ("O1", "O2"):
        RUNS[f"{model.__name__} {name} from 2^24"] = dict(model=model, level=LEVELS[name], start=2.0**24)
        RUNS[f"{model.__name__} {name}, inf at 3, 4, 9"] = dict(model=model, level=LEVELS[name], bad=(3, 4, 9))

if __name__ == "__main__":
    runs = ",\n".join(f"{json.dumps(name)}: {json.dumps(run(**o))}" for name, o in RUNS.items())
    path = pathlib.Path(__file__).resolve().parent / "apex.json"
    path.write_text('{"torch": "%s", "runs": {\n%s\n}}\n' % (torch.__version__, runs))
    print(path.stat().st_size, "bytes")
