"""Compositions of the functions of `scipy.optimize` that solve systems or minimise: SciPy searches, and the solution has its derivative.

At a root x of F(x, p) = 0, an array of one axis, the implicit function theorem gives

    dx/dp = -(dF/dx)^-1 dF/dp

At a minimum F is the gradient; where a bound holds x, it is the distance from the bound. SciPy searches with a function of the text whose
results are constants for derivatives (`python_function`). The Jacobian dF/dx is computed at the solution, from the tangents of the unit
vectors. A search that ends without a solution is an error.
"""

import numpy as np
from scipy import optimize

from sourcead.ir.records import IN_PYTHON
from sourcead.ir.types import Opaque
from sourcead.language.transformations import gradient, python_function, value_and_tangent
from sourcead.primitives import scipy_roots, solutions  # noqa: F401  (the rules of the helpers)
from sourcead.primitives.compositions import Composition, composed, known_length, refuse
from sourcead.primitives.registry import enter
from sourcead.primitives.scipy_roots import arguments
from sourcead.runtime import (
    check_root, first_root_of_system, found_by_search, moved_root, root_of_system, solve_system, stop_gradient,
    system_solver, with_derivative_of
)

enter(
    optimize.root, optimize.minimize, optimize.minimize_scalar,
    result=lambda fn, args, kwargs: Opaque(optimize.OptimizeResult),
)  # fmt: skip

NEAR = 1e-6  # how near to a bound, relative to its size, a solution lies that the bound holds
FEW = 16  # unknowns of which the text has the Jacobian
FLAT = 1e-4  # the largest residual or slope, relative to that at the start, at which a search is right though it says that it is not


class Solution:
    """What `scipy.optimize.root` and its kin return: its fields are attributes and items, as in SciPy's `OptimizeResult`."""

    def __init__(self, solved, x, fun):
        self.solved, self.x, self.fun, self.success = solved, x, fun, True

    @property
    def message(self):
        return self.solved.message

    @property
    def nfev(self):
        return self.solved.nfev

    def __getitem__(self, name):
        return getattr(self, name)


IN_PYTHON.add(Solution)


def vector(x):
    """Return numbers or an array as an array of one axis."""
    return np.asarray(x) if np.ndim(x) == 1 else np.ravel(np.asarray(x))


def number(x):
    """Return a number, or an array of one element, as a number."""
    return x if np.ndim(x) == 0 else np.ravel(x)[0]


def differentiable(residual, found):
    """Return the root of `residual` that a search found, with its derivative by what `residual` reads.

    Of more unknowns than `FEW`, or of an unknown number of them, the linear systems are solved by products with the Jacobian, held.
    A step of Newton's method from a root whose first n derivatives are right gives one with n + 1 of them, so two steps give two.
    """
    if 0 < known_length(found) <= FEW:
        x = stop_gradient(first_root_of_system(found, residual(found), jacobian(residual, found)))
        return root_of_system(x, residual(x), jacobian(residual, x))
    product = python_function(lambda v: value_and_tangent(residual, (found,), (v,))[1], (found,))
    pullback = python_function(lambda v: gradient(lambda x: np.sum(residual(x) * v))(found), (found,))
    solve = system_solver(product, pullback, found)
    x = moved_root(found, solve_system(solve, residual(found), False))
    return moved_root(x, solve_system(solve, residual(x), False))


def jacobian(f, x):
    """Return the Jacobian of f at x."""
    columns = []
    for unit in np.eye(len(x)):
        columns.append(value_and_tangent(f, (x,), (unit,))[1])
    return np.stack(columns, axis=-1)


# ---- roots ----


@composed(optimize.rosen)
def rosen(x):
    x = np.asarray(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


@composed(optimize.fsolve)
def fsolve(func, x0, args=(), fprime=None, full_output=0, col_deriv=0, xtol=1.49012e-8, maxfev=0):
    args = arguments(args)

    def residual(x):
        return vector(func(x, *args))

    start = vector(stop_gradient(x0)) * 1.0
    slope = {} if fprime is None else {"fprime": python_function(lambda x: np.asarray(fprime(x, *args)), (start,)), "col_deriv": col_deriv}
    solved = optimize.fsolve(python_function(residual, (start,)), start, full_output=True, xtol=xtol, maxfev=maxfev, **slope)
    found = found_by_search(solved[0], start)
    if solved[2] != 1 and np.max(np.abs(residual(found))) > FLAT * np.max(np.abs(residual(start))):
        raise RuntimeError("`scipy.optimize.fsolve` found no root")
    x = differentiable(residual, found)
    return (x, {"fvec": residual(x)}, 1, solved[3]) if full_output else x


@composed(optimize.root)
def root(fun, x0, args=(), method="hybr", jac=None, tol=None, options=None):
    args = arguments(args)
    shape = np.shape(x0)

    def shaped(x):
        return np.reshape(x, shape) if len(shape) > 1 and method not in ("hybr", "lm") else x

    def residual(x):
        return vector(fun(shaped(x), *args)[0] if jac is True else fun(shaped(x), *args))

    start = vector(stop_gradient(x0)) * 1.0
    slope = {}
    if jac is True:
        slope["jac"] = python_function(lambda x: np.asarray(fun(x, *args)[1]), (start,))
    elif callable(jac):
        slope["jac"] = python_function(lambda x: np.asarray(jac(x, *args)), (start,))
    solved = optimize.root(python_function(residual, (start,)), start, method=method, tol=tol, options=options, **slope)
    found = found_by_search(solved.x, start)
    if not solved.success and np.max(np.abs(residual(found))) > FLAT * np.max(np.abs(residual(start))):
        raise RuntimeError("`scipy.optimize.root` found no root")
    if method == "lm" and len(residual(found)) != len(found):
        raise ValueError("`scipy.optimize.root` is given more equations than unknowns: write `least_squares`")
    x = differentiable(residual, found)
    return Solution(solved, shaped(x), residual(x))


def by_name(solver, F, xin, options):
    """Return the root that a search of large systems finds, such as `newton_krylov`, in the shape of where it starts."""
    shape = np.shape(xin)

    def residual(x):
        return vector(F(np.reshape(x, shape) if len(shape) > 1 else x))

    start = vector(stop_gradient(xin)) * 1.0
    given = {name: value for name, value in options.items() if value is not None}
    x = differentiable(residual, found_by_search(solver(python_function(residual, (start,)), start, **given), start))
    return np.reshape(x, shape) if len(shape) > 1 else x


composed({
    optimize.newton_krylov: lambda F, xin, iter=None, rdiff=None, method="lgmres", maxiter=None, f_tol=None, f_rtol=None, x_tol=None,
    x_rtol=None: by_name(optimize.newton_krylov, F, xin, {
        "iter": iter, "rdiff": rdiff, "method": method, "maxiter": maxiter, "f_tol": f_tol, "f_rtol": f_rtol, "x_tol": x_tol,
        "x_rtol": x_rtol,
    }),
    optimize.broyden1: lambda F, xin, iter=None, alpha=None, maxiter=None, f_tol=None, f_rtol=None, x_tol=None, x_rtol=None: by_name(
        optimize.broyden1, F, xin, {
            "iter": iter, "alpha": alpha, "maxiter": maxiter, "f_tol": f_tol, "f_rtol": f_rtol, "x_tol": x_tol, "x_rtol": x_rtol,
        }
    ),
    optimize.broyden2: lambda F, xin, iter=None, alpha=None, maxiter=None, f_tol=None, f_rtol=None, x_tol=None, x_rtol=None: by_name(
        optimize.broyden2, F, xin, {
            "iter": iter, "alpha": alpha, "maxiter": maxiter, "f_tol": f_tol, "f_rtol": f_rtol, "x_tol": x_tol, "x_rtol": x_rtol,
        }
    ),
    optimize.anderson: lambda F, xin, iter=None, alpha=None, maxiter=None, f_tol=None, f_rtol=None, x_tol=None, x_rtol=None: by_name(
        optimize.anderson, F, xin, {
            "iter": iter, "alpha": alpha, "maxiter": maxiter, "f_tol": f_tol, "f_rtol": f_rtol, "x_tol": x_tol, "x_rtol": x_rtol,
        }
    ),
})  # fmt: skip


@composed(optimize.fixed_point)
def fixed_point(func, x0, args=(), xtol=1e-8, maxiter=500, method="del2"):
    args = arguments(args)
    start = stop_gradient(x0) * 1.0 if np.ndim(x0) == 0 else vector(stop_gradient(x0)) * 1.0
    solved = optimize.fixed_point(python_function(lambda x: func(x, *args), (start,)), start, xtol=xtol, maxiter=maxiter, method=method)
    found = found_by_search(solved, start)
    if np.ndim(x0) == 0:
        return scipy_roots.differentiable(lambda x: func(x, *args) - x, found, ())
    return differentiable(lambda x: func(x, *args) - x, found)


# ---- minima ----


def minimum(objective, found, bounds):
    """Return the minimum of `objective` that a search found, with its derivative; `bounds` are None or the lower and the upper ones."""
    slope = gradient(objective)
    if bounds is None:
        return differentiable(slope, found)
    lower, upper = bounds
    at = slope(stop_gradient(found))
    near = NEAR * np.minimum(1.0 + np.abs(found), upper - lower)
    below, above = (found - lower <= near) & (at > 0), (upper - found <= near) & (at < 0)
    held, bound = below | above, np.where(below, lower, upper)
    return differentiable(lambda x: np.where(held, x - np.where(held, bound, 0.0), slope(x)), found)


def refuse_steep(name, objective, found, start, success):
    """Refuse a point at which a search ended early, unless the function is flat there beside where it started."""
    if not success:
        if np.max(np.abs(gradient(objective)(found))) > FLAT * np.max(np.abs(gradient(objective)(start))):
            raise RuntimeError(name)


@composed(optimize.minimize)
def minimize(fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(), tol=None, options=None):
    args = arguments(args)
    if not (constraints is None or isinstance(constraints, (tuple, list)) and len(constraints) == 0):
        refuse("`scipy.optimize.minimize` with constraints: only bounds")

    def objective(x):
        return number(fun(x, *args)[0] if jac is True else fun(x, *args))

    start = vector(stop_gradient(x0)) * 1.0
    slope = None
    if jac is True:
        slope = python_function(lambda x: fun(x, *args)[1], (start,))
    elif callable(jac):
        slope = python_function(lambda x: vector(jac(x, *args)), (start,))
    bends = {}
    if callable(hess):
        bends["hess"] = python_function(lambda x: np.asarray(hess(x, *args)), (start,))
    elif hess is not None:
        bends["hess"] = hess
    if callable(hessp):
        bends["hessp"] = python_function(lambda x, v: vector(hessp(x, v, *args)), (start, start))
    if isinstance(bounds, (Bounds, optimize.Bounds)):
        bounds = list(zip(np.zeros_like(start) + bounds.lb, np.zeros_like(start) + bounds.ub))
    solved = optimize.minimize(
        python_function(objective, (start,)), start, method=method, jac=slope, bounds=bounds, tol=tol, options=options, **bends
    )
    found = found_by_search(solved.x, start)
    refuse_steep("`scipy.optimize.minimize` found no minimum", objective, found, start, solved.success)
    x = minimum(objective, found, None if bounds is None else limits(bounds))
    return Solution(solved, x, objective(x))


class Bounds:
    """The bounds of all numbers, as SciPy's class of this name, of lower and upper ones or one for all."""

    def __init__(self, lb=-np.inf, ub=np.inf, keep_feasible=False):
        self.lb, self.ub, self.keep_feasible = lb, ub, keep_feasible


IN_PYTHON.add(Bounds)


@composed(optimize.Bounds, always=True)
def bounds_of(lb=-np.inf, ub=np.inf, keep_feasible=False):
    return Bounds(lb, ub)


def limits(bounds):
    """Return the lower and the upper bounds of pairs, in which None is none."""
    return (
        np.array([-np.inf if lower is None else lower for lower, _ in bounds]),
        np.array([np.inf if upper is None else upper for _, upper in bounds]),
    )


@composed(optimize.minimize_scalar)
def minimize_scalar(fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None):
    args = arguments(args)

    def objective(x):
        return number(fun(x, *args))

    solved = optimize.minimize_scalar(
        python_function(objective, (1.0,)), bracket=bracket, bounds=bounds, method=method, tol=tol, options=options
    )
    if not solved.success:
        raise RuntimeError("`scipy.optimize.minimize_scalar` found no minimum")
    found = found_by_search(solved.x, 1.0)
    x = scipy_roots.differentiable(lambda x: value_and_tangent(objective, (x,), (1.0,))[1], found, ())
    if bounds is not None:  # the search ends near a bound, not at it
        slope, bend = value_and_tangent(lambda x: value_and_tangent(objective, (x,), (1.0,))[1], (found,), (1.0,))
        if bend <= 0 or not bounds[0] <= found - slope / bend <= bounds[1]:
            x = with_derivative_of(found, bounds[0] if slope > 0 else bounds[1])
    return Solution(solved, x, objective(x))


# ---- solvers of users ----


def implicit(solver, residual, args, axes):
    """Return what a solver finds, with its derivative by the residual that is zero there; `axes` is how many it has, or None."""
    if axes == 0:

        def number_left(x):
            return number(residual(x, *args))

        at = found_by_search(solver(*args), 1.0)
        value, slope = value_and_tangent(number_left, (at,), (1.0,))
        check_root(at, value, np.reshape(slope, (1, 1)))
        return scipy_roots.differentiable(number_left, at, ())
    found = solver(*args)
    shape = np.shape(found)
    x = found_by_search(np.ravel(found) if axes != 1 else found, 1)

    def left(z):
        return vector(residual(z if axes == 1 else np.reshape(z, shape), *args))

    check_root(x, left(x), python_function(lambda v: value_and_tangent(left, (x,), (v,))[1], (x,)))
    x = differentiable(left, x)
    return x if axes == 1 else np.reshape(x, shape)


SOLVED = Composition(implicit, frozenset())
