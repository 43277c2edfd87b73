"""Activations: functions of each number, and softmax.

    relu(x) = max(x, 0), of slope 0 at 0          softplus(x) = log(1 + e^x)
    leaky_relu(x) = x or slope x                  sigmoid(x) = 1 / (1 + e^-x)
    gelu(x) = x Phi(x), Phi the normal distribution (Hendrycks and Gimpel, 2016)
    softmax(x)_i = e^x_i / sum_j e^x_j
"""

import math

import numpy as np

from sourcead import stop_gradient
from sourcead.api.extending import adjoints, primitive

tanh = np.tanh


def relu(x):
    """Return max(x, 0), of slope 0 at 0.

    Args:
        x: a number or an array.

    Returns:
        A number or an array of the shape and dtype of `x`.

    Example:
        >>> relu(np.array([-1.0, 0.0, 2.0]))
        array([0., 0., 2.])
    """
    if np.ndim(x) == 0:
        return np.maximum(x, 0)
    y = np.zeros_like(x)
    np.maximum(x, y, out=y)  # two arrays: NumPy takes twice as long for an array and a number
    return y


def leaky_relu(x, slope=0.01):
    """Return x where it is positive, `slope * x` elsewhere.

    Example:
        >>> leaky_relu(np.array([-1.0, 2.0]))
        array([-0.01,  2.  ])
    """
    return np.where(x > 0, x, slope * x)


def sigmoid(x):
    """Return 1 / (1 + exp(-x)), computed by tanh, which does not overflow.

    Example:
        >>> sigmoid(np.array([-1000.0, 0.0, 1000.0]))
        array([0. , 0.5, 1. ])
    """
    y = 0.5 * x
    if np.ndim(y) == 0:
        return 0.5 * np.tanh(y) + 0.5
    np.tanh(y, out=y)
    y *= 0.5
    y += 0.5
    return y


def sigmoid_cotangent(d, s):
    """Return the cotangent of `x` from the cotangent `d` of `s = sigmoid(x)`: d s (1 - s)."""
    d_x = 1 - s
    d_x *= s
    d_x *= d
    return d_x


def softplus(x):
    """Return log(1 + exp(x)), computed without overflow.

    Example:
        >>> softplus(np.array([0.0, 1000.0])).round(4)
        array([6.931e-01, 1.000e+03])
    """
    return np.logaddexp(x, 0)


def gelu(x, approximate=False):
    """Return x Phi(x), where Phi is the normal distribution (Hendrycks and Gimpel, 2016, section 2).

    Args:
        x: a number or an array.
        approximate: use their tanh for Phi, which needs no error function.

    Example:
        >>> gelu(np.array([-1.0, 1.0])).round(4)
        array([-0.1587,  0.8413])
    """
    if approximate:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * normal_distribution(x)


def normal_distribution(x):
    """Return the probability that a standard normal variable is at most x, in the dtype of `x`, with SciPy if it is installed."""
    try:
        from scipy.special import ndtr
    except ImportError:
        ndtr = np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)), otypes=[float])
        return ndtr(x).astype(np.result_type(x, np.float32))[()]
    return ndtr(x)


def softmax(x, axis=-1):
    """Return positive numbers that sum to 1 along an axis, proportional to exp(x).

    Example:
        >>> softmax(np.array([0.0, 1000.0]))
        array([0., 1.])
    """
    powers = np.exp(x - np.max(stop_gradient(x), axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    """Return the logarithm of `softmax(x, axis)`, which is exact where the softmax is tiny.

    Example:
        >>> log_softmax(np.array([0.0, 1000.0]))
        array([-1000.,     0.])
    """
    shifted = x - np.max(stop_gradient(x), axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


# ---- types and rules ----

primitive(relu, like=np.negative)
primitive(leaky_relu, sigmoid, normal_distribution, like=np.tanh)
primitive(sigmoid_cotangent, like=np.multiply)


adjoints({
    relu: lambda y, x, d_y: d_y * (y > 0),
    leaky_relu: lambda y, x, d_y, slope=0.01: np.where(x > 0, d_y, slope * d_y),
    sigmoid: lambda y, x, d_y: sigmoid_cotangent(d_y, y),
    sigmoid_cotangent: lambda y, d, s, d_y: (sigmoid_cotangent(d_y, s), d_y * d * (1 - 2 * s)),
    normal_distribution: lambda y, x, d_y: d_y * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi),
}, broadcasts=True)
