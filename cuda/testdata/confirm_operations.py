"""Compares tensor/torchtest/testdata, halfnote's fixtures of operations, with torch's half kernels on the device.

The fixtures are computed in float32 and rounded once. Here the same cases run in torch's float16
and bfloat16, which shows the effect of the kernels' summation orders, roundings and saved values.
"""

import collections
import importlib
import json
import pathlib
import struct
import sys

import torch

from confirm_numbers import ulps

TORCHTEST = pathlib.Path(__file__).resolve().parents[2] / "tensor" / "torchtest"
DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2,
    "I64": torch.int64, "I32": torch.int32, "U8": torch.uint8, "BOOL": torch.bool,
}
RUNS = "float16", "bfloat16"
RANDOM = "dropout", "sample", "drawn"  # these depend on the generator


def load(path):
    """Returns the tensors of a safetensors file by name."""
    data = path.read_bytes()
    (n,) = struct.unpack_from("<Q", data)
    header, data = json.loads(data[8 : 8 + n]), bytearray(data[8 + n :])
    out = {}
    for name, t in header.items():
        if name != "__metadata__":
            lo, hi = t["data_offsets"]
            flat = torch.frombuffer(data[lo:hi], dtype=DTYPES[t["dtype"]]) if hi > lo else torch.empty(0, dtype=DTYPES[t["dtype"]])
            out[name] = flat.reshape(t["shape"])
    return out


def compute(oracle, case, run, drawn, device):
    """Yields the names and values of case's result and gradients, for operands in the dtype run."""
    leaves = []
    for o, x in zip(case.operands, drawn):
        x = x.to(device)
        if x.is_floating_point() and o.cast:
            x = x.to(getattr(torch, run))
        leaves.append(x.requires_grad_() if x.is_floating_point() and o.grad and case.grad else x)
    with torch.device(device):
        y = case.f(*leaves)
        yield "y", y
        wanted = [(i, x) for i, x in enumerate(x for x in leaves if x.requires_grad)]
        if wanted and y.requires_grad:
            grads = torch.autograd.grad(y, [x for _, x in wanted], oracle.weight(y, 0), allow_unused=True)
            yield from ((f"g{i}", g) for (i, _), g in zip(wanted, grads) if g is not None)


class Tally:
    """Counts the results of one operation's cases in one dtype."""

    def __init__(self):
        self.results = self.equal = self.beyond = 0
        self.worst = [0.0, 0.0]  # largest differences of results and of gradients

    def add(self, case, gradient, got, want):
        """Counts a result as equal to the last bit, or beyond the tolerances of tolerance_test.go."""
        self.results += 1
        x, y = got.double(), want.double()
        away = ulps(got, want).double()
        if not away.any():
            self.equal += 1
            return
        finite = x.isfinite() & y.isfinite()
        mean = y[y.isfinite()].abs().sum() / max(1, int(y.isfinite().sum()))
        gap = torch.where(finite, (x - y).abs(), 0.0)
        factor = case.tol * 2 if gradient else 1
        self.beyond += bool((gap > factor * ulp(want.dtype, y) + case.tol * mean * 2.0**-20).any() or (away[~finite] > 1).any())
        away = torch.where(finite, gap / ulp(want.dtype, torch.maximum(y.abs(), mean)), away)
        self.worst[gradient] = max(self.worst[gradient], float(away.max()))


def ulp(dtype, x):
    """Returns the distance from x, in float64, to the next number of dtype."""
    info = torch.finfo(dtype)
    return info.eps * 2.0 ** x.abs().nan_to_num(posinf=1.0).clamp(min=info.tiny).log2().floor()


def operations(report, device):
    """Prints the largest differences of each operation that is not equal to the last bit.

    Differences are in ulp of the element, or of the tensor's mean magnitude if that is
    larger, because terms that cancel leave no digits to compare.
    """
    sys.path.insert(0, str(TORCHTEST))
    import oracle

    torch.use_deterministic_algorithms(False)
    tallies, reasons, wide = collections.defaultdict(Tally), {}, set()
    for path in sorted(TORCHTEST.glob("cases_*.py")):
        family = path.stem.removeprefix("cases_")
        oracle.CASES.clear()
        importlib.import_module(path.stem)
        tensors = load(TORCHTEST / "testdata" / (family + ".safetensors"))
        for case in oracle.CASES:
            operation = case.name.split()[0].rstrip(",")
            if family in RANDOM or operation in RANDOM:
                continue
            drawn = [tensors[f"{case.name}/in{i}"] for i in range(len(case.operands))]
            for run in RUNS:
                if run not in case.dtypes:
                    continue
                try:
                    for what, got in compute(oracle, case, run, drawn, device):
                        want, got = tensors[f"{case.name}/{run}/{what}"], got.detach().cpu()
                        if want.dtype != getattr(torch, run):
                            continue  # integers, and results that the fixture widens
                        if got.dtype != want.dtype:
                            wide.add(case.name)  # the case widens its operands, so it does not call half kernels
                        elif got.shape != want.shape:
                            raise ValueError(f"shape {list(got.shape)}, the fixture's is {list(want.shape)}")
                        else:
                            tallies[operation, run].add(case, what != "y", got, want)
                except Exception as e:
                    reason = (str(e).strip() or type(e).__name__).splitlines()[0]
                    reasons.setdefault(reason, []).append(f"{case.name}, {run}")

    print("\n== operations: torch's half kernels compared with halfnote's fixtures, largest differences in ulp")
    print("beyond: results outside halfnote's tolerances, usually 1 ulp forward and 2 ulp backward")
    heads = f"{'equal':>7} {'beyond':>6} {'forward':>8} {'backward':>8}"
    print(f"{'operation':32}" + "".join(f"{run:>9} {heads}" for run in RUNS))
    for operation in sorted({o for o, _ in tallies}):
        mine = [tallies.get((operation, run), Tally()) for run in RUNS]
        if any(t.equal < t.results for t in mine):
            far = lambda x: "nan" if x >= 1 << 15 else "%.2g" % x
            print(f"{operation:32}" + "".join(f"{t.results:9} {t.equal:7} {t.beyond:6} {far(t.worst[0]):>8} {far(t.worst[1]):>8}" for t in mine))
    for run in RUNS:
        mine = [t for (_, r), t in tallies.items() if r == run]
        results, beyond, equal = (sum(getattr(t, field) for t in mine) for field in ("results", "beyond", "equal"))
        print(f"{run}: {results} results and gradients, {equal} equal to the last bit, {beyond} beyond the tolerances")
    print(f"{len(wide)} cases widen their operands and are not compared; {sum(map(len, reasons.values()))} fail:")
    for reason, cases in sorted(reasons.items(), key=lambda x: -len(x[1])):
        print(f"    {len(cases):4}, such as {cases[0]}: {reason[:160]}")
