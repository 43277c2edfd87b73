"""Rules of scans and differences along an axis.

    y[i] = x[0] + ... + x[i]        d_x[j] = d_y[j] + d_y[j+1] + ...
    y[i] = x[0] * ... * x[i]        d_x[j] = x[0] * ... * x[j-1] * s[j],    s[j] = d_y[j] + x[j+1] * s[j+1]
    y[i] = max(x[0], ..., x[i])     d_x[j] = sum of d_y[i] where x[j] is the greatest so far
    y[i] = x[i+1] - x[i]            d_x[j] = d_y[j-1] - d_y[j]

The accumulating methods of ufuncs work along axis 0 where no axis is given, `np.cumsum` and `np.cumprod` on the flattened array.
"""

import numpy as np

from sourcead.ir.sizes import greater, minus
from sourcead.ir.types import Array, Type
from sourcead.primitives.registry import adjoints, enter, family, infers, like, linear, tangent, tangents
from sourcead.primitives.result_types.by_example import sized
from sourcead.primitives.result_types.operands import Impossible, array_type, axes_of, const, only
from sourcead.primitives.together import behind, together
from sourcead.runtime import (
    cumprod_cotangent, diff_cotangent, gradient_cotangent, running_winner_cotangent, unbroadcast, undefined
)
from sourcead.runtime.tangents import cumprod_tangent, running_winner_tangent

family(__name__, memory="fresh", result=sized)

# ---- sums ----


@linear(np.cumsum)
def cumsum_adjoint(y, x, d_y, axis=None):
    if x.ndim == 1:
        return np.cumsum(d_y[::-1])[::-1]
    if axis is None:
        return np.reshape(np.cumsum(d_y[::-1])[::-1], x.shape)
    return np.flip(np.cumsum(np.flip(d_y, axis), axis), axis)


like(np.add.accumulate, np.cumsum, axis=0)

# ---- products and extremes ----

adjoints({
    np.cumprod: lambda y, x, d_y, axis=None: (
        np.reshape(cumprod_cotangent(d_y, np.ravel(x), 0), x.shape) if axis is None else cumprod_cotangent(d_y, x, axis)
    ),
    (np.maximum.accumulate, np.minimum.accumulate): lambda y, x, d_y, axis=0: running_winner_cotangent(d_y, y, x, axis),
})
tangents({
    np.cumprod: lambda y, x, t_x, axis=None: (
        cumprod_tangent(np.ravel(t_x), np.ravel(x), y, 0) if axis is None else cumprod_tangent(t_x, x, y, axis)
    ),
    (np.maximum.accumulate, np.minimum.accumulate): lambda y, x, t_x, axis=0: running_winner_tangent(t_x, x, y, axis),
})
like(np.multiply.accumulate, np.cumprod, axis=0)

# ---- differences and areas ----

linear({
    np.diff: lambda y, x, d_y, n=1, axis=-1: diff_cotangent(d_y, x.shape[axis], n, axis),
    np.ediff1d: lambda y, x, d_y: np.reshape(diff_cotangent(d_y, x.size, 1, 0), x.shape),
})

linear({
    np.gradient: lambda y, f, *spacing, d_y, axis=None, edge_order=1: (
        gradient_cotangent(d_y, f, spacing, axis, edge_order), tuple(undefined("the spacing") for _ in spacing)
    ),
}, only=("f",))
adjoints({
    np.trapezoid: lambda y, f, x=None, dx=1.0, d_y=None, axis=-1: trapezoid_cotangents(f, x, dx, d_y, axis),
})


def trapezoid_cotangents(f, x, dx, d_y, axis):
    """Return the cotangents of `np.trapezoid`: y = sum over i of (f[i] + f[i+1]) / 2 * (x[i+1] - x[i])."""
    f_last = f if axis == -1 else np.moveaxis(f, axis, -1)
    d_area = np.expand_dims(d_y, -1)
    between = (f_last[..., 1:] + f_last[..., :-1]) / 2
    if x is None:
        d_x, step = None, dx
    else:
        x_last = np.moveaxis(x, axis, -1) if x.ndim > 1 else x
        step = np.diff(x_last)
        d_step = d_area * between
        d_x = diff_cotangent(d_step, x_last.shape[-1], 1, -1)
        d_x = np.moveaxis(d_x, -1, axis) if x.ndim > 1 else d_x
    d_between = d_area * np.broadcast_to(step, between.shape) / 2
    d_f = np.zeros(f_last.shape, dtype=d_between.dtype)
    d_f[..., 1:] += d_between
    d_f[..., :-1] += d_between
    d_dx = np.sum(d_area * between) if x is None and np.ndim(dx) == 0 else None
    return unbroadcast(d_f if axis == -1 else np.moveaxis(d_f, -1, axis), f), None if x is None else unbroadcast(d_x, x), d_dx


@tangent(np.trapezoid)
def trapezoid_tangent(y, f, x=None, dx=1.0, t_f=None, t_x=None, t_dx=None, axis=-1):
    if x is None:
        return np.trapezoid(t_f, dx=dx, axis=axis), None, np.trapezoid(f, dx=t_dx, axis=axis)
    return np.trapezoid(t_f, x, axis=axis), np.trapezoid(f, t_x, axis=axis), None

# ---- memory, order and forms ----

enter(np.cumsum, order="keeps")
enter(np.cumsum, np.cumprod, batched="along")
enter(np.diff, memory=lambda count, options: "fresh" if count == 1 and "n" not in options else "shared")  # with n=0 it is the array
enter(np.diff, same_at=(1, 0))
enter(np.trapezoid, sequences="arrays")

# ---- types ----


@infers(np.diff)
def _diff(fn, args, kwargs) -> Type:
    given = dict(zip(("a", "n", "axis"), args)) | kwargs
    try:
        only(given, "a n axis")
        t, times = array_type(given["a"].type), const(given.get("n"), 1)
        (axis,) = axes_of(given.get("axis"), len(t.dims), -1)
        if t.dtype is None or t.dtype.kind not in "iufc" or type(times) is not int:
            raise Impossible
    except (Impossible, TypeError):
        return sized(fn, args, kwargs)
    return Array(t.dtype, tuple(greater(minus(dim, times), 0) if k == axis else dim for k, dim in enumerate(t.dims)))


# ---- for all members of a batch ----


@together(np.diff)
def _(a, n=1, axis=-1):
    return np.diff(a, n, behind(axis, a.ndim - 1))


@together(np.gradient)
def _(f, *varargs, axis=None):
    return np.gradient(f, *varargs, axis=behind(axis, f.ndim - 1))


@together(np.trapezoid if hasattr(np, "trapezoid") else np.trapz)
def _(y, x=None, dx=1.0, axis=-1):
    return np.trapezoid(y, x, dx, behind(axis, y.ndim - 1))
