"""Asks PyTorch on this machine's GPU for the numbers and dtypes that halfnote expects of it.

Run: python3 confirm.py [--device cuda|cpu] [part...]   Needs torch; takes about a minute.

halfnote's half arithmetic is that of PyTorch on CUDA as its sources say, some of it
derived without a device. For each check this prints what halfnote expects, what torch
answers, and whether they are the same. Differences are information: the exit status is
0 unless torch or the device is missing. With --device cpu it is a dry run, whose answers
are the CPU's.
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
    """x as text: a tensor's elements with nine digits, a dtype by its name."""
    if isinstance(x, torch.Tensor):
        x = x.detach().cpu().tolist()
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(map(show, x)) + "]"
    if isinstance(x, torch.dtype):
        return str(x).removeprefix("torch.")
    return "%.9g" % x if isinstance(x, float) else str(x)


def answer(run):
    """What run gives, as text, or that it fails and why."""
    try:
        return show(run()), ""
    except Exception as e:
        return "error", (str(e).strip() or type(e).__name__).splitlines()[0]


class Report:
    """Prints checks as they are made and counts them."""

    def __init__(self):
        self.same = self.open = 0
        self.different = []

    def part(self, title):
        print(f"\n== {title}")
        self.line("", "check", "halfnote", "torch")

    def check(self, name, want, run):
        """Compares run's answer with want. Where want is None nothing is expected."""
        got, why = answer(run)
        if want is None:
            self.open += 1
            self.line("open", name, "-", got + (": " + why if why else ""))
            return
        self.compare(name, show(want), got, why, True)

    def compare(self, name, want, got, why="", prints=False):
        """Counts an answer, and prints it if it differs or prints is true."""
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
    parser.add_argument("parts", nargs="*", metavar="part", help="of " + ", ".join(PARTS) + "; default all")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit(f"confirm.py: torch {torch.__version__} sees no CUDA device")
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
            print(f"the part {part} ended early: {type(e).__name__}: {e}")
    print("\n== what differs", *report.different, sep="\n")
    print(f"\n{report.same} same, {len(report.different)} different, {report.open} without an expectation, in {time.monotonic() - start:.0f} s")
    print(versions)


if __name__ == "__main__":
    main()
