"""Connectionist temporal classification. torch has no second derivative of it; the cases "of logits" take
that of a plain forward recursion, which agrees with torch's loss and first derivative (checked below)."""

import torch
import torch.nn.functional as F

from oracle import *

TIMES, LENGTHS = [7, 5, 6], [3, 0, 2]
PADDED = as_is(values([[1, 2, 2, 4], [3, 1, 1, 1], [4, 1, 2, 3]]))
ROW = as_is(values([1, 2, 2, 4, 1]))
x = randn(7, 3, 5)


def lengths(times=TIMES, targets=LENGTHS):
    return as_is(values(times)), as_is(values(targets))


def ctc(**options):
    return lambda x, t, i, n: F.ctc_loss(x, t, i, n, **options)


def each(name, operands, **options):
    """The loss of log-probabilities that sum only roughly to 1: its gradient is torch's in every case."""
    case(name, ctc(**options), *operands, double=False, dtypes=("float32", "float16", "bfloat16", "float64"), tol=4)  # torch computes in float32


for reduction in "mean", "sum", "none":
    each(f"ctc_loss {reduction}", (x, PADDED, *lengths()), reduction=reduction)
each("ctc_loss row", (x, ROW, *lengths()), reduction="none")
each("ctc_loss blank", (x, as_is(values([[1, 0, 2], [3, 1, 1], [0, 0, 2]])), *lengths(targets=[3, 2, 2])), blank=4, reduction="none")
# torch's gradient omits one of two equal labels at the last step here, which contradicts its own loss.
case("ctc_loss blank among targets", ctc(reduction="none"), fixed(x), as_is(values([[1, 0, 2], [0, 0, 1], [0, 1, 2]])), *lengths(targets=[3, 2, 2]), grad=False, tol=4)
each("ctc_loss infinite", (x, PADDED, *lengths([3, 5, 1], [3, 0, 2])), reduction="none")
each("ctc_loss zero infinity", (x, PADDED, *lengths([3, 5, 1], [3, 0, 2])), reduction="none", zero_infinity=True)
each("ctc_loss zero infinity mean", (x, PADDED, *lengths([3, 5, 1], [3, 0, 2])), zero_infinity=True)
each("ctc_loss no steps", (x, PADDED, *lengths([0, 5, 0], [0, 1, 2])), reduction="none")
each("ctc_loss one", (randn(6, 5), as_is(values([1, 1, 3])), as_is(values(6)), as_is(values(3))))
each("ctc_loss one, none", (randn(6, 5), as_is(values([1, 3])), as_is(values(5)), as_is(values(2))), reduction="none")
each("ctc_loss int32", (x, as_is(values([[1, 2], [3, 3], [2, 1]]), torch.int32), *lengths(targets=[2, 2, 1])), reduction="sum")
each("ctc_loss long", (randn(40, 2, 4, scale=2), as_is(values([[1, 2, 3, 3, 1, 2, 2, 1], [3, 2, 1, 1, 2, 3, 0, 0]])), *lengths([40, 33], [8, 6])))


def plain(logs, targets, times, sizes, reduction):
    """The definition, one sample after another."""
    losses = []
    for n, (t, s) in enumerate(zip(times.tolist(), sizes.tolist())):
        labels = [0]
        for k in targets[n, :s].tolist():
            labels += [k, 0]
        alpha = [logs[0, n, c] if i < 2 else None for i, c in enumerate(labels)]
        for time in range(1, t):
            new = []
            for i, c in enumerate(labels):
                skip = i > 1 and labels[i] != labels[i - 2]
                before = [a for a in alpha[max(i - 1 - skip, 0) : i + 1] if a is not None]
                new.append(torch.logsumexp(torch.stack(before), 0) + logs[time, n, c] if before else None)
            alpha = new
        loss = -torch.logsumexp(torch.stack([a for a in alpha[-2:] if a is not None]), 0)
        losses.append(loss / max(s, 1) if reduction == "mean" else loss)
    out = torch.stack(losses)
    return {"mean": out.mean, "sum": out.sum, "none": lambda: out}[reduction]()


def of_logits(reduction):
    def f(x, t, i, n):
        logs = F.log_softmax(x, -1)
        y = plain(logs, t, i, n, reduction)
        theirs = F.ctc_loss(logs, t, i, n, reduction=reduction)
        assert torch.allclose(y, theirs, rtol=1e-5, atol=1e-6), (y, theirs)
        g, h = (torch.autograd.grad(z.sum(), x, retain_graph=True)[0] for z in (y, theirs))
        assert torch.allclose(g, h, rtol=1e-4, atol=1e-5)
        return y

    return f


for reduction in "mean", "sum", "none":
    case(f"ctc_loss of logits, {reduction}", of_logits(reduction), x, PADDED, *lengths(), dtypes=("float32", "float64"), tol=4)
