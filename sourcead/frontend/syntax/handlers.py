"""The handlers of a `try`: which exceptions they catch, and what happens with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from sourcead.frontend import core
from sourcead.frontend.control.exits import may_leave, standing_for
from sourcead.frontend.core import Held, Lowering
from sourcead.frontend.syntax.guarded import meets
from sourcead.ir.nodes import Const

NO_CLASSES = "catching classes that do not inherit from BaseException is not allowed"


@dataclass(eq=False)
class Handler:
    """One `except`: its syntax, the classes that it catches, and the number of the exit to it.

    `passes_on` says that it only raises another exception, which leaves the function as the first would, and is not lowered.
    """

    node: Any
    classes: tuple[type, ...]
    number: int
    passes_on: bool = False


def handler_of_syntax(lo: Lowering, node: gast.ExceptHandler, number: int) -> Handler:
    """Return a handler; one of anything but exception classes raises TypeError when an exception arrives at it."""
    classes = caught(lo, node)
    if not all(isinstance(cls, type) and issubclass(cls, BaseException) for cls in classes):
        raised = gast.Call(Held(Const(TypeError)), [gast.Constant(NO_CLASSES, None)], [])
        node = standing_for(node, gast.ExceptHandler(None, None, [standing_for(node, gast.Raise(raised, None))]))
        classes = (BaseException,)
    return Handler(node, classes, number, passes_on(lo, node))


def names_no_class(node: gast.ExceptHandler) -> bool:
    """Tell whether anything but names stands where a handler names the classes that it catches."""
    listed = node.type.elts if isinstance(node.type, gast.Tuple) else [] if node.type is None else [node.type]
    return not all(isinstance(n, (gast.Name, gast.Attribute)) for n in listed)


def passes_on(lo: Lowering, handler) -> bool:
    """Tell whether a handler only raises another exception, so that the first one may leave the function in its place."""
    again = lo.catching and isinstance(handler.body[-1], gast.Raise) and handler.body[-1].exc is None
    if again and any(meets(cls, lo.catching) for cls in caught(lo, handler)):  # another `try` around this one handles it
        return False
    return not lo.translating and isinstance(handler.body[-1], gast.Raise) and not any(map(may_leave, handler.body))


def caught(lo: Lowering, handler) -> tuple[type, ...]:
    """Return the exception classes that a handler catches."""
    if handler.type is None:
        return (BaseException,)
    reason = "the exceptions that are caught here are not known before the program runs"
    value = core.certain(lo, core.lower(lo, handler.type), handler, reason)
    return value if isinstance(value, tuple) else (value,)
