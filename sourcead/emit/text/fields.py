"""Prints updates that add to an array which is a field of a record or an element of a tuple.

    d_layers[i].w += v          where the field can be assigned to, as `+=` does
    d_w = d_layers[i].w         where it cannot: in tuples, named tuples and frozen dataclasses
    d_w += v
"""

from __future__ import annotations

import ast

from sourcead.analysis.builder import operand_type
from sourcead.emit.text.expressions import Expressions
from sourcead.ir.nodes import Sub, Update
from sourcead.ir.records import is_frozen
from sourcead.ir.types import ListT, StructT, TupleT, Type


def added_to_field(op: Update, expressions: Expressions) -> list[ast.stmt] | None:
    """Return the statements of an update that adds to a field or element, or None for other updates."""
    holders = containers(op)
    if op.mode != "add" or not holders or not isinstance(holders[-1], (StructT, TupleT)):
        return None
    part = expressions.operand(op.base)
    for step, holder in zip(op.path, holders):
        field = step.key.value if isinstance(holder, StructT) else None
        part = ast.Subscript(part, expressions.key(step.key), ast.Load()) if field is None else ast.Attribute(part, field, ast.Load())
    value, holder = expressions.operand(op.value), holders[-1]
    if isinstance(holder, StructT) and not issubclass(holder.cls, tuple) and not is_frozen(holder.cls):
        return [ast.AugAssign(part, ast.Add(), value)]
    name = unused(f"d_{step.key.value}" if isinstance(holder, StructT) else "d_item", expressions)
    return [ast.Assign([ast.Name(name, ast.Store())], part), ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), value)]


def containers(op: Update) -> list[Type]:
    """Return the types of the containers that the steps of a path take a part of, or none if one of them is unknown."""
    found, t = [], operand_type(op.base)
    for step in op.path:
        if not isinstance(step, Sub):
            return []
        found.append(t)
        match t:
            case ListT(item):
                t = item
            case TupleT(items):
                t = items[step.key.value]
            case StructT(_, fields):
                t = dict(fields)[step.key.value]
            case _:
                return []
    return found


def unused(name: str, expressions: Expressions) -> str:
    """Return the name, with a number added if the name is taken in the function."""
    taken = {*expressions.names.values(), *expressions.globals.reserved}
    candidates = (name, *(f"{name}_{k}" for k in range(1, len(taken) + 2)))
    return next(candidate for candidate in candidates if candidate not in taken)
