"""Configures the server of halfnote's JupyterLab."""
import os
import warnings

from jupyter_client.ioloop import AsyncIOLoopKernelRestarter

# The server reads its configuration twice.
warnings.filterwarnings("ignore", message="Overriding existing pre_save_hook")

WIDGETS = "application/vnd.jupyter.widget-state+json"


def without_empty_widgets(model, **_):
    """Removes the widget state that JupyterLab adds to notebooks without widgets."""
    content = model.get("content")
    if model.get("type") != "notebook" or not isinstance(content, dict):
        return
    metadata = content.get("metadata", {})
    if metadata.get("widgets", {}).get(WIDGETS, {}).get("state") == {}:
        del metadata["widgets"]


c.ContentsManager.pre_save_hook = without_empty_widgets  # noqa: F821


class Restarter(AsyncIOLoopKernelRestarter):
    """Tells a kernel how the process ended that it replaces, which only the parent of that process knows."""

    async def poll(self):
        kernel = self.kernel_manager
        status = await kernel.provisioner.poll() if kernel.provisioner else None
        if status is not None:
            kernel.update_env(env={"HALFNOTE_ENDED": str(status)})
        await super().poll()


c.AsyncIOLoopKernelManager.restarter_class = Restarter  # noqa: F821

# The server runs in a separate folder, so that what it starts imports nothing from the notebooks' folder. Terminals start there.
try:
    from jupyter_server_terminals.terminalmanager import TerminalManager
except ImportError:  # a system without terminals
    pass
else:
    class Terminals(TerminalManager):
        def create(self, **kwargs):
            if os.path.realpath(kwargs.get("cwd") or ".") == os.path.realpath("."):
                kwargs["cwd"] = self.parent.root_dir
            return super().create(**kwargs)

    c.TerminalsExtensionApp.terminal_manager_class = Terminals  # noqa: F821
