"""Lower `with` and `try` blocks that do not alter the data flow.

    with np.errstate(...): A       A, marked as inside (`Stmt.within`)
    try: A  except E: raise F      A
    try: A  finally: B             A; B
    try: A  except E: B            A, if A surely does not raise E

The adjoints of statements inside `np.errstate`, `np.printoptions` or `warnings.catch_warnings` are marked too, as they may divide by the
same zero; the code generator puts statements with equal marks under one `with`. An exception that leaves the function leaves its
gradient too, but the gradient does not translate it into another exception.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import warnings
from collections.abc import Callable

import gast
import numpy as np

from sourcead.analysis.builder import operand_type
from sourcead.frontend import core
from sourcead.frontend.control.exits import may_leave, standing_for
from sourcead.frontend.core import Lowering
from sourcead.frontend.syntax import adjoint_blocks
from sourcead.frontend.syntax.adjoint_blocks import Steered
from sourcead.ir.nodes import Block, Call, Const, Stmt
from sourcead.ir.types import Array
from sourcead.ir.walk import walk

NEUTRAL = (np.errstate, np.printoptions, warnings.catch_warnings, contextlib.nullcontext)
STOPS = ("raise", "call")  # the actions of `errstate` that alter the control flow
DIVISIONS = (operator.truediv, operator.floordiv, operator.mod, operator.pow, divmod, pow)


class BlockEnds(gast.Pass):
    """Mark the end of a block in a list of statements, where `act()` is called."""

    def __init__(self, act: Callable[[], None]):
        self.act = act


core.statement(BlockEnds)(lambda lo, node: node.act())


# -- with ------------------------------------------------------------------------------------------------------------------


@core.replaced_statement(gast.With)
def inside_with(lo: Lowering, node: gast.With) -> list[gast.AST]:
    """Mark the statements from here on as inside the block, and return them with what ends the block."""
    items, body = node.items, node.body
    steers = [adjoint_blocks.is_steering(lo, item) for item in items]
    if len(set(steers)) == 2:  # the managers up to the first of the other kind stay outside, the others move inside
        at = steers.index(not steers[0])
        items, body = items[:at], [standing_for(node, gast.With(items[at:], body, None))]
    if steers[0]:
        return [standing_for(node, Steered(items, body))]
    outside = lo.build.within
    managers = [neutral(lo, item) for item in items]
    lo.build.within = (*outside, *(c for c in managers if c.fn is not contextlib.nullcontext))
    return [*body, standing_for(node, BlockEnds(lambda: setattr(lo.build, "within", outside)))]


def neutral(lo: Lowering, item) -> Call:
    """Return the call of the context manager of a `with`; refuse a manager that might alter values."""
    made = item.context_expr
    fn = None
    if isinstance(made, gast.Call):
        found, fn = core.known(lo, core.lower(lo, made.func))
        fn = fn if found else None
    if fn not in NEUTRAL:
        raise core.unsupported(
            lo, made, "what this context manager does to the values inside cannot be seen", "use it around the call of the gradient"
        )
    if item.optional_vars is not None:
        raise core.unsupported(lo, item.optional_vars, "the object that this context manager hands out is used as a value")
    args = tuple(constant(lo, a) for a in made.args)
    kwargs = tuple((k.arg, constant(lo, k.value)) for k in made.keywords)
    if fn is np.errstate and any(a.value in STOPS for a in (*args, *(v for _, v in kwargs))):
        raise core.unsupported(lo, made, "`np.errstate` that raises or calls alters the data flow", 'use "ignore" or "warn"')
    return Call(fn, args, kwargs)


def constant(lo: Lowering, node) -> Const:
    """Lower an option that must be known while compiling."""
    found, value = core.known(lo, core.lower(lo, node))
    if not found:
        raise core.unsupported(lo, node, "an option of a context manager that is not known before the program runs")
    return Const(value)


# -- try -------------------------------------------------------------------------------------------------------------------


@core.replaced_statement(gast.Try)
def without_handlers(lo: Lowering, node: gast.Try) -> list[gast.AST]:
    """Return the statements of a `try` that run if nothing is raised."""
    if node.finalbody and any(map(may_leave, [*node.body, *node.orelse])):
        raise core.unsupported(lo, node, "a `try` that is left before its `finally`", "leave it at its end")
    body = node.body
    if classes := [cls for h in node.handlers if not isinstance(h.body[-1], gast.Raise) for cls in caught(lo, h)]:
        check = functools.partial(refuse_caught, lo, node, classes, len(lo.build.stmts))
        if any(map(may_leave, body)):
            raise refusal(lo, node)
        body = [*body, standing_for(node, BlockEnds(check))]
    return [*body, *node.orelse, *node.finalbody]


def caught(lo: Lowering, handler) -> list[type]:
    """Return the exception classes that a handler catches."""
    if handler.type is None:
        return [BaseException]
    nodes = handler.type.elts if isinstance(handler.type, gast.Tuple) else [handler.type]
    found = [core.known(lo, core.lower(lo, n)) for n in nodes]
    return [cls if known else BaseException for known, cls in found]


def refusal(lo: Lowering, node):
    """Make the error for a `try` that decides what is computed."""
    return core.unsupported(
        lo, node, "whether an exception is raised here decides what is computed", "test for the case with `if` before it arises"
    )


def refuse_caught(lo: Lowering, node: gast.Try, classes: list[type], first: int) -> None:
    """Refuse a body, whose statements begin at the position `first`, that might raise a caught exception."""
    inside = Block(tuple(lo.build.stmts[first:]))
    if any(may_raise(stmt, cls) for stmt in walk(inside) for cls in classes):
        raise refusal(lo, node)


def may_raise(stmt: Stmt, cls: type) -> bool:
    """Tell whether a statement might raise an exception of a class; array arithmetic warns on a division by zero."""
    if cls is not ZeroDivisionError:
        return True
    op = stmt.op
    if not isinstance(op, Call):
        return False
    if op.effect:
        return True
    if getattr(op.fn, "__module__", None) in ("numpy", "numpy.linalg") or type(op.fn).__module__ == "numpy":
        return False
    arithmetic = getattr(op.fn, "__module__", "") == "_operator"
    return not arithmetic or op.fn in DIVISIONS and not any(isinstance(operand_type(a), Array) for a in op.args)
