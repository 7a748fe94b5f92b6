"""Checks amp/testdata/dtypes.json, halfnote's fixture of dtypes under autocast, with real tensors."""

import json
import pathlib

import torch

TESTDATA = pathlib.Path(__file__).resolve().parents[2] / "amp" / "testdata"
POLICIES = {
    "cuda": {"amp.Float16": torch.float16, "amp.BFloat16": torch.bfloat16},
    "cpu": {"amp.CPUBFloat16": torch.bfloat16, "amp.CPUFloat16": torch.float16},
}


def calls(device):
    """Returns the functions called by dtypes.py, which wrote the fixture. It runs the first part of that file."""
    text, mark, _ = (TESTDATA / "dtypes.py").read_text().partition("\ntorch.set_num_threads(1)\n")
    assert mark, "dtypes.py has changed: confirm_answers.py runs the part before torch.set_num_threads(1)"
    names = {"__name__": "dtypes", "DEVICE": device}
    exec(compile(text, "dtypes.py", "exec"), names)
    return names["CASES"]


def answers(report, device):
    """Calls each function with each pair of dtypes, except those that are errors in the fixture."""
    report.part("values of dtypes.json, by pairs of dtypes; equal ones are only counted")
    fixture = json.loads((TESTDATA / "dtypes.json").read_text())
    mix = [[getattr(torch, d) for d in pair] for pair in fixture["mix"]]
    functions = calls(device)
    for policy, low in POLICIES[device].items():
        for name, line in fixture["policies"][policy].items():
            shapes, f = functions[name]
            for pair, want in zip(mix, line.split()):
                if want not in ("-", "error"):
                    operands = ", ".join(str(d).removeprefix("torch.") for d in pair[: len(shapes)])
                    report.compare(f"{policy} {name}({operands})", want, ask(f, shapes, pair, low, device))


def ask(f, shapes, pair, low, device):
    """Returns the dtype of f's result, "refused" for an error of autocast, or another error."""
    try:
        x = [torch.randn(s, device=device).to(pair[min(i, 1)]) for i, s in enumerate(shapes)]
        with torch.autocast(device, low):
            return str(f(*x).dtype).removeprefix("torch.")
    except Exception as e:
        return "refused" if "autocast" in str(e) else f"error: {str(e).splitlines()[0]}"
