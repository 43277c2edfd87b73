"""Lower `try` statements in which no exception alters the data flow.

    try: A  except E: raise F      A
    try: A  finally: B             A; B
    try: A  except E: B            A, if A surely does not raise E

An exception that leaves the function leaves its gradient too, but the gradient does not translate it into another exception.
"""

from __future__ import annotations

import operator

import gast

from sourcead.analysis.builder import operand_type
from sourcead.frontend import core
from sourcead.frontend.core import Lowering
from sourcead.frontend.syntax.early_exits import may_leave
from sourcead.ir.nodes import Block, Call, Stmt
from sourcead.ir.types import Array
from sourcead.ir.walk import walk

DIVISIONS = (operator.truediv, operator.floordiv, operator.mod, operator.pow, divmod, pow)


class TryEnds(gast.Pass):
    """Mark the end of the body of a `try` in a list of statements: from here on nothing is caught."""


class TryBegins(gast.Pass):
    """Mark the beginning of the body of a `try` in a list of statements."""


@core.replaced_statement(gast.Try)
def without_handlers(lo: Lowering, node: gast.Try) -> list[gast.AST]:
    """Return the statements of a `try` that run if nothing is raised."""
    if node.finalbody and any(map(may_leave, [*node.body, *node.orelse])):
        raise core.unsupported(lo, node, "a `try` that is left before its `finally`", "leave it at its end")
    begins, ends = TryBegins(), TryEnds()
    begins.stands_for = ends.stands_for = node
    ends.caught = [cls for h in node.handlers if not raises(h.body) for cls in caught(lo, h)]
    ends.begins, ends.node = begins, node
    if not ends.caught:
        return [*node.body, *node.orelse, *node.finalbody]
    if any(map(may_leave, node.body)):
        raise refusal(lo, node)
    return [begins, *node.body, ends, *node.orelse, *node.finalbody]


def raises(body: list[gast.AST]) -> bool:
    """Tell whether a handler ends in `raise`."""
    return isinstance(body[-1], gast.Raise)


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


@core.statement(TryBegins)
def note_beginning(lo: Lowering, node: TryBegins) -> None:
    """Record where the statements of the body begin."""
    node.stmts, node.count = lo.build.stmts, len(lo.build.stmts)


@core.statement(TryEnds)
def refuse_caught(lo: Lowering, node: TryEnds) -> None:
    """Refuse a body that might raise a caught exception."""
    inside = Block(tuple(lo.build.stmts[node.begins.count :]))
    for stmt in walk(inside):
        for cls in node.caught:
            if may_raise(stmt, cls):
                raise refusal(lo, node.node)


def may_raise(stmt: Stmt, cls: type) -> bool:
    """Tell whether a statement might raise an exception of a class; array arithmetic warns on a division by zero."""
    if cls is not ZeroDivisionError:
        return True
    op = stmt.op
    if not isinstance(op, Call):
        return False
    if op.effect:
        return True
    numpy = getattr(op.fn, "__module__", None) in ("numpy", "numpy.linalg") or type(op.fn).__module__ == "numpy"
    if numpy:
        return False
    arithmetic = getattr(op.fn, "__module__", "") == "_operator"
    return not arithmetic or op.fn in DIVISIONS and not any(isinstance(operand_type(a), Array) for a in op.args)
