"""Registers `grad`, `vjp` and the other public functions, so that the compiler recognises them inside a differentiated function.

They register themselves because the compiler cannot import them: they are built on it.
"""

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sourcead.errors import ArgumentError, WrtError
from sourcead.language.tracebacks import folded
from sourcead.places.spelling import of_class

KINDS: dict[Callable, str] = {}  # the kind of derivative that a public function returns, or "vjp call", "jvp call"


def returns_derivative(kind: str) -> Callable[[Callable], Callable]:
    """Return a decorator of public functions that registers them as ones that return a derivative of this kind, and folds their errors."""

    def add(function: Callable) -> Callable:
        code = function.__code__
        options = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

        @functools.wraps(function)
        def checked(*args, **kwargs):
            for name, value in kwargs.items():
                if name not in options:
                    raise no_option(function.__name__, name, value, options[1:])
            if len(args) > code.co_argcount and not code.co_flags & inspect.CO_VARARGS:
                raise too_many(function.__name__, options[: code.co_argcount], len(args))
            wrt = args[1] if args[1:] and options[: code.co_argcount][1:2] == ("wrt",) else kwargs.get("wrt")
            if isinstance(wrt, float | complex) or isinstance(wrt, np.ndarray) and wrt.dtype.kind in "fc":
                raise argument_as_wrt(function.__name__, getattr(args[0] if args else None, "__name__", ""), wrt)
            return function(*args, **kwargs)

        KINDS[public := folded(checked)] = kind
        return public

    return add


def argument_as_wrt(function: str, of: str, given: Any) -> WrtError:
    """Return the error for a public function that is given an argument of the function called `of` in the place of wrt."""
    why = f"wrt names parameters of the function, and `{function}` is given {of_class(given)} as wrt"
    return WrtError(why, instead=f"`{function}({of if of.isidentifier() else 'f'})(...)`: the arguments are given to what it returns")


def too_many(function: str, taken: tuple[str, ...], count: int) -> ArgumentError:
    """Return the error for a public function that is given more arguments by position than it has."""
    instead = "jvp(f, (x,), (t_x,))" if "tangents" in taken else f"{function}(f)(x): the arguments of f are given to what it returns"
    return ArgumentError(f"`{function}` takes {' and '.join(taken)}, and is given {count} arguments", instead=instead)


SWITCHES = ("has_aux", "verify", "readable")
MEANT = {  # what to write in place of the options of other libraries
    "wrt={}": ("argnums", "argnum", "argnames", "args", "variables", "inputs"),
    'verify="gradient"': ("check", "checks", "check_grads", "verified", "numerical", "test", "debug"),
    'backend="numba"': ("jit", "njit", "numba", "compile", "compiled", "fast", "nopython"),
    "has_aux={}": ("aux", "return_aux"),
}


def no_option(function: str, name: str, value: Any, options: Iterable[str]) -> ArgumentError:
    """Return the error for an option that a public function does not have, with the one that is probably meant."""
    shown = repr(value) if isinstance(value, int | str | tuple | list) else "..."
    meant = next((ours for ours, others in MEANT.items() if name in others and ours.partition("=")[0] in options), None)
    near = [n for n in difflib.get_close_matches(name, options, 1) if not isinstance(value, bool) or n in SWITCHES]
    reason = f"`{function}` has no option `{name}`: it has {', '.join(options)}"
    return ArgumentError(reason, instead=meant and meant.format(shown) or (f"{near[0]}={shown}" if near else None))


def value_and_tangent(f, args, tangents):
    """Stand for `jvp` in the functions of the compiler's own that are lowered in place of others, and only there."""
    raise NotImplementedError("`jvp` inside of the compiler")


KINDS[value_and_tangent] = "jvp call"


def gradient(f):
    """Stand for `grad` in the compiler's own."""
    raise NotImplementedError("`grad` inside of the compiler")


KINDS[gradient] = "grad"


def python_function(f, args):
    """Stand for `f` as a function that other code calls with arguments like these: a function of the text. Only in the compiler's own."""
    raise NotImplementedError("a function of the text inside of the compiler")


KINDS[python_function] = "function call"


@dataclass(frozen=True, eq=False)
class Described:
    """Describes the derivative that a public function returned; while a function is lowered, it is the value of one that is not called yet.

    Attributes:
        kind: that of `Gradient`, or "jacobian", "hessian" or "hvp", which takes the tangent last.
        function: the function that it is the derivative of; while lowering, its value.
        wrt: the arguments that it is differentiated with respect to.
        has_aux: whether the function returns auxiliary values besides its result.
        names: the names of its parameters, None if they are not known yet.
        bound_args, bound_kwargs: arguments that are already bound.
    """

    kind: str
    function: Any
    wrt: Any = 0
    has_aux: bool = False
    names: tuple[str, ...] | None = None
    bound_args: tuple = ()
    bound_kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Mapped(Described):
    """Describes what `vmap` returned: a function of several members at once.

    Attributes:
        in_axes, out_axes: as `vmap` was given them.
        checked: whether the numbers of members of all arguments are known to be equal.
        own: the number of first arguments that are the same for all members.
    """

    in_axes: Any = 0
    out_axes: Any = 0
    checked: bool = False
    own: int = 0


def member_of(axes: Any, key: Any, count: int | None = None) -> Any:
    """Return what axes for a structure say of the part under a key: an integer or None is for all parts.

    Args:
        axes: an integer, None, or a tuple, list, dict or object with such axes in it.
        key: the place, key or field of the part.
        count: the number of parts of the structure, if it is checked.

    Raises:
        ArgumentError: they are of another structure.
    """
    if axes is None or isinstance(axes, int) and not isinstance(axes, bool):
        return axes
    try:
        if isinstance(axes, tuple | list | dict) and not hasattr(axes, "_fields"):
            if count is not None and len(axes) != count:
                raise LookupError
            return axes[key]
        return getattr(axes, key) if isinstance(key, str) else axes[key]
    except (LookupError, AttributeError, TypeError):
        why = f"axes {axes!r} are given for a structure that has another part, {key!r}"
        raise ArgumentError(why, instead="an integer or None for all of it, or the same structure with these in it") from None
