"""Rules of `scipy.special`: functions of one number with several results.

    ai, aip, bi, bip = airy(z)       ai' = aip,  aip' = z ai
    s, c = sici(x)                   s' = sin(x) / x,  c' = cos(x) / x

    d_x = sum over the results of d_y[k] * slope[k],        t_y[k] = t_x * slope[k]
"""

import math

import numpy as np
from scipy import special

from sourcead.primitives.registry import adjoint, adjoints, in_both_modes, tangent, tangents
from sourcead.runtime import unbroadcast, undefined


def total(terms):
    """Return the sum of the terms of a tuple."""
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def by_terms(terms) -> tuple:
    """Return the adjoint and the tangent rule of a function of one number, from the product of each d[k] and the slope of y[k]."""
    return lambda y, x, d_y: total(terms(y, x, d_y)), lambda y, x, t_x: terms(y, x, (t_x, t_x, t_x, t_x))


in_both_modes({function: by_terms(terms) for function, terms in {
    special.airy: lambda y, z, d: (d[0] * y[1], d[1] * z * y[0], d[2] * y[3], d[3] * z * y[2]),
    special.sici: lambda y, x, d: (d[0] * np.sinc(x / math.pi), d[1] * (np.cos(x) / x)),
    special.shichi: lambda y, x, d: (d[0] * np.where(x == 0, 1, np.sinh(x) / np.where(x == 0, 1, x)), d[1] * (np.cosh(x) / x)),
    special.fresnel: lambda y, x, d: (d[0] * np.sin(math.pi * x * x / 2), d[1] * np.cos(math.pi * x * x / 2)),
    special.iti0k0: lambda y, x, d: (d[0] * special.i0(x), d[1] * special.k0(x)),
    special.itj0y0: lambda y, x, d: (d[0] * special.j0(x), d[1] * special.y0(x)),
    special.it2i0k0: lambda y, x, d: (d[0] * ((special.i0(x) - 1) / x), d[1] * (-special.k0(x) / x)),
    special.it2j0y0: lambda y, x, d: (d[0] * ((1 - special.j0(x)) / x), d[1] * (-special.y0(x) / x)),
    special.itairy: lambda y, x, d: (
        d[0] * special.airy(x)[0], d[1] * special.airy(x)[2], d[2] * special.airy(-x)[0], d[3] * special.airy(-x)[2]
    ),
}.items()})

# ---- functions that take an order or a parameter too ----


@adjoint(special.ellipj)
def ellipj_adjoint(y, u, m, d_y):
    sn, cn, dn = y[0], y[1], y[2]
    d_u = d_y[0] * cn * dn - d_y[1] * sn * dn - d_y[2] * m * sn * cn + d_y[3] * dn
    return unbroadcast(d_u, u), undefined("the parameter m")


@tangent(special.ellipj)
def ellipj_tangent(y, u, m, t_u):
    sn, cn, dn = y[0], y[1], y[2]
    return t_u * cn * dn, -t_u * sn * dn, -t_u * m * sn * cn, t_u * dn


adjoints({
    (special.pbdv, special.pbvv): lambda y, v, x, d_y: (
        undefined("the order"), unbroadcast(d_y[0] * y[1] + d_y[1] * (x * x / 4 - v - 0.5) * y[0], x)
    ),
    special.pbwa: lambda y, a, x, d_y: (
        undefined("its first argument"), unbroadcast(d_y[0] * y[1] + d_y[1] * (a - x * x / 4) * y[0], x)
    ),
})
tangents({
    (special.pbdv, special.pbvv): lambda y, v, x, t_x: (t_x * y[1], t_x * (x * x / 4 - v - 0.5) * y[0]),
    special.pbwa: lambda y, a, x, t_x: (t_x * y[1], t_x * (a - x * x / 4) * y[0]),
})
