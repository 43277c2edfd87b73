"""Loops over elements of `loop_kernels` in JAX, loop for loop: each write in place is an `.at[...].set`.

Where the bounds of a loop depend on an outer loop (the factorisations, the triangular solve), JAX has no derivative in reverse mode.
What runs over time alone has one form, that of `jax_kernels`.
"""

import jax.numpy as jnp
from jax.lax import fori_loop, scan


def autoregression(a, xs):
    n = len(a)

    def step(loss, t):
        guess = fori_loop(0, n, lambda k, guess: guess + a[k] * xs[t - 1 - k], 0.0)
        return loss + (xs[t] - guess) ** 2, None

    return scan(step, 0.0, jnp.arange(n, len(xs)))[0]


def horner(c, xs):
    def step(total, x):
        y = fori_loop(0, len(c), lambda k, y: y * x + c[k], 0.0)
        return total + y * y, None

    return scan(step, 0.0, xs)[0]


def option_paths(price, rate, volatility, draws, dt):
    def path(total, drawn):
        def step(s, z):
            return s * jnp.exp((rate - 0.5 * volatility * volatility) * dt + volatility * jnp.sqrt(dt) * z), None

        return total + jnp.maximum(scan(step, price, drawn)[0] - price, 0.0), None

    return scan(path, 0.0, draws)[0] / draws.shape[0]


def jacobi_1d(a, steps):
    n = len(a)

    def sweep(_, state):
        a, b = state
        b = fori_loop(1, n - 1, lambda i, b: b.at[i].set(0.33333 * (a[i - 1] + a[i] + a[i + 1])), b)
        a = fori_loop(1, n - 1, lambda i, a: a.at[i].set(0.33333 * (b[i - 1] + b[i] + b[i + 1])), a)
        return a, b

    a, _ = fori_loop(0, steps, sweep, (a, a))
    return jnp.sum(a * a)


def jacobi_2d(a, steps):
    n, m = a.shape

    def sweep(_, state):
        a, b = state

        def cell(i, j, b):
            return b.at[i, j].set(0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j]))

        return cells(n, m, cell, b), a

    a, _ = fori_loop(0, steps, sweep, (a, a))
    return jnp.sum(a * a)


def seidel_2d(a, steps):
    def cell(i, j, a):
        return a.at[i, j].set(0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j]))

    a = fori_loop(0, steps, lambda _, a: cells(*a.shape, cell, a), a)
    return jnp.sum(a * a)


def cells(n, m, cell, a):
    """`cell(i, j, a)` for each inner cell of a grid, row by row."""
    return fori_loop(1, n - 1, lambda i, a: fori_loop(1, m - 1, lambda j, a: cell(i, j, a), a), a)


def burgers(u, viscosity, steps):
    def sweep(_, v):
        def cell(i, u):
            return u.at[i].set(v[i] - 0.1 * v[i] * (v[i] - v[i - 1]) + viscosity * (v[i + 1] - 2 * v[i] + v[i - 1]))

        return fori_loop(1, len(v) - 1, cell, v)

    u = fori_loop(0, steps, sweep, u)
    return jnp.sum(u * u)


def product_of_matrices(a, b):
    (n, m), p = a.shape, b.shape[1]

    def cell(i, j, c):
        return fori_loop(0, m, lambda k, c: c.at[i, j].add(a[i, k] * b[k, j]), c)

    c = fori_loop(0, n, lambda i, c: fori_loop(0, p, lambda j, c: cell(i, j, c), c), jnp.zeros((n, p)))
    return jnp.sum(c * c)


def gravity(p, v, m, dt, steps):
    n = len(m)

    def step(_, state):
        p, v = state

        def body(i, v):
            def pull(j, sums):
                dx, dy = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1]
                r2 = dx * dx + dy * dy + 0.1
                w = m[j] / (r2 * jnp.sqrt(r2))
                return sums[0] + w * dx, sums[1] + w * dy

            ax, ay = fori_loop(0, n, pull, (0.0, 0.0))
            return v.at[i, 0].add(dt * ax).at[i, 1].add(dt * ay)

        v = fori_loop(0, n, body, v)
        return fori_loop(0, n, lambda i, p: p.at[i, 0].add(dt * v[i, 0]).at[i, 1].add(dt * v[i, 1]), p), v

    p, _ = fori_loop(0, steps, step, (p, v))
    return jnp.sum(p * p)


def hidden_markov(start, step, seen, xs):
    n = len(start)

    def forward(state, x):
        alpha, loss = state

        def cell(j, sums):
            new, total = sums
            s = fori_loop(0, n, lambda i, s: s + alpha[i] * step[i, j], 0.0)
            new = new.at[j].set(s * seen[j, x])
            return new, total + new[j]

        new, total = fori_loop(0, n, cell, (jnp.zeros(n), 0.0))
        return (new / total, loss + jnp.log(total)), None

    return scan(forward, (start * seen[:, xs[0]], 0.0), xs[1:])[0][1]
