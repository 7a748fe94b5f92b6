"""Sequences of different lengths: padded, packed, and read by recurrent layers with torch's parameters as operands."""

import torch
from torch import nn
from torch.func import functional_call
from torch.nn.utils.rnn import (
    pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence, unpack_sequence, unpad_sequence,
)

from oracle import *


def flat(*ts):
    return torch.cat([t.reshape(-1) for t in ts])


a, b, c = randn(3, 2), randn(1, 2), randn(4, 2)
case("pad_sequence", lambda *s: pad_sequence(s), a, b, c)
case("pad_sequence batch first", lambda *s: pad_sequence(s, batch_first=True, padding_value=-1.5), a, b, c)
case("pad_sequence left", lambda *s: pad_sequence(s, padding_side="left", padding_value=2), a, b, c)
case("pad_sequence left batch first", lambda *s: pad_sequence(s, True, padding_side="left"), a, b, c)
case("pad_sequence numbers", lambda *s: pad_sequence(s, padding_value=7), randn(2), randn(0), randn(3))
case("pad_sequence int", lambda *s: pad_sequence(s, padding_value=-100), *[as_is(values(v)) for v in ([1, 2], [3], [4, 5, 6])], grad=False)
case("pad_sequence one", lambda *s: pad_sequence(s), a)
case("unpad_sequence", lambda x: flat(*unpad_sequence(x * 1, torch.tensor([3, 1, 4]))), randn(4, 3, 2))
case("unpad_sequence batch first", lambda x: flat(*unpad_sequence(x, torch.tensor([3, 0, 4]), batch_first=True)), randn(3, 4, 2))

SORTED, MIXED, TIED = [4, 2, 1], [2, 4, 1], [2, 4, 2, 4, 1]


def described(p):
    """The contents of a packed sequence as numbers."""
    parts = [p.data, p.batch_sizes]
    if p.sorted_indices is not None:
        parts += [p.sorted_indices, p.unsorted_indices]
    return flat(*[x.to(p.data.dtype) for x in parts])


x = randn(4, 3, 2)
case("pack_padded_sequence", lambda x: described(pack_padded_sequence(x, SORTED)), x)
case("pack_padded_sequence unsorted", lambda x: described(pack_padded_sequence(x, MIXED, enforce_sorted=False)), x)
case("pack_padded_sequence ties", lambda x: described(pack_padded_sequence(x, TIED, enforce_sorted=False)), randn(4, 5, 2))
case("pack_padded_sequence batch first", lambda x: described(pack_padded_sequence(x, MIXED, batch_first=True, enforce_sorted=False)), randn(3, 5, 2))
case("pack_padded_sequence numbers", lambda x: described(pack_padded_sequence(x, SORTED)), randn(4, 3))
case("pack_sequence", lambda *s: described(pack_sequence(s, enforce_sorted=False)), a, b, c)
case("pack_sequence sorted", lambda *s: described(pack_sequence(s)), c, a, b)
case("unpack_sequence", lambda *s: flat(*unpack_sequence(pack_sequence(s, enforce_sorted=False))), a, b, c)
case("pad_packed_sequence", lambda x: pad_packed_sequence(pack_padded_sequence(x, MIXED, enforce_sorted=False))[0], x)
case("pad_packed_sequence value", lambda x: pad_packed_sequence(pack_padded_sequence(x, SORTED), batch_first=True, padding_value=3, total_length=6)[0], x)
case("pad_packed_sequence lengths", lambda x: pad_packed_sequence(pack_padded_sequence(x, TIED, enforce_sorted=False))[1], fixed(randn(4, 5, 2)), grad=False)


def layer(name, make, lengths, *states, sort=False, train=False):
    """A layer between pack and pad: result and last states."""
    shapes = [p.shape for p in make().parameters()]
    n = len(states)

    def f(x, *rest):
        module = make()
        module.train(train)
        parameters = dict(zip([n for n, _ in module.named_parameters()], rest[n:]))
        h = None if n == 0 else rest[0] if n == 1 else tuple(rest[:2])
        torch.manual_seed(11)
        p, last = functional_call(module, parameters, (pack_padded_sequence(x, lengths, enforce_sorted=sort), h))
        return flat(p.data, *(last if isinstance(last, tuple) else (last,)))

    case(name, f, randn(max(lengths) + 1, len(lengths), 3), *states, *[randn(*s, scale=0.5) for s in shapes], dtypes=("float32", "float64"), tol=4)


for kind, cls, n in ("RNN", nn.RNN, 1), ("GRU", nn.GRU, 1), ("LSTM", nn.LSTM, 2):
    for form, lengths, sort in ("", MIXED, False), (" sorted", SORTED, True), (" ties", TIED, False), (" equal", [3, 3], False):
        h = [randn(2, len(lengths), 2) for _ in range(n)]
        layer(f"{kind} packed{form}", lambda c=cls: c(3, 2, bidirectional=True), lengths, *h, sort=sort)
    layer(f"{kind} packed from zeros", lambda c=cls: c(3, 2, bidirectional=True), MIXED)
    h = [randn(4, 3, 2) for _ in range(n)]
    layer(f"{kind} packed layers", lambda c=cls: c(3, 2, num_layers=2, bidirectional=True, dropout=0.5), MIXED, *h)
    layer(f"{kind} packed dropout", lambda c=cls: c(3, 2, num_layers=2, bidirectional=True, dropout=0.5), MIXED, *h, train=True)
layer("LSTM packed projection", lambda: nn.LSTM(3, 4, proj_size=2, bidirectional=True), MIXED, randn(2, 3, 2), randn(2, 3, 4))
