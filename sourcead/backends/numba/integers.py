"""Integer arithmetic that has the same results in compiled code as in Python and NumPy.

    n // k, n % k       Numba gives 0 if k is 0; here that is an error, as in Python
    2 ** k              Numba gives 0 if k is negative, and wraps if k is large; here both are errors
    f = f * k           Numba wraps if a loop makes f large; here that is an error, since Python's integers are unbounded
    a[0] - a[1]         of small integers: NumPy wraps and Numba widens; here the result wraps

Sums of integers, and products that no loop accumulates, are left alone: subscripts consist of them.
"""

from __future__ import annotations

import operator

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Call, Const, Operand, Var
from sourcead.ir.types import Scalar, Type


def divided(a, b):
    """Return `a // b` of Python numbers; raise an error if `b` is 0."""
    if b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return a // b


def remainder(a, b):
    """Return `a % b` of Python numbers; raise an error if `b` is 0."""
    if b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return a % b


def power(a, b):
    """Return `a ** b` of Python integers; raise an error if the result is not a 64-bit integer."""
    if b < 0:
        raise ValueError("an integer to a negative power is a float: write float(a) ** b")
    if abs(float(a)) ** b > 9.2e18:
        raise OverflowError("an integer became larger than 64 bits hold: begin with a float")
    return a**b


def shifted(a, b):
    """Return `a << b` of Python integers; raise an error if the result is not a 64-bit integer."""
    if b < 0 or abs(float(a)) * 2.0**b > 9.2e18:
        raise OverflowError("an integer became larger than 64 bits hold: begin with a float")
    return a << b


def product(a, b):
    """Return `a * b` of Python integers; raise an error if the result is not a 64-bit integer."""
    if abs(float(a) * float(b)) > 9.2e18:
        raise OverflowError("an integer became larger than 64 bits hold: begin with a float")
    return a * b


CHECKED = (divided, remainder, power, shifted, product)


def checked(op: Call, grown: set[Var]) -> Call | None:
    """Return the call of a checked function that replaces an operator; None if the operator may stay.

    Args:
        op: the operation.
        grown: the variables that loops carry from one iteration to the next, and products of them.
    """
    if len(op.args) != 2 or op.kwargs:
        return None
    a, b = op.args
    kinds = {kind(a), kind(b)}
    if op.fn in (operator.floordiv, operator.mod) and kinds <= {"int", "float"} and not (isinstance(b, Const) and b.value):
        return Call(divided if op.fn is operator.floordiv else remainder, op.args)
    if kinds != {"int"}:
        return None
    if op.fn is operator.pow and not (isinstance(b, Const) and 0 <= b.value <= 3):
        return Call(power, op.args)
    if op.fn is operator.lshift:
        return Call(shifted, op.args)
    if op.fn is operator.mul and (a in grown or b in grown):
        return Call(product, op.args)
    return None


def kind(operand: Operand) -> str | None:
    """Return "int" or "float" for a Python number; None for any other operand."""
    t = atom_type(operand) if isinstance(operand, Var | Const) else None
    return t.kind if isinstance(t, Scalar) and t.dtype is None and t.kind in ("int", "float") else None


def wraps(result: Type | None) -> bool:
    """Return whether a result is a NumPy integer of less than 64 bits."""
    return isinstance(result, Scalar) and isinstance(result.dtype, np.dtype) and result.dtype.kind in "iu" and result.dtype.itemsize < 8
