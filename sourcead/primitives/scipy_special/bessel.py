"""Rules of `scipy.special`: functions of Bessel, Kelvin and Struve, their integrals, and functions related to them.

    y = jv(v, z)     d_z = d_y * (jv(v - 1, z) - jv(v + 1, z)) / 2            likewise yv, hankel1, hankel2
    y = iv(v, z)     d_z = d_y * (iv(v - 1, z) + iv(v + 1, z)) / 2            likewise kv, with the opposite sign
    y = jvp(v, z)    d_z = d_y * jvp(v, z, 2)

The derivatives with respect to the order are not known here.
"""

import math

import numpy as np
from scipy import special

from sourcead.primitives.registry import adjoint, elementwise
from sourcead.primitives.scipy_special import known_in_last
from sourcead.runtime import undefined

ROOT_PI = math.sqrt(math.pi)

known_in_last("the order", {
    special.jv: lambda y, v, z, d_y: d_y * (special.jv(v - 1, z) - special.jv(v + 1, z)) / 2,
    (special.yv, special.yn): lambda y, v, z, d_y: d_y * (special.yv(v - 1, z) - special.yv(v + 1, z)) / 2,
    special.iv: lambda y, v, z, d_y: d_y * (special.iv(v - 1, z) + special.iv(v + 1, z)) / 2,
    (special.kv, special.kn): lambda y, v, z, d_y: -d_y * (special.kv(v - 1, z) + special.kv(v + 1, z)) / 2,
    special.hankel1: lambda y, v, z, d_y: d_y * (special.hankel1(v - 1, z) - special.hankel1(v + 1, z)) / 2,
    special.hankel2: lambda y, v, z, d_y: d_y * (special.hankel2(v - 1, z) - special.hankel2(v + 1, z)) / 2,
    special.hankel1e: lambda y, v, z, d_y: (
        d_y * ((special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) / 2 - 1j * y)
    ),
    special.hankel2e: lambda y, v, z, d_y: (
        d_y * ((special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) / 2 + 1j * y)
    ),
    special.kve: lambda y, v, z, d_y: d_y * (y - (special.kve(v - 1, z) + special.kve(v + 1, z)) / 2),
})


def scaled(f):
    """Return the rule of a Bessel function that is scaled by the exponential of the imaginary part."""

    def rule(y, v, z, d_y):
        if np.iscomplexobj(z):
            raise NotImplementedError("the derivative of special.jve and special.yve of complex numbers, where they are not holomorphic")
        return undefined("the order"), d_y * (f(v - 1, z) - f(v + 1, z)) / 2

    return rule


elementwise({f: scaled(f) for f in (special.jve, special.yve)})


@adjoint(special.ive, broadcasts=True)
def ive_adjoint(y, v, z, d_y):
    if np.iscomplexobj(z):
        raise NotImplementedError("the derivative of special.ive of complex numbers, where it is not holomorphic")
    slope = (special.ive(v - 1, z) + special.ive(v + 1, z)) / 2
    return undefined("the order"), d_y * (slope - np.sign(z) * y)


# ---- derivatives of Bessel functions ----


def next_derivative(f):
    """Return the rule of `f(v, z, n)`, the derivative of order n of a Bessel function."""
    return lambda y, v, z, n=1, d_y=None: (undefined("the order"), d_y * f(v, z, n + 1), None)


elementwise({
    f: next_derivative(f) for f in (special.jvp, special.yvp, special.ivp, special.kvp, special.h1vp, special.h2vp)
})

# ---- fixed orders ----

elementwise({
    special.j0: lambda y, x, d_y: -d_y * special.j1(x),
    special.j1: lambda y, x, d_y: d_y * (special.j0(x) - special.jv(2, x)) / 2,
    special.y0: lambda y, x, d_y: -d_y * special.y1(x),
    special.y1: lambda y, x, d_y: d_y * (special.y0(x) - y / x),
    special.i0: lambda y, x, d_y: d_y * special.i1(x),
    special.i1: lambda y, x, d_y: d_y * (special.i0(x) + special.iv(2, x)) / 2,
    special.i0e: lambda y, x, d_y: d_y * (special.i1e(x) - np.sign(x) * y),
    special.i1e: lambda y, x, d_y: d_y * ((special.i0e(x) + special.ive(2, x)) / 2 - np.sign(x) * y),
    special.k0: lambda y, x, d_y: -d_y * special.k1(x),
    special.k1: lambda y, x, d_y: -d_y * (special.k0(x) + y / x),
    special.k0e: lambda y, x, d_y: d_y * (y - special.k1e(x)),
    special.k1e: lambda y, x, d_y: d_y * (y - special.k0e(x) - y / x),
})

# ---- spherical functions: x**2 w'' + 2 x w' + (x**2 - n (n + 1)) w = 0 ----


def spherical(f, sign):
    """Return the rule of a spherical Bessel function; modified ones, of negative sign, solve the equation at imaginary arguments."""
    return lambda y, n, z, derivative=False, d_y=None: (
        undefined("the order"),
        -d_y * (2 * y / z + (sign - n * (n + 1) / z**2) * f(n, z)) if derivative else d_y * f(n, z, True),
        None,
    )


elementwise({f: spherical(f, 1) for f in (special.spherical_jn, special.spherical_yn)})
elementwise({f: spherical(f, -1) for f in (special.spherical_in, special.spherical_kn)})

# ---- functions of Kelvin and Struve ----


def struve_extra(v, x):
    """Return the inhomogeneous term in the recurrences of Struve's functions."""
    return (x / 2) ** v * special.rgamma(v + 1.5) / ROOT_PI


elementwise({
    special.ber: lambda y, x, d_y: d_y * special.berp(x),
    special.bei: lambda y, x, d_y: d_y * special.beip(x),
    special.ker: lambda y, x, d_y: d_y * special.kerp(x),
    special.kei: lambda y, x, d_y: d_y * special.keip(x),
    special.berp: lambda y, x, d_y: -d_y * (special.bei(x) + y / x),
    special.beip: lambda y, x, d_y: d_y * (special.ber(x) - y / x),
    special.kerp: lambda y, x, d_y: -d_y * (special.kei(x) + y / x),
    special.keip: lambda y, x, d_y: d_y * (special.ker(x) - y / x),
    special.itstruve0: lambda y, x, d_y: d_y * special.struve(0, x),
    special.itmodstruve0: lambda y, x, d_y: d_y * special.modstruve(0, x),
    special.it2struve0: lambda y, x, d_y: -d_y * special.struve(0, x) / x,
})
known_in_last("the order", {
    special.struve: lambda y, v, x, d_y: (
        d_y * (special.struve(v - 1, x) - special.struve(v + 1, x) + struve_extra(v, x)) / 2
    ),
    special.modstruve: lambda y, v, x, d_y: (
        d_y * (special.modstruve(v - 1, x) + special.modstruve(v + 1, x) + struve_extra(v, x)) / 2
    ),
})
known_in_last("its first argument", {
    special.wright_bessel: lambda y, a, b, x, d_y: d_y * special.wright_bessel(a, a + b, x),
})
