"""Rules of functions that pick elements: the cotangent of each element of the result is added to that of the element picked.

    y = take(x, i)        d_x[i[k]] += d_y[k]
    y = sort(x)           the same with i = argsort(x), for `partition` with i = argpartition(x)
    y = delete(x, k)      d_x = d_y with zeros at k
    y = choose(c, xs)     d_xs[k] = d_y where c == k, else 0
    y = sliding_window_view(x)      an element stands in several windows, whose cotangents are added

Where the movement of elements is hard to invert, the function is applied to the positions 0, 1, ... of the elements of x.
Subscripts are nodes of the IR, not calls, and have no rule here.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sourcead.ir.sizes import minus, plus
from sourcead.ir.types import Array, Type
from sourcead.primitives.registry import adjoint, adjoints, enter, family, infers, linear, tangent
from sourcead.primitives.result_types.by_example import sized
from sourcead.primitives.result_types.operands import Impossible, arrange, array_type, axes_of, only, shape_dims
from sourcead.primitives.together import behind, flat, together
from sourcead.runtime import (
    choose_cotangent, gather_cotangent, select_cotangents, sort_cotangent, take_along_cotangent, take_cotangent,
    unbroadcast, windows_cotangent
)

family(__name__, memory="fresh")

linear({
    np.take: lambda y, x, indices, axis=None, d_y=None, mode="raise": (
        gather_cotangent(d_y, np.take(np.arange(x.size), indices, mode=mode), x) if axis is None or np.ndim(x) == 0
        else take_cotangent(d_y, x, indices, axis, mode), None, None
    ),
    np.take_along_axis: lambda y, x, indices, axis=-1, d_y=None: (
        take_along_cotangent(d_y, x, indices, axis), None, None
    ),
    np.compress: lambda y, condition, x, d_y, axis=None: (
        None, gather_cotangent(d_y, np.compress(condition, np.reshape(np.arange(x.size), x.shape), axis), x)
    ),
    np.extract: lambda y, condition, x, d_y: (
        None, gather_cotangent(d_y, np.extract(condition, np.reshape(np.arange(x.size), x.shape)), x)
    ),
    np.delete: lambda y, x, obj, d_y, axis=None: (
        gather_cotangent(d_y, np.delete(np.reshape(np.arange(x.size), x.shape), obj, axis), x), None
    ),
    np.choose: lambda y, which, choices, d_y: (None, choose_cotangent(d_y, which, choices)),
    sliding_window_view: lambda y, x, window_shape, axis=None, d_y=None: (windows_cotangent(d_y, x, window_shape, axis), None, None),
})  # fmt: skip

adjoints({np.sort: lambda y, x, d_y, axis=-1, kind=None, stable=None: sort_cotangent(d_y, x, axis)})


@tangent(np.sort)
def sort_tangent(y, x, t_x, axis=-1, kind=None, stable=None):
    if axis is None:
        return np.ravel(t_x)[np.argsort(np.ravel(x), kind="stable")]
    return np.take_along_axis(t_x, np.argsort(x, axis=axis, kind="stable"), axis)


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


@linear(np.insert)
def insert_adjoint(y, x, obj, values, d_y, axis=None):
    places = np.insert(np.reshape(np.arange(x.size), x.shape), obj, -1, axis)
    if np.ndim(values) != 0 or np.size(places) != x.size + 1:
        return insert_cotangents(x, obj, values, d_y, axis)
    return unbroadcast(gather_cotangent(d_y[places >= 0], places[places >= 0], x), x), None, unbroadcast(d_y[places < 0][0], values)


def insert_cotangents(x, obj, values, d_y, axis):
    """Return the cotangents of `np.insert` of several values, whose places are found by inserting their numbers into those of `x`."""
    numbers = -1 - np.reshape(np.arange(np.size(values)), np.shape(values))
    places = np.insert(np.reshape(np.arange(x.size), x.shape), obj, numbers, axis)
    kept = places >= 0
    d_x = gather_cotangent(d_y[kept], places[kept], x)
    return unbroadcast(d_x, x), None, unbroadcast(gather_cotangent(d_y[~kept], -1 - places[~kept], values), values)


@linear(np.select)
def select_adjoint(y, condlist, choicelist, default=0, d_y=None):
    d_choices, d_default = select_cotangents(d_y, condlist, choicelist, default)
    return None, d_choices, d_default


# ---- memory, order and forms ----

enter(np.choose, np.select, sequences="kept")
enter(np.sort, order="keeps", numba="interpreted")
enter(np.sort, np.argsort, np.argmax, np.argmin, np.flip, batched="along")
enter(sliding_window_view, memory="readonly", view="maybe")
enter(np.sort, np.partition, np.take, np.take_along_axis, np.choose, np.select, result=sized)


@infers(sliding_window_view)
def _windows(fn, args, kwargs) -> Type:
    """Return the type of the windows: each axis along which they slide is shorter, and the axes of a window stand behind."""
    given = arrange("x window_shape axis", args, kwargs)
    only(given, "x window_shape axis")
    x, window = array_type(given["x"].type), shape_dims(given["window_shape"])
    dims = list(x.dims)
    axes = axes_of(given.get("axis"), len(dims)) or range(len(dims))
    if len(axes) != len(window):
        raise Impossible
    for k, n in zip(axes, window):
        dims[k] = minus(plus(dims[k], 1), n)
        if isinstance(dims[k], int) and dims[k] < 0:
            raise Impossible
    return Array(x.dtype, (*dims, *window))


# ---- for all members of a batch ----


@together(np.take)
def _(a, indices, axis=None):
    if axis is None:
        return np.take(flat(a), indices, axis=1)
    return np.take(a, indices, behind(axis, a.ndim - 1))


@together(np.take, along="a indices")
def _(a, indices, axis=None):
    if axis is None:
        members = np.reshape(np.arange(len(a)), (-1,) + (1,) * (indices.ndim - 1))
        return flat(a)[members, indices]
    raise ValueError("indices that differ between members, along one of several axes")


@together(np.take_along_axis, along="a indices")
def _(a, indices, axis):
    return np.take_along_axis(a, indices, behind(axis, a.ndim - 1))


@together(np.searchsorted, along="v")
def _(a, v, side="left"):
    return np.searchsorted(a, v, side)


@together(np.select, along="condlist choicelist")
def _(condlist, choicelist, default=0):
    return np.select(condlist, choicelist, default)


@together(np.select, along="condlist choicelist default")
def _(condlist, choicelist, default):
    if np.ndim(default) == np.ndim(choicelist[0]):
        return np.select(condlist, choicelist, default)
    raise ValueError("a default with another number of axes")
