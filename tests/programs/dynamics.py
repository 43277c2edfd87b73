"""Recurrences, ordinary and partial differential equations, particles."""

import numpy as np

from tests.programs import program


@program(args=(1.0, 2.0, 3.0, 10.0, 28.0, 8 / 3), wrt=(0, 1, 2, 3, 4, 5))
def lorenz(x, y, z, sigma, rho, beta):
    dt = 0.01
    for _ in range(30):
        dx = sigma * (y - x)
        dy = x * (rho - z) - y
        dz = x * y - beta * z
        x = x + dt * dx
        y = y + dt * dy
        z = z + dt * dz
    return x * x + y + z


@program(args=lambda rng: (np.array([1.0, 2.0, 3.0]),))
def lorenz_as_an_array(s):
    for _ in range(20):
        ds = np.array([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]])
        s = s + 0.01 * ds
    return np.sum(s)


def pendulum(state, length):
    theta, omega = state
    return np.array([omega, -9.81 / length * np.sin(theta)])


@program(args=lambda rng: (np.array([0.5, 0.1]), 1.2), wrt=(0, 1))
def rk4(y, length):
    h = 0.05
    for step in range(10):
        k1 = pendulum(y, length)
        k2 = pendulum(y + h / 2 * k1, length)
        k3 = pendulum(y + h / 2 * k2, length)
        k4 = pendulum(y + h * k3, length)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y[0] ** 2 + 0.3 * y[1]


@program(args=lambda rng: (rng.normal(size=2), rng.normal(size=2), 0.1), wrt=("q", "p", "dt"), level="python")
def leapfrog(q, p, dt):
    def force(q):
        return -q - 0.4 * q**3

    p = p + 0.5 * dt * force(q)
    for _ in range(5):
        q = q + dt * p
        p = p + dt * force(q)
    q = q + dt * p
    p = p + 0.5 * dt * force(q)
    return 0.5 * np.sum(p**2) + 0.5 * np.sum(q**2) + q[0]


@program(args=lambda rng: (rng.normal(size=8), 0.3), wrt=(0, 1))
def heat_explicit(u, alpha):
    for _ in range(5):
        u[1:-1] = u[1:-1] + alpha * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


@program(args=lambda rng: (rng.normal(size=(5, 5)),))
def jacobi_2d(a):
    b = a.copy()
    for t in range(2):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return np.sum(a * a)


@program(args=lambda rng: (rng.normal(size=(4, 4)),))
def seidel_2d(a):
    for t in range(2):
        for i in range(1, 3):
            for j in range(1, 3):
                a[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] + a[i, j]) / 5.0
    return np.sum(a**2)


@program(args=lambda rng: (rng.normal(size=8), 0.4), wrt=(0, 1))
def burgers(u, c):
    n = len(u)
    for t in range(4):
        un = u.copy()
        for i in range(n):
            u[i] = un[i] - c * 0.1 * un[i] * (un[i] - un[i - 1]) + 0.02 * (un[(i + 1) % n] - 2 * un[i] + un[i - 1])
    return u @ u


@program(args=lambda rng: (rng.normal(size=6), rng.normal(size=6)), wrt=(0, 1))
def wave_equation(u0, u1):
    previous, current = u0.copy(), u1.copy()
    for t in range(5):
        nxt = np.zeros(6)
        nxt[1:-1] = 2 * current[1:-1] - previous[1:-1] + 0.25 * (current[2:] - 2 * current[1:-1] + current[:-2])
        previous, current = current, nxt
    return np.sum(current**2) + previous[2]


@program(args=lambda rng: (rng.normal(size=(4, 2)), rng.uniform(0.5, 2, size=4)), wrt=(0, 1))
def nbody_energy(r, m):
    e = 0.0
    n = len(m)
    for i in range(n):
        for j in range(i + 1, n):
            d = r[i] - r[j]
            e -= m[i] * m[j] / np.sqrt(np.sum(d * d) + 0.05)
    return e


@program(args=lambda rng: (rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), np.array([1.0, 2.0, 0.5])), wrt=(0, 1, 2), level="python")
def nbody_steps(pos, vel, mass):
    for _ in range(2):
        acc = np.zeros_like(pos)
        for i, pi in enumerate(pos):
            for j, pj in enumerate(pos):
                if i == j:
                    continue
                d = pj - pi
                acc[i] += mass[j] * d / (d @ d + 0.1) ** 1.5
        vel += 0.05 * acc
        pos += 0.05 * vel
    return np.sum(pos**2) + np.sum(vel[0])


@program(args=lambda rng: (rng.normal(size=(5, 3)),))
def lennard_jones(x):
    d = x[:, None, :] - x[None, :, :]
    r2 = np.sum(d**2, axis=-1) + np.eye(5)
    s6 = 1.0 / (r2 + 0.5) ** 3
    upper = np.triu(np.ones((5, 5)), k=1)
    return 4 * np.sum((s6**2 - s6) * upper)


@program(args=lambda rng: (rng.normal(size=(3, 4)), 0.5), wrt=(0, 1))
def ising_mean_field(coupling, beta):
    j = coupling @ coupling.T
    m = np.full(3, 0.1)
    for _ in range(6):
        m = np.tanh(beta * (j @ m) * 0.2 + 0.05)
    return np.sum(m)


@program(args=(1.5, 1.0, 0.7, 0.4), wrt=("a", "b", "c", "d"))
def lotka_volterra(a, b, c, d):
    x, y, t = 1.0, 0.5, 0
    while t < 12:
        x, y = x + 0.05 * (a * x - b * x * y), y + 0.05 * (d * x * y - c * y)
        t += 1
    return x * y


@program(args=(0.9, 0.3, 0.1), wrt=(0, 1, 2), level="python")
def sir_epidemic(s, beta, gamma):
    i = 1 - s
    r = 0.0
    peak = 0.0
    for day in range(10):
        new = beta * s * i
        recovered = gamma * i
        s, i, r = s - new, i + new - recovered, r + recovered
        peak = max(peak, i)
    return peak + r


@program(args=(0.6, 0.4), wrt=(0, 1))
def henon_map(x, y):
    for _ in range(5): x, y = 1 - 1.4 * x * x + y, 0.3 * x  # noqa: E701
    return x + y


@program(args=lambda rng: (rng.normal(size=(4, 4)), rng.normal(size=(5, 4)), rng.normal(size=(4, 5))), wrt=(0, 1, 2))
def fdtd_2d(hz, ex, ey):
    for t in range(2):
        ey[:, 0] = t
        ey[:, 1:-1] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        ex[1:-1] -= 0.5 * (hz[1:] - hz[:-1])
        hz -= 0.7 * (ey[:, 1:] - ey[:, :-1] + ex[1:] - ex[:-1])
    return np.sum(hz**2) + np.sum(ex) + np.sum(ey * ey)


@program(args=lambda rng: (rng.normal(size=(4, 4)),))
def adi_like_sweeps(u):
    n = u.shape[0]
    for t in range(2):
        for i in range(1, n):
            u[i, :] = u[i, :] - 0.3 * u[i - 1, :]
        for i in range(n - 2, -1, -1):
            u[i] = (u[i] + 0.2 * u[i + 1] ** 2) / 1.5
        for j in range(1, n):
            u[:, j] -= 0.3 * u[:, j - 1]
    return np.sum(u * u)


@program(args=lambda rng: (rng.normal(size=(3, 3, 3)),), level="python")
def heat_3d(a):
    b = np.array(a)
    for t in range(2):
        for i in range(1, 2):
            for j in range(1, 2):
                for k in range(1, 2):
                    b[i, j, k] = a[i, j, k] + 0.125 * (
                        a[i + 1, j, k] + a[i - 1, j, k] + a[i, j + 1, k] + a[i, j - 1, k] + a[i, j, k + 1]
                        + a[i, j, k - 1] - 6.0 * a[i, j, k]
                    )  # fmt: skip
        a, b = b, a
    return np.sum(a**2) + np.sum(b**3)


@program(args=lambda rng: (0.5, 0.2, rng.normal(size=10)), wrt=(0, 1), level="python")
def stochastic_volatility(mu, sigma, shocks):
    price, path = 1.0, []
    for z in shocks:
        price = price * np.exp((mu - 0.5 * sigma**2) * 0.1 + sigma * np.sqrt(0.1) * z)
        path.append(price)
    average = sum(path) / len(path)
    return average * price


@program(args=lambda rng: (100.0, 0.3, rng.normal(size=40)), wrt=("spot", "vol"))
def monte_carlo_option(spot, vol, normals, strike=95.0):
    final = spot * np.exp(-0.5 * vol * vol + vol * normals)
    payoff = np.maximum(final - strike, 0.0)
    return payoff.mean()


@program(args=(100.0, 0.25, 0.02), wrt=(0, 1, 2), level="python")
def binomial_option_tree(s, vol, r):
    n, dt = 6, 1 / 6
    up = np.exp(vol * np.sqrt(dt))
    q = (np.exp(r * dt) - 1 / up) / (up - 1 / up)
    v = np.zeros(n + 1)
    for i in range(n + 1):
        v[i] = max(s * up ** (2 * i - n) - 97.3, 0.0)
    for t in range(n - 1, -1, -1):
        for i in range(t + 1):
            v[i] = np.exp(-r * dt) * (q * v[i + 1] + (1 - q) * v[i])
    return v[0]


@program(args=lambda rng: (rng.normal(size=3) * 0.1, rng.normal(size=3)), wrt=(0, 1))
def cellular_transport(k, c0):
    """Compartments exchanging mass; the state is a list of scalars."""
    c = [c0[0], c0[1], c0[2]]
    for _ in range(6):
        flow01 = np.exp(k[0]) * c[0] - k[1] * c[1]
        flow12 = k[2] * (c[1] - c[2])
        c[0] = c[0] - 0.1 * flow01
        c[1] = c[1] + 0.1 * (flow01 - flow12)
        c[2] += 0.1 * flow12
    return c[0] * c[1] + c[2] ** 2
