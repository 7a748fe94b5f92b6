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


class Call:
    """A call of torch's functions from the program: linear, layer_norm, half, __add__."""
    __slots__ = ("n", "name", "module", "line", "autocast", "made", "grad")

    def __init__(self, n, name, module, line, autocast, grad):
        self.n, self.name, self.module, self.line, self.autocast, self.grad, self.made = n, name, module, line, autocast, grad, set()


NONE = Call(0, "", "", "", None, True)


class Recorder(show.Shown):
    """A recording, running or ended. halfnote.record makes it."""

    def __init__(self, model=None, optimizer=None, scaler=None, *, overhead=0.05, ranges=True, path=None):
        for name, value, kind in (("model", model, torch.nn.Module), ("optimizer", optimizer, object), ("scaler", scaler, object), ("path", path, (str, os.PathLike))):
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"halfnote.record: {name} is {type(value).__name__}; want {'a torch.nn.Module' if name == 'model' else 'a path'}")
        if overhead is not None and not overhead > 0:
            raise ValueError(f"halfnote.record: overhead is {overhead}; want a share of the run's time such as 0.05, or None to record every step")
        self.model, self.main, self.scaler, self.overhead, self.counting, self.path = model, optimizer, scaler, overhead, ranges, path
        named = lambda list_: {id(x): n.replace("_orig_mod.", "") for n, x in list_}
        self.paths = named(model.named_modules()) if model is not None else {}
        self.params = named(model.named_parameters()) if model is not None else {}
        self.ops, self.events, self.settled, self.told, self.full = [], [], 0, 0, False
        self.kinds, self.kind_list = {}, []
        self.step, self.phase, self.busy = 0, "forward", False
        self.call, self.of, self.calls_made, self.modules = NONE, NONE, 0, []
        self.ids, self.serial, self.cached, self.schemas, self.places = {}, 0, {}, {}, {}
        self.optimizers, self.scalers, self.stepped, self.stop, self.begins, self.sized = [], [], 0, [], 0, 0
        self.on, self.inner, self.scaling, self.again, self.ran, self.within = False, None, False, False, False, set()
        self.plain, self.extra, self.dear, self.own, self.begun, self.looked, self.weighed = [], 0.0, 0.0, 0.0, None, 0, set()
        self.far, self.scales = set(), {}  # scalers on a GPU; their last known scales
        self.notes = []
        if any(type(m).__name__ == "OptimizedModule" for m in (model.modules() if model is not None else ())):
            self.notes.append("compiled functions run eagerly while operations are recorded: this is the eager program")

    # Beginning and end

    def __enter__(self):
        if self.begun is not None:
            raise RuntimeError("halfnote.record: this recording has already run; make another one")
        self.begun = self.turned = time.perf_counter_ns()
        self.wall = time.time()
        self.mode, self.calls, self.thread = _Operations(self), _Calls(self), threading.get_ident()
        self._patch()
        self._switch(True)
        return self

    def __exit__(self, kind, error, _):
        if kind is None and any(e["e"] in ("backward", "grad", "optimizer.step") for e in self.events[self.begins:]):
            self._memory()  # a step without an update
        self._switch(False)
        for undo in reversed(self.stop):
            undo()
        self.stop.clear()
        self._settle()
        if kind is not None and issubclass(kind, Exception):
            self.events.append({"e": "error", "step": self.step, "at": len(self.ops), "line": "", "error": f"{kind.__name__}: {error}"[:500]})
        if self.path is not None:
            self.write(self.path)

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

        def wrapped(*args, **kwargs):
            if name in self.within:  # a method that calls that of its base
                return old(*args, **kwargs)
            self.within.add(name)
            try:
                return around(old, *args, **kwargs)
            finally:
                self.within.discard(name)
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

    def _enters(self, module, _):
        """Modules. In backward only checkpoints run modules; there the mode for calls is off, because it is off in its own handler."""
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
        self.events.append({"e": what, "step": self.step, "at": len(self.ops), "line": self._line(), "ns": time.perf_counter_ns() - self.begun, **facts})

    def _within(self, phase, f, *args, **kwargs):
        before, self.phase = self.phase, phase
        try:
            return f(*args, **kwargs)
        finally:
            self.phase, self.of = before, NONE

    def _backward(self, f, tensors, *args, **kwargs):
        self.again, self.ran = bool(kwargs.get("create_graph", False)), False
        first = tensors if isinstance(tensors, torch.Tensor) else next(iter(tensors))
        evaluating = self.model is not None and not any(m.training for m in self.model.modules())
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
            self._event("scale", scaler=self._number(self.scalers, scaler), loss=self._loss(loss), dtype=DTYPES.get(loss.dtype), shape=list(loss.shape), scale=self._scale_of(scaler, old=True), id=self._id(loss), to=self._id(out))
        return out

    def _scale_of(self, scaler, old=False):
        """The scale of a scaler. Reading that of a GPU waits for it, so old ones will do."""
        n = self._number(self.scalers, scaler)
        if not (old and n in self.scales and n in self.far):
            with _Aside(self):
                self.scales[n] = float(scaler.get_scale())
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
        self._event("scaler.step", scaler=self._number(self.scalers, scaler), optimizer=self._number(self.optimizers, opt), scale=self._scale_of(scaler), skipped=skipped, parameter=bad)
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
        self._event("zero_grad", optimizer=None if opt is None else self._number(self.optimizers, opt))
        return f(of, *args, **kwargs)

    def _schedule(self, f, scheduler, *args, **kwargs):
        if not getattr(scheduler, "_is_initial", False) and not isinstance(sys._getframe(2).f_locals.get("self"), type(scheduler)):  # not the one of its constructor
            self._event("lr_scheduler.step", optimizer=self._number(self.optimizers, scheduler.optimizer))
        return f(scheduler, *args, **kwargs)

    def _before_step(self, opt, args, kwargs):
        if not closure(opt, args, kwargs):  # a closure computes the gradients within the step
            self._note_step(opt)
        self.held, self.phase = self.phase, "optimizer"

    def _note_step(self, opt):
        groups = [{k: float(g[k]) for k in ("lr", "eps") if isinstance(g.get(k), (int, float))} for g in opt.param_groups]
        listed = list(params(opt))
        with_grad = [p for p in listed if p.grad is not None]
        if not self.scaling:
            self._gradients(opt, 1)
        first = with_grad[0].grad if with_grad else None
        self._event("optimizer.step", optimizer=self._number(self.optimizers, opt), name=type(opt).__name__, groups=groups, dtypes=sorted({DTYPES.get(p.dtype, str(p.dtype)) for p in listed}), grads=len(with_grad), of=len(listed),
                    grad=[self._id(first), getattr(first, "_version", 0)] if first is not None else None, autocast=autocast(listed[0]) if listed else None, scaler=self.scaling or None)

    def _after_step(self, opt, args, kwargs):
        self.phase = self.held
        if closure(opt, args, kwargs):
            self._note_step(opt)
        self.stepped += 1
        mine = opt is self.main or self.main is None and self._number(self.optimizers, opt) == 0
        if not self.scaling and mine:  # with a scaler, the step ends at update
            self._next()

    def _next(self):
        """Ends a step, and decides whether the operations of the next are recorded."""
        self._memory()
        self._settle()
        now = time.perf_counter_ns()
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
        if self.step % 16 == 0:
            self.ids = {k: v for k, v in self.ids.items() if v[0]() is not None}
        if len(self.ops) >= MOST and not self.full:
            self.full = True
            self.notes.append(f"operations after the first {len(self.ops)} are not recorded")
        if self.overhead is None and not self.full:
            if self.waiting:
                self.waiting = self.busy = False
            return self._switch(True)
        if recorded:  # what it cost: at least what the recorder measured itself, in the first step with what is done once
            self.dear = max(self.own, took - statistics.median(self.plain) if self.plain else 0.0)
            self.extra += self.dear
        elif self.step > 1:
            self.plain = [*self.plain[-15:], took]
        self.own = 0.0
        elapsed, more = (now - self.begun) / 1e9, self.dear
        self._switch(not self.full and len(self.plain) >= 4 and self.extra + more <= self.overhead * (elapsed + more))
        self.turned = time.perf_counter_ns()

    def _memory(self):
        used = None
        if torch.cuda.is_initialized():
            used = torch.cuda.max_memory_allocated()
            torch.cuda.reset_peak_memory_stats()
        elif (now := time.perf_counter_ns()) - self.sized > 50_000_000:
            self.sized = now
            try:
                with open("/proc/self/statm") as f:
                    used = int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            except (OSError, ValueError, AttributeError):
                pass
        self.events.append({"e": "step", "step": self.step, "at": len(self.ops), "line": "", "ns": time.perf_counter_ns() - self.begun, "memory": used, "recorded": self.on and not self.busy})

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
            name = self.places.get(code)
            if name is None:
                name = self.places[code] = place(code.co_filename)
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
        if self.busy:
            return func(*args, **kwargs)
        self.busy, entered, took = True, time.perf_counter_ns(), 0
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
            start = time.perf_counter_ns()
            out = func(*args, **kwargs)
            took = time.perf_counter_ns() - start
            self._note(func, *known, ins, args, kwargs, out, start, took)
            return out
        finally:
            self.busy = self.waiting
            self.own += (time.perf_counter_ns() - entered - took) / 1e9

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
            if cast and ins[0].is_floating_point():
                lost = self._lost(counts, ins[0], phase)
            elif steady and not inplace and len(outs) == 1 and outs[0].dtype == torch.float16 and (isinstance(counts[0], torch.Tensor) or counts[1] or counts[3]):  # only what has zeros or inf may have lost something
                lost = self._wide(func, args, kwargs, counts, phase)
        self.ops.append((kind, self.step, call.n, start - self.begun, took, tuple(self._id(t) for t in ins), tuple(self._id(t) for t in outs), counts, lost))

    def _counts(self, tensors):
        """Elements, zeros, subnormals, infinities, NaN, smallest nonzero and largest finite magnitude. On a GPU, a list of
        tensors that _settle fetches at the end of the step."""
        rows = [self._count(t) for t in tensors]
        if isinstance(rows[0], torch.Tensor):
            return rows  # one row for each tensor
        return total(rows)

    def _count(self, t):
        a = t.detach().abs().flatten()
        n, tiny = a.numel(), torch.finfo(t.dtype).tiny
        if t.device.type != "cpu":
            few, inf, nan = a < tiny, torch.isinf(a), torch.isnan(a)
            zeros = a == 0
            return torch.stack([x.double() for x in (zeros.new_full((), n, dtype=torch.int64), zeros.sum(), (few & ~zeros).sum(), inf.sum(), nan.sum(), a.masked_fill(zeros | nan, math.inf).amin(), a.masked_fill(inf | nan, 0).amax())])
        low, high = (x.item() for x in torch.aminmax(a))
        infs = nans = zeros = few = 0
        if not math.isfinite(high):
            infs, nans = int(torch.isinf(a).sum()), int(torch.isnan(a).sum())
            a = a[torch.isfinite(a)]
            low, high = (x.item() for x in torch.aminmax(a)) if a.numel() else (math.inf, 0.0)
        if low == 0:
            zeros = a.numel() - int(torch.count_nonzero(a))
            low = a.masked_fill(a == 0, math.inf).amin().item()
        if low < tiny:
            few = int((a < tiny).sum()) - zeros
        return [n, zeros, few, infs, nans, low, high]

    def _lost(self, counts, wide, phase):
        """What a result has lost against the same in a wider dtype: both counts, and the powers of two of what became 0 in backward."""
        more = self._counts([wide])
        powers = None
        if phase == "backward" and not isinstance(more[0], torch.Tensor) and counts[1] > more[1]:
            e = torch.frexp(wide.detach().float().flatten())[1][wide.detach().flatten() != 0] - 1
            low = int(e.min())
            powers = [[low + i, n] for i, n in enumerate(torch.bincount((e - low).flatten()).tolist()) if n]
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
        if t.numel() != 1 or t.is_complex():
            return None
        if t.device.type != "cpu":
            now = time.perf_counter_ns()
            if now - self.looked < 250_000_000:
                return None
            self.looked = now
        try:
            with _Aside(self):
                return float(t.detach())
        except RuntimeError:  # under torch.func a tensor may have no value yet
            return None

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
        listed = list(self.model.named_parameters()) if self.model is not None else []
        yield {"halfnote": "recording", "version": VERSION, "producer": "torch " + torch.__version__.split("+")[0], "begun": self.wall if self.begun else time.time(), "notes": self.notes,
               "parameters": [[self._id(p), self.params[id(p)], DTYPES.get(p.dtype, str(p.dtype)), list(p.shape), p.requires_grad] for n, p in listed]}
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
