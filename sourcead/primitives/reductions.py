"""Rules of reductions, in which each element of y is a sum, mean, product, maximum, ... of elements of x.

The cotangent of every element that was summed is the cotangent of its sum:

    y[i] = sum_j x[i, j]         d_x[i, j] = d_y[i]
    y[i] = mean_j x[i, j]        d_x[i, j] = d_y[i] / n
    y[i] = prod_j x[i, j]        d_x[i, j] = d_y[i] * prod_{k != j} x[i, k]
    y[i] = max_j x[i, j]         d_x[i, j] = d_y[i] / (number of maxima) where x[i, j] is one of them, else 0
    y[i] = median_j x[i, j]      likewise, of the one or two elements in the middle
    y[i] = var_j x[i, j]         d_x[i, j] = d_y[i] * 2 (x[i, j] - mean) / (n - ddof)

The reductions of ufuncs are these functions with another default: `np.add.reduce` is `np.sum` over axis 0.
"""

import numpy as np

from sourcead.primitives.registry import adjoint, enter, family, in_both_modes, like, linear, tangent
from sourcead.primitives.result_types.by_example import sized
from sourcead.primitives.together import behind, together
from sourcead.runtime import (
    axis_size, divide_or_zero, has_more, like_sequence, middle_shares, product_of_others, unbroadcast
)

family(__name__, memory="fresh", result=sized)


def restore_axes(d, x, axis, keepdims):
    """Return `d` with the axes that a reduction of `x` removed, but without leading axes, which broadcasting adds; a number has none."""
    return d if axis is None or axis == 0 or keepdims or np.ndim(x) == 0 else np.expand_dims(d, axis)


def number_along(x, axis, ddof=0):
    """Return the number of elements of `x` that are reduced to one, less `ddof`; 1 where that is not positive and the result is NaN."""
    if axis is None:
        n = x.size if isinstance(x, np.ndarray) else np.size(x)
    elif isinstance(axis, tuple) and len(axis) > 0 and isinstance(x, np.ndarray):
        n = x.shape[axis[0]]
        for one in axis[1:]:
            n = n * x.shape[one]
    else:
        n = x.shape[axis] if isinstance(axis, int) else axis_size(x, axis)
    return n - ddof if has_more(x, axis, ddof) else max(n - ddof, 1)


def reduced(f, x, axis, keepdims):
    """Return `f(x, axis=axis, keepdims=keepdims)`, called without the options that have their default values."""
    if keepdims:
        return f(x, axis=axis, keepdims=True)
    return f(x) if axis is None else f(x, axis=axis)


# ---- sums and means ----

linear({
    np.sum: lambda y, x, d_y, axis=None, keepdims=False: np.broadcast_to(restore_axes(d_y, x, axis, keepdims), x.shape),
    np.mean: lambda y, x, d_y, axis=None, keepdims=False: (
        np.broadcast_to(restore_axes(d_y / number_along(x, axis), x, axis, keepdims), x.shape)
    ),
    sum: lambda y, xs, start=0, d_y=None: (
        np.broadcast_to(d_y, xs.shape) if isinstance(xs, np.ndarray)
        else like_sequence(np.full(len(xs), d_y), xs) if np.ndim(d_y) == 0 else [d_y for _ in xs], d_y
    ),
})
like(np.add.reduce, np.sum, axis=0)


@adjoint(np.average)
def average_adjoint(y, x, axis=None, weights=None, d_y=None, keepdims=False):
    if weights is None:
        return np.broadcast_to(restore_axes(d_y / number_along(x, axis), x, axis, keepdims), x.shape), None, None
    if np.ndim(weights) != x.ndim:
        if isinstance(axis, tuple):
            raise NotImplementedError("the derivative of np.average over several axes with weights for these axes only")
        return average_along_adjoint(y, x, axis, weights, d_y, keepdims)
    d_total = restore_axes(d_y / reduced(np.sum, weights, axis, keepdims), x, axis, keepdims)
    return d_total * weights, None, d_total * (x - restore_axes(y, x, axis, keepdims))


def average_along_adjoint(y, x, axis, weights, d_y, keepdims):
    """Return the cotangents of `np.average` with one weight for each position along one axis."""
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
        if isinstance(axis, tuple):
            raise NotImplementedError("the derivative of np.average over several axes with weights for these axes only")
        shape = [1] * x.ndim
        shape[axis] = x.shape[axis]
        centred = x - y if keepdims else x - np.expand_dims(y, axis)
        t_of_weights = np.sum(centred * np.reshape(t_weights, shape), axis=axis, keepdims=keepdims) / np.sum(weights)
        return np.average(t_x, axis=axis, weights=weights, keepdims=keepdims), t_of_weights
    total = np.sum(weights, axis=axis, keepdims=keepdims)
    t_of_weights = np.sum((x - restore_axes(y, x, axis, keepdims)) * t_weights, axis=axis, keepdims=keepdims)
    return np.average(t_x, axis=axis, weights=weights, keepdims=keepdims), t_of_weights / total


# ---- products, extremes, medians and variances: y changes by the sum of slope * t_x, of which each part is `shared` alike ----


def cotangent_of(x, shared, slope, d_y, axis, keepdims):
    """Return the cotangent of a reduced array: the shares of the result's cotangent, times the slopes."""
    return restore_axes(shared(d_y), x, axis, keepdims) * slope()


def tangent_of(y, shared, slope, t_x, axis, keepdims):
    """Return the tangent of a reduction, which is real if the result is."""
    slopes = slope()
    total = np.sum(slopes * t_x, axis=axis, keepdims=keepdims)
    return shared(np.real(total) if np.iscomplexobj(slopes) and not np.iscomplexobj(y) else total)


def of_reduction(parts):
    """Return the adjoint and the tangent rule of a reduction.

    Args:
        parts: `parts(y, x, axis, keepdims)` returns two functions: what a sum goes through, and the slope at each element.
    """
    return (
        lambda y, x, d_y, axis=None, keepdims=False: cotangent_of(x, *parts(y, x, axis, keepdims), d_y, axis, keepdims),
        lambda y, x, t_x, axis=None, keepdims=False: tangent_of(y, *parts(y, x, axis, keepdims), t_x, axis, keepdims),
    )


def of_variance(parts):
    """Return the adjoint and the tangent rule of a variance, for `parts(y, x, axis, keepdims, ddof)` as in `of_reduction`."""
    return (
        lambda y, x, d_y, axis=None, ddof=0, keepdims=False: (
            cotangent_of(x, *parts(y, x, axis, keepdims, ddof), d_y, axis, keepdims)
        ),
        lambda y, x, t_x, axis=None, ddof=0, keepdims=False: (
            tangent_of(y, *parts(y, x, axis, keepdims, ddof), t_x, axis, keepdims)
        ),
    )


def by_slope(slope):
    """Return the rules of a reduction whose derivative by each element is `slope(x, axis)`."""
    return of_reduction(lambda y, x, axis, keepdims: (lambda d: d, lambda: slope(x, axis)))


def where_equal(x, y):
    """Return 1 for each element that equals the greatest or least of them, 0 for the others; a number is its own."""
    return (x == y).astype(x.dtype) if isinstance(x, np.ndarray) else 1.0


def by_share(there, axis, keepdims):
    """Return the parts of a reduction whose derivative is the same for all elements that are `there`, and 0 for the others."""
    return lambda d: d / reduced(np.sum, there, axis, keepdims), lambda: there


def ptp_slope(x, axis):
    """Return the derivative of the greatest minus the least element, which equal elements share equally."""
    top = where_equal(x, np.max(x, axis=axis, keepdims=True))
    bottom = where_equal(x, np.min(x, axis=axis, keepdims=True))
    return top / np.sum(top, axis=axis, keepdims=True) - bottom / np.sum(bottom, axis=axis, keepdims=True)


def centred(mean, x, axis, keepdims):
    """Return the deviations of `x` from its mean, conjugated."""
    if np.iscomplexobj(x):
        x = np.conj(x)
    return x - reduced(mean, x, axis, axis is not None and (axis != 0 or keepdims))


in_both_modes({
    np.prod: by_slope(product_of_others), np.median: by_slope(middle_shares), np.ptp: by_slope(ptp_slope),
    (np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin): of_reduction(lambda y, x, axis, keepdims: (
        by_share(where_equal(x, restore_axes(y, x, axis, keepdims)), axis, keepdims)
    )),
    np.var: of_variance(lambda y, x, axis, keepdims, ddof: (
        lambda d: 2 * d / number_along(x, axis, ddof), lambda: centred(np.mean, x, axis, keepdims)
    )),
    np.std: of_variance(lambda y, x, axis, keepdims, ddof: (
        lambda d: divide_or_zero(d, y * number_along(x, axis, ddof)), lambda: centred(np.mean, x, axis, keepdims)
    )),
})  # fmt: skip
like(np.multiply.reduce, np.prod, axis=0)
like(np.maximum.reduce, np.max, axis=0)
like(np.minimum.reduce, np.min, axis=0)

# ---- memory, order and forms ----

enter(np.sum, np.mean, np.max, np.min, np.prod, np.amax, np.amin, batched="reduction")
enter(np.std, np.var, np.any, np.all, np.median, np.ptp, batched="statistic")
enter(np.average, sequences="arrays", axis_at=1)
enter(np.median, numba="interpreted")


# ---- for all members of a batch ----



@together(np.average)
def _(a, axis=None, weights=None):
    if weights is None:
        return np.mean(a, behind(axis, a.ndim - 1))
    return np.average(a, 1 if a.ndim == 2 else behind(axis, a.ndim - 1), weights)
