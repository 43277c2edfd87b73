"""Integer arithmetic that has the same results in compiled code as in Python and NumPy.

    n // k, n % k       0 where k is 0 in compiled code: an error, as in Python
    2 ** k              0 where k is negative, and wrapped where it is large: errors
    f = f * k           wrapped, where a loop makes a large number of it: an error; Python's integers have no bounds
    a[0] - a[1]         of small integers, which wrap in NumPy and are wide in Numba: wrapped

Sums of integers and products that are made once are left alone: places in arrays are made of them.
"""

from __future__ import annotations

import operator

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Call, Const, Operand, Var
from sourcead.ir.types import Scalar, Type


def divided(a, b):
    """`a // b` of Python's numbers."""
    if b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return a // b


def remainder(a, b):
    """`a % b` of Python's numbers."""
    if b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return a % b


def power(a, b):
    """`a ** b` of Python's integers, as far as it is an integer of 64 bits."""
    if b < 0:
        raise ValueError("an integer to a negative power is a float: write float(a) ** b")
    if abs(float(a)) ** b > 9.2e18:
        raise OverflowError("an integer became larger than 64 bits hold: begin with a float")
    return a**b


def shifted(a, b):
    """`a << b` of Python's integers, as far as it is an integer of 64 bits."""
    if b < 0 or abs(float(a)) * 2.0**b > 9.2e18:
        raise OverflowError("an integer became larger than 64 bits hold: begin with a float")
    return a << b


def product(a, b):
    """`a * b` of Python's integers, as far as it is an integer of 64 bits."""
    if abs(float(a) * float(b)) > 9.2e18:
        raise OverflowError("an integer became larger than 64 bits hold: begin with a float")
    return a * b


CHECKED = (divided, remainder, power, shifted, product)


def checked(op: Call, grown: set[Var]) -> Call | None:
    """Return a call of one of these functions in place of an operator; None where it may stay.

    Args:
        op: the operation.
        grown: what loops hand on from one iteration to the next, and products of that.
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
    """"int" or "float" for numbers of Python."""
    t = atom_type(operand) if isinstance(operand, Var | Const) else None
    return t.kind if isinstance(t, Scalar) and t.dtype is None and t.kind in ("int", "float") else None


def wraps(result: Type | None) -> bool:
    """Return whether a result is a small integer of NumPy."""
    return isinstance(result, Scalar) and isinstance(result.dtype, np.dtype) and result.dtype.kind in "iu" and result.dtype.itemsize < 8
