"""Measures what a recording costs: time of a step relative to one without a recorder.

    python cost.py [NAME...]

The folder install/jupyter of this repository must be in PYTHONPATH. Each way runs in turn in each round, on one thread, in processor time; the figure is the
median of the rounds' ratios to their own run without a recorder.
"""
import math
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

import halfnote


class Block(nn.Module):
    def __init__(self, into, out, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(into, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        self.short = nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False), nn.BatchNorm2d(out)) if stride > 1 or into != out else nn.Identity()

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + self.short(x))


def resnet18():
    """ResNet-18 for images of 32 x 32, a batch of 4."""
    widths = [64, 64, 128, 128, 256, 256, 512, 512]
    net = nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), *(Block(a, b, 2 if b > a else 1) for a, b in zip([64] + widths, widths)), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
    x, y = torch.randn(4, 3, 32, 32), torch.randint(0, 10, (4,))
    return net, lambda: F.cross_entropy(net(x), y)


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out, self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2, self.drop = nn.LayerNorm(width), nn.LayerNorm(width), nn.Dropout(0.1)

    def forward(self, x):
        b, n, w = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        a = self.drop((q @ k.transpose(-1, -2) / math.sqrt(w // self.heads)).softmax(-1))
        x = self.norm1(x + self.drop(self.out((a @ v).transpose(1, 2).reshape(b, n, w))))
        return self.norm2(x + self.drop(self.down(F.gelu(self.up(x)))))


class BERT(nn.Module):
    def __init__(self, words=8192, width=256, layers=4, heads=4, length=64):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(words, width), nn.Embedding(length, width), nn.LayerNorm(width)
        self.layers, self.head = nn.ModuleList(Layer(width, heads) for _ in range(layers)), nn.Linear(width, words)

    def forward(self, x):
        h = self.norm(self.words(x) + self.places.weight)
        for layer in self.layers:
            h = layer(h)
        return self.head(h)


def bert():
    """BERT-mini (4 layers, 256 wide) with masked words, 8 sequences of 64."""
    net = BERT()
    x, y = torch.randint(0, 8192, (8, 64)), torch.randint(0, 8192, (8, 64))
    return net, lambda: F.cross_entropy(net(x).flatten(0, 1), y.flatten())


def small():
    """Three layers of 128, a batch of 64."""
    net = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 128))
    x, y = torch.randn(64, 128), torch.randn(64, 128)
    return net, lambda: F.mse_loss(net(x), y)


def program(build, dtype):
    torch.manual_seed(0)
    net, loss = build()
    opt = torch.optim.SGD(net.parameters(), 1e-4)
    scaler = torch.amp.GradScaler("cpu", enabled=dtype == torch.float16)

    def step():
        opt.zero_grad()
        with torch.autocast("cpu", dtype):
            value = loss()
        scaler.scale(value).backward()
        scaler.step(opt)
        scaler.update()
    return net, opt, scaler, step


WAYS = {"every step": dict(overhead=None), "without counts": dict(overhead=None, ranges=False), "default": dict()}


def timed(step, steps):
    began = time.process_time()
    for _ in range(steps):
        step()
    return time.process_time() - began


def measure(name, build, dtype, few, many, rounds):
    net, opt, scaler, step = program(build, dtype)
    timed(step, 3)
    ratios, plain, ops = {w: [] for w in WAYS}, [], 0
    for _ in range(rounds):
        for way, options in WAYS.items():
            steps = many if way == "default" else few
            base = timed(step, steps)
            with halfnote.record(net, opt, scaler, **options) as rec:
                if way == "default":
                    took = timed(step, steps)
                else:
                    timed(step, 1)  # names, lines and kinds are new in the first step only
                    took = timed(step, steps)
            if way == "every step":
                ops = len(rec.ops) // (steps + 1)
            ratios[way].append(took / base)
            plain.append(base / steps)
    print(f"{name:<28} {min(plain) * 1e3:7.1f} ms {ops:5} operations", *(f"  {w} {statistics.median(r):.2f} ({min(r):.2f} to {max(r):.2f})" for w, r in ratios.items()), f" of {many} steps", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, build, dtype, few, many, rounds in (
        ("resnet18 bfloat16", resnet18, torch.bfloat16, 2, 60, 2), ("resnet18 float16", resnet18, torch.float16, 2, 60, 2),
        ("bert bfloat16", bert, torch.bfloat16, 2, 60, 2), ("bert float16", bert, torch.float16, 2, 60, 2),
        ("small bfloat16", small, torch.bfloat16, 50, 1000, 3), ("small float16", small, torch.float16, 50, 1000, 3),
    ):
        if not sys.argv[1:] or any(a in name for a in sys.argv[1:]):
            measure(name, build, dtype, few, many, rounds)
