"""Calls whose result takes the memory of an operand (`Call.into`), and how they are written: `x *= y`, or `np.exp(x, out=x)`."""

import operator

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Call, Op, Slice, Sub, Update, Var
from sourcead.ir.types import Array, Type, same_dtype
from sourcead.ir.walk import is_cotangent
from sourcead.primitives.result_types.infer import infer_index
from sourcead.primitives.table import record_of

WRITERS = {
    operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply, operator.truediv: np.divide,
    operator.floordiv: np.floor_divide, operator.mod: np.remainder, operator.neg: np.negative,
}  # fmt: skip
"""The ufuncs that do what an operator does, and write their result into an array."""


def writer(op: Call) -> np.ufunc | None:
    """Return the ufunc that does what a call does and can write its result into an array, or None if there is none."""
    fn = WRITERS.get(op.fn, op.fn) if not isinstance(op.fn, Var) else None
    return fn if isinstance(fn, np.ufunc) and fn.nin == len(op.args) and fn.nout == 1 and not op.kwargs else None


def augments(op: Call) -> bool:
    """Return whether a call that writes into an operand is `x *= y` if its result has the name of the operand."""
    return op.fn in WRITERS and len(op.args) == 2 and (op.into == 0 or record_of(op.fn).commutes)


def shares_name(op: Call, target: Var) -> bool:
    """Return whether the result of a call that writes into an operand should have the operand's name."""
    return augments(op) and of_one_kind(op.args[op.into], target)


def of_one_kind(a: Var, b: Var) -> bool:
    """Return whether both are primals or both are cotangents, which should have names of their own."""
    return is_cotangent(a) == is_cotangent(b)


def is_large(t: Type) -> bool:
    """Return whether a type is that of arrays with several axes, whose memory is worth a longer line; vectors are often short."""
    return isinstance(t, Array) and t.dims is not None and sum(n != 1 for n in t.dims) > 1


def fills_rows(op: Update, made: Op | None) -> bool:
    """Return whether an update sets some rows of an array to a product of matrices of exactly their type, which can be written there.

        d_states[1:] = d_y @ w.T            np.matmul(d_y, w.T, out=d_states[1:])
    """
    match op, made:
        case Update(Var() as base, (Sub(Slice(_, _, None) as key),), Var() as value), Call(operator.matmul):
            rows, t = infer_index(base.type, Builder().arg(key)) if isinstance(base.type, Array) else None, value.type
            known = is_large(t) and isinstance(rows, Array) and t.dtype is not None and t.dtype.kind in "fc"
            return known and rows.dims == t.dims and same_dtype(rows.dtype, t.dtype)
    return False
