"""Derivatives of elementwise functions whose formula divides by zero or loses precision at some points."""

import numpy as np


def lower_exponent(b, a):
    """Return `b - 1`, the exponent in the derivative of `a ** b`, but 1 where both are 0, so that `b * a ** (b - 1)` is 0."""
    if np.ndim(b) == 0 and not isinstance(b, (np.ndarray, np.generic)):  # a fraction too
        if b != 0 or not isinstance(a, (np.ndarray, np.generic)):
            return 1 if b == 0 and a == 0 else b - 1
        b = b * np.ones_like(a, dtype=np.result_type(a, np.float16))
    lower = np.where((b == 0) & (a == 0), 1, b - 1)[()]
    return lower if np.result_type(a, lower).kind in "fcO" else lower * 1.0  # NumPy refuses integers to the power -1


def log_or_zero(x):
    """Return the logarithm of `x`, 0 where x is 0, for a product whose other factor is 0 there."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(np.where(x == 0, 1, x))


def divide_or_zero(x, y):
    """Return `x / y`, 0 where y is 0."""
    return x / np.where(y == 0, 1, y) * (y != 0)


def sigmoid(x):
    """Return `1 / (1 + exp(-x))` for a real `x`, of full precision in both tails; where `exp` overflows, it is 0, without a warning."""
    with np.errstate(over="ignore"):
        t = np.exp(-x)
    t += 1
    return 1 / t


def sinc_slope(x, y):
    """Return the derivative of `y = np.sinc(x)`, by its series near 0, where the difference would lose precision."""
    u = np.pi * x
    near = np.abs(u) < 0.1
    series = np.pi * u * (u * u * (1 / 30 - u * u * (1 / 840 - u * u / 45360)) - 1 / 3)
    return np.where(near, series, (np.cos(u) - y) / np.where(near, 1, x))


def equal_shares(d_y, y, xs):
    """Return the cotangents of `xs`, of which y is the greatest or least: those equal to y share `d_y` equally."""
    if len(xs) == 1:
        shares = equal_shares(d_y, y, tuple(xs[0]))
        return (np.array(shares) if isinstance(xs[0], np.ndarray) else type(xs[0])(shares),)
    share = d_y / sum(x == y for x in xs)
    return tuple(share * (x == y) for x in xs)


def digamma(x):
    """Return the digamma function of a Python number (Abramowitz and Stegun 6.3.5, 6.3.7, 6.3.18)."""
    below = 0.0
    if x <= 0:
        if x == np.floor(x):
            return np.nan
        below, x = below - np.pi / np.tan(np.pi * x), 1 - x
    while x < 10:
        below, x = below - 1 / x, x + 1
    z = 1 / (x * x)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12))))))
    return float(below + np.log(x) - 0.5 / x - series)


def direction(x):
    """Return the derivative of `np.abs(x)`, 0 where x is 0."""
    return divide_or_zero(np.conj(x), np.abs(x)) if np.iscomplexobj(x) else np.sign(x)


def binary_exponent(x):
    """Return the exponent of `np.frexp(x)`."""
    return np.frexp(x)[1]
