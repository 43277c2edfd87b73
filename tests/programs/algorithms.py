"""Matrix algorithms written out in place, filters and transforms."""

import collections
import itertools

import numpy as np

from tests.programs import program
from tests.programs.polybench import normal


@program(args=normal((10,), (3,), (2,)), wrt=(0, 1, 2))
def iir(x, b, a):
    y = np.zeros_like(x)
    for n in range(len(x)):
        for k in range(len(b)):
            if n - k >= 0:
                y[n] += b[k] * x[n - k]
        for k in range(1, len(a) + 1):
            if n - k >= 0:
                y[n] -= 0.3 * a[k - 1] * y[n - k]
    return y @ y


@program(args=normal((10,), (3,)), wrt=(0, 1), level="python")
def fir_deque(x, h):
    buf = collections.deque([0.0] * 3, maxlen=3)
    total = 0.0
    for s in x:
        buf.appendleft(s)
        total += sum(c * b for c, b in zip(h, buf)) ** 2
    return total


@program(args=normal((8,)))
def haar_inplace(x):
    n = len(x)
    while n > 1:
        h = n // 2
        s = (x[0:n:2] + x[1:n:2]) / np.sqrt(2)
        d = (x[0:n:2] - x[1:n:2]) / np.sqrt(2)
        x[:h] = s
        x[h:n] = d
        n = h
    return np.sum(np.abs(x) ** 1.5)


@program(args=normal((8,)))
def lifting_wavelet(x):
    even, odd = x[::2].copy(), x[1::2].copy()
    odd -= 0.5 * (even + np.roll(even, -1))
    even += 0.25 * (odd + np.roll(odd, 1))
    x[::2] = even
    x[1::2] = odd
    return np.sum(np.sin(x))


@program(args=normal((4, 3)))
def householder_qr(A):
    m, n = A.shape
    Q = np.eye(m)
    R = A.copy()
    for j in range(n):
        x = R[j:, j]
        nx = np.linalg.norm(x)
        s = -np.sign(R[j, j])
        u1 = R[j, j] - s * nx
        w = x / u1
        w[0] = 1
        tau = -s * u1 / nx
        R[j:, :] = R[j:, :] - np.outer(tau * w, w @ R[j:, :])
        Q[:, j:] = Q[:, j:] - np.outer(Q[:, j:] @ w, tau * w)
    return np.sum(np.abs(R)) + np.sum(Q)


@program(args=normal((4, 3)))
def householder_qr_in_place(A):
    m, n = A.shape
    for j in range(n):
        v = A[j:, j].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v)
        A[j:, j:] -= 2 * np.outer(v, v @ A[j:, j:])
    return np.sum(A**3)


@program(args=normal((4, 3)))
def givens_qr_in_place(A):
    m, n = A.shape
    for j in range(n):
        for i in range(m - 1, j, -1):
            a, b = A[i - 1, j], A[i, j]
            r = np.hypot(a, b)
            c, s = a / r, b / r
            G = np.array([[c, s], [-s, c]])
            A[[i - 1, i], j:] = G @ A[[i - 1, i], j:]
    return np.sum(A**2 * np.arange(3))


@program(args=normal((4, 4), (4,)), wrt=(0, 1))
def gauss_pivot(A, b):
    n = len(b)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            A[i, k:] -= f * A[k, k:]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return np.sum(x)


@program(args=normal((4, 4), (4,)), wrt=(0, 1), level="python")
def gauss_pivot_list_rows(A, b):
    M = [list(row) + [bi] for row, bi in zip(A, b)]
    n = len(M)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(M[i][k]))
        M[k], M[p] = M[p], M[k]
        for i in range(k + 1, n):
            f = M[i][k] / M[k][k]
            for j in range(k, n + 1):
                M[i][j] -= f * M[k][j]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (M[i][n] - sum(M[i][j] * x[j] for j in range(i + 1, n))) / M[i][i]
    return sum(x)


@program(
    args=lambda rng: ((lambda a: a @ a.T + 4 * np.eye(4))(rng.normal(size=(4, 4))), rng.normal(size=4)),
    wrt=(0, 1),
    level="python",
)
def conjugate_gradient_by_hand(A, b):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r
    rs = r @ r
    for i in range(3):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        if np.sqrt(new) < 1e-10:
            break
        p = r + (new / rs) * p
        rs = new
    return np.sum(x * x)


@program(args=normal((5, 5)))
def box_blur_cumsum(img):
    c = np.cumsum(np.cumsum(img, 0), 1)
    c = np.pad(c, ((1, 0), (1, 0)))
    k = 3
    return np.sum((c[k:, k:] - c[:-k, k:] - c[k:, :-k] + c[:-k, :-k]) ** 2) / k**2


@program(args=normal((8,)))
def fft_recursive_real(x):
    def fft(re, im):
        n = len(re)
        if n == 1:
            return re, im
        er, ei = fft(re[0::2], im[0::2])
        orr, oi = fft(re[1::2], im[1::2])
        k = np.arange(n // 2)
        c, s = np.cos(-2 * np.pi * k / n), np.sin(-2 * np.pi * k / n)
        tr, ti = c * orr - s * oi, c * oi + s * orr
        return np.concatenate([er + tr, er - tr]), np.concatenate([ei + ti, ei - ti])

    re, im = fft(x, np.zeros(len(x)))
    return np.sum(np.sqrt(re**2 + im**2 + 1e-3))


@program(args=lambda rng: (rng.normal(size=(3, 3)) * 0.3,))
def scaling_squaring(A):
    s = 3
    B = A / 2**s
    E = np.eye(3) + B + B @ B / 2 + B @ B @ B / 6
    for _ in range(s):
        E = E @ E
    return np.trace(E)


@program(args=lambda rng: ((lambda a: a @ a.T + np.eye(3))(rng.normal(size=(3, 3))),))
def qr_algorithm(A):
    for _ in range(5):
        Q, R = np.linalg.qr(A)
        A = R @ Q
    return np.sum(np.diag(A) * np.array([1.0, 2.0, 3.0]))


@program(args=lambda rng: ((lambda a: a @ a.T + np.eye(3))(rng.normal(size=(3, 3))),))
def jacobi_rotation_in_place(A):
    n = 3
    V = np.eye(n)
    for p, q in [(0, 1), (0, 2), (1, 2), (0, 1)]:
        theta = 0.5 * np.arctan2(2 * A[p, q], A[q, q] - A[p, p])
        c, s = np.cos(theta), np.sin(theta)
        Ap, Aq = A[:, p].copy(), A[:, q].copy()
        A[:, p] = c * Ap - s * Aq
        A[:, q] = s * Ap + c * Aq
        Ap, Aq = A[p].copy(), A[q].copy()
        A[p], A[q] = c * Ap - s * Aq, s * Ap + c * Aq
        V[:, [p, q]] = V[:, [p, q]] @ np.array([[c, s], [-s, c]])
    return np.sum(A) + np.sum(V * A)


@program(args=normal((4, 3), (4,)), wrt=(0, 1))
def lasso_coordinate_descent(X, y):
    w = np.zeros(3)
    for _ in range(3):
        for j in range(3):
            r = y - X @ w + X[:, j] * w[j]
            rho = X[:, j] @ r
            w[j] = np.sign(rho) * max(abs(rho) - 0.1, 0) / (X[:, j] @ X[:, j])
    return np.sum(w**2)


@program(args=normal((6, 6), (3, 3)), wrt=(0, 1))
def im2col_conv(x, k):
    cols = np.array([x[i : i + 3, j : j + 3].ravel() for i in range(4) for j in range(4)])
    return np.sum(np.tanh(cols @ k.ravel()).reshape(4, 4)[::2])


@program(args=normal((6, 6), (3, 3)), wrt=(0, 1))
def strided_conv(x, k):
    w = np.lib.stride_tricks.sliding_window_view(x, (3, 3))
    return np.sum(np.einsum("ijkl,kl->ij", w, k) ** 2)


@program(args=normal((4,)), wrt=0)
def views_of_views(x):
    a = np.zeros((4, 4))
    d = a[1:3]
    d[:, 1:3] = x[:2]
    e = d[0]
    e += x
    e[::2] *= 3
    return np.sum(a * a) + d[0, 1]


@program(args=normal((3, 2, 2)), wrt=0)
def multi_index_loop(x):
    total = 0.0
    for i, j, k in itertools.product(range(3), range(2), range(2)):
        total += x[i, j, k] * x[i - 1, k, j]
    for idx in np.ndindex(3, 2):
        total += np.sum(x[idx]) ** 2
    return total


@program(args=normal((3,), (3,)), wrt=(0, 1))
def cross_and_quaternion(a, b):
    def qmul(p, q):
        w0, x0, y0, z0 = p
        w1, x1, y1, z1 = q
        return np.array(
            [
                w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1,
                w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1,
                w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1,
                w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1,
            ]
        )

    q = np.array([np.cos(0.3), *(np.sin(0.3) * a / np.linalg.norm(a))])
    qc = q * np.array([1, -1, -1, -1])
    r = qmul(qmul(q, np.r_[0.0, b]), qc)[1:]
    return np.sum(np.cross(a, r) * b) + r[0]
