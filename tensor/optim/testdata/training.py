"""Writes training.json: the losses of a small MLP in PyTorch. Run: python3 training.py > training.json

Made with torch 1.13.1, float32, on the CPU."""

import json
import torch

torch.manual_seed(1)
net = torch.nn.Sequential(
    torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4))
data = [torch.randn(10, 8) for _ in range(5)]
targets = [torch.randn(10, 4) for _ in range(5)]
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
losses = []
for epoch in range(4):
    for x, y in zip(data, targets):
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        opt.zero_grad()
        losses.append(loss.item())
print(json.dumps(losses))
