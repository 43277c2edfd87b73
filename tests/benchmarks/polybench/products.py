"""PolyBench's products of matrices and vectors."""

import numpy as np

from tests.programs.polybench import atax_of_elements


def gemm(alpha, beta, C, A, B):
    C = C.copy()
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(C.shape[1]):
                C[i, j] += alpha * A[i, k] * B[k, j]
    return np.sum(C * C)


def two_mm(alpha, beta, A, B, C, D):
    tmp = np.empty((A.shape[0], B.shape[1]))
    D = D.copy()
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            tmp[i, j] = 0.0
            for k in range(A.shape[1]):
                tmp[i, j] += alpha * A[i, k] * B[k, j]
    for i in range(A.shape[0]):
        for j in range(D.shape[1]):
            D[i, j] *= beta
            for k in range(B.shape[1]):
                D[i, j] += tmp[i, k] * C[k, j]
    return np.sum(D * D)


def three_mm(A, B, C, D):
    def product(left, right):
        result = np.zeros((left.shape[0], right.shape[1]))
        for i in range(left.shape[0]):
            for j in range(right.shape[1]):
                for k in range(right.shape[0]):
                    result[i, j] += left[i, k] * right[k, j]
        return result

    G = product(product(A, B), product(C, D))
    return np.sum(G * G)


def bicg(A, p, r):
    n, m = A.shape
    s = np.zeros(m)
    q = np.zeros(n)
    for i in range(n):
        for j in range(m):
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]
    return np.sum(s * s) + np.sum(q * q)


def mvt(x1, x2, y1, y2, A):
    n = len(x1)
    x1 = x1.copy()
    x2 = x2.copy()
    for i in range(n):
        for j in range(n):
            x1[i] = x1[i] + A[i, j] * y1[j]
    for i in range(n):
        for j in range(n):
            x2[i] = x2[i] + A[j, i] * y2[j]
    return np.sum(x1 * x2)


def gemver(alpha, beta, A, u1, v1, u2, v2, y, z):
    n = A.shape[0]
    A = A.copy()
    x = np.zeros(n)
    w = np.zeros(n)
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] = x[i] + beta * A[j, i] * y[j]
    for i in range(n):
        x[i] = x[i] + z[i]
    for i in range(n):
        for j in range(n):
            w[i] = w[i] + alpha * A[i, j] * x[j]
    return np.sum(w * w)


def gesummv(alpha, beta, A, B, x):
    n = len(x)
    loss = 0.0
    for i in range(n):
        tmp = 0.0
        y = 0.0
        for j in range(n):
            tmp = A[i, j] * x[j] + tmp
            y = B[i, j] * x[j] + y
        loss += (alpha * tmp + beta * y) ** 2
    return loss


def symm(alpha, beta, C, A, B):
    m, n = C.shape
    C = C.copy()
    for i in range(m):
        for j in range(n):
            temp2 = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                temp2 += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp2
    return np.sum(C * C)


def syrk(alpha, beta, C, A):
    C = C.copy()
    for i in range(C.shape[0]):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]
    return np.sum(C * C)


def syr2k(alpha, beta, C, A, B):
    C = C.copy()
    for i in range(C.shape[0]):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(i + 1):
                C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]
    return np.sum(C * C)


def trmm(alpha, A, B):
    m, n = B.shape
    B = B.copy()
    for i in range(m):
        for j in range(n):
            for k in range(i + 1, m):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]
    return np.sum(B * B)


def doitgen(A, C4):
    nr, nq, np_ = A.shape
    A = A.copy()
    total = np.zeros(np_)
    for r in range(nr):
        for q in range(nq):
            for p in range(np_):
                total[p] = 0.0
                for s in range(np_):
                    total[p] += A[r, q, s] * C4[s, p]
            for p in range(np_):
                A[r, q, p] = total[p]
    return np.sum(A * A)


def kernels(n):
    """Name -> (function, wrt, arguments); `n` is about the number of rows of a matrix."""
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.normal(size=shape)

    m, k, wide, small = n + 3, n - 2, 5 * n, max(n // 16, 8)
    return {
        "gemm": (gemm, ("alpha", "beta", "C", "A", "B"), (1.5, 1.2, normal(n, m), normal(n, k), normal(k, m))),
        "2mm": (two_mm, ("alpha", "A", "B", "C", "D"), (1.5, 1.2, normal(n, m), normal(m, k), normal(k, n), normal(n, n))),
        "3mm": (three_mm, ("A", "B", "C", "D"), (normal(n, m), normal(m, k), normal(k, m), normal(m, n))),
        "atax": (atax_of_elements, ("A", "x"), (normal(wide, wide + 3), normal(wide + 3))),
        "bicg": (bicg, ("A", "p", "r"), (normal(wide, wide + 3), normal(wide + 3), normal(wide))),
        "mvt": (mvt, ("x1", "x2", "y1", "y2", "A"), (*(normal(wide) for _ in range(4)), normal(wide, wide))),
        "gemver": (
            gemver,
            ("alpha", "beta", "A", "u1", "v1", "u2", "v2", "y", "z"),
            (1.5, 1.2, normal(wide, wide), *(normal(wide) for _ in range(6))),
        ),
        "gesummv": (gesummv, ("alpha", "beta", "A", "B", "x"), (1.5, 1.2, normal(wide, wide), normal(wide, wide), normal(wide))),
        "symm": (symm, ("alpha", "beta", "C", "A", "B"), (1.5, 1.2, normal(n, m), normal(n, n), normal(n, m))),
        "syrk": (syrk, ("alpha", "beta", "C", "A"), (1.5, 1.2, normal(n, n), normal(n, m))),
        "syr2k": (syr2k, ("alpha", "beta", "C", "A", "B"), (1.5, 1.2, normal(n, n), normal(n, m), normal(n, m))),
        "trmm": (trmm, ("alpha", "A", "B"), (1.5, normal(n, n) / n, normal(n, m))),
        "doitgen": (doitgen, ("A", "C4"), (normal(2 * small, small, n), normal(n, n))),
    }
