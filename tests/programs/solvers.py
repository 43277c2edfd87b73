"""Linear and non-linear solvers, factorisations, eigenvalues."""

import math

import numpy as np

from tests.programs import program


def spd(rng, n=4):
    m = rng.normal(size=(n, n))
    return m @ m.T + n * np.eye(n)


@program(args=lambda rng: (spd(rng),))
def cholesky_by_hand(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return np.sum(np.log(np.diag(L))) + L[n - 1, 0]


@program(args=lambda rng: (spd(rng),))
def lu_in_place(a):
    a = a.copy()
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    det = 1.0
    for i in range(n):
        det *= a[i, i]
    return det * 0.01 + a[2, 1]


@program(args=lambda rng: (spd(rng),))
def lu_with_slices(A):
    U = A * 1.0
    for k in range(len(U) - 1):
        f = U[k + 1 :, k] / U[k, k]
        U[k + 1 :, k:] -= np.outer(f, U[k, k:])
    return np.sum(np.log(np.abs(np.diag(U))))


@program(args=lambda rng: (spd(rng), rng.normal(size=4)), wrt=(0, 1))
def gaussian_elimination(a, b):
    a, x = a.copy(), b.copy()
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            m = a[i, k] / a[k, k]
            a[i, k:] = a[i, k:] - m * a[k, k:]
            x[i] = x[i] - m * x[k]
    for k in range(n - 1, -1, -1):
        x[k] = (x[k] - a[k, k + 1 :] @ x[k + 1 :]) / a[k, k]
    return x @ x


@program(args=lambda rng: (np.array([[1e-3, 2.0, 1.0], [3.0, 1.0, -1.0], [1.0, -2.0, 2.5]]) + 0.1 * rng.normal(size=(3, 3)), rng.normal(size=3)), wrt=(0, 1), level="python")
def elimination_with_pivoting(A, b):
    M = np.concatenate([A, b[:, None]], axis=1)
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(M[k:, k]))
        if p != k:
            M[[k, p]] = M[[p, k]]
        for i in range(n):
            if i != k:
                M[i] = M[i] - M[k] * (M[i, k] / M[k, k])
    return np.sum((M[:, n] / np.diag(M)) ** 2)


@program(args=lambda rng: (np.tril(spd(rng)), rng.normal(size=4)), wrt=(0, 1))
def triangular_solve(L, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - np.dot(L[i, :i], x[:i])) / L[i, i]
    return np.sum(x**2)


@program(args=lambda rng: (rng.normal(size=5), 4 + rng.normal(size=5), rng.normal(size=5), rng.normal(size=5)), wrt=(0, 1, 2, 3))
def thomas(a, b, c, d):
    """Tridiagonal solve; overwrites its arguments as in the book."""
    n = len(d)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] = b[i] - w * c[i - 1]
        d[i] = d[i] - w * d[i - 1]
    x = np.empty(n)
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return np.sum(x * x)


@program(args=lambda rng: (spd(rng), rng.normal(size=4)), wrt=(0, 1), level="python")
def jacobi_iteration(A, b):
    D = np.diag(A)
    R = A - np.diag(D)
    x = np.zeros(4)
    for _ in range(6):
        x = (b - R @ x) / D
    return np.sum(x**2)


@program(args=lambda rng: (spd(rng), rng.normal(size=4)), wrt=(0, 1))
def gauss_seidel(A, b):
    x = np.zeros(4)
    for sweep in range(4):
        for i in range(4):
            sigma = 0.0
            for j in range(4):
                if j != i:
                    sigma += A[i, j] * x[j]
            x[i] = (b[i] - sigma) / A[i, i]
    return x.sum()


@program(args=lambda rng: (spd(rng), rng.normal(size=4)), wrt=(0, 1))
def conjugate_gradient(A, b):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r
    rs = r @ r
    for _ in range(3):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        rs_new = r @ r
        p = r + (rs_new / rs) * p
        rs = rs_new
    return np.sum(x * b)


@program(args=lambda rng: (spd(rng), rng.normal(size=4)), wrt=(0, 1))
def power_iteration(A, v):
    for _ in range(7):
        v = A @ v
        v = v / np.linalg.norm(v)
    return v @ A @ v


@program(args=lambda rng: (spd(rng),), level="python")
def power_iteration_until_converged(A):
    v = np.ones(len(A)) / math.sqrt(len(A))
    previous = 0.0
    n = 0
    while True:
        w = A @ v
        value = v @ w
        v = w / np.sqrt(w @ w)
        n += 1
        if n > 20 and abs(value - previous) < 1e6:
            break
        previous = value
    return value


@program(args=lambda rng: (rng.normal(size=(4, 3)),))
def gram_schmidt(a):
    q = a.copy()
    for j in range(q.shape[1]):
        for k in range(j):
            q[:, j] -= (q[:, k] @ q[:, j]) * q[:, k]
        q[:, j] /= np.sqrt(np.sum(q[:, j] ** 2))
    return np.sum(q * np.arange(12).reshape(4, 3)) + q[3, 2] ** 2


@program(args=lambda rng: (rng.normal(size=(3, 3)),), level="python")
def householder_step(a):
    x = a[:, 0]
    v = x.copy()
    v[0] += np.copysign(np.linalg.norm(x), 1.0)
    v /= np.linalg.norm(v)
    r = a - 2.0 * np.outer(v, v @ a)
    return np.sum(r**3)


@program(args=lambda rng: (rng.normal(size=(3, 3)), 0.7), wrt=(0, 1), level="python")
def jacobi_rotation(a, t):
    s = a + a.T
    c, d = math.cos(t), math.sin(t)
    p, q = 0, 2
    rp, rq = s[p].copy(), s[q].copy()
    s[p], s[q] = c * rp - d * rq, d * rp + c * rq
    cp, cq = s[:, p].copy(), s[:, q].copy()
    s[:, p] = c * cp - d * cq
    s[:, q] = d * cp + c * cq
    return s[0, 2] ** 2 + s[0, 1] * s[1, 2]


@program(args=(2.7,), also=((9.0,), (0.4,)), level="python")
def square_root_by_newton(a):
    x = a
    while abs(x * x - a) > 1e-13 * a:
        x = 0.5 * (x + a / x)
    return x


@program(args=(5.0,))
def cube_root(a):
    x = 1.5
    for _ in range(12):
        x = x - (x**3 - a) / (3 * x**2)
    return x * 2


@program(args=(0.3, 1.2), wrt=(0, 1), level="python")
def kepler(e, M):
    E, step = M, 1.0
    n = 0
    while abs(step) > 1e-14 and n < 50:
        step = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
        E -= step
        n += 1
    return math.cos(E) - e


@program(args=(0.2,), tolerance=1e-5)
def bisection_then_newton(c):
    lo, hi = 0.0, 2.0
    for _ in range(6):
        mid = 0.5 * (lo + hi)
        if mid**3 + mid - 1 - c > 0:
            hi = mid
        else:
            lo = mid
    x = 0.5 * (lo + hi)
    for _ in range(5):
        x = x - (x**3 + x - 1 - c) / (3 * x**2 + 1)
    return x


@program(args=(1.0, 2.3), wrt=(0, 1), level="python")
def secant(a, b):
    x0, x1 = a, b
    for _ in range(3):
        f0, f1 = x0**2 - 2 * x0 + math.exp(-x0), x1**2 - 2 * x1 + math.exp(-x1)
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
    return x1


@program(args=lambda rng: (np.array([1.2, 0.7]), np.array([2.0, 0.5])), wrt=(0, 1))
def newton_in_two_dimensions(x, target):
    for _ in range(5):
        f = np.array([x[0] ** 2 + x[1] - target[0], x[0] * x[1] - target[1]])
        J = np.array([[2 * x[0], 1.0], [x[1], x[0]]])
        det = J[0, 0] * J[1, 1] - J[0, 1] * J[1, 0]
        x = x - np.array([J[1, 1] * f[0] - J[0, 1] * f[1], -J[1, 0] * f[0] + J[0, 0] * f[1]]) / det
    return x[0] + x[1] ** 2


@program(args=lambda rng: (rng.uniform(0.1, 1, size=(4, 4)), 0.85), wrt=(0, 1))
def pagerank(links, damping):
    p = links / links.sum(axis=0)
    n = p.shape[0]
    r = np.ones(n) / n
    for _ in range(10):
        r = damping * (p @ r) + (1 - damping) / n
    return -np.sum(r * np.log(r))


@program(args=lambda rng: (np.abs(rng.normal(size=(4, 4))) + 0.1,))
def sinkhorn(k):
    u = np.ones(4)
    for _ in range(5):
        v = 1.0 / (k.T @ u)
        u = 1.0 / (k @ v)
    plan = u[:, None] * k * v
    return np.sum(plan * np.log(plan))


@program(args=lambda rng: (rng.normal(size=(3, 3)) * 0.3,), level="python")
def matrix_exponential_series(a):
    term = np.eye(3)
    total = np.eye(3)
    for k in range(1, 9):
        term = term @ a / k
        total = total + term
    return np.trace(total) + total[0, 2] ** 2


@program(args=lambda rng: (rng.uniform(-0.9, 0.9, size=4),))
def durbin(r):
    n = len(r)
    y = np.zeros(n)
    y[0] = -r[0]
    alpha, beta = -r[0], 1.0
    for k in range(1, n):
        beta = (1 - alpha * alpha) * beta
        s = r[k] + np.dot(r[k - 1 :: -1][:k], y[:k])
        alpha = -s / (3 + beta)
        z = y[:k] + alpha * y[k - 1 :: -1][:k]
        y[:k] = z
        y[k] = alpha
    return np.sum(y**2)


@program(args=lambda rng: (spd(rng), np.arange(4.0)), wrt=(0, 1))
def steepest_descent_with_momentum(Q, c):
    x = np.zeros(4)
    velocity = np.zeros(4)
    rate = 0.01
    for it in range(8):
        g = Q @ x - c
        velocity *= 0.9
        velocity -= rate * g
        x = x + velocity
        if it % 3 == 2:
            rate = rate / 2
    return 0.5 * x @ Q @ x - c @ x
