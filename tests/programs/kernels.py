"""Kernels in the manner of PolyBench, plain NumPy with writes in place, and longer mixes of constructs."""

import numpy as np

from tests.programs import program


@program(args=lambda rng: (1.5, 1.2, rng.normal(size=(3, 4)), rng.normal(size=(3, 2)), rng.normal(size=(2, 4))), wrt=(0, 1, 2, 3, 4))
def gemm(alpha, beta, C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(C.shape[1]):
                C[i, j] += alpha * A[i, k] * B[k, j]
    return np.sum(C * C)


@program(args=lambda rng: (1.5, rng.normal(size=(3, 3)), rng.normal(size=(3, 2))), wrt=(0, 1, 2))
def syrk_triangular(alpha, C, A):
    for i in range(3):
        C[i, : i + 1] *= 0.5
        for k in range(2):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]
    return np.sum(C**2)


@program(args=lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=3)), wrt=(0, 1))
def atax(A, x):
    y = np.zeros(A.shape[1])
    tmp = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            tmp[i] = tmp[i] + A[i, j] * x[j]
        for j in range(A.shape[1]):
            y[j] = y[j] + A[i, j] * tmp[i]
    return np.sum(y)


@program(args=lambda rng: (rng.normal(size=(3, 3)), *rng.normal(size=(8, 3))), wrt=(0, 1, 5, 6))
def gemver(A, u1, v1, u2, v2, x, y, w, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += 1.2 * (A.T @ y)
    x += z
    w += 1.5 * A @ x
    return np.sum(w**2)


@program(args=lambda rng: (rng.normal(size=(5, 3)),))
def covariance_in_place(data):
    n, m = data.shape
    mean = np.zeros(m)
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    data -= mean
    cov = np.zeros((m, m))
    for i in range(m):
        for j in range(i, m):
            cov[i, j] = data[:, i] @ data[:, j] / (n - 1.0)
            cov[j, i] = cov[i, j]
    return np.sum(cov**2)


@program(args=lambda rng: (rng.normal(size=(4, 4)) + 5 * np.eye(4), rng.normal(size=4)), wrt=(0, 1))
def ludcmp(A, b):
    n = len(b)
    x, y = np.zeros(n), np.zeros(n)
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
    return np.sum(x)


@program(args=lambda rng: (np.tril(rng.normal(size=(4, 4))) + 4 * np.eye(4), rng.normal(size=4)), wrt=(0, 1))
def trisolv(L, b):
    x = np.empty_like(b)
    for i in range(L.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return np.sum(x)


@program(args=lambda rng: (rng.normal(size=(4, 3)),))
def modified_gram_schmidt_with_r(A):
    R = np.zeros((3, 3))
    Q = np.zeros((4, 3))
    for k in range(3):
        nrm = np.dot(A[:, k], A[:, k])
        R[k, k] = np.sqrt(nrm)
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, 3):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return np.sum(R) + np.sum(Q[0] ** 2)


@program(args=lambda rng: (rng.normal(size=8), rng.normal(size=8)), wrt=(0, 1))
def jacobi_1d(A, B):
    for t in range(1, 4):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
    return np.sum(A)


@program(args=lambda rng: (rng.normal(size=(2, 2, 3)), rng.normal(size=(3, 3))), wrt=(0, 1))
def doitgen(A, C4):
    nr, nq, n = A.shape
    for r in range(nr):
        for q in range(nq):
            total = np.zeros(n)
            for p in range(n):
                for s in range(n):
                    total[p] += A[r, q, s] * C4[s, p]
            for p in range(n):
                A[r, q, p] = total[p]
    return np.sum(A**2)


@program(args=lambda rng: (rng.normal(size=(4, 4)),))
def adi(u):
    n = u.shape[0]
    v, p, q = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    a, b, c, d, e, f = -0.4, 1.8, -0.4, -0.3, 1.6, -0.3
    for t in range(1, 2):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            p[1:-1, j] = -c / (a * p[1:-1, j - 1] + b)
            q[1:-1, j] = (
                -d * u[j, :-2] + (1.0 + 2.0 * d) * u[j, 1:-1] - f * u[j, 2:] - a * q[1:-1, j - 1]
            ) / (a * p[1:-1, j - 1] + b)  # fmt: skip
        v[n - 1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, n - 1):
            p[1:-1, j] = -f / (d * p[1:-1, j - 1] + e)
            q[1:-1, j] = (-a * v[:-2, j] + (1.0 + 2.0 * a) * v[1:-1, j] - c * v[2:, j] - d * q[1:-1, j - 1]) / (
                d * p[1:-1, j - 1] + e
            )
        u[1:-1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]
    return np.sum(u**2)


@program(args=lambda rng: (rng.normal(size=(1, 8, 8, 1)), rng.normal(size=(3, 3, 1, 2)), rng.normal(size=2), rng.normal(size=(18, 3)), rng.normal(size=3)), wrt=(1, 2, 3, 4), level="python")
def small_lenet(image, w1, b1, w2, b2):
    def conv2d(x, w):
        k = w.shape[0]
        n, h, v = x.shape[0], x.shape[1] - k + 1, x.shape[2] - k + 1
        out = np.empty((n, h, v, w.shape[3]))
        for i in range(h):
            for j in range(v):
                out[:, i, j, :] = np.sum(x[:, i : i + k, j : j + k, :, np.newaxis] * w[np.newaxis], axis=(1, 2, 3))
        return out

    def maxpool2d(x):
        out = np.empty((x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]))
        for i in range(x.shape[1] // 2):
            for j in range(x.shape[2] // 2):
                out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
        return out

    x = np.maximum(conv2d(image, w1) + b1, 0)
    x = maxpool2d(x)
    x = np.reshape(x, (1, 18))
    return np.sum(x @ w2 + b2) ** 2


@program(args=lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=(4, 4)), rng.integers(0, 3, size=(3,))), wrt=(0, 1))
def training_inside_the_loss(w, x, labels, rate=0.1):
    """Differentiates through two steps of gradient descent whose gradient is written by hand."""
    n = 3
    for epoch in range(2):
        for i in range(n):
            z = w @ x[i]
            e = np.exp(z - z.max())
            p = e / e.sum()
            p[labels[i]] -= 1
            for k in range(len(p)):
                w[k] -= rate * p[k] * x[i]
    return np.sum(w**2)


@program(args=lambda rng: (rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), 0.01), wrt=(0, 1), level="python")
def verlet_with_walls(pos, vel, dt):
    n, history = len(pos), []
    force = np.zeros_like(pos)
    for step in range(3):
        force[:] = 0
        for i in range(n):
            for j in range(i):
                d = pos[i] - pos[j]
                r2 = d @ d + 0.2
                f = d / r2**2
                force[i] += f
                force[j] -= f
        vel = vel + dt * force
        pos = pos + dt * vel
        outside = np.abs(pos) > 2.5
        vel[outside] *= -1
        history.append(0.5 * np.sum(vel**2))
    return history[-1] + 0.1 * sum(history) + pos[0, 0]


@program(args=lambda rng: ({"w": rng.normal(size=(3, 3)), "h": [rng.normal(size=3) for _ in range(2)]}, rng.normal(size=(4, 3))), wrt=0, level="python")
def graph_network(params, features):
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    h = features.copy()
    for layer, bias in enumerate(params["h"]):
        messages = {}
        for a, b in edges:
            for src, dst in ((a, b), (b, a)):
                if dst not in messages:
                    messages[dst] = np.zeros(3)
                messages[dst] += h[src] @ params["w"]
        for node, message in messages.items():
            h[node] = np.tanh(h[node] + message / len(edges) + bias)
    return np.mean(h**2)


@program(args=lambda rng: (rng.uniform(1.2, 1.9, size=(3, 2)), np.array([0.3, 0.5, 0.8])), wrt=(0, 1), level="python")
def dispatcher(table, x):
    ops = [("scale", 0), ("add", 1), ("nop", None), ("scale", 2), ("stop", None), ("add", 0)]
    value, log = x.sum(), []
    for op, arg in ops:
        if op == "nop":
            continue
        if op == "stop":
            break
        if op == "scale":
            value *= table[arg, 0]
        elif op == "add":
            value += table[arg, 1] * x[arg]
        log.append(value)
    else:
        value = 0.0
    best, *others = sorted(log, reverse=True)
    return best * value + sum(others[:1])


@program(args=lambda rng: (rng.normal(size=30),), level="python")
def many_statements(x):
    a = x[0] * x[1]; b = x[2] + a; c = np.sin(b) * x[3]; d = c * c + a  # noqa: E702
    e = d if d > a else a; f = [e, d, c]; g = f[0] * f[1] + f[2]; h = (g, e)  # noqa: E702
    i, j = h
    k = x.reshape(5, 6)
    l = k[1:, ::2]; m = l.T @ l; n = m[0] + m[:, 1]; o = n.max() - n.min()  # noqa: E702
    p = np.zeros(4); p[0] = o; p[1:] = x[4:7]; p[::2] += i; q = p[1] * p[-1]  # noqa: E702
    r = {"q": q, "p": p}; s = r["q"] + r["p"].sum(); t = s * 0.1 + j; u = abs(t) + 1  # noqa: E702
    v = np.log(u); w = v ** 2 / (1 + u); y = w + x[-1] * x[29]; z = y - x[10:12].prod()  # noqa: E702
    return z + k[4, 5] * 0.5 + a - b * 0.01 + q * 0.2


@program(args=lambda rng: (rng.normal(size=(3, 3)),), level="python")
def cumulative_sum_by_recursion_and_views(a):
    work = a * 1.0

    def prefix(v):
        if len(v) == 1:
            return
        half = len(v) // 2
        prefix(v[:half])
        prefix(v[half:])
        v[half:] += v[half - 1]

    for row in work:
        prefix(row)
    prefix(work[:, 0])
    return np.sum(work * a)
