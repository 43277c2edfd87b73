"""Losses: one real number, the mean over a batch of the distance between predictions and targets.

    cross_entropy         mean_n (log sum_j e^z_nj - z_n,t(n))
    binary_cross_entropy  mean (log(1 + e^z) - t z)
    mse, mae              mean e^2, mean |e|, with e = prediction - target
    huber                 mean of e^2 / 2 where |e| is at most delta, of delta (|e| - delta / 2) beyond (Huber, 1964)
"""

import numpy as np

from sourcead import stop_gradient
from sourcead.nn.shapes import check_rows, check_same


def cross_entropy(logits, targets):
    """Return the mean cross-entropy of a batch, from logits.

    Args:
        logits: of shape (batch, classes): logarithms of probabilities, up to a constant in each row.
        targets: integers of shape (batch,): the right class of each row.

    Raises:
        ValueError: there is not one target for each row.

    Example:
        >>> float(cross_entropy(np.array([[0.0, 0.0], [1000.0, 0.0]]), np.array([1, 0])).round(4))
        0.3466
    """
    check_rows(logits, targets)
    shifted = logits - np.max(stop_gradient(logits), axis=1, keepdims=True)
    log_totals = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_totals - shifted[np.arange(len(targets)), targets])


def binary_cross_entropy(logits, targets):
    """Return the mean cross-entropy of yes-or-no questions, from logits.

    Args:
        logits: logarithms of the odds, of any shape.
        targets: of the same shape, from 0 to 1.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> float(binary_cross_entropy(np.array([0.0, 1000.0]), np.array([1.0, 1.0])).round(4))
        0.3466
    """
    check_same("binary_cross_entropy", logits, targets)
    return np.mean(np.logaddexp(logits, 0) - targets * logits)


def mse(prediction, target):
    """Return the mean squared error of arrays of one shape.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> float(mse(np.array([1.0, 2.0]), np.array([1.0, 4.0])))
        2.0
    """
    check_same("mse", prediction, target)
    return np.mean((prediction - target) ** 2)


def mae(prediction, target):
    """Return the mean absolute error of arrays of one shape.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> float(mae(np.array([1.0, 2.0]), np.array([1.0, 4.0])))
        1.0
    """
    check_same("mae", prediction, target)
    return np.mean(np.abs(prediction - target))


def huber(prediction, target, delta=1.0):
    """Return the mean of a loss that is quadratic up to an error of `delta` and linear beyond (Huber, 1964).

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> float(huber(np.array([1.0, 2.0]), np.array([1.5, 4.0])))
        0.8125
    """
    check_same("huber", prediction, target)
    error = prediction - target
    near = np.clip(error, -delta, delta)
    return np.mean(near * (error - 0.5 * near))
