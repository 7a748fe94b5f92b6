"""Writes generator.json: what PyTorch's CPU generator gives. Run: python3 generator.py > generator.json

Made with PyTorch 2.15 on a processor with AVX-512; AVX2 gives the same numbers. Without either, normal numbers differ in
the last bits. A row is a seed, draws one after another, and for each the CRC-32 of its bytes and its last values.
"""

import json
import zlib

import torch

DRAWS = {
    "rand": lambda n: torch.rand(n),
    "randn": lambda n: torch.randn(n),
    "normal": lambda n: torch.empty(n).normal_(1.3, 0.7),
    "uniform": lambda n: torch.empty(n).uniform_(-0.3, 1.1),
    "bernoulli": lambda n: torch.empty(n).bernoulli_(0.7),
    "perm": lambda n: torch.randperm(n),
    "randint": lambda n: torch.randint(-5, n, (n,)),
    "randint wide": lambda n: torch.randint(-5, 1 << 40, (n,)),
    "dropout": lambda n: (torch.nn.functional.dropout(torch.ones(n), 0.3) != 0).float(),
    "linear": lambda n: torch.cat([p.detach().flatten() for p in torch.nn.Linear(n, 3).parameters()]),
}
SEQUENCES = [[[name, n]] for name in DRAWS for n in (1, 5, 16, 37, 1000)]
SEQUENCES += [
    [["randn", 3], ["rand", 3], ["randn", 4]],  # a normal number is left over
    [["randn", 37], ["rand", 2], ["perm", 20], ["randn", 15]],
    [["rand", 700], ["bernoulli", 9], ["normal", 5], ["normal", 50], ["rand", 1]],
    [["randn", 100001]],
    [["rand", 100001]],
    [["perm", 30000]],
]


def row(seed, sequence):
    torch.manual_seed(seed)
    draws = []
    for name, n in sequence:
        x = DRAWS[name](n)
        draws.append({"what": name, "n": n, "crc": zlib.crc32(x.numpy().tobytes()), "last": [float(v) for v in x.flatten()[-3:]]})
    return {"seed": seed, "draws": draws}


rows = [row(seed, s) for seed in (0, 1, 42, 2**32 + 5) for s in SEQUENCES]
print('{"torch": "%s", "rows": [\n%s\n]}' % (torch.__version__, ",\n".join(map(json.dumps, rows))))
