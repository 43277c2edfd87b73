"""Rules of functions that create arrays from the values of their arguments.

    y = full(shape, v)          d_v = sum of d_y
    y = linspace(a, b, n)       y = (1 - t) a + t b,      d_a = sum of d_y (1 - t),    d_b = sum of d_y t
    y = arange(a, b, s)         y[i] = a + i s,           d_a = sum of d_y,            d_s = sum of d_y[i] i
    y = bincount(i, w)          y[k] = sum of w[j] where i[j] == k,                    d_w[j] = d_y[i[j]]
    y = vander(x)               y[i, k] = x[i]**k
"""

import numpy as np

from sourcead.ir.sizes import Sym, greater, minus, plus, quotient
from sourcead.ir.types import Array, Type
from sourcead.primitives.registry import adjoint, enter, family, in_both_modes, infers, linear, tangent
from sourcead.primitives.result_types.by_example import created, forget_sizes, sized
from sourcead.runtime import linspace_weights, unbroadcast

family(__name__, memory="fresh")

linear({
    np.full: lambda y, shape, fill_value, d_y, dtype=None, order="C": (
        None, np.sum(d_y) if np.ndim(fill_value) == 0 else unbroadcast(d_y, fill_value)
    ),
    np.full_like: lambda y, x, fill_value, d_y, dtype=None: (
        None, np.sum(d_y) if np.ndim(fill_value) == 0 else unbroadcast(d_y, fill_value)
    ),
    np.bincount: lambda y, x, weights=None, d_y=None, minlength=0: (None, d_y[x]),
})


@linear(np.linspace)
def linspace_adjoint(y, start, stop, num=50, endpoint=True, d_y=None, dtype=None):
    t = linspace_weights(y, endpoint)
    return unbroadcast(d_y * (1 - t), start), unbroadcast(d_y * t, stop), None, None


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


def times_slopes(d, y, x, increasing):
    """Return `d` times the derivatives of the powers `y` of the numbers `x`."""
    powers = np.arange(y.shape[1], dtype=x.dtype)
    if not increasing:
        powers = powers[::-1]
    return d * powers * x[:, None] ** np.where(powers > 0, powers - 1, powers)


in_both_modes({np.vander: (
    lambda y, x, N=None, d_y=None, increasing=False: (np.sum(times_slopes(d_y, y, x, increasing), axis=1), None),
    lambda y, x, N=None, t_x=None, increasing=False: times_slopes(t_x[:, None], y, x, increasing),
)})

# ---- memory, order and forms ----

enter(np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, np.indices, constant=True, memory="fresh", order="C")
enter(np.zeros_like, np.ones_like, np.empty_like, constant=True, memory="fresh", order="keeps")
enter(np.ndarray, constant=True, memory=lambda count, options: "fresh" if count <= 2 and options <= {"dtype", "order"} else "shared")
enter(np.full, np.arange, np.linspace, order="C")
enter(np.full_like, order="keeps")
enter(np.zeros_like, np.ones_like, np.empty_like, metadata=True, batched="like")
enter(np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, numba="native")
enter(np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like, buffer=True)
enter(np.ndarray, examples=True)

# ---- types ----


enter(np.zeros_like, np.ones_like, np.empty_like, dtype_at=1, result=sized)
enter(np.full_like, dtype_at=2, result=sized)
enter(np.copy, np.ndarray.copy, np.ndarray.astype, np.array, np.asarray, np.asanyarray, result=sized)
enter(np.zeros, np.ones, np.empty, np.ndarray, np.identity, np.indices, dtype_at=1, result=created)
enter(np.full, dtype_at=2, result=created)
enter(np.eye, dtype_at=3, result=created)
enter(np.linspace, np.logspace, np.geomspace, dtype_at=5, result=created)
enter(np.arange, dtype_at=3)


@infers(np.arange)
def _arange(fn, args, kwargs) -> Type:
    found, limits = created(fn, args, kwargs), (*args[:3], *(v for k, v in kwargs.items() if k != "dtype"))
    bounds = [a.integer for a in args[:3]]
    if not isinstance(found, Array) or len(limits) > len(bounds) or not all(isinstance(b, (int, Sym)) for b in bounds):
        return forget_sizes(found)  # floats decide the number of steps
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if not isinstance(step, int) or step <= 0:
        return forget_sizes(found)
    return Array(found.dtype, (quotient(plus(greater(minus(stop, start), 0), step - 1), step),))
