"""Writes printing.json: tensors of all dtypes and magnitudes, and how PyTorch prints them.

Run: python3 printing.py   Needs torch. A tensor is given by its numbers, as text, or by the first one and
the step to the next.
"""

import json
import pathlib

import torch

torch.set_num_threads(1)
g = torch.Generator().manual_seed(1)
FLOATS = [torch.float32, torch.float16, torch.bfloat16, torch.float64]
CASES = []


def show(data, dtype, shape=None, ramp=None):
    """data is a flat list, or None for ramp's numbers."""
    if ramp:
        n = 1
        for s in shape:
            n *= s
        x = (ramp[0] + ramp[1] * torch.arange(n, dtype=torch.float64)).to(dtype).reshape(shape)
    else:
        x = torch.tensor(data, dtype=torch.float64).to(dtype).reshape([len(data)] if shape is None else shape)
    name = str(dtype).removeprefix("torch.")
    case = {"dtype": name, "shape": list(x.shape), "want": str(x).replace("dtype=torch.", "dtype=")}
    if ramp:
        case["ramp"] = ramp
    else:
        case["data"] = [repr(v) for v in data]
    CASES.append(case)


inf, nan = float("inf"), float("nan")
LISTS = [
    [0.1], [1.0], [1.0, 2.0, -3.0], [1.5, -2.0, 300.0], [1e-5, 1.0], [0.0, 0.0], [-0.0], [inf, nan, 1.0], [inf, 0.0], [inf, 1.5, -inf], [nan], [nan, 0.25],
    [1e-4, 1.0], [9e-5, 0.5], [1000.0, 1.0], [1001.0, 1.0], [1001.0, 1.5], [1e5, 1.0], [1e6, 1.0], [1e8, 1e8], [2e8, 1e8], [65504.0, 1.0], [12345.678, 0.5],
    [0.9999, 1.0], [0.99999, 1.5], [123.456, 0.001], [-1e-8, 3.0], [1e-3, 1e3], [100000.0, 99999.0], [0.5, -0.5, 0.0, 10.25], [1e30, -1e30], [6e-8, 1.0], [3.0, 0.3333333333],
]
for dtype in FLOATS:
    for data in LISTS:
        show(data, dtype)
    for shape in [(), (1,), (2, 3), (2, 1, 2), (1, 1, 1, 1), (3, 7), (2, 2, 2, 2), (0,), (2, 0), (0, 3, 1), (20,), (2, 30), (3, 17)]:
        n = 1
        for s in shape:
            n *= s
        for scale in (1.0, 1e-3, 1e4, 37.0):
            show((torch.randn(n, generator=g, dtype=torch.float64) * scale).tolist(), dtype, shape)
        show(torch.randint(-99, 1000, (n,), generator=g).tolist(), dtype, shape)
    for shape, ramp in [((1001,), (0.0, 1.0)), ((40, 30), (1.0, 0.0)), ((1100,), (0.0, 0.01)), ((3, 400), (-5.0, 0.25)), ((7, 8, 20), (0.0, 1.0)), ((1000,), (0.0, 1.0)), ((2, 3, 200), (1e-6, 1e-3)), ((11, 10, 10), (0.0, 0.5)), ((2000, 1), (0.0, 1.0)), ((1, 2000), (0.0, 0.125))]:
        show(None, dtype, shape, ramp)
for dtype in [torch.int64, torch.int32, torch.uint8]:
    for data in [[0, 1, 2], [7], [1, 20, 300], [0] * 40, [100, 200], list(range(64)), [255, 0]]:
        show(data, dtype)
    for shape in [(), (2, 3), (2, 2, 3), (0,), (0, 2), (5, 12)]:
        n = 1
        for s in shape:
            n *= s
        show(torch.randint(0, 120, (n,), generator=g).tolist(), dtype, shape)
    for shape in [(1001,), (40, 30), (7, 8, 20)]:
        show(None, dtype, shape, (0.0, 0.0 if dtype == torch.uint8 else 1.0))
show([-5, 3, -1000000], torch.int64)
for data, shape in [([1, 0], None), ([1], ()), ([1, 0, 1, 1, 0, 0], (2, 3)), ([], None), ([0] * 30, None), ([0] * 60, (2, 30))]:
    show(data, torch.bool, shape)
show(None, torch.bool, (1001,), (0.0, 1.0))
for dtype in [torch.float8_e4m3fn, torch.float8_e5m2]:
    for data in [[1.0, 448.0], [0.1, -2.0], [0.001953125, 1.0], [nan, 2.0]]:
        show(data, dtype)

for dtype in [torch.int16, torch.int8]:
    for data in [[0, 1, 2], [7], [1, -20, 100], [0] * 40, [-128, 127], list(range(-32, 32))]:
        show(data, dtype)
    for shape in [(), (2, 3), (2, 2, 3), (0,), (0, 2), (5, 12)]:
        n = 1
        for s in shape:
            n *= s
        show(torch.randint(-120, 120, (n,), generator=g).tolist(), dtype, shape)
    for shape in [(1001,), (40, 30), (7, 8, 20)]:
        show(None, dtype, shape, (0.0, 1.0 if dtype == torch.int16 else 0.0))

path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps({"torch": torch.__version__, "cases": CASES}, indent=0, separators=(",", ":")) + "\n")
print(len(CASES), "tensors")
