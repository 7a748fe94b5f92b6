"""Writes torch_models.json: state dicts of torch's modules as files of torch.save, and what the modules compute.

Run: python3 torch_models.py   Needs torch. Outputs are float32, in row-major order; modules are in evaluation mode.
"""

import base64
import io
import json
import pathlib
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(3)
torch.set_num_threads(1)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.table.weight

    def forward(self, x):
        return self.head(self.table(x))


images, rows, tokens, steps = torch.randn(2, 4, 5, 5), torch.randn(3, 4), torch.tensor([[1, 0, 4], [2, 2, 3]]), torch.randn(3, 2, 4)
MODELS = {
    "linear": (nn.Linear(4, 3), rows), "linear without bias": (nn.Linear(4, 3, bias=False), rows), "bilinear": (nn.Bilinear(4, 4, 2), rows),
    "conv1d": (nn.Conv1d(4, 3, 2), images[:, :, 0]), "conv2d": (nn.Conv2d(4, 6, 3, padding=1, groups=2), images), "conv transpose": (nn.ConvTranspose2d(4, 2, 2), images),
    "batch norm": (nn.BatchNorm2d(4), images), "instance norm": (nn.InstanceNorm2d(4, affine=True, track_running_stats=True), images), "group norm": (nn.GroupNorm(2, 4), images), "layer norm": (nn.LayerNorm(4), rows),
    "prelu": (nn.PReLU(4), images), "embedding": (nn.Embedding(5, 3), tokens), "embedding bag": (nn.EmbeddingBag(5, 3), tokens),
    "rnn": (nn.RNN(4, 3, num_layers=2), steps), "lstm": (nn.LSTM(4, 3, num_layers=2, bidirectional=True), steps), "lstm with projections": (nn.LSTM(4, 3, proj_size=2, batch_first=True), steps), "gru": (nn.GRU(4, 3, bias=False), steps),
    "attention": (nn.MultiheadAttention(4, 2), steps), "attention of other widths": (nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True), steps),
    "encoder layer": (nn.TransformerEncoderLayer(4, 2, 8), steps), "encoder": (nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, norm_first=True), 2, nn.LayerNorm(4), enable_nested_tensor=False), steps),
    "decoder layer": (nn.TransformerDecoderLayer(4, 2, 8), steps), "transformer": (nn.Transformer(4, 2, 1, 1, 8), steps),
    "sequential": (nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Sequential(nn.Flatten(), nn.Linear(36, 3))), images), "tied": (Tied(), tokens),
}
CALLS = {
    "bilinear": lambda m, x: m(x, x), "attention": lambda m, x: m(x, x, x)[0], "attention of other widths": lambda m, x: m(x, x[..., :3], torch.cat([x, x[..., :1]], -1))[0],
    "decoder layer": lambda m, x: m(x, x), "transformer": lambda m, x: m(x, x),
} | {name: lambda m, x: m(x)[0] for name in ("rnn", "lstm", "lstm with projections", "gru")}

out = []
with torch.no_grad():
    for name, (model, x) in MODELS.items():
        for key, t in model.state_dict().items():  # distinct numbers, in buffers too
            if t.is_floating_point():
                t.copy_(torch.rand_like(t) + 0.5 if "var" in key else torch.randn_like(t) * 0.3)
        y = CALLS.get(name, lambda m, x: m(x))(model.eval(), x)
        f = io.BytesIO()
        torch.save({"epoch": 3, "model": model.state_dict()}, f)
        out.append({"name": name, "file": base64.b64encode(f.getvalue()).decode(), "input": {"shape": list(x.shape), "values": x.flatten().tolist(), "int": not x.is_floating_point()}, "output": {"shape": list(y.shape), "values": y.flatten().tolist()}})
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps({"torch": torch.__version__, "models": out}) + "\n")
print(len(out), "models,", path.stat().st_size, "bytes")
