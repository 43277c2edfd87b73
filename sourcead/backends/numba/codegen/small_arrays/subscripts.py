"""Subscripts of parts of arrays whose places are known while compiling, and the subscripts of the elements of these parts."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Const, Operand, Slice, Sub, Var
from sourcead.ir.types import Array, Scalar, Type, same_dtype


def single(key: tuple) -> Operand:
    return key if len(key) > 1 else key[0]


def is_constant(key: Operand | None) -> bool:
    """Return whether a subscript is a constant and takes elements by their places."""
    match key:
        case Const(value, live=False):
            return value is None or value is ... or type(value) is int
        case Slice(lower, upper, step):
            return all(a is None or is_constant(a) for a in (lower, upper, step))
        case tuple():
            return all(map(is_constant, key))
    return False


def is_constant_path(path: tuple) -> bool:
    return not path or len(path) == 1 and isinstance(path[0], Sub) and is_constant(path[0].key)


def keys_of(t: Type, key: Operand, part_type: Array) -> np.ndarray:
    """Return the subscripts of the elements of a part of an array, in the shape of the part.

    Raises:
        TypeError: they are not known, or the array has another dtype than `part_type`, or the part another shape.
    """
    dims = part_type.dims
    if not isinstance(t, Array) or t.dims is None or not same_dtype(t.dtype, part_type.dtype):
        raise TypeError(t)
    key = key if isinstance(key, tuple) else (key,)
    if any(isinstance(k, Const) and (k.value is None or k.value is ...) for k in key) or len(key) > len(t.dims):
        raise TypeError(key)
    axes: list[list[Atom] | Atom] = []
    shape = list(dims)
    for part, n in zip((*key, *[Slice(None, None, None)] * (len(t.dims) - len(key))), t.dims):
        if isinstance(part, Slice):
            axes.append([Const(k) for k in places_in(part, n, shape.pop(0) if shape else 0)])
        elif isinstance(part, Var | Const) and isinstance(kind := atom_type(part), Scalar) and kind.kind == "int":
            axes.append(part)
        else:
            raise TypeError(part)
    found = tuple(len(a) for a in axes if isinstance(a, list))
    if found != dims:
        raise TypeError(dims)
    made = np.empty(found, object)
    for at in np.ndindex(*found):
        left = list(at)
        made[at] = tuple(a[left.pop(0)] if isinstance(a, list) else a for a in axes)
    return made


def places_in(part: Slice, n: Any, count: int) -> Iterable[int]:
    """Return the places that a slice takes of an axis, of which the result has `count`.

    Raises:
        TypeError: they are not known.
    """
    if not is_constant(part):
        raise TypeError(part)
    lower, upper, step = (None if a is None else a.value for a in (part.lower, part.upper, part.step))
    if isinstance(n, int):
        return range(n)[lower:upper:step]
    lower = lower or 0
    if lower < 0 or step not in (None, 1) or upper is None or upper < 0:
        raise TypeError(part)
    return range(lower, lower + count)


def written(base: np.ndarray, path: tuple, value: Any, mode: str, operand: Any) -> np.ndarray:
    """Return an array of numbers with a part replaced or added to."""
    new = base.copy()
    key = operand(path[0].key, None) if path else ...
    new[key] = value if mode == "set" else new[key] + value if mode == "add" else new[key] - value
    return new
