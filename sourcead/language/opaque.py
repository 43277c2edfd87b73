"""`opaque`: functions that are called as they are, without a derivative. `implicit`: solvers, whose results have that of a root."""

import functools
import types
from collections.abc import Callable
from typing import Any


class opaque:
    """Makes a function that a differentiated function calls as it is: its source is not read, and its results are constants.

    Use it for what reports, plots, reads files or asks a simulator. The text calls the function with plain numbers and arrays, which it
    may not change. A call from anywhere else is a call of the function.

    Args:
        function: a function, or a method inside its class.

    Example:
        >>> from sourcead import grad, opaque
        >>> @opaque
        ... def table(x):
        ...     return {1.0: 3.0, 2.0: 5.0}[x]
        >>> float(grad(lambda x: x * table(x))(2.0))
        5.0
    """

    def __init__(self, function: Callable):
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)


class Solver(opaque):
    """A solver with the function that is zero at its result; what `implicit` makes of one."""

    def __init__(self, function: Callable, residual: Callable):
        super().__init__(function)
        self.residual = residual


def implicit(residual: Callable) -> Callable[[Callable], Solver]:
    """Return a decorator of solvers: what one returns has its derivative by the implicit function theorem, however it was found.

    At the result x of `solver(*args)`, `residual(x, *args)` is zero, and dx = -(d residual / d x)^-1 (d residual / d args). The solver runs
    as it is, and only the residual is differentiated.

    Args:
        residual: a function of x and the arguments of the solver, as many numbers as x has.

    Returns:
        The decorator. The solver returns a number or an array; a result at which the residual is not small is not noticed.

    Example:
        >>> from sourcead import grad, implicit
        >>> @implicit(lambda x, a: x * x - a)
        ... def root(a):
        ...     x = 1.0
        ...     while abs(x * x - a) > 1e-14:
        ...         x = 0.5 * (x + a / x)
        ...     return x
        >>> round(float(grad(lambda a: root(a))(4.0)), 9)
        0.25
    """
    return lambda function: Solver(function, residual)
