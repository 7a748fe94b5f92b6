"""The pictures of a recording, drawn by the program."""
import html
import json
import os
import sys

from . import Environment, program


class Shown:
    """What a recording shows. Each method returns an output for a front end of Jupyter: a chart with a picture, a text and a table."""

    def dtypes(self):
        """The dtype of each operation, forward and backward, with its casts."""
        return self._show("dtypes")

    def ranges(self):
        """The magnitudes in the results of operations, over float16's range."""
        return self._show("ranges")

    def loss_scale(self):
        """The loss scale of each step, and the skipped steps."""
        return self._show("loss-scale")

    def timeline(self):
        """The operations of a step on a time axis."""
        return self._show("timeline")

    def cast_graph(self):
        """Modules, the tensors between them, and where they are cast."""
        return self._show("cast-graph")

    def memory(self):
        """The bytes of results that a step needs, by dtype."""
        return self._show("memory")

    def flushed(self):
        """The share of elements that rounding turned into 0, by operation and step."""
        return self._show("flushed")

    def dashboard(self):
        """Loss, loss scale, throughput and memory of all steps."""
        return self._show("dashboard")

    def overflow(self):
        """Where inf or NaN first appeared, what it reached, and what to do."""
        return self._show("overflow")

    def gradients(self):
        """Where gradients were lost, by parameter, and the loss scale that would fit."""
        return self._show("gradients")

    def lint(self):
        """What is wrong, risky or slow in the use of mixed precision."""
        return self._show("lint")

    def why(self, op):
        """Why autocast ran an operation in its dtype: why("softmax")."""
        return self._show("why", op)

    def table(self):
        """The operations, one in each row."""
        return self._show("table")

    def summary(self):
        """One sentence, and the totals of operations."""
        return self._show("summary")

    def _show(self, what, *args):
        with Environment():
            import subprocess
            import tempfile
        with tempfile.TemporaryDirectory(prefix="halfnote-") as folder:
            path = os.path.join(folder, "run.hnt")
            self.write(path)
            done = subprocess.run([program(), "show", path, "--bundle", what, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode("utf-8", "replace").strip() or f"halfnote show ended with {done.returncode}")
        return Output(json.loads(done.stdout))

    def _repr_mimebundle_(self, include=None, exclude=None):
        return self.summary()._repr_mimebundle_(include, exclude)


class Output:
    """An output: what a front end of Jupyter shows, and its text elsewhere."""

    def __init__(self, bundle):
        self.data, self.metadata = bundle["data"], bundle.get("metadata") or {}

    def _repr_mimebundle_(self, include=None, exclude=None):
        return self.data, self.metadata

    def __repr__(self):
        return self.data.get("text/plain", "")


class Recording(Shown):
    """A recording in a file."""

    def __init__(self, path):
        self.path = os.fspath(path)
        if not os.path.isfile(self.path):
            raise FileNotFoundError(f"halfnote.load: {self.path} does not exist; halfnote.record(…, path=…) and write write such a file")

    def write(self, path):
        import shutil
        shutil.copyfile(self.path, path)
