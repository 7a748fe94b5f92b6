"""Writes scripts.json: what torch.amp.GradScaler does, call by call. Run: python3 scripts.py [how many random ones]

A script is calls on one scaler and some optimizers, each of one parameter [1, 1] and one that never has a gradient: a and b are
SGD with learning rate 1, f that with fused=True, m that with momentum 0.9 too, w is a fused AdamW, and h and v are f and w with
float16 parameters. Of each call stand its error, by the code that package amp gives it, the scale, the growth tracker, and after it the
gradients, parameters and steps (of Adam's state) that the calls name. scripts_test.go plays the same calls.
"""

import json
import math
import pathlib
import random
import sys
import warnings

import torch

torch.set_num_threads(1)
warnings.simplefilter("ignore")

OPTIMIZERS = {
    "a": lambda p: torch.optim.SGD(p, lr=1.0),
    "b": lambda p: torch.optim.SGD(p, lr=1.0),
    "f": lambda p: torch.optim.SGD(p, lr=1.0, fused=True),
    "m": lambda p: torch.optim.SGD(p, lr=1.0, momentum=0.9, fused=True),
    "w": lambda p: torch.optim.AdamW(p, lr=0.1, fused=True),
    "h": lambda p: torch.optim.SGD(p, lr=1.0, fused=True),
    "v": lambda p: torch.optim.AdamW(p, lr=0.1, fused=True),
}

# What an error says, and its code.
CODES = [
    ("Closure use", "closure"),
    ("_scale is None", "not_initialised"),
    ("already been called on this optimizer since", "already_unscaled"),
    ("being called after step", "unscale_after_step"),
    ("step() has already been called", "already_stepped"),
    ("Attempting to unscale FP16", "fp16_grad"),
    ("No inf checks were recorded for this optimizer", "no_grads"),
    ("No inf checks were recorded prior to update", "no_checks"),
    ("outputs must be a Tensor", "bad_outputs"),
    ("new_scale should be a float", "bad_new_scale"),
    ("source state dict is empty", "empty_state"),
    ("growth factor must be", "growth_factor"),
    ("backoff factor must be", "backoff_factor"),
]


def code(e):
    if isinstance(e, KeyError):
        return "bad_state"
    for text, name in CODES:
        if text in str(e):
            return name
    raise e


def number(x):
    x = float(x)
    return x if math.isfinite(x) else str(x)


class Player:
    def __init__(self, options):
        self.options = options
        self.scaler = None
        self.params, self.opts = {}, {}
        for name, make in OPTIMIZERS.items():
            d = torch.float16 if name in "hv" else torch.float32
            p, idle = torch.ones(2, dtype=d, requires_grad=True), torch.ones(1, dtype=d, requires_grad=True)
            self.params[name], self.opts[name] = p, make([p, idle])

    def call(self, line):
        name, *args = line.split()
        s, opts = self.scaler, self.opts
        if name == "new":
            self.scaler = torch.amp.GradScaler("cpu", **self.options)
        elif name == "scale":
            s.scale(torch.tensor(float(args[0])))
        elif name == "scale_number":
            s.scale(3.0)
        elif name == "scale_list":
            s.scale([torch.tensor(1.0), (torch.tensor(2.0), 3.0)])
        elif name == "grad":
            p = self.params[args[0]]
            p.grad = torch.tensor([float(x) for x in args[1:]], dtype=p.dtype) if args[1:] else None
        elif name == "half_grad":
            p = self.params[args[0]] = torch.ones(2, dtype=torch.float16, requires_grad=True)
            opts[args[0]].param_groups[0]["params"].append(p)
            p.grad = torch.ones(2, dtype=torch.float16)
        elif name == "grad_scale":
            opts[args[0]].grad_scale = torch.tensor(float(args[1]))
        elif name == "unscale":
            s.unscale_(opts[args[0]])
        elif name == "step":
            s.step(opts[args[0]])
        elif name == "closure":
            s.step(opts[args[0]], closure=lambda: torch.tensor(1.0))
        elif name == "update":
            s.update(float(args[0])) if args else s.update()
        elif name == "update_tensor":
            # Of one element, torch takes scalars alone, whatever its message says.
            s.update(torch.tensor([float(x) for x in args]) if args[1:] else torch.tensor(float(args[0])))
        elif name == "update_learned":
            s.update(torch.tensor(2.0, requires_grad=True))
        elif name == "growth_factor":
            s.set_growth_factor(float(args[0]))
        elif name == "backoff_factor":
            s.set_backoff_factor(float(args[0]))
        elif name == "growth_interval":
            s.set_growth_interval(int(args[0]))
        elif name == "save":
            self.saved = s.state_dict()
        elif name == "reload":  # into another scaler
            self.scaler = torch.amp.GradScaler("cpu", init_scale=7.0, growth_factor=3.0, backoff_factor=0.25, growth_interval=9)
            if args:  # that has begun
                self.scaler.scale(torch.tensor(1.0))
            self.scaler.load_state_dict(self.saved)
        elif name == "load_empty":
            s.load_state_dict({})
        elif name == "load_part":
            s.load_state_dict({"scale": 2.0})
        else:
            raise SystemExit("no call " + line)

    def row(self, line):
        error = ""
        try:
            self.call(line)
        except Exception as e:
            error = code(e)
        row = {"call": line, "error": error}
        if self.scaler is not None:
            row["scale"], row["tracker"] = number(self.scaler.get_scale()), self.scaler._get_growth_tracker()
        name = (line.split() + [""])[1]
        if name in self.opts:
            p = self.params[name]
            row["grad"] = None if p.grad is None else [number(x) for x in p.grad]
            row["param"] = [number(x) for x in p.detach()]
            if name in "vw" and p in self.opts[name].state:
                row["steps"] = int(self.opts[name].state[p]["step"])
        if line == "save":
            row["state"] = {k: number(v) for k, v in self.saved.items()}
        return row


BASE = dict(init_scale=8.0, growth_interval=2)
ready = "scale 1; grad a 4 8"
SCRIPTS = {
    # The stage table: three calls in three stages.
    "ready, unscale": (BASE, ready + "; unscale a"),
    "ready, step": (BASE, ready + "; step a"),
    "ready, update": (BASE, ready + "; update; unscale a"),
    "unscaled, unscale": (BASE, ready + "; unscale a; unscale a; step a; update"),
    "unscaled, step": (BASE, ready + "; unscale a; step a; update"),
    "unscaled, update": (BASE, ready + "; unscale a; update; unscale a; step a; update"),
    "stepped, unscale": (BASE, ready + "; step a; unscale a; update; unscale a"),
    "stepped, step": (BASE, ready + "; step a; step a; update; step a"),
    "stepped, update": (BASE, ready + "; step a; update; step a; update"),
    # The errors.
    "closure": (BASE, ready + "; closure a; step a"),
    "not initialised": (BASE, "grad a 4 8; unscale a; step a; update; update 2; update_tensor 2; scale 1; step a; update"),
    "half gradient": (BASE, "scale 1; grad a 4 8; half_grad a; unscale a; step a; update; grad a; step a"),
    "half gradient next to another": (BASE, "scale 1; grad b 4 8; half_grad a; unscale a; unscale b; step b; update"),
    "no gradients, step": (BASE, "scale 1; step a; update"),
    "no gradients, then some": (BASE, "scale 1; step a; grad a 4 8; step a; update; update 8; step a; update"),
    "no gradients, unscale": (BASE, "scale 1; unscale a; unscale a; update; step a"),
    "no gradients, one of two": (BASE, "scale 1; grad a 4 8; step a; step b; update"),
    "no checks": (BASE, "scale 1; update; update; grad a 4 8; step a; update; update"),
    "bad outputs": (BASE, "scale_number; scale_list; update; scale 1; grad a 4 8; step a"),
    "bad new scale": (BASE, "scale 1; update_tensor 1 2; update_learned; update_tensor 4; update_tensor 0.5; update"),
    "empty state": (BASE, "load_empty; load_part; scale 1"),
    "growth factor": (dict(growth_factor=1.0), ""),
    "backoff factor": (dict(backoff_factor=1.0), ""),
    "factors of a disabled scaler": (dict(growth_factor=1.0, backoff_factor=1.0, enabled=False), "scale 1; grad a 4 8; step a; update"),
    # What is not finite.
    "inf, step": (BASE, "scale 1; grad a inf 8; step a; update"),
    "nan, step": (BASE, "scale 1; grad a 1 nan; step a; update"),
    "inf, unscale": (BASE, "scale 1; grad a -inf 8; unscale a; step a; update; grad a 4 8; step a; update"),
    "inf after unscale is not looked at": (BASE, "scale 1; grad a 4 8; unscale a; grad a inf 1; step a; update"),
    "inf before unscale stays found": (BASE, "scale 1; grad a inf 8; unscale a; grad a 1 1; step a; update"),
    "inf that was never cleared": (BASE, "scale 1; grad a inf 8; step a; update; step a; update; step a; update"),
    "one of two": (BASE, "scale 1; grad a inf 8; grad b 4 8; step a; step b; update; grad a 4 8; step a; step b; update"),
    "unscale one of two": (BASE, "scale 1; grad a 4 8; grad b 4 8; unscale a; step a; step b; update"),
    # The arithmetic.
    "growth": (BASE, "scale 1; grad a 0 0; step a; update; step a; update; step a; update; step a; update"),
    "interval below the tracker": (dict(init_scale=8.0, growth_interval=4), "scale 1; grad a 0 0; step a; update; step a; update; step a; update; growth_interval 2; step a; update; step a; update; grad a inf 0; step a; update; grad a 0 0; step a; update; step a; update"),
    "interval of the tracker": (dict(init_scale=8.0, growth_interval=4), "scale 1; grad a 0 0; step a; update; growth_interval 2; step a; update"),
    "factors": (BASE, "scale 1; growth_factor 3; backoff_factor 0.1; growth_interval 1; grad a 0 0; step a; update; step a; update; grad a inf 0; step a; update"),
    "unchecked factors": (BASE, "scale 1; growth_factor 0.5; growth_interval 1; grad a 0 0; step a; update; backoff_factor 4; grad a nan 0; step a; update"),
    "growth to infinity": (dict(init_scale=2.0**127, growth_interval=1), "scale 1; grad a 0 0; step a; update; step a; update"),
    "odd scale": (dict(init_scale=3.0, growth_interval=1, growth_factor=1.1), "scale 1; grad a 1 10; step a; update; grad a 0.1 7; step a; update"),
    "down to zero": (dict(init_scale=2.0**-147), "scale 1; grad a nan 0; step a; update; step a; update; step a; update; grad a 1 0; step a; update"),
    "no finite inverse": (dict(init_scale=2.0**-130), "scale 1; grad a 1 0; step a; update"),
    # By hand.
    "new scale": (BASE, ready + "; update 16; step a; update 5; step a; update; update 6; grad a 1 1; step a; update"),
    "new scale without checks": (BASE, "scale 1; update 0; update -4; update 0.1; grad a 1 1; step a; update"),
    "new scale keeps the tracker": (BASE, ready + "; step a; update; step a; update 32; step a; update"),
    # The state.
    "state before the first scale": (BASE, "save; reload; save; scale 1; grad a 4 8; step a; update; save"),
    "state after the first scale": (BASE, ready + "; step a; update; save; reload; save; scale 1; step a; update; save"),
    "state into a scaler that has begun": (BASE, ready + "; step a; update; save; reload begun; save; step a; update; save"),
    "state of a disabled scaler": (dict(enabled=False), "scale 1; save; load_empty; load_part"),
    # Disabled.
    "disabled": (dict(enabled=False), "unscale a; update; scale 1; grad a inf 8; unscale a; unscale a; step a; step a; update; update 3; scale_number; closure a"),
    # Optimizers that do it themselves.
    "fused, step": (BASE, "scale 1; grad f 4 8; step f; update; grad f 4 8; step f; update"),
    "fused, unscale": (BASE, "scale 1; grad f 4 8; unscale f; unscale f; step f; step f; unscale f; update"),
    "fused, inf": (BASE, "scale 1; grad f inf 8; step f; update; grad f 4 8; step f; update"),
    "fused, inf, unscale": (BASE, "scale 1; grad f inf 8; unscale f; step f; update"),
    "fused, not initialised": (BASE, "grad f 4 8; step f; scale 1; step f; step f; update"),
    "fused, no gradients": (BASE, "scale 1; step f; step f; update; update 4; step f"),
    "fused, no gradients, one of two": (BASE, "scale 1; step f; grad a 4 8; step a; update"),
    "fused, odd scale": (dict(init_scale=3.0), "scale 1; grad f 1 10; step f; update"),
    "fused, gradient scale": (BASE, "scale 1; grad f 4 8; grad_scale f 2; step f; update; grad f 4 8; step f; update"),
    "fused, gradient scale, unscale": (BASE, "scale 1; grad f 4 8; grad_scale f 2; unscale f; step f; update; grad f 4 8; step f; update"),
    "fused, gradient scale, inf": (BASE, "scale 1; grad f nan 8; grad_scale f 2; step f; update; grad f 4 8; step f; update"),
    "fused, disabled": (dict(enabled=False), "scale 1; grad f inf 8; step f; step f; update"),
    "fused, momentum": (BASE, "scale 1; grad m 4 8; step m; update; grad m nan 8; step m; update; grad m 4 8; step m; update"),
    "fused, adam": (BASE, "scale 1; grad w nan 8; step w; update; grad w 4 8; step w; update; grad w inf 8; step w; update; grad w 2 4; unscale w; step w; update"),
    "fused, half": (BASE, "scale 1; grad h 4 8; step h; update; grad h inf 8; step h; update; grad h 1 1; unscale h; step h; update"),
    "fused, half, odd scale": (dict(init_scale=3.0), "scale 1; grad h 1 10; step h; update; grad v 1 10; step v; update; grad v 0.1 -7; step v; update"),
    "fused next to plain": (BASE, "scale 1; grad f inf 8; grad a 4 8; step f; step a; update"),
}



def random_script(rng):
    """The rows of random calls, None if one is an error after which torch and package amp mean to differ."""
    options = dict(
        init_scale=rng.choice([8.0, 65536.0, 3.0, 0.25, 2.0**127, 2.0**-120]),
        growth_interval=rng.choice([1, 2, 3]),
        growth_factor=rng.choice([2.0, 1.5, 16.0]),
        backoff_factor=rng.choice([0.5, 0.25, 0.9]),
    )
    player = Player(options)
    rows = [player.row("new"), player.row("scale 1")]
    while len(rows) < 25:
        # Not m: of a first step that is skipped, torch keeps a momentum buffer without values.
        o = rng.choice("aabbffwhv")
        number = rng.choice(["1", "2", "-3", "0.1", "inf", "nan", "1e-30", "65504"])
        good = rng.choice("1248")
        calls = ["scale 1", f"grad {o} {good} 0.1", f"grad {o} {number} 1", f"grad {o}", f"unscale {o}", f"step {o}", "update"]
        calls += [f"update {good}", "update_tensor 3 4", f"growth_interval {good}", "backoff_factor 0.1", "save", f"closure {o}"]
        call = rng.choices(calls, [2, 6, 3, 1, 4, 9, 9, 0.5, 0.5, 0.5, 0.3, 0.5, 0.3])[0]
        try:
            row = player.row(call)
        except AttributeError:  # torch's own: gradients that came after a fused optimizer's unscale_
            return None
        if row["error"] == "no_grads":
            return None
        rows.append(row)
    return {"options": options, "rows": rows}


if __name__ == "__main__":
    scripts = []
    for name, (options, calls) in SCRIPTS.items():
        player = Player(options)
        rows = [player.row(line.strip()) for line in ["new"] + [c for c in calls.split(";") if c]]
        scripts.append({"name": name, "options": options, "rows": rows})
    rng = random.Random(1)
    for i in range(int((sys.argv + ["16"])[1])):
        script = None
        while script is None:
            script = random_script(rng)
        scripts.append({"name": "random %d" % i, **script})
    lines = []
    for s in scripts:
        rows = ",\n  ".join(json.dumps(r) for r in s["rows"])
        lines.append('{"name": %s, "options": %s, "rows": [\n  %s]}' % (json.dumps(s["name"]), json.dumps(s["options"]), rows))
    path = pathlib.Path(__file__).resolve().parent / "scripts.json"
    path.write_text('{"torch": "%s", "scripts": [\n%s\n]}\n' % (torch.__version__, ",\n".join(lines)))
    print(len(scripts), "scripts,", path.stat().st_size, "bytes")
