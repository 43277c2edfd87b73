"""What users call: `grad`, `value_and_grad`, `vjp`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from sourcead.dispatch import Gradient
from sourcead.errors import WrtError
from sourcead.frontend.source import unwrap


def grad(
    f: Callable | None = None,
    wrt: int | str | Sequence[int | str] = 0,
    *,
    has_aux: bool = False,
    checkpoint: Any = "auto",
    backend: str = "numpy",
) -> Any:
    """The gradient of a function with one real number as its result.

    Used as `grad(f)`, as `@grad`, or as `@grad(wrt=...)`.

    Args:
        f: the function; its source must be at hand.
        wrt: the parameters that the gradient is taken with respect to: an index, a name, or a sequence of them. One
            gives one gradient, a sequence gives a tuple. Indices count from the first parameter that is not bound yet
            (in a method, from the one after `self`).
        has_aux: the function returns `(number, anything)`, and the gradient function `(gradient, anything)`.
        checkpoint: what loops save for the reverse sweep; "auto" decides by cost.
        backend: "numpy" runs the generated text as it is, "numba" compiles it first.

    Returns:
        A callable with f's parameters. A gradient has the structure of its argument: a float for a float (and for a
        Python int), an array of the same shape and dtype for an array, and tuples, lists, dicts, named tuples and
        dataclasses of these. Arguments are never changed. It has the attributes `source`, `lower`, `primal` and `save`,
        and it pickles if `f` does.

    Raises:
        WrtError: wrt names no parameter; in a call, an argument in wrt is an array of integers, or no number at all.
        NoSourceError: the source of `f` cannot be found.
        NonScalarError: in a call, the result is not one real number.
        SourceADError: in a call, something that is not supported; each class of `sourcead.errors` tells what.

    Example:
        >>> import numpy as np
        >>> from sourcead import grad
        >>> def loss(w, x):
        ...     return np.sum((w * x) ** 2)
        >>> grad(loss)(np.array([1.0, 2.0]), np.array([3.0, 1.0]))
        array([18.,  4.])
        >>> grad(loss, wrt=("w", "x"))(2.0, 3.0)
        (36.0, 24.0)
    """
    options = {"kind": "grad", "has_aux": has_aux, "checkpoint": checkpoint, "backend": backend}
    return functools.partial(Gradient, wrt=wrt, **options) if f is None else Gradient(f, wrt, **options)


def value_and_grad(
    f: Callable | None = None,
    wrt: int | str | Sequence[int | str] = 0,
    *,
    has_aux: bool = False,
    checkpoint: Any = "auto",
    backend: str = "numpy",
) -> Any:
    """The value of a function together with its gradient, for the price of the gradient.

    Args:
        f, wrt, has_aux, checkpoint, backend: as for `grad`.

    Returns:
        A callable as `grad` returns it, whose result is `(value, gradient)`; with `has_aux`,
        `((value, anything), gradient)`.

    Raises:
        SourceADError: as `grad`.

    Example:
        >>> from sourcead import value_and_grad
        >>> @value_and_grad
        ... def cube(x):
        ...     return x ** 3
        >>> cube(2.0)
        (8.0, 12.0)
    """
    options = {"kind": "value_and_grad", "has_aux": has_aux, "checkpoint": checkpoint, "backend": backend}
    return functools.partial(Gradient, wrt=wrt, **options) if f is None else Gradient(f, wrt, **options)


def vjp(f: Callable, *args: Any, wrt: int | str | Sequence[int | str] | None = None) -> tuple[Any, Callable]:
    """The value of a function, and its pullback: the product of a cotangent with the function's Jacobian.

    Args:
        f: the function; its result may be of any shape and structure.
        args: where to take it.
        wrt: as for `grad`; None is all of `args`.

    Returns:
        `(value, pullback)`. `pullback(cotangent)` takes a cotangent of the value's structure, shapes and dtypes and
        returns those of `wrt`: one bare if `wrt` is one (or there is one argument), else a tuple. It may be called
        more than once.

    Raises:
        SourceADError: as `grad`, without NonScalarError.

    Example:
        >>> import numpy as np
        >>> from sourcead import vjp
        >>> value, pullback = vjp(lambda x: x ** 2, np.array([1.0, 2.0]))
        >>> value
        array([1., 4.])
        >>> pullback(np.array([1.0, 10.0]))
        array([ 2., 40.])
    """
    function, bound_args, bound_kwargs = unwrap(f)
    if wrt is None:
        if not args:
            raise WrtError("vjp has no arguments to differentiate with respect to", instead="vjp(f, x)")
        wrt = 0 if len(args) == 1 else tuple(range(len(args)))
    elif not isinstance(wrt, str | int):
        wrt = tuple(wrt)
    return _pullback_of(function, wrt, len(bound_args))(*bound_args, *args, **bound_kwargs)


@functools.lru_cache(maxsize=256)
def _pullback_of(function: Callable, wrt: Any, bound: int) -> Gradient:
    return Gradient(function, _shifted(wrt, bound), kind="vjp")


def _shifted(wrt: Any, by: int) -> Any:
    """Indices counted from the parameter `by` on, as indices counted from the first."""
    if isinstance(wrt, int):
        return wrt + by if wrt >= 0 else wrt
    return wrt if isinstance(wrt, str) else tuple(_shifted(item, by) for item in wrt)
