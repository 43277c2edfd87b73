"""Subscripts that Numba does not support: lists of integers, several integer arrays, masks beside other keys; and `np.add.at`."""

from __future__ import annotations

import operator

import numpy as np
from numba import types
from numba.extending import overload

from sourcead.backends.numba import calls_to_python as interpreted
from sourcead.backends.numba.functions import add_at, subtract_at


def is_fancy(key: types.Type) -> bool:
    """Return whether a subscript is one that Numba does not support for arrays."""
    items = list(key) if isinstance(key, types.BaseTuple) else [key]
    arrays = [i for i in items if isinstance(i, types.Array) and i.ndim]
    lists = [i for i in items if isinstance(i, types.List)]
    ranges = any(isinstance(i, types.RangeType) for i in items)
    if lists and not all(isinstance(i.dtype, types.Integer | types.Boolean) for i in lists):
        return False
    masks = any(a.dtype == types.boolean for a in arrays)
    return bool(lists) or ranges or len(arrays) > 1 or masks and (len(items) > 1 or arrays[0].ndim > 1)


@overload(operator.getitem, target="cpu")  # takes precedence over Numba's own, which are for any target
def _getitem(x, key):
    if not (isinstance(x, types.Array) and is_fancy(key)):
        return None
    part = interpreted.example(x)[interpreted.example(key)]
    made = types.Array(x.dtype, part.ndim, "C")
    return interpreted.call(lambda x, key: np.ascontiguousarray(x[key]), ["x", "key"], [x, key], made)


@overload(operator.getitem, target="cpu")
def _getitem_of_a_range(x, key):
    if not (isinstance(x, types.RangeType) and isinstance(key, types.Integer)):
        return None

    def member(x, key):
        place = key + len(x) if key < 0 else key
        if not 0 <= place < len(x):
            raise IndexError("range object index out of range")
        return x.start + place * x.step

    return member


@overload(operator.setitem, target="cpu")
def _setitem(x, key, value):
    if not (isinstance(x, types.Array) and is_fancy(key)):
        return None
    return interpreted.call(operator.setitem, ["x", "key", "value"], [x, key, value], None)


@overload(add_at)
def _add_at(x, key, value):
    if is_row(x, key, value):

        def add_to_each(x, key, value):
            for k in range(len(key)):
                x[key[k]] += value

        return add_to_each
    if is_row(x, key, getattr(value, "dtype", None)) and value.ndim == 1:

        def add_to_places(x, key, value):
            if len(value) != len(key) and len(value) != 1:
                raise ValueError("the values do not fit the places that they are added to")
            step = len(value) != 1
            for k in range(len(key)):
                x[key[k]] += value[k * step]

        return add_to_places
    return interpreted.call(np.add.at if may_repeat(key) else _add, ["x", "key", "value"], [x, key, value], None)


@overload(subtract_at)
def _subtract_at(x, key, value):
    return interpreted.call(np.subtract.at if may_repeat(key) else _subtract, ["x", "key", "value"], [x, key, value], None)


def _add(x, key, value):
    x[key] += value


def _subtract(x, key, value):
    x[key] -= value


def may_repeat(key: types.Type) -> bool:
    """Return whether a subscript may select an element twice."""
    items = key if isinstance(key, types.BaseTuple) else [key]
    return any(isinstance(i, types.Array | types.List | types.RangeType) for i in items)


def is_row(x: types.Type, key: types.Type, value: types.Type) -> bool:
    """Return whether a number is added to the elements of a vector that an integer vector selects."""
    return (
        isinstance(x, types.Array)
        and x.ndim == 1
        and isinstance(key, types.Array)
        and key.ndim == 1
        and isinstance(key.dtype, types.Integer)
        and isinstance(value, types.Number)
    )
