"""Writes states.json: the initial states of ipywidgets' own widgets.

    pip install ipywidgets==8.1.9 && python states.py > states.json
"""
import json

import ipywidgets

NAMES = """Button Checkbox Dropdown FloatLogSlider FloatProgress FloatSlider FloatText HBox HTML Image IntProgress
IntSlider IntText Label Output RadioButtons Select Text Textarea ToggleButton ToggleButtons VBox""".split()


def state(widget):
    s = widget.get_state()
    for name, value in s.items():
        if isinstance(value, (bytes, memoryview)):
            s[name] = "bytes"
        elif isinstance(value, str) and value.startswith("IPY_MODEL_"):
            s[name] = state(getattr(widget, name))
    return s


print(json.dumps({name: state(getattr(ipywidgets, name)()) for name in NAMES}, indent=1, sort_keys=True))
