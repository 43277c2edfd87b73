"""scipy.special: elementwise functions, logsumexp and softmax.

y = expit(x)          d_x = d_y * y * (1 - y)
y = logsumexp(x)      d_x = d_y * exp(x - y)
y = softmax(x)        d_x = y * (d_y - sum of d_y * y)
"""

import math

import numpy as np
from scipy import special

from sourcead.primitives.registry import adjoint, tangent
from sourcead.runtime import unbroadcast, undefined

TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)
SQRT_2_PI = math.sqrt(2 * math.pi)


@adjoint(special.expit, broadcasts=True)
def _(y, x, d_y):
    return d_y * y * (1 - y)


@adjoint(special.logit, broadcasts=True)
def _(y, x, d_y):
    return d_y / (x * (1 - x))


@adjoint(special.log_expit, broadcasts=True)
def _(y, x, d_y):
    return d_y * special.expit(-x)


@adjoint(special.erf, broadcasts=True)
def _(y, x, d_y):
    return d_y * TWO_OVER_SQRT_PI * np.exp(-x * x)


@adjoint(special.erfc, broadcasts=True)
def _(y, x, d_y):
    return -d_y * TWO_OVER_SQRT_PI * np.exp(-x * x)


@adjoint(special.erfinv, broadcasts=True)
def _(y, x, d_y):
    return d_y / TWO_OVER_SQRT_PI * np.exp(y * y)


@adjoint(special.erfcx, broadcasts=True)
def _(y, x, d_y):
    return d_y * (2 * x * y - TWO_OVER_SQRT_PI)


@adjoint(special.ndtr, broadcasts=True)
def _(y, x, d_y):
    return d_y / SQRT_2_PI * np.exp(-x * x / 2)


@adjoint(special.log_ndtr, broadcasts=True)
def _(y, x, d_y):
    return d_y / SQRT_2_PI * np.exp(-x * x / 2 - y)


@adjoint(special.ndtri, broadcasts=True)
def _(y, x, d_y):
    return d_y * SQRT_2_PI * np.exp(y * y / 2)


@adjoint(special.gamma, broadcasts=True)
def _(y, x, d_y):
    return d_y * y * special.digamma(x)


@adjoint(special.gammaln, special.loggamma, broadcasts=True)
def _(y, x, d_y):
    return d_y * special.digamma(x)


@adjoint(special.digamma, broadcasts=True)
def _(y, x, d_y):
    return d_y * special.polygamma(1, x)


@adjoint(special.polygamma)
def polygamma_adjoint(y, n, x, d_y):
    return undefined("the order"), d_y * special.polygamma(n + 1, x)


@tangent(special.polygamma)
def _(y, n, x, t_x):
    return t_x * special.polygamma(n + 1, x)


@adjoint(special.beta, broadcasts=True)
def _(y, a, b, d_y):
    d_log = d_y * y
    common = special.digamma(a + b)
    return d_log * (special.digamma(a) - common), d_log * (special.digamma(b) - common)


@adjoint(special.betaln, broadcasts=True)
def _(y, a, b, d_y):
    common = special.digamma(a + b)
    return d_y * (special.digamma(a) - common), d_y * (special.digamma(b) - common)


@adjoint(special.xlogy, broadcasts=True)
def _(y, x, z, d_y):
    return d_y * np.log(z), d_y * x / z


@adjoint(special.xlog1py, broadcasts=True)
def _(y, x, z, d_y):
    return d_y * np.log1p(z), d_y * x / (1 + z)


@adjoint(special.entr, broadcasts=True)
def _(y, x, d_y):
    return -d_y * (np.log(x) + 1)


@adjoint(special.rel_entr, broadcasts=True)
def _(y, a, b, d_y):
    return d_y * (np.log(a / b) + 1), -d_y * a / b


@adjoint(special.kl_div, broadcasts=True)
def _(y, a, b, d_y):
    return d_y * np.log(a / b), d_y * (1 - a / b)


@adjoint(special.exprel, broadcasts=True)
def _(y, x, d_y):
    return d_y * np.where(x == 0, 0.5, (np.exp(x) - y) / np.where(x == 0, 1, x)).astype(np.asarray(d_y).dtype)


# ---- over an axis ----


@adjoint(special.logsumexp)
def logsumexp_adjoint(y, x, axis=None, b=None, d_y=None, keepdims=False):
    if not (axis is None or axis == 0 or keepdims):
        y = np.expand_dims(y, axis)
        d_y = np.expand_dims(d_y, axis)
    d_x = d_y * np.exp(x - y)
    if b is None:
        return d_x, None, None
    return unbroadcast(b * d_x, x), None, unbroadcast(d_x, b)


@tangent(special.logsumexp)
def logsumexp_tangent(y, x, axis=None, b=None, t_x=None, t_b=None, keepdims=False):
    weights = np.exp(x - (y if axis is None or axis == 0 or keepdims else np.expand_dims(y, axis)))
    if b is None:
        return np.sum(weights * t_x, axis=axis, keepdims=keepdims), None
    by_x = np.sum(b * weights * t_x, axis=axis, keepdims=keepdims)
    return by_x, np.sum(weights * t_b, axis=axis, keepdims=keepdims)


@adjoint(special.softmax)
def softmax_adjoint(y, x, axis=None, d_y=None):
    return y * (d_y - np.sum(d_y * y, axis=axis, keepdims=True)), None


@tangent(special.softmax)
def _(y, x, axis=None, t_x=None):
    return y * (t_x - np.sum(y * t_x, axis=axis, keepdims=True))


@adjoint(special.log_softmax)
def log_softmax_adjoint(y, x, axis=None, d_y=None):
    return d_y - np.exp(y) * np.sum(d_y, axis=axis, keepdims=True), None


@tangent(special.log_softmax)
def _(y, x, axis=None, t_x=None):
    return t_x - np.sum(np.exp(y) * t_x, axis=axis, keepdims=True)
