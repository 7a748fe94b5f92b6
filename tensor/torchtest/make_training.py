"""Writes testdata/training.json: losses of small networks that PyTorch trains. Run: python3 make_training.py

Only the losses are kept: the generators are equal, so that a seed gives the same weights and data.
"""

import json
import pathlib

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)


def train(net, opt, loss, batches, steps=50):
    """The loss of each step, cycling through the batches."""
    losses = []
    for i in range(steps):
        x, y = batches[i % len(batches)]
        opt.zero_grad()
        e = loss(net(x), y)
        e.backward()
        opt.step()
        losses.append(e.item())
    return losses


def mlp():
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))
    batches = [(torch.randn(20, 16), torch.randn(20, 4)) for _ in range(5)]
    return net, batches


def mlp_sgd():
    net, batches = mlp()
    return train(net, torch.optim.SGD(net.parameters(), 0.1), F.mse_loss, batches)


def mlp_adamw():
    net, batches = mlp()
    return train(net, torch.optim.AdamW(net.parameters(), 0.01), F.mse_loss, batches)


def cnn_momentum():
    torch.manual_seed(2)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(16, 10),
    )
    batches = [(torch.randn(8, 3, 8, 8), torch.randint(0, 10, (8,))) for _ in range(4)]
    opt = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9, weight_decay=5e-4)
    losses = train(net, opt, F.cross_entropy, batches)
    net.eval()  # the running statistics are part of what is learnt
    return losses + [F.cross_entropy(net(batches[0][0]), batches[0][1]).item()]


class Classifier(nn.Module):
    """A tiny transformer: embedding, encoder layers, the mean over positions, a linear layer."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        layers = [nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, activation="gelu", batch_first=True) for _ in range(2)]
        self.layers = nn.ModuleList(layers)
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        x = self.embedding(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


def transformer_adamw():
    torch.manual_seed(3)
    net = Classifier()
    batches = [(torch.randint(0, 50, (8, 10)), torch.randint(0, 3, (8,))) for _ in range(4)]
    return train(net, torch.optim.AdamW(net.parameters(), 1e-3), F.cross_entropy, batches)


RUNS = {"mlp, sgd": mlp_sgd, "mlp, adamw": mlp_adamw, "cnn, momentum": cnn_momentum, "transformer, adamw": transformer_adamw}

if __name__ == "__main__":
    runs = ",\n".join(f"{json.dumps(name)}: {json.dumps(f())}" for name, f in RUNS.items())
    path = pathlib.Path(__file__).resolve().parent / "testdata" / "training.json"
    path.write_text('{"torch": "%s", "losses": {\n%s\n}}\n' % (torch.__version__, runs))
    print(path.read_text())
