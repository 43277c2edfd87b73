"""Triangular matrices, such as factors: inverses and solutions by products of matrices, what is read of a symmetric matrix, LU."""

import numpy as np

from sourcead.runtime.checks import refuse_now


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


def rows_after(pivots):
    """Return the numbers of the rows of a matrix in the order that exchanges of rows `pivots` leave, as LAPACK counts them."""
    rows = np.arange(len(pivots))
    for i in range(len(pivots)):
        k = pivots[i]
        first = rows[i]
        rows[i] = rows[k]
        rows[k] = first
    return rows


def factors(lu):
    """Return the lower and the upper factor of a square matrix that are kept in one."""
    if lu.shape[0] != lu.shape[1]:
        refuse_now("the factors of a matrix that is not square have no derivative here")
    return np.tril(lu, -1) + np.eye(len(lu)), np.triu(lu)


def lu_cotangent(d, lu, pivots):
    """Return the cotangent of a square matrix from that of its factors in one matrix, `d`; the exchanges of rows are held."""
    lower, upper = factors(lu)
    inner = np.tril(lower.T @ np.tril(d, -1), -1) + np.triu(np.triu(d) @ upper.T)
    moved = np.linalg.solve(upper, np.linalg.solve(lower.T, inner).T).T
    out = np.zeros_like(moved)
    out[rows_after(pivots)] = moved
    return out


def lu_tangent(t, lu, pivots):
    """Return the tangent of both factors in one matrix from that of the matrix; the exchanges of rows are held."""
    lower, upper = factors(lu)
    inner = np.linalg.solve(lower, np.linalg.solve(upper.T, t[rows_after(pivots)].T).T)
    return np.tril(lower @ np.tril(inner, -1), -1) + np.triu(np.triu(inner) @ upper)
