"""PolyBench's factorisations, solvers and data mining."""

import math

import numpy as np

from tests.programs.factorisations import durbin_of_elements


def trisolv(L, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] = x[i] / L[i, i]
    return np.sum(x * x)


def cholesky(A):
    n = A.shape[0]
    A = A.copy()
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = math.sqrt(A[i, i])
    loss = 0.0
    for i in range(n):
        loss += math.log(A[i, i])
    return loss


def lu(A):
    n = A.shape[0]
    A = A.copy()
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]
    return np.sum(A * A)


def ludcmp(A, b):
    n = A.shape[0]
    A = A.copy()
    x = np.zeros(n)
    y = np.zeros(n)
    for i in range(n):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        for j in range(i, n):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k] * A[k, j]
            A[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= A[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= A[i, j] * x[j]
        x[i] = w / A[i, i]
    return np.sum(x * x)


def gramschmidt(A):
    m, n = A.shape
    A = A.copy()
    Q = np.zeros((m, n))
    R = np.zeros((n, n))
    for k in range(n):
        nrm = 0.0
        for i in range(m):
            nrm += A[i, k] * A[i, k]
        R[k, k] = math.sqrt(nrm)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = 0.0
            for i in range(m):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(m):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]
    return np.sum(R * R * R) + np.sum(Q)


def covariance(data):
    n, m = data.shape
    data = data.copy()
    mean = np.zeros(m)
    cov = np.zeros((m, m))
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
    for i in range(m):
        for j in range(i, m):
            for k in range(n):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= n - 1.0
            cov[j, i] = cov[i, j]
    return np.sum(cov * cov)


def correlation(data):
    n, m = data.shape
    data = data.copy()
    mean = np.zeros(m)
    stddev = np.zeros(m)
    corr = np.eye(m)
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for j in range(m):
        for i in range(n):
            stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        stddev[j] = math.sqrt(stddev[j] / n)
        if stddev[j] <= 0.1:
            stddev[j] = 1.0
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
            data[i, j] /= math.sqrt(n) * stddev[j]
    for i in range(m - 1):
        for j in range(i + 1, m):
            for k in range(n):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    return np.sum(corr * corr)


def kernels(n):
    """Name -> (function, wrt, arguments); `n` is about the number of rows of a matrix."""
    rng = np.random.default_rng(1)
    wide = 7 * n
    positive = rng.normal(size=(n, n))
    positive = positive @ positive.T + n * np.eye(n)
    dominant = rng.normal(size=(n, n)) + n * np.eye(n)
    lower = np.tril(rng.normal(size=(wide, wide))) + wide * np.eye(wide)
    decaying = 0.5 ** np.arange(1, wide + 1) * rng.uniform(0.5, 1.0, size=wide)
    return {
        "trisolv": (trisolv, ("L", "b"), (lower, rng.normal(size=wide))),
        "cholesky": (cholesky, ("A",), (positive,)),
        "lu": (lu, ("A",), (dominant,)),
        "ludcmp": (ludcmp, ("A", "b"), (dominant, rng.normal(size=n))),
        "gramschmidt": (gramschmidt, ("A",), (rng.normal(size=(n + 3, n)),)),
        "durbin": (durbin_of_elements, ("r",), (decaying,)),
        "covariance": (covariance, ("data",), (rng.normal(size=(n + 3, n)),)),
        "correlation": (correlation, ("data",), (rng.normal(size=(n + 3, n)),)),
    }
