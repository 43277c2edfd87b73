"""Tell which statements call functions one after the other, so that each call can be a statement of its own."""

from typing import Any

import gast

from sourcead.frontend import core
from sourcead.frontend.core import Cell, Lowering, Value
from sourcead.frontend.core.known_values import common_type
from sourcead.frontend.syntax.expressions import elements, keywords
from sourcead.frontend.values import dicts

TRIED = (gast.Call, gast.Attribute, gast.Subscript)  # what is tried before it is evaluated (`probes.py`)
STRICT = (  # expressions all of whose parts are evaluated, in order
    gast.Call, gast.Attribute, gast.Name, gast.Tuple, gast.List, gast.BinOp, gast.UnaryOp, gast.Subscript, gast.Compare, gast.keyword,
)  # fmt: skip
FIELDS = (gast.Assign, gast.AugAssign, gast.Expr, gast.Return)


def has_calls(node: gast.AST | None, calls: tuple[type, ...] = (gast.Call, gast.Attribute)) -> bool:
    """Tell whether a statement is an expression, with what becomes of its value, in which functions are called; properties may be set."""
    if not isinstance(node, FIELDS) or node.value is None:
        return False
    if isinstance(node, gast.AugAssign) and not isinstance(node.target, gast.Name):
        return isinstance(node.target, gast.Subscript) and gast.Subscript in calls and not is_lazy(node.target.slice)
    if stored_apart(node, calls):
        return True
    if is_lazy(node.value) and not (isinstance(node.value, calls) and not isinstance(node.value, gast.Attribute)):
        return False
    return any(isinstance(n, calls) for n in gast.walk(node.value))


def stored_apart(node: gast.AST, calls: tuple[type, ...]) -> list[gast.AST]:
    """Return the targets that may raise something: attributes, which may be properties, and items where these are asked for."""
    items = [t for t in getattr(node, "targets", ()) if isinstance(t, gast.Subscript) and not is_lazy(t.slice) and not is_lazy(t.value)]
    return [t for t in getattr(node, "targets", ()) if isinstance(t, gast.Attribute) or gast.Subscript in calls and t in items]


def is_lazy(node: gast.AST) -> bool:
    """Tell whether an expression may have parts that are not evaluated, or not in order."""
    several = any(isinstance(n, gast.Compare) and len(n.ops) > 1 for n in gast.walk(node))
    return several or any(isinstance(n, gast.expr) and not isinstance(n, (*STRICT, gast.Constant, gast.Lambda)) for n in gast.walk(node))


def operation(lo: Lowering, base: Value, node: gast.AST) -> tuple[Any, ...]:
    """Return the operation that a call, an attribute or a subscript is, and its operands after the first one, `base`."""
    match node:
        case gast.Call():
            return core.call, elements(lo, node.args), keywords(lo, node)
        case gast.Subscript():
            key = core.lower(lo, node.slice)
            if isinstance(base, Cell) and base.kind == "dict" and common_type(base) is not None and not core.known(lo, key)[0]:
                dicts.open_up(lo, base, node, key)  # before the subscript, which changes nothing then
            return core.subscript, key
    return core.attribute, node.attr
