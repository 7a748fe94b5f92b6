"""Writes testdata/models.json: ResNet-8 and BERT as PyTorch trains and evaluates them. Run: python3 make_models.py

Models are written in plain torch.nn, with the names of torchvision and of Hugging Face. Their weights come from a rule that
models_test.go has too: only losses and logits are kept, even for BERT-base with its 110 million weights.
Images are those of data.SyntheticCIFAR; tweets are tokens in testdata/tweets.json, which models_test.go writes.
"""

import json
import math
import pathlib
import zlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from make_casts import mixed_of

torch.use_deterministic_algorithms(True)
HERE = pathlib.Path(__file__).resolve().parent


def spread(name, n):
    """n float32 numbers from -1 to 1: 24 bits of a hash of the index and the name."""
    h = mixed_of(np.arange(n, dtype=np.uint32) + np.uint32(zlib.crc32(name.encode()))) >> np.uint32(8)
    return h.astype(np.float32) * np.float32(2.0**-23) - np.float32(1)


def fill(net):
    """Sets every weight from its name; running statistics are unchanged."""
    with torch.no_grad():
        for name, p in net.named_parameters():
            x = torch.from_numpy(spread(name, p.numel())).reshape(p.shape)
            if p.dim() > 1:
                p.copy_(x * torch.tensor(math.sqrt(3 * p.shape[0] / p.numel()), dtype=torch.float32))
            elif name.endswith("weight"):
                p.copy_(1 + x * 0.125)
            else:
                p.copy_(x * 0.125)
    return net


class Block(nn.Module):
    """Two convolutions and a shortcut without weights: every stride-th element, and channels of zeros."""

    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.stride, self.more = stride, cout - cin

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        x = F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.more // 2, self.more - self.more // 2))
        return F.relu(y + x)


class ResNet8(nn.Module):
    """K. He and others, "Deep residual learning for image recognition", section 4.2, with one block a stage."""

    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = nn.Sequential(Block(16, 16, 1))
        self.layer2 = nn.Sequential(Block(16, 32, 2))
        self.layer3 = nn.Sequential(Block(32, 64, 2))
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(x.mean((2, 3)))


def synthetic_cifar(n, seed):
    """The result of data.SyntheticCIFAR."""
    g = torch.Generator().manual_seed(seed)
    draw = lambda low, high, k: torch.randint(low, high, (k,), generator=g)
    classes = draw(0, 10, n)
    y, x = torch.meshgrid(torch.arange(32), torch.arange(32), indexing="ij")
    images = []
    for c in classes.tolist():
        dx, dy = ((1, 0), (0, 1), (1, 1), (1, -1), (2, 1))[c % 5]
        tint = torch.tensor(((4, 2, 1), (1, 2, 4))[c // 5]).reshape(3, 1, 1)
        phase = draw(0, 16, 1).item()
        grain = draw(-48, 49, 3072).reshape(3, 32, 32)
        wave = ((dx * x + dy * y + phase) % 16 - 8).abs() * 16
        images.append((64 + wave * tint // 4 + grain).clamp(0, 255))
    return torch.stack(images).to(torch.uint8), classes


def resnet():
    net = fill(ResNet8()).double()  # in float32 a change of the images by 1e-7 moves later losses by a tenth
    images, classes = synthetic_cifar(64, 5)
    opt = torch.optim.SGD(net.parameters(), 0.02, momentum=0.9, weight_decay=5e-4)
    losses = []
    for i in range(50):
        part = slice(i * 4 % 64, i * 4 % 64 + 4)
        loss = F.cross_entropy(net((images[part].double() / 255 - 0.5) / 0.25), classes[part])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        logits = net((images[:3].double() / 255 - 0.5) / 0.25)
    return {"images": zlib.crc32(images.numpy().tobytes()), "losses": losses, "logits": logits.tolist()}


class Layer(nn.Module):
    """A layer of BERT with Hugging Face's names. Their dots need nested modules in nn.Module."""

    def __init__(self, hidden, heads, inner):
        super().__init__()
        self.heads = heads
        linear, norm = lambda i, o: nn.Linear(i, o), lambda: nn.LayerNorm(hidden, eps=1e-12)
        self.attention = nn.ModuleDict({
            "self": nn.ModuleDict({k: linear(hidden, hidden) for k in ("query", "key", "value")}),
            "output": nn.ModuleDict({"dense": linear(hidden, hidden), "LayerNorm": norm()}),
        })
        self.intermediate = nn.ModuleDict({"dense": linear(hidden, inner)})
        self.output = nn.ModuleDict({"dense": linear(inner, hidden), "LayerNorm": norm()})

    def forward(self, x, mask):
        split = lambda t: t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        s = self.attention["self"]
        q, k, v = (split(s[n](x)) for n in ("query", "key", "value"))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(~mask[:, None, None, :], -math.inf)
        context = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        out = self.attention["output"]
        x = out["LayerNorm"](out["dense"](context) + x)
        y = self.output["dense"](F.gelu(self.intermediate["dense"](x)))
        return self.output["LayerNorm"](y + x)


class BERT(nn.Module):
    """J. Devlin and others, "BERT", and a linear layer on the pooler's result for the first token, or on its state if there is no pooler."""

    def __init__(self, vocabulary, hidden, layers, heads, inner, positions, labels, pooler):
        super().__init__()
        self.bert = nn.ModuleDict({
            "embeddings": nn.ModuleDict({
                "word_embeddings": nn.Embedding(vocabulary, hidden, padding_idx=0),
                "position_embeddings": nn.Embedding(positions, hidden),
                "token_type_embeddings": nn.Embedding(2, hidden),
                "LayerNorm": nn.LayerNorm(hidden, eps=1e-12),
            }),
            "encoder": nn.ModuleDict({"layer": nn.ModuleList(Layer(hidden, heads, inner) for _ in range(layers))}),
        })
        if pooler:
            self.bert["pooler"] = nn.ModuleDict({"dense": nn.Linear(hidden, hidden)})
        self.classifier = nn.Linear(hidden, labels)

    def forward(self, ids, mask):
        e = self.bert["embeddings"]
        x = e["word_embeddings"](ids) + e["position_embeddings"](torch.arange(ids.shape[1])) + e["token_type_embeddings"](torch.zeros_like(ids))
        x = e["LayerNorm"](x)
        for layer in self.bert["encoder"]["layer"]:
            x = layer(x, mask)
        x = x[:, 0]
        if "pooler" in self.bert:
            x = torch.tanh(self.bert["pooler"]["dense"](x))
        return self.classifier(x)


def tweets():
    t = json.loads((HERE / "testdata" / "tweets.json").read_text())
    ids = torch.tensor(t["ids"])
    return ids, ids != 0, torch.tensor(t["labels"]).float()


def bert():
    ids, mask, labels = tweets()
    net = fill(BERT(int(ids.max()) + 1, 32, 2, 4, 64, ids.shape[1], labels=1, pooler=False))
    opt = torch.optim.AdamW(net.parameters(), 1e-3)
    losses = []
    for i in range(50):
        part = slice(i * 8 % len(ids), i * 8 % len(ids) + 8)
        loss = F.binary_cross_entropy_with_logits(net(ids[part], mask[part]).squeeze(1), labels[part])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return {"losses": losses}


def bert_base():
    net = fill(BERT(30522, 768, 12, 12, 3072, 512, labels=2, pooler=True)).eval()
    ids, mask, _ = tweets()
    with torch.no_grad():
        logits = net(ids[:2], mask[:2])
    return {
        "logits": logits.tolist(),
        "weights": sum(p.numel() for p in net.parameters()),
        "names": [[name, list(p.shape)] for name, p in net.named_parameters()],
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    out = {"torch": torch.__version__, "resnet-8": resnet(), "bert": bert(), "bert-base": bert_base()}
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in out.items())
    (HERE / "testdata" / "models.json").write_text("{\n" + lines + "\n}\n")
    for name in ("resnet-8", "bert"):
        print(name, out[name]["losses"][0], out[name]["losses"][-1])
    print("bert-base", out["bert-base"]["weights"], out["bert-base"]["logits"])
