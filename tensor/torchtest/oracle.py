"""The tools of case files: case() and the makers of its operands.

A half kernel is modelled as one rounding: f(x.float()).to(half). The casts are
recorded, so autograd rounds every gradient once, at the dtype of its forward
tensor. Inside f all is float32, in double backward too. torch's own half kernels
are never run: some of them sum in half precision.
"""

import functools
import zlib

import torch

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)

HALVES = (torch.float16, torch.bfloat16)


class Operand:
    """A value drawn when its case is made, so that cases are independent of each other."""

    def __init__(self, draw, grad=True, cast=True):
        self.draw, self.grad, self.cast = draw, grad, cast


def randn(*shape, scale=1.0):
    """Normal numbers."""
    return Operand(lambda g: torch.randn(shape, generator=g) * scale)


def uniform(low, high, *shape):
    """Numbers distributed uniformly from low to high."""
    return Operand(lambda g: torch.rand(shape, generator=g) * (high - low) + low)


def values(data):
    """The given numbers, nested lists as torch.tensor takes them. int and bool make int64 and bool."""
    return Operand(lambda g: torch.tensor(data))


def ints(low, high, *shape):
    """int64 numbers from low up to high, exclusive."""
    return Operand(lambda g: torch.randint(low, high, shape, generator=g))


def bools(*shape):
    """True or False."""
    return Operand(lambda g: torch.rand(shape, generator=g) < 0.5)


def fixed(operand):
    """The operand without a gradient."""
    return Operand(operand.draw, grad=False, cast=operand.cast)


def as_is(operand, dtype=None):
    """The operand without a gradient, in its own dtype or the given one in every run."""
    return Operand(lambda g: operand.draw(g) if dtype is None else operand.draw(g).to(dtype), grad=False, cast=False)


def leaves(draw):
    """An operand made by draw(generator)."""
    return Operand(draw)


class Case:
    def __init__(self, name, f, operands, dtypes, grad, double, out, rounds, tol):
        self.name, self.f, self.operands = name, f, operands
        self.dtypes, self.grad, self.double, self.out = dtypes, grad, double and grad, out
        self.rounds, self.tol = rounds, tol

    def make(self):
        """Yields the tensors of the case by name."""
        g = torch.Generator().manual_seed(zlib.crc32(self.name.encode()))
        drawn = [o.draw(g) for o in self.operands]
        for i, x in enumerate(drawn):
            yield f"{self.name}/in{i}", x
        for run in self.dtypes:
            for what, x in self.run(run, drawn):
                yield f"{self.name}/{run}/{what}", x

    def run(self, run, drawn):
        names = run.split("+")
        leaves, dtypes = [], []
        for i, (o, x) in enumerate(zip(self.operands, drawn)):
            x = x.detach().clone()
            if x.is_floating_point() and o.cast:
                d = getattr(torch, names[min(i, len(names) - 1)])
                dtypes.append((x.dim() > 0, d))
                x = x.to(d)
            if x.is_floating_point() and o.grad and self.grad:
                x.requires_grad_()
            leaves.append(x)
        common = promoted(dtypes)
        with torch.autograd.graph.saved_tensors_hooks(self.keep(common), lambda x: x):
            y = self.f(*[emulated(x, common) if o.cast else x for o, x in zip(self.operands, leaves)])
        if y.is_floating_point():
            y = y.to(getattr(torch, self.out) if self.out else common or y.dtype)
        yield "y", y
        wanted = [x for x in leaves if x.requires_grad]
        if not wanted or not y.requires_grad:
            return
        w = weight(y, 0).requires_grad_()
        grads = torch.autograd.grad(y, wanted, w, create_graph=self.double, allow_unused=True)
        for i, g in enumerate(grads):
            if g is not None:
                yield f"g{i}", g
        if not self.double:
            return
        pairs = [(g, weight(g, 1 + i)) for i, g in enumerate(grads) if g is not None and g.requires_grad]
        if not pairs:
            return
        second = torch.autograd.grad([g for g, _ in pairs], [*wanted, w], [v for _, v in pairs], allow_unused=True)
        for i, h in enumerate(second):
            if h is not None:
                yield f"h{i}", h

    def keep(self, common):
        """The tensors that autograd saves for a derivative."""
        if self.rounds and common in HALVES:
            return lambda x: x.to(common).to(x.dtype) if x.dtype == torch.float32 else x
        return lambda x: x


def promoted(dtypes):
    """The dtype of an elementwise result: operands with dimensions take precedence over scalars."""
    ranked = [d for dims, d in dtypes if dims] or [d for _, d in dtypes]
    return functools.reduce(torch.promote_types, ranked) if ranked else None


def emulated(x, common):
    """The operands of a kernel: x in the common dtype, with halves widened."""
    if not x.is_floating_point():
        return x
    x = x.to(common)
    return x.float() if common in HALVES else x


def weight(x, k):
    """Initial gradients: odd sixteenths from -13 to 13, exact in every dtype of 16 bits or more."""
    i = torch.arange(x.numel(), dtype=torch.int64)
    return ((2 * ((i * 5 + 3 * k) % 14) - 13).to(torch.float64) / 16).to(x.dtype).reshape(x.shape)


CASES = []


def case(
    name, f, *operands, dtypes=("float32", "float16", "bfloat16"), grad=True, double=True, out=None, rounds=False, tol=1
):
    """Adds a case. The first word of its name is the operation under which it is counted.

    f       takes one tensor for each operand and returns one
    dtypes  of the floating operands; "float16+float32" gives each its own
    grad    whether backward runs, double whether double backward does
    out     the result's dtype if it is not that of the operands
    rounds  for kernels whose derivative reads their result, as tanh's: it reads the rounded one
    tol     a factor on the tolerance; say why next to it
    """
    if any(c.name == name for c in CASES):
        raise ValueError(f"two cases are named {name!r}")
    CASES.append(Case(name, f, operands, dtypes, grad, double, out, rounds, tol))
