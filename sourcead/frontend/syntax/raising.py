"""Lower `raise`: the text raises what the program raises."""

from __future__ import annotations

from typing import Any

import gast

from sourcead.errors import NoRuleError, UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import generators
from sourcead.frontend.control.branches import INSTEAD, UNDECIDED, raised
from sourcead.frontend.core import Lowering, Value
from sourcead.frontend.syntax.expressions import elements, keywords, named_object
from sourcead.ir.nodes import Atom
from sourcead.ir.records import is_exception_class

UNTOLD = "(what the program says here is not known in its derivative)"


def class_raised(lo: Lowering, node: gast.Raise) -> type | None:
    """Return the class of the exception that a `raise` raises, None if it is not known."""
    with lo.attempt(UnsupportedSyntaxError):
        found = named_object(lo, getattr(node.exc, "func", node.exc))
        return found if isinstance(found, type) and issubclass(found, BaseException) else None
    return None


class Raised(gast.AST):
    """The exception that a `raise` raises, which its class makes when the program runs, as nothing in it is read while compiling."""

    _fields = ()

    def __init__(self, call: gast.Call):
        self.call = call


@core.lower.register(Raised)
def made_by_class(lo: Lowering, node: Raised) -> Value:
    """Lower a call of an exception class to one in the text; the methods of a class inside the function are known while compiling alone."""
    call, cls = node.call, named_object(lo, node.call.func)
    if isinstance(cls, type) and is_exception_class(cls) and not any(hasattr(member, "lowered") for member in vars(cls).values()):
        return core.call_library(lo, cls, elements(lo, call.args), keywords(lo, call), call)
    return core.atom(lo, call)


def error_for(handler: gast.ExceptHandler, node: gast.Raise) -> gast.AST | None:
    """Return what a handler knows of the exception that a `raise` of a class or of a new object of it raises, None if it needs nothing."""
    made = node.exc if isinstance(node.exc, gast.Call) else gast.Call(node.exc, [], [])
    named = handler.name.id if isinstance(handler.name, gast.Name) else handler.name
    if named is None:
        return Raised(made) if any(isinstance(n, gast.Call) for a in made.args for n in gast.walk(a)) else None
    inside = [n for statement in handler.body for n in gast.walk(statement)]
    uses = {n for n in inside if isinstance(n, gast.Name) and n.id == named and isinstance(n.ctx, gast.Load)}
    shown = {part for n in inside if shows(n) for part in gast.iter_child_nodes(n)}
    return made if uses - shown else Raised(made)


def shows(node: gast.AST) -> bool:
    """Tell whether a node only shows the reader an exception, raises it or asks for its class: `print(e)`, `raise ... from e`."""
    if isinstance(node, gast.Call):
        return getattr(node.func, "id", None) in ("print", "str", "repr", "isinstance", "type") or isinstance(node.func, gast.Attribute)
    return isinstance(node, (gast.Raise, gast.FormattedValue))


@core.statement(gast.Raise)
def lower_raise(lo: Lowering, node) -> Any:
    """Lower `raise error`."""
    if node.exc is None:
        raise core.unsupported(lo, node, "a bare `raise` whose exception is handled elsewhere", "raise a new one: `raise ValueError(...)`")
    cls = class_raised(lo, node) if lo.catching else None
    if lo.catching and (cls is None or issubclass(cls, lo.catching)):
        error = core.unsupported(lo, node, UNDECIDED, INSTEAD)
        raise error if cls is None else core.surely(lo, error, cls)
    if generators.is_stop(node) and any(getattr(call.key, "name", "") == "__next__" for call in lo.calls):
        raise core.unsupported(lo, node, "a function that ends the iteration of a `__next__`", "raise StopIteration in `__next__` itself")
    with lo.attempt(UnsupportedSyntaxError, NoRuleError, when=lambda error: isinstance(node.exc, gast.Call)) as attempt:
        error = exception(lo, node.exc)
    return raised(lo, exception(lo, told(lo, node.exc)) if attempt.failed else error)


def exception(lo: Lowering, node: gast.AST) -> Atom:
    """Lower what stands behind `raise`."""
    return core.atom(lo, Raised(node) if isinstance(node, gast.Call) else node)


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
