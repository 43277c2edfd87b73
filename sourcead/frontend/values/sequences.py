"""Unpack lists and tuples of any representation, collect values into lists and arrays, and change the items of lists."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type, grown_type
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import loops
from sourcead.frontend.core import (
    ENDED, MISSING, TRUE, BoundVal, Cell, FunctionVal, Iterable, Lowering, MethodVal, MustMaterialise, OptionalVal,
    TupleVal, Value, array_of, leaves, roots
)
from sourcead.frontend.values.dict_keys import value_of
from sourcead.ir.nodes import Append, Atom, Const, Sub, Var
from sourcead.ir.types import Array, ListT, NoneType, Scalar, Str, Unknown, carries_derivative, rank


def no_numbers(lo: Lowering, reason: str, values: Sequence[Value]) -> UnsupportedSyntaxError:
    """Make the error for operands of which some are lists or tuples, with the arrays to write in their place."""
    lists = [v for v in values if core.is_sequence(v)]
    named = (lo.written_as(v) if isinstance(v, Cell) else getattr(getattr(v, "origin", v), "name", None) for v in lists)
    arrays = dict.fromkeys(f"`np.asarray({text or '...'})`" for text in named)
    return core.surely(lo, core.refused(lo, reason, " and ".join(arrays)), TypeError)


def static_items(lo: Lowering, value: Value, node, count: int | None = None) -> list[Value]:
    """Return the items of a value if their number is known; refuse otherwise."""
    if isinstance(value, OptionalVal):  # where it is None, Python raises an error
        value = value.held
    value = taken(lo, value, node)
    if isinstance(value, TupleVal):
        return list(value.items)
    if isinstance(value, Cell) and value.kind in ("list", "dict"):
        lo.sure(value)
        return value.contents if value.kind == "list" else [value_of(k) for k in value.items]
    if isinstance(value, Iterable) and value.items is not None:
        return list(value.items)
    if isinstance(value, Const) and not value.live and isinstance(value.value, (tuple, list, str, range)):
        return [Const(v) for v in value.value]
    if isinstance(value, Iterable) and value.nth is not None and (found := core.known(lo, value.length()))[0]:
        return [value.nth(Const(k)) for k in range(found[1])]
    check_has_items(lo, value, node)
    if isinstance(value, (Var, Cell)):
        t = atom_type(lo.read(array_of(value) or value))
        if count is None and isinstance(t, Array) and t.dims and isinstance(t.dims[0], int):
            count = t.dims[0]
        if count is None:
            raise core.unsupported(lo, node, "the number of items is not known before the program runs", "take them as `x[0]`")
        if isinstance(t, (Array, ListT, Unknown)):
            return [core.subscript(lo, value, Const(i), node) for i in range(count)]
    raise core.unsupported(lo, node, "the number of items is not known before the program runs")


def check_has_items(lo: Lowering, value: Value, node) -> None:
    """Refuse a value that is known to have no items, for which Python raises TypeError."""
    if isinstance(value, (Var, Cell)) or isinstance(value, Const) and not value.live:
        t = core.data_type(lo, value) or atom_type(lo.read(array_of(value) or value))
        if isinstance(t, (Scalar, NoneType)) or isinstance(t, Array) and t.dims == ():
            raise core.surely(lo, core.unsupported(lo, node, f"{core.structure_of(value)} has no items"), TypeError)


def of_numbers(lo: Lowering, value: Value) -> Value:
    """Return the array of one axis that an object is, if its elements are those of the array; return any other value itself."""
    array = array_of(value)
    own = any(core.special_method(value, name) for name in ("__iter__", "__getitem__"))
    return value if array is None or own or rank(core.data_type(lo, array)) != 1 else array


def taken(lo: Lowering, value: Value, node) -> Value:
    """Take all elements of an iterator now, those of a generator into a list; return any other value itself."""
    value = of_numbers(lo, value)
    is_lazy = isinstance(value, Iterable) and (value.once or value.begin)
    if not is_lazy and core.special_method(value, "__iter__") is None:
        return value
    found = core.iterate(lo, value, node)
    took_all(lo, value)
    endless = found.endless and core.special_method(value, "__next__") is None  # which raises StopIteration, or Python would not end
    return found if found.drive is None or endless else collect(lo, found, lambda element: element, node)


def took_all(lo: Lowering, value: Value, leave: Any = None) -> None:
    """Note that an iterator has no more elements after what takes all, or after a loop that no flag `leave` ends early."""
    if isinstance(value, Iterable) and value.once and not value.endless and leave is None:
        lo.set(value.state, ENDED, TRUE)


def collect(lo: Lowering, iterable: Iterable, f, node) -> Value:
    """Collect `f(element)` for each element into a list."""
    result = lo.new_list([])
    loops.for_each(lo, iterable, lambda e: append(lo, result, f(e), node))
    return result


def as_array(lo: Lowering, value: Value) -> Value:
    """Convert a list or tuple that carries a derivative to an array; return any other value unchanged.

    NumPy makes an array of an object that has a length and items, too.
    """
    if (held := array_of(value)) is not None:
        return held
    if isinstance(value, Cell) and value.kind == "object":
        if any(core.special_method(value, name) is None for name in ("__len__", "__getitem__")):
            raise core.refused(lo, f"NumPy makes no numbers of an object of class {value.cls.__name__}")
        value = collect(lo, core.iterate(lo, value, None), lambda item: item, None)
    if not core.is_sequence(value) or isinstance(value, Const) or isinstance(value, Var) and isinstance(value.type, Str):
        return value
    if any(isinstance(leaf, (FunctionVal, BoundVal, MethodVal)) for leaf in leaves(value)):
        return value
    t = atom_type(lo.read(value))
    return lo.wrap(lo.build.call(np.array, lo.operand(value))) if carries_derivative(t) else value


def plain(value: Value, lo: Lowering) -> Value:
    """Convert named tuples to plain tuples, for functions that accept only these."""
    if isinstance(value, TupleVal) and value.cls is not None:
        return TupleVal(tuple(plain(v, lo) for v in value.items))
    if isinstance(value, Cell) and value.kind == "list":
        made = lo.map_items(value, lambda item: plain(item, lo))
        return made if any(a is not b for a, b in zip(made.contents, value.contents)) else value
    return value


def as_one_value(lo: Lowering, value: Value) -> Value:
    """Turn a tuple or list of known length into one IR value, so that an unknown index can be applied to it."""
    lo.keep_apart(value)
    cell = lo.wrap_whole(lo.read(value), value)
    if isinstance(value, Cell) and value.kind == "list":
        cell.stands_for = value
        lo.journal.append(value, "stood_for", cell)
    return cell


# -- changing --------------------------------------------------------------------------------------------------------------


def note_row(lo: Lowering, items: Cell, value: Value) -> None:
    """Record whether an appended item is a part of an array that may be written elsewhere."""
    for root in roots(value):
        is_part = isinstance(value, Cell) and value.base is root and isinstance(value.step, Sub) and root.kind == "array"
        if lo.rows_stay and is_part and roots(value) == {root} and (root in items.rows_of or root not in items.holds):
            lo.journal.add(items, "rows_of", root)
        else:
            lo.journal.discard(items, "rows_of", root)


def replace_item(lo: Lowering, cell: Cell, key: Any, value: Value) -> None:
    """Replace one item of a list or dict whose items are known one by one; MISSING removes it."""
    lo.alive(cell)
    lo.changed(cell)
    lo.set(cell.slots, key, value)
    if lo.follow is not None:
        lo.follow(cell, [key])


def replace_items(lo: Lowering, cell: Cell, items: list[Value]) -> None:
    """Replace all items of a list whose items are known one by one."""
    lo.changed(cell)
    lo.resized.append((cell, frozenset()))
    keys = {**cell.items, **dict(enumerate(items))}
    for key in list(cell.items):
        lo.set(cell.slots, key, MISSING)
    for key, item in enumerate(items):
        lo.set(cell.slots, key, item)
    if lo.follow is not None:
        lo.follow(cell, list(keys))


def append(lo: Lowering, cell: Cell, value: Value, node) -> None:
    """Lower `cell.append(value)`."""
    lo.may_change(cell)
    if cell.kind == "list":
        if cell.depth < lo.depth:
            lo.keep_apart(value)
            raise MustMaterialise(cell, lo.here)
        lo.resized.append((cell, frozenset()))
        replace_item(lo, cell, len(cell.items), value)
        return
    lo.read(cell)  # raises if it may not be read
    grow(lo, cell, lo.read(value))
    if cell.base is None:
        note_row(lo, cell, value)
    lo.put(cell, value)
    if cell.base is None:
        core.double(lo.journal, cell, [owner for owner in roots(value) if owner.depth < lo.depth])  # made outside the loop that appends it


def grow(lo: Lowering, cell: Cell, item: Atom, at: Atom | None = None) -> None:
    """Append an item to a list, or insert it at place `at`."""

    def grown(base, path):
        return lo.build.emit(Append(base, item, path, at), grown_type(atom_type(base), path, atom_type(item)), base.name, base.temp)

    change(lo, cell, grown, grows=at is None)


def change(lo: Lowering, cell: Cell, make: Callable[[Atom, tuple], Atom], grows: bool = False) -> None:
    """Replace the items of a list by `make(version, path)`; the path leads to a list that is an item of another list or dict."""
    lo.resized.append((cell, frozenset()))
    if cell.base is not None:
        lo.write(cell.base, (cell.step,), make, through=True)
    else:
        lo.replace_slot(cell, lambda: make(lo.read(cell), ()), grows)
