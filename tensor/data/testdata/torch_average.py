"""Writes torch_average.json: PyTorch's AveragedModel after three updates, and its state after two more. Run: python3 torch_average.py

Each update follows the addition of 0.25 to all parameters and running means."""

import base64
import io
import json
import pathlib

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


def encoded(v):
    f = io.BytesIO()
    torch.save(v, f)
    return base64.b64encode(f.getvalue()).decode()


out = {}
for name, average in {"swa": {}, "ema": {"multi_avg_fn": get_ema_multi_avg_fn(0.75)}}.items():
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    model = AveragedModel(net, **average)

    def update():
        with torch.no_grad():
            for t in net.state_dict().values():
                if t.is_floating_point():
                    t += 0.25
        model.update_parameters(net)

    for _ in range(3):
        update()
    saved = encoded({"net": net.state_dict(), "average": model.state_dict()})
    update()
    update()
    out[name] = {"file": saved, "after": encoded(model.state_dict())}
pathlib.Path(__file__).with_name("torch_average.json").write_text(json.dumps({"torch": torch.__version__, "cases": out}) + "\n")
