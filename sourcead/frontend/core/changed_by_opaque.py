"""Refuse to read global and closure variables that a function which is called as it is (`opaque`) changes: the text reads them once.

    @opaque                        def loss(x):
    def step():                        a = scale * x        the text reads `scale` at its beginning
        global scale                   step()
        scale = scale / 2              return a + scale * x

What such a function assigns is told by its code, and by that of the functions that it calls by their names; of which objects it changes
items or attributes, by its source: `table[k] = v`, `table.append(v)`. What it changes under other names is not seen.
"""

import dis
import types
from collections.abc import Iterator
from typing import Any

import gast

from sourcead.errors import SourceADError
from sourcead.frontend.core.errors import refused
from sourcead.frontend.core.known_values import is_library
from sourcead.frontend.core.lowering import Lowering, bound_names
from sourcead.frontend.find_source import find_source

ASSIGNS = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF"}


def note(lo: Lowering, function: Any) -> None:
    """Note what a function changes that is called as it is here."""
    name = getattr(function, "__name__", "it")
    for place, variable in changes(function, set()):
        why = f"`{name}` is called as it is and changes `{variable}`, which this function reads, too: in which order would be lost"
        lo.changed_elsewhere[place] = refused(lo, why, "return the new value, and pass it")


def refuse_reads(lo: Lowering) -> None:
    """Refuse a variable that is read in the text and changed by a function that is called as it is."""
    read = {("name", id(where), key) for where, key in lo.live.values()} | {("name", *guard[:2]) for guard in lo.guards}
    read |= {("object", id(const.value), "") for *_, const in lo.live_values.values()}
    read |= {("name", module, name) for module, names in lo.modules.items() for name in names}
    for place, error in lo.changed_elsewhere.items():
        if place in read:
            raise error


def changes(function: Any, seen: set[Any]) -> Iterator[tuple[tuple, str]]:
    """Iterate over the places that a function, or one that it calls, assigns, and the objects that it changes, with the variable's name."""
    function = getattr(function, "__wrapped__", getattr(function, "__func__", function))
    if not isinstance(function, types.FunctionType) or function in seen or is_library(function):
        return
    seen.add(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    for code in codes(function.__code__):
        for step in dis.get_instructions(code):
            if step.opname in ASSIGNS:
                name = step.argval
                if name in cells:
                    yield ("name", id(cells[name]), "cell_contents"), name
                elif step.opname.endswith("GLOBAL"):
                    yield ("name", id(function.__globals__), name), name
        for called in (found(function, cells, name) for name in (*code.co_names, *cells)):
            yield from changes(called, seen)
    for name in changed_names(function):
        if (changed := found(function, cells, name)) is not None:
            yield ("object", id(changed), ""), name


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Iterate over the code of a function and of the functions inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from codes(inner)


def found(function: types.FunctionType, cells: dict[str, types.CellType], name: str) -> Any:
    """Return what a name that is not a function's own stands for, None if it has no value yet."""
    try:
        return cells[name].cell_contents if name in cells else function.__globals__.get(name)
    except ValueError:
        return None


def changed_names(function: types.FunctionType) -> set[str]:
    """Return the names, other than its own, of the objects that a function changes, as far as its source tells."""
    try:
        node = find_source(function).node
    except SourceADError:
        return set()
    names = set()
    for n in gast.walk(node):
        match n:
            case gast.Subscript(ctx=gast.Store() | gast.Del()) | gast.Attribute(ctx=gast.Store() | gast.Del()):
                names.add(root(n))
            case gast.Expr(value=gast.Call(func=gast.Attribute(value=owner))):  # called for what it changes
                names.add(root(owner))
            case gast.keyword(arg="out", value=value):
                names.add(root(value))
    return {name for name in names - bound_names(node) - {None} if not is_parameter(node, name)}


def root(node: gast.AST) -> str | None:
    """Return the name of the variable that an expression takes parts of."""
    while isinstance(node, (gast.Subscript, gast.Attribute)):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None


def is_parameter(node: Any, name: str) -> bool:
    """Tell whether a name is that of a parameter of a function."""
    return any(isinstance(n, gast.Name) and isinstance(n.ctx, gast.Param) and n.id == name for n in gast.walk(node.args))
