"""Compositions of the functions of `scipy.optimize` that find a root: the search as loops, and the derivative of the root.

At a root x of f(x, p) = 0, the implicit function theorem gives

    dx/dp = -(df/dp) / (df/dx)

The search itself carries no derivative. `root_of(x, value, slope)` is x, with this derivative by the value of f at an x that is held.
The derivative of this derivative needs that of x, which is another root in the same place: `first_root_of`, whose second one is refused.

R. Brent, "Algorithms for minimization without derivatives" (1973), chapter 4.
"""

from collections import namedtuple

import numpy as np
from scipy import optimize

from sourcead.ir.types import Opaque
from sourcead.language.transformations import python_function, value_and_tangent
from sourcead.primitives.compositions import composed, number_kind
from sourcead.primitives.registry import enter
from sourcead.runtime import first_root_of, found_by_search, root_of, stop_gradient

Result = namedtuple("RootResults", "root converged")
SMALLEST = float(4 * np.finfo(float).eps)


def differentiable(f, found, args, ones=1.0):
    """Return a root that a search found, with its derivative by what `f` reads; `ones` are ones of its shape."""
    x = found_by_search(found)
    value, slope = value_and_tangent(lambda z: f(z, *args), (x,), (ones,))
    x = stop_gradient(first_root_of(x, value, slope))
    value, slope = value_and_tangent(lambda z: f(z, *args), (x,), (ones,))
    return root_of(x, value, slope)


def arguments(args):
    """Return the further arguments of a function, of which SciPy takes one without a tuple."""
    return args if isinstance(args, tuple) else (args,)


@composed(optimize.brentq)
def brentq(f, a, b, args=(), xtol=2e-12, rtol=SMALLEST, maxiter=100, full_output=False, disp=True):
    args = arguments(args)
    last, x = float(a), float(b)
    f_last, f_x = f(last, *args), f(x, *args)
    if f_last * f_x > 0:
        raise ValueError("f(a) and f(b) must have different signs")
    opposite, f_opposite = last, f_last  # where f has the other sign
    step_before = step = 0.0
    converged = False
    for _ in range(maxiter):
        if f_x != f_x:
            raise ValueError("the function value is NaN; solver cannot continue")
        if f_last * f_x < 0:
            opposite, f_opposite = last, f_last
            step_before = step = x - last
        if abs(f_opposite) < abs(f_x):  # x is the best estimate
            last, f_last, x, f_x = x, f_x, opposite, f_opposite
            opposite, f_opposite = last, f_last
        tolerance = (xtol + rtol * abs(x)) / 2
        half = (opposite - x) / 2
        if f_x == 0 or abs(half) < tolerance:
            converged = True
            break
        jump = half
        if abs(step_before) > tolerance and abs(f_x) < abs(f_last):
            if last == opposite:  # two points: a line
                trial = -f_x * (x - last) / (f_x - f_last)
            else:  # three points
                to_last, to_opposite = (f_last - f_x) / (last - x), (f_opposite - f_x) / (opposite - x)
                numerator = -f_x * (f_opposite * to_opposite - f_last * to_last)
                trial = numerator / (to_opposite * to_last * (f_opposite - f_last))
            if 2 * abs(trial) < min(abs(step_before), 3 * abs(half) - tolerance):
                jump = trial
        step_before = half if jump == half else step
        step = jump
        last, f_last = x, f_x
        x = x + (step if abs(step) > tolerance else tolerance if half > 0 else -tolerance)
        f_x = f(x, *args)
    if disp and not converged:
        raise RuntimeError("Failed to converge after the given number of iterations.")
    x = differentiable(f, x, args)
    return (x, Result(x, True)) if full_output else x


@composed(optimize.bisect)
def bisect(f, a, b, args=(), xtol=2e-12, rtol=SMALLEST, maxiter=100, full_output=False, disp=True):
    args = arguments(args)
    x, width = float(a), float(b) - float(a)
    left = x
    f_left, f_right = f(left, *args), f(float(b), *args)
    if f_left * f_right > 0:
        raise ValueError("f(a) and f(b) must have different signs")
    converged = f_left == 0 or f_right == 0
    if f_left != 0 and f_right == 0:
        x = float(b)
    for _ in range(0 if converged else maxiter):
        width = width / 2
        x = left + width
        f_x = f(x, *args)
        if f_x * f_left >= 0:
            left = x
        if f_x == 0 or abs(width) < xtol + rtol * abs(x):
            converged = True
            break
    if disp and not converged:
        raise RuntimeError("Failed to converge after the given number of iterations.")
    x = differentiable(f, x, args)
    return (x, Result(x, True)) if full_output else x


@composed(optimize.ridder)
def ridder(f, a, b, args=(), xtol=2e-12, rtol=SMALLEST, maxiter=100, full_output=False, disp=True):
    args = arguments(args)
    left, right = float(a), float(b)
    f_left, f_right = f(left, *args), f(right, *args)
    if f_left * f_right > 0:
        raise ValueError("f(a) and f(b) must have different signs")
    tolerance = xtol + rtol * min(abs(left), abs(right))
    x = left if f_left == 0 else right
    converged = f_left == 0 or f_right == 0
    for _ in range(0 if converged else maxiter):
        half = (right - left) / 2
        middle = left + half
        f_middle = f(middle, *args)
        step = np.sign(f_right - f_left) * half * f_middle / np.sqrt(f_middle * f_middle - f_left * f_right)
        x = middle - np.sign(step) * min(abs(step), abs(half) - tolerance / 2)
        f_x = f(x, *args)
        if f_x != f_x:
            raise ValueError("the function value is NaN; solver cannot continue")
        if (f_x < 0) != (f_middle < 0):
            left, f_left, right, f_right = x, f_x, middle, f_middle
        elif (f_x < 0) != (f_left < 0):
            right, f_right = x, f_x
        else:
            left, f_left = x, f_x
        tolerance = xtol + rtol * x
        if f_x == 0 or abs(right - left) < tolerance:
            converged = True
            break
    if disp and not converged:
        raise RuntimeError("Failed to converge after the given number of iterations.")
    x = differentiable(f, x, args)
    return (x, Result(x, True)) if full_output else x


@composed(optimize.newton)
def newton(func, x0, fprime=None, args=(), tol=1.48e-8, maxiter=50, fprime2=None, x1=None, rtol=0.0, disp=True):
    args = arguments(args)
    if fprime is None:
        x0 = float(x0) if number_kind(x0) == "" else x0  # an array of an unknown kind raises TypeError
        if np.ndim(x0) > 0:
            start = stop_gradient(np.asarray(x0) * 1.0)
            second = None if x1 is None else stop_gradient(np.asarray(x1) * 1.0)
            search = python_function(lambda x: func(x, *args), (start,))
            found = found_by_search(optimize.newton(search, start, tol=tol, maxiter=maxiter, x1=second, rtol=rtol), start)
            return differentiable(func, found, args, 0.0 * start + 1.0)
        x = secant(func, x0, x1, args, (tol, rtol, maxiter, disp))
        return differentiable(func, float(x) if number_kind(x) in ("", "float") else x, args)  # of which NumPy makes a number
    x = stop_gradient(np.asarray(x0) * 1.0 if np.ndim(x0) > 0 else x0 * 1.0)
    converged = False
    for _ in range(maxiter):
        value = func(x, *args)
        if np.all(value == 0):
            converged = True
            break
        slope = fprime(x, *args)
        if np.any(slope == 0):
            raise RuntimeError("Derivative was zero.")
        step = value / slope
        if fprime2 is not None:
            bend = step * fprime2(x, *args) / slope / 2
            step = step / np.where((np.abs(bend) < 1) | (np.ndim(x0) > 0), 1.0 - bend, 1.0)
        x = x - step
        if np.all(np.abs(step) < tol) if np.ndim(x0) > 0 else np.abs(step) <= tol + rtol * np.abs(x + step):
            converged = True
            break
    if disp and not converged:
        raise RuntimeError("Failed to converge after the given number of iterations.")
    return differentiable(func, x, args, 0.0 * x + 1.0)


def secant(f, x0, x1, args, options):
    """Return the root that the secant method finds."""
    tol, rtol, maxiter, disp = options
    last = x0 * 1.0
    x = last * (1 + 1e-4) + np.where(last * (1 + 1e-4) >= 0, 1e-4, -1e-4) if x1 is None else x1 * 1.0
    f_last, f_x = f(last, *args), f(x, *args)
    if abs(f_x) < abs(f_last):
        last, x, f_last, f_x = x, last, f_x, f_last
    converged = False
    for _ in range(maxiter):
        if f_x == f_last:
            if x != last and disp:
                raise RuntimeError("Failed to converge: two values of the function are the same.")
            x = (x + last) / 2.0
            converged = True
            break
        if abs(f_x) > abs(f_last):
            new = (-f_last / f_x * x + last) / (1 - f_last / f_x)
        else:
            new = (-f_x / f_last * last + x) / (1 - f_x / f_last)
        last, f_last, x = x, f_x, new
        if abs(x - last) <= tol + rtol * abs(last):
            converged = True
            break
        f_x = f(x, *args)
    if disp and not converged:
        raise RuntimeError("Failed to converge after the given number of iterations.")
    return x


# ---- searches of SciPy's own ----


def bracketed(solver, f, a, b, args, limits):
    """Return what `brenth` or `toms748` returns; `limits` are its options from `xtol` on, with `full_output`."""
    args = arguments(args)
    xtol, rtol, maxiter, full_output = limits
    search = python_function(lambda x: f(x, *args) * 1.0, (1.0,))
    found = solver(search, stop_gradient(a) * 1.0, stop_gradient(b) * 1.0, xtol=xtol, rtol=rtol, maxiter=maxiter)
    x = differentiable(f, found_by_search(found, 1.0), args)
    return (x, Result(x, True)) if full_output else x


composed({
    optimize.brenth: lambda f, a, b, args=(), xtol=2e-12, rtol=SMALLEST, maxiter=100, full_output=False, disp=True: bracketed(
        optimize.brenth, f, a, b, args, (xtol, rtol, maxiter, full_output)
    ),
    optimize.toms748: lambda f, a, b, args=(), k=1, xtol=2e-12, rtol=SMALLEST, maxiter=100, full_output=False, disp=True: bracketed(
        optimize.toms748, f, a, b, args, (xtol, rtol, maxiter, full_output)
    ),
})
enter(optimize.root_scalar, result=lambda fn, args, kwargs: Opaque(optimize.RootResults))


@composed(optimize.root_scalar)
def root_scalar(
    f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None, x1=None, xtol=None, rtol=None, maxiter=None, options=None
):  # fmt: skip
    if bracket is not None and (method is None or method == "brentq") and options is None:
        limits = (2e-12 if xtol is None else xtol, SMALLEST if rtol is None else rtol, 100 if maxiter is None else maxiter)
        return Result(brentq(f, bracket[0], bracket[1], args, *limits), True)
    if bracket is not None and method == "bisect" and options is None:
        limits = (2e-12 if xtol is None else xtol, SMALLEST if rtol is None else rtol, 100 if maxiter is None else maxiter)
        return Result(bisect(f, bracket[0], bracket[1], args, *limits), True)
    if bracket is None and x0 is not None and options is None and fprime2 is None:
        limits = (1.48e-8 if xtol is None else xtol, 50 if maxiter is None else maxiter, None, x1, 0.0 if rtol is None else rtol)
        if callable(fprime) and (method == "newton" or method is None and x1 is None):
            return Result(newton(f, x0, fprime, args, *limits), True)
        if method == "secant" or method is None and x1 is not None and fprime is None:
            return Result(newton(f, x0, None, args, *limits), True)
    args = arguments(args)

    def value(x):
        if fprime is True:
            return f(x, *args)[0] * 1.0
        return f(x, *args) * 1.0

    slopes = {}
    if fprime is True:
        slopes["fprime"] = python_function(lambda x: f(x, *args)[1] * 1.0, (1.0,))
        if fprime2 is True:
            slopes["fprime2"] = python_function(lambda x: f(x, *args)[2] * 1.0, (1.0,))
    elif callable(fprime):
        slopes["fprime"] = python_function(lambda x: fprime(x, *args) * 1.0, (1.0,))
    if callable(fprime2):
        slopes["fprime2"] = python_function(lambda x: fprime2(x, *args) * 1.0, (1.0,))
    solved = optimize.root_scalar(
        python_function(value, (1.0,)), method=method, bracket=stop_gradient(bracket), x0=stop_gradient(x0), x1=stop_gradient(x1),
        xtol=xtol, rtol=rtol, maxiter=maxiter, options=options, **slopes,
    )  # fmt: skip
    if not solved.converged:
        raise RuntimeError("`scipy.optimize.root_scalar` found no root")
    return Result(differentiable(value, found_by_search(solved.root, 1.0), ()), True)
