"""Compares numbers and dtypes of PyTorch on this machine's GPU with those that halfnote expects.

Usage: python3 confirm.py [--device cuda|cpu] [part...]   It needs torch and takes about a minute.

halfnote's half-precision arithmetic follows the sources of PyTorch for CUDA. Some expected values
were derived without a GPU. Each check prints halfnote's value, torch's value, and whether they are
equal. Differences are not errors: the exit status is 0 unless torch or the device is missing.
--device cpu is a dry run with the values of torch on the CPU.
"""

import argparse
import sys
import time
import warnings

sys.dont_write_bytecode = True
try:
    import torch
except ImportError as e:
    sys.exit(f"confirm.py needs PyTorch: {e}")

from confirm_answers import answers
from confirm_dtypes import dtypes
from confirm_numbers import bias, cache, cumsum, numbers, scalars
from confirm_operations import operations

PARTS = {f.__name__: f for f in (numbers, scalars, bias, cumsum, cache, dtypes, answers, operations)}


def show(x):
    """Returns x as text: the elements of a tensor with nine digits, the name of a dtype."""
    if isinstance(x, torch.Tensor):
        x = x.detach().cpu().tolist()
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(map(show, x)) + "]"
    if isinstance(x, torch.dtype):
        return str(x).removeprefix("torch.")
    return "%.9g" % x if isinstance(x, float) else str(x)


def answer(run):
    """Returns run's result as text and "", or "error" and its reason."""
    try:
        return show(run()), ""
    except Exception as e:
        return "error", (str(e).strip() or type(e).__name__).splitlines()[0]


class Report:
    """Prints and counts checks."""

    def __init__(self):
        self.same = self.open = 0
        self.different = []

    def part(self, title):
        print(f"\n== {title}")
        self.line("", "check", "halfnote", "torch")

    def check(self, name, want, run):
        """Compares run's result with want, or only prints it if want is None."""
        got, why = answer(run)
        if want is None:
            self.open += 1
            self.line("open", name, "-", got + (": " + why if why else ""))
            return
        self.compare(name, show(want), got, why, True)

    def compare(self, name, want, got, why="", prints=False):
        """Counts a result, and prints it if it differs or if prints is true."""
        answered = got + (": " + why if why else "")
        if got != want:
            self.different.append(self.line("DIFFERENT", name, want, answered))
            return
        self.same += 1
        if prints:
            self.line("same", name, want, answered)

    def line(self, *columns):
        line = "%-9s %-60s %-24s %s" % columns
        print(line, flush=True)
        return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("parts", nargs="*", metavar="part", help="one of " + ", ".join(PARTS) + "; default all")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; want {', '.join(PARTS)}")
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit(f"confirm.py: torch {torch.__version__} finds no CUDA device")
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    versions = f"torch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}"
    if options.device == "cuda":
        versions += ", %s, compute capability %d.%d" % (torch.cuda.get_device_name(), *torch.cuda.get_device_capability())
    print(f"{versions}, device {options.device}")
    report, start = Report(), time.monotonic()
    for part in options.parts or PARTS:
        try:
            PARTS[part](report, options.device)
        except Exception as e:
            print(f"part {part} failed: {type(e).__name__}: {e}")
    print("\n== differences", *report.different, sep="\n")
    print(f"\n{report.same} same, {len(report.different)} different, {report.open} without an expected value, in {time.monotonic() - start:.0f} s")
    print(versions)


if __name__ == "__main__":
    main()
