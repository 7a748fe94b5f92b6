"""Attention, recurrent cells, and the layers made of them, with torch's parameters as operands."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

from oracle import *

torch.backends.cuda.enable_flash_sdp(False)  # on the CPU too: it has no second derivative
SDPA = F.scaled_dot_product_attention
q, k, v = randn(2, 3, 5, 4), randn(2, 3, 7, 4), randn(2, 3, 7, 6)
mask = as_is(values([[True, False, True, True, False, True, True]] * 3 + [[False] * 7, [True] * 7]))
case("scaled_dot_product_attention", SDPA, q, k, v, dtypes=("float32", "float16", "bfloat16", "float64"))
case("scaled_dot_product_attention matrices", SDPA, randn(3, 4), randn(5, 4), randn(5, 2))
case("scaled_dot_product_attention one", SDPA, randn(1, 1), randn(1, 1), randn(1, 1))
case("scaled_dot_product_attention causal", lambda q, k, v: SDPA(q, k, v, is_causal=True), q, k, v)
case("scaled_dot_product_attention scale", lambda q, k, v: SDPA(q, k, v, scale=0.3), q, k, v)
case("scaled_dot_product_attention bool mask", lambda q, k, v, m: SDPA(q, k, v, attn_mask=m), q, k, v, mask)
case("scaled_dot_product_attention mask", lambda q, k, v, m: SDPA(q, k, v, attn_mask=m), q, k, v, randn(5, 7), tol=2)  # its gradient adds rounded ones
case("scaled_dot_product_attention mask of each", lambda q, k, v, m: SDPA(q, k, v, attn_mask=m), q, k, v, randn(2, 1, 5, 7), tol=2)
case("scaled_dot_product_attention shared heads", lambda q, k, v: SDPA(q, k, v, enable_gqa=True), randn(2, 6, 5, 4), randn(2, 3, 7, 4), randn(2, 3, 7, 6))


def cell(name, f, gates, states):
    for form, rows in ("", (3,)), (" single", ()), (" empty", (0,)):
        h = [randn(*rows, 4) for _ in range(states)]
        w = randn(gates * 4, 5, scale=0.5), randn(gates * 4, 4, scale=0.5)  # keeps tanh from its ends, where 1 - y*y cancels
        b = randn(gates * 4), randn(gates * 4)
        # torch's cells need rows.
        single = lambda *a, n=1 + states: f(*(t[None] for t in a[:n]), *a[n:])[0]
        case(name + form, f if rows else single, randn(*rows, 5), *h, *w, *b)
        if rows == (3,):
            case(name + ", no bias", f, randn(*rows, 5), *h, *w)


cell("rnn_tanh_cell", torch.rnn_tanh_cell, 1, 1)
cell("rnn_relu_cell", torch.rnn_relu_cell, 1, 1)
cell("gru_cell", torch.gru_cell, 3, 1)
cell("lstm_cell", lambda x, h, c, *w: torch.cat(torch.lstm_cell(x, (h, c), *w), -1), 4, 2)


def parameters(make):
    """Operands drawn like the parameters of make's result, in their order."""
    shapes = [p.shape for p in make().parameters()]
    return [randn(*s, scale=0.5) for s in shapes]


def layer(name, make, call, *operands, tol=1, double=True):
    """call(run, *operands) with run(*args) calling the layer, whose parameters are the last operands. float32:
    the layer rounds in many places, which the half tests of its operations cover."""
    ps = parameters(make)
    n = len(operands)

    def f(*in_):
        module = make()
        names = [n for n, _ in module.named_parameters()]
        state = dict(zip(names, in_[n:]))
        module.train(False)
        return call(lambda *a, **o: functional_call(module, state, a, o), *in_[:n])

    case(name, f, *operands, *ps, dtypes=("float32", "float64"), tol=tol, double=double)


def flat(*ts):
    return torch.cat([t.reshape(-1) for t in ts])


x = randn(3, 2, 4)
for kind, cls in ("RNN", nn.RNN), ("GRU", nn.GRU):
    layer(f"{kind}", lambda c=cls: c(4, 3), lambda run, x: flat(*run(x)), x, tol=2)
    layer(f"{kind} layers", lambda c=cls: c(4, 3, num_layers=2, bidirectional=True), lambda run, x, h: flat(*run(x, h)), x, randn(4, 2, 3), tol=4)
    layer(f"{kind} batch first", lambda c=cls: c(4, 3, batch_first=True, bias=False), lambda run, x, h: flat(*run(x, h)), randn(2, 3, 4), randn(1, 2, 3), tol=2)
    layer(f"{kind} single", lambda c=cls: c(4, 3, num_layers=2), lambda run, x, h: flat(*run(x, h)), randn(5, 4), randn(2, 3), tol=4)
layer("RNN relu", lambda: nn.RNN(4, 3, nonlinearity="relu"), lambda run, x: flat(*run(x)), x)
states = lambda r: flat(r[0], *r[1])
layer("LSTM", lambda: nn.LSTM(4, 3), lambda run, x: states(run(x)), x, tol=2)
layer("LSTM layers", lambda: nn.LSTM(4, 3, num_layers=2, bidirectional=True), lambda run, x, h, c: states(run(x, (h, c))), x, randn(4, 2, 3), randn(4, 2, 3), tol=4)
layer("LSTM batch first", lambda: nn.LSTM(4, 3, batch_first=True, bias=False), lambda run, x, h, c: states(run(x, (h, c))), randn(2, 3, 4), randn(1, 2, 3), randn(1, 2, 3), tol=2)
layer("LSTM single", lambda: nn.LSTM(4, 3, num_layers=2), lambda run, x: states(run(x)), randn(5, 4), tol=4)
layer("LSTM projection", lambda: nn.LSTM(4, 5, num_layers=2, proj_size=2, bidirectional=True), lambda run, x, h, c: states(run(x, (h, c))), x, randn(4, 2, 2), randn(4, 2, 5), tol=4)



def packed(run, x, s):
    p, last = run(nn.utils.rnn.pack_padded_sequence(x, torch.tensor([2, 4, 1]), enforce_sorted=False), s)
    return states((nn.utils.rnn.pad_packed_sequence(p)[0], last if isinstance(last, tuple) else (last,)))


x = randn(4, 3, 4)
layer("LSTM lengths", lambda: nn.LSTM(4, 2, num_layers=2, bidirectional=True), lambda run, x, h, c: packed(run, x, (h, c)), x, randn(4, 3, 2), randn(4, 3, 2), tol=4)
layer("GRU lengths", lambda: nn.GRU(4, 2, bidirectional=True), lambda run, x, h: packed(run, x, h), x, randn(2, 3, 2), tol=4)
layer("RNN lengths", lambda: nn.RNN(4, 2), lambda run, x, h: packed(run, x, h), x, randn(1, 3, 2), tol=4)

q, k, v = randn(3, 2, 4), randn(5, 2, 4), randn(5, 2, 4)
pad = as_is(values([[False, False, True, False, True], [False, True, False, False, False]]))
attend = as_is(values([[False, True, False, False, False], [False, False, False, True, False], [False] * 5]))
MHA = nn.MultiheadAttention
both = lambda r: flat(*r)
layer("MultiheadAttention", lambda: MHA(4, 2), lambda run, x: both(run(x, x, x)), q, tol=2)
layer("MultiheadAttention cross", lambda: MHA(4, 2), lambda run, q, k, v: both(run(q, k, v)), q, k, v, tol=2)
layer("MultiheadAttention no weights", lambda: MHA(4, 2, bias=False), lambda run, q, k, v: run(q, k, v, need_weights=False)[0], q, k, v, tol=2)
layer("MultiheadAttention masks", lambda: MHA(4, 2), lambda run, q, k, v, p, a: both(run(q, k, v, key_padding_mask=p, attn_mask=a)), q, k, v, pad, attend, tol=2)
layer("MultiheadAttention masks, no weights", lambda: MHA(4, 2), lambda run, q, k, v, p, a: run(q, k, v, key_padding_mask=p, attn_mask=a, need_weights=False)[0], q, k, v, pad, attend, tol=2)
layer("MultiheadAttention float mask of each head", lambda: MHA(4, 2), lambda run, q, k, v, a: both(run(q, k, v, attn_mask=a, average_attn_weights=False)), q, k, v, fixed(randn(4, 3, 5)), tol=2)
layer("MultiheadAttention causal", lambda: MHA(4, 2), lambda run, x: run(x, x, x, attn_mask=torch.triu(torch.full((3, 3), -math.inf, dtype=x.dtype), 1), is_causal=True, need_weights=False)[0], q, tol=2)
layer("MultiheadAttention batch first", lambda: MHA(4, 2, batch_first=True, kdim=3, vdim=5), lambda run, q, k, v: both(run(q, k, v)), randn(2, 3, 4), randn(2, 5, 3), randn(2, 5, 5), tol=2)
layer("MultiheadAttention added", lambda: MHA(4, 2, add_bias_kv=True, add_zero_attn=True), lambda run, q, k, v, p, a: both(run(q, k, v, key_padding_mask=p, attn_mask=a)), q, k, v, pad, attend, tol=2)
layer("MultiheadAttention single", lambda: MHA(4, 2), lambda run, x: both(run(x, x, x)), randn(3, 4), tol=2)

# Normalization follows normalization: second derivatives lose some digits.
enc = dict(d_model=4, nhead=2, dim_feedforward=6)
layer("TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(**enc), lambda run, x: run(x), q, tol=8)
layer("TransformerEncoderLayer norm first", lambda: nn.TransformerEncoderLayer(**enc, norm_first=True, activation="gelu", batch_first=True, bias=False), lambda run, x, p: run(x, src_key_padding_mask=p), randn(2, 5, 4), pad, tol=8)
layer("TransformerDecoderLayer", lambda: nn.TransformerDecoderLayer(**enc), lambda run, x, m: run(x, m), q, k, tol=8)
layer("TransformerDecoderLayer norm first", lambda: nn.TransformerDecoderLayer(**enc, norm_first=True), lambda run, x, m, a, p: run(x, m, memory_mask=a, memory_key_padding_mask=p), q, k, attend, pad, tol=8)
layer("TransformerEncoder", lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(**enc), 2, nn.LayerNorm(4), enable_nested_tensor=False), lambda run, x: run(x), q, tol=16)
layer("Transformer", lambda: nn.Transformer(4, 2, 1, 1, 6), lambda run, s, t: run(s, t, tgt_mask=nn.Transformer.generate_square_subsequent_mask(3, dtype=t.dtype), tgt_is_causal=True), k, q, tol=16, double=False)


def drawn(name, make):
    """The parameters that make draws from a seed; the operand only gives the case its dtype."""

    def f(x):
        torch.manual_seed(7)
        return flat(*[p.detach().float() for p in make().parameters()])

    case(f"drawn {name}", f, fixed(values([0.0])), dtypes=("float32",), grad=False)


layer("Bilinear", lambda: nn.Bilinear(3, 4, 2), lambda run, x, y: run(x, y), randn(5, 3), randn(5, 4))
drawn("Bilinear", lambda: nn.Bilinear(3, 4, 2))
drawn("RNNCell", lambda: nn.RNNCell(5, 4))
drawn("LSTMCell", lambda: nn.LSTMCell(5, 4))
drawn("GRUCell", lambda: nn.GRUCell(5, 4, bias=False))
drawn("LSTM", lambda: nn.LSTM(3, 4, num_layers=2, bidirectional=True, proj_size=2))
drawn("GRU", lambda: nn.GRU(3, 4, num_layers=2))
drawn("MultiheadAttention", lambda: nn.MultiheadAttention(6, 2, add_bias_kv=True))
drawn("MultiheadAttention kdim", lambda: nn.MultiheadAttention(6, 2, kdim=3, vdim=5))
drawn("TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(4, 2, 6))
drawn("Transformer", lambda: nn.Transformer(4, 2, 2, 2, 6))
