"""Writes classifier.json: the losses and learning rates of a classifier with dropout, two groups and a schedule, all drawn from one
seed. Run: python3 classifier.py > classifier.json"""

import json
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(5)
body = nn.Sequential(nn.Linear(6, 32), nn.SiLU(), nn.Dropout(0.2), nn.Linear(32, 16), nn.LeakyReLU(0.1), nn.Dropout(0.1))
head = nn.Linear(16, 4)
nn.init.kaiming_normal_(head.weight, nonlinearity="relu")
nn.init.zeros_(head.bias)
x = torch.randn(48, 6)
y = torch.randint(0, 4, (48,))
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 0.5, 1.5]), label_smoothing=0.1, ignore_index=3)
opt = torch.optim.AdamW([{"params": body.parameters()}, {"params": head.parameters(), "weight_decay": 0.0}], lr=0.01, amsgrad=True)
schedule = torch.optim.lr_scheduler.OneCycleLR(opt, 0.02, total_steps=60)
rows = []
for _ in range(50):
    loss = criterion(head(body(x)), y)
    loss.backward()
    norm = nn.utils.clip_grad_norm_([*body.parameters(), *head.parameters()], 0.5)
    rows.append([loss.item(), norm.item(), opt.param_groups[1]["lr"], opt.param_groups[1]["betas"][0]])
    opt.step()
    schedule.step()
    opt.zero_grad()
body.eval()
rows.append([criterion(head(body(x)), y).item(), 0, 0, 0])
print(json.dumps({"torch": torch.__version__, "rows": rows}))
