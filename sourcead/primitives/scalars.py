"""The `math` module: the rules of the elementwise functions, said with `math` so that Python floats stay such."""

import math

import numpy as np

from sourcead.primitives.registry import adjoint, tangent
from sourcead.runtime import digamma, divide_or_zero, log_or_zero, lower_exponent

LN2 = math.log(2)
LN10 = math.log(10)
DEGREE = math.pi / 180
TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)


@adjoint(math.exp, broadcasts=True)
def _(y, x, d_y):
    return d_y * y


if hasattr(math, "exp2"):  # Python 3.11

    @adjoint(math.exp2, broadcasts=True)
    def _(y, x, d_y):
        return d_y * y * LN2


if hasattr(math, "cbrt"):  # Python 3.11

    @adjoint(math.cbrt, broadcasts=True)
    def _(y, x, d_y):
        return d_y / (3 * y * y)


@adjoint(math.expm1, broadcasts=True)
def _(y, x, d_y):
    return d_y * (y + 1)


@adjoint(math.log, broadcasts=True)
def log_adjoint(y, x, base=None, d_y=None):
    if base is None:
        return d_y / x, None
    return d_y / (x * math.log(base)), -d_y * y / (base * math.log(base))


@adjoint(math.log2, broadcasts=True)
def _(y, x, d_y):
    return d_y / (x * LN2)


@adjoint(math.log10, broadcasts=True)
def _(y, x, d_y):
    return d_y / (x * LN10)


@adjoint(math.log1p, broadcasts=True)
def _(y, x, d_y):
    return d_y / (1 + x)


@adjoint(math.sqrt, broadcasts=True)
def _(y, x, d_y):
    return np.divide(d_y, 2 * y)  # inf at 0, where Python would raise


@adjoint(math.pow, broadcasts=True)
def _(y, a, b, d_y):
    return b * d_y * a ** lower_exponent(b, a), d_y * y * log_or_zero(a)


@adjoint(math.sin, broadcasts=True)
def _(y, x, d_y):
    return d_y * math.cos(x)


@adjoint(math.cos, broadcasts=True)
def _(y, x, d_y):
    return -d_y * math.sin(x)


@adjoint(math.tan, broadcasts=True)
def _(y, x, d_y):
    return d_y * (1 + y * y)


@adjoint(math.asin, broadcasts=True)
def _(y, x, d_y):
    return d_y / math.sqrt(1 - x * x)


@adjoint(math.acos, broadcasts=True)
def _(y, x, d_y):
    return -d_y / math.sqrt(1 - x * x)


@adjoint(math.atan, broadcasts=True)
def _(y, x, d_y):
    return d_y / (1 + x * x)


@adjoint(math.atan2, broadcasts=True)
def _(y, a, b, d_y):
    d_squared = d_y / (a * a + b * b)
    return d_squared * b, -d_squared * a


@adjoint(math.sinh, broadcasts=True)
def _(y, x, d_y):
    return d_y * math.cosh(x)


@adjoint(math.cosh, broadcasts=True)
def _(y, x, d_y):
    return d_y * math.sinh(x)


@adjoint(math.tanh, broadcasts=True)
def _(y, x, d_y):
    return d_y * (1 - y * y)


@adjoint(math.asinh, broadcasts=True)
def _(y, x, d_y):
    return d_y / math.sqrt(x * x + 1)


@adjoint(math.acosh, broadcasts=True)
def _(y, x, d_y):
    return d_y / math.sqrt(x * x - 1)


@adjoint(math.atanh, broadcasts=True)
def _(y, x, d_y):
    return d_y / (1 - x * x)


@adjoint(math.fabs, broadcasts=True)
def _(y, x, d_y):
    return d_y * np.sign(x)


@adjoint(math.hypot)
def hypot_adjoint(y, *xs, d_y):
    d_ratio = divide_or_zero(d_y, y)
    return tuple(d_ratio * x for x in xs)


@tangent(math.hypot)
def hypot_tangent(y, *xs, t_xs):
    return divide_or_zero(sum(t * x for t, x in zip(t_xs, xs)), y)


@adjoint(math.fmod, broadcasts=True)
def _(y, a, b, d_y):
    return d_y, -d_y * math.trunc(a / b)


@adjoint(math.radians, broadcasts=True)
def _(y, x, d_y):
    return d_y * DEGREE


@adjoint(math.degrees, broadcasts=True)
def _(y, x, d_y):
    return d_y / DEGREE


@adjoint(math.copysign, broadcasts=True)
def _(y, a, b, d_y):
    return d_y * np.sign(a) * math.copysign(1, b), None


@adjoint(math.erf, broadcasts=True)
def _(y, x, d_y):
    return d_y * TWO_OVER_SQRT_PI * math.exp(-x * x)


@adjoint(math.erfc, broadcasts=True)
def _(y, x, d_y):
    return -d_y * TWO_OVER_SQRT_PI * math.exp(-x * x)


@adjoint(math.fsum)
def fsum_adjoint(y, xs, d_y):
    return [d_y for _ in xs]


@tangent(math.fsum)
def _(y, xs, t_xs):
    return math.fsum(t_xs)


@adjoint(math.gamma, broadcasts=True)
def _(y, x, d_y):
    return d_y * y * digamma(x)


@adjoint(math.lgamma, broadcasts=True)
def _(y, x, d_y):
    return d_y * digamma(x)


@adjoint(math.ldexp, broadcasts=True)
def _(y, x, i, d_y):
    return d_y * 2.0**i, None


@adjoint(math.modf)
def _(y, x, d_y):
    return d_y[0]


@tangent(math.modf)
def _(y, x, t_x):
    return t_x, 0.0


@adjoint(math.frexp)
def _(y, x, d_y):
    return math.ldexp(d_y[0], -math.frexp(x)[1])


@tangent(math.frexp)
def _(y, x, t_x):
    return math.ldexp(t_x, -math.frexp(x)[1]), 0.0
