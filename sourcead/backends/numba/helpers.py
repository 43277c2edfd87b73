"""What the text for Numba calls and NumPy has under another name, or does not need; `overloads.py` and `indexing.py` compile it."""

from __future__ import annotations

import numpy as np


def apart(v, a):
    """`v`, or a copy if it shares memory with `a`, which is about to be written element by element."""
    return v.copy() if isinstance(v, np.ndarray) and np.may_share_memory(v, a) else v


def add_at(x, key, value):
    """`np.add.at(x, key, value)`: Numba has no methods of ufuncs."""
    np.add.at(x, key, value)


def subtract_at(x, key, value):
    """`np.subtract.at(x, key, value)`."""
    np.subtract.at(x, key, value)


def reserved(stack, top, n):
    """The array, or a longer one with the same first elements, in which there is room for `n` elements from `top` on."""
    if top + n <= len(stack):
        return stack
    longer = np.empty(max(top + n, 2 * len(stack)), stack.dtype)
    longer[:top] = stack[:top]
    return longer


def as_many(n, m):
    """`n`, the end of a loop over parts of arrays, if another part ends there as well."""
    if n != m:
        raise ValueError("operands could not be broadcast together")
    return n
