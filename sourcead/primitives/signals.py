"""Rules of convolution, interpolation, quantiles and unwrapped angles.

    y = convolve(a, v)         d_a = correlation of d_y with v, d_v = correlation of d_y with a
    y = interp(x, xp, fp)      on each piece y = fp[k] + (x - xp[k]) * s[k],   s[k] = (fp[k+1] - fp[k]) / (xp[k+1] - xp[k])
    y = quantile(x, q)         y lies between two elements of sorted x, which share d_y by their distance
    y = unwrap(p)              y differs from p by multiples of the period: d_p = d_y
"""

import numpy as np

from sourcead.primitives.registry import adjoints, enter, family, multilinear, tangent, tangents
from sourcead.primitives.result_types.by_example import sized
from sourcead.runtime import convolve_cotangents, interp_cotangents, quantile_cotangent
from sourcead.runtime.tangents import interp_slope, quantile_tangent

family(__name__, memory="fresh")

# ---- convolution and interpolation ----


@multilinear(np.convolve)
def convolve_adjoint(y, a, v, mode="full", d_y=None):
    d_a, d_v = convolve_cotangents(d_y, a, v, mode)
    return d_a, d_v, None


@multilinear(np.correlate)
def correlate_adjoint(y, a, v, mode="valid", d_y=None):
    if np.iscomplexobj(v):
        d_a, d_v = convolve_cotangents(d_y, a, np.conj(v[::-1]), mode, len(v) > len(a))
        return d_a, np.conj(d_v[::-1]), None
    d_a, d_v = convolve_cotangents(d_y, a, v[::-1], mode, len(v) > len(a))
    return d_a, d_v[::-1], None


adjoints({
    np.interp: lambda y, x, xp, fp, d_y, left=None, right=None: interp_cotangents(d_y, x, xp, fp, left, right),
})


@tangent(np.interp)
def interp_tangent(y, x, xp, fp, t_x, t_xp, t_fp, left=None, right=None):
    slope = interp_slope(x, xp, fp)
    t_left = None if left is None else 0.0
    t_right = None if right is None else 0.0
    return t_x * slope, -slope * np.interp(x, xp, t_xp), np.interp(x, xp, t_fp, left=t_left, right=t_right)


# ---- quantiles and angles ----

adjoints({
    np.quantile: lambda y, x, q, axis=None, d_y=None, keepdims=False: (
        quantile_cotangent(d_y, x, q, axis, keepdims), None, None
    ),
    np.percentile: lambda y, x, q, axis=None, d_y=None, keepdims=False: (
        quantile_cotangent(d_y, x, np.divide(q, 100), axis, keepdims), None, None
    ),
    np.unwrap: lambda y, p, d_y, discont=None, axis=-1, period=6.283185307179586: d_y,
})

tangents({
    np.quantile: lambda y, x, q, axis=None, t_x=None, keepdims=False: quantile_tangent(t_x, x, q, axis, keepdims),
    np.percentile: lambda y, x, q, axis=None, t_x=None, keepdims=False: quantile_tangent(t_x, x, np.divide(q, 100), axis, keepdims),
    np.unwrap: lambda y, p, t_p, discont=None, axis=-1, period=6.283185307179586: t_p,
})

# ---- memory, order and forms ----

enter(np.convolve, np.correlate, np.interp, sequences="arrays")
enter(np.percentile, np.quantile, numba="interpreted")
enter(np.unwrap, np.convolve, np.correlate, np.interp, np.percentile, np.quantile, result=sized)
