"""Sizes that have to be equal for a call to work, so that they are equal once it has run.

    x * y           the sizes of an axis that are not 1
    x @ y           the last axis of x and the first of the last two of y
"""

import operator
from collections.abc import Iterator

import numpy as np

from sourcead.ir.sizes import Dim
from sourcead.ir.sizes_of_call import not_one
from sourcead.ir.types import Array, Type
from sourcead.primitives.table import record_of
from sourcead.runtime.products import product_in_range

PRODUCTS = (operator.matmul, np.matmul, np.dot, product_in_range)


def equal_sizes(fn, args: list[Type], result: Type) -> Iterator[tuple[Dim, Dim]]:
    """Yield pairs of dims that are equal after `fn(*args)` has run; `args` and `result` are types."""
    if any(fn is product for product in PRODUCTS) and len(args) == 2:
        a, b = (t.dims if isinstance(t, Array) else None for t in args)
        if a and b:
            yield a[-1], b[-2:][0]
    elif record_of(fn).is_elementwise(len(args)):
        yield from broadcast_sizes([*args, result])
    elif fn is np.broadcast_to:
        yield from broadcast_sizes([*args[:1], result])


def broadcast_sizes(types: list[Type]) -> Iterator[tuple[Dim, Dim]]:
    """Yield pairs of dims that are equal because arrays with them are broadcast against each other."""
    shapes = [t.dims for t in types if isinstance(t, Array) and t.dims]
    if all(dims == shapes[0] for dims in shapes[1:]):
        return
    for k in range(1, max(map(len, shapes)) + 1):
        first, *others = [s[-k] for s in shapes if len(s) >= k and not_one(s[-k])] or [1]
        yield from ((first, other) for other in others if other is not first)
