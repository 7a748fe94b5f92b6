"""Writes promotion.json: the dtypes that PyTorch's operations give for operands of all dtypes.

Run: python3 promotion.py   Needs torch. A letter stands for a dtype, - for an error. Rows are the
first operand: every dtype with dimensions, then every one without; so are columns. Of a number, the
only column is it.
"""

import json
import pathlib
import warnings

import torch

warnings.simplefilter("ignore")
torch.set_num_threads(1)
LETTERS = {
    torch.bool: "b", torch.uint8: "u", torch.int8: "c", torch.int16: "s", torch.int32: "i", torch.int64: "l",
    torch.float16: "h", torch.bfloat16: "g", torch.float32: "f", torch.float64: "d",
}
OPERANDS = [torch.ones(shape, dtype=d) for shape in ((2,), ()) for d in LETTERS]
PAIRS = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "maximum": torch.maximum, "minimum": torch.minimum,
    "fmod": torch.fmod, "remainder": torch.remainder, "floor_divide": torch.floor_divide,
    "trunc_divide": lambda x, y: torch.div(x, y, rounding_mode="trunc"), "pow": torch.pow, "atan2": torch.atan2, "hypot": torch.hypot,
    "copysign": torch.copysign, "fmax": torch.fmax, "xlogy": torch.xlogy, "logaddexp": torch.logaddexp, "eq": torch.eq, "lt": torch.lt,
    "where": lambda x, y: torch.where(torch.tensor([True, False]), x, y), "cat": lambda x, y: torch.cat([x, y]), "stack": lambda x, y: torch.stack([x, y]),
    "logical_and": torch.logical_and, "bitwise_and": torch.bitwise_and, "left_shift": torch.bitwise_left_shift, "result_type": torch.result_type, "promote_types": lambda x, y: torch.promote_types(x.dtype, y.dtype),
    "addcmul": lambda x, y: torch.addcmul(x, y, y), "addcdiv": lambda x, y: torch.addcdiv(x, y, y), "clamp": lambda x, y: torch.clamp(x, y, y),
    "add_": lambda x, y: x.clone().add_(y), "sub_": lambda x, y: x.clone().sub_(y), "mul_": lambda x, y: x.clone().mul_(y), "div_": lambda x, y: x.clone().div_(y),
    "copy_": lambda x, y: x.clone().copy_(y),
}
NUMBERS = {
    "add": torch.add, "sub": torch.sub, "rsub": torch.rsub, "mul": torch.mul, "div": torch.div, "pow": torch.pow, "rpow": lambda x, c: c**x,
    "eq": torch.eq, "clamp": lambda x, c: torch.clamp(x, c, c), "add_": lambda x, c: x.clone().add_(c), "mul_": lambda x, c: x.clone().mul_(c), "fill_": lambda x, c: x.clone().fill_(c),
}
SINGLES = {
    op: getattr(torch, op) for op in (
        "neg abs exp log log1p sqrt reciprocal tanh erf sigmoid relu sin cos tan asin acos atan sinh cosh asinh acosh atanh exp2 expm1 log2 log10 "
        "erfc erfinv rsqrt floor ceil trunc round sign square sinc deg2rad logit isnan isinf isfinite signbit logical_not bitwise_not "
        "sum prod mean var logsumexp nansum all any count_nonzero amax"
    ).split()
} | {"entr": torch.special.entr, "ndtr": torch.special.ndtr, "cumsum": lambda x: x.cumsum(0), "cumprod": lambda x: x.cumprod(0), "logsumexp": lambda x: x.logsumexp(0), "softmax": lambda x: x.softmax(0)}


def letter(f, *operands):
    try:
        y = f(*operands)
    except Exception:
        return "-"
    return LETTERS[y if isinstance(y, torch.dtype) else y.dtype]


table = {
    "torch": torch.__version__,
    "letters": {c: str(d).removeprefix("torch.") for d, c in LETTERS.items()},
    "pairs": {op: ["".join(letter(f, x, y) for y in OPERANDS) for x in OPERANDS] for op, f in PAIRS.items()},
    "2": {op: "".join(letter(f, x, 2) for x in OPERANDS) for op, f in NUMBERS.items()},
    "0.5": {op: "".join(letter(f, x, 0.5) for x in OPERANDS) for op, f in NUMBERS.items()},
    "singles": {op: "".join(letter(f, x) for x in OPERANDS) for op, f in SINGLES.items()},
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(table, indent=1) + "\n")
