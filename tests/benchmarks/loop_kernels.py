"""Element loops, as people write them for Numba: recurrences, differential equations, stencils, factorisations, dynamic programmes."""

import math

import numpy as np


def lorenz(sigma, rho, beta, dt, steps):
    x, y, z = 1.0, 1.0, 1.0
    for _ in range(steps):
        x, y, z = x + dt * sigma * (y - x), y + dt * (x * (rho - z) - y), z + dt * (x * y - beta * z)
    return x * x + y * y + z * z


def van_der_pol(x, v, mu, dt, steps):
    for _ in range(steps):
        a = mu * (1 - x * x) * v - x
        x, v = x + dt * v, v + dt * a
    return x * x + v * v


def lotka_volterra_midpoint(x, y, a, b, dt, steps):
    for _ in range(steps):
        mx = x + 0.5 * dt * (a * x - b * x * y)
        my = y + 0.5 * dt * (b * x * y - y)
        x, y = x + dt * (a * mx - b * mx * my), y + dt * (b * mx * my - my)
    return x + y


def pendulum(angle, speed, damping, dt, steps):
    for _ in range(steps):
        speed = speed - dt * (math.sin(angle) + damping * speed)
        angle = angle + dt * speed
    return angle * angle + speed * speed


def logistic_map(x, r, steps):
    for _ in range(steps):
        x = r * x * (1 - x)
    return x


def exponential_smoothing(alpha, xs):
    level, loss = xs[0], 0.0
    for i in range(1, len(xs)):
        error = xs[i] - level
        loss += error * error
        level += alpha * error
    return loss


def garch(omega, alpha, beta, returns):
    variance, loss = omega, 0.0
    for r in returns:
        variance = omega + alpha * r * r + beta * variance
        loss += math.log(variance) + r * r / variance
    return loss


def kalman(q, r, xs):
    mean, variance, loss = 0.0, 1.0, 0.0
    for x in xs:
        variance += q
        gain = variance / (variance + r)
        error = x - mean
        loss += error * error / (variance + r) + math.log(variance + r)
        mean += gain * error
        variance *= 1 - gain
    return loss


def autoregression(a, xs):
    loss = 0.0
    for t in range(len(a), len(xs)):
        guess = 0.0
        for k in range(len(a)):
            guess += a[k] * xs[t - 1 - k]
        loss += (xs[t] - guess) ** 2
    return loss


def scalar_network(w, u, b, xs):
    h, loss = 0.0, 0.0
    for x in xs:
        h = math.tanh(w * x + u * h + b)
        loss += (h - x) ** 2
    return loss


def horner(c, xs):
    total = 0.0
    for x in xs:
        y = 0.0
        for k in range(len(c)):
            y = y * x + c[k]
        total += y * y
    return total


def option_paths(price, rate, volatility, draws, dt):
    total = 0.0
    for i in range(draws.shape[0]):
        s = price
        for j in range(draws.shape[1]):
            s = s * math.exp((rate - 0.5 * volatility * volatility) * dt + volatility * math.sqrt(dt) * draws[i, j])
        total += max(s - price, 0.0)
    return total / draws.shape[0]


def jacobi_1d(a, steps):
    a = a.copy()
    b = a.copy()
    for _ in range(steps):
        for i in range(1, len(a) - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, len(a) - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])
    return np.sum(a * a)


def jacobi_2d(a, steps):
    a = a.copy()
    b = a.copy()
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        a, b = b, a
    return np.sum(a * a)


def seidel_2d(a, steps):
    a = a.copy()
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
    return np.sum(a * a)


def burgers(u, viscosity, steps):
    u = u.copy()
    for _ in range(steps):
        v = u.copy()
        for i in range(1, len(u) - 1):
            u[i] = v[i] - 0.1 * v[i] * (v[i] - v[i - 1]) + viscosity * (v[i + 1] - 2 * v[i] + v[i - 1])
    return np.sum(u * u)


def product_of_matrices(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return np.sum(c * c)


def triangular_solve(l, b):
    x = np.zeros(len(b))
    for i in range(len(b)):
        s = b[i]
        for j in range(i):
            s -= l[i, j] * x[j]
        x[i] = s / l[i, i]
    return np.sum(x * x)


def cholesky(a):
    a = a.copy()
    n = len(a)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = math.sqrt(a[i, i])
    total = 0.0
    for i in range(n):
        total += math.log(a[i, i])
    return total


def lu(a):
    a = a.copy()
    n = len(a)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]
    total = 0.0
    for i in range(n):
        total += a[i, i] * a[i, i]
    return total


def tridiagonal(a, b, c, d):
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[n - 1] = dp[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.sum(x * x)


def time_warping(x, y):
    n, m = len(x), len(y)
    d = np.zeros((n + 1, m + 1))
    d[0, 1:] = 1e9
    d[1:, 0] = 1e9
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            d[i, j] = cost + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[n, m]


def gravity(p, v, m, dt, steps):
    p = p.copy()
    v = v.copy()
    n = len(m)
    for _ in range(steps):
        for i in range(n):
            ax = 0.0
            ay = 0.0
            for j in range(n):
                dx = p[j, 0] - p[i, 0]
                dy = p[j, 1] - p[i, 1]
                r2 = dx * dx + dy * dy + 0.1
                w = m[j] / (r2 * math.sqrt(r2))
                ax += w * dx
                ay += w * dy
            v[i, 0] += dt * ax
            v[i, 1] += dt * ay
        for i in range(n):
            p[i, 0] += dt * v[i, 0]
            p[i, 1] += dt * v[i, 1]
    return np.sum(p * p)


def hidden_markov(start, step, seen, xs):
    alpha = start * seen[:, xs[0]]
    n = len(start)
    loss = 0.0
    for t in range(1, len(xs)):
        new = np.zeros(n)
        total = 0.0
        for j in range(n):
            s = 0.0
            for i in range(n):
                s += alpha[i] * step[i, j]
            new[j] = s * seen[j, xs[t]]
            total += new[j]
        loss += math.log(total)
        alpha = new / total
    return loss


def kernels():
    """Name -> (function, wrt, arguments)."""
    rng = np.random.default_rng(0)
    spd = rng.normal(size=(60, 60))
    spd = spd @ spd.T + 60 * np.eye(60)
    lower = np.tril(rng.normal(size=(200, 200))) + 20 * np.eye(200)
    rows = rng.uniform(0.1, 1.0, (6, 6))
    return {
        "lorenz": (lorenz, ("sigma", "rho", "beta"), (10.0, 28.0, 8 / 3, 0.001, 20_000)),
        "van der pol": (van_der_pol, ("x", "v", "mu"), (1.0, 0.0, 1.5, 0.001, 20_000)),
        "lotka volterra": (lotka_volterra_midpoint, ("x", "y", "a", "b"), (1.0, 0.5, 1.1, 0.7, 0.001, 20_000)),
        "pendulum": (pendulum, ("angle", "speed", "damping"), (1.0, 0.0, 0.1, 0.001, 20_000)),
        "logistic map": (logistic_map, ("x", "r"), (0.3, 2.9, 20_000)),
        "exponential smoothing": (exponential_smoothing, ("alpha",), (0.3, rng.normal(size=20_000))),
        "garch": (garch, ("omega", "alpha", "beta"), (0.1, 0.1, 0.8, rng.normal(size=20_000))),
        "kalman filter": (kalman, ("q", "r"), (0.1, 1.0, rng.normal(size=20_000))),
        "autoregression": (autoregression, ("a",), (rng.normal(size=8), rng.normal(size=5_000))),
        "scalar network": (scalar_network, ("w", "u", "b"), (0.5, 0.3, 0.1, rng.normal(size=20_000))),
        "horner": (horner, ("c",), (rng.normal(size=8), rng.uniform(-1, 1, 5_000))),
        "option paths": (option_paths, ("price", "rate", "volatility"), (100.0, 0.02, 0.2, rng.normal(size=(200, 100)), 0.01)),
        "jacobi 1d": (jacobi_1d, ("a",), (rng.normal(size=400), 50)),
        "jacobi 2d": (jacobi_2d, ("a",), (rng.normal(size=(60, 60)), 10)),
        "seidel 2d": (seidel_2d, ("a",), (rng.normal(size=(60, 60)), 10)),
        "burgers": (burgers, ("u", "viscosity"), (rng.uniform(0, 1, 400), 0.1, 50)),
        "matrix product": (product_of_matrices, ("a", "b"), (rng.normal(size=(40, 40)), rng.normal(size=(40, 40)))),
        "triangular solve": (triangular_solve, ("l", "b"), (lower, rng.normal(size=200))),
        "cholesky": (cholesky, ("a",), (spd,)),
        "lu": (lu, ("a",), (spd,)),
        "tridiagonal": (tridiagonal, ("a", "b", "c", "d"), tuple(rng.uniform(0, 1, 5_000) + s for s in (0.0, 3.0, 0.0, 0.0))),
        "time warping": (time_warping, ("x", "y"), (rng.normal(size=150), rng.normal(size=150))),
        "gravity": (gravity, ("p", "v", "m"), (rng.normal(size=(12, 2)), rng.normal(size=(12, 2)), rng.uniform(1, 2, 12), 0.01, 50)),
        "hidden markov": (hidden_markov, ("start", "step", "seen"), (rows[0], rows, rows, rng.integers(0, 6, 1_000))),
    }
