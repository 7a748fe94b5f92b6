"""Writes overflow_edge.json: an autoencoder trained in float16 until one decision of the loss scale hangs on the rounding of a gradient.

Run: python3 overflow_edge.py   Needs torch. scales are those before each step; largest is the largest magnitude of a scaled gradient in
the step before the decision, computed in float64 from the same weights.
"""

import copy
import json
import pathlib

import torch
from torch import nn

DECISION = 36
torch.set_num_threads(1)
torch.manual_seed(126)
net = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 64))
x = torch.randn(32, 64)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=65536.0, growth_interval=3)
scales = []
for step in range(DECISION + 2):
    scales.append(scaler.get_scale())
    if step == DECISION:
        exact = copy.deepcopy(net).double()
        exact.zero_grad()
        (((exact(x.double()) - x.double()) ** 2).mean() * scales[-1]).backward()
        largest = max(p.grad.abs().max().item() for p in exact.parameters())
    with torch.autocast("cpu", dtype=torch.float16):
        y = net(x)
    opt.zero_grad()
    scaler.scale(((y.float() - x) ** 2).mean()).backward()
    scaler.step(opt)
    scaler.update()
text = json.dumps({"torch": torch.__version__, "scales": scales, "largest": largest})
pathlib.Path(__file__).with_name("overflow_edge.json").write_text(text + "\n")
