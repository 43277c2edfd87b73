"""PolyBench's stencils and dynamic programmes, and two more of their kind."""

import math

import numpy as np

from tests.programs.stencils import nussinov


def deriche(alpha, image):
    w, h = image.shape
    k = (1 - math.exp(-alpha)) ** 2 / (1 + 2 * alpha * math.exp(-alpha) - math.exp(2 * alpha))
    a1 = a5 = k
    a2 = a6 = k * math.exp(-alpha) * (alpha - 1)
    a3 = a7 = k * math.exp(-alpha) * (alpha + 1)
    a4 = a8 = -k * math.exp(-2 * alpha)
    b1 = 2 ** (-alpha)
    b2 = -math.exp(-2 * alpha)
    y1 = np.zeros((w, h))
    y2 = np.zeros((w, h))
    out = np.zeros((w, h))
    for i in range(w):
        ym1 = 0.0
        ym2 = 0.0
        xm1 = 0.0
        for j in range(h):
            y1[i, j] = a1 * image[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = image[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for i in range(w):
        yp1 = 0.0
        yp2 = 0.0
        xp1 = 0.0
        xp2 = 0.0
        for j in range(h - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = image[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in range(w):
        for j in range(h):
            out[i, j] = y1[i, j] + y2[i, j]
    for j in range(h):
        tm1 = 0.0
        ym1 = 0.0
        ym2 = 0.0
        for i in range(w):
            y1[i, j] = a5 * out[i, j] + a6 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = out[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for j in range(h):
        tp1 = 0.0
        tp2 = 0.0
        yp1 = 0.0
        yp2 = 0.0
        for i in range(w - 1, -1, -1):
            y2[i, j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
            tp2 = tp1
            tp1 = out[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in range(w):
        for j in range(h):
            out[i, j] = y1[i, j] + y2[i, j]
    return np.sum(out * out)


def adi(u, steps):
    n = u.shape[0]
    u = u.copy()
    v = np.zeros((n, n))
    p = np.zeros((n, n))
    q = np.zeros((n, n))
    a, b, c, d, e, f = -0.2, 1.4, -0.2, -0.1, 1.2, -0.1
    for _ in range(steps):
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = (-d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i + 1] - a * q[i, j - 1]) / (a * p[i, j - 1] + b)
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -f / (d * p[i, j - 1] + e)
                q[i, j] = (-a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j] - d * q[i, j - 1]) / (d * p[i, j - 1] + e)
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]
    return np.sum(u * u)


def fdtd_2d(ex, ey, hz, fict):
    nx, ny = hz.shape
    ex = ex.copy()
    ey = ey.copy()
    hz = hz.copy()
    for t in range(len(fict)):
        for j in range(ny):
            ey[0, j] = fict[t]
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
    return np.sum(hz * hz) + np.sum(ex * ey)


def heat_3d(A, steps):
    A = A.copy()
    B = A.copy()
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        + A[i, j, k]
                    )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    A[i, j, k] = (
                        0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                        + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                        + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        + B[i, j, k]
                    )
    return np.sum(A * A)


def jacobi_1d(A, steps):
    n = len(A)
    A = A.copy()
    B = A.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])
    return np.sum(A * A)


def jacobi_2d(A, steps):
    n = A.shape[0]
    A = A.copy()
    B = A.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, 1 + j] + A[1 + i, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, 1 + j] + B[1 + i, j] + B[i - 1, j])
    return np.sum(A * A)


def seidel_2d(A, steps):
    n = A.shape[0]
    A = A.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (
                    A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                    + A[i, j - 1] + A[i, j] + A[i, j + 1]
                    + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                ) / 9.0  # fmt: skip
    return np.sum(A * A)


def burgers(u, viscosity, steps):
    u = u.copy()
    n = len(u)
    for _ in range(steps):
        old = u.copy()
        for i in range(1, n - 1):
            u[i] = old[i] - 0.1 * old[i] * (old[i] - old[i - 1]) + viscosity * (old[i + 1] - 2 * old[i] + old[i - 1])
    return np.sum(u * u)


def floyd_warshall(path):
    n = path.shape[0]
    path = path.copy()
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = path[i, j] if path[i, j] < path[i, k] + path[k, j] else path[i, k] + path[k, j]
    return np.sum(path * path)


def needleman_wunsch(score, gap):
    n, m = score.shape
    table = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        table[i, 0] = -gap * i
    for j in range(1, m + 1):
        table[0, j] = -gap * j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            table[i, j] = max(table[i - 1, j - 1] + score[i - 1, j - 1], table[i - 1, j] - gap, table[i, j - 1] - gap)
    return table[n, m]


def kernels(n):
    """Name -> (function, wrt, arguments); `n` is about the number of rows of a matrix."""
    rng = np.random.default_rng(2)
    wide, steps, cube = 3 * n, max(n // 12, 2), max(n // 5, 8)

    def normal(*shape):
        return rng.normal(size=shape)

    return {
        "deriche": (deriche, ("alpha", "image"), (0.25, normal(wide, wide))),
        "adi": (adi, ("u",), (normal(n, n), steps)),
        "fdtd-2d": (fdtd_2d, ("ex", "ey", "hz", "fict"), (*(normal(2 * n, 2 * n) for _ in range(3)), normal(2 * steps))),
        "heat-3d": (heat_3d, ("A",), (normal(cube, cube, cube), 2 * steps)),
        "jacobi-1d": (jacobi_1d, ("A",), (normal(20 * n), 40 * steps)),
        "jacobi-2d": (jacobi_2d, ("A",), (normal(2 * n, 2 * n), 2 * steps)),
        "seidel-2d": (seidel_2d, ("A",), (normal(n, n), 2 * steps)),
        "burgers": (burgers, ("u", "viscosity"), (rng.uniform(size=20 * n), 0.1, 20 * steps)),
        "floyd-warshall": (floyd_warshall, ("path",), (rng.uniform(1.0, 9.0, size=(n, n)),)),
        "nussinov": (nussinov, ("score",), (rng.uniform(0.1, 1.0, size=(n, n)),)),
        "needleman-wunsch": (needleman_wunsch, ("score", "gap"), (normal(5 * n, 5 * n), 0.3)),
    }
