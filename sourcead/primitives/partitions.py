"""Orders, windows, roots, and numbers taken apart: functions that move elements or are found from an equation.

y = partition(x, k)         the elements of x in another order, so that d_x is d_y in x's order
y = roots(p)                p(y[i]) = 0, so that d_p[k] = -sum over i of d_y[i] * y[i]**(n - k) / p'(y[i])
y = sliding_window_view(x)  each element stands in several windows, whose cotangents are added
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sourcead.primitives.registry import adjoint, adjoints, linear, tangent, tangents
from sourcead.runtime import binary_exponent, gather_cotangent, root_slopes, unbroadcast


@adjoint(np.partition)
def partition_adjoint(y, x, kth, axis=-1, d_y=None):
    if axis is None:
        return gather_cotangent(d_y, np.argpartition(x, kth, axis=None), x), None, None
    places = np.take_along_axis(np.reshape(np.arange(x.size), x.shape), np.argpartition(x, kth, axis), axis)
    return gather_cotangent(d_y, places, x), None, None


@tangent(np.partition)
def partition_tangent(y, x, kth, axis=-1, t_x=None):
    if axis is None:
        return np.ravel(t_x)[np.argpartition(x, kth, axis=None)]
    return np.take_along_axis(t_x, np.argpartition(x, kth, axis), axis)


adjoints({
    sliding_window_view: lambda y, x, window_shape, axis=None, d_y=None: (
        gather_cotangent(d_y, sliding_window_view(np.reshape(np.arange(x.size), x.shape), window_shape, axis), x),
        None,
        None,
    ),
    np.frexp: lambda y, x, d_y: d_y[0] * np.ldexp(1.0, -binary_exponent(x)),
    np.real_if_close: lambda y, x, d_y, tol=100: unbroadcast(d_y, x),
    np.asarray_chkfinite: lambda y, x, d_y: d_y,
})

tangents({
    np.roots: lambda y, p, t_p: root_slopes(y, p) @ t_p,
    np.frexp: lambda y, x, t_x: (t_x * np.ldexp(1.0, -binary_exponent(x)), np.zeros(np.shape(x))),
    np.real_if_close: lambda y, x, t_x, tol=100: t_x if np.iscomplexobj(y) else np.real(t_x),
})

linear(sliding_window_view)


@adjoint(np.roots)
def _(y, p, d_y):
    d_p = d_y @ root_slopes(y, p)
    return d_p if np.iscomplexobj(p) else np.real(d_p)


linear(np.asarray_chkfinite)
