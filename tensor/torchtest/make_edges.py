"""Writes testdata/edges.json.gz: the results and derivatives of the cases of all families where operands are at the edges.

Run: python3 make_edges.py [family...]   Needs torch. Two runs give equal bytes. With families, the cases of others stay as they are.

A case runs with each of its floating operands changed in turn, and with all of them changed. Each element of a
result is recorded as a code of its class, sign and binary magnitude, which is what this sweep compares.
"""

import gzip
import importlib
import json
import math
import os
import pathlib
import sys

import numpy as np
import torch

import oracle

HERE = pathlib.Path(__file__).resolve().parent
CYCLE = (0.0, -0.0, 1e-40, 2.0**-126, 1.0, -1.0, 1e30, -1e30)


def first(value):
    def change(x):
        x = x.clone()
        if x.numel() > 0:
            x.view(-1)[0] = value
        return x

    return change


def cycle(x):
    return torch.tensor([CYCLE[i % len(CYCLE)] for i in range(x.numel())], dtype=x.dtype).reshape(x.shape)


EDGES = {
    "zeros": torch.zeros_like,
    "ones": torch.ones_like,
    "equal": lambda x: x.view(-1)[:1].expand(x.numel()).reshape(x.shape).clone() if x.numel() else x,
    "1e-30": lambda x: x * torch.tensor(1e-30, dtype=x.dtype),
    "1e-3": lambda x: x * torch.tensor(1e-3, dtype=x.dtype),
    "100": lambda x: x * 100,
    "1e30": lambda x: x * torch.tensor(1e30, dtype=x.dtype),
    "nan": first(math.nan),
    "inf": first(math.inf),
    "-inf": first(-math.inf),
    "cycle": cycle,
}
TOGETHER = ("zeros", "equal", "1e-30", "1e30", "nan", "inf", "cycle")


def code(v):
    """NaN is 9999, infinities are 9998; 0 is 0; other numbers are 3000 plus eight times their binary logarithm, with their sign."""
    if v != v:
        return 9999
    if v == 0:
        return 0
    c = 9998 if math.isinf(v) else 3000 + round(8 * math.log2(abs(v)))
    return c if v > 0 else -c


def codes(x):
    """The codes of at most 8 elements, evenly spaced."""
    flat = x.detach().reshape(-1).double()
    n = flat.numel()
    return [code(flat[i * n // min(n, 8)].item()) for i in range(min(n, 8))]


def runs(c, dtype):
    """Yields the name and a function for each run of a case."""
    g = torch.Generator().manual_seed(oracle.zlib.crc32(c.name.encode()))
    drawn = [o.draw(g) for o in c.operands]
    floats = [i for i, (o, x) in enumerate(zip(c.operands, drawn)) if o.cast and x.is_floating_point()]
    choices = [(e, [i]) for i in floats for e in EDGES]
    if len(floats) > 1:
        choices += [(e, floats) for e in TOGETHER]
    for edge, which in choices:
        changed = [EDGES[edge](x) if i in which else x for i, x in enumerate(drawn)]
        yield f"{edge} {'+'.join(map(str, which))}", lambda changed=changed: result(c, dtype, changed)


def result(c, dtype, operands):
    try:
        return {what: codes(x) for what, x in c.run(dtype, operands) if x.is_floating_point()}
    except AssertionError:  # the case checks its operands
        return None
    except (RuntimeError, ValueError, IndexError) as e:
        return {"error": str(e).split("\n")[0][:80]}


def isolated(c, dtype):
    """The results of the runs of a case by name, computed in other processes, since PyTorch crashes in some. Those are left out."""
    todo, done = list(runs(c, dtype)), {}
    while todo:
        back, to = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(back)
            with os.fdopen(to, "w") as f:
                for _, run in todo:
                    f.write(json.dumps(run()) + "\n")
                    f.flush()
            os._exit(0)
        os.close(to)
        with os.fdopen(back) as f:
            lines = f.read().splitlines()
        os.waitpid(pid, 0)
        for (name, _), line in zip(todo, lines):
            if (r := json.loads(line)) is not None:
                done[name] = r
        if len(lines) < len(todo):
            print(f"{c.name}, {todo[len(lines)][0]}: PyTorch crashes")
        todo = todo[len(lines) + 1 :]
    return done


def main(families):
    out, swept = HERE / "testdata" / "edges.json.gz", {}
    if families:
        old = json.loads(gzip.decompress(out.read_bytes()))
        assert old["torch"] == torch.__version__, f"the other cases are from torch {old['torch']}: leave out the families to make all"
        swept = {name: r for name, r in old["cases"].items() if name.split("/")[0] not in families}
    for path in sorted(HERE.glob("cases_*.py")):
        family = path.stem[6:]
        if families and family not in families:
            continue
        oracle.CASES.clear()
        importlib.import_module(path.stem)
        for c in oracle.CASES:
            if "float32" in c.dtypes:
                swept[f"{family}/{c.name}"] = isolated(c, "float32")
    swept = dict(sorted(swept.items(), key=lambda entry: entry[0].split("/")[0]))  # the families in order, the cases of each as they were
    text = json.dumps({"torch": torch.__version__, "cases": swept}, separators=(",", ":")).encode()
    with gzip.GzipFile(out, "wb", compresslevel=9, mtime=0) as f:
        f.write(text)
    n = sum(len(r) for r in swept.values())
    print(f"{len(swept)} cases, {n} runs, {out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    assert sys.byteorder == "little" and np.float32(1).tobytes() == b"\0\0\x80?"
    main(sys.argv[1:])
