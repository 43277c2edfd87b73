"""Compositions of ufuncs with masks, of their methods, and of ufuncs with two results.

    f.reduce(x)       f(f(f(x[0], x[1]), x[2]), ...)          f.accumulate(x)     all of these on the way
    f.outer(a, b)     f(a[i], b[j]) for all i, j              f.reduceat(x, at)   a reduction of each slice
    f.at(a, i, b)     a[i] = f(a[i], b), one after the other
"""

import numpy as np

from sourcead.primitives.compositions import composed, composed_method, number_kind, refuse
from sourcead.runtime import combine_short, reduce_short


@composed_method("__call__", given="where", writes=True)
def masked_into(ufunc, *operands, where, out):
    where = np.broadcast_to(where, out.shape)
    out[where] = ufunc(*[np.broadcast_to(x, out.shape)[where] for x in operands])
    return out


@composed_method("__call__", given="where")
def masked(ufunc, *operands, where):
    # the elements where `where` is false are whatever the memory holds, so no derivative passes through them
    return ufunc(*operands, where=where, out=np.zeros(np.broadcast(where, *operands).shape, np.result_type(*operands)))


@composed_method("__call__", given="dtype")
def in_a_type(ufunc, *operands, dtype):
    return ufunc(*[np.asarray(x).astype(dtype) for x in operands])


@composed_method("outer")
def outer(ufunc, a, b):
    return ufunc(np.reshape(a, np.shape(a) + (1,) * b.ndim), b)


@composed_method("reduce")
def reduce(ufunc, array, axis=0, keepdims=False, initial=None, where=None):
    if ufunc is np.power or ufunc is np.arctan2:  # NumPy 2.4 takes the first and the last element alone
        refuse("a reduction by this function, of which the result depends on the version of NumPy: write the loop")
    if where is not None:
        refuse("a reduction of some elements only with this function")
    if axis is None or isinstance(axis, tuple):
        if axis is None and array.ndim == 1:
            axis = 0
        else:
            refuse("a reduction by this function over several axes at once: call it axis by axis")
    rows = np.moveaxis(array, axis, 0)
    if initial is None:
        result = rows[0] if array.ndim == 1 else rows[0].copy()  # of one row too, the result is no view of it
        for row in rows[1:]:
            result = ufunc(result, row)
    else:
        result = initial
        for row in rows:
            result = ufunc(result, row)
    if keepdims:
        return np.expand_dims(result, axis)
    return result


@composed(reduce_short)
def reduce_at_once(ufunc, x, axis, keepdims=False):
    if ufunc is np.add:
        return np.sum(x, axis=axis, keepdims=keepdims)
    if ufunc is np.multiply:
        return np.prod(x, axis=axis, keepdims=keepdims)
    return np.max(x, axis=axis, keepdims=keepdims) if ufunc is np.maximum else np.min(x, axis=axis, keepdims=keepdims)


@composed(combine_short)
def combine_at_once(ufunc, x, y, axis, out=None):
    result = ufunc(x, np.expand_dims(y, axis))
    if out is None:
        return result
    out[...] = result
    return out


@composed_method("accumulate")
def accumulate(ufunc, array, axis=0):
    rows = np.moveaxis(array, axis, 0)
    result = np.empty(rows.shape, rows.dtype)
    result[0] = rows[0]
    for i in range(1, rows.shape[0]):
        result[i] = ufunc(result[i - 1], rows[i])
    return np.moveaxis(result, 0, axis)


@composed_method("reduceat")
def reduceat(ufunc, array, indices, axis=0):
    rows = np.moveaxis(array, axis, 0)
    starts = np.asarray(indices)
    stops = np.append(starts[1:], rows.shape[0])
    stops = np.where(starts < stops, stops, starts + 1)
    result = np.empty((starts.size,) + rows.shape[1:], rows.dtype)
    for i in range(starts.size):
        result[i] = ufunc.reduce(rows[starts[i] : stops[i]])
    return np.moveaxis(result, 0, axis)


@composed_method("at", writes=True)
def at(ufunc, a, indices, b=None):
    if isinstance(indices, tuple):
        refuse("`at` with several index arrays: write the loop")
    places = np.asarray(indices)
    if places.ndim != 1 or number_kind(places) != "int":
        refuse("`at` with indices that are not one row of integers: write the loop")
    if b is None:
        for i in places:
            a[i] = ufunc(a[i])
    else:
        values = np.broadcast_to(b, places.shape + a.shape[1:])
        for k in range(places.size):
            a[places[k]] = ufunc(a[places[k]], values[k])


# ---- two results ----

composed({(np.divmod, divmod): lambda a, b: (a // b, a % b)})


@composed(np.modf)
def modf(x):
    whole = np.trunc(x)
    return np.where(np.isinf(x), np.copysign(0, x), x - whole), whole
