"""Writes loader.json: orders that torch.utils.data gives. Run: python3 loader.py >
loader.json

Made with torch 2.15."""

import json
import torch
from torch.utils import data


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def epochs(loader, n=3):
    return [[b.tolist() for b in loader] for _ in range(n)]


out = {"torch": torch.__version__}
rows = data.TensorDataset(torch.arange(23))
flat = list(range(23))

out["shuffle"] = epochs(data.DataLoader(flat, batch_size=5, shuffle=True, generator=seeded(1)))
out["drop_last"] = epochs(data.DataLoader(flat, batch_size=5, shuffle=True, drop_last=True, generator=seeded(2**33 + 3)))

torch.manual_seed(3)
out["default"] = epochs(data.DataLoader(flat, batch_size=6, shuffle=True))
out["default_after"] = torch.rand(2).tolist()

torch.manual_seed(4)
list(data.DataLoader(flat, batch_size=6))
out["in_order_after"] = torch.rand(2).tolist()

g = seeded(5)
sampler = data.RandomSampler(flat, replacement=True, num_samples=70, generator=g)
out["replacement"] = [list(sampler), list(sampler)]

g = seeded(6)
sampler = data.SubsetRandomSampler([3, 1, 4, 15, 9, 2, 6], generator=g)
out["subset"] = [list(sampler), list(sampler)]

weights = [((7 * i) % 11) / 3 for i in range(300)]
out["weights"] = weights
g = seeded(7)
sampler = data.WeightedRandomSampler(weights, 200, True, generator=g)
out["weighted"] = [list(sampler), list(sampler)]
g = seeded(8)
sampler = data.WeightedRandomSampler(weights, 200, False, generator=g)
out["weighted_without"] = [list(sampler), list(sampler)]

g = seeded(9)
out["batches"] = list(data.BatchSampler(data.RandomSampler(flat, generator=g), 4, True))

out["split"] = [p.indices for p in data.random_split(rows, [10, 13], generator=seeded(10))]
out["split_shares"] = [p.indices for p in data.random_split(rows, [0.3, 0.3, 0.4], generator=seeded(11))]

print(json.dumps(out))
