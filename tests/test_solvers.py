"""Systems, minima and differential equations that SciPy solves inside a program: the value is SciPy's, the derivative the solution's."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.integrate import odeint, solve_ivp
from scipy.optimize import curve_fit, fixed_point, fsolve, least_squares, minimize, minimize_scalar, root

from sourcead import BackendError, UnsupportedArgumentError, UnsupportedSyntaxError, grad, hvp, value_and_grad
from tests.semantics import differences, exec_with_source, judged_in_all_modes

P = np.array([1.2, 2.0])
A = np.array([[3.0, 1.0], [1.0, 2.0]])
TIGHT = 1e-13
X = np.linspace(0.0, 1.0, 9)
Y = 2.0 * np.exp(-1.3 * X) + 0.1 * np.sin(9 * X)


# ---- roots ----


def lists_of_equations(p):
    def equations(v):
        x, y = v
        return [x**2 + p[0] * y - 3.0, np.exp(x * 0.1) * y - p[1]]

    x, y = fsolve(equations, [1.0, 1.0], xtol=TIGHT)
    return x + 2.0 * y * x


def with_further_arguments(p):
    x = fsolve(lambda x, a, b: A @ x + a * x**3 - b, np.zeros(2), args=(p, 1.5), xtol=TIGHT)
    return x @ x


def one_equation(p):
    return fsolve(lambda x: np.cos(x) - p[0] * x, 0.5, xtol=TIGHT)[0] * p[1]


def with_its_slope(p):
    def slope(x):
        return [[2 * x[0], 1.0], [-p[1], 1.0]]

    x = fsolve(lambda x: [x[0] ** 2 + x[1] - p[0], x[1] - x[0] * p[1]], [1.0, 1.0], fprime=slope, xtol=TIGHT)
    return x[0] + root(lambda x: x**3 + p * x - 1, np.ones(2), jac=lambda x: np.diag(3 * x**2 + p), tol=TIGHT).x @ x


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def force(self, x, load):
        return x**3 + self.stiffness * x - load

    def rest(self, load):
        return fsolve(self.force, 1.0, args=load, xtol=TIGHT)[0]


def inside_each_other(p):
    def outer(x):
        return x[0] + Spring(p[0]).rest(x[0]) - p[1]

    def end(v):
        return solve_ivp(pendulum, (0, 1.0), [0.0, v[0]], args=(p[0],), rtol=1e-10, atol=1e-10).y[0, -1] - 0.5 * p[1]

    return fsolve(outer, 1.0, xtol=TIGHT)[0] * fsolve(end, 1.0, xtol=1e-12)[0]


def in_a_loop(p):
    x, total = np.ones(2), 0.0
    for _ in range(3):
        x = fsolve(lambda y, x=x: y + 0.1 * y**3 * p - x, x, xtol=TIGHT)
        total += x @ x
    return total


def with_all_that_fsolve_tells(p):
    x, info, status, _ = fsolve(lambda x: A @ x - p * np.cos(x), np.ones(2), full_output=True, xtol=TIGHT)
    return np.sum(x) + np.sum(info["fvec"]) if status == 1 else 0.0


def of_root(p):
    solution = root(lambda x: A @ x + p * np.tanh(x) - p, p, tol=TIGHT)
    if not solution.success:
        raise ValueError(solution.message)
    return np.sum(solution.x**3) + solution["x"][0]


def of_root_by_another_method(p):
    return np.sum(root(lambda x: A @ x + p * np.tanh(x) - p, np.ones(2), method="lm", tol=TIGHT).x ** 3)


def fixed_points(p):
    number = fixed_point(lambda x: np.cos(x) * p[0], 0.5, xtol=TIGHT)
    array = fixed_point(lambda x, c: np.cos(x) * c, np.array([0.5, 0.2]), args=(p * 0.5,), xtol=TIGHT)
    return number**2 + array @ np.array([1.0, 2.0])


# ---- minima ----


def of_minimize(p):
    def height(x):
        return np.sum((x - p) ** 2) + np.sum(x**4) * p[0]

    def slope(x):
        return 2 * (x - p) + 4 * x**3 * p[0]

    found = minimize(height, np.zeros(2), jac=slope, method="BFGS", options={"gtol": 1e-11})
    return np.sum(found.x**2) + found.fun


def with_value_and_slope_together(p):
    def both(x, c):
        return np.sum((x - c) ** 2 * (1 + x * x)), 2 * (x - c) * (1 + x * x) + 2 * x * (x - c) ** 2

    return minimize(both, np.zeros(2) + 0.3, args=(p,), jac=True, method="L-BFGS-B", tol=1e-15).x @ np.array([1.0, 3.0])


def at_a_bound(p):
    def slope(x):
        return 2 * (x - p) * (1 + x * x) + 2 * x * (x - p) ** 2

    found = minimize(
        lambda x: np.sum((x - p) ** 2 * (1 + x * x)), np.zeros(2) + 0.3, jac=slope, bounds=[(0.0, 1.0), (None, 10.0)], tol=1e-15
    )
    by_class = minimize(lambda x: np.sum((x - p) ** 2), np.zeros(2), jac=lambda x: 2 * (x - p), bounds=optimize.Bounds(0.0, [1.0, 3.0]))
    return found.x @ np.array([2.0, 3.0]) + np.sum(by_class.x)


def of_one_number(p):
    free = minimize_scalar(lambda x: (x - p[0]) ** 4 + x**2, tol=1e-12)
    options = {"xatol": 1e-11}
    inside = minimize_scalar(lambda x: (x - p[0]) ** 2 + np.exp(0.1 * x * p[1]), bounds=(0.0, 3.0), method="bounded", options=options)
    return free.fun + inside.fun + inside.x * 0.0


def of_least_squares(p):
    found = least_squares(lambda x: x[0] * p[0] + x[1] * X * p[1] - Y * p[0] ** 2, np.ones(2), xtol=TIGHT, ftol=TIGHT, gtol=TIGHT)
    held = least_squares(lambda x: x - p, np.zeros(2), bounds=([0.0, -1.0], [1.0, 5.0]), xtol=TIGHT, ftol=TIGHT, gtol=TIGHT)
    return found.x @ np.array([1.0, 2.0]) + found.cost + held.x @ p


def by_normal_equations(p):
    m = np.stack([np.full(9, p[0]), X * p[1]], axis=1)
    x = np.linalg.solve(m.T @ m, m.T @ (Y * p[0] ** 2))
    return x @ np.array([1.0, 2.0]) + 0.5 * np.sum((m @ x - Y * p[0] ** 2) ** 2) + p[0] + p[1] ** 2


def of_a_line(p):
    found, covariance = curve_fit(lambda x, a, b: a + b * x, X * p[0], Y * p[1] + X, p0=[1.0, 1.0])
    return found[0] * found[1] + np.sqrt(covariance[0, 0])


def line_by_normal_equations(p):
    m, y = np.stack([np.ones(9), X * p[0]], axis=1), Y * p[1] + X
    inverse = np.linalg.inv(m.T @ m)
    x = inverse @ m.T @ y
    return x[0] * x[1] + np.sqrt(inverse[0, 0] * np.sum((m @ x - y) ** 2) / 7)


# ---- differential equations ----


def pendulum(t, y, c=1.0):
    return np.array([y[1], -c * np.sin(y[0])])


def stiff(p):
    return lambda t, y: [y[1], 10 * p[0] * (1 - y[0] ** 2) * y[1] - y[0]]


def at_given_times(p):
    solution = solve_ivp(pendulum, (0.0, 3.0), p, args=(p[0],), t_eval=np.linspace(0, 3, 7), rtol=1e-10, atol=1e-12)
    return np.sum(solution.y**2)


def to_an_end_that_varies(p):
    solution = solve_ivp(lambda t, y: -p[0] * y + t, [0.0, p[1]], p, rtol=1e-10, atol=1e-12)
    return solution.y[0, -1] * solution.y[1, -1] * solution.t[-1]


def backwards(p):
    return np.sum(solve_ivp(pendulum, (1.0, 0.0), p, method="RK23", rtol=1e-9, atol=1e-10).y[:, -1] ** 2)


def of_high_order(p):
    inside = solve_ivp(pendulum, (0.0, 2.0), p, method="DOP853", t_eval=[0.3, 1.7], rtol=1e-10, atol=1e-11)
    return np.sum(inside.y[:, 1] ** 2) + np.sum(solve_ivp(pendulum, (0.0, 2.0), p, method="DOP853", rtol=1e-10, atol=1e-11).y[:, -1])


def between_the_steps(p):
    solution = solve_ivp(pendulum, (0.0, 2.0), p, dense_output=True, rtol=1e-10, atol=1e-12)
    return np.sum(solution.sol(1.3) ** 2) + solution.sol(np.array([0.5, 0.8 * p[1]]))[0, 1]


def of_a_stiff_system(p):
    return np.sum(solve_ivp(stiff(p), (0.0, 2.0), p, method="Radau", rtol=1e-8, atol=1e-10).y[:, -1] ** 2)


def of_odeint(p):
    def rabbits_and_foxes(y, t, a, b):
        r, f = y
        return [a * r - r * f, 0.5 * r * f - b * f]

    y = odeint(rabbits_and_foxes, [1.0, 0.5], np.linspace(0.0, 3.0, 11), args=(p[0], p[1]), rtol=1e-11, atol=1e-12)
    return np.sum(y[:, 0] ** 2) + y[-1, 1]


def of_complex_numbers(p):
    return np.abs(solve_ivp(lambda t, y: 1j * p[0] * y, (0, 1), [1.0 + 0j], rtol=1e-10, atol=1e-11).y[0, -1] - p[1])


def at_a_bound_of_small_values(p):
    return minimize_scalar(lambda x: 1e-7 * (x - p[0]) ** 2, bounds=(p[1], 3.0), method="bounded", options={"xatol": 1e-11}).x ** 2


def until_it_lands(p):
    def height(t, y):
        return y[1]

    height.terminal, height.direction = True, -1

    def flight(t, y):
        return [y[2], y[3], -0.1 * p[0] * y[2], -9.81 - 0.1 * p[1] * y[3]]

    solution = solve_ivp(flight, (0, 10), [0.0, 1.0, p[0] * 3, 4 * p[1]], events=height, rtol=1e-10, atol=1e-10)
    return solution.y[0, -1] + solution.t[-1] + solution.t_events[0][0] if solution.status == 1 else 0.0


def at_events_that_end_nothing(p):
    events = [lambda t, y, c: y[0], lambda t, y, c: y[1]]
    solution = solve_ivp(pendulum, (0, 8.0), 0.3 * p, args=(p[0],), events=events, rtol=1e-10, atol=1e-10)
    return np.sum(solution.t_events[0]) + np.sum(solution.y_events[1][:, 0]) + solution.y[0, -1]


PROGRAMS = [
    lists_of_equations, with_further_arguments, one_equation, with_its_slope, inside_each_other, in_a_loop, with_all_that_fsolve_tells,
    of_root, of_root_by_another_method,
    fixed_points, of_minimize, with_value_and_slope_together, at_a_bound, of_one_number, at_given_times,
    to_an_end_that_varies, backwards, of_high_order, between_the_steps, of_a_stiff_system, of_odeint,
    of_complex_numbers, at_a_bound_of_small_values, until_it_lands, at_events_that_end_nothing,
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivative_of_a_solution(f):
    assert judged_in_all_modes(f, P) == "right"


SMOOTH = [lists_of_equations, fixed_points, of_minimize, at_a_bound, at_given_times, of_odeint]


@pytest.mark.long
@pytest.mark.parametrize("f", SMOOTH, ids=lambda f: f.__name__)
def test_second_derivative_of_a_solution(f):
    step = np.array([0.3, -0.5])
    expected = (grad(f)(P + 1e-5 * step) - grad(f)(P - 1e-5 * step)) / 2e-5
    np.testing.assert_allclose(hvp(f)(P, step), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("method", ["BDF", "LSODA"])
def test_methods_of_many_kinds_of_steps(method):
    def f(p):
        return np.sum(solve_ivp(stiff(p), (0.0, 2.0), p, method=method, t_eval=[1.0, 2.0], rtol=1e-9, atol=1e-10).y ** 2)

    value, slope = value_and_grad(f)(P)
    exact = [(of_a_stiff_end(P + s) - of_a_stiff_end(P - s)) / 2e-4 for s in 1e-4 * np.eye(2)]
    assert value == pytest.approx(f(P), rel=1e-12)
    np.testing.assert_allclose(slope, exact, rtol=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("method", ["BDF", "LSODA"])
def test_end_event_and_states_between_of_such_methods(method):
    def end(p):
        return solve_ivp(lambda t, y: -p[1] * y, (0.1 * p[1], p[0]), [1.0], method=method, rtol=1e-9, atol=1e-11).y[0, -1]

    decay = np.exp(-P[1] * (P[0] - 0.1 * P[1]))
    np.testing.assert_allclose(grad(end)(P), [-P[1] * decay, -(P[0] - 0.2 * P[1]) * decay], rtol=1e-6)

    def stopped(p):
        def half(t, y):
            return y[0] - 0.5

        half.terminal = True
        options = {"events": half, "dense_output": True, "rtol": 1e-9, "atol": 1e-11}
        solution = solve_ivp(lambda t, y: -p[0] * y, (0.0, 9.0), [p[1]], method=method, **options)
        return solution.t_events[0][0] + solution.sol(0.25)[0] + solution.t[-1] + solution.y[0, -1]

    quarter = np.exp(-0.25 * P[0])
    expected = [-2 * np.log(2 * P[1]) / P[0] ** 2 - 0.25 * P[1] * quarter, 2 / (P[0] * P[1]) + quarter]
    np.testing.assert_allclose(grad(stopped)(P), expected, rtol=1e-6)


def of_a_stiff_end(p):
    return np.sum(solve_ivp(stiff(p), (0.0, 2.0), p, method="Radau", t_eval=[1.0, 2.0], rtol=1e-11, atol=1e-12).y ** 2)


EXACT = {of_least_squares: by_normal_equations, of_a_line: line_by_normal_equations}  # what SciPy finds is not exact enough for differences


@pytest.mark.parametrize("f", EXACT, ids=lambda f: f.__name__)
def test_solutions_of_normal_equations(f):
    assert value_and_grad(f)(P)[0] == pytest.approx(f(P), rel=1e-9)
    np.testing.assert_allclose(grad(f)(P), differences(EXACT[f], [P]), rtol=1e-6)


def test_closed_forms():
    decay = grad(lambda k: solve_ivp(lambda t, y: -k * y, (0.0, 2.0), [3.0], rtol=1e-11, atol=1e-12).y[0, -1])
    assert decay(0.7) == pytest.approx(-2.0 * 3.0 * np.exp(-1.4), rel=1e-9)
    end = grad(lambda t: odeint(lambda y, t: -y, [3.0], [0.0, t], rtol=1e-12, atol=1e-13)[-1, 0])
    assert end(0.7) == pytest.approx(-3.0 * np.exp(-0.7), rel=1e-9)
    nearest = grad(lambda c: minimize(lambda x: (x[0] - c) ** 2 + x[0] ** 2, [0.0]).x[0])
    assert nearest(1.0) == pytest.approx(0.5, rel=1e-9)


def test_the_text_calls_scipy_with_a_function_of_its_own():
    gradient = grad(of_root)
    gradient(P)
    assert "def residual(x):" in gradient.source
    assert "solved = root(residual, p, tol=TIGHT)" in gradient.source
    assert "np.linalg.solve(" in gradient.source


def test_no_solution_is_an_error():
    with pytest.raises(RuntimeError, match="`scipy.optimize.fsolve` found no root"):
        grad(lambda p: fsolve(lambda x: x**2 + p, 1.0)[0])(2.0)
    with pytest.raises(RuntimeError, match="found no minimum"):
        grad(lambda p: minimize(lambda x: np.sum((x - p) ** 4), np.zeros(2), options={"maxiter": 1}).x[0])(5.0)


def test_more_equations_than_unknowns_are_an_error():
    with pytest.raises(ValueError, match="write `least_squares`"):
        grad(lambda p: root(lambda x: np.array([x[0] - p, x[0] - 2 * p]), [0.0], method="lm").x[0])(1.0)


REFUSED = {
    "constraints": lambda p: optimize.minimize(lambda x: x @ x * p, [1.0], constraints={"type": "eq", "fun": lambda x: x[0] - 1}).x[0],
    "this method": lambda p: integrate.solve_ivp(lambda t, y: -p * y, (0, 1), [1.0], method=integrate.RK45).y[0, -1],
    "`p0`": lambda p: optimize.curve_fit(lambda x, a: a * x, X, Y * p)[0][0],
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    with pytest.raises(UnsupportedArgumentError, match=what):
        grad(REFUSED[what])(2.0)


def test_function_that_changes_something_is_refused():
    def f(p):
        calls = []

        def residual(x):
            calls.append(1)
            return x**2 - p

        return fsolve(residual, 1.0)[0] * len(calls)

    with pytest.raises(UnsupportedSyntaxError, match="changes something outside of it"):
        grad(f)(2.0)


def test_the_page_shows_what_runs(capsys):
    page = (Path(__file__).parents[1] / "docs" / "solvers.md").read_text(encoding="utf-8")
    names = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec_with_source(block, names)
        assert f"prints `{capsys.readouterr().out.strip()}`" in page


def test_numba_says_what_runs_in_the_interpreter():
    with pytest.raises(BackendError, match="is called by a solver of SciPy"):
        grad(of_root, backend="numba")(P)
