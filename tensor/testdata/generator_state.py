"""Writes generator_state.json: states of PyTorch's CPU generator and what it gives
next. Run: python3 generator_state.py > generator_state.json

Made with torch 2.15."""

import base64
import hashlib
import json
import torch

DRAWS = {
    "nothing": lambda g: None,
    "rand 1": lambda g: torch.rand(1, generator=g),
    "rand 624": lambda g: torch.rand(624, generator=g),
    "rand 625": lambda g: torch.rand(625, generator=g),
    "randn 3": lambda g: torch.randn(3, generator=g),
    "randn 40": lambda g: torch.randn(40, generator=g),
}

cases = []
for seed in (0, 5, 2**40 + 7):
    for name, draw in DRAWS.items():
        g = torch.Generator().manual_seed(seed)
        draw(g)
        state = g.get_state().numpy().tobytes()
        cases.append({
            "seed": seed,
            "draw": name,
            "sha256": hashlib.sha256(state).hexdigest(),
            "state": base64.b64encode(state).decode() if seed == 5 and name == "randn 3" else "",
            "randn": torch.randn(3, generator=g).tolist(),
            "random": torch.empty((), dtype=torch.int64).random_(generator=g).item(),
            "randint": torch.randint(1000, (4,), generator=g).tolist(),
            "double": torch.rand((), dtype=torch.float64, generator=g).item(),
        })
print(json.dumps({"torch": torch.__version__, "cases": cases}))
