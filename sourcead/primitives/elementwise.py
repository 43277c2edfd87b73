"""Rules of functions that work element by element: y = f(x), d_x = d_y * f'(x).

Where f' is a function of y, the rule computes it from y, which is known already.  At kinks, `abs` has the slope 0 at 0; two equal
arguments of `maximum` share the cotangent equally, and so do an argument of `clip` and the bound that it is equal to.

The `math` module shares the rules in EXPONENTIALS and TRIGONOMETRY (see `scalars`).
"""

import math

import numpy as np

from sourcead.primitives.registry import adjoint, adjoints, elementwise, enter, family, linear, tangent, tangents
from sourcead.runtime import binary_exponent, divide_or_zero, sigmoid, sinc_slope

family(__name__, memory="fresh")

LN2 = math.log(2)
LN10 = math.log(10)
DEGREE = math.pi / 180

# ---- exponentials and logarithms ----


def share_of_exp(y, a, b):
    """Return exp(a) / (exp(a) + exp(b)), for y = logaddexp(a, b); a softplus need not be known for its sigmoid, which is cheaper."""
    return sigmoid(a - b) if isinstance(a, (int, float)) or isinstance(b, (int, float)) else np.exp(a - y)


EXPONENTIALS = elementwise({
    np.exp: lambda y, x, d_y: d_y * y,
    np.exp2: lambda y, x, d_y: d_y * y * LN2,
    np.expm1: lambda y, x, d_y: d_y * (y + 1),
    np.log: lambda y, x, d_y: d_y / x,
    np.log2: lambda y, x, d_y: d_y / (x * LN2),
    np.log10: lambda y, x, d_y: d_y / (x * LN10),
    np.log1p: lambda y, x, d_y: d_y / (1 + x),
    np.logaddexp: lambda y, a, b, d_y: (d_y * share_of_exp(y, a, b), d_y * share_of_exp(y, b, a)),
    np.logaddexp2: lambda y, a, b, d_y: (d_y * np.exp2(a - y), d_y * np.exp2(b - y)),
    np.sqrt: lambda y, x, d_y: d_y / (2 * y),
    np.cbrt: lambda y, x, d_y: d_y / (3 * y * y),
})

# ---- trigonometry ----

TRIGONOMETRY = elementwise({
    np.sin: lambda y, x, d_y: d_y * np.cos(x),
    np.cos: lambda y, x, d_y: -d_y * np.sin(x),
    np.tan: lambda y, x, d_y: d_y * (1 + y * y),
    np.arcsin: lambda y, x, d_y: d_y / np.sqrt(1 - x * x),
    np.arccos: lambda y, x, d_y: -d_y / np.sqrt(1 - x * x),
    np.arctan: lambda y, x, d_y: d_y / (1 + x * x),
    np.arctan2: lambda y, a, b, d_y: (d_y / (a * a + b * b) * b, -(d_y / (a * a + b * b)) * a),
    np.sinc: lambda y, x, d_y: d_y * sinc_slope(x, y),
    np.deg2rad: lambda y, x, d_y: d_y * DEGREE,
    np.radians: lambda y, x, d_y: d_y * DEGREE,
    np.rad2deg: lambda y, x, d_y: d_y / DEGREE,
    np.degrees: lambda y, x, d_y: d_y / DEGREE,
    np.sinh: lambda y, x, d_y: d_y * np.cosh(x),
    np.cosh: lambda y, x, d_y: d_y * np.sinh(x),
    np.tanh: lambda y, x, d_y: d_y * (1 - y * y),
    np.arcsinh: lambda y, x, d_y: d_y / np.sqrt(x * x + 1),
    np.arccosh: lambda y, x, d_y: d_y / np.sqrt(x * x - 1),
    np.arctanh: lambda y, x, d_y: d_y / (1 - x * x),
})


@adjoint(np.hypot, broadcasts=True)
def hypot_adjoint(y, a, b, d_y):
    d_ratio = divide_or_zero(d_y, y)
    return d_ratio * a, d_ratio * b


# ---- choosing ----


def extreme(wins):
    """Return the rule of the choice between two numbers of the one that `wins(number, other)`."""

    def rule(y, a, b, d_y):
        tie = d_y / 2 * (a == b)
        return d_y * wins(a, b) + tie, d_y * wins(b, a) + tie

    return rule


elementwise({
    np.maximum: extreme(lambda a, b: a > b),
    np.minimum: extreme(lambda a, b: a < b),
    np.fmax: extreme(lambda a, b: (a > b) | (b != b)),
    np.fmin: extreme(lambda a, b: (a < b) | (b != b)),
})


@adjoint(np.clip, broadcasts=True)
def clip_adjoint(y, a, a_min=None, a_max=None, d_y=None):
    if a_max is None:
        at_min = d_y / 2 * (a == a_min)
        return d_y * (a > a_min) + at_min, d_y * (a < a_min) + at_min, None
    if a_min is None:
        at_max = d_y / 2 * (a == a_max)
        return d_y * (a < a_max) + at_max, None, d_y * (a > a_max) + at_max
    ordered = a_min <= a_max  # else `y = a_max` everywhere
    at_min = d_y / 2 * ((a == a_min) & (a_min < a_max))
    at_max = d_y / 2 * ((a == a_max) & ordered)
    inside = d_y * ((a_min < a) & (a < a_max)) + at_min + at_max
    return inside, d_y * ((a < a_min) & ordered) + at_min, d_y * ((a > a_max) | np.logical_not(ordered)) + at_max


def sign(x):
    """Return `np.sign(x)`, which NumPy does not have for truth values: an argument may be one on some paths."""
    return x * 1.0 if isinstance(x, (bool, np.bool_)) else np.sign(x)


elementwise({
    np.where: lambda y, condition, a, b, d_y: (None, np.where(condition, d_y, 0), np.where(condition, 0, d_y)),
    np.nan_to_num: lambda y, x, d_y, copy=True, nan=0.0, posinf=None, neginf=None: d_y * np.isfinite(x),
    np.fabs: lambda y, x, d_y: d_y * sign(x),
    (np.abs, abs): lambda y, x, d_y: d_y * (divide_or_zero(np.conj(x), y) if np.iscomplexobj(x) else sign(x)),
    np.copysign: lambda y, a, b, d_y: (d_y * sign(a) * np.copysign(1, b), None),
    (np.nextafter, math.nextafter): lambda y, a, towards, d_y: (d_y, None),  # the result moves with `a`
    np.heaviside: lambda y, x, at_zero, d_y: (None, d_y * (x == 0)),
    np.ldexp: lambda y, x, exponent, d_y: (np.ldexp(d_y, exponent), None),
})

linear(np.where)
tangents({
    (np.abs, abs): lambda y, x, t_x: (
        np.real(divide_or_zero(np.conj(x), y) * t_x) if np.iscomplexobj(x) else sign(x) * t_x
    ),
})


# ---- mantissas and exponents: x = y[0] * 2**y[1] ----

adjoints({np.frexp: lambda y, x, d_y: d_y[0] * np.ldexp(1.0, -binary_exponent(x))})
tangents({np.frexp: lambda y, x, t_x: (t_x * np.ldexp(1.0, -binary_exponent(x)), np.zeros(np.shape(x)))})

# ---- complex numbers: d_z = dL/da - i dL/db for z = a + i b, as in JAX ----


def real_if_real(d, x):
    """Return the real part of a cotangent or tangent `d` if `x` is real, and all of `d` if `x` is complex."""
    return d if np.iscomplexobj(x) else np.real(d)


elementwise({
    np.conjugate: lambda y, z, d_y: np.conj(d_y),
    np.real: lambda y, z, d_y: np.real(d_y),
    np.imag: lambda y, z, d_y: -1j * np.real(d_y) if np.iscomplexobj(z) else np.zeros_like(d_y),
})
linear(np.conjugate, np.real, np.imag)


@adjoint(np.angle, broadcasts=True)
def angle_adjoint(y, z, d_y, deg=False):
    if deg:
        d_y = d_y / DEGREE
    if np.iscomplexobj(z):
        return -1j * d_y / z
    return np.zeros_like(d_y)


@tangent(np.angle)
def angle_tangent(y, z, t_z, deg=False):
    if not np.iscomplexobj(z):
        return np.zeros_like(t_z)
    return np.imag(t_z / z) / DEGREE if deg else np.imag(t_z / z)

# ---- memory, order and forms ----

enter(np.where, elementwise=True, operands=3, order="keeps")
enter(np.clip, elementwise=True, order="keeps")
enter(np.sinc, np.nan_to_num, np.round, np.around, np.real, np.imag, np.angle, np.fix, np.i0, elementwise=True, operands=1)
enter(np.isreal, np.iscomplex, np.isposinf, np.isneginf, elementwise=True, operands=1, boolean=True)
enter(np.isclose, elementwise=True, operands=2, boolean=True)
enter(np.round, np.nan_to_num, np.real, order="keeps")
enter(np.nan_to_num, memory=lambda count, options: "fresh" if count == 1 and "copy" not in options else "shared")
enter(np.real, memory="shared", view="same")
enter(np.imag, memory="shared", view="maybe")
enter(np.where, np.real, np.imag, np.conjugate, np.abs, cheap=True)
