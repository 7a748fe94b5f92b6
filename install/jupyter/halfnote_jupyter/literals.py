"""Python's values as Go literals."""
import json
import math


def go_type(val):
    """Returns the Go type of a value."""
    for python, go in ((bool, "bool"), (int, "int"), (float, "float64"), (str, "string")):
        if isinstance(val, python):
            return go
    if isinstance(val, (list, tuple)):
        return f"[]{common(map(go_type, val))}"
    if isinstance(val, dict):
        return f"map[string]{common(map(go_type, val.values()))}"
    return "any"


def common(types):
    """Returns the element type of a list with elements of the types."""
    types = set(types)
    if types == {"int", "float64"}:
        return "float64"
    return types.pop() if len(types) == 1 else "any"


def text(val):
    """Returns a string as a Go literal."""
    return json.dumps(str(val), ensure_ascii=False).replace("\ufeff", "\\ufeff")


def number(val):
    """Returns a float as a Go expression."""
    if math.isnan(val):
        return "math.NaN()"
    if math.isinf(val):
        return f"math.Inf({1 if val > 0 else -1})"
    if val == 0 and math.copysign(1, val) < 0:
        return "math.Copysign(0, -1)"
    return repr(val)


def composite(kind, val, element):
    """Returns a list or dict as a composite literal of a Go type. element returns the literal of an element."""
    if isinstance(val, dict):
        return kind + "{" + ", ".join(f"{text(k)}: {element(v)}" for k, v in val.items()) + "}"
    return kind + "{" + ", ".join(element(v) for v in val) + "}"


def literal(val):
    """Returns a value as a Go expression of its go_type."""
    if val is None:
        return "nil"
    if isinstance(val, bool):
        return "true" if val else "false"
    if isinstance(val, int):
        return str(int(val))
    if isinstance(val, float):
        return number(val)
    if isinstance(val, str):
        return text(val)
    if isinstance(val, (list, tuple, dict)):
        return composite(go_type(val), val, literal)
    raise TypeError(f"a value of type {type(val).__name__} has no Go literal, want None, bool, int, float, str, or a list, tuple or dict of them")
