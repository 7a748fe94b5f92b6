"""What a PyTorch program does under mixed precision, recorded from outside.

A TorchDispatchMode sees the operations, below autocast and autograd: casts by autocast are visible as _to_copy, and the mode may
be entered and left between steps without a trace in the graph. A TorchFunctionMode sees the calls, above both: linear, layer_norm, with
module, line and what autocast casts to. The nodes of the graph get hooks that tell which call a derivative belongs to. docs/recordings.md
describes the file. Nothing private of torch is needed; what is used where it exists has a fallback.
"""
import gzip
import json
import math
import os
import statistics
import struct
import sys
import threading
import time
import weakref

import torch
from torch.nn.modules import module as hooks
from torch.optim import lr_scheduler
from torch.optim import optimizer as optim
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from . import show

try:
    import numpy
except ImportError:  # torch needs none
    numpy = None

VERSION = 1
STEPS = 2000  # steps whose calls are all kept; of later ones every second, of those after twice as many every fourth, and so on
MOST = 200_000  # operations; later ones are not recorded
TORCH, HERE = os.path.dirname(torch.__file__) + os.sep, os.path.dirname(os.path.abspath(__file__)) + os.sep
CASTS = {"to", "half", "float", "double", "bfloat16", "type", "type_as", "tensor", "as_tensor", "copy_"}
DTYPES = {getattr(torch, n): n for n in "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128 float8_e4m3fn float8_e5m2".split() if hasattr(torch, n)}
HALF = (torch.float16, torch.bfloat16)
SELECTS = {"relu", "threshold_backward", "where", "masked_fill", "clone", "copy", "cat", "stack", "_to_copy", "index", "index_select", "gather", "embedding", "max_pool2d_with_indices", "constant_pad_nd",
           "fill", "zeros_like", "ones_like", "full_like", "neg", "abs", "maximum", "minimum", "clamp", "clamp_min", "tril", "triu", "slice_backward", "select_backward"}  # their results are elements of operands: nothing is rounded
GradScaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler


clock = time.perf_counter_ns


class Call:
    """A call of torch's functions from the program: linear, layer_norm, half, __add__."""
    __slots__ = ("n", "name", "module", "line", "autocast", "made", "grad")

    def __init__(self, n, name, module, line, autocast, grad):
        self.n, self.name, self.module, self.line, self.autocast, self.grad, self.made = n, name, module, line, autocast, grad, set()


BLOCK = 1 << 17  # elements that are counted together: their bits stay in a processor's cache


def unpacked(form, bits, shift=0):
    """Returns a function from the bits of a magnitude to its value."""
    return lambda n: struct.unpack(form, struct.pack(bits, n << shift))[0]


# The integers of the same size, the bits without the sign, those of infinity and of the smallest normal number, the unsigned integers, and the value.
BITS = {
    torch.float16: (torch.int16, 0x7FFF, 0x7C00, 0x400, "uint16", unpacked("<e", "<H")),
    torch.bfloat16: (torch.int16, 0x7FFF, 0x7F80, 0x80, "uint16", unpacked("<f", "<I", 16)),
    torch.float32: (torch.int32, 0x7FFFFFFF, 0x7F800000, 0x800000, "uint32", unpacked("<f", "<I")),
    torch.float64: (torch.int64, (1 << 63) - 1, 0x7FF << 52, 1 << 52, "uint64", unpacked("<d", "<Q")),
}


def far(t):
    """The counts of a tensor of a GPU, as a tensor there."""
    a = t.detach().abs().flatten()
    n, tiny = a.numel(), torch.finfo(t.dtype).tiny
    few, inf, nan = a < tiny, torch.isinf(a), torch.isnan(a)
    zeros = a == 0
    return torch.stack([x.double() for x in (zeros.new_full((), n, dtype=torch.int64), zeros.sum(), (few & ~zeros).sum(), inf.sum(), nan.sum(), a.masked_fill(zeros | nan, math.inf).amin(), a.masked_fill(inf | nan, 0).amax())])


def plain(t):
    """The counts of a tensor without numpy."""
    return far(t).tolist()


NONE = Call(0, "", "", "", None, True)


class Recorder(show.Shown):
    """A recording, running or ended. halfnote.record makes it."""

    def __init__(self, model=None, optimizer=None, scaler=None, *, overhead=0.05, ranges=True, path=None):
        for name, value, kind in (("model", model, torch.nn.Module), ("optimizer", optimizer, object), ("scaler", scaler, object), ("path", path, (str, os.PathLike))):
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"halfnote.record: {name} is {type(value).__name__}; want {'a torch.nn.Module' if name == 'model' else 'a path'}")
        if overhead is not None and not overhead > 0:
            raise ValueError(f"halfnote.record: overhead is {overhead}; want a share of the run's time such as 0.05, or None to record every step")
        self.model, self.scaler, self.overhead, self.counting, self.path = model, scaler, overhead, ranges, path
        self.main = unwrapped(optimizer)
        self.paths, self.params, self.roots = {}, {}, []  # names of modules and parameters by id, and the models that have them
        if model is not None:
            self._adopt(model)
        self.ops, self.events, self.settled, self.told, self.full = [], [], 0, 0, False
        self.kinds, self.kind_list = {}, []
        self.step, self.phase, self.busy = 0, "forward", False
        self.call, self.of, self.calls_made, self.modules = NONE, NONE, 0, []
        self.ids, self.serial, self.cached, self.schemas, self.places = {}, 0, {}, {}, {}
        self.listed, self.first, self.spent, self.mark = {}, 0, 0, 0  # time of events in ns, and when the recorder began with one
        self.optimizers, self.scalers, self.stepped, self.stop, self.begins, self.sized = [], [], 0, [], 0, 0
        self.on, self.inner, self.scaling, self.again, self.ran, self.within = False, None, False, False, False, set()
        self.plain, self.extra, self.dear, self.own, self.begun, self.looked, self.weighed = [], 0.0, 0.0, 0.0, None, 0, set()
        self.far, self.scales = set(), {}  # scalers on a GPU; their last known scales
        self.last = {}  # counts of this step's tensors, by number and version
        self.notes, self.room, self.gpu = [], {}, torch.cuda.is_available()
        if any(type(m).__name__ == "OptimizedModule" for m in (model.modules() if model is not None else ())):
            self.notes.append("compiled functions run eagerly while operations are recorded: this is the eager program")

    # Beginning and end

    def __enter__(self):
        if self.begun is not None:
            raise RuntimeError("halfnote.record: this recording has already run; make another one")
        self.begun = self.turned = clock()
        self.wall = time.time()
        self.mode, self.calls, self.thread = _Operations(self), _Calls(self), threading.get_ident()
        self._patch()
        self._switch(True)
        return self

    def __exit__(self, kind, error, _):
        if kind is None and any(e["e"] in ("backward", "grad", "optimizer.step") for e in self.events[self.begins:]):
            self._memory()  # a step without an update
        self._switch(False)
        while self.stop:
            self.stop.pop()()
        self._settle()
        if kind is not None and issubclass(kind, Exception):
            self.events.append({"e": "error", "step": self.step, "at": len(self.ops), "line": "", "error": f"{kind.__name__}: {error}"[:500]})
        if self.path is not None:
            self.write(self.path)

    def running(self):
        """Whether the recording has begun and not ended."""
        return bool(self.stop)

    def log(self, values):
        """Notes numbers by name, as a training loop logs them: rec.log({"loss": 0.5})."""
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                value = self._loss(value)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self._event("log", name=str(name), value=float(value))

    def _switch(self, on):
        """Enters or leaves the modes, between steps. If another mode lies above, it waits: leaving would end that one."""
        if on == self.on or self.full and on:
            return
        if not on and not self._above():
            self.busy = self.waiting = True
            return
        self.on = on
        if on:
            self.mode.__enter__()
            self.hooks = hooks.register_module_forward_pre_hook(self._enters), hooks.register_module_forward_hook(self._leaves, always_call=True)
            self.calls.__enter__()
        else:
            self.calls.__exit__(None, None, None)
            self.modules.clear()
            for h in self.hooks:
                h.remove()
            self.mode.__exit__(None, None, None)
            self.busy = self.waiting = False

    waiting = False

    def _above(self):
        try:
            from torch.utils._python_dispatch import _get_current_dispatch_mode
            return _get_current_dispatch_mode() is self.mode
        except ImportError:
            return True

    def _wrap(self, owner, name, around):
        """Replaces a function of a class or a module, and where other modules have imported it by name."""
        old = vars(owner).get(name) or getattr(owner, name)

        def through(*args, **kwargs):  # the program's time, within the recorder's
            self.spent += clock() - self.mark
            try:
                return old(*args, **kwargs)
            finally:
                self.mark = clock()

        def wrapped(*args, **kwargs):
            if name in self.within:  # a method that calls that of its base
                return old(*args, **kwargs)
            self.within.add(name)
            self.mark = clock()
            try:
                return around(through, *args, **kwargs)
            finally:
                self.within.discard(name)
                self.spent += clock() - self.mark
        through.__name__ = name
        wrapped.__wrapped__, wrapped.__name__, wrapped.__doc__ = old, name, old.__doc__
        places = [owner]
        if not isinstance(owner, type):
            for m in list(sys.modules.values()):
                if m is not owner and isinstance(getattr(m, "__dict__", None), dict) and m.__dict__.get(name) is old:
                    places.append(m)
        for m in places:
            setattr(m, name, wrapped)
            self.stop.append(lambda m=m: setattr(m, name, old))

    def _patch(self):
        self.stop += [h.remove for h in (optim.register_optimizer_step_pre_hook(self._before_step), optim.register_optimizer_step_post_hook(self._after_step))]
        self.engine = (torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad)
        self._wrap(torch.autograd, "backward", self._backward)
        self._wrap(torch.autograd, "grad", self._backward)
        self._wrap(torch.nn.Module, "zero_grad", lambda f, m, *args, **kwargs: self._zero_grad(f, m, None, *args, **kwargs))
        for name, around in (("scale", self._scale), ("unscale_", self._unscale), ("step", self._scaler_step), ("update", self._update)):
            for c in {GradScaler, *subclasses(GradScaler)}:
                if name in vars(c):
                    self._wrap(c, name, around)
        for c in {torch.optim.Optimizer, *subclasses(torch.optim.Optimizer)}:
            if "zero_grad" in vars(c):
                self._wrap(c, "zero_grad", lambda f, o, *args, **kwargs: self._zero_grad(f, o, o, *args, **kwargs))
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            self._wrap(torch.nn.utils, name, self._clip)
        base = getattr(lr_scheduler, "LRScheduler", None) or lr_scheduler._LRScheduler
        for s in {base, *subclasses(base), lr_scheduler.ReduceLROnPlateau}:
            if "step" in vars(s):
                self._wrap(s, "step", self._schedule)

    def _adopt(self, model, prefix=""):
        """Takes the names of a model's modules and parameters."""
        self.roots.append((prefix, model))
        for known, list_ in ((self.paths, model.named_modules()), (self.params, model.named_parameters())):
            for name, one in list_:
                known.setdefault(id(one), prefix + name.replace("_orig_mod.", ""))

    def _enters(self, module, _):
        """Modules. In backward only checkpoints run modules; there the mode for calls is off, because it is off in its own handler."""
        if not self.modules and self.model is None and id(module) not in self.paths and any(True for _ in module.parameters()):
            self._adopt(module, type(module).__name__ + "." if self.roots else "")
        self.modules.append(module)
        if self.phase == "backward" and self.inner is None and self.on:
            self.inner = module
            self.calls.__enter__()

    def _leaves(self, module, *_):
        if self.modules:
            self.modules.pop()
        if self.inner is module:
            self.inner = None
            self.calls.__exit__(None, None, None)

    # Events: the calls of the training loop

    def _event(self, what, **facts):
        self.events.append({"e": what, "step": self.step, "at": len(self.ops), "line": self._line(), "ns": clock() - self.begun, **facts})

    def _within(self, phase, f, *args, **kwargs):
        before, self.phase = self.phase, phase
        try:
            return f(*args, **kwargs)
        finally:
            self.phase, self.of = before, NONE

    def _backward(self, f, tensors, *args, **kwargs):
        self.again, self.ran = bool(kwargs.get("create_graph", False)), False
        first = tensors if isinstance(tensors, torch.Tensor) else next(iter(tensors))
        evaluating = self.model is not None and not self.model.training and not any(m.training for m in self.model.modules())
        self._event(f.__name__, dtype=DTYPES.get(first.dtype), id=self._id(first), shape=list(first.shape), value=self._loss(first), autocast=autocast(first), eval=evaluating or None)
        if self.on and not self.busy and threading.get_ident() != self.thread:  # modes belong to a thread; the engine's own threads inherit them
            with _Operations(self):
                return self._within("backward", f, tensors, *args, **kwargs)
        return self._within("backward", f, tensors, *args, **kwargs)

    def _scale(self, f, scaler, loss):
        out = self._within("scaler", f, scaler, loss)
        if isinstance(loss, torch.Tensor) and scaler.is_enabled():
            if loss.device.type != "cpu":
                self.far.add(self._number(self.scalers, scaler))
            self._event("scale", scaler=self._number(self.scalers, scaler), loss=self._loss(loss), dtype=DTYPES.get(loss.dtype), shape=list(loss.shape), scale=self._scale_of(scaler, old=loss.device.type != "cpu"), id=self._id(loss), to=self._id(out))
        return out

    def _scale_of(self, scaler, old=False):
        """The scale of a scaler, or the last one that was read: reading that of a GPU waits for it."""
        n = self._number(self.scalers, scaler)
        if not (old and n in self.scales):
            before, self.busy = self.busy, True
            self.scales[n] = float(scaler.get_scale())
            self.busy = before
        return self.scales[n]

    def _unscale(self, f, scaler, opt):
        if not scaler.is_enabled():
            return f(scaler, opt)
        if "step" not in self.within:
            self._gradients(opt, self._scale_of(scaler, old=True))
            self._event("unscale", scaler=self._number(self.scalers, scaler), optimizer=self._number(self.optimizers, opt))
        return self._within("scaler", f, scaler, opt)

    def _scaler_step(self, f, scaler, opt, *args, **kwargs):
        if not scaler.is_enabled():
            return f(scaler, opt, *args, **kwargs)
        self._gradients(opt, self._scale_of(scaler, old=True))
        before, self.scaling = self.stepped, True
        try:
            out = self._within("scaler", f, scaler, opt, *args, **kwargs)
        finally:
            self.scaling = False
        skipped, bad = self.stepped == before, None
        if skipped:  # rare, so that looking for the parameter costs nothing in other steps
            with _Aside(self):
                bad = next((self._param(p) for p in params(opt) if p.grad is not None and not torch.isfinite(p.grad).all()), None)
        self._event("scaler.step", scaler=self._number(self.scalers, scaler), optimizer=self._number(self.optimizers, opt), scale=self._scale_of(scaler, old=self._number(self.scalers, scaler) not in self.far), skipped=skipped, parameter=bad)
        return out

    def _update(self, f, scaler, *args, **kwargs):
        if not scaler.is_enabled():
            return f(scaler, *args, **kwargs)
        n, before = self._number(self.scalers, scaler), self._scale_of(scaler, old=True)
        out = self._within("scaler", f, scaler, *args, **kwargs)
        self._event("update", scaler=n, before=before, after=None if n in self.far else self._scale_of(scaler))
        self._next()
        return out

    def _clip(self, f, parameters, limit, *args, **kwargs):
        self._event(f.__name__, limit=float(limit))
        return self._within("scaler", f, parameters, limit, *args, **kwargs)

    def _zero_grad(self, f, of, opt, *args, **kwargs):
        self._event("zero_grad", optimizer=None if opt is None else self._number(self.optimizers, unwrapped(opt)))
        return f(of, *args, **kwargs)

    def _schedule(self, f, scheduler, *args, **kwargs):
        if not getattr(scheduler, "_is_initial", False) and not isinstance(sys._getframe(2).f_locals.get("self"), type(scheduler)):  # not the one of its constructor
            self._event("lr_scheduler.step", optimizer=self._number(self.optimizers, unwrapped(scheduler.optimizer)))
        return f(scheduler, *args, **kwargs)

    def _before_step(self, opt, args, kwargs):
        self.mark = clock()
        if not closure(opt, args, kwargs):  # a closure computes the gradients within the step
            self._note_step(opt)
        self.held, self.phase = self.phase, "optimizer"
        self.spent += clock() - self.mark

    def _note_step(self, opt):
        groups = [{k: float(g[k]) for k in ("lr", "eps") if isinstance(g.get(k), (int, float))} for g in opt.param_groups]
        if not self.scaling:
            self._gradients(opt, 1)
        n = self._number(self.optimizers, opt)
        known = self.listed.get(n)
        if known is None or self.on or self.step % 16 == 0:  # a look at each parameter takes longer than the rest
            listed = list(params(opt))
            with_grad = [p for p in listed if p.grad is not None]
            known = self.listed[n] = len(listed), sorted({DTYPES.get(p.dtype, str(p.dtype)) for p in listed}), len(with_grad), with_grad[0] if with_grad else listed[0] if listed else None
        of, dtypes, grads, one = known
        first = one.grad if one is not None else None
        self._event("optimizer.step", optimizer=n, name=type(opt).__name__, groups=groups, dtypes=dtypes, grads=grads, of=of,
                    grad=[self._id(first), first._version] if first is not None else None, autocast=autocast(one) if one is not None else None, scaler=self.scaling or None)

    def _after_step(self, opt, args, kwargs):
        self.mark = clock()
        self.phase = self.held
        if closure(opt, args, kwargs):
            self._note_step(opt)
        self.stepped += 1
        mine = opt is self.main or self.main is None and self._number(self.optimizers, opt) == 0
        if not self.scaling and mine:  # with a scaler, the step ends at update
            self._next()
        self.spent += clock() - self.mark

    def _next(self):
        """Ends a step, and decides whether the operations of the next are recorded."""
        self._memory()
        self._settle()
        now = clock()
        took, self.turned = (now - self.turned) / 1e9, now
        recorded = self.on and not self.busy
        since = self.events[self.begins:]
        if self.step >= STEPS and not recorded and self.step % (1 << (self.step // STEPS).bit_length()) and not any(e.get("skipped") for e in since):
            del self.events[self.begins:]
            self.told = min(self.told, self.begins)
        self.begins = len(self.events)
        self.step += 1
        self.cached.clear()
        self.weighed.clear()
        self.last.clear()
        if self.step % 16 == 0:
            self.ids = {k: v for k, v in self.ids.items() if v[0]() is not None}
        if len(self.ops) >= MOST and not self.full:
            self.full = True
            self.notes.append(f"operations after the first {len(self.ops)} are not recorded")
        if self.overhead is None and not self.full:
            if self.waiting:
                self.waiting = self.busy = False
            return self._switch(True)
        if recorded:  # what it cost: at least what the recorder measured itself
            self.dear = max(self.own, took - statistics.median(self.plain) if self.plain else took)
            self.extra += self.dear
        elif self.step > 1:
            self.plain = [*self.plain[-15:], took]
            if self.first and len(self.plain) == 4:  # now the cost of the first step is known
                self.dear = max(self.own, self.first - statistics.median(self.plain))
                self.extra += self.dear - self.first
                self.first = 0
        if self.step == 1:
            self.first = took
        self.own = 0.0
        elapsed, more = (now - self.begun) / 1e9, self.dear
        self._switch(not self.full and len(self.plain) >= 4 and self.extra + self.spent / 1e9 + more <= self.overhead * (elapsed + more))
        self.turned = clock()

    def _memory(self):
        used = None
        if torch.cuda.is_initialized():
            used = torch.cuda.max_memory_allocated()
            torch.cuda.reset_peak_memory_stats()
        elif (now := clock()) - self.sized > 250_000_000:
            self.sized = now
            try:
                with open("/proc/self/statm", "rb") as f:
                    used = int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            except (OSError, ValueError, AttributeError):
                pass
        self.events.append({"e": "step", "step": self.step, "at": len(self.ops), "line": "", "ns": clock() - self.begun, "memory": used, "recorded": self.on and not self.busy})

    # Names

    def _number(self, known, one):
        for i, o in enumerate(known):
            if o() is one:
                return i
        known.append(weakref.ref(one))
        return len(known) - 1

    def _param(self, p):
        return self.params.get(id(p), "a parameter of shape " + str(tuple(p.shape)))

    def _id(self, t):
        """The number of a tensor; those of dead tensors are not used again."""
        known = self.ids.get(id(t))
        if known is not None and known[0]() is t:
            return known[1]
        self.serial += 1
        self.ids[id(t)] = (weakref.ref(t), self.serial)
        return self.serial

    def _line(self):
        f = sys._getframe(2)
        while f is not None:
            code = f.f_code
            _, name = self.places.get(id(code)) or self.places.setdefault(id(code), (code, place(code.co_filename)))  # by id: the hash of code is that of all its constants
            if name:
                return f"{name}, line {f.f_lineno}"
            f = f.f_back
        return ""

    def _path(self):
        for m in reversed(self.modules):
            name = self.paths.get(id(m))
            if name is not None:
                return name
        return type(self.modules[-1]).__name__ if self.modules else ""

    # Operations

    def _operation(self, func, args, kwargs):
        if self.busy or self.gpu and torch.cuda.is_current_stream_capturing():  # a capture lets nothing come to the host
            return func(*args, **kwargs)
        self.busy, entered, took = True, clock(), 0
        try:
            known = self.schemas.get(func)
            if known is None:
                space, name = str(func.overloadpacket).split(".", 1)
                tags = getattr(func, "tags", ())
                steady = not (torch.Tag.nondeterministic_seeded in tags or "batch_norm" in name or "dropout" in name or "rand" in name or name in SELECTS)
                known = self.schemas[func] = (name if space == "aten" else space + "::" + name, name.endswith("_") and not name.endswith("__"), name == "detach" or getattr(func, "is_view", False), steady)
            if known[0].startswith("profiler::"):
                return func(*args, **kwargs)
            ins = []
            for a in (*args, *kwargs.values()) if kwargs else args:
                if isinstance(a, torch.Tensor):
                    ins.append(a)
                elif isinstance(a, (list, tuple)):
                    ins += [t for t in a if isinstance(t, torch.Tensor)]
            start = clock()
            out = func(*args, **kwargs)
            took = clock() - start
            self._note(func, *known, ins, args, kwargs, out, start, took)
            return out
        finally:
            self.busy = self.waiting
            self.own += (clock() - entered - took) / 1e9

    def _now(self):
        """The phase: an optimizer runs without grad mode, and a closure in it with it."""
        return "forward" if self.phase == "optimizer" and torch.is_grad_enabled() else self.phase

    def _note(self, func, name, inplace, view, steady, ins, args, kwargs, out, start, took):
        outs = [out] if isinstance(out, torch.Tensor) else [t for t in out if isinstance(t, torch.Tensor)] if isinstance(out, (list, tuple)) else []
        if inplace and not outs:  # foreach operations return nothing
            outs = [t for t in args[0]] if args and isinstance(args[0], (list, tuple)) else []
        call, phase = self.call, self._now()
        self.ran = self.ran or not torch.is_grad_enabled()
        again = phase == "backward" and not self.again and self.ran and torch.is_grad_enabled()  # derivatives run without grad mode, checkpoints with it
        if phase == "backward" and not again:
            call = self.of
        cast = None
        if name == "_to_copy" and ins and outs and ins[0].dtype != outs[0].dtype:
            if again or phase == "forward":
                cast = "program" if call.name in CASTS else "autocast" if call.autocast else "promotion"
            else:
                cast = "derivative" if phase == "backward" else phase
        key = (name, call.name, call.module, call.line, phase, again, cast, call.autocast, inplace, view, call.grad, outs[0].device.type if outs else "",
               tuple((t.dtype, tuple(t.shape)) for t in ins), tuple((t.dtype, tuple(t.shape)) for t in outs))
        kind = self.kinds.get(key)
        if kind is None:
            kind = self.kinds[key] = len(self.kind_list)
            self.kind_list.append(key)
        counts = lost = None  # also for empty and its like, whose memory nothing has written
        if self.counting and not view and "empty" not in name and (inplace or phase != "optimizer") and (floats := [t for t in outs if t.is_floating_point() and t.numel()]):
            counts = self._counts(floats)
            if counts is None:
                pass
            elif cast and ins[0].is_floating_point():
                lost = self._lost(counts, ins[0], phase)
            elif steady and not inplace and len(outs) == 1 and outs[0].dtype == torch.float16 and (isinstance(counts[0], torch.Tensor) or counts[1] or counts[3]):  # only what has zeros or inf may have lost something
                lost = self._wide(func, args, kwargs, counts, phase)
        self.ops.append((kind, self.step, call.n, start - self.begun, took, tuple(self._id(t) for t in ins), tuple(self._id(t) for t in outs), counts, lost))

    def _counts(self, tensors, known=False):
        """Elements, zeros, subnormals, infinities, NaN, smallest nonzero and largest finite magnitude. On a GPU, a list of
        tensors that _settle fetches at the end of the step."""
        if tensors[0].is_meta:
            return None
        try:
            rows = []
            for t in tensors:
                key = self._id(t), 0 if t.is_inference() else t._version
                row = self.last.get(key) if known else None  # an operand has been counted as a result
                if row is None:
                    row = self.last[key] = self._count(t)
                rows.append(row)
        except (RuntimeError, TypeError, NotImplementedError):  # a tensor without values, or a dtype whose numbers torch does not compare
            return None
        if isinstance(rows[0], torch.Tensor):
            return rows  # one row for each tensor
        return total(rows)

    def _count(self, t):
        if t.device.type != "cpu":
            return far(t)
        if numpy is None or t.dtype not in BITS:
            return plain(t)
        if not t.is_contiguous():
            t = t.contiguous()
        bits = t.detach().view(-1).view(BITS[t.dtype][0]).numpy()
        if bits.size <= BLOCK:
            return self._block(bits, t.dtype)
        return total([self._block(bits[i:i + BLOCK], t.dtype) for i in range(0, bits.size, BLOCK)])

    def _block(self, bits, dtype):
        """The counts of at most BLOCK elements, from their bits: without the sign, those of larger magnitudes are larger. Fewer and shorter passes than in numbers."""
        _, mask, inf, tiny, unsigned, value = BITS[dtype]
        room = self.room.get(dtype)
        if room is None:
            room = self.room[dtype] = numpy.empty(BLOCK, bits.dtype), numpy.empty(BLOCK, bits.dtype)
        n = bits.size
        m = numpy.bitwise_and(bits, mask, out=room[0][:n])
        low, high = int(m.min()), int(m.max())
        zeros = few = infs = nans = 0
        if high >= inf:
            infs, nans = int(numpy.count_nonzero(m == inf)), int(numpy.count_nonzero(m > inf))
            m = m[m < inf]
            low, high = (int(m.min()), int(m.max())) if m.size else (inf, 0)
        if low == 0:
            zeros = m.size - int(numpy.count_nonzero(m))
            less = numpy.subtract(m, 1, out=room[1][:m.size]).view(unsigned)  # 0 becomes the largest
            low = int(less.min()) + 1 if zeros < m.size else inf
        if low < tiny:
            few = int(numpy.count_nonzero(m < tiny)) - zeros
        return [n, zeros, few, infs, nans, value(low), value(high)]

    def _lost(self, counts, wide, phase):
        """What a result has lost against the same in a wider dtype: both counts, and the powers of two of what became 0 in backward."""
        more = self._counts([wide], known=True)
        powers = None
        if more is None:
            return None
        if phase == "backward" and not isinstance(more[0], torch.Tensor) and counts[1] > more[1]:
            exponents = torch.frexp(wide.detach().float().flatten())[1][wide.detach().flatten() != 0] - 1
            low = int(exponents.min())  # the smallest are those that became 0
            left, powers = counts[1] - more[1], []
            for i, n in enumerate(torch.bincount(exponents - low).tolist()):
                if left > 0 and n:
                    powers.append([low + i, min(n, left)])
                    left -= n
        return more, powers

    def _wide(self, func, args, kwargs, counts, phase):
        """The same operation again, in float32."""
        up = lambda a: a.float() if isinstance(a, torch.Tensor) and a.dtype in HALF else [up(x) for x in a] if isinstance(a, (list, tuple)) else torch.float32 if a in HALF else a
        try:
            return self._lost(counts, func(*[up(a) for a in args], **{k: up(v) for k, v in kwargs.items()}), phase)
        except (RuntimeError, TypeError, NotImplementedError):
            return None

    def _gradients(self, opt, scale):
        """Notes the gradients of an optimizer's parameters, once a step."""
        n = self._number(self.optimizers, opt)
        if not self.on or self.busy or not self.counting or n in self.weighed:
            return
        self.weighed.add(n)
        rows = []
        with _Aside(self):
            for p in params(opt):
                if p.grad is None:
                    rows.append([self._id(p), 0, None])
                elif p.grad.is_floating_point() and not p.grad.is_sparse and p.grad.numel():
                    rows.append([self._id(p), self._id(p.grad), self._counts([p.grad])])
        self.events.append({"e": "gradients", "step": self.step, "at": len(self.ops), "line": "", "optimizer": n, "scale": scale, "list": rows})

    def _loss(self, t):
        """The value of a loss, without a trace of reading it. That of a GPU is read four times a second at most."""
        if t.numel() != 1 or t.is_complex() or t.is_meta:
            return None
        if t.device.type != "cpu":
            if self.gpu and torch.cuda.is_current_stream_capturing():
                return None
            now = clock()
            if now - self.looked < 250_000_000:
                return None
            self.looked = now
        before, self.busy = self.busy, True
        try:
            return float(t.item())
        except RuntimeError:  # under torch.func a tensor may have no value yet
            return None
        finally:
            self.busy = before

    def _settle(self):
        """Brings counts from the device: one transfer for a step, not one for each operation."""
        rows = [counts for op in self.ops[self.settled:] for counts in (op[7], op[8] and op[8][0]) if counts and isinstance(counts[0], torch.Tensor)]
        for e in self.events[self.told:]:
            rows += [r[2] for r in e.get("list", ()) if r[2] and isinstance(r[2][0], torch.Tensor)]
        self.settled, self.told = len(self.ops), len(self.events)
        if not rows:
            return
        with _Aside(self):
            devices = {}
            for r in rows:
                devices.setdefault(r[0].device, []).append(r)
            for list_ in devices.values():
                values = iter(torch.stack([x for r in list_ for x in r]).tolist())
                for r in list_:
                    r[:] = total([next(values) for _ in r])

    # The file

    def lines(self):
        """Yields the lines of the file: a header, then kinds of operations before their first use, operations and events in order."""
        listed = [p for _, model in self.roots for p in model.parameters()]
        yield {"halfnote": "recording", "version": VERSION, "producer": "torch " + torch.__version__.split("+")[0], "begun": self.wall if self.begun else time.time(), "notes": self.notes,
               "parameters": [[self._id(p), self.params[id(p)], DTYPES.get(p.dtype, str(p.dtype)), list(p.shape), p.requires_grad] for p in listed]}
        events, told, next_event = self.events, set(), 0
        for i, (kind, step, n, start, took, into, outs, counts, lost) in enumerate(self.ops):
            while next_event < len(events) and events[next_event]["at"] <= i:
                yield tidy(events[next_event])
                next_event += 1
            if kind not in told:
                told.add(kind)
                name, call, module, line, phase, again, cast, cast_to, inplace, view, grad, device, ins, results = self.kind_list[kind]
                yield tidy({"k": kind, "op": name, "call": call, "module": module, "line": line, "phase": phase, "recompute": again, "cast": cast, "autocast": cast_to, "inplace": inplace, "view": view, "nograd": not grad, "device": device,
                            "in": [[DTYPES.get(d, str(d)), list(s)] for d, s in ins], "out": [[DTYPES.get(d, str(d)), list(s)] for d, s in results]})
            row = [kind, step, n, start, took, into, outs]
            if counts is not None:
                row.append(short(counts))
                if lost is not None and lost[0]:
                    row.append(short(lost[0]))
                    if lost[1]:
                        row.append(lost[1])
            yield row
        for e in events[next_event:]:
            yield tidy(e)

    def write(self, path):
        """Writes the recording to a file, compressed if its name ends with .gz."""
        self._settle()
        with (gzip.open(path, "wt", encoding="utf-8", newline="\n") if os.fspath(path).endswith(".gz") else open(path, "w", encoding="utf-8", newline="\n")) as f:
            for line in self.lines():
                f.write(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n")


class _Aside:
    """Runs what the recorder does itself, unseen by it."""

    def __init__(self, rec):
        self.rec = rec

    def __enter__(self):
        self.before, self.rec.busy = self.rec.busy, True
        self.grad = torch.no_grad()
        self.grad.__enter__()

    def __exit__(self, *error):
        self.grad.__exit__(*error)
        self.rec.busy = self.before


class _Operations(TorchDispatchMode):
    def __init__(self, rec):
        super().__init__()
        self.rec = rec

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self.rec._operation(func, args, kwargs or {})


class _Calls(TorchFunctionMode):
    def __init__(self, rec):
        super().__init__()
        self.rec = rec

    def __torch_function__(self, func, types, args=(), kwargs=None):
        rec, kwargs = self.rec, kwargs or {}
        name = getattr(func, "__name__", "")
        if rec.busy or name == "__get__" or name == "__set__" or rec._now() in ("optimizer", "scaler") or func in rec.engine:
            return func(*args, **kwargs)
        before = rec.call
        rec.calls_made += 1
        rec.call = Call(rec.calls_made, name, rec._path(), rec._line(), autocast(args[0] if args else None), torch.is_grad_enabled())
        try:
            out = func(*args, **kwargs)
            if rec.call.grad:
                follow(rec, out)
            return out
        finally:
            rec.call = before


def follow(rec, out):
    """Attaches the call to the nodes that it added to the graph."""
    todo = [t.grad_fn for t in (out if isinstance(out, (list, tuple)) else (out,)) if isinstance(t, torch.Tensor) and t.grad_fn is not None]
    while todo:
        node = todo.pop()
        if node is None or "halfnote" in node.metadata or node.name().endswith("AccumulateGrad"):
            continue
        node.metadata["halfnote"] = call = rec.call

        def before(_, call=call):
            rec.of = call

        def after(*_):
            rec.of = NONE
        node.register_prehook(before)
        node.register_hook(after)
        todo += [n for n, _ in node.next_functions]


def place(file):
    """The name of a file of the program, as halfnote writes it: "In[3]" for a cell. It is "" for those of torch and of this package."""
    if file.startswith((TORCH, HERE, "<frozen")) or os.sep + "contextlib.py" in file or os.sep + "site-packages" + os.sep + "torch" in file:
        return ""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cells = getattr(getattr(shell, "compile", None), "_filename_map", None) or {}
    return f"In[{cells[file]}]" if file in cells else os.path.basename(file)


def autocast(t):
    """The dtype to which autocast casts operands on t's device now, or None."""
    kind = t.device.type if isinstance(t, torch.Tensor) else "cuda" if _enabled("cuda") else "cpu"
    return DTYPES.get(_dtype(kind)) if _enabled(kind) else None


try:
    torch.is_autocast_enabled("cpu")
    _enabled, _dtype = torch.is_autocast_enabled, torch.get_autocast_dtype
except TypeError:  # before torch 2.4
    _enabled = lambda kind: torch.is_autocast_cpu_enabled() if kind == "cpu" else torch.is_autocast_enabled()
    _dtype = lambda kind: torch.get_autocast_cpu_dtype() if kind == "cpu" else torch.get_autocast_gpu_dtype()


def closure(opt, args, kwargs):
    """Whether a step has a closure. The optimizer itself is one of the arguments."""
    return any(callable(a) and a is not opt for a in (*args, kwargs.get("closure")))


def unwrapped(opt):
    """The optimizer in those of accelerate and Lightning."""
    return getattr(opt, "optimizer", opt)


def params(opt):
    return (p for g in opt.param_groups for p in g["params"])


def subclasses(c):
    for s in c.__subclasses__():
        yield s
        yield from subclasses(s)


def total(rows):
    """The counts of several tensors as one."""
    return [*(sum(r[i] for r in rows) for i in range(5)), min(r[5] for r in rows), max(r[6] for r in rows)]


def short(counts):
    """Counts for the file: integers, and magnitudes with six digits; null where there is no finite number."""
    return [int(x) for x in counts[:5]] + [float(f"{x:.6g}") if math.isfinite(x) and x > 0 else None for x in counts[5:]]


def number(x):
    """JSON has no inf and no NaN: they are strings."""
    return x if not isinstance(x, float) or math.isfinite(x) else str(x)


def tidy(d):
    """An object of the file without what is not set."""
    if "list" in d:
        d = {**d, "list": [[p, g, short(c) if c else None] for p, g, c in d["list"]]}
    return {k: number(v) for k, v in d.items() if v is not None and v is not False and v != ""}
