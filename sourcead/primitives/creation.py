"""Fresh arrays that take their values from arguments.

y = full(shape, v)          d_v = sum of d_y
y = arange(a, b, s)         y[i] = a + i s
y = linspace(a, b, n)       y = (1 - t) a + t b
"""

import numpy as np

from sourcead.primitives.registry import adjoint, adjoints, linear, tangent
from sourcead.runtime import linspace_weights, unbroadcast


@adjoint(np.full)
def full_adjoint(y, shape, fill_value, d_y, dtype=None, order="C"):
    if np.ndim(fill_value) == 0:
        return None, np.sum(d_y)
    return None, unbroadcast(d_y, fill_value)


@adjoint(np.full_like)
def full_like_adjoint(y, x, fill_value, d_y, dtype=None):
    if np.ndim(fill_value) == 0:
        return None, np.sum(d_y)
    return None, unbroadcast(d_y, fill_value)


@adjoint(np.linspace)
def linspace_adjoint(y, start, stop, num=50, endpoint=True, d_y=None, dtype=None):
    t = linspace_weights(y, endpoint)
    return unbroadcast(d_y * (1 - t), start), unbroadcast(d_y * t, stop), None, None


linear(np.full, np.full_like, np.linspace)


@adjoint(np.arange)
def arange_adjoint(y, *limits, d_y, dtype=None):
    if len(limits) == 1:
        return (None,)
    if len(limits) == 2:
        return np.sum(d_y), None
    return np.sum(d_y), None, np.sum(d_y * np.arange(y.size))


@tangent(np.arange)
def arange_tangent(y, *limits, t_limits, dtype=None):
    if len(limits) == 1:
        return np.zeros_like(y)
    if len(limits) == 2:
        return np.full(y.shape, t_limits[0])
    return t_limits[0] + t_limits[2] * np.arange(y.size)


adjoints({
    np.bincount: lambda y, x, weights=None, d_y=None, minlength=0: (None, d_y[x]),
})

linear(np.bincount)


@adjoint(np.vander)
def vander_adjoint(y, x, N=None, d_y=None, increasing=False):
    powers = np.arange(y.shape[1], dtype=x.dtype)
    if not increasing:
        powers = powers[::-1]
    return np.sum(d_y * powers * x[:, None] ** np.where(powers > 0, powers - 1, powers), axis=1), None


@tangent(np.vander)
def vander_tangent(y, x, N=None, t_x=None, increasing=False):
    powers = np.arange(y.shape[1], dtype=x.dtype)
    if not increasing:
        powers = powers[::-1]
    return t_x[:, None] * powers * x[:, None] ** np.where(powers > 0, powers - 1, powers)
