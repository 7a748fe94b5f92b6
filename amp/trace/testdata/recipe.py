"""Records the training loops of three tutorials in small: the R package torch's, PyTorch's recipe with clipping, and a blog's three layers.

    python recipe.py FOLDER

The folder install/jupyter of this repository must be in PYTHONPATH. Written with torch 2.15.0 on a CPU. TestTorchAndGo has the same programs in Go.
"""
import sys

import torch
from torch import nn

import halfnote


def pattern(*shape):
    """Numbers that are the same in Go: multiples of 1/32 between -0.5 and 0.5."""
    n = torch.arange(torch.Size(shape).numel())
    return ((n * 7919 % 33 - 16) / 32).float().reshape(shape)


def program(sizes, clip, scale):
    layers = [m for a, b in zip(sizes, sizes[1:]) for m in (nn.Linear(a, b), nn.ReLU())][:-1]
    net = nn.Sequential(*layers)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(pattern(*p.shape))
    opt = torch.optim.SGD(net.parameters(), lr=0.001)
    scaler = torch.amp.GradScaler("cpu", init_scale=scale)
    x, y = pattern(16, sizes[0]), 4 * pattern(16, sizes[-1])

    def step():
        with torch.autocast("cpu", torch.float16):
            loss = nn.functional.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        if clip:
            scaler.unscale_(opt)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.1)
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
    return net, step


torch.set_num_threads(1)
for name, sizes, clip, scale in (("r", (32, 32, 32, 32), False, 65536.0), ("recipe", (64, 64, 64, 64), True, 2.0**24), ("blog", (8, 16, 16, 1), False, 2.0**22)):
    net, step = program(sizes, clip, scale)
    with halfnote.record(net, overhead=None, path=f"{sys.argv[1]}/{name}.hnt.gz"):
        for _ in range(6):
            step()
