"""Writes torch_world.json: checkpoints with objects of Python's other classes and with tensors of other types, what is left of them
without these, and the numbers of the 8-bit types.

Run: python3 torch_world.py   Needs torch, numpy, safetensors and omegaconf. Values are written as torch_render.py says; left are the
paths of the keys that are left out.
"""

import argparse
import base64
import collections
import datetime
import decimal
import enum
import functools
import json
import pathlib
import types
import uuid
import warnings

import numpy as np
import omegaconf
import torch
from safetensors.torch import save
from torch import nn

from torch_render import render, saved

warnings.simplefilter("ignore")
torch.set_num_threads(1)


class Colour(enum.Enum):
    RED = 1


Point = collections.namedtuple("Point", "x y")


class Config(dict):
    """A subclass of dict, such as easydict.EasyDict."""


w = torch.arange(6, dtype=torch.float32).reshape(2, 3)
net = nn.Linear(3, 2)
with torch.no_grad():
    net.weight.copy_(w)
    net.bias.zero_()
OBJECTS = {
    "argparse": argparse.Namespace(lr=0.1, layers=[1, 2]), "simple namespace": types.SimpleNamespace(lr=0.1), "omegaconf": omegaconf.OmegaConf.create({"model": {"width": 4, "layers": [1, 2]}, "lr": 0.1}),
    "omegaconf list": omegaconf.OmegaConf.create([1, {"a": 2}]), "datetime": datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc), "date": datetime.date(2020, 1, 2), "timedelta": datetime.timedelta(seconds=5),
    "path": pathlib.PurePosixPath("/data/train"), "windows path": pathlib.PureWindowsPath("C:/data"), "enum": Colour.RED, "named tuple": Point(1, 2), "config": Config(a=1), "decimal": decimal.Decimal("0.1"), "uuid": uuid.UUID(int=5),
    "partial": functools.partial(int, base=2), "function": torch.nn.functional.relu, "class": nn.Linear, "module": net, "complex number": 1j, "big int": 1 << 70, "range": range(3), "slice": slice(1, 2),
    "numpy text": np.str_("a"), "numpy date": np.datetime64("2020-01-01"), "numpy complex": np.complex64(1j), "array of text": np.array(["a", "bc"]), "array of objects": np.array([{}, None], dtype=object), "array of dates": np.array(["2020-01-01"], dtype="M8[D]"),
    "record": np.zeros(2, dtype=[("a", "i4")]), "complex": torch.ones(2, dtype=torch.complex64), "complex128": torch.ones(2, dtype=torch.complex128), "quantised": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
    "sparse": torch.eye(2).to_sparse(), "uint64": torch.ones(2, dtype=torch.uint64), "conjugate": torch.view_as_complex(torch.ones(2, 2)).conj(), "negative": torch.view_as_complex(torch.ones(2, 2)).conj().imag,
}
files = []


def add(name, v, data, want, left):
    files.append({"name": name, "file": base64.b64encode(data).decode(), "want": render(want), "left": left})


for name, v in OBJECTS.items():
    whole = {"state_dict": {"w": w, "twice": w}, "args": {"x": v, "list": [1, v, "a"]}, "epoch": 3}
    want = {"state_dict": {"w": w, "twice": w}, "args": {"list": [1, None, "a"]}, "epoch": 3}
    add(name, whole, saved(whole), want, ["args.list.1", "args.x"])
    if name not in ("uint64",):  # which the format from before 1.6 lacks
        add(name + ", before 1.6", whole, saved(whole, _use_new_zipfile_serialization=False), want, ["args.list.1", "args.x"])
whole = {"w": w, "table": {(1, 2): 3, "a": 4, None: 5}}
add("keys", whole, saved(whole), {"w": w, "table": {"a": 4}}, ["table", "table"])
whole = {"w": w, "n": collections.deque([1, 2], maxlen=5), "counter": collections.Counter("aab"), "default": collections.defaultdict(list, {"a": [1]}), "float": np.float64(0.5), "int": np.int64(-3), "half": np.float16(0.25)}
add("collections and numbers", whole, saved(whole), {"w": w, "n": [1, 2], "counter": {"a": 2, "b": 1}, "default": {"a": [1]}, "float": 0.5, "int": -3, "half": 0.25}, [])
for protocol in (3, 4, 5):
    whole = {"w": w, "args": argparse.Namespace(lr=0.1), "path": pathlib.PurePosixPath("a/b"), "when": datetime.date(2020, 1, 2)}
    add(f"protocol {protocol}", whole, saved(whole, pickle_protocol=protocol), {"w": w}, ["args", "path", "when"])

EIGHT = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu]
codes = {str(d): torch.arange(256, dtype=torch.uint8).view(d) for d in EIGHT}
numbers = {}
for name, t in codes.items():
    numbers[name] = ["nan" if x != x else x if abs(x) != float("inf") else str(x) for x in t.float().tolist()]
out = {
    "torch": torch.__version__, "files": files, "numbers": numbers,
    "codes": base64.b64encode(saved(codes)).decode(), "codes_safetensors": base64.b64encode(save(codes)).decode(),
    "protocol0": base64.b64encode(saved({"w": torch.arange(3.0)}, pickle_protocol=0)).decode(),
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(out) + "\n")
print(len(files), "files,", path.stat().st_size, "bytes")
