"""How exact the derivatives of solutions are: beside optimistix, diffrax and jaxopt, and beside differences, for one tolerance each.

    python -m tests.benchmarks solvers

The error is that of the gradient, relative to its largest part; the exact gradient has a closed form, or is that of a system that is
solved by hand. A peer that is not installed (`pip install jax optimistix diffrax jaxopt`) has no figure.
"""

import argparse
import importlib.util
from collections.abc import Callable, Iterator

import numpy as np
from scipy import integrate, optimize

from sourcead import grad
from tests.benchmarks.report import Row, at_most, measure, write_json

A = np.vander(np.linspace(0.0, 1.0, 12), 4)
Y = np.sin(3.0 * np.linspace(0.0, 1.0, 12))
P = np.array([0.5, 1.0])
FLOOR = 1e-13  # below this, errors are those of rounding


def root(p):
    x = optimize.fsolve(lambda x: np.array([3 * x[0] + x[1] + p[0] * np.tanh(x[0]) - 1, x[0] + 2 * x[1] - p[1]]), np.zeros(2), xtol=1e-10)
    return x[0] * x[1]


def exact_root(p):
    x = optimize.fsolve(lambda x: [3 * x[0] + x[1] + p[0] * np.tanh(x[0]) - 1, x[0] + 2 * x[1] - p[1]], np.zeros(2), xtol=1e-15)
    slopes = np.array([[3 + p[0] / np.cosh(x[0]) ** 2, 1.0], [1.0, 2.0]])
    d = np.linalg.solve(slopes.T, x[::-1])
    return np.array([-d[0] * np.tanh(x[0]), d[1]])


def decay(p):
    return integrate.solve_ivp(lambda t, y: -p[0] * y, (0.0, 2.0), 3.0 * p[1:], rtol=1e-8, atol=1e-8).y[0, -1]


def exact_decay(p):
    return 3.0 * np.exp(-2.0 * p[0]) * np.array([-2.0 * p[1], 1.0])


def ridge(p):
    def misfit(w):
        return np.sum((A @ w - p[1] * Y) ** 2) + p[0] * w @ w

    w = optimize.minimize(misfit, np.zeros(4), jac=lambda w: 2 * A.T @ (A @ w - p[1] * Y) + 2 * p[0] * w, method="BFGS", tol=1e-8).x
    return w @ w


def exact_ridge(p):
    m = A.T @ A + p[0] * np.eye(4)
    w = np.linalg.solve(m, A.T @ Y * p[1])
    return np.array([-2.0 * w @ np.linalg.solve(m, w), 2.0 * w @ w / p[1]])


def by_optimistix() -> Callable:
    import jax
    import jax.numpy as jnp
    import optimistix

    def equations(x, p):
        return jnp.array([3 * x[0] + x[1] + p[0] * jnp.tanh(x[0]) - 1, x[0] + 2 * x[1] - p[1]])

    def f(p):
        x = optimistix.root_find(equations, optimistix.Newton(rtol=1e-10, atol=1e-10), jnp.zeros(2), p).value
        return x[0] * x[1]

    return jax.grad(f)


def by_diffrax() -> Callable:
    import diffrax
    import jax

    def f(p):
        term, steps = diffrax.ODETerm(lambda t, y, k: -k * y), diffrax.PIDController(rtol=1e-8, atol=1e-8)
        return diffrax.diffeqsolve(term, diffrax.Dopri5(), 0.0, 2.0, None, 3.0 * p[1:], args=p[0], stepsize_controller=steps).ys[-1, 0]

    return jax.grad(f)


def by_jaxopt() -> Callable:
    import jax
    import jax.numpy as jnp
    import jaxopt

    def f(p):
        misfit = jaxopt.BFGS(fun=lambda w, p: jnp.sum((A @ w - p[1] * Y) ** 2) + p[0] * w @ w, tol=1e-8, maxiter=500)
        w = misfit.run(jnp.zeros(4), p).params
        return w @ w

    return jax.grad(f)


PROBLEMS = {
    "a root": (root, exact_root, "optimistix", by_optimistix),
    "a differential equation": (decay, exact_decay, "diffrax", by_diffrax),
    "a minimum": (ridge, exact_ridge, "jaxopt", by_jaxopt),
}


def rows() -> Iterator[Row]:
    """One row a problem and a peer: the error of sourcead, and at most that of the peer."""
    for what, (f, exact, library, peer) in PROBLEMS.items():
        expected = exact(P)

        def error(found, expected=expected):
            return max(float(np.max(np.abs(np.asarray(found) - expected)) / np.max(np.abs(expected))), FLOOR)

        ours = error(grad(f)(P))
        differences = error(optimize.approx_fprime(P, f))
        yield at_most(f"{what}: error, differences have {differences:.0e}", ours, differences, "{:.0e}")
        if importlib.util.find_spec("jax") and importlib.util.find_spec(library):
            import jax

            jax.config.update("jax_enable_x64", True)
            theirs = error(peer()(jax.numpy.asarray(P)))
            yield at_most(f"{what}: error, {library} has {theirs:.0e}", ours, theirs, "{:.0e}")


def parser() -> argparse.ArgumentParser:
    """What the options mean."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks solvers", description=__doc__)
    parser.add_argument("--json", help="a file to write the figures to")
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Prints the table; returns 1 if a row falls short."""
    found = measure("solvers", rows)
    if chosen.json:
        write_json(chosen.json, found)
    return 0 if all(row.ok is not False for row in found) else 1
