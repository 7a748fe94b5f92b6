"""Writes safetensors_files.json: files that the package safetensors writes of PyTorch's
tensors. Run: python3 safetensors_files.py > safetensors_files.json

Made with torch 2.15 and safetensors 0.8."""

import base64
import json
import safetensors
import torch
from safetensors.torch import save

dtypes = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64,
          "float8_e4m3fn": torch.float8_e4m3fn, "float8_e5m2": torch.float8_e5m2,
          "int64": torch.int64, "int32": torch.int32, "int16": torch.int16, "int8": torch.int8, "uint8": torch.uint8, "bool": torch.bool}
widened = {"uint16": torch.uint16, "uint32": torch.uint32}


def tensor(dtype, *shape):
    n = 1
    for s in shape:
        n *= s
    return (torch.arange(n) * 5 % 11).reshape(shape).to(dtype)


files = {
    "empty": ({}, None),
    "metadata alone": ({}, {"format": "pt"}),
    "one of each": ({f"layer.{i % 3}.{name}": tensor(d, 2, 3) for i, (name, d) in enumerate(dtypes.items())}, {"format": "pt"}),
    "shapes": ({str(s): tensor(torch.float32, *s) for s in [(), (0,), (1,), (5,), (3, 0, 2), (2, 3, 4), (1, 1, 1, 1, 7)]}, None),
    "names": ({'a "quoted" \\ name': tensor(torch.bool, 3), "ünïcode/層 <&>": tensor(torch.float16, 1), "": tensor(torch.int64, 2), "tab\t": tensor(torch.uint8, 1)}, {"ключ": 'a "b" <c>\n'}),
    "negative": ({name: tensor(dtypes[name], 2, 2) - 3 for name in ("int8", "int16", "int32", "int64")}, None),
    "widened": ({name: torch.tensor([[0, 1], [2, 2**16 - 1]]).to(d) for name, d in widened.items()}, None),
}

out = []
for name, (tensors, metadata) in files.items():
    entries = {}
    for key, t in tensors.items():
        entries[key] = {"dtype": str(t.dtype).removeprefix("torch."), "shape": list(t.shape), "values": t.to(torch.float64).flatten().tolist()}
    out.append({"name": name, "file": base64.b64encode(save(tensors, metadata)).decode(), "tensors": entries, "metadata": metadata, "same": name != "widened"})
print(json.dumps({"safetensors": safetensors.__version__, "torch": torch.__version__, "files": out}))
