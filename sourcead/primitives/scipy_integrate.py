"""Compositions of `scipy.integrate.simpson`, and of `quad`: the integral as a sum over intervals that are halved until two sums agree.

    integral of f over [a, b]  =  (b - a) * sum_k w_k f(a + (b - a) u_k)

The derivative is that of the sum, whose intervals are found by what is integrated; over an infinite interval x is (1 - u) / u. Where a jump
lies counts for an integral and not for a sum, so what jumps is refused in the run: no interval around a jump is short enough. SciPy's own
sums take other points, so both agree as far as they are accurate; the error that SciPy estimates is not known, and nan here.
"""

import math

import numpy as np
from scipy import integrate

from sourcead.language.transformations import value_and_tangent
from sourcead.primitives.compositions import composed
from sourcead.primitives.scipy_roots import arguments

NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
NODES = (NODES + 1) / 2
WEIGHTS = WEIGHTS / 2
SHORTEST, MOST = 5e-8, 1000  # an interval, and how many are halved, if they do not agree


@composed(integrate.quad)
def quad(func, a, b, args=(), epsabs=1.49e-8, epsrel=1.49e-8, limit=50):
    args = arguments(args)

    def at(u):
        if a == -np.inf and b == np.inf:
            return (func((1 - u) / u, *args) + func((u - 1) / u, *args)) / u**2
        if b == np.inf:
            return func(a + (1 - u) / u, *args) / u**2
        if a == -np.inf:
            return func(b - (1 - u) / u, *args) / u**2
        return func(a + (b - a) * u, *args) * (b - a)

    def part(left, width):
        total = 0.0
        for node, weight in zip(NODES, WEIGHTS):
            total += weight * at(left + width * node)
        return width * total

    value_and_tangent(at, (0.5,), (1.0,))  # refuses a function that changes something outside of it
    total, size, halved, lefts, widths = 0.0, abs(part(0.0, 1.0)), 0, [0.0], [1.0]
    while len(lefts) > 0:
        halved += 1
        left, half = lefts.pop(), widths.pop() / 2
        whole, first, second = part(left, 2 * half), part(left, half), part(left + half, half)
        size = max(size, abs(first + second))
        if abs(whole - first - second) <= max(1e-11 * size, 1e-300):
            total = total + first + second
        elif half < SHORTEST or halved > MOST:
            raise ValueError("what `quad` integrates jumps or is infinite between its limits, and then its derivative is not that of a sum")
        else:
            lefts.append(left)
            lefts.append(left + half)
            widths.append(half)
            widths.append(half)
    return total, math.nan


@composed(integrate.simpson)
def simpson(y, x=None, dx=1.0, axis=-1):
    """A sum with weights: parabolas through three points each, and for an even number of points Cartwright's correction at the end."""
    y = np.moveaxis(np.asarray(y), axis, -1)
    return np.sum(y * simpson_weights(y.shape[-1], x, dx, axis), axis=-1)


def simpson_weights(n, x, dx, axis):
    """Return the weights of n points, along the last axis."""
    h = np.full(n - 1, dx) if x is None else np.diff(np.moveaxis(np.asarray(x), axis if np.ndim(x) > 1 else -1, -1))
    weights = np.zeros(h.shape[:-1] + (n,))
    if n == 2:
        weights += 0.5 * h
        return weights
    odd = n - 1 + n % 2  # the points that the parabolas take
    first, second = h[..., 0 : odd - 1 : 2], h[..., 1 : odd - 1 : 2]
    both = (first + second) / 6
    weights[..., 0 : odd - 2 : 2] += both * (2 - second / first)
    weights[..., 1 : odd - 1 : 2] += 6 * both**2 / (first * second) * (first + second)
    weights[..., 2:odd:2] += both * (2 - first / second)
    if odd < n:
        last, before = h[..., -1], h[..., -2]
        weights[..., -1] += (2 * last**2 + 3 * before * last) / (6 * (last + before))
        weights[..., -2] += (last**2 + 3 * last * before) / (6 * before)
        weights[..., -3] -= last**3 / (6 * before * (before + last))
    return weights
