"""Bind the arguments of a call to the parameters of the function that lowers it."""

import inspect
from collections.abc import Callable
from typing import Any

from sourcead.frontend import core
from sourcead.frontend.core import Lowering, Value
from sourcead.ir.nodes import Const
from sourcead.places.spelling import spelled

NONE, ZERO, ONE, AUTO = Const(None), Const(0), Const(1), Const("auto")  # the defaults of parameters


def lowers(*objects: Any) -> Callable:
    """Register the function `(lo, node, ...)` that lowers calls of some objects; its other parameters are those of the objects."""

    def add(lower: Callable) -> Callable:
        for obj in objects:
            core.builtin(obj)(binding(lower, obj))
        return lower

    return add


def takes(obj: Any, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Return whether a function may be called with arguments of this number and of these names."""
    try:
        inspect.signature(obj).bind(*args, **kwargs)
    except ValueError:  # it has no signature
        return True
    except TypeError:
        return False
    return True


def binding(lower: Callable, obj: Any) -> Callable:
    """Make the handler that calls `lower` with the arguments of a call of `obj`, and refuses arguments that it does not take."""
    taken = inspect.signature(lower)

    def handler(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
        try:
            given = taken.bind(lo, node, *args, **kwargs)
        except TypeError as error:
            wrong = core.unsupported(lo, node, f"`{spelled(obj)}` with these arguments: {error}")
            wrong = wrong if takes(obj, args, kwargs) else core.surely(lo, wrong, TypeError)
            raise wrong from None
        return lower(*given.args, **given.kwargs)

    return handler
