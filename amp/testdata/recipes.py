"""Writes recipes.json: the recipes of PyTorch's AMP examples with torch.amp.GradScaler. Run: python3 recipes.py

A recipe gives rows of named numbers, a step each. Half kernels are emulated as in trajectories.py; scaler, optimizers, clipping
and schedulers are PyTorch's own. recipes_test.go has the same recipes, in Go. (The gradient penalty is in penalty.py.)
"""

import json
import math
import pathlib
import warnings

import torch

from trajectories import Autocast, linear

torch.set_num_threads(1)
warnings.simplefilter("ignore")  # that a scheduler runs ahead of its optimizer, which is the point
HALF = Autocast(torch.float16)


class Net:
    """Two linear layers with a relu between."""

    def __init__(self):
        def layer(o, i):
            return [torch.randn(o, i).mul_(i**-0.5).requires_grad_(), torch.zeros(o, requires_grad=True)]

        self.l1, self.l2 = layer(8, 6), layer(3, 8)
        self.params = self.l1 + self.l2

    def __call__(self, x):
        return HALF.lower(linear, HALF.keep(torch.relu, HALF.lower(linear, x, *self.l1)), *self.l2)

    def poison(self):
        self.l2[0].grad[1, 1] = math.inf

    def size(self):
        return sum(p.detach().double().abs().sum().item() for p in self.params)


def mse(x, y):
    return ((x.float() - y) ** 2).mean()


def batches(n=8):
    return [(torch.randn(12, 6), torch.randn(12, 3)) for _ in range(n)]


def scaler(**o):
    return torch.amp.GradScaler("cpu", **{"init_scale": 128.0, "growth_interval": 2, **o})


class Counted:
    """How many steps an optimizer has taken."""

    def __init__(self, opt):
        self.steps = 0
        opt.register_step_post_hook(lambda *_: setattr(self, "steps", self.steps + 1))


def several():
    """Two losses that need both of two models, two optimizers, of which one's gradients are unscaled, one scaler."""
    n0, n1, data, s, rows = Net(), Net(), batches(), scaler(), []
    o0, o1 = torch.optim.SGD(n0.params, lr=0.1), torch.optim.AdamW(n1.params, lr=0.01)
    c0, c1 = Counted(o0), Counted(o1)
    for k, (x, y) in enumerate(data):
        o0.zero_grad()
        o1.zero_grad()
        y0, y1 = n0(x).float(), n1(x).float()
        loss0, loss1 = mse(y0 * 2 + y1 * 3, y), mse(y0 * 3 - y1 * 5, y)
        s.scale(loss0).backward(retain_graph=True)
        s.scale(loss1).backward()
        if k == 2:
            n1.poison()
        scale, taken = s.get_scale(), (c0.steps, c1.steps)
        s.unscale_(o0)
        norm = torch.nn.utils.clip_grad_norm_(n0.params, 1.0).item()
        s.step(o0)
        s.step(o1)
        s.update()
        skipped = int(c0.steps == taken[0]) + 2 * int(c1.steps == taken[1])
        rows.append(dict(loss0=loss0.item(), loss1=loss1.item(), norm=norm, scale=scale, skipped=skipped, size0=n0.size(), size1=n1.size()))
    return rows


def accumulation(unscale_midway=False):
    """Four batches a step; unscaling in their middle adds gradients of two units, which cannot be undone."""
    n, data, s, rows = Net(), batches(16), scaler(), []
    o = torch.optim.SGD(n.params, lr=0.1)
    for k, (x, y) in enumerate(data):
        loss = mse(n(x), y) / 4
        s.scale(loss).backward()
        if unscale_midway and k % 4 == 1:
            s.unscale_(o)
        if k % 4 == 3:
            scale = s.get_scale()
            s.step(o)
            norm = torch.cat([p.grad.flatten() for p in n.params]).norm().item()
            s.update()
            rows.append(dict(loss=loss.item(), scale=scale, norm=norm, size=n.size()))
            o.zero_grad()
            if unscale_midway:
                break
    return rows


def clipping(scaled=False):
    """Gradients clipped in true units, or scaled ones to the limit times the scale; infinite ones at step 2."""
    n, data, s, rows = Net(), batches(), scaler(), []
    o = torch.optim.SGD(n.params, lr=0.1)
    c = Counted(o)
    for k, (x, y) in enumerate(data):
        o.zero_grad()
        loss = mse(n(x), y)
        s.scale(loss).backward()
        if k == 2:
            n.poison()
        scale, taken = s.get_scale(), c.steps
        limit = 0.1
        if scaled:
            limit *= scale
        else:
            s.unscale_(o)
        norm = torch.nn.utils.clip_grad_norm_(n.params, limit).item()
        s.step(o)
        s.update()
        row = dict(loss=loss.item(), scale=scale, skipped=int(c.steps == taken), size=n.size(), bad=sum(int((~p.grad.isfinite()).sum()) for p in n.params))
        if math.isfinite(norm):
            row["norm"] = norm
        rows.append(row)
    return rows


def checkpoint():
    """Continues after four steps with another model, optimizer and scaler, which load the first ones' state."""
    n, data, s, rows = Net(), batches(), scaler(), []
    o = torch.optim.AdamW(n.params, lr=0.01)
    for k, (x, y) in enumerate(data):
        if k == 4:
            state, old, had = o.state_dict(), n, s.state_dict()
            n, s = Net(), torch.amp.GradScaler("cpu")
            for p, q in zip(n.params, old.params):
                p.data.copy_(q)
            o = torch.optim.AdamW(n.params, lr=1.0)
            o.load_state_dict(state)
            s.load_state_dict(had)
        o.zero_grad()
        loss = mse(n(x), y)
        s.scale(loss).backward()
        scale = s.get_scale()
        s.step(o)
        s.update()
        rows.append(dict(loss=loss.item(), scale=scale, tracker=s._get_growth_tracker(), size=n.size()))
    return rows


def inference():
    """Outputs in half without a graph."""
    n, data = Net(), batches(2)
    with torch.no_grad():
        outs = [n(x) for x, _ in data]
    return [dict(half=int(y.dtype == torch.float16), graph=int(y.requires_grad), first=y[0, 0].item(), total=y.double().abs().sum().item()) for y in outs]


def schedule(guarded):
    """A learning rate by batches, which advances only if the step was not skipped, or always."""
    n, data, s, rows = Net(), batches(), scaler(init_scale=65536.0), []
    o = torch.optim.SGD(n.params, lr=0.5)
    c = Counted(o)
    rates = torch.optim.lr_scheduler.ExponentialLR(o, 0.5)
    for k, (x, y) in enumerate(data):
        o.zero_grad()
        loss = mse(n(x), y)
        s.scale(loss).backward()
        if k in (0, 3, 4):
            n.poison()
        lr, scale, taken = o.param_groups[0]["lr"], s.get_scale(), c.steps
        s.step(o)
        s.update()
        if not guarded or c.steps > taken:
            rates.step()
        rows.append(dict(loss=loss.item(), scale=scale, skipped=int(c.steps == taken), lr=lr))
    return rows


RECIPES = {
    "a several losses, models and optimizers": several,
    "b accumulation": accumulation,
    "b accumulation, unscaled midway": lambda: accumulation(True),
    "c clipping": clipping,
    "c clipping scaled gradients": lambda: clipping(True),
    "e checkpoint": checkpoint,
    "f inference": inference,
    "g schedule": lambda: schedule(True),
    "g schedule that runs ahead": lambda: schedule(False),
}

if __name__ == "__main__":
    lines = []
    for name, f in RECIPES.items():
        torch.manual_seed(1)
        rows = [{k: float("%.8g" % v) for k, v in row.items()} for row in f()]
        lines.append('%s: [\n  %s]' % (json.dumps(name), ",\n  ".join(map(json.dumps, rows))))
    path = pathlib.Path(__file__).resolve().parent / "recipes.json"
    path.write_text('{"torch": "%s", "recipes": {\n%s\n}}\n' % (torch.__version__, ",\n".join(lines)))
    print(path.stat().st_size, "bytes")
