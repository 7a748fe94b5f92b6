"""Writes fp8.json: an MLP trained with linear layers in FP8. Run: python3 fp8.py

A layer rounds its operands to E4M3, after scaling and saturating them, multiplies them in float32, adds the bias as bfloat16 and
rounds the result to bfloat16; backward, the result's gradient is rounded to E5M2 and meets the rounded operands. Scales are those of
Transformer Engine's recipes (common/recipe/delayed_scaling.cu, recipe_common.cuh). A run is 30 steps; a row is the loss, and the
scales of the second layer's input, weight and gradient in that step.
"""

import json
import pathlib

import torch

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
E4M3, E5M2 = (torch.float8_e4m3fn, 448.0), (torch.float8_e5m2, 57344.0)


def scale_for(limit, amax, margin, last):
    if not (amax > 0 and torch.isfinite(amax)):
        return last
    return torch.tensor(limit * 2.0**-margin) / amax


class Delayed:
    def __init__(self, margin=0, length=1024, recent=False):
        self.margin, self.length, self.recent = margin, length, recent

    def now(self, role, amax):
        return role.scale

    def after(self, role):
        amax = role.history[0] if self.recent else max(role.history)
        role.scale = scale_for(role.limit, amax, self.margin, role.scale)
        role.history = [torch.tensor(0.0)] + role.history[: self.length - 1]


class Current:
    length = 1

    def now(self, role, amax):
        return scale_for(role.limit, amax, 0, torch.tensor(1.0))

    def after(self, role):
        role.history[0] = torch.tensor(0.0)


class Unit(Current):
    def now(self, role, amax):
        return torch.tensor(1.0)


class Role:
    def __init__(self, recipe, format):
        self.recipe, (self.dtype, self.limit) = recipe, format
        self.scale, self.history = torch.tensor(1.0), [torch.tensor(0.0)] * recipe.length

    def __call__(self, x):
        amax = x.abs().max().float()
        self.used = self.recipe.now(self, amax)
        self.history[0] = torch.maximum(self.history[0], amax)
        q = (x.float() * self.used).clamp(-self.limit, self.limit).to(self.dtype)
        return q.float() * (1 / self.used)


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, b, roles):
        xq, wq = roles[0](x), roles[1](w)
        ctx.save_for_backward(xq, wq)
        ctx.roles, ctx.dtype = roles, x.dtype
        return (xq @ wq.t() + b.bfloat16().float()).bfloat16()

    @staticmethod
    def backward(ctx, dy):
        xq, wq = ctx.saved_tensors
        g = ctx.roles[2](dy.float())
        return (g @ wq).to(ctx.dtype), g.t() @ xq, dy.float().sum(0).bfloat16().float(), None


def run(recipe, shrink=1.0, steps=30):
    torch.manual_seed(1)
    layers = [(torch.randn(o, i).mul_(i**-0.5).requires_grad_(), torch.zeros(o, requires_grad=True)) for i, o in ((16, 32), (32, 32), (32, 4))]
    params = [p for layer in layers for p in layer]
    x, y = torch.randn(64, 16), torch.randn(64, 4)
    roles = [(Role(recipe, E4M3), Role(recipe, E4M3), Role(recipe, E5M2)) for _ in layers]
    rows = []
    for k in range(steps):
        h = x
        for i, (w, b) in enumerate(layers):
            h = Linear.apply(h, w, b, roles[i])
            if i < 2:
                h = torch.relu(h.float()).bfloat16()
        loss = ((h.float() - y) ** 2).mean()
        for p in params:
            p.grad = None
        (loss * shrink).backward()
        with torch.no_grad():
            for p in params:
                p -= 0.1 / shrink * p.grad
        for layer in roles:
            for role in layer:
                recipe.after(role)
        rows.append([loss.item()] + [r.used.item() for r in roles[1]])
    return rows


RUNS = {
    "delayed": dict(recipe=Delayed()),
    "delayed, 4 steps, margin 1": dict(recipe=Delayed(1, 4)),
    "delayed, most recent": dict(recipe=Delayed(0, 16, True)),
    "current": dict(recipe=Current()),
    "unit": dict(recipe=Unit()),
    "unit, small gradients": dict(recipe=Unit(), shrink=2.0**-12),
    "delayed, small gradients": dict(recipe=Delayed(), shrink=2.0**-12),
}

if __name__ == "__main__":
    runs = ",\n".join(f"{json.dumps(name)}: {json.dumps(run(**o))}" for name, o in RUNS.items())
    path = pathlib.Path(__file__).resolve().parent / "fp8.json"
    path.write_text('{"torch": "%s", "runs": {\n%s\n}}\n' % (torch.__version__, runs))
    print(path.stat().st_size, "bytes")
