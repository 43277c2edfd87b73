"""Triangular matrices, such as Cholesky factors: inverses and solutions by products of matrices, and what is read of a symmetric matrix."""

import numpy as np


def lower_half(t):
    """Return the cotangent of a symmetric matrix of which the lower triangle is read, from `t`, twice what it is if all is read."""
    d = np.tril(t)
    places = np.arange(t.shape[-1])
    d[..., places, places] /= 2
    return d


def inverse_lower(y):
    """Return the inverse of the lower triangle of a matrix, by halves, so that most of it is products of matrices."""
    inverse = np.zeros_like(y)
    _put_inverse(y, inverse)
    return inverse


def _put_inverse(y, inverse):
    """Write the inverse of the lower triangle of a matrix into an array of zeros."""
    n = y.shape[-1]
    if n <= 48:
        inverse[...] = np.tril(np.linalg.inv(np.tril(y)))
        return
    k = n // 2
    first, last, below = inverse[..., :k, :k], inverse[..., k:, k:], inverse[..., k:, :k]
    _put_inverse(y[..., :k, :k], first)
    _put_inverse(y[..., k:, k:], last)
    np.matmul(last, y[..., k:, :k] @ first, out=below)
    np.negative(below, out=below)


def solve_lower(y, b, transposed=False):
    """Return the solution of `y @ x = b`, or of `y.T @ x = b`, for the lower triangle of a matrix, by halves."""
    n = y.shape[0]
    if n <= 48:
        return np.linalg.solve(np.tril(y).T if transposed else np.tril(y), b)
    k = n // 2
    if transposed:
        last = solve_lower(y[k:, k:], b[k:], True)
        return np.concatenate([solve_lower(y[:k, :k], b[:k] - y[k:, :k].T @ last, True), last])
    first = solve_lower(y[:k, :k], b[:k])
    return np.concatenate([first, solve_lower(y[k:, k:], b[k:] - y[k:, :k] @ first)])
