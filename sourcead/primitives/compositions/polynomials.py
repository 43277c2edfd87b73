"""Compositions of functions of polynomials, which are rows of coefficients with the highest power first."""

import operator

import numpy as np

from sourcead.primitives.compositions import composed, number_kind, refuse
from sourcead.primitives.registry import enter


def without_zeros(a):
    """Return a row of coefficients without the zeros in front; the last one stays in any case."""
    a = np.atleast_1d(a)
    return np.concatenate((np.trim_zeros(a[:-1], "f"), a[-1:]))


composed({
    np.polymul: lambda a1, a2: np.convolve(without_zeros(a1), without_zeros(a2)),
})


def of_equal_length(a1, a2):
    """Return two rows of coefficients with zeros in front of the shorter one."""
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    n = max(len(a1), len(a2))
    return np.pad(a1, (n - len(a1), 0)), np.pad(a2, (n - len(a2), 0))


composed({
    np.polyadd: lambda a1, a2: operator.add(*of_equal_length(a1, a2)),
    np.polysub: lambda a1, a2: operator.sub(*of_equal_length(a1, a2)),
})


@composed(np.polyder)
def polyder(p, m=1):
    p = np.asarray(p)
    for _ in range(m):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


@composed(np.polyint)
def polyint(p, m=1, k=None):
    p = np.asarray(p)
    if k is not None and (m != 1 or np.ndim(k) != 0):
        refuse("`np.polyint` with several constants of integration: integrate once at a time")
    for _ in range(m):
        p = np.append(p / np.arange(len(p), 0, -1), 0.0 if k is None else k)
    return p


@composed(np.polydiv)
def polydiv(u, v):
    r, v = np.atleast_1d(u) + 0.0, np.atleast_1d(v) + 0.0
    if number_kind(r) == "complex" or number_kind(v) == "complex":
        refuse("`np.polydiv` of complex polynomials")
    m, n = len(r) - 1, len(v) - 1
    q = np.zeros(max(m - n + 1, 1), r.dtype)
    for k in range(m - n + 1):
        q[k] = r[k] / v[0]
        r[k : k + n + 1] = r[k : k + n + 1] - q[k] * v
    return q, r[max(m - n + 1, 0) :] if n > 0 else r[-1:]


@composed(np.poly)
def poly(seq_of_zeros):
    zeros = np.asarray(seq_of_zeros)
    if zeros.ndim != 1 or number_kind(zeros) == "complex":
        refuse("`np.poly` of a matrix or of complex zeros")
    p = np.ones(1, zeros.dtype)
    for zero in zeros:
        p = np.append(p, 0.0) - zero * np.append(0.0, p)
    return p


@composed(np.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None):
    if full:
        refuse("`np.polyfit` with `full=True`")
    x = np.asarray(x) + 0.0
    y = np.asarray(y) + 0.0
    powers = np.vander(x, deg + 1)
    if w is not None:
        w = np.asarray(w) + 0.0
        powers = powers * np.expand_dims(w, 1)
        y = y * w if y.ndim == 1 else y * np.expand_dims(w, 1)
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    if rcond is None:
        rcond = len(x) * 2.220446049250313e-16
    found = np.linalg.lstsq(powers / scale, y, rcond)[0]
    return (found.T / scale).T


# ---- numpy.polynomial: the lowest power first ----


def one_row(c):
    """Return the coefficients of one polynomial."""
    c = np.asarray(c) + 0.0
    if c.ndim != 1:
        refuse("a polynomial of numpy.polynomial with more than one row of coefficients: evaluate one after the other")
    return c


composed({np.polynomial.polynomial.polyval: lambda x, c, tensor=True: np.polyval(one_row(c)[::-1], np.asarray(x))})


@composed(np.polynomial.chebyshev.chebval)
def chebyshev_at(x, c, tensor=True):
    """Evaluate a series by Clenshaw's recurrence, in NumPy's order of operations."""
    x, c = np.asarray(x), one_row(c)
    if len(c) == 1:
        return c[0] + 0 * x
    low, high = c[-2] + 0 * x, c[-1] + 0 * x
    for k in range(3, len(c) + 1):
        low, high = c[-k] - high, low + 2 * x * high
    return low + high * x


@composed(np.polynomial.legendre.legval)
def legendre_at(x, c, tensor=True):
    """Evaluate a series by Clenshaw's recurrence, in NumPy's order of operations."""
    x, c = np.asarray(x), one_row(c)
    n = len(c)
    if n == 1:
        return c[0] + 0 * x
    low, high = c[-2] + 0 * x, c[-1] + 0 * x
    for k in range(3, n + 1):
        degree = n - k + 2
        low, high = c[-k] - high * ((degree - 1) / degree), low + high * x * ((2 * degree - 1) / degree)
    return low + high * x


enter(np.polyadd, np.polysub, np.polymul, np.poly, np.polyfit, memory="fresh")
