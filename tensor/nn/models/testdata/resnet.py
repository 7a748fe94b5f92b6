"""Writes resnet.json: ResNet-8 for CIFAR and ResNet-50 from seed 1, one step each.

Run: python3 resnet.py   Needs torch. The networks are those of He et al., 2015,
section 4.2, and of torchvision.models.resnet, written out with the same names and
in the same order of construction.
"""

import json
import pathlib

import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)


def conv(i, o, k, s=1):
    return nn.Conv2d(i, o, k, stride=s, padding=k // 2, bias=False)


class Basic(nn.Module):
    def __init__(self, i, c, stride, downsample=None, more=0):
        super().__init__()
        self.conv1, self.bn1 = conv(i, c, 3, stride), nn.BatchNorm2d(c)
        self.conv2, self.bn2 = conv(c, c, 3), nn.BatchNorm2d(c)
        self.downsample, self.stride, self.more = downsample, stride, more

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.downsample is not None:
            x = self.downsample(x)
        elif self.more:
            x = F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.more // 2, self.more - self.more // 2))
        return F.relu(y + x)


class Bottleneck(nn.Module):
    def __init__(self, i, c, stride, downsample=None):
        super().__init__()
        self.conv1, self.bn1 = conv(i, c, 1), nn.BatchNorm2d(c)
        self.conv2, self.bn2 = conv(c, c, 3, stride), nn.BatchNorm2d(c)
        self.conv3, self.bn3 = conv(c, 4 * c, 1), nn.BatchNorm2d(4 * c)
        self.downsample = downsample

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn3(self.conv3(F.relu(self.bn2(self.conv2(y)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self, cifar, blocks, classes, small=True, bottleneck=False):
        super().__init__()
        i = 16 if cifar else 64
        self.conv1 = conv(3, i, 3) if small else nn.Conv2d(3, i, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(i)
        self.small, self.stages = small, len(blocks)
        for s, n in enumerate(blocks):
            c = (16 if cifar else 64) << s
            out = 4 * c if bottleneck else c
            stage = []
            for j in range(n):
                stride = 2 if s > 0 and j == 0 else 1
                downsample = None
                if (stride != 1 or i != out) and not cifar:
                    downsample = nn.Sequential(nn.Conv2d(i, out, 1, stride=stride, bias=False), nn.BatchNorm2d(out))
                if bottleneck:
                    stage.append(Bottleneck(i, c, stride, downsample))
                else:
                    stage.append(Basic(i, c, stride, downsample, out - i))
                i = out
            setattr(self, f"layer{s + 1}", nn.Sequential(*stage))
        self.fc = nn.Linear(i, classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        if not self.small:
            x = F.max_pool2d(x, 3, 2, 1)
        for s in range(self.stages):
            x = getattr(self, f"layer{s + 1}")(x)
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def step(net, x, y):
    """What a step computes: scores, loss, and of each parameter the sum, the sum of squares of its gradient and its place."""
    net.train()
    scores = net(x)
    loss = F.cross_entropy(scores, y)
    loss.backward()
    net.eval()
    return {
        "scores": scores.flatten().tolist(),
        "loss": loss.item(),
        "used": net(x).flatten().tolist(),
        "names": list(net.state_dict()),
        "sums": [p.double().sum().item() for p in net.parameters()],
        "grads": [p.grad.double().norm().item() for p in net.parameters()],
    }


def main():
    out = {}
    for name, make, size in (
        ("resnet8", lambda: ResNet(True, [1, 1, 1], 10), 32),
        ("resnet18", lambda: ResNet(False, [2, 2, 2, 2], 7, small=False), 48),
        ("resnet50", lambda: ResNet(False, [3, 4, 6, 3], 10, bottleneck=True), 16),
    ):
        torch.manual_seed(1)
        net = make()
        x, y = torch.randn(4, 3, size, size), torch.tensor([0, 3, 5, 2])
        out[name] = step(net, x, y)
        out[name]["parameters"] = sum(p.numel() for p in net.parameters())
    pathlib.Path(__file__).with_name("resnet.json").write_text(json.dumps(out) + "\n")


main()
