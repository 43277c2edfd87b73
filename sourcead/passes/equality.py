"""Whether two operands are known to be the same value, and two types to have the same shape and dtype.

Values are immutable, so that the same `Var` is the same value.  Constants are the same if their types and values are: `1`, `1.0` and
`True` differ, `0.0` and `-0.0` differ, nan is nan.  Other objects are the same if they are identical.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from sourcead.ir.nodes import Const, Operand, Slice, Var
from sourcead.ir.types import ANY_DTYPE, Array, Scalar, Sym, Type, same_dtype

EXACT = (int, bool, str, bytes, type(None), type(...))


def value_key(value: Any) -> Hashable:
    """Return a key that two Python objects share only if each may replace the other."""
    kind = type(value)
    if kind in EXACT:
        return kind, value
    if kind is float:
        return kind, value.hex()
    if kind is complex:
        return kind, value.real.hex(), value.imag.hex()
    if kind is tuple:
        return kind, *map(value_key, value)
    if kind is slice:
        return kind, *map(value_key, (value.start, value.stop, value.step))
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return kind, value.dtype.str, value.tobytes()
    if isinstance(value, np.dtype):
        return np.dtype, value.str, value.descr if value.names else None, id(value) if value.hasobject else None
    return "object", id(value)


def operand_key(operand: Operand | None, canonical=lambda var: var) -> Hashable:
    """Return a key that two operands share only if they are the same value, with `canonical(var)` in place of each variable."""
    match operand:
        case Var():
            return canonical(operand)
        case Const(value, text, live):
            # a live constant is read again at each call: its name counts, not the value that it has while compiling
            return ("live", text, id(value)) if live else value_key(value)
        case tuple():
            return "display", *(operand_key(item, canonical) for item in operand)
        case Slice(lower, upper, step):
            return "slice", *(operand_key(part, canonical) for part in (lower, upper, step))
        case None:
            return "nothing"
    return "object", id(operand)


def same(a: Operand, b: Operand) -> bool:
    """Return whether two operands are known to be the same value."""
    return a is b or operand_key(a) == operand_key(b)


def equal_types(a: Type, b: Type) -> bool:
    """Return whether two types are fully known and describe numbers of one dtype, or arrays of one shape and dtype."""
    match a, b:
        case Scalar(k1, d1), Scalar(k2, d2):
            return k1 == k2 and same_dtype(d1, d2) and d1 != ANY_DTYPE
        case Array(d1, s1), Array(d2, s2):
            known = d1 is not None and d1 != ANY_DTYPE and s1 is not None and s2 is not None
            return known and d1 == d2 and same_dims(s1, s2)
    return False


def same_dims(a: tuple, b: tuple) -> bool:
    """Return whether two shapes are known to be equal, comparing known dims by value and symbolic dims by identity."""
    return len(a) == len(b) and all(map(same_dim, a, b))


def same_dim(m: int | Sym, n: int | Sym) -> bool:
    return m is n or (isinstance(m, int) and isinstance(n, int) and m == n)
