"""Compositions of `scipy.integrate.solve_ivp` and `odeint`: SciPy chooses the steps, and the derivative is that of the steps.

The steps are held constant, except that the first begins and the last ends where `t_span` says: the discrete adjoint. Explicit
Runge-Kutta methods are computed again step by step,

    k_i = f(t + c_i h, y + h sum_j a_ij k_j)            y(t + x h) = y + h sum_i p_i(x) k_i

The stages y_i of an implicit step are held, and have their derivative by the implicit function theorem (`scipy_systems.py`):

    y_i = y + h sum_j a_ij f(t + c_j h, y_j)            (Radau IIA of order 5)

`BDF` and `LSODA` have steps of many kinds: what they find has the derivative of a solution by Radau IIA with the same tolerances, what
`odeint` finds that of one by `DOP853`.

E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I (1993), II.5 and II.6, and II (1996), IV.8.
"""

import types

import numpy as np
from scipy import integrate, optimize

from sourcead.ir.records import IN_PYTHON
from sourcead.ir.types import Opaque
from sourcead.language.transformations import python_function
from sourcead.primitives import scipy_roots
from sourcead.primitives.compositions import composed, number_kind, refuse
from sourcead.primitives.registry import enter
from sourcead.primitives.scipy_roots import arguments
from sourcead.primitives.scipy_systems import differentiable, number, vector
from sourcead.runtime import as_event, found_by_search, stop_gradient, with_derivative_of

enter(as_event, constant=True, result=lambda fn, args, kwargs: Opaque(types.FunctionType))
enter(integrate.solve_ivp, result=lambda fn, args, kwargs: Opaque(optimize.OptimizeResult))

MOST = 100_000  # steps of `DOP853` for a solution of `odeint`: more are a sign of a stiff system


class Tableau:
    """The coefficients of an explicit method: those of its stages, of which the one at SIZE begins the next step, and of p_i(x)."""

    def __init_subclass__(cls, method):
        cls.SIZE = size = len(method.B)
        cls.A, cls.C, cls.P = np.zeros((size + 1, size + 1)), np.append(method.C, 1.0), getattr(method, "P", None)
        cls.A[:size, : method.A.shape[1]] = method.A
        cls.A[size, :size] = method.B


class RK23(Tableau, method=integrate.RK23):
    pass


class RK45(Tableau, method=integrate.RK45):
    pass


class DOP853(Tableau, method=integrate.DOP853):
    pass


class DOP853WithParts(Tableau, method=integrate.DOP853):
    """The same with the three stages that only states inside of a step need."""


def add_parts(cls):
    """Add these stages, and p_i(x) for all of them: y = y0 + h x (f0 + (1 - x) (f1 + x (f2 + (1 - x) (...))))."""
    method = integrate.DOP853
    cls.A, cls.C = np.vstack([np.pad(cls.A, ((0, 0), (0, 3))), method.A_EXTRA]), np.append(cls.C, method.C_EXTRA)
    k = np.eye(len(cls.A))
    change = method.B @ k[: cls.SIZE]
    parts = [change, k[0] - change, 2 * change - k[cls.SIZE] - k[0], *(method.D @ k)]
    p = np.zeros((len(k), len(parts) + 1))  # the coefficients of 1, x, x^2, ...
    for n, part in enumerate(reversed(parts)):
        p[:, 0] += part
        times_x = np.roll(p, 1, axis=1)
        p = times_x if n % 2 == 0 else p - times_x
    cls.P = p[:, 1:]


add_parts(DOP853WithParts)
EXPLICIT = {"RK23": RK23, "RK45": RK45, "DOP853": DOP853WithParts}
WITHOUT_PARTS = {**EXPLICIT, "DOP853": DOP853}
IMPLICIT = ("Radau", "BDF", "LSODA")

ROOT = 6**0.5
RADAU_C = np.array([(4 - ROOT) / 10, (4 + ROOT) / 10, 1.0])
RADAU_A = np.array([
    [(88 - 7 * ROOT) / 360, (296 - 169 * ROOT) / 1800, (-2 + 3 * ROOT) / 225],
    [(296 + 169 * ROOT) / 1800, (88 + 7 * ROOT) / 360, (-2 - 3 * ROOT) / 225],
    [(16 - ROOT) / 36, (16 + ROOT) / 36, 1 / 9],
])  # fmt: skip
RADAU_P = np.linalg.inv(RADAU_C[:, None] ** np.arange(1, 4))  # the stages as the polynomial through them


class Trajectory:
    """What `solve_ivp` returns: its fields are attributes and items, as in SciPy's `OdeResult`."""

    def __init__(self, t, y, sol=None, t_events=None, y_events=None, status=0):
        self.t, self.y, self.sol, self.t_events, self.y_events, self.status, self.success = t, y, sol, t_events, y_events, status, True
        ended = "The solver successfully reached the end of the integration interval."
        self.message = ended if status == 0 else "A termination event occurred."

    def __getitem__(self, name):
        return getattr(self, name)


class Dense:
    """The states at all times, from those between the steps and a polynomial for each step, as SciPy's `OdeSolution`."""

    def __init__(self, times, states, polynomials):
        self.times, self.states, self.polynomials = times, states, polynomials

    def __call__(self, t):
        at = vector(t)
        rows = within(self.times, self.states, self.polynomials, at)
        return rows[0] if np.ndim(t) == 0 else rows.T


class Found:
    """The states at all times that SciPy has found by a method of many kinds of steps, with the derivatives of `dense`."""

    def __init__(self, solution, dense):
        self.solution, self.dense = solution, dense

    def __call__(self, t):
        return with_derivative_of(found_by_search(self.solution(stop_gradient(t)), 1 if np.ndim(t) == 0 else 2), self.dense(t))


IN_PYTHON.update((Trajectory, Dense, Found))


def within(times, states, polynomials, at):
    """Return the states at the times `at`, one in each row."""
    held, forward = stop_gradient(times), 1.0 if stop_gradient(times)[-1] >= stop_gradient(times)[0] else -1.0
    i = np.clip(np.searchsorted(forward * held, forward * stop_gradient(at), side="left") - 1, 0, len(held) - 2)
    x = (at - times[i]) / (times[i + 1] - times[i])
    return states[i] + np.einsum("np,npk->nk", x[:, None] ** np.arange(1, polynomials.shape[1] + 1), polynomials[i])


def explicit(tableau, f, times, y, inside):
    """Return the states between the steps of an explicit method, and the polynomial of each step if states inside of them are needed."""
    a, c, size = tableau.A, tableau.C, tableau.SIZE
    states, polynomials = [y], []
    slope = f(times[0], y)
    for i in range(len(times) - 1):
        t, h = times[i], times[i + 1] - times[i]
        k = np.zeros((len(c), len(y))) if number_kind(y) == "float" else np.zeros((len(c), len(y)), slope.dtype)
        k[0] = slope
        for s in range(1, len(c)):
            k[s] = f(t + c[s] * h, y + h * (a[s, :s] @ k[:s]))
        slope = k[size]
        if inside:
            polynomials.append(h * (tableau.P.T @ k))
        y = y + h * (a[size, :size] @ k[:size])
        states.append(y)
    return np.stack(states), np.stack(polynomials) if inside else None


def stages_of(f, t, h, y, held):
    """Return the stages of a step of Radau IIA, one in each row, which are found in one row."""

    def residual(flat):
        slopes = np.stack([f(t + c * h, stage) for c, stage in zip(RADAU_C, np.reshape(flat, (3, len(y))))])
        return flat - np.ravel(y + h * (RADAU_A @ slopes))

    return np.reshape(differentiable(residual, held), (3, len(y)))


def implicit(held, f, times, y, inside):
    """Return the same of the steps of Radau IIA whose stages are `held`, one step in each row."""
    states, polynomials = [y], []
    for i in range(len(times) - 1):
        stages = stages_of(f, times[i], times[i + 1] - times[i], y, held[i])
        if inside:
            polynomials.append(RADAU_P @ (stages - y))
        y = stages[2]
        states.append(y)
    return np.stack(states), np.stack(polynomials) if inside else None


def solved_again(f, t_span, y, options, inside):
    """Return SciPy's result, the times between its steps, the states there, and the polynomial of each step if states inside are needed."""
    start, method = stop_gradient(y), options["method"]
    solved = integrate.solve_ivp(python_function(f, (1.0, start)), t_span, start, dense_output=True, **options)
    if not solved.success:
        raise RuntimeError("`scipy.integrate.solve_ivp` did not reach the end")
    steps = found_by_search(solved.sol.ts, 1)
    times = steps.copy()
    times[0] = t_span[0]
    if "events" in options and solved.status == 1:  # the last step goes beyond the event
        times[-1] = found_by_search(solved.sol.interpolants[-1].t, 1.0)
    else:
        times[-1] = t_span[1]
    if method != "Radau":
        return solved, times, *explicit((EXPLICIT if inside else WITHOUT_PARTS)[method], f, times, y, inside)
    held = stop_gradient(times)
    at = np.ravel(held[:-1, None] + RADAU_C * np.diff(held)[:, None])
    stages = np.reshape(found_by_search(solved.sol(at), 2).T, (len(steps) - 1, 3 * len(y)))
    return solved, times, *implicit(stages, f, times, y, inside)


@composed(integrate.solve_ivp)
def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False, args=None,
    rtol=1e-3, atol=1e-6, max_step=None, first_step=None, jac=None,
):  # fmt: skip
    if method not in EXPLICIT and method not in IMPLICIT:
        refuse("`scipy.integrate.solve_ivp` with this method")
    given = () if args is None else args

    def f(t, y):
        return vector(fun(t, y, *given))

    y = vector(y0) * 1.0
    if number_kind(y) != "float" and (method in IMPLICIT or events is not None):
        refuse("`scipy.integrate.solve_ivp` of numbers that may be complex, by this method or with `events`")
    start = stop_gradient(y)
    options = {"method": method, "rtol": rtol, "atol": atol}
    if max_step is not None:
        options["max_step"] = max_step
    if first_step is not None:
        options["first_step"] = first_step
    if jac is not None and method in IMPLICIT:
        options["jac"] = python_function(lambda t, y: np.asarray(jac(t, y, *given)), (1.0, start)) if callable(jac) else stop_gradient(jac)
    watched = () if events is None else (events,) if callable(events) else tuple(events)
    ends = [getattr(e, "terminal", False) for e in watched]
    functions = [lambda t, y, e=e: number(e(t, y, *given)) for e in watched]
    if events is not None:
        options["events"] = [
            as_event(python_function(g, (1.0, start)), end, getattr(e, "direction", 0)) for g, e, end in zip(functions, watched, ends)
        ]
    if method in ("BDF", "LSODA"):
        return of_many_kinds(f, t_span, y, options, (t_eval, dense_output), list(zip(functions, ends)))
    solved, times, states, polynomials = solved_again(f, t_span, y, options, t_eval is not None or dense_output or events is not None)
    dense = Dense(times, states, polynomials) if dense_output else None
    if events is None and t_eval is None:
        return Trajectory(times, states.T, dense)
    if events is None:
        at = vector(t_eval)
        return Trajectory(at, within(times, states, polynomials, at).T, dense)
    last, t_events = events_at(solved, times, Dense(times, states, polynomials), list(zip(functions, ends)))
    at = times.copy() if t_eval is None else vector(t_eval)[: len(found_by_search(solved.t, 1))]
    if t_eval is None:
        at[-1] = last
    y_events = [within(times, states, polynomials, when) for when in t_events]
    return Trajectory(at, within(times, states, polynomials, at).T, dense, t_events, y_events, solved.status)


def of_many_kinds(f, t_span, y, options, wanted, events):
    """Return what `BDF` or `LSODA` finds, with the derivatives of a solution by Radau IIA; `wanted` are `t_eval` and `dense_output`."""
    t_eval, dense_output = wanted
    start = stop_gradient(y)
    solved = integrate.solve_ivp(
        python_function(f, (1.0, start)), t_span, start, t_eval=stop_gradient(t_eval), dense_output=dense_output, **options
    )
    if not solved.success:
        raise RuntimeError("`scipy.integrate.solve_ivp` did not reach the end")
    found, plain = found_by_search(solved.t, 1), {"method": "Radau", "rtol": options["rtol"], "atol": options["atol"]}
    until = t_span[1]
    if solved.status == 1:  # an event may end it
        until = found_by_search(max([t for times in solved.t_events for t in times], key=lambda t: abs(t - t_span[0])), 1.0)
    _, times, states, polynomials = solved_again(f, (t_span[0], until), y, plain, True)
    dense = Dense(times, states, polynomials)
    t_events, y_events, last = None, None, until
    if len(events) > 0:
        last, t_events = events_at(solved, times, dense, events)
        y_events = []
        for k, when in enumerate(t_events):
            held = found_by_search(np.reshape(solved.y_events[k], (-1, len(y))), 2)
            y_events.append(with_derivative_of(held, within(times, states, polynomials, when)))
    if t_eval is None:
        at = found.copy()
        at[0] = t_span[0]
        at[-1] = last
    else:
        at = vector(t_eval)[: len(found)]
    rows = within(times, states, polynomials, at)
    sol = Found(solved.sol, dense) if dense_output else None
    return Trajectory(at, with_derivative_of(found_by_search(solved.y, 2), rows.T), sol, t_events, y_events, solved.status)


def events_at(solved, times, dense, events):
    """Return when the trajectory ends, and the times of events, which are roots of functions of time; `terminal` ones may be the end."""
    last, t_events = times[-1], []
    for k, (event, terminal) in enumerate(events):
        found = found_by_search(solved.t_events[k], 1)
        roots = []
        for t in found:
            roots.append(scipy_roots.differentiable(lambda s, event=event: event(s, dense(s)), t, ()))
        t_events.append(np.array(roots))
        if terminal and solved.status == 1 and len(found) > 0 and found[-1] == found_by_search(solved.t, 1)[-1]:
            last = t_events[k][-1]
    return last, t_events


@composed(integrate.odeint)
def odeint(
    func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, rtol=None, atol=None, tcrit=None, h0=0.0, hmax=0.0, hmin=0.0, mxstep=0,
    tfirst=False,
):  # fmt: skip
    if full_output:
        refuse("`scipy.integrate.odeint` with `full_output`")
    args = arguments(args)

    def f(t, y):
        return vector(func(t, y, *args) if tfirst else func(y, t, *args))

    y, at = vector(y0) * 1.0, vector(t) * 1.0
    start, when = stop_gradient(y), stop_gradient(at)
    slope = {}
    if Dfun is not None:
        slope["col_deriv"] = col_deriv
        slope["Dfun"] = python_function(
            lambda t, y: np.asarray(Dfun(t, y, *args) if tfirst else Dfun(y, t, *args)) * 1.0, (1.0, start)
        )
    solved = integrate.odeint(
        python_function(f, (1.0, start)), start, when, rtol=rtol, atol=atol, tcrit=tcrit, h0=h0, hmax=hmax, hmin=hmin, mxstep=mxstep,
        tfirst=True, **slope,
    )  # fmt: skip
    options = {"method": "DOP853", "rtol": 1.49e-8 if rtol is None else rtol, "atol": 1.49e-8 if atol is None else atol}
    _, times, states, polynomials = solved_again(f, (at[0], at[-1]), y, options, True)
    if len(times) > MOST:
        raise RuntimeError("a stiff system: write `solve_ivp(..., method='Radau')` in the place of `odeint`")
    rows = within(times, states, polynomials, at)
    return with_derivative_of(found_by_search(solved, 2), rows)


@composed(integrate.solve_bvp)
def solve_bvp(fun, bc, x, y, p=None, S=None, fun_jac=None, bc_jac=None, tol=1e-3, max_nodes=1000, verbose=0, bc_tol=None):
    refuse("`scipy.integrate.solve_bvp`: solve for the values at the start, by `fsolve` of those that `solve_ivp` reaches at the end,")
