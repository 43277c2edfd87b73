"""More forms of SciPy's solvers in a program: many unknowns, other searches, losses, bounds, and solvers that do not converge."""

import numpy as np
import pytest
from scipy import linalg, optimize

from sourcead import UnsupportedArgumentError, grad, hvp, implicit
from sourcead.runtime.solutions import check_root, frozen, system_solver
from tests.semantics import judged_in_all_modes

P = np.array([0.8, 0.3])
T = np.linspace(0.0, 2.0, 15)


def a_chain_in_a_loop(p):
    n, total = 18, 0.0
    x = np.linspace(0.0, 1.0, n)
    for k in range(3):
        before, c = x, np.exp(-p[0] * k)
        x = optimize.fsolve(lambda y, x=before, c=c: y - x - 0.05 * c * (np.roll(y, 1) - y) + 0.1 * p[1] * y**3, x, xtol=1e-13)
        total += x @ x
    return total


def by_newton_and_krylov(p):
    x = optimize.newton_krylov(lambda x: 4 * x + 0.1 * x**3 - p[0] * np.eye(5) - p[1], np.zeros((5, 5)), f_tol=1e-11)
    return np.sum(x[0] ** 2)


def anomaly(e, p):
    return e - p[1] * np.sin(e) - p[0]


def by_toms748(p):
    x, told = optimize.toms748(lambda e: anomaly(e, p), 0.0, 3.0, full_output=True)
    return x**2 + optimize.brenth(lambda e: anomaly(e, p), 0, 3) if told.converged else 0.0


def by_halley(p):
    options = {"fprime": lambda e: 1 - p[1] * np.cos(e), "fprime2": lambda e: p[1] * np.sin(e)}
    return optimize.root_scalar(lambda e: anomaly(e, p), x0=1.0, method="halley", **options).root ** 2


def with_value_and_slope(p):
    return optimize.root_scalar(lambda e: (anomaly(e, p), 1 - p[1] * np.cos(e)), x0=1.0, fprime=True, method="newton").root ** 2


def of_arrays_without_slope(p):
    at = np.linspace(0.1, 1.0, 4) * p[0]
    return np.sum(np.cos(optimize.newton(lambda e: e - p[1] * np.sin(e) - at, at, tol=1e-13)))


def by_trust_region(p):
    options = {"jac": lambda x: 2 * (x - p) + 0.4 * x**3, "hess": lambda x: np.diag(2 + 1.2 * x**2), "tol": 1e-11}
    return optimize.minimize(lambda x: np.sum((x - p) ** 2 + 0.1 * x**4), np.zeros(2), method="trust-exact", **options).x @ p


def not_negative(p):
    x, distance = optimize.nnls(np.array([[1.0, 2], [3, 1], [0, 1]]) * p[0], np.array([p[1], 1.0, -2.0]))
    return np.sum(x) + distance


def kalman(p):
    a, c = np.array([[0.9, 0.1], [0.0, 0.8 + 0.1 * p[0]]]), np.array([[1.0, p[1]]])
    x = linalg.solve_discrete_are(a.T, c.T, np.eye(2) * p[0], np.array([[p[1]]]))
    return np.sum(x @ c.T / (c @ x @ c.T + p[1]))


SHORT = [by_toms748, by_halley, with_value_and_slope, of_arrays_without_slope, kalman]
LONG = [a_chain_in_a_loop, by_newton_and_krylov, by_trust_region, not_negative]


@pytest.mark.parametrize("f", SHORT, ids=lambda f: f.__name__)
def test_other_searches(f):
    assert judged_in_all_modes(f, P) == "right"


@pytest.mark.long
@pytest.mark.parametrize("f", LONG, ids=lambda f: f.__name__)
def test_larger_searches(f):
    assert judged_in_all_modes(f, P) == "right"


@pytest.mark.long
@pytest.mark.parametrize("f", [a_chain_in_a_loop, by_newton_and_krylov, by_halley, kalman], ids=lambda f: f.__name__)
def test_their_second_derivatives(f):
    step = np.array([0.3, -0.5])
    expected = (grad(f)(P + 1e-5 * step) - grad(f)(P - 1e-5 * step)) / 2e-5
    np.testing.assert_allclose(hvp(f)(P, step), expected, rtol=1e-5, atol=1e-7)


def fitted(p, loss):
    y = p[0] * np.exp(-p[1] * T) + 0.05 * np.sin(7 * T)
    options = {"loss": loss, "f_scale": 0.1, "xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
    return optimize.least_squares(lambda q: q[0] * np.exp(-q[1] * T) - y, [1.0, 0.5], **options).x @ np.array([1.0, 2.0])


@pytest.mark.long
@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy", "arctan"])
def test_losses(loss):
    expected = [(fitted(P + s, loss) - fitted(P - s, loss)) / 2e-3 for s in 1e-3 * np.eye(2)]
    np.testing.assert_allclose(grad(lambda p: fitted(p, loss))(P), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.long
def test_fit_within_bounds():
    def f(p):
        y = p[0] * np.exp(-p[1] * T) + 0.02 * np.cos(9 * T)
        found, _ = optimize.curve_fit(lambda t, a, k: a * np.exp(-k * t), T, y, p0=(0.5, 1.0), bounds=([0, 0], [0.7, 5]), xtol=1e-15)
        return found[0] + 3 * found[1]

    expected = [(f(P + s) - f(P - s)) / 2e-3 for s in 1e-3 * np.eye(2)]
    np.testing.assert_allclose(grad(f)(P), expected, rtol=1e-4)


def test_solver_that_has_not_converged():
    @implicit(lambda z, b: z - np.tanh(0.9 * z + b))
    def equilibrium(b):
        z = np.zeros(len(b))
        for _ in range(3):
            z = np.tanh(0.9 * z + b)
        return z

    with pytest.raises(RuntimeError, match="a solver has not converged"):
        grad(lambda b: np.sum(equilibrium(b)))(np.full(3, 0.1))


def test_what_is_far_from_a_root():
    check_root(np.ones(3), np.full(3, 1e-6), np.eye(3))
    check_root(1e6, 1.0, np.array([[2.0]]))
    for value in (0.1, np.nan):
        with pytest.raises(RuntimeError, match="not zero"):
            check_root(np.ones(3), np.full(3, value), lambda v: v)


@pytest.mark.parametrize("n", [200, 250])
def test_large_systems_take_products(n):
    calls = {"product": 0, "pullback": 0}

    def product(v, name="product", shift=1):
        calls[name] += 1
        return 3 * v - np.roll(v, shift)

    solve = system_solver(product, lambda v: product(v, "pullback", -1), np.zeros(n))
    matrix = 3 * np.eye(n) - np.roll(np.eye(n), 1, axis=0)
    b = np.cos(np.arange(n))
    np.testing.assert_allclose(solve(b, False), np.linalg.solve(matrix, b), rtol=1e-11)
    np.testing.assert_allclose(solve(b, True), np.linalg.solve(matrix.T, b), rtol=1e-11)


def test_functions_keep_what_they_read():
    def outer():
        x = np.ones(2)

        def inner(v):
            return x * v

        def f(v):
            return inner(v) + x

        kept = frozen(f)
        x *= 5.0
        x = None
        return kept

    np.testing.assert_array_equal(outer()(2.0), [3.0, 3.0])


def test_boundary_values_are_refused():
    from scipy.integrate import solve_bvp

    def f(p):
        return solve_bvp(lambda x, y: np.vstack([y[1], -p * y[0]]), lambda a, b: np.array([a[0], b[0] - 1]), T, np.zeros((2, 15))).y[0, 3]

    with pytest.raises(UnsupportedArgumentError, match="solve_bvp"):
        grad(f)(1.0)


def test_a_saved_module_brings_what_freezes_functions(tmp_path):
    def total(a, start):
        return np.sum(optimize.fsolve(lambda x: x**3 + a * x - 1.0, start) ** 2)

    gradient = grad(total)
    gradient.save(tmp_path / "saved.py", 2.0, np.ones(30))
    namespace = {}
    exec(compile((tmp_path / "saved.py").read_text(), "saved.py", "exec"), namespace)
    np.testing.assert_allclose(namespace["total_grad"](2.0, np.ones(30)), gradient(2.0, np.ones(30)), rtol=1e-12)
