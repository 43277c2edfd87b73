"""Unpack lists and tuples of any representation, and collect values into lists and arrays."""

from __future__ import annotations

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.control import loops
from sourcead.frontend.core import BoundVal, Cell, FunctionVal, Iterable, Lowering, MethodVal, TupleVal, Value, leaves
from sourcead.frontend.values import classes, list_items
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import Array, ListT, Str, Unknown, carries_derivative


def static_items(lo: Lowering, value: Value, node, count: int | None = None) -> list[Value]:
    """Return the items of a value if their number is known; refuse otherwise."""
    value = core.present(value)
    if classes.method(value, "__iter__") is not None:
        value = core.iterate(lo, value, node)
    if isinstance(value, TupleVal):
        return list(value.items)
    if isinstance(value, Cell) and value.kind in ("list", "dict"):
        lo.alive(value)
        lo.sure(value)
        return value.contents if value.kind == "list" else [Const(k) for k in value.items]
    if isinstance(value, Iterable) and value.items is not None:
        return list(core.iterate(lo, value, node).items)
    if isinstance(value, Const) and not value.live and isinstance(value.value, (tuple, list, str, range)):
        return [Const(v) for v in value.value]
    if isinstance(value, (Var, Cell)):
        t = atom_type(lo.read(value))
        if count is None and isinstance(t, Array) and t.dims and isinstance(t.dims[0], int):
            count = t.dims[0]
        if count is None:
            raise core.unsupported(lo, node, "the number of items is not known before the program runs", "take them as `x[0]`")
        if isinstance(t, (Array, ListT, Unknown)):
            return [core.subscript(lo, value, Const(i), node) for i in range(count)]
    raise core.unsupported(lo, node, "the number of items is not known before the program runs")


def collect(lo: Lowering, iterable: Iterable, f, node) -> Value:
    """Collect `f(element)` for each element into a list."""
    result = lo.new_list([])
    loops.for_each(lo, iterable, lambda e: list_items.append(lo, result, f(e), node))
    return result


def as_array(lo: Lowering, value: Value) -> Value:
    """Convert a list or tuple that carries a derivative to an array; return any other value unchanged."""
    if not core.is_sequence(value) or isinstance(value, Const) or isinstance(value, Var) and isinstance(value.type, Str):
        return value
    if any(isinstance(leaf, (FunctionVal, BoundVal, MethodVal)) for leaf in leaves(value)):
        return value
    t = atom_type(lo.read(value))
    return lo.wrap(lo.build.call(np.array, lo.operand(value))) if carries_derivative(t) else value


def as_one_value(lo: Lowering, value: Value) -> Value:
    """Turn a tuple or list of known length into one IR value, so that an unknown index can be applied to it."""
    lo.keep_apart(value)
    whole = lo.read(value)
    cell = lo.new_cell(whole, name=whole.name if isinstance(whole, Var) else "items")
    lo.hold(cell, value)
    if isinstance(value, Cell) and value.kind == "list":
        cell.stands_for = value
        lo.journal.append(value, "stood_for", cell)
    return cell
