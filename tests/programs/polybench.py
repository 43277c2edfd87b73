"""Kernels of PolyBench (Pouchet and Yuki, 2012): linear algebra, as loops over elements that write in place.

Each stands as it would in C or Fortran; the loss is a sum over its outputs. The rest of
the collection is in `factorisations.py` and `stencils.py`.
"""

import numpy as np

from tests.programs import program


def normal(*shapes):
    """A maker of arguments: arrays of these shapes; a number stands for itself."""

    def make(rng):
        return tuple(rng.normal(size=s) if isinstance(s, tuple) else s for s in shapes)

    return make


@program(args=normal(1.5, 1.2, (3, 4), (3, 2), (2, 4)), wrt=(0, 1, 2, 3, 4))
def gemm_of_elements(alpha, beta, C, A, B):
    ni, nj = C.shape
    for i in range(ni):
        for j in range(nj):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(nj):
                C[i, j] += alpha * A[i, k] * B[k, j]
    return np.sum(C * C)


@program(args=normal(1.5, 1.2, (3, 4), (3, 2), (2, 4)), wrt=(0, 1, 2, 3, 4))
def gemm_of_arrays(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C
    return np.sum(C * C)


@program(args=normal(1.5, 1.2, (3, 2), (2, 3), (3, 2), (3, 2)), wrt=(0, 1, 2, 3, 4, 5))
def two_mm(alpha, beta, A, B, C, D):
    tmp = np.empty((A.shape[0], B.shape[1]))
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
    return np.sum(D)


@program(args=normal((2, 3), (3, 2), (2, 4), (4, 3)), wrt=(0, 1, 2, 3))
def three_mm(A, B, C, D):
    def product(target, left, right):
        for i in range(left.shape[0]):
            for j in range(right.shape[1]):
                target[i, j] = 0.0
                for k in range(right.shape[0]):
                    target[i, j] += left[i, k] * right[k, j]

    E = np.empty((2, 2))
    F = np.empty((2, 3))
    G = np.empty((2, 3))
    product(E, A, B)
    product(F, C, D)
    product(G, E, F)
    return np.sum(G * G)


@program(args=normal((3, 4), (4,)), wrt=(0, 1))
def atax_of_elements(A, x):
    m, n = A.shape
    y = np.zeros(n)
    tmp = np.zeros(m)
    for i in range(m):
        for j in range(n):
            tmp[i] = tmp[i] + A[i, j] * x[j]
        for j in range(n):
            y[j] = y[j] + A[i, j] * tmp[i]
    return np.sum(y)


@program(args=normal((3, 4), (4,), (3,)), wrt=(0, 1, 2))
def bicg(A, p, r):
    n, m = A.shape
    s = np.zeros(m)
    q = np.zeros(n)
    for i in range(n):
        q[i] = 0.0
        for j in range(m):
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]
    return np.sum(s * s) + np.sum(np.sin(q))


@program(args=normal((3,), (3,), (3,), (3,), (3, 3)), wrt=(0, 1, 2, 3, 4))
def mvt(x1, x2, y1, y2, A):
    n = len(x1)
    for i in range(n):
        for j in range(n):
            x1[i] = x1[i] + A[i, j] * y1[j]
    for i in range(n):
        for j in range(n):
            x2[i] = x2[i] + A[j, i] * y2[j]
    return np.sum(x1 * x2)


@program(args=normal(1.5, 1.2, (3, 3), (3,), (3,), (3,), (3,), (3,), (3,)), wrt=(0, 1, 2, 3, 4, 5, 6, 7, 8))
def gemver_of_elements(alpha, beta, A, u1, v1, u2, v2, y, z):
    n = A.shape[0]
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
    return np.sum(w)


@program(args=normal(1.5, 1.2, (3, 3), (3, 3), (3,)), wrt=(0, 1, 2, 3, 4))
def gesummv(alpha, beta, A, B, x):
    n = len(x)
    y = np.empty(n)
    for i in range(n):
        tmp = 0.0
        y[i] = 0.0
        for j in range(n):
            tmp = A[i, j] * x[j] + tmp
            y[i] = B[i, j] * x[j] + y[i]
        y[i] = alpha * tmp + beta * y[i]
    return np.sum(y)


@program(args=normal(1.5, 1.2, (3, 4), (3, 3), (3, 4)), wrt=(0, 1, 2, 3, 4))
def symm(alpha, beta, C, A, B):
    m, n = C.shape
    for i in range(m):
        for j in range(n):
            temp2 = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                temp2 += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp2
    return np.sum(C)


@program(args=normal(1.5, 1.2, (3, 4), (3, 3), (3, 4)), wrt=(0, 1, 2, 3, 4))
def symm_of_slices(alpha, beta, C, A, B):
    temp2 = np.empty((C.shape[1],), dtype=C.dtype)
    C *= beta
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            temp2[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temp2
    return np.sum(C)


@program(args=normal(1.5, 1.2, (3, 3), (3, 2)), wrt=(0, 1, 2, 3))
def syrk(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]
    return np.sum(C)


@program(args=normal(1.5, 1.2, (3, 3), (3, 2), (3, 2)), wrt=(0, 1, 2, 3, 4))
def syr2k(alpha, beta, C, A, B):
    for i in range(C.shape[0]):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(i + 1):
                C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]
    return np.sum(C * C)


@program(args=normal(1.5, (3, 3), (3, 4)), wrt=(0, 1, 2))
def trmm(alpha, A, B):
    m, n = B.shape
    for i in range(m):
        for j in range(n):
            for k in range(i + 1, m):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]
    return np.sum(B * B)


@program(args=normal(1.5, (3, 3), (3, 4)), wrt=(0, 1, 2))
def trmm_of_slices(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha
    return np.sum(B * B)


@program(args=normal((2, 3, 4), (4, 4)), wrt=(0, 1))
def doitgen_of_elements(A, C4):
    nr, nq, np_ = A.shape
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


@program(args=normal((2, 3, 4), (4, 4)), wrt=(0, 1))
def doitgen_of_arrays(A, C4):
    nr, nq, np_ = A.shape
    for r in range(nr):
        for q in range(nq):
            A[r, q, :] = A[r, q, :] @ C4
    A[:] = np.reshape(np.reshape(A, (nr, nq, 1, np_)) @ C4, (nr, nq, np_))
    return np.sum(A * A)
