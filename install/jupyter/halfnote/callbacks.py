"""Recordings that a Trainer of Hugging Face, a Trainer of Lightning or an Accelerator begins and ends itself."""
import sys

from . import record, show


class Follower(show.Shown):
    """What the callbacks share. It shows the recording of the last run: callback.dtypes(), callback.lint()."""

    def __init__(self, path, options):
        super().__init__()
        self.options, self.rec = {"path": path, **options}, None
        record(**self.options)  # errors in options come now, not when training begins

    def begin(self, model=None, optimizer=None, scaler=None):
        self.end()  # of a run that was interrupted
        self.rec = record(model, optimizer, scaler, **self.options)
        self.rec.__enter__()

    def end(self, error=None):
        if self.rec is not None and self.rec.running():
            self.rec.__exit__(error and type(error), error, None)

    def note(self, values):
        if self.rec is not None and self.rec.running():
            self.rec.log(values)

    def write(self, path):
        if self.rec is None:
            raise RuntimeError("halfnote: nothing has been recorded yet; the recording begins with training")
        self.rec.write(path)


def trainer(path, options):
    from transformers import TrainerCallback

    class Recording(Follower, TrainerCallback):
        """Records the training of a Trainer of Hugging Face."""

        def on_train_begin(self, args, state, control, model=None, **_):
            self.begin(model)  # the optimizer may be made later, and is the one that steps

        def on_log(self, args, state, control, logs=None, **_):
            self.note(logs or {})

        def on_train_end(self, args, state, control, **_):
            self.end()
    return Recording(path, options)


def lightning(path, options):
    if "pytorch_lightning" in sys.modules and "lightning" not in sys.modules:
        from pytorch_lightning import Callback
    else:
        from lightning.pytorch import Callback

    class Recording(Follower, Callback):
        """Records the training of a Trainer of Lightning."""

        def on_train_start(self, trainer, pl_module):
            self.begin(pl_module)

        def on_train_end(self, trainer, pl_module):
            self.note(trainer.callback_metrics)
            self.end()

        def on_exception(self, trainer, pl_module, exception):
            self.end(exception)
    return Recording(path, options)


def accelerate(path, options):
    from accelerate.tracking import GeneralTracker

    class Recording(Follower, GeneralTracker):
        """Records what runs between init_trackers and end_training of an Accelerator."""

        name, requires_logging_directory, main_process_only = "halfnote", False, True

        @property
        def tracker(self):
            return self.rec

        def start(self):
            self.begin()

        def store_init_configuration(self, values):
            if self.rec is None:  # versions that call no start
                self.begin()

        def log(self, values, step=None, **_):
            self.note(values)

        def finish(self):
            self.end()
    return Recording(path, options)
