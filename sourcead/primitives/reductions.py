"""Reductions: y = sum over some axes of x, and kin.

The cotangent of every element that was summed is the cotangent of its sum:

    y[i] = sum_j x[i, j]         d_x[i, j] = d_y[i]
    y[i] = mean_j x[i, j]        d_x[i, j] = d_y[i] / n
    y[i] = prod_j x[i, j]        d_x[i, j] = d_y[i] * prod_{k != j} x[i, k]
    y[i] = max_j x[i, j]         d_x[i, j] = d_y[i] / (number of maxima) where x[i, j] is one of them, else 0
    y[i] = var_j x[i, j]         d_x[i, j] = d_y[i] * 2 (x[i, j] - mean) / (n - ddof)

With `axis=None`, `axis=0` or `keepdims=True` d_y broadcasts against x as it is; else the axes that are gone are put back first.
"""

import numpy as np

from sourcead.primitives.registry import adjoint, linear, tangent, tangents
from sourcead.runtime import axis_size, divide_or_zero, middle_shares, product_of_others, unbroadcast


@adjoint(np.sum)
def sum_adjoint(y, x, d_y, axis=None, keepdims=False):
    if axis is None or axis == 0 or keepdims:
        return np.broadcast_to(d_y, x.shape)
    return np.broadcast_to(np.expand_dims(d_y, axis), x.shape)


@adjoint(np.add.reduce)
def add_reduce_adjoint(y, x, d_y, axis=0, keepdims=False):
    if axis is None or axis == 0 or keepdims:
        return np.broadcast_to(d_y, x.shape)
    return np.broadcast_to(np.expand_dims(d_y, axis), x.shape)


linear(np.sum, np.add.reduce)


@adjoint(np.nansum)
def nansum_adjoint(y, x, d_y, axis=None, keepdims=False):
    if axis is None or axis == 0 or keepdims:
        return d_y * ~np.isnan(x)
    return np.expand_dims(d_y, axis) * ~np.isnan(x)


tangents({
    np.nansum: lambda y, x, t_x, axis=None, keepdims=False: np.sum(t_x * ~np.isnan(x), axis=axis, keepdims=keepdims),
    np.prod: lambda y, x, t_x, axis=None, keepdims=False: (
        np.sum(product_of_others(x, axis) * t_x, axis=axis, keepdims=keepdims)
    ),
    np.multiply.reduce: lambda y, x, t_x, axis=0, keepdims=False: (
        np.sum(product_of_others(x, axis) * t_x, axis=axis, keepdims=keepdims)
    ),
    np.median: lambda y, x, t_x, axis=None, keepdims=False: (
        np.sum(middle_shares(x, axis) * t_x, axis=axis, keepdims=keepdims)
    ),
})


@adjoint(np.mean)
def mean_adjoint(y, x, d_y, axis=None, keepdims=False):
    if axis is None:
        return np.broadcast_to(d_y / x.size, x.shape)
    n = x.shape[axis] if isinstance(axis, int) else axis_size(x, axis)
    if axis == 0 or keepdims:
        return np.broadcast_to(d_y / n, x.shape)
    return np.broadcast_to(np.expand_dims(d_y / n, axis), x.shape)


linear(np.mean)


@adjoint(np.nanmean)
def nanmean_adjoint(y, x, d_y, axis=None, keepdims=False):
    number = (~np.isnan(x)).astype(x.dtype)
    if axis is None or axis == 0 or keepdims:
        return d_y / np.sum(number, axis=axis, keepdims=keepdims) * number
    return np.expand_dims(d_y / np.sum(number, axis=axis), axis) * number


@tangent(np.nanmean)
def nanmean_tangent(y, x, t_x, axis=None, keepdims=False):
    number = (~np.isnan(x)).astype(x.dtype)
    return np.sum(t_x * number, axis=axis, keepdims=keepdims) / np.sum(number, axis=axis, keepdims=keepdims)


@adjoint(np.average)
def average_adjoint(y, x, axis=None, weights=None, d_y=None, keepdims=False):
    if weights is None:
        if axis is None:
            return np.broadcast_to(d_y / x.size, x.shape), None, None
        n = x.shape[axis] if isinstance(axis, int) else axis_size(x, axis)
        if keepdims:
            return np.broadcast_to(d_y / n, x.shape), None, None
        return np.broadcast_to(np.expand_dims(d_y / n, axis), x.shape), None, None
    if np.ndim(weights) != x.ndim:
        return average_along_adjoint(y, x, axis, weights, d_y, keepdims)
    if axis is None or axis == 0 or keepdims:
        d_total = d_y / np.sum(weights, axis=axis, keepdims=keepdims)
        return d_total * weights, None, d_total * (x - y)
    d_total = np.expand_dims(d_y / np.sum(weights, axis=axis), axis)
    return d_total * weights, None, d_total * (x - np.expand_dims(y, axis))


def average_along_adjoint(y, x, axis, weights, d_y, keepdims):
    """Weights of one axis only."""
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    if not keepdims:
        y, d_y = np.expand_dims(y, axis), np.expand_dims(d_y, axis)
    d_total = d_y / np.sum(weights)
    d_weights = np.sum(d_total * (x - y), axis=tuple(i for i in range(x.ndim) if i != axis % x.ndim))
    return unbroadcast(d_total * np.reshape(weights, shape), x), None, unbroadcast(d_weights, weights)


@tangent(np.average)
def average_tangent(y, x, axis=None, weights=None, t_x=None, t_weights=None, keepdims=False):
    if weights is None:
        return np.mean(t_x, axis=axis, keepdims=keepdims), None
    if np.ndim(weights) != x.ndim:
        shape = [1] * x.ndim
        shape[axis] = x.shape[axis]
        centred = x - y if keepdims else x - np.expand_dims(y, axis)
        t_of_weights = np.sum(centred * np.reshape(t_weights, shape), axis=axis, keepdims=keepdims) / np.sum(weights)
        return np.average(t_x, axis=axis, weights=weights, keepdims=keepdims), t_of_weights
    total = np.sum(weights, axis=axis, keepdims=keepdims)
    centred = x - y if axis is None or axis == 0 or keepdims else x - np.expand_dims(y, axis)
    return (
        np.average(t_x, axis=axis, weights=weights, keepdims=keepdims),
        np.sum(centred * t_weights, axis=axis, keepdims=keepdims) / total,
    )


@adjoint(np.prod)
def prod_adjoint(y, x, d_y, axis=None, keepdims=False):
    if axis is None or axis == 0 or keepdims:
        return d_y * product_of_others(x, axis)
    return np.expand_dims(d_y, axis) * product_of_others(x, axis)


@adjoint(np.multiply.reduce)
def multiply_reduce_adjoint(y, x, d_y, axis=0, keepdims=False):
    if axis is None or axis == 0 or keepdims:
        return d_y * product_of_others(x, axis)
    return np.expand_dims(d_y, axis) * product_of_others(x, axis)


@adjoint(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin)
def max_adjoint(y, x, d_y, axis=None, keepdims=False):
    if keepdims:
        hit = (x == y).astype(x.dtype)
        return d_y / np.sum(hit, axis=axis, keepdims=True) * hit
    if axis is None:
        hit = (x == y).astype(x.dtype)
        return d_y / np.sum(hit) * hit
    if axis == 0:
        hit = (x == y).astype(x.dtype)
        return d_y / np.sum(hit, axis=0) * hit
    hit = (x == np.expand_dims(y, axis)).astype(x.dtype)
    return np.expand_dims(d_y / np.sum(hit, axis=axis), axis) * hit


@tangent(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin)
def max_tangent(y, x, t_x, axis=None, keepdims=False):
    hit = (x == (y if axis is None or axis == 0 or keepdims else np.expand_dims(y, axis))).astype(x.dtype)
    return np.sum(hit * t_x, axis=axis, keepdims=keepdims) / np.sum(hit, axis=axis, keepdims=keepdims)


@adjoint(np.maximum.reduce, np.minimum.reduce)
def maximum_reduce_adjoint(y, x, d_y, axis=0, keepdims=False):
    if keepdims:
        hit = (x == y).astype(x.dtype)
        return d_y / np.sum(hit, axis=axis, keepdims=True) * hit
    if axis is None:
        hit = (x == y).astype(x.dtype)
        return d_y / np.sum(hit) * hit
    if axis == 0:
        hit = (x == y).astype(x.dtype)
        return d_y / np.sum(hit, axis=0) * hit
    hit = (x == np.expand_dims(y, axis)).astype(x.dtype)
    return np.expand_dims(d_y / np.sum(hit, axis=axis), axis) * hit


@tangent(np.maximum.reduce, np.minimum.reduce)
def maximum_reduce_tangent(y, x, t_x, axis=0, keepdims=False):
    hit = (x == (y if axis is None or axis == 0 or keepdims else np.expand_dims(y, axis))).astype(x.dtype)
    return np.sum(hit * t_x, axis=axis, keepdims=keepdims) / np.sum(hit, axis=axis, keepdims=keepdims)


@adjoint(np.ptp)
def ptp_adjoint(y, x, d_y, axis=None, keepdims=False):
    top = (x == np.max(x, axis=axis, keepdims=True)).astype(x.dtype)
    bottom = (x == np.min(x, axis=axis, keepdims=True)).astype(x.dtype)
    share = top / np.sum(top, axis=axis, keepdims=True) - bottom / np.sum(bottom, axis=axis, keepdims=True)
    if axis is None or axis == 0 or keepdims:
        return d_y * share
    return np.expand_dims(d_y, axis) * share


@tangent(np.ptp)
def ptp_tangent(y, x, t_x, axis=None, keepdims=False):
    top = (x == np.max(x, axis=axis, keepdims=True)).astype(x.dtype)
    bottom = (x == np.min(x, axis=axis, keepdims=True)).astype(x.dtype)
    share = top / np.sum(top, axis=axis, keepdims=True) - bottom / np.sum(bottom, axis=axis, keepdims=True)
    return np.sum(share * t_x, axis=axis, keepdims=keepdims)


@adjoint(np.var)
def var_adjoint(y, x, d_y, axis=None, ddof=0, keepdims=False):
    if np.iscomplexobj(x):
        x = np.conj(x)
    if axis is None:
        return 2 * d_y / (x.size - ddof) * (x - np.mean(x))
    n = x.shape[axis] if isinstance(axis, int) else axis_size(x, axis)
    if axis == 0 and not keepdims:
        return 2 * d_y / (n - ddof) * (x - np.mean(x, axis=0))
    if keepdims:
        return 2 * d_y / (n - ddof) * (x - np.mean(x, axis=axis, keepdims=True))
    return np.expand_dims(2 * d_y / (n - ddof), axis) * (x - np.mean(x, axis=axis, keepdims=True))


@tangent(np.var)
def var_tangent(y, x, t_x, axis=None, ddof=0, keepdims=False):
    centred = x - np.mean(x, axis=axis, keepdims=True)
    n = axis_size(x, axis)
    if np.iscomplexobj(x):
        return 2 * np.sum(np.real(np.conj(centred) * t_x), axis=axis, keepdims=keepdims) / (n - ddof)
    return 2 * np.sum(centred * t_x, axis=axis, keepdims=keepdims) / (n - ddof)


@adjoint(np.std)
def std_adjoint(y, x, d_y, axis=None, ddof=0, keepdims=False):
    if np.iscomplexobj(x):
        x = np.conj(x)
    if axis is None:
        return divide_or_zero(d_y, y * (x.size - ddof)) * (x - np.mean(x))
    n = x.shape[axis] if isinstance(axis, int) else axis_size(x, axis)
    if axis == 0 and not keepdims:
        return divide_or_zero(d_y, y * (n - ddof)) * (x - np.mean(x, axis=0))
    if keepdims:
        return divide_or_zero(d_y, y * (n - ddof)) * (x - np.mean(x, axis=axis, keepdims=True))
    return np.expand_dims(divide_or_zero(d_y, y * (n - ddof)), axis) * (x - np.mean(x, axis=axis, keepdims=True))


@tangent(np.std)
def std_tangent(y, x, t_x, axis=None, ddof=0, keepdims=False):
    centred = x - np.mean(x, axis=axis, keepdims=True)
    n = axis_size(x, axis)
    if np.iscomplexobj(x):
        return divide_or_zero(np.sum(np.real(np.conj(centred) * t_x), axis=axis, keepdims=keepdims), y * (n - ddof))
    return divide_or_zero(np.sum(centred * t_x, axis=axis, keepdims=keepdims), y * (n - ddof))


@adjoint(np.median)
def median_adjoint(y, x, d_y, axis=None, keepdims=False):
    if axis is None or axis == 0 or keepdims:
        return d_y * middle_shares(x, axis)
    return np.expand_dims(d_y, axis) * middle_shares(x, axis)


@adjoint(sum)
def builtin_sum_adjoint(y, xs, start=0, d_y=None):
    if isinstance(xs, np.ndarray):
        return np.broadcast_to(d_y, xs.shape), d_y
    return [d_y for _ in xs], d_y


linear(sum)
