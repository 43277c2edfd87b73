"""Lower `raise`: the text raises what the program raises."""

from __future__ import annotations

from typing import Any

import gast

from sourcead.errors import NoRuleError, UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import generators
from sourcead.frontend.control.branches import INSTEAD, UNDECIDED, raised
from sourcead.frontend.core import Lowering
from sourcead.frontend.syntax.expressions import named_object

UNTOLD = "(what the program says here is not known in its derivative)"


def class_raised(lo: Lowering, node: gast.Raise) -> type | None:
    """Return the class of the exception that a `raise` raises, None if it is not known."""
    with lo.attempt(UnsupportedSyntaxError):
        found = named_object(lo, getattr(node.exc, "func", node.exc))
        return found if isinstance(found, type) and issubclass(found, BaseException) else None
    return None


@core.statement(gast.Raise)
def lower_raise(lo: Lowering, node) -> Any:
    """Lower `raise error`."""
    if node.exc is None:
        raise core.unsupported(lo, node, "a bare `raise`")
    cls = class_raised(lo, node) if lo.catching else None
    if lo.catching and (cls is None or issubclass(cls, lo.catching)):
        error = core.unsupported(lo, node, UNDECIDED, INSTEAD)
        raise error if cls is None else core.surely(lo, error, cls)
    if generators.is_stop(node) and any(getattr(call.key, "name", "") == "__next__" for call in lo.calls):
        raise core.unsupported(lo, node, "a function that ends the iteration of a `__next__`", "raise StopIteration in `__next__` itself")
    with lo.attempt(UnsupportedSyntaxError, NoRuleError, when=lambda error: isinstance(node.exc, gast.Call)) as attempt:
        error = core.atom(lo, node.exc)
    return raised(lo, core.atom(lo, told(lo, node.exc)) if attempt.failed else error)


def told(lo: Lowering, call: gast.Call) -> gast.Call:
    """Return an exception in which a text stands for each argument that cannot be lowered, such as `inspect.stack()[1][3]`.

    Arguments tell the reader of the message what happened; what is computed depends on the class alone.
    """
    words = [gast.keyword(word.arg, told_part(lo, word.value)) for word in call.keywords]
    return gast.copy_location(gast.Call(call.func, [told_part(lo, part) for part in call.args], words), call)


def told_part(lo: Lowering, part: gast.AST) -> gast.AST:
    """Return an argument of an exception, or the text that stands for it."""
    with lo.attempt(UnsupportedSyntaxError, NoRuleError) as attempt:
        core.atom(lo, part)
    return gast.Constant(UNTOLD, None) if attempt.failed else part
