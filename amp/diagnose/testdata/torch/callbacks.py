"""Checks the callbacks for transformers, Lightning and accelerate, each with a model made here.

    python callbacks.py FOLDER [NAME...]

writes NAME.hnt.gz for each into FOLDER. Prints the name and the file of each check that holds, or "skipped" and why.
The folder install/jupyter of this repository must be in PYTHONPATH, and the packages of requirements.txt installed.
"""
import importlib.util
import logging
import os
import sys
import warnings

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", CUDA_VISIBLE_DEVICES="")
warnings.simplefilter("ignore")

import torch
from torch import nn
from torch.nn import functional as F

import halfnote

torch.set_num_threads(1)
folder = sys.argv[1]


def checked(rec, module, steps):
    """A recording has the steps, operations of a module by name, and casts to bfloat16."""
    kinds = [rec.kind_list[o[0]] for o in rec.ops]
    assert not rec.running() and rec.step >= steps, rec.step
    assert any(k[2] == module for k in kinds), sorted({k[2] for k in kinds})
    assert any(k[6] == "autocast" and k[13][0][0] == torch.bfloat16 for k in kinds)
    for event in ("backward", "optimizer.step", "zero_grad", "step"):
        assert sum(e["e"] == event for e in rec.events) >= steps, (event, [e["e"] for e in rec.events])
    assert torch.utils._python_dispatch._get_current_dispatch_mode() is None


def transformers():
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
    config = BertConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, max_position_embeddings=32)
    data = [{"input_ids": torch.randint(0, 64, (16,)), "labels": i % 2} for i in range(32)]
    args = TrainingArguments(folder, max_steps=4, per_device_train_batch_size=4, use_cpu=True, bf16=True, report_to=[], save_strategy="no", disable_tqdm=True, logging_steps=2)
    callback = halfnote.trainer_callback(os.path.join(folder, "transformers.hnt.gz"), overhead=None)
    Trainer(BertForSequenceClassification(config), args, train_dataset=data, callbacks=[callback]).train()
    checked(callback.rec, "bert.encoder.layer.1.attention.self.query", 4)
    assert any(e["e"] == "log" and e["name"] == "loss" for e in callback.rec.events)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x)


def lightning():
    from lightning.pytorch import LightningModule, Trainer
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Module(LightningModule):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def training_step(self, batch, _):
            return F.mse_loss(self.net(batch), batch[:, :1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

    callback = halfnote.lightning_callback(os.path.join(folder, "lightning.hnt.gz"), overhead=None)
    trainer = Trainer(max_steps=4, accelerator="cpu", precision="bf16-mixed", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, callbacks=[callback])
    trainer.fit(Module(), torch.utils.data.DataLoader(torch.randn(32, 16), 8))
    checked(callback.rec, "net.layers.2", 4)


def accelerate():
    from accelerate import Accelerator
    tracker = halfnote.accelerate_tracker(os.path.join(folder, "accelerate.hnt.gz"), overhead=None)
    accelerator = Accelerator(cpu=True, mixed_precision="bf16", log_with=tracker)
    net = Net()
    net, opt = accelerator.prepare(net, torch.optim.SGD(net.parameters(), 0.01))
    accelerator.init_trackers("run")
    for i in range(4):
        opt.zero_grad()
        x = torch.randn(8, 16)
        loss = F.mse_loss(net(x), x[:, :1])
        accelerator.backward(loss)
        opt.step()
        accelerator.log({"loss": loss.item()}, step=i)
    accelerator.end_training()
    checked(tracker.rec, "layers.2", 4)
    assert sum(e["e"] == "log" for e in tracker.rec.events) == 4
    with halfnote.record(net, opt, overhead=None) as rec:  # without a tracker
        for _ in range(2):
            opt.zero_grad()
            accelerator.backward(net(torch.randn(8, 16)).sum())
            opt.step()
    checked(rec, "layers.2", 2)


for check in (transformers, lightning, accelerate):
    if sys.argv[2:] and check.__name__ not in sys.argv[2:]:
        continue
    if importlib.util.find_spec(check.__name__) is None:
        print(f"skipped {check.__name__}: it is not installed", flush=True)
        continue
    check()
    print(check.__name__, os.path.join(folder, check.__name__ + ".hnt.gz"), flush=True)
