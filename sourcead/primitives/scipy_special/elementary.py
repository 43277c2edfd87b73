"""Rules of `scipy.special`: logistic, error, gamma and entropy functions; exponentials and angles; logsumexp and softmax.

    y = expit(x)          d_x = d_y * y * (1 - y)
    y = erf(x)            d_x = d_y * 2 / sqrt(pi) * exp(-x**2)
    y = gamma(x)          d_x = d_y * y * digamma(x)
    y = logsumexp(x)      d_x = d_y * exp(x - y)
    y = softmax(x)        d_x = y * (d_y - sum of d_y * y)
"""

import math

import numpy as np
from scipy import special

from sourcead.primitives.elementwise import DEGREE, EXPONENTIALS, LN10, TRIGONOMETRY
from sourcead.primitives.reductions import restore_axes
from sourcead.primitives.registry import adjoint, adjoints, elementwise, enter, tangent, tangents
from sourcead.primitives.result_types.by_example import sized
from sourcead.primitives.together import behind, together
from sourcead.runtime import unbroadcast, undefined

TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)
SQRT_2_PI = math.sqrt(2 * math.pi)

elementwise({
    special.expit: lambda y, x, d_y: d_y * y * (1 - y),
    special.logit: lambda y, x, d_y: d_y / (x * (1 - x)),
    special.log_expit: lambda y, x, d_y: d_y * special.expit(-x),
    special.erf: lambda y, x, d_y: d_y * TWO_OVER_SQRT_PI * np.exp(-x * x),
    special.erfc: lambda y, x, d_y: -d_y * TWO_OVER_SQRT_PI * np.exp(-x * x),
    special.erfinv: lambda y, x, d_y: d_y / TWO_OVER_SQRT_PI * np.exp(y * y),
    special.erfcx: lambda y, x, d_y: d_y * (2 * x * y - TWO_OVER_SQRT_PI),
    special.ndtr: lambda y, x, d_y: d_y / SQRT_2_PI * np.exp(-0.5 * (x * x)),
    special.log_ndtr: lambda y, x, d_y: d_y / SQRT_2_PI * np.exp(-x * x / 2 - y),
    special.ndtri: lambda y, x, d_y: d_y * SQRT_2_PI * np.exp(y * y / 2),
    special.gamma: lambda y, x, d_y: d_y * y * special.digamma(x),
    (special.gammaln, special.loggamma): lambda y, x, d_y: d_y * special.digamma(x),
    special.digamma: lambda y, x, d_y: d_y * special.polygamma(1, x),
    special.xlogy: lambda y, x, z, d_y: (d_y * np.log(z), d_y * x / z),
    special.xlog1py: lambda y, x, z, d_y: (d_y * np.log1p(z), d_y * x / (1 + z)),
    special.entr: lambda y, x, d_y: -d_y * (np.log(x) + 1),
    special.rel_entr: lambda y, a, b, d_y: (d_y * (np.log(a / b) + 1), -d_y * a / b),
    special.kl_div: lambda y, a, b, d_y: (d_y * np.log(a / b), d_y * (1 - a / b)),
    special.exprel: lambda y, x, d_y: (
        d_y * np.where(x == 0, 0.5, (np.exp(x) - y) / np.where(x == 0, 1, x)).astype(np.asarray(d_y).dtype)
    ),
})

adjoints({special.polygamma: lambda y, n, x, d_y: (undefined("the order"), d_y * special.polygamma(n + 1, x))})
tangents({special.polygamma: lambda y, n, x, t_x: t_x * special.polygamma(n + 1, x)})


@adjoint(special.betaln, broadcasts=True)
def betaln_adjoint(y, a, b, d_y):
    common = special.digamma(a + b)
    return d_y * (special.digamma(a) - common), d_y * (special.digamma(b) - common)


elementwise({special.beta: lambda y, a, b, d_y: betaln_adjoint(y, a, b, d_y * y)})


# ---- exponentials, logarithms and angles in degrees ----

elementwise({
    special.exp2: EXPONENTIALS[np.exp2],
    special.exp10: lambda y, x, d_y: d_y * y * LN10,
    special.expm1: EXPONENTIALS[np.expm1],
    special.log1p: EXPONENTIALS[np.log1p],
    special.cbrt: EXPONENTIALS[np.cbrt],
    special.cosm1: TRIGONOMETRY[np.cos],
    special.powm1: lambda y, x, p, d_y: (d_y * p * x ** (p - 1), d_y * (y + 1) * np.log(x)),
    special.sindg: lambda y, x, d_y: d_y * DEGREE * special.cosdg(x),
    special.cosdg: lambda y, x, d_y: -d_y * DEGREE * special.sindg(x),
    special.tandg: lambda y, x, d_y: d_y * DEGREE * (1 + y * y),
    special.cotdg: lambda y, x, d_y: -d_y * DEGREE * (1 + y * y),
    special.radian: lambda y, d, m, s, d_y: (d_y * DEGREE, d_y * (DEGREE / 60), d_y * (DEGREE / 3600)),
})

if hasattr(special, "softplus"):  # SciPy 1.16
    elementwise({special.softplus: lambda y, x, d_y: d_y * special.expit(x)})

# ---- over an axis ----


@adjoint(special.logsumexp)
def logsumexp_adjoint(y, x, axis=None, b=None, d_y=None, keepdims=False):
    y, d_y = restore_axes(y, x, axis, keepdims), restore_axes(d_y, x, axis, keepdims)
    d_x = d_y * np.exp(x - y)
    if b is None:
        return d_x, None, None
    return unbroadcast(b * d_x, x), None, unbroadcast(d_x, b)


@tangent(special.logsumexp)
def logsumexp_tangent(y, x, axis=None, b=None, t_x=None, t_b=None, keepdims=False):
    weights = np.exp(x - restore_axes(y, x, axis, keepdims))
    if b is None:
        return np.sum(weights * t_x, axis=axis, keepdims=keepdims), None
    by_x = np.sum(b * weights * t_x, axis=axis, keepdims=keepdims)
    return by_x, np.sum(weights * t_b, axis=axis, keepdims=keepdims)


adjoints({
    special.softmax: lambda y, x, axis=None, d_y=None: (y * (d_y - np.sum(d_y * y, axis=axis, keepdims=True)), None),
    special.log_softmax: lambda y, x, axis=None, d_y=None: (
        d_y - np.exp(y) * np.sum(d_y, axis=axis, keepdims=True), None
    ),
})
tangents({
    special.softmax: lambda y, x, axis=None, t_x=None: y * (t_x - np.sum(y * t_x, axis=axis, keepdims=True)),
    special.log_softmax: lambda y, x, axis=None, t_x=None: t_x - np.sum(np.exp(y) * t_x, axis=axis, keepdims=True),
})
enter(special.logsumexp, special.softmax, special.log_softmax, result=sized)


# ---- for all members of a batch ----



@together(special.logsumexp)
def _(a, axis=None, b=None, *, keepdims=False):
    return special.logsumexp(a, behind(axis, a.ndim - 1), b, keepdims)


@together(special.softmax)
def _(x, axis=None):
    return special.softmax(x, behind(axis, x.ndim - 1))


@together(special.log_softmax)
def _(x, axis=None):
    return special.log_softmax(x, behind(axis, x.ndim - 1))
