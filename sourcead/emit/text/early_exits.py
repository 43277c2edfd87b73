"""Prints loops that are left early with `break`.

    loop (done = False) for i ... until done:        for i in ...:
        A                                                A
        d = if c:  yield True                            if c:
            else:  B; yield False                            break
        yield d                                          B

The flag is printed only if something else reads it.
"""

import ast
import copy

from sourcead.emit.text.exit_flags import decides
from sourcead.emit.text.expressions import is_expression, negated
from sourcead.ir.nodes import Atom, Block, Branch, Const, Loop, Stmt, Var


def iteration(printer, stmt: Stmt, moves: list[ast.stmt]) -> list[ast.stmt]:
    """Return the printed body of a loop, where `moves` bind the variants for the next iteration."""
    op: Loop = stmt.op
    if op.leave is None:
        return [*printer.block(op.body), *moves]
    k = op.params.index(op.leave)
    is_read = op.leave in printer.read or stmt.targets[k] in printer.read
    return _ended(printer, op.body, op.body.results[k], moves, op.leave if is_read else None)


def _ended(printer, block: Block, flag: Atom, moves: list[ast.stmt], bound: Var | None) -> list[ast.stmt]:
    """Return the printed block, the moves, and `break` if the flag is true; `bound` is the variable that then holds the flag."""
    if isinstance(flag, Const):
        return [*printer.block(block), *moves, *([ast.Break()] if flag.value else [])]
    last = next((s for s in reversed(block.stmts) if not (s.targets and all(t in printer.nested for t in s.targets))), None)
    if (bound is None or not moves) and last is not None and decides(last, flag) and not is_expression(last.op, printer.nested):
        return printer.block(block, printed={last: _branch(printer, last, flag, bound, moves)})
    if bound is not None and moves:
        return [*printer.block(block), *moves, _break_if(printer, bound)]
    leave = _break_if(printer, flag)
    leave.body[:0] = moves
    return [*printer.block(block), leave, *moves]


def _branch(printer, stmt: Stmt, flag: Var, bound: Var | None, moves: list[ast.stmt]) -> list[ast.stmt]:
    """Return a branch at the end of the body, printed with `break` in the arms that leave and without `else` after such an arm."""
    op: Branch = stmt.op
    outer, printer.within = printer.within, stmt.within or printer.within
    hidden = flag if bound is None and printer.read.get(flag) == 1 else None
    arms = []
    for arm, truth in ((op.then, True), (op.orelse, False)):
        inner = flag if flag is op.cond else arm.results[stmt.targets.index(flag)]
        if inner is op.cond:
            inner = Const(truth)
        pairs = [(t, r) for t, r in zip(stmt.targets, arm.results) if t in printer.read and t is not hidden]
        moved = [*printer.moves(pairs), *copy.deepcopy(moves)]
        arms.append(_ended(printer, arm, inner, moved, None if flag is hidden else flag))
    printer.within = outer
    then, orelse = arms
    test = printer.expressions.operand(op.cond)
    if then and isinstance(then[-1], ast.Break):
        return [ast.If(test, then, []), *orelse]
    if orelse and isinstance(orelse[-1], ast.Break):
        return [ast.If(negated(test), orelse, []), *then]
    return either(test, then, orelse)


def either(test: ast.expr, then: list[ast.stmt], orelse: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statement that runs one of two lists of statements, or none if both are empty."""
    if then:
        return [ast.If(test, then, orelse)]
    return [ast.If(negated(test), orelse, [])] if orelse else []


def _break_if(printer, flag: Atom) -> ast.If:
    return ast.If(printer.expressions.operand(flag), [ast.Break()], [])
