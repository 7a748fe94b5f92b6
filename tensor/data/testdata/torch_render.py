"""What torch_files.py and torch_world.py share. A value is written as a text: its type, and its bits where it is a number; a dict and
a list are those of JSON."""

import io
import struct

import numpy as np
import torch


def render(v):
    if isinstance(v, torch.Tensor):
        grad = v.requires_grad
        v = v.detach()
        v = {torch.uint16: v.int, torch.uint32: v.long}.get(v.dtype, lambda: v)()
        data, n = v.contiguous().flatten().view(torch.uint8).numpy().tobytes() if v.numel() else b"", v.element_size()
        bits = " ".join(data[i : i + n][::-1].hex() for i in range(0, len(data), n))
        return f"{str(v.dtype).removeprefix('torch.')} [{' '.join(map(str, v.shape))}] {'grad ' if grad else ''}{bits}"
    if isinstance(v, torch.TypedStorage):
        return render(torch.tensor([], dtype=v.dtype).set_(v))
    if isinstance(v, np.ndarray):
        return render(torch.from_numpy(np.ascontiguousarray(v.astype(v.dtype.newbyteorder("=")))).reshape(v.shape))
    if isinstance(v, np.generic):
        return render(v.item())
    if isinstance(v, dict):
        return {str(k): render(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [render(x) for x in v]
    if isinstance(v, (set, frozenset)):
        return [render(x) for x in v]
    if isinstance(v, torch.dtype):
        return "dtype " + str(v).removeprefix("torch.")
    if isinstance(v, torch.device):
        return "device " + str(v)
    if v is None or isinstance(v, bool):
        return repr(v)
    if isinstance(v, int):
        return f"int {v}"
    if isinstance(v, float):
        return "float " + struct.pack(">d", v).hex()
    if isinstance(v, str):
        return "str " + v
    if isinstance(v, (bytes, bytearray)):
        return "bytes " + v.hex()
    raise TypeError(type(v))


def saved(v, **options):
    f = io.BytesIO()
    torch.save(v, f, **options)
    return f.getvalue()
