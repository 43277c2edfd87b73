"""Lower a call of a library, or a subscript, that may raise what is handled: it is tried first, and the handler's exit taken if it raises.

    try:                                       error = exception_of(np.linalg.cholesky, a)
        L = np.linalg.cholesky(a)              code = handler_of(error, (LinAlgError,))
    except LinAlgError:                        if code == 1: return inf
        return np.inf                          L = np.linalg.cholesky(a)

The call is computed twice. So it is lowered like this only after it has raised what is handled (`compile/handled_exceptions.py`); until
then, the text computes it once and refuses the exception (`syntax/guarded.py`).
"""

import operator
from collections.abc import Callable
from typing import Any

import gast

from sourcead import runtime
from sourcead.analysis.numbers import operand_type
from sourcead.frontend import core
from sourcead.frontend.control.exits import assignment, standing_for
from sourcead.frontend.core import Held, Lowering, TupleVal, Value
from sourcead.frontend.syntax.guarded import meets, raised_by
from sourcead.ir.nodes import Atom, Block, Call, Const, Index, Stmt, Var
from sourcead.ir.types import INT, UNKNOWN, Array, ListT, MapT
from sourcead.ir.walk import all_reads


def after_trial(lo: Lowering, node: Any, made: Value, stmts: list[Stmt]) -> list[gast.AST]:
    """Return what follows a call of a library (`Calling`) whose statements, `stmts`, were emitted last: each is tried if it may raise."""
    exits, stops = node.exits, [h for h in node.exits.handlers if h.number in node.taken]
    k = risky(lo, stmts, tuple(c for h in stops for c in h.classes))
    if k is None:
        return [assignment(node.name, Held(made), node), *(assignment(flag, Held(Const(False)), node) for flag in node.taken.values())]
    del lo.build.stmts[len(lo.build.stmts) - len(stmts) + k :]
    error, code = tried(lo, stmts[k], [h.classes for h in stops])

    later = stmts[k + 1 :]
    if later and not set(all_reads(Block(tuple(later), ()))).intersection(stmts[k].targets):  # called for what it raises alone
        lo.probed.update(var for stmt in later for var in stmt.targets)  # what is computed in its place raises the same

    def rest() -> list[gast.AST]:
        lo.build.stmts.extend(stmts[k:])
        return after_trial(lo, node, made, later)

    done = [assignment(exits.errors[h.number], Held(error), node) for h in stops]
    for number, h in enumerate(stops, 1):
        taken = gast.Compare(Held(code), [gast.Eq()], [gast.Constant(number, None)])
        done.append(standing_for(node, gast.If(taken, exits.leave(h.number, node), [])))
    return [*done, standing_for(node, Then(rest))]


class Then(gast.Pass):
    """Stands for the statements that `after()` returns when it is lowered."""

    def __init__(self, after: Callable[[], list[gast.AST]]):
        self.after = after


core.replaced_statement(Then)(lambda lo, node: node.after())


def risky(lo: Lowering, stmts: list[Stmt], classes: tuple[type, ...]) -> int | None:
    """Return the position of the first call that may raise an exception of one of these classes, None if there is none."""
    for k, stmt in enumerate(stmts):
        op = stmt.op
        is_item = isinstance(op, Index) and isinstance(op.key, Atom) and isinstance(operand_type(op.base), ListT | MapT | Array)
        plain = (is_item or isinstance(op, Call) and not op.effect) and not stmt.within
        if plain and not lo.probed.intersection(stmt.targets) and any(meets(raised, classes) for raised in raised_by(stmt)):
            return k
    return None


def tried(lo: Lowering, stmt: Stmt, handlers: list[tuple[type, ...]]) -> tuple[Var, Value]:
    """Emit the trial of a call; return the exception that it raises and the number of the handler that catches it, 0 if none does."""
    lo.probed.update(stmt.targets)
    match stmt.op:
        case Index(base, key):
            call = Call(runtime.exception_of, (Const(operator.getitem), base, key))
        case Call(fn, args, kwargs):
            call = Call(runtime.exception_of, (Const(fn), *args), kwargs)
    error = lo.build.emit(call, UNKNOWN, "error")
    classes = [lo.operand(TupleVal(tuple(map(Const, caught)))) for caught in handlers]
    return error, lo.wrap(lo.build.emit(Call(runtime.handler_of, (error, *classes)), INT, "code"))
