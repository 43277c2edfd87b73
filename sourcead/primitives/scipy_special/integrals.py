"""Rules of `scipy.special`: integrals, elliptic and hypergeometric functions, losses, and transforms of data.

    y = exp1(x) = integral of exp(-t) / t from x on        d_x = -d_y * exp(-x) / x
    y = ellipk(m)                                          d_m = d_y * (E(m) / (1 - m) - y) / (2 m)
    y = lambertw(z), y exp(y) = z                          d_z = d_y * exp(-y) / (1 + y)
"""

import math

import numpy as np
from scipy import special

from sourcead.primitives.registry import adjoint, elementwise
from sourcead.primitives.scipy_special import known_in_last
from sourcead.runtime import divide_or_zero, undefined

ROOT_PI = math.sqrt(math.pi)
ROOT_2 = math.sqrt(2)
ROOT_2_PI = math.sqrt(2 * math.pi)

elementwise({
    special.dawsn: lambda y, x, d_y: d_y * (1 - 2 * x * y),
    special.erfi: lambda y, x, d_y: d_y * 2 / ROOT_PI * np.exp(x * x),
    special.erfcinv: lambda y, x, d_y: -d_y * ROOT_PI / 2 * np.exp(y * y),
    special.wofz: lambda y, z, d_y: d_y * (2j / ROOT_PI - 2 * z * y),
    special.exp1: lambda y, x, d_y: -d_y * np.exp(-x) / x,
    special.expi: lambda y, x, d_y: d_y * np.exp(x) / x,
    special.spence: lambda y, x, d_y: -d_y * np.where(x == 1, 1, special.log1p(x - 1) / np.where(x == 1, 1, x - 1)),
    special.lambertw: lambda y, z, k=0, d_y=None: (d_y * np.exp(-y) / (1 + y), None),
    special.wrightomega: lambda y, z, d_y: d_y * y / (1 + y),
    special.zeta: lambda y, x, q=None, d_y=None: (
        undefined("its first argument"), None if q is None else -d_y * x * special.zeta(x + 1, q)
    ),
    special.owens_t: lambda y, h, a, d_y: (
        -d_y * special.erf(a * h / ROOT_2) * np.exp(-h * h / 2) / (2 * ROOT_2_PI),
        d_y * np.exp(-h * h * (1 + a * a) / 2) / (2 * math.pi * (1 + a * a)),
    ),
})
known_in_last("the order", {
    special.expn: lambda y, n, x, d_y: (
        -d_y * np.where(n == 0, np.exp(-x) * (x + 1) / x**2, special.expn(np.maximum(n - 1, 0), x))
    ),
})


@adjoint(special.voigt_profile, broadcasts=True)
def voigt_profile_adjoint(y, x, sigma, gamma, d_y):
    z = (x + 1j * gamma) / (sigma * ROOT_2)
    slope = (2j / ROOT_PI - 2 * z * special.wofz(z)) / (sigma * ROOT_2_PI)
    d_x = d_y * np.real(slope) / (sigma * ROOT_2)
    return d_x, -d_y * (y + np.real(slope * z)) / sigma, -d_y * np.imag(slope) / (sigma * ROOT_2)


# ---- elliptic and hypergeometric functions ----

elementwise({
    special.ellipk: lambda y, m, d_y: (
        d_y * np.where(m == 0, math.pi / 8, (special.ellipe(m) / (1 - m) - y) / np.where(m == 0, 1, 2 * m))
    ),
    special.ellipkm1: lambda y, p, d_y: (
        -d_y * np.where(p == 1, math.pi / 8, (special.ellipe(1 - p) / p - y) / np.where(p == 1, 1, 2 * (1 - p)))
    ),
    special.ellipe: lambda y, m, d_y: (
        d_y * np.where(m == 0, -math.pi / 8, (y - special.ellipk(m)) / np.where(m == 0, 1, 2 * m))
    ),
    special.ellipeinc: lambda y, phi, m, d_y: (
        d_y * np.sqrt(1 - m * np.sin(phi) ** 2), d_y * (y - special.ellipkinc(phi, m)) / (2 * m)
    ),
})
known_in_last("its first argument", {
    special.hyp0f1: lambda y, v, z, d_y: d_y * special.hyp0f1(v + 1, z) / v,
    special.hyp1f1: lambda y, a, b, x, d_y: d_y * a / b * special.hyp1f1(a + 1, b + 1, x),
    special.hyp2f1: lambda y, a, b, c, z, d_y: d_y * a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z),
    special.hyperu: lambda y, a, b, x, d_y: -d_y * a * special.hyperu(a + 1, b + 1, x),
})


@adjoint(special.ellipkinc, broadcasts=True)
def ellipkinc_adjoint(y, phi, m, d_y):
    root = np.sqrt(1 - m * np.sin(phi) ** 2)
    slope = (special.ellipeinc(phi, m) / (1 - m) - y) / (2 * m) - np.sin(2 * phi) / (4 * (1 - m) * root)
    return d_y / root, d_y * slope


@adjoint(special.elliprf, broadcasts=True)
def elliprf_adjoint(y, a, b, c, d_y):
    d = -d_y / 6
    return d * special.elliprd(b, c, a), d * special.elliprd(a, c, b), d * special.elliprd(a, b, c)


# ---- losses and transforms of data ----


@adjoint(special.huber, broadcasts=True)
def huber_adjoint(y, delta, r, d_y):
    far = np.abs(r) > delta
    return d_y * np.where(far, np.abs(r) - delta, 0), d_y * np.where(far, delta * np.sign(r), r)


@adjoint(special.pseudo_huber, broadcasts=True)
def pseudo_huber_adjoint(y, delta, r, d_y):
    root = np.hypot(delta, r)
    return d_y * (2 * divide_or_zero(y, delta) - divide_or_zero(r * r, root)), d_y * divide_or_zero(delta * r, root)


def boxcox_slope(log, y, lmbda):
    """Return the derivative of a Box-Cox transform `y` with respect to `lmbda`, given the logarithm of the transformed number."""
    return np.where(lmbda == 0, log * log / 2, ((1 + lmbda * y) * log - y) / np.where(lmbda == 0, 1, lmbda))


def inverse_boxcox_slope(x, lmbda):
    """Return the derivative of the logarithm of an inverse Box-Cox transform with respect to `lmbda`."""
    safe = np.where(lmbda == 0, 1, lmbda)
    return np.where(lmbda == 0, -x * x / 2, (x / (1 + lmbda * x) - np.log1p(lmbda * x) / safe) / safe)


elementwise({
    special.boxcox: lambda y, x, lmbda, d_y: (d_y * x ** (lmbda - 1), d_y * boxcox_slope(np.log(x), y, lmbda)),
    special.boxcox1p: lambda y, x, lmbda, d_y: (d_y * (1 + x) ** (lmbda - 1), d_y * boxcox_slope(np.log1p(x), y, lmbda)),
    special.inv_boxcox: lambda y, x, lmbda, d_y: (d_y * y / (1 + lmbda * x), d_y * y * inverse_boxcox_slope(x, lmbda)),
    special.inv_boxcox1p: lambda y, x, lmbda, d_y: (
        d_y * (1 + y) / (1 + lmbda * x), d_y * (1 + y) * inverse_boxcox_slope(x, lmbda)
    ),
})
