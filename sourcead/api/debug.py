"""`debug`: where the first NaN or infinity of a derivative arose."""

import types
from collections.abc import Callable

from sourcead.api.transformations import HessianProduct
from sourcead.compile.debugging import watched
from sourcead.compile.gradient import Gradient
from sourcead.debugging.report import DebugReport
from sourcead.errors import ArgumentError
from sourcead.language.tracebacks import folded
from sourcead.places.spelling import of_class


@folded
def debug(derivative: Callable) -> Callable[..., DebugReport]:
    """Return a function that runs a derivative once and tells where its first NaN or infinity arose.

    The text for NumPy runs, whatever the backend. It is generated anew, and looking at a value takes some microseconds. A value that is not
    finite counts where it arises: where no operand accounts for it. What arises and never reaches the result, such as the logarithm of
    zero in the arm of `np.where` that is not taken, is told as such.

    Args:
        derivative: what `grad`, `value_and_grad`, `pushforward` or `hvp` returned.

    Returns:
        A function with the parameters of the derivative, which returns a `DebugReport`: its text names the sweep, the statement of your
        function and the line of the generated text, the iterations, the operands with their values and the residuals among them.

    Raises:
        ArgumentError: it is not one of these derivatives.

    Example:
        >>> import numpy as np
        >>> from sourcead import debug, grad
        >>> def norm(x):
        ...     return np.sqrt(np.sum(x * x))
        >>> found = debug(grad(norm))(np.zeros(2))
        >>> found.finite, found.first.what, found.first.first.what, found.first.sweep
        (False, 'NaN', 'infinity', 'reverse')
        >>> found.first.at.text
        'return np.sqrt(np.sum(x * x))'
    """
    bound = ()
    if isinstance(derivative, types.MethodType):  # of a method that is decorated
        derivative, bound = derivative.__func__, (derivative.__self__,)
    if not isinstance(derivative, Gradient | HessianProduct):
        inner = getattr(derivative, "primal", derivative)
        what = "the function itself" if isinstance(derivative, types.FunctionType) else of_class(derivative)
        name = getattr(inner, "__name__", "f")
        why = f"`debug` takes a derivative that `grad` or one of its kin returned, and is given {what}"
        raise ArgumentError(why, instead=f"`debug(grad({name if name.isidentifier() else 'f'}))(...)`")

    @folded
    def debugged(*args, **kwargs) -> DebugReport:
        inner = derivative._product if isinstance(derivative, HessianProduct) else derivative
        return watched(inner, derivative._bound(bound + args, kwargs))

    debugged.__name__ = debugged.__qualname__ = f"debug of {derivative!r}"
    debugged.__doc__ = f"Run {derivative!r} and return where the first NaN or infinity arose."
    return debugged
