"""Bind the arguments of a call to the parameters of the function that lowers it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from sourcead.errors import spelled
from sourcead.frontend import core
from sourcead.frontend.core import Lowering, Value
from sourcead.ir.nodes import Const

NONE, ZERO, ONE, AUTO = Const(None), Const(0), Const(1), Const("auto")  # the defaults of parameters


def lowers(*objects: Any) -> Callable:
    """Register the function `(lo, node, ...)` that lowers calls of some objects; its other parameters are those of the objects."""

    def add(lower: Callable) -> Callable:
        for obj in objects:
            core.builtin(obj)(functools.partial(bound, lower, inspect.signature(lower), obj))
        return lower

    return add


def bound(lower: Callable, taken: inspect.Signature, obj: Any, lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Call the function that lowers a call with the arguments of the call; refuse arguments that it does not take."""
    try:
        given = taken.bind(lo, node, *args, **kwargs)
    except TypeError as error:
        raise core.unsupported(lo, node, f"`{spelled(obj)}` with these arguments: {error}") from None
    return lower(*given.args, **given.kwargs)
