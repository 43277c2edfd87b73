"""Compositions of the functions of `scipy.optimize` that fit: least squares, with and without bounds, of any loss, and `curve_fit`.

The solution is a minimum of f = s^2 / 2 sum_i rho((r_i / s)^2), where the loss rho(z) is z unless another is given (`scipy_systems.py`).
"""

import numpy as np
from scipy import linalg, optimize

from sourcead.ir.types import Opaque
from sourcead.language.transformations import python_function
from sourcead.primitives.compositions import composed, refuse
from sourcead.primitives.registry import enter
from sourcead.primitives.scipy_roots import arguments
from sourcead.primitives.scipy_systems import Solution, jacobian, minimum, refuse_steep, vector
from sourcead.runtime import found_by_search, stop_gradient

enter(optimize.least_squares, optimize.lsq_linear, result=lambda fn, args, kwargs: Opaque(optimize.OptimizeResult))


def loss_of(name, z):
    """Return the loss rho(z) of SciPy's name."""
    if name == "linear":
        return z
    if name == "soft_l1":
        return 2 * (np.sqrt(1 + z) - 1)
    if name == "huber":
        return np.where(z <= 1, z, 2 * np.sqrt(np.where(z <= 1, 1.0, z)) - 1)
    if name == "cauchy":
        return np.log1p(z)
    if name == "arctan":
        return np.arctan(z)
    refuse("`scipy.optimize.least_squares` with a `loss` that is a function")


@composed(optimize.least_squares)
def least_squares(
    fun, x0, jac="2-point", bounds=None, method="trf", ftol=1e-8, xtol=1e-8, gtol=1e-8, x_scale=None, loss="linear", f_scale=1.0,
    diff_step=None, max_nfev=None, args=(),
):  # fmt: skip
    args = arguments(args)

    def residual(x):
        return vector(fun(x, *args))

    def objective(x):
        return 0.5 * f_scale**2 * np.sum(loss_of(loss, (residual(x) / f_scale) ** 2))

    start = vector(stop_gradient(x0)) * 1.0
    slope = python_function(lambda x: np.asarray(jac(x, *args)), (start,)) if callable(jac) else jac
    if isinstance(bounds, optimize.Bounds):
        refuse("`scipy.optimize.least_squares` with an object of `Bounds`: give the lower and the upper bounds")
    options = {"loss": loss, "f_scale": stop_gradient(f_scale), "diff_step": diff_step, "max_nfev": max_nfev}
    if bounds is not None:
        options["bounds"] = (stop_gradient(bounds[0]), stop_gradient(bounds[1]))
    if x_scale is not None:
        options["x_scale"] = stop_gradient(x_scale)
    solved = optimize.least_squares(
        python_function(residual, (start,)), start, jac=slope, method=method, ftol=ftol, xtol=xtol, gtol=gtol, **options
    )
    found = found_by_search(solved.x, start)
    refuse_steep("`scipy.optimize.least_squares` found no minimum", objective, found, start, solved.success)
    x = minimum(objective, found, None if bounds is None else (bounds[0] + 0.0 * start, bounds[1] + 0.0 * start))
    solution = Solution(solved, x, residual(x))
    solution.cost = objective(x)
    return solution


@composed(optimize.curve_fit)
def curve_fit(
    f, xdata, ydata, p0=None, sigma=None, absolute_sigma=False, check_finite=True, bounds=None, method=None, jac=None, maxfev=None,
    ftol=None, xtol=None, gtol=None, max_nfev=None,
):  # fmt: skip
    if p0 is None:
        refuse("`scipy.optimize.curve_fit` without `p0`: give the values at which it starts")
    start = vector(stop_gradient(p0)) * 1.0
    y = vector(ydata)
    factor = None
    if sigma is not None and np.ndim(sigma) == 2:
        factor = np.linalg.cholesky(np.asarray(sigma))

    def residual(p):
        difference = f(xdata, *p) - y
        if factor is not None:
            return linalg.solve_triangular(factor, difference, lower=True)
        return difference if sigma is None else difference / sigma

    def objective(p):
        return 0.5 * np.sum(residual(p) ** 2)

    options = {name: value for name, value in {"ftol": ftol, "xtol": xtol, "gtol": gtol}.items() if value is not None}
    limits = None
    if bounds is None and method in (None, "lm"):
        solved = optimize.leastsq(python_function(residual, (start,)), start, maxfev=0 if maxfev is None else maxfev, **options)
        if solved[1] > 4:
            raise RuntimeError("Optimal parameters not found")
        found = found_by_search(solved[0], start)
    else:
        if bounds is not None:
            limits = (bounds[0] + 0.0 * start, bounds[1] + 0.0 * start)
            options["bounds"] = (stop_gradient(bounds[0]), stop_gradient(bounds[1]))
        most = maxfev if max_nfev is None else max_nfev
        result = optimize.least_squares(
            python_function(residual, (start,)), start, method="trf" if method is None else method, max_nfev=most, **options
        )
        if not result.success:
            raise RuntimeError("Optimal parameters not found")
        found = found_by_search(result.x, start)
    x = minimum(objective, found, limits)
    slopes = jacobian(residual, x)
    covariance = np.linalg.inv(slopes.T @ slopes)
    return x, covariance if absolute_sigma else covariance * (2.0 * objective(x) / (y.size - start.size))


# ---- linear ones ----


def nearest(A, b, found, lower, upper):
    """Return the minimum of |A x - b| between bounds that a search found, with its derivative, and this objective."""

    def objective(x):
        return 0.5 * np.sum((A @ x - b) ** 2)

    return minimum(objective, found, (lower + np.zeros(len(found)), upper + np.zeros(len(found)))), objective


@composed(optimize.nnls)
def nnls(A, b, maxiter=None):
    a, right = np.asarray(A) * 1.0, vector(b) * 1.0
    solved = optimize.nnls(stop_gradient(a), stop_gradient(right), maxiter=maxiter)
    x, objective = nearest(a, right, found_by_search(solved[0], 1), 0.0, np.inf)
    return x, np.sqrt(2.0 * objective(x))


@composed(optimize.lsq_linear)
def lsq_linear(A, b, bounds=(-np.inf, np.inf), method="trf", tol=1e-10, max_iter=None):
    a, right = np.asarray(A) * 1.0, vector(b) * 1.0
    if isinstance(bounds, optimize.Bounds):
        refuse("`scipy.optimize.lsq_linear` with an object of `Bounds`: give the lower and the upper bounds")
    held = (stop_gradient(bounds[0]), stop_gradient(bounds[1]))
    solved = optimize.lsq_linear(stop_gradient(a), stop_gradient(right), held, method=method, tol=tol, max_iter=max_iter)
    if not solved.success:
        raise RuntimeError("`scipy.optimize.lsq_linear` found no minimum")
    x, objective = nearest(a, right, found_by_search(solved.x, 1), bounds[0], bounds[1])
    solution = Solution(solved, x, a @ x - right)
    solution.cost = objective(x)
    return solution
