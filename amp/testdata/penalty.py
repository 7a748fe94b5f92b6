"""Writes penalty.json: gradient penalty under autocast and torch.amp.GradScaler. Run: python3 penalty.py

The recipe is that of PyTorch's AMP examples: gradients of the scaled loss with create_graph, unscaled out of place, their norm
under autocast, and backward of loss and norm, scaled. A half kernel is its operands in float32 and one rounding of the result,
the casts being recorded, so that backward and double backward round where the forward does. Of each model and dtype stand the
gradients of the first step, unscaled, and of each step the loss, the penalty, the scale before it, and whether it was skipped.
penalty_test.go does the same.
"""

import json
import pathlib

import torch
import torch.nn.functional as F

from trajectories import Autocast, linear

torch.set_num_threads(1)


class MLP:
    def __init__(self):
        def layer(o, i):
            return [torch.randn(o, i).mul_(i**-0.5).requires_grad_(), torch.zeros(o, requires_grad=True)]

        self.l1, self.l2, self.l3 = layer(12, 8), layer(12, 12), layer(4, 12)
        self.params = self.l1 + self.l2 + self.l3
        self.x, self.y = torch.randn(32, 8), torch.randn(32, 4)

    def loss(self, a):
        h = a.keep(torch.tanh, a.lower(linear, self.x, *self.l1))
        h = F.softplus(a.lower(linear, h, *self.l2).float())
        return F.mse_loss(a.lower(linear, h, *self.l3).float(), self.y)


class ConvNet:
    """A convolution, layer norm and a linear layer."""

    def __init__(self):
        self.conv = [torch.randn(3, 2, 3, 3).mul_(18**-0.5).requires_grad_(), torch.zeros(3, requires_grad=True)]
        self.norm = [torch.ones(3, 5, 5, requires_grad=True), torch.zeros(3, 5, 5, requires_grad=True)]
        self.head = [torch.randn(2, 75).mul_(75**-0.5).requires_grad_(), torch.zeros(2, requires_grad=True)]
        self.params = self.conv + self.norm + self.head
        self.x, self.y = torch.randn(16, 2, 5, 5), torch.randn(16, 2)

    def loss(self, a):
        h = a.keep(torch.tanh, a.lower(lambda x, w, b: F.conv2d(x, w, b, padding=1), self.x, *self.conv))
        h = F.layer_norm(h.float(), (3, 5, 5), *self.norm)
        return F.mse_loss(a.lower(linear, h.flatten(1), *self.head).float(), self.y)


def run(make, dtype, steps=14):
    torch.manual_seed(1)
    net, autocast = make(), Autocast(dtype)
    opt = torch.optim.SGD(net.params, lr=0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20, growth_interval=2)
    rows, first = [], None
    taken = []
    opt.register_step_post_hook(lambda *_: taken.append(1))
    for _ in range(steps):
        opt.zero_grad()
        loss = net.loss(autocast)
        grads = torch.autograd.grad(scaler.scale(loss), net.params, create_graph=True)
        inverse = 1.0 / scaler.get_scale()
        penalty = sum((g * inverse).pow(2).sum() for g in grads).sqrt()
        scaler.scale(loss + penalty).backward()
        scaler.unscale_(opt)
        if first is None and all(p.grad.isfinite().all() for p in net.params):
            first = [[float("%.8g" % x) for x in p.grad.flatten()] for p in net.params]
        scale, before = scaler.get_scale(), len(taken)
        scaler.step(opt)
        scaler.update()
        rows.append([float("%.8g" % loss.item()), float("%.8g" % penalty.item()), scale, int(len(taken) == before)])
    return {"rows": [[None if x != x or abs(x) == float("inf") else x for x in r] for r in rows], "gradients": first}


if __name__ == "__main__":
    lines = []
    for name, make in (("mlp", MLP), ("conv", ConvNet)):
        for dtype in (None, torch.float16, torch.bfloat16):
            result = {"model": name, "dtype": str(dtype or "").removeprefix("torch."), **run(make, dtype)}
            print(name, dtype, result["rows"])
            lines.append(json.dumps(result))
    path = pathlib.Path(__file__).resolve().parent / "penalty.json"
    path.write_text('{"torch": "%s", "runs": [\n%s\n]}\n' % (torch.__version__, ",\n".join(lines)))
    print(path.stat().st_size, "bytes")
