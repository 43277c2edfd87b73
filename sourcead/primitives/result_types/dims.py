"""Computation of the dims of a result from those of the operands, by broadcasting and multiplying."""

import functools

from sourcead.ir.sizes import times
from sourcead.ir.sizes_of_call import not_one, same
from sourcead.ir.types import anydim


def broadcast_dim(a, b):
    """Return the dim that results from broadcasting two dims against each other."""
    if a is b or a == b:
        return a
    if isinstance(a, int) and a == 1:
        return b
    if isinstance(b, int) and b == 1:
        return a
    a_many, b_many = not_one(a), not_one(b)
    if not a_many and not b_many and same(a, b):
        return a
    if a_many and b_many:
        return equal_dim((a, b))
    if a_many or b_many:
        return a if a_many else b
    return anydim()


def broadcast_dims(*shapes: tuple) -> tuple:
    """Return the dims that result from broadcasting several shapes together."""
    rank = max(map(len, shapes), default=0)
    result = [1] * rank
    for dims in shapes:
        for i, dim in enumerate(dims, rank - len(dims)):
            result[i] = broadcast_dim(result[i], dim)
    return tuple(result)


def _clarity(dim):
    """Return by what a dim is preferred to others that are equal to it."""
    return dim.many, not dim.parts


def equal_dim(dims):
    """Return, of several dims that must be equal, the one about which most is known."""
    result = dims[0]
    for d in dims[1:]:
        if not isinstance(result, int) and (isinstance(d, int) or _clarity(d) > _clarity(result)):
            result = d
    return result


def product_of_dims(dims):
    """Return the product of dims."""
    return functools.reduce(times, dims, 1)
