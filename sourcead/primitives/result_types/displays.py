"""Lists and tuples of numbers that stand where NumPy takes an array: `np.sum([a, b])`, `x ** [2, 3]`.

Derivative rules ask their arguments for shapes and dtypes, so such a display becomes an array before the call.
"""

from __future__ import annotations

import operator

import numpy as np

from sourcead.ir.nodes import Const, Operand, Var
from sourcead.ir.types import Array, ListT, Scalar, TupleT, Type, carries_derivative
from sourcead.primitives.table import adjoint_rule

TAKE_SEQUENCES = {
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.concatenate, np.stack, np.vstack, np.hstack,
    np.dstack, np.column_stack, np.block, np.append, np.meshgrid, np.broadcast_arrays, np.select, np.choose, np.lexsort,
    np.linalg.multi_dot, *((np.unstack,) if hasattr(np, "unstack") else ()),
}  # fmt: skip
"""NumPy functions that take sequences as such, or whose rules do."""

PRODUCTS = {
    np.dot, np.inner, np.outer, np.vdot, np.kron, np.cross, np.convolve, np.correlate, np.linalg.solve, np.linalg.lstsq, np.interp,
    np.average,
}  # fmt: skip
"""Functions, beside ufuncs, that take nothing but arrays: numbers without a derivative matter too."""

AXES = {np.average: 1}
"""Where such a function takes an axis after all."""

OPERATORS = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv, operator.matmul,
}  # fmt: skip


def display_positions(fn, args: tuple[Operand, ...], types) -> list[int]:
    """Which arguments of `fn(*args)` are displays that must be arrays.

    Args:
        fn: the function that is called.
        args: its operands.
        types: gives the type of an operand.
    """
    kinds = [types(a) if _has_type(a) else None for a in args]
    if not any(isinstance(t, (ListT, TupleT)) for t in kinds) or not _takes_arrays(fn, kinds):
        return []
    every = isinstance(fn, np.ufunc) or fn in PRODUCTS or fn in OPERATORS
    return [
        i
        for i, t in enumerate(kinds)
        if isinstance(t, (ListT, TupleT)) and _numbers(t) and (every and i != AXES.get(fn) or carries_derivative(t))
    ]


def _has_type(operand: Operand | None) -> bool:
    return all(map(_has_type, operand)) if isinstance(operand, tuple) else isinstance(operand, (Var, Const))


def _takes_arrays(fn, kinds: list) -> bool:
    try:
        if fn in OPERATORS:
            return any(isinstance(t, Array) for t in kinds)
        if fn in TAKE_SEQUENCES:
            return False
    except TypeError:  # not hashable
        return False
    if not isinstance(fn, np.ufunc):
        home = getattr(fn, "__self__", None)
        if not (isinstance(home, np.ufunc) or (getattr(fn, "__module__", None) or "").partition(".")[0] == "numpy"):
            return False
    return adjoint_rule(fn) is not None


def _numbers(t: Type) -> bool:
    """Whether NumPy may make an array of it: numbers and arrays, in lists of lists."""
    match t:
        case ListT(item, items):
            return all(map(_numbers, items)) if items is not None else _numbers(item)
        case TupleT(items):
            return all(map(_numbers, items))
    return isinstance(t, (Array, Scalar))
