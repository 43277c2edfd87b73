"""Layers as plain functions of their input and their parameters; `convolution`, `pooling` and `recurrent` hold the others.

    dense       y = x w + b
    dropout     y = x m / (1 - rate), m zero with probability `rate`            (Srivastava et al., 2014)
    batch_norm  y = scale (x - mean) / sqrt(variance + epsilon) + shift, over the batch (Ioffe and Szegedy, 2015)
    layer_norm  the same over the last axis                                      (Ba, Kiros and Hinton, 2016)

Parameters that belong together are small tuples: `dense(x, *p.hidden)`.
"""

from typing import NamedTuple

import numpy as np

from sourcead import stop_gradient
from sourcead.nn.shapes import check_dense, check_features, check_same


class Dense(NamedTuple):
    """The weights of shape (inputs, outputs) and the bias of shape (outputs,)."""

    w: np.ndarray
    b: np.ndarray


class Conv2d(NamedTuple):
    """The kernels of shape (outputs, channels, height, width) and the bias of shape (outputs,)."""

    w: np.ndarray
    b: np.ndarray


class Norm(NamedTuple):
    """The scale and the shift of a normalisation, one number for each feature."""

    scale: np.ndarray
    shift: np.ndarray


class Statistics(NamedTuple):
    """The running mean and variance of `batch_norm`, of shape (features,)."""

    mean: np.ndarray
    variance: np.ndarray


def dense(x, w, b):
    """Return x w + b.

    Args:
        x: of shape (..., inputs).
        w: of shape (inputs, outputs).
        b: of shape (outputs,).

    Returns:
        An array of shape (..., outputs).

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> dense(np.ones((1, 2)), np.array([[1.0], [2.0]]), np.array([0.5]))
        array([[3.5]])
    """
    check_dense(x, w, b)
    if x.ndim > 2:
        rows = np.reshape(x, (-1, x.shape[-1])) @ w + b
        return np.reshape(rows, (*x.shape[:-1], w.shape[1]))
    return x @ w + b


def flatten(x):
    """Return the items of a batch as vectors: shape (batch, ...) becomes (batch, numbers).

    Example:
        >>> flatten(np.zeros((5, 2, 3, 3))).shape
        (5, 18)
    """
    return x.reshape(x.shape[0], -1)


def dropout(x, rate, rng=None, mask=None):
    """Set numbers to zero at random, and scale the others such that the expected value stays the same.

    Args:
        x: an array.
        rate: the probability of zero, from 0 to less than 1.
        rng: a `numpy.random.Generator` to draw the mask from; None draws nothing.
        mask: which numbers to keep, of the shape of `x`; then none is drawn. Without `rng` and `mask`, `x` is returned unchanged.

    Raises:
        ValueError: the mask has another shape.

    Example:
        >>> dropout(np.ones(4), 0.5, mask=np.array([True, False, True, True]))
        array([2., 0., 2., 2.])
    """
    if mask is None:
        if rng is None:
            return x
        mask = rng.random(x.shape) >= rate
    check_same("dropout", x, mask)
    return x * mask * (1 / (1 - rate))


def batch_norm(x, scale, shift, mean, variance, train=True, momentum=0.1, epsilon=1e-5):
    """Normalise each feature over the batch, or by the running statistics.

    Args:
        x: of shape (batch, features) or (batch, features, height, width).
        scale, shift: of shape (features,).
        mean, variance: the running statistics, of shape (features,).
        train: normalise by the mean and variance of the batch, and update the running ones.
        momentum: the weight of the batch in the update of the running statistics.
        epsilon: a number that is added to the variance.

    Returns:
        The result, of the shape of `x`, and the running statistics, which carry no derivative. The running variance is the unbiased
        estimate, as in PyTorch.

    Raises:
        ValueError: there is not one scale and shift for each feature.

    Example:
        >>> x = np.array([[1.0], [3.0]])
        >>> y, statistics = batch_norm(x, np.ones(1), np.zeros(1), np.zeros(1), np.ones(1))
        >>> y.round(3).tolist(), statistics.mean.tolist()
        ([[-1.0], [1.0]], [0.2])
    """
    check_features("batch_norm", x, 1, scale, shift, mean, variance)
    axes = (0,) if x.ndim == 2 else (0, 2, 3)
    if train:
        centre = np.mean(x, axis=axes)
        error = x - per_feature(centre, x)
        spread = np.mean(error**2, axis=axes)
        count = x.size / x.shape[1]
        mean = (1 - momentum) * mean + momentum * stop_gradient(centre)
        variance = (1 - momentum) * variance + momentum * count / max(count - 1, 1) * stop_gradient(spread)
    else:
        error, spread = x - per_feature(mean, x), variance
    y = error * per_feature(scale / np.sqrt(spread + epsilon), x) + per_feature(shift, x)
    return y, Statistics(mean, variance)


def per_feature(numbers, x):
    """Return numbers of shape (features,) in a shape that broadcasts along the second axis of `x`."""
    return numbers if x.ndim == 2 else np.expand_dims(numbers, (1, 2))


def layer_norm(x, scale, shift, epsilon=1e-5):
    """Normalise each row over its last axis.

    Args:
        x: of shape (..., features).
        scale, shift: of shape (features,).
        epsilon: a number that is added to the variance.

    Raises:
        ValueError: there is not one scale and shift for each feature.

    Example:
        >>> layer_norm(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2)).round(3)
        array([[-1.,  1.]])
    """
    check_features("layer_norm", x, -1, scale, shift)
    error = x - np.mean(x, axis=-1, keepdims=True)
    spread = np.mean(error**2, axis=-1, keepdims=True)
    return error / np.sqrt(spread + epsilon) * scale + shift


def embedding(table, tokens):
    """Return the row of the table for each token.

    Args:
        table: of shape (tokens, features).
        tokens: integers of any shape, from 0 to the number of rows less 1.

    Returns:
        An array of the shape of `tokens` with one more axis, (..., features).

    Example:
        >>> embedding(np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([1, 0, 1]))
        array([[1., 2.],
               [0., 0.],
               [1., 2.]])
    """
    return table[tokens]
