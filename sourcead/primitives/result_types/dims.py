"""Computation of the dims of a result from those of the operands, by broadcasting and multiplying."""

import numpy as np

from sourcead.ir.types import anydim, many


def not_one(dim) -> bool:
    """Return whether a dim is known not to be 1."""
    return dim != 1 if isinstance(dim, int) else dim.many


def broadcast_dim(a, b):
    """Return the dim that results from broadcasting two dims against each other."""
    if a is b or a == b:
        return a
    if isinstance(a, int) and a == 1:
        return b
    if isinstance(b, int) and b == 1:
        return a
    a_many, b_many = not_one(a), not_one(b)
    if a_many and b_many:
        return b if isinstance(b, int) and not isinstance(a, int) else a
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


def equal_dim(dims):
    """Return, of several dims that must be equal, the one about which most is known."""
    result = dims[0]
    for d in dims[1:]:
        if not (isinstance(result, int)) and (isinstance(d, int) or (d.many and not result.many)):
            result = d
    return result


def product_of_dims(dims):
    """Return the product of dims, or a new dim if it is not known."""
    rest = [d for d in dims if not (isinstance(d, int) and d == 1)]
    if not rest:
        return 1
    if len(rest) == 1:
        return rest[0]
    if all(isinstance(d, int) for d in rest):
        return int(np.prod(rest))
    return many() if all(map(not_one, rest)) else anydim()
