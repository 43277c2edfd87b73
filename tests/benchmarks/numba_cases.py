"""Functions whose generated gradient must compile with `numba.njit` as it stands."""

import numpy as np

from sourcead import grad


@grad(wrt=("w", "u", "b"))
def elman(w, u, b, xs, y):
    """The loss of a recurrent network, from the design page."""
    h = np.zeros(b.shape)
    for x in xs:
        h = np.tanh(w @ x + u @ h + b)
    return np.mean((h - y) ** 2)


@grad(wrt=("x", "y", "z", "sigma", "rho", "beta"))
def lorenz(x, y, z, sigma, rho, beta, dt, steps):
    """The squared distance from the origin after some Euler steps of the Lorenz system."""
    for _ in range(steps):
        x, y, z = x + dt * sigma * (y - x), y + dt * (x * (rho - z) - y), z + dt * (x * y - beta * z)
    return x * x + y * y + z * z


@grad(wrt=("a", "k"))
def stencil(a, k, steps):
    """Sweeps of diffusion over a grid, each cell overwritten at once, so that the next ones see its new value."""
    a = a.copy()
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] += k * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] - 4 * a[i, j])
    return np.sum(a**2)


def cases():
    """Name to the gradient function and its arguments, all float64."""
    rng = np.random.default_rng(0)
    return {
        "Elman": (elman, (*(rng.normal(size=s) for s in ((4, 3), (4, 4), (4,), (6, 3), (4,))),)),
        "Lorenz": (lorenz, (1.0, 1.5, 2.0, 10.0, 28.0, 8 / 3, 0.01, 40)),
        "2-D stencil": (stencil, (rng.normal(size=(7, 6)), 0.15, 3)),
    }
