"""Prints which operations a release of PyTorch registers for autocast, by device, as JSON: amp/testdata/releases.json has one line for each release.

    for python in PYTHONS; do $python releases.py; done > releases.json
"""
import json

import torch

has = torch._C._dispatch_has_kernel_for_dispatch_key
names = sorted(n for n in torch._C._dispatch_get_all_op_names() if n.startswith("aten::"))
print(json.dumps({"torch": torch.__version__.split("+")[0], **{kind: sorted({n[6:].split(".")[0] for n in names if has(n, key)}) for kind, key in (("cuda", "AutocastCUDA"), ("cpu", "AutocastCPU"))}}))
