"""%%go: Go cells in Python notebooks.

The cells of a notebook share one kernel for Go, which starts with the first of them and ends with the Python process.
"""
import atexit
import os
import queue
import re
import sys
import tempfile

from halfnote_jupyter import literals
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import clear_output, display, update_display
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from . import Environment, program


class GoError(Exception):
    """A Go cell that failed. IPython shows the kernel's own message."""

    def __init__(self, content):
        super().__init__(f"{content['ename']}: {content['evalue']}")
        self.lines = content["traceback"]

    def _render_traceback_(self):
        return self.lines


class ExchangeError(Exception):
    """A variable that cannot be exchanged. IPython shows the text alone."""

    def _render_traceback_(self):
        return [str(self)]


class Kernel:
    """A kernel for Go and its client."""

    def __init__(self):
        specs = KernelSpecManager(kernel_dirs=[os.path.dirname(os.path.dirname(program()))])
        self.manager = KernelManager(kernel_name="halfnote", kernel_spec_manager=specs)
        self.manager.start_kernel()
        atexit.register(self.close)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        try:
            self.client.wait_for_ready(timeout=60)
        except BaseException:
            self.close()
            raise

    def alive(self):
        return self.manager.is_alive()

    def close(self):
        atexit.unregister(self.close)
        if hasattr(self, "client"):
            self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def run(self, code, expressions=None, silent=False):
        """Runs a cell, shows its outputs, and returns the bundles of expressions by name."""
        request = self.client.execute(code, silent=silent, user_expressions=expressions or {}, allow_stdin=not silent)
        failed = None
        while True:
            try:
                reply = self.step(request)
            except KeyboardInterrupt:
                self.manager.interrupt_kernel()
                continue
            if isinstance(reply, GoError):
                failed = reply
            elif reply:
                break
        if failed:
            raise failed
        reply = self.reply(request)
        if reply["status"] != "ok":
            raise GoError(reply)
        return reply.get("user_expressions", {})

    def step(self, request):
        """Handles one message: it returns a GoError, whether the cell has ended, or None."""
        if not self.alive():
            raise RuntimeError("the kernel for Go has died; the next %%go cell starts another one")
        try:
            message = self.client.get_iopub_msg(timeout=0.1)
        except queue.Empty:
            if self.client.stdin_channel.msg_ready():
                self.ask(self.client.get_stdin_msg(timeout=1)["content"])
            return None
        if message["parent_header"].get("msg_id") != request:
            return None
        kind, content = message["msg_type"], message["content"]
        if kind == "stream":
            print(content["text"], end="", flush=True, file=sys.stderr if content["name"] == "stderr" else sys.stdout)
        elif kind in ("display_data", "execute_result"):
            name = content.get("transient", {}).get("display_id")
            display(content["data"], metadata=content["metadata"], raw=True, **({"display_id": name} if name else {}))
        elif kind == "update_display_data":
            update_display(content["data"], display_id=content["transient"]["display_id"], metadata=content["metadata"], raw=True)
        elif kind == "clear_output":
            clear_output(wait=content["wait"])
        elif kind == "error":
            return GoError(content)
        return kind == "status" and content["execution_state"] == "idle"

    def ask(self, content):
        """Answers a request for input."""
        if content["password"]:
            with Environment():
                import getpass
            self.client.input(getpass.getpass(content["prompt"]))
        else:
            self.client.input(input(content["prompt"]))

    def reply(self, request):
        """Returns the content of the reply to a request."""
        while True:
            message = self.client.get_shell_msg(timeout=60)
            if message["parent_header"].get("msg_id") == request:
                return message["content"]


@magics_class
class GoMagics(Magics):
    kernel = None

    def started(self):
        """Returns the kernel, which it starts if there is none or it has died."""
        if self.kernel and not self.kernel.alive():
            self.kernel.close()
            type(self).kernel = None
        if not self.kernel:
            type(self).kernel = Kernel()
        return self.kernel

    @magic_arguments()
    @argument("-i", "--input", action="append", default=[], help="Python variables to declare in Go first: NumPy arrays as tensors, and None, bool, int, float, str, or lists and dicts of them. Separate several by commas.")
    @argument("-o", "--output", action="append", default=[], help="Go variables or constants to assign in Python afterwards: tensors as NumPy arrays, other values by way of JSON.")
    @cell_magic
    def go(self, line, cell):
        """Runs the cell as Go."""
        args = parse_argstring(self.go, line)
        kernel = self.started()
        with tempfile.TemporaryDirectory(prefix="halfnote-") as folder:
            inputs = [self.declaration(name, folder) for name in names(args.input)]
            if inputs:
                kernel.run("\n".join(inputs), silent=True)
            wanted = {name: export(name, path(folder, name)) for name in names(args.output)}
            for name, value in kernel.run(cell, wanted).items():
                if value["status"] != "ok":
                    raise ExchangeError(f"%%go -o {name}: " + re.sub(r"^In\[.*?\]:[0-9:]* ", "", value["evalue"]))
                self.shell.user_ns[name] = imported(name, value["data"], path(folder, name))

    @line_magic
    def go_restart(self, line):
        """Ends the kernel for Go. The next %%go cell starts another one, without the variables."""
        if self.kernel:
            self.kernel.close()
            type(self).kernel = None

    def declaration(self, name, folder):
        """Returns the Go declaration of a Python variable."""
        try:
            value = self.shell.user_ns[name]
        except KeyError:
            raise ExchangeError(f"%%go -i {name}: name '{name}' is not defined in Python") from None
        if hasattr(value, "detach"):  # a tensor of PyTorch
            value = value.detach().cpu().numpy()
        if type(value).__module__ == "numpy":
            numpy = sys.modules["numpy"]
            if isinstance(value, numpy.generic):
                value = value.item()
            else:
                file = path(folder, name)
                numpy.save(file, numpy.ascontiguousarray(value))
                return f"{name} := func() *tensor.Tensor {{ t, err := data.LoadNPY({literals.text(file)}); if err != nil {{ panic(err) }}; return t }}()"
        try:
            kind = literals.go_type(value)
            return f"var {name} {kind} = {literals.literal(value)}"
        except TypeError as err:
            raise ExchangeError(f"%%go -i {name}: {err}, or a NumPy array") from None


def names(lists):
    """Returns the names in lists of names with commas."""
    found = [name.strip() for text in lists for name in text.split(",") if name.strip()]
    for name in found:
        if not name.isidentifier():
            raise ExchangeError(f"%%go: {name!r} is not the name of a variable")
    return found


def path(folder, name):
    """Returns the file by which an array is exchanged."""
    return os.path.join(folder, name + ".npy")


def export(name, file):
    """Returns a Go expression that writes a tensor to a file, and shows another value as JSON."""
    return (f"func(v any) any {{ if t, ok := v.(*tensor.Tensor); ok {{ if err := data.SaveNPY({literals.text(file)}, t.Detach()); err != nil {{ panic(err) }}; return nil }}; "
            f"return display.JSON(v) }}({name})")


def imported(name, bundle, file):
    """Returns the Python value of an expression made by export."""
    if os.path.exists(file):
        with Environment():
            import numpy
        return numpy.load(file)
    if "application/json" not in bundle:
        raise ExchangeError(f"%%go -o {name}: {bundle.get('text/plain', 'the value is nil')}")
    return bundle["application/json"]
