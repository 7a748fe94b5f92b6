"""Writes torch_files.json: files of torch.save, what is in them, and files that must be refused.

Run: python3 torch_files.py   Needs torch and numpy. Values are written as torch_render.py says.
"""

import argparse
import base64
import collections
import datetime
import io
import json
import os
import pathlib
import warnings

import numpy as np
import torch
from torch import nn

from torch_render import render, saved

warnings.simplefilter("ignore")
torch.manual_seed(1)
torch.set_num_threads(1)


def trained():
    net = nn.Linear(3, 2)
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.MultiStepLR(opt, [2, 4])
    for _ in range(2):
        net(torch.randn(4, 3)).square().sum().backward()
        opt.step()
        schedule.step()
    return net, opt, schedule


DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool]
OTHERS = [torch.float8_e4m3fn, torch.float8_e5m2, torch.uint16, torch.uint32]
x = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
net, opt, schedule = trained()
tied = torch.randn(3, 2)
again = [1, 2]
OBJECTS = {
    "state dict": nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).state_dict(),
    "dtypes": {str(d): (torch.arange(6) - 2).to(d).reshape(2, 3) for d in DTYPES},
    "views": {"whole": x, "rows": x[1], "transposed": x.transpose(0, 2), "steps": x[:, ::2, 1::2], "expanded": x[0, 0, :1].expand(3, 2, 1), "scalar": x[1, 2, 3], "none": x[:, :0]},
    "tied": {"a": tied, "b": tied, "t": tied.t()},
    "scalars": {"int": 5, "negative": -7, "long": 1 << 40, "least": -(1 << 63), "big": 300, "word": 70000, "float": 0.1, "inf": float("inf"), "true": True, "false": False, "none": None,
                "text": "ünïcode 層", "long text": "x" * 300, "bytes": b"\x00\xff\x80", "empty": b"", "size": torch.Size([2, 3]), "dtype": torch.float16, "device": torch.device("cuda", 1), "cpu": torch.device("cpu")},
    "containers": {"list": [1, [2, [3]], []], "tuple": (1, (2.5, "a"), ()), "long tuple": tuple(range(9)), "set": {3}, "frozenset": frozenset([4]), "dict": {"a": {}, 1: {2: 3}}, "shared": [again, again],
                   "ordered": collections.OrderedDict([("z", 1), ("a", 2)]), "default": collections.defaultdict(dict, {"k": {}}), "counter": collections.Counter("aab"), "many": list(range(300))},
    "checkpoint": {"epoch": 3, "model": net.state_dict(), "optimizer": opt.state_dict(), "scheduler": schedule.state_dict(), "losses": [0.5, 0.25], "best": np.float64(0.875), "version": torch.__version__},
    "parameters": {"p": nn.Parameter(torch.randn(2)), "frozen": nn.Parameter(torch.randn(2), requires_grad=False), "buffer": nn.Buffer(torch.randn(2)), "leaf": torch.randn(2, requires_grad=True), "list": list(net.parameters())},
    "numpy": {"float32": np.float32(0.1), "int16": np.int16(-5), "bool": np.bool_(True), "array": np.arange(6, dtype=np.float64).reshape(2, 3), "fortran": np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
              "big": np.arange(3, dtype=">i8"), "small": np.array(7, dtype=np.uint8)},
    "tensor": torch.randn(3),
    "list": [torch.randn(2), 1],
    "number": 5,
}
files = []


def add(name, v, data):
    files.append({"name": name, "file": base64.b64encode(data).decode(), "want": render(v)})


for name, v in OBJECTS.items():
    add(name, v, saved(v))
    add(name + ", before 1.6", v, saved(v, _use_new_zipfile_serialization=False))
for protocol in (1, 3, 4, 5):
    for name in ("scalars", "containers", "checkpoint", "numpy"):
        add(f"{name}, protocol {protocol}", OBJECTS[name], saved(OBJECTS[name], pickle_protocol=protocol))
add("protocol 0", {"a": [1, -2.5, True, None, "ü\n", 1 << 40], "b": (1, 2)}, saved({"a": [1, -2.5, True, None, "ü\n", 1 << 40], "b": (1, 2)}, pickle_protocol=0))
v = {str(d): (torch.arange(6) + 1).to(d).reshape(2, 3) for d in OTHERS} | {"shared": [torch.ones(2, dtype=torch.uint16)] * 2}
add("other dtypes", v, saved(v))
v = torch.arange(4, dtype=torch.int16).storage()
add("storage", v, saved(v))


class Thing:
    pass


cycle = []
cycle.append(cycle)
quantised = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
REFUSED = {
    "complex": {"a": {"b": torch.ones(2, dtype=torch.complex64)}}, "quantised": {"q": quantised}, "sparse": {"s": torch.eye(2).to_sparse()}, "module": {"net": nn.Linear(1, 1)},
    "namespace": {"args": {"all": argparse.Namespace(lr=0.1)}}, "function": {"f": [os.getcwd]}, "object": [Thing()], "date": (1, datetime.date(2020, 1, 1)), "uint64": {"u": torch.ones(2, dtype=torch.uint64)},
    "cycle": {"c": cycle}, "key": {"k": {(1, 2): 3}}, "two keys": {"k": {1: 0, "1": 0}}, "long": {"n": 1 << 70}, "number": {"n": 1j}, "negative": {"n": torch.view_as_complex(torch.ones(2, 2)).conj().imag}, "strings": {"a": np.array(["a"])},
}
refused = [{"name": name, "file": base64.b64encode(saved(v)).decode()} for name, v in REFUSED.items()]
f = io.BytesIO()
torch.jit.save(torch.jit.script(nn.Linear(1, 1)), f)
refused.append({"name": "TorchScript", "file": base64.b64encode(f.getvalue()).decode()})
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps({"torch": torch.__version__, "files": files, "refused": refused}) + "\n")
print(len(files), "files,", len(refused), "refused,", path.stat().st_size, "bytes")
