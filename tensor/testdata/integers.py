"""Writes integers.json: what PyTorch's operations give for integers of every dtype, at the edges of their ranges.

Run: python3 integers.py   Needs torch. A result is its dtype and its elements in row-major order, or null for an error.
"""

import json
import pathlib
import warnings

import torch

warnings.simplefilter("ignore")
torch.set_num_threads(1)
DTYPES = ["int8", "int16", "uint8", "int32", "int64"]
INDEX = torch.tensor([[4, 0, 2], [1, 1, 5]])


def edges(dtype, turn=0):
    """Twelve numbers, those at the ends of the range among them."""
    info = torch.iinfo(dtype)
    x = torch.tensor([info.min, info.max, info.min + 1, info.max - 1, 0, 1, 2, 3, 5, 7, 100, 127], dtype=dtype)
    if dtype != torch.uint8:
        x[7:10] = -x[7:10]
    return x.roll(turn)


def divisors(dtype):
    """Numbers but 0, and but -1, by which the least number cannot be divided."""
    y = edges(dtype, 5)
    y[(y == 0) | (y.long() == -1)] = 3
    return y


def amounts(dtype):
    """Distances of shifts, some of them too far."""
    return torch.tensor([0, 1, 2, 3, 7, 8, 9, 15, 16, 31, 33, 64], dtype=dtype)


PAIRS = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "maximum": torch.maximum, "minimum": torch.minimum,
    "and": torch.bitwise_and, "or": torch.bitwise_or, "xor": torch.bitwise_xor, "logical_xor": torch.logical_xor,
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge,
    "where": lambda x, y: torch.where(x > y, x, y), "cat": lambda x, y: torch.cat([x, y]), "stack": lambda x, y: torch.stack([x, y], 1),
    "add_": lambda x, y: x.clone().add_(y), "mul_": lambda x, y: x.clone().mul_(y), "sub_": lambda x, y: x.clone().sub_(y),
    "copy_": lambda x, y: x.clone().copy_(y),
}
QUOTIENTS = {
    "div": torch.div, "floor_divide": torch.floor_divide, "trunc_divide": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "fmod": torch.fmod, "remainder": torch.remainder,
}
SHIFTS = {"left": torch.bitwise_left_shift, "right": torch.bitwise_right_shift}
SAME = {
    "mm": lambda x, y: x.reshape(3, 4) @ y.reshape(4, 3), "dot": torch.dot, "outer": torch.outer,
    "pow": lambda x, y: torch.pow(x, torch.arange(12).to(x.dtype)),
    "masked_fill": lambda x, y: x.masked_fill(y > 3, 9), "masked_select": lambda x, y: x.masked_select(y > 3),
    "addcmul": lambda x, y: torch.addcmul(x, y, y), "clamp": lambda x, y: torch.clamp(x, torch.minimum(x, y), y),
    "scatter": lambda x, y: x.reshape(2, 6).scatter(1, INDEX, y.reshape(2, 6)), "scatter_add": lambda x, y: x.reshape(2, 6).scatter_add(1, INDEX, y.reshape(2, 6)),
    "amax_reduce": lambda x, y: x.reshape(2, 6).scatter_reduce(1, INDEX, y.reshape(2, 6), "amax"),
    "prod_reduce": lambda x, y: x.reshape(2, 6).scatter_reduce(1, INDEX, y.reshape(2, 6), "prod"),
    "index_add": lambda x, y: x.index_add(0, torch.tensor([3, 3, 0]), y[:3]),
    "index_copy": lambda x, y: x.index_copy(0, torch.tensor([3, 5, 0]), y[:3]),
}
SINGLES = {
    "neg": torch.neg, "abs": torch.abs, "sign": torch.sign, "square": torch.square, "bitwise_not": torch.bitwise_not, "relu": torch.relu,
    "logical_not": torch.logical_not, "floor": torch.floor, "exp": lambda x: torch.exp(x.clamp(-2, 2)), "sqrt": lambda x: torch.sqrt(x.clamp(0, 16)),
    "sum": torch.sum, "prod": torch.prod, "sum of rows": lambda x: x.reshape(3, 4).sum(1), "prod of columns": lambda x: x.reshape(3, 4).prod(0),
    "amax": torch.amax, "amin": torch.amin, "amax of rows": lambda x: x.reshape(3, 4).amax(1), "amin of columns": lambda x: x.reshape(3, 4).amin(0),
    "argmax": torch.argmax, "argmin": torch.argmin, "argmax of rows": lambda x: x.reshape(3, 4).argmax(1),
    "any": lambda x: torch.any(x != 0), "all": lambda x: torch.all(x != 0), "count_nonzero": torch.count_nonzero, "nonzero": torch.nonzero,
    "cumsum": lambda x: x.cumsum(0), "cumprod": lambda x: x.cumprod(0), "cummax": lambda x: x.cummax(0)[0], "cummin places": lambda x: x.cummin(0)[1],
    "sort": lambda x: x.sort(stable=True)[0], "sort places": lambda x: x.sort(stable=True)[1], "sort down": lambda x: x.sort(descending=True, stable=True)[0],
    "topk": lambda x: x.topk(4)[0], "unique": torch.unique, "unique counts": lambda x: torch.unique(torch.cat([x, x[3:6]]), return_counts=True)[1],
    "bincount": lambda x: torch.bincount(x[(x >= 0) & (x < 6)]), "median": torch.median,
    "gather": lambda x: x.reshape(2, 6).gather(1, INDEX), "index_select": lambda x: x.index_select(0, torch.tensor([11, 0, 5])),
    "take": lambda x: x[torch.tensor([3, -1])], "mask": lambda x: x[x > 1], "flip": lambda x: x.flip(0), "roll": lambda x: x.roll(3), "tril": lambda x: x.reshape(3, 4).tril(),
    "transposed": lambda x: x.reshape(3, 4).t().contiguous(), "diag": lambda x: x[:3].diag(), "repeat": lambda x: x.repeat(2), "diff": torch.diff,
    "to int8": lambda x: x.to(torch.int8), "to int16": lambda x: x.to(torch.int16), "to uint8": lambda x: x.to(torch.uint8), "to int32": lambda x: x.to(torch.int32),
    "to int64": lambda x: x.to(torch.int64), "to bool": lambda x: x.to(torch.bool), "to float32": lambda x: x.to(torch.float32), "to float64": lambda x: x.to(torch.float64),
    "ones_like": torch.ones_like, "zeros_like": torch.zeros_like, "pad": lambda x: torch.nn.functional.pad(x.reshape(3, 4), (1, 2), value=7),
    "one_hot": lambda x: torch.nn.functional.one_hot(x[4:7].long(), 4).to(x.dtype),
}
NUMBERS = {
    "add": lambda x, c: x + c, "rsub": lambda x, c: c - x, "mul": lambda x, c: x * c, "div": lambda x, c: x / c,
    "eq": lambda x, c: x == c, "lt": lambda x, c: x < c, "ge": lambda x, c: x >= c, "clamp": lambda x, c: x.clamp(c, c + 2),
    "add_": lambda x, c: x.clone().add_(c), "mul_": lambda x, c: x.clone().mul_(c), "fill_": lambda x, c: x.clone().fill_(c),
}

LIMITS = [-1, -255, -256, -128, -129, 127, 128, 255, 256, 32767, 32768, -32768, -32769, 2147483647, 3e9, -3e9, 1e19, -1e19, 2.7, 127.9]
FILLS = {
    "full": lambda x, c: torch.full((1,), c, dtype=x.dtype), "fill_": lambda x, c: x[:1].clone().fill_(c), "masked_fill": lambda x, c: x[:2].masked_fill(x[:2] > x[0], c),
    "scatter": lambda x, c: x[:2].scatter(0, torch.tensor([0]), c), "index_fill": lambda x, c: x[:2].index_fill(0, torch.tensor([0]), c),
}


def result(f, *operands):
    try:
        y = f(*operands)
    except RuntimeError:  # the number is beyond the dtype's range
        return None
    return {"dtype": str(y.dtype).removeprefix("torch."), "values": [v if isinstance(v, bool) else str(v) if isinstance(v, int) else "NaN" if v != v else v for v in y.flatten().tolist()]}


named = {name: getattr(torch, name) for name in DTYPES}
rows = []


def add(group, table, x, *operands):
    for op, f in table.items():
        rows.append({"group": group, "op": op, "operands": [x] + [str(o) for o in operands if isinstance(o, str)], "number": next((o for o in operands if not isinstance(o, str)), 0),
                     "want": result(f, *operands_of(group, x, *operands))})


def operands_of(group, x, *others):
    first = edges(named[x])
    if group in ("numbers", "limits"):
        return first, others[0]
    second = {"pairs": lambda d: edges(d, 5), "same": lambda d: edges(d, 5), "quotients": divisors, "shifts": amounts}
    return [first] + [second[group](named[o]) for o in others]


for x in DTYPES:
    add("singles", SINGLES, x)
    add("same", SAME, x, x)
    add("shifts", SHIFTS, x, x)
    for y in DTYPES:
        add("pairs", PAIRS, x, y)
        add("quotients", QUOTIENTS, x, y)
    for c in LIMITS:
        add("limits", FILLS, x, c)
    for c in (3, -7, 100):
        if x != "uint8" or c >= 0:  # torch compares uint8 with c modulo 256
            add("numbers", NUMBERS, x, c)
path = pathlib.Path(__file__).with_suffix(".json")
lines = ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows)
path.write_text('{"torch": "%s", "rows": [\n%s\n]}\n' % (torch.__version__, lines))
print(len(rows), "results")
