"""Elementwise functions: y = f(x), d_x = d_y * f'(x).

Where f' can be said in terms of y it is, so that the function is not computed twice. At the edge: abs has slope 0 at 0;
the greater (or less) of two equal values shares the cotangent equally, and so do clip's bounds.
"""

import math

import numpy as np

from sourcead.primitives.registry import adjoint, linear, tangent
from sourcead.runtime import divide_or_zero, sinc_slope

LN2 = math.log(2)
LN10 = math.log(10)
DEGREE = math.pi / 180

# ---- exponentials and logarithms ----


@adjoint(np.exp, broadcasts=True)
def _(y, x, d_y):
    return d_y * y


@adjoint(np.exp2, broadcasts=True)
def _(y, x, d_y):
    return d_y * y * LN2


@adjoint(np.expm1, broadcasts=True)
def _(y, x, d_y):
    return d_y * (y + 1)


@adjoint(np.log, broadcasts=True)
def _(y, x, d_y):
    return d_y / x


@adjoint(np.log2, broadcasts=True)
def _(y, x, d_y):
    return d_y / (x * LN2)


@adjoint(np.log10, broadcasts=True)
def _(y, x, d_y):
    return d_y / (x * LN10)


@adjoint(np.log1p, broadcasts=True)
def _(y, x, d_y):
    return d_y / (1 + x)


@adjoint(np.logaddexp, broadcasts=True)
def _(y, a, b, d_y):
    return d_y * np.exp(a - y), d_y * np.exp(b - y)


@adjoint(np.logaddexp2, broadcasts=True)
def _(y, a, b, d_y):
    return d_y * np.exp2(a - y), d_y * np.exp2(b - y)


@adjoint(np.sqrt, broadcasts=True)
def _(y, x, d_y):
    return d_y / (2 * y)


@adjoint(np.cbrt, broadcasts=True)
def _(y, x, d_y):
    return d_y / (3 * y * y)


# ---- trigonometry ----


@adjoint(np.sin, broadcasts=True)
def _(y, x, d_y):
    return d_y * np.cos(x)


@adjoint(np.cos, broadcasts=True)
def _(y, x, d_y):
    return -d_y * np.sin(x)


@adjoint(np.tan, broadcasts=True)
def _(y, x, d_y):
    return d_y * (1 + y * y)


@adjoint(np.arcsin, broadcasts=True)
def _(y, x, d_y):
    return d_y / np.sqrt(1 - x * x)


@adjoint(np.arccos, broadcasts=True)
def _(y, x, d_y):
    return -d_y / np.sqrt(1 - x * x)


@adjoint(np.arctan, broadcasts=True)
def _(y, x, d_y):
    return d_y / (1 + x * x)


@adjoint(np.arctan2, broadcasts=True)
def _(y, a, b, d_y):
    d_squared = d_y / (a * a + b * b)
    return d_squared * b, -d_squared * a


@adjoint(np.hypot, broadcasts=True)
def _(y, a, b, d_y):
    d_ratio = divide_or_zero(d_y, y)
    return d_ratio * a, d_ratio * b


@adjoint(np.sinc, broadcasts=True)
def _(y, x, d_y):
    return d_y * sinc_slope(x, y)


@adjoint(np.deg2rad, np.radians, broadcasts=True)
def _(y, x, d_y):
    return d_y * DEGREE


@adjoint(np.rad2deg, np.degrees, broadcasts=True)
def _(y, x, d_y):
    return d_y / DEGREE


@adjoint(np.sinh, broadcasts=True)
def _(y, x, d_y):
    return d_y * np.cosh(x)


@adjoint(np.cosh, broadcasts=True)
def _(y, x, d_y):
    return d_y * np.sinh(x)


@adjoint(np.tanh, broadcasts=True)
def _(y, x, d_y):
    return d_y * (1 - y * y)


@adjoint(np.arcsinh, broadcasts=True)
def _(y, x, d_y):
    return d_y / np.sqrt(x * x + 1)


@adjoint(np.arccosh, broadcasts=True)
def _(y, x, d_y):
    return d_y / np.sqrt(x * x - 1)


@adjoint(np.arctanh, broadcasts=True)
def _(y, x, d_y):
    return d_y / (1 - x * x)


# ---- choosing ----


@adjoint(np.maximum, broadcasts=True)
def _(y, a, b, d_y):
    tie = d_y / 2 * (a == b)
    return d_y * (a > b) + tie, d_y * (b > a) + tie


@adjoint(np.minimum, broadcasts=True)
def _(y, a, b, d_y):
    tie = d_y / 2 * (a == b)
    return d_y * (a < b) + tie, d_y * (b < a) + tie


@adjoint(np.fmax, broadcasts=True)
def _(y, a, b, d_y):
    tie = d_y / 2 * (a == b)
    return d_y * ((a > b) | (b != b)) + tie, d_y * ((b > a) | (a != a)) + tie


@adjoint(np.fmin, broadcasts=True)
def _(y, a, b, d_y):
    tie = d_y / 2 * (a == b)
    return d_y * ((a < b) | (b != b)) + tie, d_y * ((b < a) | (a != a)) + tie


@adjoint(np.clip, broadcasts=True)
def clip_adjoint(y, a, a_min=None, a_max=None, d_y=None):
    if a_max is None:
        at_min = d_y / 2 * (a == a_min)
        return d_y * (a > a_min) + at_min, d_y * (a < a_min) + at_min, None
    if a_min is None:
        at_max = d_y / 2 * (a == a_max)
        return d_y * (a < a_max) + at_max, None, d_y * (a > a_max) + at_max
    at_min = d_y / 2 * (a == a_min)
    at_max = d_y / 2 * (a == a_max)
    inside = d_y * ((a_min < a) & (a < a_max)) + at_min + at_max
    return inside, d_y * (a < a_min) + at_min, d_y * (a > a_max) + at_max


@adjoint(np.where, broadcasts=True)
def _(y, condition, a, b, d_y):
    return None, np.where(condition, d_y, 0), np.where(condition, 0, d_y)


linear(np.where)


@adjoint(np.nan_to_num, broadcasts=True)
def _(y, x, d_y, copy=True, nan=0.0, posinf=None, neginf=None):
    return d_y * np.isfinite(x)


@adjoint(np.abs, abs, broadcasts=True)
def abs_adjoint(y, x, d_y):
    if np.iscomplexobj(x):
        return d_y * divide_or_zero(np.conj(x), y)
    return d_y * np.sign(x)


@tangent(np.abs, abs)
def abs_tangent(y, x, t_x):
    if np.iscomplexobj(x):
        return np.real(divide_or_zero(np.conj(x), y) * t_x)
    return np.sign(x) * t_x


@adjoint(np.fabs, broadcasts=True)
def _(y, x, d_y):
    return d_y * np.sign(x)


@adjoint(np.copysign, broadcasts=True)
def _(y, a, b, d_y):
    return d_y * np.sign(a) * np.copysign(1, b), None


@adjoint(np.nextafter, math.nextafter, broadcasts=True)
def _(y, a, towards, d_y):  # the number beside `a` moves with it
    return d_y, None


@adjoint(np.heaviside, broadcasts=True)
def _(y, x, at_zero, d_y):
    return None, d_y * (x == 0)


@adjoint(np.ldexp, broadcasts=True)
def _(y, x, exponent, d_y):
    return np.ldexp(d_y, exponent), None


# ---- complex numbers: d_z = dL/da - i dL/db for z = a + i b, as in JAX ----


@adjoint(np.conjugate, broadcasts=True)
def _(y, z, d_y):
    return np.conj(d_y)


@adjoint(np.real, broadcasts=True)
def _(y, z, d_y):
    return np.real(d_y)


@adjoint(np.imag, broadcasts=True)
def imag_adjoint(y, z, d_y):
    if np.iscomplexobj(z):
        return -1j * np.real(d_y)
    return np.zeros_like(d_y)


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
    if deg:
        return np.imag(t_z / z) / DEGREE
    return np.imag(t_z / z)
