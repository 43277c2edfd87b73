"""Lower subscripts: `base[key]`."""

from __future__ import annotations

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import BoundVal, Cell, FunctionVal, Lowering, MethodVal, SuperVal, TupleVal, Value, reach
from sourcead.frontend.values import dicts, function_choices, lists, numpy_brackets, sequences
from sourcead.ir.nodes import Const, Operand, Slice, Sub
from sourcead.ir.types import Array, ListT, NoneType, Scalar, Str, StructT, TupleT, Unknown, rank


@core.subscript.register("object", SuperVal, MethodVal, FunctionVal, BoundVal)
def _item_of_object(lo: Lowering, base: Value, key: Value, node) -> Value:
    found = core.call_special(lo, base, "__getitem__", [key], node)
    if found is None:
        raise core.unsupported(lo, node, "this object has no items")
    return found


@core.subscript.register(Const)
def _item_of_constant(lo: Lowering, base: Const, key: Value, node) -> Value:
    """Lower an item of a constant, which may be data or another object."""
    if not base.live and isinstance(base.value, (tuple, list, str, dict)):
        found, k = core.known(lo, key)
        if found:
            try:
                return Const(base.value[k])
            except Exception:  # the program raises the same error at run time
                pass
    found = numpy_brackets.subscript_of_object(lo, base, key, node)
    return item_of_data(lo, base, key, node) if found is None else found


@core.subscript.register(TupleVal, "list")
def _item_of_sequence(lo: Lowering, base: TupleVal | Cell, key: Value, node) -> Value:
    """Lower a subscript of a tuple or list of known length; for an unknown index, turn the whole into one IR value."""
    if (found := core.call_special(lo, base, "__getitem__", [key], node)) is not None:
        return found
    if isinstance(base, TupleVal) and base.cls is not None:
        base = TupleVal(base.items)
    if isinstance(base, Cell):
        lo.alive(base)
    items = base.contents
    found, k = core.known(lo, key)
    if found and isinstance(key, Slice):
        return lo.new_list(items[k]) if isinstance(base, Cell) else TupleVal(tuple(items[k]))
    if found and isinstance(k, (int, np.integer)) and -len(items) <= k < len(items):
        return items[k]
    if found:
        raise core.unsupported(lo, node, f"index {k!r} is out of range: there are {len(items)} items")
    if items and all(map(core.is_function, items)):
        return function_choices.by_index(lo, items, key)
    return item_of_data(lo, sequences.as_one_value(lo, base), key, node)


@core.subscript.register("dict")
def _item_of_dict(lo: Lowering, base: Cell, key: Value, node) -> Value:
    """Lower an item of a dict of known keys; for an unknown key, turn the dict into one IR value."""
    lo.alive(base)
    found, k = core.known(lo, key)
    if found and k not in base.items and base.default is None:
        raise core.unsupported(lo, node, f"the dict has no key {k!r} here")
    if found and k not in base.items and base.depth == lo.depth:
        lo.changed(base)
        lo.set(base.slots, k, core.call(lo, base.default, [], {}, node))
    if found and k in base.items:
        return base.items[k]
    if found:
        dicts.open_up(lo, base, node)
    elif base.items and all(map(core.is_function, base.items.values())):
        return function_choices.by_key(lo, base.items, key, None)
    else:
        dicts.open_up(lo, base, node, key)
    return dicts.item(lo, base, key, node)


@core.subscript.register(object)
def item_of_data(lo: Lowering, base: Value, key: Value, node) -> Value:
    """Lower a subscript of an array, or of a list or tuple that is one IR value."""
    operand = lo.operand(key)
    if isinstance(base, Cell):
        t = atom_type(lo.read(base))
        if isinstance(t, ListT) and isinstance(operand, Slice):
            return lists.wrap_items(lo, lo.build.index(lo.read(base), operand), base)
        if views(t, operand) and not may_be_number(t, operand):
            cell = lo.view(base, Sub(operand))
            var = lo.read(cell)
            if isinstance(var.type, (Scalar, Str, NoneType)) or takes_number(t, operand):
                return var
            if isinstance(var.type, (TupleT, StructT)):
                return lo.wrap(var, shares=reach(base))
            return cell
    var = lo.build.index(lo.read(base), operand)
    return lo.wrap(var, shares=reach(base) if isinstance(base, Cell) and not is_gather(operand) else ())


def views(t, key: Operand) -> bool:
    """Tell whether `base[key]` surely shares memory with the base: the key has only integers, strings, slices, None and `...`."""
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, tuple):
            return False
        if isinstance(part, Slice) or isinstance(part, Const) and (part.value is None or part.value is Ellipsis):
            continue
        kind = atom_type(part)
        if not (isinstance(kind, Scalar) and kind.kind == "int" or isinstance(kind, Str)):
            return False
    return True


def may_be_number(t, key: Operand) -> bool:
    """Tell whether `base[key]` of an array of unknown rank may be a number, which later writes do not change."""
    return isinstance(t, (Array, Unknown)) and rank(t) is None and only_indices(key)


def takes_number(t, key: Operand) -> bool:
    """Tell whether `base[key]` is a number, whatever the dtype of the array."""
    return isinstance(t, Array) and only_indices(key) and rank(t) == (len(key) if isinstance(key, tuple) else 1)


def only_indices(key: Operand) -> bool:
    """Tell whether no part of a key is a slice, None or `...`."""
    parts = key if isinstance(key, tuple) else (key,)
    return not any(isinstance(p, Slice) or isinstance(p, Const) and (p.value is None or p.value is Ellipsis) for p in parts)


def is_gather(key: Operand) -> bool:
    """Tell whether the subscript makes a copy because some part of it is an array, a list or a mask."""
    parts = key if isinstance(key, tuple) else (key,)
    for part in parts:
        if isinstance(part, Slice):
            continue
        if isinstance(part, tuple):
            return True
        kind = atom_type(part)
        if isinstance(kind, (Array, ListT)) and rank(kind) != 0:
            return True
        if isinstance(kind, Scalar) and kind.kind == "bool":
            return True
    return False
