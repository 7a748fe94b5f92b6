"""halfnote's fixture of dtypes under autocast, amp/testdata/dtypes.json, asked again with real tensors."""

import json
import pathlib

import torch

TESTDATA = pathlib.Path(__file__).resolve().parents[2] / "amp" / "testdata"
POLICIES = {
    "cuda": {"amp.Float16": torch.float16, "amp.BFloat16": torch.bfloat16},
    "cpu": {"amp.CPUBFloat16": torch.bfloat16, "amp.CPUFloat16": torch.float16},
}


def calls(device):
    """The functions that dtypes.py, which wrote the fixture, calls: its text up to where it begins to ask."""
    text, mark, _ = (TESTDATA / "dtypes.py").read_text().partition("\ntorch.set_num_threads(1)\n")
    assert mark, "dtypes.py is not as it was: confirm_answers.py runs what stands before torch.set_num_threads(1)"
    names = {"__name__": "dtypes", "DEVICE": device}
    exec(compile(text, "dtypes.py", "exec"), names)
    return names["CASES"]


def answers(report, device):
    """Calls each function with each pair of dtypes. The fixture's "error" says nothing of real tensors."""
    report.part("answers of dtypes.json, by pairs of dtypes; those that are the same are only counted")
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
    """The dtype of f's result, or that autocast refuses, or the error."""
    try:
        x = [torch.randn(s, device=device).to(pair[min(i, 1)]) for i, s in enumerate(shapes)]
        with torch.autocast(device, low):
            return str(f(*x).dtype).removeprefix("torch.")
    except Exception as e:
        return "refused" if "autocast" in str(e) else f"error: {str(e).splitlines()[0]}"
