"""Steps of PyTorch's DistributedDataParallel on two ranks (gloo, CPU), for oracle_test.go.

    python ddp.py FOLDER

For each model and mode a file holds, for each step: the batches, the state before the step, the scaled gradients of each rank
alone, the gradients after the reduction, whether the step was skipped, and the scale after it.
"""
import copy
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

STEPS = 3


class Head(nn.Module):
    """The mean over time of a transformer's output, and a linear layer."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.encoder(x).mean(1))


def model(kind):
    torch.manual_seed(1)
    if kind == "mlp":
        return nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3)), (4, 6)
    if kind == "cnn":
        return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)), (4, 1, 6, 6)
    return Head(), (4, 5, 8)


HOOKS = {"float16": default_hooks.fp16_compress_hook, "bfloat16": default_hooks.bf16_compress_hook}


def run(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    for kind in ("mlp", "cnn", "transformer"):
        for mode in ("float32", "float16", "float16-hook", "bfloat16", "bfloat16-hook"):
            steps(rank, kind, mode, os.path.join(folder, f"{kind}-{mode}.pt"))
    dist.destroy_process_group()


def steps(rank, kind, mode, path):
    dtype, _, hook = mode.partition("-")
    net, shape = model(kind)
    alone = copy.deepcopy(net)
    ddp = DistributedDataParallel(net)
    if hook:
        ddp.register_comm_hook(None, HOOKS[dtype])
    opt = torch.optim.SGD(net.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu", enabled=dtype == "float16", init_scale=1024.0, growth_interval=2)
    out = {}

    def backward(m, x, y):
        with torch.autocast("cpu", dtype=getattr(torch, dtype), enabled=dtype != "float32"):
            loss = nn.functional.mse_loss(m(x).float(), y)
        scaler.scale(loss).backward()

    for step in range(STEPS):
        g = torch.Generator().manual_seed(100 * step + rank)
        x, y = torch.randn(shape, generator=g), torch.randn((4, 3), generator=g)
        if step == 1 and rank == 1 and dtype == "float16":
            y = y * 3e36  # the gradient overflows, on this rank only
        alone.load_state_dict(net.state_dict())
        alone.zero_grad()
        backward(alone, x, y)
        local = {n: p.grad.clone() for n, p in alone.named_parameters()}
        mine = {"x": x, "y": y, **{"local." + n: g for n, g in local.items()}}
        both = [None, None]
        dist.all_gather_object(both, mine)
        for r, values in enumerate(both):
            for n, v in values.items():
                out[f"{step}.{r}.{n}"] = v
        for n, v in net.state_dict().items():
            out[f"{step}.state.{n}"] = v.clone()
        opt.zero_grad()
        backward(ddp, x, y)
        for n, p in net.named_parameters():
            out[f"{step}.grad.{n}"] = p.grad.clone()
        before = [p.detach().clone() for p in net.parameters()]
        scaler.step(opt)
        scaler.update()
        skipped = all(torch.equal(a, b) for a, b in zip(before, net.parameters()))
        out[f"{step}.skipped"] = torch.tensor(float(skipped))
        out[f"{step}.scale"] = torch.tensor(float(scaler.get_scale()))
    if rank == 0:
        torch.save(out, path)


if __name__ == "__main__":
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29611")
    mp.spawn(run, (sys.argv[1],), nprocs=2)
