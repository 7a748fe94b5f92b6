"""A Jupyter kernel for Go with tensors and automatic mixed precision.

The kernel is a program without Python. This package finds it, and runs Go cells in Python notebooks: %load_ext halfnote, %%go.
It records PyTorch programs and shows what they do under mixed precision: halfnote.record.
"""
import os  # Python has imported both before it looks into the working folder
import sys


class Environment:
    """Keeps the working folder out of imports: its files are data, and may have the names of modules."""

    def __enter__(self):
        self.path, here = sys.path[:], os.path.realpath(".")
        sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != here]

    def __exit__(self, *_):
        sys.path[:] = self.path


def program():
    """Returns the path of the program. It lies in the kernelspec's folder: below the prefix of the environment, or where Jupyter finds it."""
    name = "halfnote.exe" if os.name == "nt" else "halfnote"
    for folder in kernels():
        path = os.path.join(folder, "halfnote", name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(
        f"halfnote: {name} is neither in share/jupyter/kernels/halfnote of any folder above {__file__} nor in a folder of kernels that Jupyter knows; "
        "`halfnote install --sys-prefix` puts it there, and so does `pip install --force-reinstall` of the wheel halfnote")


def kernels():
    """Yields the folders of kernelspecs."""
    for own in (os.path.abspath(__file__), os.path.realpath(__file__)):
        folder = os.path.dirname(own)
        while folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
            yield os.path.join(folder, "share", "jupyter", "kernels")
    try:
        with Environment():
            from jupyter_core.paths import jupyter_path
    except ImportError:
        return
    yield from jupyter_path("kernels")


def main():
    """Runs the program with the arguments of this process."""
    os.environ.setdefault("HALFNOTE_PYTHON", sys.executable)
    command = [program(), *sys.argv[1:]]
    if os.name != "nt":
        os.execv(command[0], command)
    with Environment():
        import subprocess
    process = subprocess.Popen(command)  # Windows has no exec; Ctrl+C reaches the program by itself
    while True:
        try:
            sys.exit(process.wait())
        except KeyboardInterrupt:
            pass


def record(model=None, optimizer=None, scaler=None, *, overhead=0.05, ranges=True, path=None):
    """Returns a recording of a PyTorch program, for a with statement:

        with halfnote.record(model, optimizer, scaler) as rec:
            ...  # train, unchanged
        rec.dtypes()

    model gives the names of modules and parameters. The steps are those of optimizer, or of the first one that steps, and end with the update of
    scaler if there is one. The operations of as many steps are recorded as take at most the share overhead of the run's time; None records all.
    Loss, loss scale, skipped steps, time and memory are recorded of each step. ranges=False leaves out counts and magnitudes. The recording is
    written to path at the end if one is given; rec.write(path) does it later. In the program in Go, trace.Open reads the file.
    """
    with Environment():
        try:
            import torch  # noqa: F401
        except ImportError as err:
            raise ImportError("halfnote.record records PyTorch programs, and PyTorch is not installed here: pip install torch") from err
        from .recorder import Recorder
    return Recorder(model, optimizer, scaler, overhead=overhead, ranges=ranges, path=path)


def trainer_callback(path=None, **options):
    """Returns a callback for transformers.Trainer, which records its training: Trainer(…, callbacks=[halfnote.trainer_callback()]).

    It shows what record shows: callback.dtypes(). The options are those of record.
    """
    return _callback("trainer", path, options)


def lightning_callback(path=None, **options):
    """Returns a callback for a Trainer of Lightning, which records its training: Trainer(callbacks=[halfnote.lightning_callback()]).

    It shows what record shows: callback.dtypes(). The options are those of record.
    """
    return _callback("lightning", path, options)


def accelerate_tracker(path=None, **options):
    """Returns a tracker for an Accelerator, which records what runs between init_trackers and end_training: Accelerator(log_with=halfnote.accelerate_tracker()).

    It shows what record shows: tracker.dtypes(). The options are those of record.
    """
    return _callback("accelerate", path, options)


def _callback(kind, path, options):
    with Environment():
        from . import callbacks
        return getattr(callbacks, kind)(path, options)


def load(path):
    """Returns the recording in a file. It needs no PyTorch."""
    with Environment():
        from .show import Recording
    return Recording(path)


def load_ipython_extension(ipython):
    """Adds %%go to IPython."""
    with Environment():
        from .magic import GoMagics
    ipython.register_magics(GoMagics(ipython))
