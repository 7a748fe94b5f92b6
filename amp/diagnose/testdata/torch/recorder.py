"""Checks the recorder against programs of PyTorch. Prints the name of each check that holds.

The folder install/jupyter of this repository must be in PYTHONPATH.
"""
import math
import threading

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_
from torch.utils.checkpoint import checkpoint
from torch.utils._python_dispatch import TorchDispatchMode

import halfnote

GradScaler = getattr(torch.amp, "GradScaler", None)
scaler_of = (lambda **o: GradScaler("cpu", **o)) if GradScaler else (lambda **o: torch.cuda.amp.GradScaler(**o))
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.drop, self.batch, self.last = nn.Linear(16, 32), nn.LayerNorm(32), nn.Dropout(0.3), nn.BatchNorm1d(32), nn.Linear(32, 4)

    def forward(self, x):
        return self.last(self.batch(self.drop(torch.relu(self.norm(self.first(x)))).float()))


def program(steps=4, dtype=torch.float16, init_scale=65536.0):
    torch.manual_seed(0)
    net = Net()
    opt = torch.optim.Adam(net.parameters())
    scaler = scaler_of(init_scale=init_scale)
    x, y = torch.randn(24, 16), torch.randint(0, 4, (24,))

    def run():
        for _ in range(steps):
            opt.zero_grad()
            with torch.autocast("cpu", dtype):
                loss = F.cross_entropy(net(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(opt)
            clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(opt)
            scaler.update()
        return [loss.detach(), torch.rand(3), *(p.detach() for p in net.parameters()), *net.buffers()]
    return net, opt, scaler, run


def names(rec, **of):
    return [k[1] or k[0] for k in (rec.kind_list[o[0]] for o in rec.ops) if all({"phase": k[4], "recompute": k[5], "cast": k[6]}[n] == v for n, v in of.items())]


def events(rec):
    return [e["e"] for e in rec.events]


def same_bits():
    """Results and the state of the generator are those of a run without a recorder, however many steps are recorded."""
    want = program()[3]()
    for overhead in (None, 0.05, 1e9):
        net, opt, scaler, run = program()
        with halfnote.record(net, opt, scaler, overhead=overhead):
            got = run()
        assert all(torch.equal(a, b) for a, b in zip(want, got)), overhead


def nothing_stays():
    """What the recorder replaces is restored."""
    before = torch.amp.GradScaler.step if GradScaler else None, torch.autograd.backward, clip_grad_norm_, torch.optim.Optimizer.zero_grad, nn.Module.zero_grad
    net, opt, scaler, run = program(1)
    try:
        with halfnote.record(net, opt, scaler, overhead=None):
            run()
            raise ValueError
    except ValueError:
        pass
    assert before == (torch.amp.GradScaler.step if GradScaler else None, torch.autograd.backward, clip_grad_norm_, torch.optim.Optimizer.zero_grad, nn.Module.zero_grad)
    assert torch.utils._python_dispatch._get_current_dispatch_mode() is None


def all_events():
    """A name imported before the recording counts; each step has its calls in order."""
    net, opt, scaler, run = program(2)
    with halfnote.record(net, opt, scaler, overhead=None) as rec:
        run()
    want = ["zero_grad", "scale", "backward", "gradients", "unscale", "clip_grad_norm_", "optimizer.step", "scaler.step", "update", "step"]
    assert events(rec) == want * 2, events(rec)


def skips():
    net, opt, scaler, run = program(2, init_scale=2.0**40)
    with halfnote.record(net, opt, scaler, overhead=None) as rec:
        run()
    steps = [e for e in rec.events if e["e"] == "scaler.step"]
    assert [e["skipped"] for e in steps] == [True, True] and steps[0]["parameter"] == "first.weight" and steps[0]["scale"] == 2.0**40, steps


def casts():
    """Operations, casts and the cache of a step."""
    net, opt, scaler, run = program(1, torch.bfloat16)
    with halfnote.record(net, opt, scaler, overhead=None) as rec:
        run()
    assert names(rec, phase="forward", cast="autocast")[:3] == ["linear"] * 3, names(rec, phase="forward", cast="autocast")
    assert names(rec, phase="forward", cast="program") == ["float"], names(rec, phase="forward", cast="program")


def checkpoints():
    """Recomputation is marked, with both kinds of checkpoint."""
    for reentrant in (True, False):
        net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
        opt = torch.optim.SGD(net.parameters(), 0.1)
        with halfnote.record(net, opt, overhead=None) as rec:
            checkpoint(net, torch.randn(4, 8, requires_grad=True), use_reentrant=reentrant).sum().backward()
            opt.step()
        assert {"linear", "relu"} <= set(names(rec, recompute=True)), (reentrant, names(rec, recompute=True))
        assert "linear" in names(rec, phase="backward", recompute=False)


def several_optimizers():
    """The step ends with the given optimizer."""
    a, b = nn.Linear(4, 4), nn.Linear(4, 1)
    first, second = torch.optim.SGD(a.parameters(), 0.1), torch.optim.SGD(b.parameters(), 0.1)
    with halfnote.record(nn.Sequential(a, b), second, overhead=None) as rec:
        for _ in range(3):
            b(a(torch.randn(2, 4))).sum().backward()
            first.step()
            second.step()
    assert [e["step"] for e in rec.events if e["e"] == "optimizer.step"] == [0, 0, 1, 1, 2, 2]


def closures():
    """A closure that the optimizer calls has a forward and a backward pass; the gradients are those that the step used."""
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), 0.1)

    def closure():
        opt.zero_grad()
        loss = net(torch.randn(2, 4)).sum()
        loss.backward()
        return loss
    with halfnote.record(net, opt, overhead=None) as rec:
        opt.step(closure)
    assert "linear" in names(rec, phase="forward") and names(rec, phase="backward") and names(rec, phase="optimizer")
    assert events(rec) == ["zero_grad", "backward", "gradients", "optimizer.step", "step"], events(rec)
    assert all(g for _, g, _ in rec.events[2]["list"]), rec.events[2]


def threads():
    """Backward in a thread of the program is recorded."""
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), 0.1)
    with halfnote.record(net, opt, overhead=None) as rec:
        loss = net(torch.randn(2, 4)).sum()
        t = threading.Thread(target=loss.backward)
        t.start()
        t.join()
        opt.step()
    assert names(rec, phase="backward"), rec.ops


def compiled():
    """A compiled function is recorded as the eager program, and stays usable."""
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    fast = torch.compile(net, backend="eager")
    opt = torch.optim.SGD(net.parameters(), 0.1)
    with halfnote.record(fast, opt, overhead=None) as rec:
        fast(torch.randn(2, 4)).sum().backward()
        opt.step()
    assert "addmm" in [rec.kind_list[o[0]][0] for o in rec.ops] and rec.notes and rec.params and "0.weight" in rec.params.values()
    fast(torch.randn(2, 4))


def foreign_modes():
    """A mode that the program enters in a step and leaves later is not ended in its place."""
    class Mode(TorchDispatchMode):
        calls = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            Mode.calls += 1
            return func(*args, **(kwargs or {}))

    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), 0.1)
    mode = Mode()
    with halfnote.record(net, opt, overhead=1e-9) as rec:
        for i in range(4):
            if i == 0:
                mode.__enter__()
            net(torch.randn(2, 4)).sum().backward()
            opt.step()
            if i == 2:
                before = Mode.calls
                net(torch.randn(2, 4))
                assert Mode.calls > before
                mode.__exit__(None, None, None)
    assert rec.step == 4 and torch.utils._python_dispatch._get_current_dispatch_mode() is None


def second_derivatives():
    """A gradient penalty runs as without the recorder."""
    def run():
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        opt = torch.optim.SGD(net.parameters(), 0.1)
        x = torch.randn(3, 4)
        loss = net(x).sum()
        grads = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
        (loss + sum(g.pow(2).sum() for g in grads)).backward()
        opt.step()
        return list(net.parameters())
    want = run()
    with halfnote.record(overhead=None) as rec:
        got = run()
    assert all(torch.equal(a, b) for a, b in zip(want, got)) and "grad" in events(rec)


def counts():
    """Counts from the bits are those that comparisons of numbers give."""
    rec, torch_only = halfnote.record(), halfnote.recorder.plain
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        least, most = torch.finfo(dtype).smallest_normal, torch.finfo(dtype).max
        x = torch.cat([torch.randn(997), torch.zeros(5)]).to(dtype)
        odd = torch.tensor([0.0, -0.0, least, -least, least / 4, most, -most, math.inf, -math.inf, math.nan, 1.0, -2.0]).to(dtype)
        cases = [x, -x.abs(), torch.relu(x), odd, odd[:7], odd[7:10], odd[:2], odd[4:5], odd[9:10], x[:990].view(9, 110).t(), x[::3], torch.cat([x, odd] * 200), torch.randn(300_000).to(dtype), torch.randn(3, requires_grad=True).to(dtype)]
        for i, t in enumerate(cases):
            got, want = rec._counts([t]), torch_only(t)
            assert all(a == b or math.isclose(a, b, rel_tol=1e-6) for a, b in zip(got, want)), (dtype, i, got, want)
    assert rec._counts([torch.zeros(3, device="meta")]) is None


def without_model():
    """The first model that runs gives the names if none was given."""
    net, opt, scaler, run = program(1)
    with halfnote.record(overhead=None) as rec:
        run()
    assert "first" in {k[2] for k in rec.kind_list} and "first.weight" in rec.params.values(), rec.params
    assert len(next(rec.lines())["parameters"]) == 8


def logs():
    """Numbers that the program logs, and the state of a recording."""
    rec = halfnote.record(overhead=None)
    assert not rec.running()
    with rec:
        rec.log({"loss": 0.5, "accuracy": torch.tensor(1.0), "name": "x"})
        assert rec.running()
    assert [(e["name"], e["value"]) for e in rec.events] == [("loss", 0.5), ("accuracy", 1.0)] and not rec.running()


def refusals():
    """Arguments that make no sense are errors in words."""
    for call, text in ((lambda: halfnote.record("net"), "want a torch.nn.Module"), (lambda: halfnote.record(overhead=0), "want a share"), (lambda: halfnote.load("none.hnt"), "does not exist")):
        try:
            call()
        except (TypeError, ValueError, FileNotFoundError) as err:
            assert text in str(err), err
        else:
            raise AssertionError(text)


for check in (same_bits, nothing_stays, all_events, skips, casts, checkpoints, several_optimizers, closures, threads, compiled, foreign_modes, second_derivatives, counts, without_model, logs, refusals):
    check()
    print(check.__name__)
