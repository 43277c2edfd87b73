"""Lower `copy.copy` and `copy.deepcopy` of arrays, containers and objects."""

import copy
import types

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import lowers
from sourcead.frontend.core import (
    BoundVal, Cell, ChoiceVal, Iterable, Lowering, MethodVal, OptionalVal, TupleVal, Value, reach
)
from sourcead.frontend.values import sequences
from sourcead.ir.records import find
from sourcead.ir.types import Array, ListT, MapT, Scalar, SetT, Str

lowers(copy.copy)(lambda lo, node, x: copied(lo, x, node, None))


@lowers(copy.deepcopy)
def builtin_deepcopy(lo: Lowering, node, x: Value, memo: Value | None = None) -> Value:
    """Lower `copy.deepcopy(x)`; copy an object only once even if several containers hold it."""
    if memo is not None:
        raise core.unsupported(lo, node, "`deepcopy` with `memo`")
    return copied(lo, x, node, {})


def copied(lo: Lowering, value: Value, node, memo: dict[Value, Value] | None) -> Value:
    """Copy a value; if `memo`, which maps values to their copies, is given, copy the items too."""
    if memo is not None and value in memo:
        return memo[value]
    if isinstance(value, TupleVal):
        return value if memo is None else lo.map_items(value, lambda item: copied(lo, item, node, memo))
    if isinstance(value, Iterable) and (value.once or value.begin):
        raise core.unsupported(lo, node, "a copy of an iterator", "make another one")
    if memo is not None and isinstance(value, BoundVal | ChoiceVal | MethodVal | OptionalVal):
        raise core.unsupported(lo, node, "`deepcopy` of a method, of a partial, or of a tuple that may be None", "copy its parts")
    if not isinstance(value, Cell) or isinstance(core.data_type(lo, value), Scalar):
        return value
    made = copy_of_cell(lo, value, node, memo)
    if memo is not None:
        memo[value] = made
    return made


MAKING_A_COPY = ("append", "extend", "items", "__iter__", "__setitem__")
"""Methods by which `copy.deepcopy` takes the items of an object that is a list or dict, and puts them into the copy."""


def defines_anew(cls: type, names: tuple[str, ...]) -> bool:
    """Tell whether a user's class derived from one of Python's containers has a method of its own under one of these names."""
    return any(isinstance(find(cls, name)[1], types.FunctionType) for name in names)


def copy_of_cell(lo: Lowering, cell: Cell, node, memo: dict[Value, Value] | None) -> Value:
    """Copy an array, a container or an object."""
    if cell.kind != "array":
        lo.sure(cell)
        if core.array_of(cell) is not None:
            raise core.unsupported(lo, node, f"a copy of {cell.cls.__name__}, which is an array", "its method `copy`")
        if core.ITEMS in cell.items and (memo is None or issubclass(cell.cls, tuple) or defines_anew(cell.cls, MAKING_A_COPY)):
            raise core.unsupported(lo, node, f"a copy of {cell.cls.__name__}, which is a container", "make another one of its items")
        if memo is None and (made := core.call_special(lo, cell, "__copy__", [], node)) is not None:
            return made
        if memo is not None and core.special_method(cell, "__deepcopy__") is not None:
            of_python = core.unreadable("memo", "what was copied before is not known here")
            return core.call_special(lo, cell, "__deepcopy__", [of_python], node)
        if any(core.special_method(cell, name) for name in ("__getstate__", "__reduce__", "__reduce_ex__", "__del__")):
            what = "which says itself how it is copied, or what is done when it is deleted"
            raise core.unsupported(lo, node, f"a copy of {cell.cls.__name__}, {what}")
        if memo is not None and core.has_objects_as_keys(cell):
            raise core.unsupported(lo, node, "a deep copy of a dict with objects as keys")
        return lo.map_items(cell, lambda item: item if memo is None else copied(lo, item, node, memo))
    t = atom_type(lo.read(cell))
    if isinstance(t, Array):
        return core.call_library(lo, np.copy, [cell], {}, node)
    if isinstance(t, ListT) and memo is not None:
        made = sequences.collect(lo, core.iterate(lo, cell, node), lambda item: copied(lo, item, node, {}), node)
        if any(held.doubled for held in reach(cell)):  # Python copies an object once that is in the list twice
            lo.journal.assign(made, "doubled", 2)
        return made
    if isinstance(t, (ListT, SetT)) or isinstance(t, MapT) and (memo is None or isinstance(t.item, (Scalar, Str))):
        return core.call_method(lo, cell, "copy", [], {}, node)
    why = "a copy of what may be a number, an array, a list or None here"
    raise core.unsupported(lo, node, why, "copy it where it is made, or its parts")
