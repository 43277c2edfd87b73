"""Interpolation, quadrature and roots."""

import math

import numpy as np

from tests.programs import program
from tests.programs.polybench import normal


@program(
    args=lambda rng: (rng.normal(size=(4, 4)), np.array([0.4, 1.7, 2.2]), np.array([1.3, 0.2, 2.6])), wrt=(0, 1, 2)
)
def bilinear(img, xs, ys):
    out = []
    for x, y in zip(xs, ys):
        x0, y0 = int(np.floor(x)), int(np.floor(y))
        x1, y1 = min(x0 + 1, img.shape[1] - 1), min(y0 + 1, img.shape[0] - 1)
        fx, fy = x - x0, y - y0
        top = (1 - fx) * img[y0, x0] + fx * img[y0, x1]
        bot = (1 - fx) * img[y1, x0] + fx * img[y1, x1]
        out.append((1 - fy) * top + fy * bot)
    return sum(o**2 for o in out)


@program(
    args=lambda rng: (rng.normal(size=(4, 4)), np.array([0.4, 1.7, 2.2]), np.array([1.3, 0.2, 2.6])), wrt=(0, 1, 2)
)
def bilinear_vec(img, xs, ys):
    x0 = np.floor(xs).astype(int)
    y0 = np.floor(ys).astype(int)
    x1 = np.clip(x0 + 1, 0, img.shape[1] - 1)
    y1 = np.clip(y0 + 1, 0, img.shape[0] - 1)
    wx = xs - x0
    wy = ys - y0
    return np.sum(
        (
            img[y0, x0] * (1 - wx) * (1 - wy)
            + img[y0, x1] * wx * (1 - wy)
            + img[y1, x0] * (1 - wx) * wy
            + img[y1, x1] * wx * wy
        )
        ** 2
    )


@program(
    args=lambda rng: (rng.normal(size=5), rng.normal(size=6) + 5, rng.normal(size=5), rng.normal(size=6)),
    wrt=(0, 1, 2, 3),
)
def thomas_by_hand(a, b, c, d):
    n = len(d)
    cp, dp = [0.0] * n, [0.0] * n
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i - 1] * cp[i - 1]
        if i < n - 1:
            cp[i] = c[i] / m
        dp[i] = (d[i] - a[i - 1] * dp[i - 1]) / m
    x = [0.0] * n
    x[-1] = dp[-1]
    for i in reversed(range(n - 1)):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return sum(xi * xi for xi in x)


@program(
    args=lambda rng: (rng.normal(size=5), rng.normal(size=6) + 5, rng.normal(size=5), rng.normal(size=6)),
    wrt=(0, 1, 2, 3),
)
def thomas_inplace(a, b, c, d):
    ac, bc, cc, dc = map(np.array, (a, b, c, d))
    n = len(d)
    for it in range(1, n):
        mc = ac[it - 1] / bc[it - 1]
        bc[it] = bc[it] - mc * cc[it - 1]
        dc[it] = dc[it] - mc * dc[it - 1]
    xc = bc
    xc[-1] = dc[-1] / bc[-1]
    for il in range(n - 2, -1, -1):
        xc[il] = (dc[il] - cc[il] * xc[il + 1]) / bc[il]
    return np.sum(xc**2)


BUTCHER = {
    "rk4": ([[], [0.5], [0, 0.5], [0, 0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], [0, 0.5, 0.5, 1]),
    "heun": ([[], [1.0]], [0.5, 0.5], [0, 1]),
}


@program(args=lambda rng: (np.array([1.0, 0.5]), 0.7), wrt=(0, 1))
def runge_kutta_table(y, k):
    def f(t, y):
        return np.array([y[1], -k * y[0] + np.sin(t)])

    A, b, c = BUTCHER["rk4"]
    t, h = 0.0, 0.1
    for _ in range(4):
        ks = []
        for row, ci in zip(A, c):
            yi = y
            for aij, kj in zip(row, ks):
                yi = yi + h * aij * kj
            ks.append(f(t + ci * h, yi))
        y = y + h * sum(bi * ki for bi, ki in zip(b, ks))
        t += h
    return y @ y


@program(args=lambda rng: (np.array([1.0, 0.5]), 0.7), wrt=(0, 1))
def runge_kutta_kwargs(y, k, method="heun", **opts):
    A, b, c = BUTCHER[method]
    h = opts.get("h", 0.1)

    def f(y):
        return np.array([y[1], -k * y[0]])

    for _ in range(opts.get("steps", 3)):
        K = np.zeros((len(b), len(y)))
        for i in range(len(b)):
            K[i] = f(y + h * sum((A[i][j] * K[j] for j in range(i)), np.zeros(2)))
        y = y + h * np.dot(b, K)
    return np.sum(y**2)


@program(
    args=lambda rng: (np.array([0.0, 1, 2.5, 3.5, 5]), rng.normal(size=5), np.array([0.5, 1.2, 3.0, 4.9])),
    wrt=(0, 1, 2),
)
def natural_spline(x, y, q):
    n = len(x)
    h = np.diff(x)
    A = np.zeros((n, n))
    rhs = np.zeros(n)
    A[0, 0] = A[-1, -1] = 1
    for i in range(1, n - 1):
        A[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        rhs[i] = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    M = np.linalg.solve(A, rhs)
    idx = np.searchsorted(x, q) - 1
    out = 0.0
    for i, t in zip(idx, q):
        a = x[i + 1] - t
        b = t - x[i]
        out += (
            (M[i] * a**3 + M[i + 1] * b**3) / (6 * h[i])
            + (y[i] / h[i] - M[i] * h[i] / 6) * a
            + (y[i + 1] / h[i] - M[i + 1] * h[i] / 6) * b
        )
    return out


@program(
    args=lambda rng: (np.array([0.0, 1, 2.5, 3.5, 5]), rng.normal(size=5), np.array([0.5, 1.2, 3.0, 4.9])),
    wrt=(0, 1, 2),
)
def pchip(x, y, q):
    h = x[1:] - x[:-1]
    d = (y[1:] - y[:-1]) / h
    m = np.zeros_like(y)
    for k in range(1, len(x) - 1):
        if d[k - 1] * d[k] > 0:
            w1 = 2 * h[k] + h[k - 1]
            w2 = h[k] + 2 * h[k - 1]
            m[k] = (w1 + w2) / (w1 / d[k - 1] + w2 / d[k])
    m[0], m[-1] = d[0], d[-1]
    s = 0
    for t in q:
        k = next(i for i in range(len(x) - 1) if t <= x[i + 1])
        u = (t - x[k]) / h[k]
        s += (
            (1 + 2 * u) * (1 - u) ** 2 * y[k]
            + u * (1 - u) ** 2 * h[k] * m[k]
            + u * u * (3 - 2 * u) * y[k + 1]
            + u * u * (u - 1) * h[k] * m[k + 1]
        )
    return s


@program(args=(2.0,))
def newton_sqrt(a):
    x = a
    for _ in range(50):
        xn = 0.5 * (x + a / x)
        if abs(xn - x) < 1e-12:
            break
        x = xn
    return xn


@program(args=(2.0, 0.3), wrt=(0, 1))
def secant_by_hand(a, b):
    f = lambda x: x**3 + b * x - a
    x0, x1 = 0.5, 1.5
    it = 0
    while abs(x1 - x0) > 1e-10 and it < 50:
        x0, x1 = x1, x1 - f(x1) * (x1 - x0) / (f(x1) - f(x0))
        it += 1
    return x1


@program(args=(1.0, 2.0), wrt=(0, 1))
def adaptive_heun(y, k):
    t, h, tol = 0.0, 0.2, 1e-2
    n = 0
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        k1 = -k * y
        k2 = -k * (y + h * k1)
        y_e = y + h * k1
        y_h = y + h / 2 * (k1 + k2)
        err = abs(y_h - y_e)
        if err < tol:
            t += h
            y = y_h
        h = h * min(2.0, max(0.3, 0.9 * (tol / (err + 1e-12)) ** 0.5))
        n += 1
        if n > 100:
            break
    return y


@program(args=normal((4, 2)))
def bezier_de_casteljau(pts):
    total = 0.0
    for t in np.linspace(0, 1, 5):
        p = pts.copy()
        for k in range(1, len(p)):
            p[:-k] = (1 - t) * p[: len(p) - k] + t * p[1 : len(p) - k + 1]
        total += np.sum(p[0] ** 2)
    return total


@program(args=normal((4, 2)))
def de_casteljau_list(pts):
    t = 0.3
    level = list(pts)
    while len(level) > 1:
        level = [(1 - t) * a + t * b for a, b in zip(level, level[1:])]
    return np.sum(level[0] ** 2)


@program(args=lambda rng: (rng.normal(size=5), 0.4), wrt=(0, 1))
def bspline_basis(c, x):
    knots = np.array([0, 0, 0, 0, 0.5, 1, 1, 1, 1.0])

    def N(i, k):
        if k == 0:
            return 1.0 if knots[i] <= x < knots[i + 1] else 0.0
        a = knots[i + k] - knots[i]
        b = knots[i + k + 1] - knots[i + 1]
        l = 0.0 if a == 0 else (x - knots[i]) / a * N(i, k - 1)
        r = 0.0 if b == 0 else (knots[i + k + 1] - x) / b * N(i + 1, k - 1)
        return l + r

    return sum(c[i] * N(i, 3) for i in range(5)) ** 2


@program(args=normal((5,), (5,)), wrt=(0, 1))
def lagrange_interp(xs, ys):
    q = 0.3
    s = 0.0
    for i in range(5):
        t = ys[i]
        for j in range(5):
            if i != j:
                t *= (q - xs[j]) / (xs[i] - xs[j])
        s += t
    return np.tanh(s)


@program(args=normal((5,), (5,)), wrt=(0, 1))
def divided_differences(xs, ys):
    n = len(xs)
    coef = ys.copy()
    for j in range(1, n):
        coef[j:] = (coef[j:] - coef[j - 1 : -1]) / (xs[j:] - xs[:-j])
    p = coef[-1]
    for k in range(n - 2, -1, -1):
        p = p * (0.2 - xs[k]) + coef[k]
    return np.arctan(p)


@program(args=(0.7, 1.9), wrt=(0, 1))
def simpson_adaptive(a, b):
    f = lambda t: math.exp(-t * t) * math.sin(3 * t)

    def simpson(lo, hi):
        return (hi - lo) / 6 * (f(lo) + 4 * f((lo + hi) / 2) + f(hi))

    def rec(lo, hi, depth):
        mid = (lo + hi) / 2
        if depth == 0:
            return simpson(lo, mid) + simpson(mid, hi)
        return rec(lo, mid, depth - 1) + rec(mid, hi, depth - 1)

    return rec(a, b, 3)


@program(args=(0.7, 1.9), wrt=(0, 1))
def romberg(a, b):
    R = np.zeros((4, 4))
    f = lambda x: np.exp(-x) * np.cos(x)
    h = b - a
    R[0, 0] = 0.5 * h * (f(a) + f(b))
    for i in range(1, 4):
        h /= 2
        R[i, 0] = 0.5 * R[i - 1, 0] + h * sum(f(a + k * h) for k in range(1, 2**i, 2))
        for j in range(1, i + 1):
            R[i, j] = R[i, j - 1] + (R[i, j - 1] - R[i - 1, j - 1]) / (4**j - 1)
    return R[3, 3]


@program(args=(1.3, 0.4), wrt=(0, 1))
def continued_fraction_lentz(x, a):
    f, C, D = 1e-30, 1e-30, 0.0
    for j in range(30):
        aj = a + j
        bj = x + j
        D = bj + aj * D
        C = bj + aj / C
        D = 1 / D
        delta = C * D
        f *= delta
        if abs(delta - 1) < 1e-14:
            break
    return f * 1e30


@program(args=(1.3, 0.8), wrt=(0, 1))
def agm(a, g):
    while abs(a - g) > 1e-9:
        a, g = (a + g) / 2, math.sqrt(a * g)
    return a


@program(args=(0.6,), wrt=0)
def kepler_newton(e):
    M = 1.2
    E = M
    for _ in range(50):
        d = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
        E -= d
        if abs(d) < 1e-13:
            break
    else:
        raise RuntimeError("no convergence")
    return math.sqrt((1 + e) / (1 - e)) * math.tan(E / 2)
