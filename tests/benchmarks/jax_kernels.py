"""The loops of `loop_kernels` in JAX, as its users write them: what follows in time is a scan, the rest works on whole arrays.

`lax.fori_loop` has a derivative in reverse mode where its bounds are known while compiling.  Each function takes what its twin takes.
"""

import jax
import jax.numpy as jnp
from jax import lax


def lorenz(sigma, rho, beta, dt, steps):
    def step(_, state):
        x, y, z = state
        return x + dt * sigma * (y - x), y + dt * (x * (rho - z) - y), z + dt * (x * y - beta * z)

    x, y, z = lax.fori_loop(0, steps, step, (1.0, 1.0, 1.0))
    return x * x + y * y + z * z


def van_der_pol(x, v, mu, dt, steps):
    def step(_, state):
        x, v = state
        return x + dt * v, v + dt * (mu * (1 - x * x) * v - x)

    x, v = lax.fori_loop(0, steps, step, (x, v))
    return x * x + v * v


def lotka_volterra_midpoint(x, y, a, b, dt, steps):
    def step(_, state):
        x, y = state
        mx = x + 0.5 * dt * (a * x - b * x * y)
        my = y + 0.5 * dt * (b * x * y - y)
        return x + dt * (a * mx - b * mx * my), y + dt * (b * mx * my - my)

    x, y = lax.fori_loop(0, steps, step, (x, y))
    return x + y


def pendulum(angle, speed, damping, dt, steps):
    def step(_, state):
        angle, speed = state
        speed = speed - dt * (jnp.sin(angle) + damping * speed)
        return angle + dt * speed, speed

    angle, speed = lax.fori_loop(0, steps, step, (angle, speed))
    return angle * angle + speed * speed


def logistic_map(x, r, steps):
    return lax.fori_loop(0, steps, lambda _, x: r * x * (1 - x), x)


def exponential_smoothing(alpha, xs):
    def step(level, x):
        error = x - level
        return level + alpha * error, error * error

    return jnp.sum(lax.scan(step, xs[0], xs[1:])[1])


def garch(omega, alpha, beta, returns):
    def step(variance, r):
        variance = omega + alpha * r * r + beta * variance
        return variance, jnp.log(variance) + r * r / variance

    return jnp.sum(lax.scan(step, omega, returns)[1])


def kalman(q, r, xs):
    def step(state, x):
        mean, variance = state
        variance = variance + q
        gain = variance / (variance + r)
        error = x - mean
        loss = error * error / (variance + r) + jnp.log(variance + r)
        return (mean + gain * error, variance * (1 - gain)), loss

    return jnp.sum(lax.scan(step, (0.0, 1.0), xs)[1])


def autoregression(a, xs):
    def step(before, x):
        guess = jnp.dot(a, before)
        return jnp.concatenate((x[None], before[:-1])), (x - guess) ** 2

    n = len(a)
    return jnp.sum(lax.scan(step, xs[:n][::-1], xs[n:])[1])


def scalar_network(w, u, b, xs):
    def step(h, x):
        h = jnp.tanh(w * x + u * h + b)
        return h, (h - x) ** 2

    return jnp.sum(lax.scan(step, 0.0, xs)[1])


def horner(c, xs):
    y = lax.fori_loop(0, len(c), lambda k, y: y * xs + c[k], jnp.zeros_like(xs))
    return jnp.sum(y * y)


def option_paths(price, rate, volatility, draws, dt):
    def step(s, drawn):
        return s * jnp.exp((rate - 0.5 * volatility * volatility) * dt + volatility * jnp.sqrt(dt) * drawn), None

    s, _ = lax.scan(step, jnp.full(draws.shape[0], price), draws.T)
    return jnp.sum(jnp.maximum(s - price, 0.0)) / draws.shape[0]


def jacobi_1d(a, steps):
    def step(_, state):
        a, b = state
        b = b.at[1:-1].set(0.33333 * (a[:-2] + a[1:-1] + a[2:]))
        a = a.at[1:-1].set(0.33333 * (b[:-2] + b[1:-1] + b[2:]))
        return a, b

    a, _ = lax.fori_loop(0, steps, step, (a, a))
    return jnp.sum(a * a)


def jacobi_2d(a, steps):
    def step(_, a):
        inner = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        return a.at[1:-1, 1:-1].set(inner)

    a = lax.fori_loop(0, steps, step, a)
    return jnp.sum(a * a)


def seidel_2d(a, steps):
    def row(i, a):
        fixed = 0.2 * (a[i, 1:-1] + a[i, 2:] + a[i + 1, 1:-1] + a[i - 1, 1:-1])

        def cell(left, rest):
            new = rest + 0.2 * left
            return new, new

        _, new = lax.scan(cell, a[i, 0], fixed)
        return a.at[i, 1:-1].set(new)

    a = lax.fori_loop(0, steps, lambda _, a: lax.fori_loop(1, a.shape[0] - 1, row, a), a)
    return jnp.sum(a * a)


def burgers(u, viscosity, steps):
    def step(_, v):
        inner = v[1:-1] - 0.1 * v[1:-1] * (v[1:-1] - v[:-2]) + viscosity * (v[2:] - 2 * v[1:-1] + v[:-2])
        return v.at[1:-1].set(inner)

    u = lax.fori_loop(0, steps, step, u)
    return jnp.sum(u * u)


def product_of_matrices(a, b):
    c = lax.fori_loop(0, a.shape[1], lambda k, c: c + jnp.outer(a[:, k], b[k]), jnp.zeros((a.shape[0], b.shape[1])))
    return jnp.sum(c * c)


def triangular_solve(l, b):
    def row(i, x):
        return x.at[i].set((b[i] - jnp.dot(l[i], x)) / l[i, i])  # what is not yet solved for is zero

    x = lax.fori_loop(0, len(b), row, jnp.zeros(len(b)))
    return jnp.sum(x * x)


def cholesky(a):
    n = len(a)

    def column(j, l):
        done = jnp.where(jnp.arange(n) < j, l[j], 0.0)
        rest = a[:, j] - l @ done
        return l.at[:, j].set(jnp.where(jnp.arange(n) >= j, rest / jnp.sqrt(rest[j]), 0.0))

    l = lax.fori_loop(0, n, column, jnp.zeros((n, n)))
    return jnp.sum(jnp.log(jnp.diagonal(l)))


def lu(a):
    n = len(a)

    def column(k, a):
        below = jnp.arange(n) > k
        factors = jnp.where(below, a[:, k] / a[k, k], 0.0)
        a = a - jnp.outer(factors, jnp.where(below, a[k], 0.0))
        return a.at[:, k].set(jnp.where(below, factors, a[:, k]))

    a = lax.fori_loop(0, n, column, a)
    return jnp.sum(jnp.diagonal(a) ** 2)


def tridiagonal(a, b, c, d):
    def forward(before, row):
        cp, dp = before
        a, b, c, d = row
        m = b - a * cp
        new = c / m, (d - a * dp) / m
        return new, new

    def backward(x, row):
        cp, dp = row
        x = dp - cp * x
        return x, x

    first = c[0] / b[0], d[0] / b[0]
    (_, last), (cp, dp) = lax.scan(forward, first, (a[1:], b[1:], c[1:], d[1:]))
    cp, dp = jnp.concatenate((first[0][None], cp)), jnp.concatenate((first[1][None], dp))
    _, x = lax.scan(backward, last, (cp[:-1], dp[:-1]), reverse=True)
    return jnp.sum(x * x) + last * last


def time_warping(x, y):
    def row(above, xi):
        def cell(left, over):
            above, diagonal, yj = over
            new = (xi - yj) ** 2 + jnp.minimum(jnp.minimum(above, left), diagonal)
            return new, new

        _, new = lax.scan(cell, 1e9, (above[1:], above[:-1], y))
        return jnp.concatenate((jnp.full(1, 1e9), new)), None

    start = jnp.full(len(y) + 1, 1e9).at[0].set(0.0)
    return lax.scan(row, start, x)[0][-1]


def gravity(p, v, m, dt, steps):
    def step(_, state):
        p, v = state
        d = p[None, :, :] - p[:, None, :]
        r2 = jnp.sum(d * d, axis=2) + 0.1
        v = v + dt * jnp.sum((m / (r2 * jnp.sqrt(r2)))[:, :, None] * d, axis=1)
        return p + dt * v, v

    p, _ = lax.fori_loop(0, steps, step, (p, v))
    return jnp.sum(p * p)


def hidden_markov(start, step, seen, xs):
    def forward(alpha, x):
        new = (alpha @ step) * seen[:, x]
        total = jnp.sum(new)
        return new / total, jnp.log(total)

    return jnp.sum(lax.scan(forward, start * seen[:, xs[0]], xs[1:])[1])


def gradient(function, wrt, args):
    """The gradient under `jax.jit`, and its arguments on the device: integers that are no arrays are known while compiling."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    static = tuple(k for k, a in enumerate(args) if isinstance(a, int))
    compiled = jax.jit(jax.grad(function, argnums=tuple(map(names.index, wrt))), static_argnums=static)
    return compiled, tuple(a if k in static else jnp.asarray(a) for k, a in enumerate(args))
