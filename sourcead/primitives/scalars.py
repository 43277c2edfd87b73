"""The `math` module: the rules of the elementwise functions, said with `math` so that Python floats stay such."""

import math

import numpy as np

from sourcead.primitives.registry import adjoint, adjoints, elementwise, tangents
from sourcead.runtime import digamma, divide_or_zero, log_or_zero, lower_exponent

LN2 = math.log(2)
LN10 = math.log(10)
DEGREE = math.pi / 180
TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)

elementwise({
    math.exp: lambda y, x, d_y: d_y * y,
    math.expm1: lambda y, x, d_y: d_y * (y + 1),
    math.log2: lambda y, x, d_y: d_y / (x * LN2),
    math.log10: lambda y, x, d_y: d_y / (x * LN10),
    math.log1p: lambda y, x, d_y: d_y / (1 + x),
    math.sqrt: lambda y, x, d_y: np.divide(d_y, 2 * y),  # inf at 0, where Python would raise
    math.pow: lambda y, a, b, d_y: (b * d_y * a ** lower_exponent(b, a), d_y * y * log_or_zero(a)),
    math.sin: lambda y, x, d_y: d_y * math.cos(x),
    math.cos: lambda y, x, d_y: -d_y * math.sin(x),
    math.tan: lambda y, x, d_y: d_y * (1 + y * y),
    math.asin: lambda y, x, d_y: d_y / math.sqrt(1 - x * x),
    math.acos: lambda y, x, d_y: -d_y / math.sqrt(1 - x * x),
    math.atan: lambda y, x, d_y: d_y / (1 + x * x),
    math.sinh: lambda y, x, d_y: d_y * math.cosh(x),
    math.cosh: lambda y, x, d_y: d_y * math.sinh(x),
    math.tanh: lambda y, x, d_y: d_y * (1 - y * y),
    math.asinh: lambda y, x, d_y: d_y / math.sqrt(x * x + 1),
    math.acosh: lambda y, x, d_y: d_y / math.sqrt(x * x - 1),
    math.atanh: lambda y, x, d_y: d_y / (1 - x * x),
    math.fabs: lambda y, x, d_y: d_y * np.sign(x),
    math.fmod: lambda y, a, b, d_y: (d_y, -d_y * math.trunc(a / b)),
    math.radians: lambda y, x, d_y: d_y * DEGREE,
    math.degrees: lambda y, x, d_y: d_y / DEGREE,
    math.copysign: lambda y, a, b, d_y: (d_y * np.sign(a) * math.copysign(1, b), None),
    math.erf: lambda y, x, d_y: d_y * TWO_OVER_SQRT_PI * math.exp(-x * x),
    math.erfc: lambda y, x, d_y: -d_y * TWO_OVER_SQRT_PI * math.exp(-x * x),
    math.gamma: lambda y, x, d_y: d_y * y * digamma(x),
    math.lgamma: lambda y, x, d_y: d_y * digamma(x),
    math.ldexp: lambda y, x, i, d_y: (d_y * 2.0**i, None),
})

if hasattr(math, "exp2"):  # Python 3.11
    elementwise({
        math.exp2: lambda y, x, d_y: d_y * y * LN2,
    })

if hasattr(math, "cbrt"):  # Python 3.11
    elementwise({
        math.cbrt: lambda y, x, d_y: d_y / (3 * y * y),
    })


@adjoint(math.log, broadcasts=True)
def log_adjoint(y, x, base=None, d_y=None):
    if base is None:
        return d_y / x, None
    return d_y / (x * math.log(base)), -d_y * y / (base * math.log(base))


@adjoint(math.atan2, broadcasts=True)
def _(y, a, b, d_y):
    d_squared = d_y / (a * a + b * b)
    return d_squared * b, -d_squared * a


@adjoint(math.hypot)
def hypot_adjoint(y, *xs, d_y):
    d_ratio = divide_or_zero(d_y, y)
    return tuple(d_ratio * x for x in xs)


tangents({
    math.hypot: lambda y, *xs, t_xs: divide_or_zero(sum(t * x for t, x in zip(t_xs, xs)), y),
    math.fsum: lambda y, xs, t_xs: math.fsum(t_xs),
    math.modf: lambda y, x, t_x: (t_x, 0.0),
    math.frexp: lambda y, x, t_x: (math.ldexp(t_x, -math.frexp(x)[1]), 0.0),
})

adjoints({
    math.fsum: lambda y, xs, d_y: [d_y for _ in xs],
    math.modf: lambda y, x, d_y: d_y[0],
    math.frexp: lambda y, x, d_y: math.ldexp(d_y[0], -math.frexp(x)[1]),
})
