"""Writes init.json: the values of torch.nn.init from seed 3. Run: python3 init.py > init.json"""

import json
import torch
from torch.nn import init

torch.set_num_threads(1)
SHAPES = [[3, 5], [7, 3], [4, 3, 2], [4, 2, 3, 3], [1, 1], [20, 2]]
cases = {
    "uniform": lambda t: init.uniform_(t, -0.5, 2),
    "normal": lambda t: init.normal_(t, 1, 0.5),
    "trunc_normal": lambda t: init.trunc_normal_(t, 0.5, 2, -1, 2),
    "trunc_normal far out": lambda t: init.trunc_normal_(t, 0.5, 2, 2, 3),
    "constant": lambda t: init.constant_(t, 0.3),
    "xavier_uniform": lambda t: init.xavier_uniform_(t, 1.5),
    "xavier_normal": lambda t: init.xavier_normal_(t),
    "kaiming_uniform": lambda t: init.kaiming_uniform_(t),
    "kaiming_uniform of layers": lambda t: init.kaiming_uniform_(t, a=5**0.5),
    "kaiming_normal": lambda t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"),
    "orthogonal": lambda t: init.orthogonal_(t, 2),
}
of = {"eye": (init.eye_, 2, 2), "sparse": (lambda t: init.sparse_(t, 0.3, 2), 2, 2), "dirac": (init.dirac_, 3, 5), "dirac in groups": (lambda t: init.dirac_(t, 2), 3, 5)}
out = {"torch": torch.__version__, "cases": []}
for shape in SHAPES:
    here = dict(cases)
    for name, (f, low, high) in of.items():
        if low <= len(shape) <= high:
            here[name] = f
    for name, f in here.items():
        torch.manual_seed(3)
        t = torch.full(shape, float("nan"))
        f(t)
        # The next number shows how many have been drawn.
        out["cases"].append({"name": name, "shape": shape, "data": t.flatten().tolist(), "next": torch.rand(1).item()})
print(json.dumps(out, separators=(",", ":")))
