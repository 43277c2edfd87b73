"""Tell of a global whether it is what its module made of it when it was imported, as far as the functions of this module tell.

    TABLE = {"water": 4.18}                 no function of the module assigns the name, or does anything with the dict
    def heat(x):                            but read its numbers and texts
        return x * TABLE["water"]

A module that is being run, or a notebook, may change its globals between two calls by statements outside of functions.  What other modules
change in this one is not seen.
"""

import ast
import functools
import inspect
import sys
import types
from pathlib import PurePath
from typing import Any

import numpy as np

PLAIN = (str, bytes, int, float, complex, PurePath, type(None))
READING = frozenset({"get", "keys", "values", "items", "copy", "index", "count"})
DEPTH = 7  # of the nodes around a use that are looked at


def is_set_at_import(module: Any, name: str, held: Any) -> bool:
    """Return whether a global name of a module, given by its names, holds what it held when the module had been imported."""
    owner = sys.modules.get(module.get("__name__", "")) if isinstance(module, dict) else None
    if type(owner) is not types.ModuleType or vars(owner) is not module or owner.__name__ == "__main__":
        return False
    if getattr(owner.__spec__, "_initializing", False):
        return False
    uses = uses_in_functions(owner)
    return uses is not None and not any(may_change(node, around, held) for node, around in uses.get(name, ()))


@functools.lru_cache(maxsize=200)
def uses_in_functions(module: types.ModuleType) -> dict[str, list[tuple[ast.Name, list[ast.AST]]]] | None:
    """Return where the functions of a module use each name, with the nodes around each use, innermost first; None without its source."""
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return None
    uses: dict[str, list] = {}

    def visit(node: ast.AST, around: list[ast.AST], inside: bool) -> None:
        if isinstance(node, ast.Global):
            for name in node.names:
                uses.setdefault(name, []).append((node, around))
        if isinstance(node, ast.Name) and inside:
            uses.setdefault(node.id, []).append((node, around))
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, [node, *around[: DEPTH - 1]], inside)

    visit(tree, [], False)
    return uses


def may_change(node: Any, around: list[Any], held: Any) -> bool:
    """Return whether a use of a name, or of a part of what it holds, may change that or give it another name.

    Args:
        node: the use, a node of `ast` or gast.
        around: the nodes around it, innermost first.
        held: what the name, or this part, holds.
    """
    if kind(node) == "Global":
        return True
    if isinstance(held, PLAIN) or isinstance(held, tuple) and all(isinstance(item, PLAIN) for item in held):
        return False  # a variable of the same name is another one
    if kind(getattr(node, "ctx", None)) != "Load" or not around:
        return True
    use, *further = around
    takes_part = kind(use) == "Subscript" and use.value is node
    if takes_part and kind(use.ctx) != "Load":
        return True
    if type(held) is np.ndarray:
        return may_change(use, further, held) if takes_part else kind(use) not in ("BinOp", "Compare")
    items = held.values() if type(held) is dict else held if type(held) in (list, tuple, set, frozenset) else None
    if items is None:
        return True
    if takes_part:
        if type(held) is dict and kind(use.slice) == "Constant" and use.slice.value in held:
            items = [held[use.slice.value]]
        return any(may_change(use, further, item) for item in items if not isinstance(item, PLAIN))
    if not all(isinstance(item, PLAIN) for item in items):
        return True
    return use.attr not in READING if kind(use) == "Attribute" else kind(use) not in ("Compare", "For", "comprehension", "Starred")


def kind(node: Any) -> str:
    """Return the name of the class of a syntax node."""
    return type(node).__name__
