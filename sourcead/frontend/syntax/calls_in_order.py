"""Tell which statements call functions one after the other, so that each call can be a statement of its own."""

from typing import Any

import gast

from sourcead.frontend import core
from sourcead.frontend.control.exits import standing_for
from sourcead.frontend.core import Cell, Held, Lowering, Value
from sourcead.frontend.core.known_values import common_type
from sourcead.frontend.syntax.expressions import elements, keywords
from sourcead.frontend.values import dicts

TRIED = (gast.Call, gast.Attribute, gast.Subscript, gast.BinOp)  # what is tried before it is evaluated (`probes.py`)
DIVISIONS = (gast.Div, gast.FloorDiv, gast.Mod, gast.Pow)
CHOICES = (gast.IfExp, gast.BoolOp, gast.Compare)
SIMPLE = (*CHOICES, gast.Name, gast.Constant, gast.UnaryOp, gast.BinOp)
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
    return any(is_one_of(n, calls) for n in gast.walk(node.value))


def is_one_of(node: gast.AST, calls: tuple[type, ...]) -> bool:
    """Tell whether an expression is one of those that may raise what is handled: of operators divisions and powers alone."""
    return isinstance(node, calls) and (not isinstance(node, gast.BinOp) or isinstance(node.op, DIVISIONS))


def is_choice(node: gast.AST) -> bool:
    """Tell whether an expression is a choice in which nothing raises what is handled, so that it has one value before what follows it."""
    if not isinstance(node, CHOICES):
        return False
    return all(isinstance(n, SIMPLE) and not is_one_of(n, TRIED) for n in gast.walk(node) if isinstance(n, gast.expr))


def stored_apart(node: gast.AST, calls: tuple[type, ...]) -> list[gast.AST]:
    """Return the targets that may raise something: attributes, which may be properties, and items where these are asked for."""
    items = [t for t in getattr(node, "targets", ()) if isinstance(t, gast.Subscript) and not is_lazy(t.slice) and not is_lazy(t.value)]
    return [t for t in getattr(node, "targets", ()) if isinstance(t, gast.Attribute) or gast.Subscript in calls and t in items]


def is_lazy(node: gast.AST) -> bool:
    """Tell whether an expression may have parts that are not evaluated, or not in order."""
    if is_choice(node):
        return False
    several = isinstance(node, gast.Compare) and len(node.ops) > 1
    other = isinstance(node, gast.expr) and not isinstance(node, (*STRICT, gast.Constant, gast.Lambda))
    return several or other or any(map(is_lazy, gast.iter_child_nodes(node)))


def first_operand(node: gast.AST) -> gast.AST:
    """Return the part of a call, an attribute, a subscript or a division that is evaluated first."""
    return getattr(node, {gast.Call: "func", gast.BinOp: "left"}.get(type(node), "value"))


def operation(lo: Lowering, base: Value, node: gast.AST) -> tuple[Any, ...]:
    """Return the operation that a call, an attribute, a subscript or a division is, and its operands after the first one, `base`."""
    match node:
        case gast.Call():
            return core.call, elements(lo, node.args), keywords(lo, node)
        case gast.Subscript():
            key = core.lower(lo, node.slice)
            if isinstance(base, Cell) and base.kind == "dict" and common_type(base) is not None and not core.known(lo, key)[0]:
                dicts.open_up(lo, base, node, key)  # before the subscript, which changes nothing then
            return core.subscript, key
        case gast.BinOp():
            return divided, core.lower(lo, node.right)
    return core.attribute, node.attr


def divided(lo: Lowering, left: Value, right: Value, node: gast.BinOp) -> Value:
    """Lower a division or power of two values."""
    return core.lower(lo, standing_for(node, gast.BinOp(Held(left), node.op, Held(right))))
