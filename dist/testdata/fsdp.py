"""Steps of PyTorch's fully_shard on two ranks (gloo, CPU), for fsdp_oracle_test.go.

    python fsdp.py FOLDER

For each policy a file holds the first state, and for each step: each rank's batch, the gradients after the reduction, the loss of
each rank, whether the step was skipped, and the scale after it; last the state at the end.
"""
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

STEPS = 3
POLICIES = {
    "float32": MixedPrecisionPolicy(),
    "bfloat16": MixedPrecisionPolicy(param_dtype=torch.bfloat16, output_dtype=torch.float32),
    "bfloat16-float32": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32, output_dtype=torch.float32),
    "float16": MixedPrecisionPolicy(param_dtype=torch.float16, output_dtype=torch.float32),
}


def run(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    for name, policy in POLICIES.items():
        steps(rank, policy, name == "float16", os.path.join(folder, f"{name}.pt"))
    dist.destroy_process_group()


def steps(rank, policy, scaled, path):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
    out = {"before." + n: p.detach().clone() for n, p in net.named_parameters()}
    fully_shard(net[2], mp_policy=policy)
    fully_shard(net, mp_policy=policy)
    opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", enabled=scaled, init_scale=1024.0, growth_interval=2)
    for step in range(STEPS):
        g = torch.Generator().manual_seed(100 * step + rank)
        x, y = torch.randn((4, 6), generator=g), torch.randn((4, 3), generator=g)
        if step == 1 and rank == 1 and scaled:
            y = y * 3e36  # the gradient overflows, on this rank only
        loss = nn.functional.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        grads = {n: p.grad.full_tensor().clone() for n, p in net.named_parameters()}
        scale = scaler.get_scale()
        scaler.step(opt)
        scaler.update()
        every = [None, None]
        dist.all_gather_object(every, {"x": x, "y": y, "loss": loss.detach()})
        for r, values in enumerate(every):
            out.update({f"{step}.{r}.{n}": v for n, v in values.items()})
        out.update({f"{step}.grad.{n}": v for n, v in grads.items()})
        out[f"{step}.scale"] = torch.tensor(scaler.get_scale())
        out[f"{step}.skipped"] = torch.tensor(float(scaled and scaler.get_scale() < scale))
        opt.zero_grad()
    out.update({"after." + n: p.full_tensor().detach().clone() for n, p in net.named_parameters()})
    if rank == 0:
        torch.save(out, path)


if __name__ == "__main__":
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("MASTER_PORT", "29533"))
    mp.spawn(run, (sys.argv[1],), 2)
