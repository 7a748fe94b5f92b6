"""Configures the server of halfnote's JupyterLab."""
import warnings

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
