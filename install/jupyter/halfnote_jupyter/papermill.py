"""Parameters of papermill for notebooks of Go cells: papermill -p name value."""
import re
import threading

from papermill.engines import NBClientEngine
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

from . import literals

DECLARATION = re.compile(r"(?:var\s+|const\s+)?(?P<names>\w+(?:\s*,\s*\w+)*)\s*(?P<type>[^=:]*?)\s*:?=\s*(?P<values>.+)")
ZERO = re.compile(r"var\s+(?P<names>\w+(?:\s*,\s*\w+)*)\s+(?P<type>\S+)(?P<values>)")
COMPOSITE = re.compile(r"((?:\[\d*\]|map\[\w+\])+[\w.]+)\{")


class Engine(NBClientEngine):
    """papermill's own engine. papermill loads translators from no entry point, but imports this module for its engine."""


class GoTranslator(Translator):
    # declared holds the parameters of the notebook that papermill inspected last in this thread.
    declared = threading.local()

    @classmethod
    def comment(cls, text):
        return f"// {text}".strip()

    @classmethod
    def translate_none(cls, val):
        return "any(nil)"

    @classmethod
    def translate_float(cls, val):
        return literals.number(val)

    @classmethod
    def translate_escaped_str(cls, val):
        return literals.text(val)

    @classmethod
    def translate_list(cls, val):
        return cls.composite(literals.go_type(val), val)

    @classmethod
    def translate_dict(cls, val):
        return cls.composite(literals.go_type(val), val)

    @classmethod
    def composite(cls, kind, val):
        return literals.composite(kind, val, cls.element)

    @classmethod
    def element(cls, val):
        return "nil" if val is None else cls.translate(val)

    @classmethod
    def codify(cls, parameters, comment="Parameters"):
        declared, cls.declared.parameters = getattr(cls.declared, "parameters", {}), {}
        lines = [cls.comment(comment)]
        for name, val in parameters.items():
            if not name.isidentifier():
                raise ValueError(f"parameter {name!r}, want the name of a Go variable")
            kind, word = declared.get(name, (None, None))
            if isinstance(val, (list, dict)) and f"{kind}".startswith(("[", "map[")):
                value = cls.composite(kind, val)
            elif kind == "bool" and val in ("true", "false"):  # papermill reads only True and False as bool
                value = val
            else:
                value = cls.element(val) if kind else cls.translate(val)
            if word == "const":
                lines.append(f"const {name} = {value}")
            else:
                lines.append(f"{name} {'=' if kind else ':='} {value}")  # a declared variable keeps its type
        return "\n".join(lines) + "\n"

    @classmethod
    def inspect(cls, parameters_cell):
        """Returns the variables and constants that the lines of a cell declare."""
        list, block = [], ""
        cls.declared.parameters = {}
        for line in parameters_cell["source"].splitlines():
            code, help = uncommented(line)
            if opened := re.fullmatch(r"(var|const)\s*\(", code):
                block = opened[1] + " "
                continue
            if code == ")":
                block = ""
                continue
            match = DECLARATION.fullmatch(block + code) or ZERO.fullmatch(block + code)
            if not match or not block and ":=" not in code and not code.startswith(("var ", "const ")):
                continue
            names = [name.strip() for name in match["names"].split(",")]
            values = split(match["values"])
            if len(values) != len(names):
                values = [match["values"]] * len(names)
            for name, value in zip(names, values):
                kind = match["type"] or literal_type(value)
                list.append(Parameter(name, kind, value, help))
                cls.declared.parameters[name] = (kind, (block + code).split()[0])
        return list


def literal_type(value):
    """Returns the Go type of a literal, or "None" if the value is another expression."""
    if value in ("true", "false"):
        return "bool"
    if value[0] in "\"`":
        return "string"
    if re.fullmatch(r"[+-]?[0-9][0-9_]*", value):
        return "int"
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", value):
        return "float64"
    match = COMPOSITE.match(value)
    return match[1] if match else "None"


def tokens(text):
    """Returns the places of text that are outside of strings, with the depth of brackets there."""
    depth, quote, escaped = 0, "", False
    for i, c in enumerate(text):
        if quote:
            if escaped:
                escaped = False
            elif c == "\\" and quote != "`":
                escaped = True
            elif c == quote:
                quote = ""
            continue
        if c in "\"`'":
            quote = c
        depth += (c in "([{") - (c in ")]}")
        yield i, depth


def uncommented(line):
    """Returns the code and the comment of a line."""
    for i, _ in tokens(line):
        if line.startswith("//", i):
            return line[:i].strip(), line[i + 2:].strip()
    return line.strip(), ""


def split(values):
    """Returns the expressions of a list with commas."""
    start, list = 0, []
    for i, depth in tokens(values):
        if values[i] == "," and depth == 0:
            list.append(values[start:i].strip())
            start = i + 1
    return list + [values[start:].strip()]


papermill_translators.register("go", GoTranslator)
