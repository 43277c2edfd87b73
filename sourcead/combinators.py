"""Second-order array combinators: arrays in, arrays out.

As plain Python they are what their docstrings say; inside a differentiated function they are compiled: an elementwise
`map` runs as whole-array NumPy, `reduce` with `+` as `np.sum`, anything else as a loop.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np


def map(f: Callable, *xs: np.ndarray) -> np.ndarray:
    """`f` of each element: of each number of a vector, of each row of a matrix.

    Args:
        f: a function of as many arguments as there are arrays, returning a number or an array of one shape.
        xs: arrays of one length along their first axis, which must not be 0.

    Returns:
        The results stacked along a new first axis.

    Raises:
        ValueError: there is no array, an array is empty, or their lengths differ.

    Example:
        >>> import sourcead
        >>> sourcead.map(lambda a, b: a * b + 1, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
        array([4., 9.])
    """
    lengths = {len(x) for x in xs}
    if len(lengths) != 1 or lengths == {0}:
        raise ValueError(f"map takes arrays of one length, which is not 0; it was given lengths {sorted(len(x) for x in xs)}")
    return np.stack([f(*elements) for elements in zip(*xs)])


def reduce(op: Callable, xs: np.ndarray, initial: Any) -> Any:
    """`op(... op(op(initial, xs[0]), xs[1]) ..., xs[n - 1])`, for an associative `op`.

    Args:
        op: an associative function of two values of one type, such as `np.add` or `operator.add`.
        xs: an array; its elements along the first axis are combined.
        initial: what to begin with, and the result if `xs` is empty.

    Returns:
        The combined value.

    Example:
        >>> import sourcead
        >>> sourcead.reduce(np.add, np.array([1.0, 2.0, 3.0]), 0.0)
        np.float64(6.0)
    """
    total = initial
    for x in xs:
        total = op(total, x)
    return total


SUMS = (operator.add, np.add)
