"""Writes voice-detector.csv: the probabilities of Silero's voice detector for the sound of voice-detector.ipynb, in float32 and under
autocast.

Run: python3 voice_detector.py   Needs torch, numpy and silero-vad. The package has two trainings of one network, as a safetensors file and as
TorchScript. The network below is first checked against the TorchScript, with the weights of the latter."""

import math
import pathlib

import numpy as np
import silero_vad
import torch
from safetensors.torch import load_file
from torch import nn

torch.set_num_threads(1)
RATE, WINDOW, BEFORE = 16000, 512, 64


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 258, 256, stride=128, bias=False)
        self.conv1 = nn.Conv1d(129, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(128, 128)
        self.final_conv = nn.Conv1d(128, 1, 1)

    def forward(self, x, state):
        waves = self.stft_conv(nn.functional.pad(x, (0, 64), "reflect").unsqueeze(1))
        real, imaginary = waves.chunk(2, 1)
        x = (real.square() + imaginary.square()).sqrt()
        for conv in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = conv(x).relu()
        h, c = self.lstm_cell(x.squeeze(-1), state)
        return self.final_conv(h.relu().unsqueeze(-1)).sigmoid().flatten(), (h, c)


def voice(n):
    """Pulses of a voice whose pitch glides, through the resonances of four vowels; the same loops as in the notebook."""
    vowels = [(730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480)]
    y, phase = np.zeros(n), 0.0
    for i in range(n):
        pitch = 120 + 20 * math.sin(2 * math.pi * 3 * i / RATE)
        phase += 2 * math.pi * pitch / RATE
        loud = 0.2 * math.sin(4 * math.pi * i / n) ** 2
        for k in range(1, 31):
            gain = sum(0.5**j / (1 + ((k * pitch - f) / 90) ** 2) for j, f in enumerate(vowels[i * 4 // n]))
            y[i] += loud * gain * math.sin(k * phase)
    return torch.tensor(y, dtype=torch.float32)


torch.manual_seed(0)
silence = torch.zeros(RATE // 2)
noise = 0.05 * torch.randn(RATE)
tone = torch.tensor([0.2 * math.sin(2 * math.pi * 440 * i / RATE) for i in range(RATE)], dtype=torch.float32)
sound = torch.cat([silence, noise, tone, voice(2 * RATE), silence])

package = pathlib.Path(silero_vad.__file__).parent / "data"
net = Detector().eval()
script = torch.jit.load(package / "silero_vad.jit").eval()
PARTS = {"stft.forward_basis_buffer": "stft_conv.weight", "decoder.rnn": "lstm_cell", "decoder.decoder.2": "final_conv"} | {f"encoder.{i}.reparam_conv": f"conv{i + 1}" for i in range(4)}
of_script = {}
for name, w in script.state_dict().items():
    for theirs, ours in PARTS.items():
        if name.startswith("_model." + theirs):
            of_script[name.replace("_model." + theirs, ours)] = w


def probabilities(step):
    before, state, out = torch.zeros(1, BEFORE), None, []
    for i in range(0, len(sound) - WINDOW + 1, WINDOW):
        window = torch.cat([before, sound[i : i + WINDOW].unsqueeze(0)], 1)
        p, state = step(window, state)
        out.append(p.item())
        before = window[:, -BEFORE:]
    return out


@torch.no_grad()
def run(dtype=None):
    """Probabilities in float32, or under autocast, each from the state of the float32 run: rounded states would drift apart."""

    def step(window, state):
        p, after = net(window, state)
        if dtype:
            with torch.autocast("cpu", dtype):
                p, _ = net(window, state)
        return p, after

    return probabilities(step)


script.reset_states()
with torch.no_grad():
    theirs = [script(sound[i : i + WINDOW], RATE).item() for i in range(0, len(sound) - WINDOW + 1, WINDOW)]
net.load_state_dict(of_script)
worst = max(abs(a - b) for a, b in zip(run(), theirs))
print(f"{len(theirs)} windows, largest difference from the package's own model: {worst:.1e}")
assert worst < 1e-6
net.load_state_dict(load_file(package / "silero_vad_16k.safetensors"))
columns = {"float32": run(), "bfloat16": run(torch.bfloat16), "float16": run(torch.float16)}
lines = [",".join(columns)] + [",".join(repr(float(np.float32(v))) for v in row) for row in zip(*columns.values())]
pathlib.Path(__file__).with_name("voice-detector.csv").write_text("\n".join(lines) + "\n")
