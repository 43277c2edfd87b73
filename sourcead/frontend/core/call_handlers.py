"""Choose the handler that lowers the call of a Python object.

Built-in functions have their own handlers (`@builtin(len)`). Other objects fall into kinds, each with a test and a handler; a
call is lowered by the first kind of `ORDER` whose test holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sourcead.frontend.core.cells import BoundVal, Value
from sourcead.frontend.core.lowering import Lowering
from sourcead.frontend.core.numba_names import in_python
from sourcead.frontend.core.operations import call
from sourcead.ir.nodes import Const

BUILTINS: dict[Any, Callable] = {}

ORDER = (
    "derivative",  # `grad` and what it returned; before "partial" and "library", as it has neither source nor rule
    "partial",
    "vectorize",
    "getter",
    "ufunc.at",  # before "library", to which it belongs
    "library",  # also the user's functions that have a rule, which are not inlined
    "class",
    "speaker",  # functions of `logging` and `warnings`, which are not inlined although they have source
    "function",
    "opaque",  # everything else
)
KINDS: dict[str, tuple[Callable[[Any], bool], Callable]] = {}


def builtin(*objects: Any) -> Callable:
    """Register the handler `(lo, args, kwargs, node)` for calls of some Python objects."""

    def add(handler: Callable) -> Callable:
        for obj in objects:
            if obj in BUILTINS:
                raise ValueError(f"{obj} has two handlers")
            BUILTINS[obj] = handler
        return handler

    return add


def kind_of_callable(name: str, test: Callable[[Any], bool]) -> Callable:
    """Register the handler `(lo, fn, args, kwargs, node)` for calls of the objects that pass a test."""
    if name in KINDS or name not in ORDER:
        raise ValueError(f"{name} has two handlers, or no place in the order")

    def add(handler: Callable) -> Callable:
        KINDS[name] = test, handler
        return handler

    return add


def call_object(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a Python object."""
    fn = in_python(fn)
    try:
        handler = BUILTINS.get(fn)
    except TypeError:  # not hashable
        handler = None
    if handler is not None:
        return handler(lo, args, kwargs, node)
    handler = next(found for test, found in (KINDS[name] for name in ORDER if name in KINDS) if test(fn))
    return handler(lo, fn, args, kwargs, node)


@call.register(Const)
def _call_constant(lo: Lowering, fn: Const, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    return call.default(lo, fn, args, kwargs, node) if fn.live else call_object(lo, fn.value, args, kwargs, node)


@call.register(BoundVal)
def _call_bound(lo: Lowering, fn: BoundVal, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    return call(lo, fn.function, [*fn.args, *args], {**fn.kwargs, **kwargs}, node)
