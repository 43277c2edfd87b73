"""What programs import, and the functions, classes and constants of `helpers.py` that they use."""

import ast
import os
import re
from functools import cache

FOLDER = os.path.dirname(__file__)


@cache
def forms(topic):
    """Return the forms of a topic: the lines of its file, and after a line `---` its paragraphs."""
    with open(os.path.join(FOLDER, "forms", topic + ".txt")) as file:
        lines, _, paragraphs = file.read().partition("---\n")
    return tuple(lines.strip().splitlines() + [p for p in paragraphs.strip().split("\n\n") if p])


@cache
def _helpers():
    """Return the imports, and by name the source and the names in it of each definition."""
    with open(os.path.join(FOLDER, "helpers.py")) as file:
        text = file.read()
    imports, parts = [], {}
    for node in ast.parse(text).body[1:]:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        source = "\n".join(text.splitlines()[first - 1:node.end_lineno]).split("  # noqa")[0]
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.append(source)
        else:
            name = node.targets[0].id if isinstance(node, ast.Assign) else node.name
            parts[name] = source, set(re.findall(r"\w+", source))
    return imports, parts


@cache
def _code():
    imports, parts = _helpers()
    return compile("\n".join(imports) + "\n" + "\n\n".join(source for source, _ in parts.values()), "helpers", "exec")


def needed(text):
    """Return the imports and definitions that a text needs, in the order of `helpers.py`, as source lines."""
    imports, parts = _helpers()
    wanted, words = set(), set(re.findall(r"\w+", text))
    while len(wanted) < len(wanted := wanted | {name for name in parts if name in words}):
        words = words.union(*(parts[name][1] for name in wanted))
    lines = [line for line in imports if line.split()[-1] in words]
    for name, (source, _) in parts.items():
        if name in wanted:
            lines += ["", ""] * ("\n" in source) + source.split("\n")
    return lines


def everything():
    """Return the names that the helpers define, run once more."""
    names = {"__name__": "drawn"}
    exec(_code(), names)
    names.pop("__builtins__")
    return names
