"""Ten PyTorch programs with a mistake in mixed precision, each recorded by halfnote.

    python broken.py FOLDER [NAME...]

writes NAME.hnt.gz for each into FOLDER, and prints what torch shows by itself. The folder install/jupyter of this repository
must be in PYTHONPATH. Written with torch 2.15.0 on a CPU. Each function returns the model, its step, and how to see the symptom.
"""
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional as F

import halfnote


def loop(net, opt, loss, scaler, before_step=lambda: None, after=lambda: None):
    """Returns a step of the usual loop."""
    def step():
        opt.zero_grad()
        with torch.autocast("cpu", torch.float16):
            value = loss()
        scaler.scale(value).backward()
        before_step()
        scaler.step(opt)
        scaler.update()
        after()
        return value
    return step


def rmsnorm():
    """Squares in float16: from 256 on they are inf, rsqrt(inf) is 0, and the layer returns 0. No step is skipped."""
    class RMSNorm(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x):
            return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.weight

    net = nn.Sequential(nn.Linear(16, 32), RMSNorm(32), nn.Linear(32, 4))
    with torch.no_grad():
        net[0].weight.mul_(400)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    x, y = torch.randn(32, 16), torch.randint(0, 4, (32,))
    return net, loop(net, opt, lambda: F.cross_entropy(net(x), y), torch.amp.GradScaler("cpu", init_scale=256.0))


def mask():
    """A mask of -1e9 is -inf in float16, and a row that is masked entirely is NaN after softmax."""
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

        def forward(self, x, keep):
            scores = self.q(x) @ self.k(x).transpose(-1, -2) / 4 + (1 - keep).half() * -1e9
            return scores.softmax(-1) @ self.v(x).float()

    net = Attention()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x, keep = torch.randn(2, 8, 16), torch.ones(2, 8, 8)
    keep[1, 3] = 0
    return net, loop(net, opt, lambda: net(x, keep).pow(2).mean(), torch.amp.GradScaler("cpu"))


def clip_before_unscale():
    """Clips gradients that carry the loss scale: the limit of 1 is 1/65536 in true units. The model hardly moves."""
    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x, y = torch.randn(64, 16), torch.randn(64, 1)
    return net, loop(net, opt, lambda: F.mse_loss(net(x), y), torch.amp.GradScaler("cpu"), lambda: torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0))


def unscale_in_accumulation():
    """Unscales after each of two micro-batches: the second adds scaled gradients to unscaled ones, and torch refuses the second call."""
    net = nn.Linear(16, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    x, y = torch.randn(64, 16), torch.randn(64, 1)

    def step():
        opt.zero_grad()
        for half in (slice(0, 32), slice(32, 64)):
            with torch.autocast("cpu", torch.float16):
                loss = F.mse_loss(net(x[half]), y[half]) / 2
            scaler.scale(loss).backward()
            scaler.unscale_(opt)
        scaler.step(opt)
        scaler.update()
        return loss
    return net, step


def scheduler_ahead():
    """The scheduler steps after skipped steps too: the warm-up is over before the first real step."""
    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    warm = torch.optim.lr_scheduler.LinearLR(opt, start_factor=0.1, total_iters=4)
    x, y = torch.randn(64, 16), 100 * torch.randn(64, 1)
    return net, loop(net, opt, lambda: F.mse_loss(net(x), y), torch.amp.GradScaler("cpu", init_scale=2.0**15), after=lambda: warm.step())


def eps_lost():
    """A model in float16, where Adam's eps of 1e-8 is 0: a gradient of 0 makes the update 0/0."""
    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1)).half()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    x, y = torch.randn(64, 16).half(), torch.randn(64, 1).half()

    def step():
        opt.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        return loss
    return net, step


def bce():
    """sigmoid and binary_cross_entropy under autocast: the sigmoid is 1 in float16 from 8.4 on. torch refuses it on a GPU only."""
    net = nn.Linear(16, 1)
    with torch.no_grad():
        net.weight.mul_(40)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.randn(64, 16)
    y = (net(x) < 0).float().detach()
    return net, loop(net, opt, lambda: F.binary_cross_entropy(torch.sigmoid(net(x)), y), torch.amp.GradScaler("cpu", init_scale=64.0))


def frozen_branch():
    """A detach cuts a branch off: its layer is listed in the optimizer and never moves."""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.trunk, self.side, self.head = nn.Linear(16, 32), nn.Linear(16, 32), nn.Linear(32, 1)

        def forward(self, x):
            return self.head(torch.relu(self.trunk(x)) + self.side(x).detach())

    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x, y = torch.randn(64, 16), torch.randn(64, 1)
    return net, loop(net, opt, lambda: F.mse_loss(net(x), y), torch.amp.GradScaler("cpu", init_scale=1024.0))


def average_in_half():
    """The moving average of the weights is in float16: each update is less than half a unit in the last place."""
    net = nn.Linear(16, 1)
    nn.init.ones_(net.weight)
    nn.init.ones_(net.bias)
    average = {n: p.detach().clone().half() for n, p in net.named_parameters()}
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    x = torch.randn(64, 16)
    y = 2 * x.sum(1, keepdim=True)

    def after():
        with torch.no_grad():
            for n, p in net.named_parameters():
                average[n].add_((p - average[n]).half() * 1e-4)
    return net, loop(net, opt, lambda: F.mse_loss(net(x), y), torch.amp.GradScaler("cpu", init_scale=1024.0), after=after)


def scale_falls():
    """The root of a distance that is 0 for some pairs: its derivative is inf, times 0 it is NaN, at any loss scale."""
    net = nn.Linear(16, 8)
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    a = torch.randn(32, 16)
    b = a.clone()
    b[8:] = torch.randn(24, 16)
    return net, loop(net, opt, lambda: torch.sqrt((net(a) - net(b)).float().pow(2).sum(1)).mean(), torch.amp.GradScaler("cpu"))


PROGRAMS = {f.__name__: f for f in (rmsnorm, mask, clip_before_unscale, unscale_in_accumulation, scheduler_ahead, eps_lost, bce, frozen_branch, average_in_half, scale_falls)}


def main(folder, *names):
    torch.set_num_threads(1)
    for name in names or PROGRAMS:
        torch.manual_seed(0)
        net, step = PROGRAMS[name]()
        said = ""
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                with halfnote.record(net, overhead=None, path=f"{folder}/{name}.hnt.gz"):
                    losses = [step().item() for _ in range(10 if name in ("scale_falls", "bce", "scheduler_ahead") else 3)]
                said = f"losses {losses[0]:.4g} to {losses[-1]:.4g}"
            except RuntimeError as err:
                said = f"{type(err).__name__}: {err}"
        print(f"{name}: {said}; {len(warned)} warnings {sorted({str(w.message)[:60] for w in warned})}")


main(*sys.argv[1:])
