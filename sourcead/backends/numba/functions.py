"""Functions that the text for Numba calls; `overloads/` defines how Numba compiles them."""

from collections.abc import Callable

import numpy as np


def apart(v, a):
    """Return `v`, or a copy if it shares memory with `a`, which is about to be written element by element."""
    return v.copy() if isinstance(v, np.ndarray) and np.may_share_memory(v, a) else v


def add_at(x, key, value):
    """Call `np.add.at(x, key, value)`; Numba does not support methods of ufuncs."""
    np.add.at(x, key, value)


def subtract_at(x, key, value):
    """Call `np.subtract.at(x, key, value)`."""
    np.subtract.at(x, key, value)


def reserved(stack, top, n):
    """Return the array, or a longer one with the same first elements if it has no room for `n` elements from `top` on."""
    if top + n <= len(stack):
        return stack
    longer = np.empty((max(top + n, 2 * len(stack)), *stack.shape[1:]), stack.dtype)
    longer[:top] = stack[:top]
    return longer


def as_many(n, m):
    """Return `n`, the end of a loop over parts of arrays, if another part gives the same end `m`; otherwise raise an error."""
    if n != m:
        raise ValueError("operands could not be broadcast together")
    return n


def chosen(condition, a, b):
    """Return `np.where(condition, a, b)`, which Numba compiles to a number if all are numbers."""
    return np.where(condition, a, b)


def nonzero(determinant):
    """Return the determinant of a matrix that is to be inverted."""
    if determinant == 0:
        raise np.linalg.LinAlgError("Singular matrix")
    return determinant


def stand_in(function: Callable) -> Callable:
    """Return a function of an array with the result of `function`, which Numba compiles in another way."""

    def of_array(x):
        return function(x)

    of_array.__name__ = f"{function.__name__}_of"
    return of_array


ARRAY_UFUNCS = {f: stand_in(f) for f in (np.exp, np.expm1, np.log, np.log1p, np.tanh, np.sin, np.cos)}
ARRAY_REDUCTIONS = {f: stand_in(f) for f in (np.sum, np.mean, np.max, np.min)}

WIDEST = 8192  # the most numbers in a row of a growing matrix


class Unequal(Exception):
    """Raised if an assumption of a loop fails: its vectors have equal lengths, and the parts that it writes do not overlap."""


def alike(*vectors):
    """Return the common length of some vectors.

    Raises:
        Unequal: their lengths differ.
    """
    if any(len(v) != len(vectors[0]) for v in vectors):
        raise Unequal
    return len(vectors[0])


def begin(v, lower):
    """Return the index at which the slice `v[lower:...]` begins, provided that it is not empty."""
    return lower if lower >= 0 else max(lower + len(v), 0)


def disjoint(n, *starts):
    """Return `n` if the parts of a vector that have `n` elements and begin at `starts` are pairwise equal or disjoint.

    Raises:
        Unequal: they overlap.
    """
    if any(0 < abs(a - b) < n for a in starts for b in starts):
        raise Unequal
    return n


def with_room(rows, top, width):
    """Return the matrix, or a longer one with the same first rows, so that it has a row `top` of this width.

    A matrix without columns that has rows tells how many rows there will be.

    Raises:
        Unequal: its rows have another width, or are so wide that a list of arrays takes less time.
    """
    if width > WIDEST:
        raise Unequal
    if top == 0 and rows.shape[1] != width:
        return np.empty((len(rows) or max(4, 2048 // (width + 1)), width))
    if rows.shape[1] != width:
        raise Unequal
    if top < len(rows):
        return rows
    longer = np.empty((2 * len(rows), width))
    longer[:top] = rows
    return longer


def pushed(rows, top, v):
    """Return the matrix with `v` as its row `top`; only in the IR: `stacks.py` and `vector_loops.py` replace the call."""
    raise NotImplementedError


# ---- integer arithmetic that has the same results in compiled code as in Python and NumPy ----
#
#     n // k, n % k       Numba gives 0 if k is 0; here that is an error, as in Python
#     2 ** k              Numba gives 0 if k is negative, and wraps if k is large; here both are errors
#     f = f * k           Numba wraps if a loop makes f large; here that is an error, since Python's integers are unbounded
#     a[0] - a[1]         of small integers: NumPy wraps and Numba widens; here the result wraps (`codegen/outlining.py`)
#
# Sums of integers, and products that no loop accumulates, are left alone: subscripts consist of them.


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
