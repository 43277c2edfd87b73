"""Turns a `while` loop that counts into a loop over a range.

    while k < n:                      for k in range(k0, n, c):
        ...; k = k + c          ->        ...
    while k >= n:  ...; k -= c        for k in range(k0, n - 1, -c):  ...

This is legal where `k` begins as a Python integer, every iteration adds the same integer, other than zero, in the direction of the
bound, and the bound is a Python integer that does not vary: then the condition decides as the range does.  The condition is evaluated at
least once, so that what it computes of values from outside may stand in front of the loop.  Where `k` is read behind the loop, it stays
one of its variants too.
"""

import operator
from collections.abc import Iterator
from dataclasses import replace

from sourcead.analysis.builder import Builder, atom_type
from sourcead.ir.nodes import Atom, Block, Call, Const, Function, Let, Loop, Range, Stmt, Var, fresh
from sourcead.ir.types import INT, Scalar
from sourcead.ir.walk import count_reads, has_effect, rewrite, substitute, walk, with_body, with_results

MIRRORED = {operator.lt: operator.gt, operator.gt: operator.lt, operator.le: operator.ge, operator.ge: operator.le}
ASCENDING = {operator.lt: 0, operator.le: 1}  # by how much the end of the range lies behind the bound
DESCENDING = {operator.gt: 0, operator.ge: -1}


def count_while_loops(function: Function, build: Builder) -> Function:
    """Return the function with its counting `while` loops as loops over ranges."""
    if not any(isinstance(s.op, Loop) and isinstance(s.op.domain, Block) for s in walk(function.body)):
        return function
    reads = count_reads(function.body)
    numbers = {s.targets[0]: s.op.value for s in walk(function.body) if isinstance(s.op, Let) and isinstance(s.op.value, Const)}

    def change(stmt: Stmt) -> Iterator[Stmt]:
        counted = _counted(stmt, build, reads, numbers) if isinstance(stmt.op, Loop) and isinstance(stmt.op.domain, Block) else None
        yield from counted or [stmt]

    return with_body(function, rewrite(function.body, change))


def _counted(stmt: Stmt, build: Builder, reads: dict[Var, int], numbers: dict[Var, Const]) -> list[Stmt] | None:
    """Return the statements in place of a `while` loop, None if it does not count."""
    loop = stmt.op
    inside, (test,) = loop.domain.stmts, loop.domain.results
    made = next((s.op for s in inside if s.targets == (test,)), None)
    if not isinstance(made, Call) or made.fn not in MIRRORED or made.kwargs or any(s.op.blocks or has_effect(s.op) for s in inside):
        return None
    before = tuple(s for s in inside if s.op is not made)
    for fn, (k, bound) in ((made.fn, made.args), (MIRRORED[made.fn], made.args[::-1])):
        if k in loop.params and bound not in loop.params and not any(v in loop.params for s in before for v in s.op.reads):
            position = loop.params.index(k)
            start = numbers.get(loop.inits[position], loop.inits[position])
            step = _step(k, loop.body, loop.body.results[position])
            ends = ASCENDING if step > 0 else DESCENDING
            if step and fn in ends and all(_is_python_int(a) for a in (k, bound, start)):
                return [*before, *_over_range(stmt, position, (start, bound, ends[fn], step), build, reads)]
    return None


def _step(k: Var, body: Block, end: Atom) -> int:
    """Return what an iteration adds to `k`, 0 if that is not known."""
    added = next((s.op for s in body.stmts if s.targets == (end,)), None)
    match added:
        case Call(operator.add, (a, Const(int() as step, None, False)), ()) if a is k:
            return +step
        case Call(operator.add, (Const(int() as step, None, False), a), ()) if a is k:
            return +step
        case Call(operator.sub, (a, Const(int() as step, None, False)), ()) if a is k:
            return -step
    return 0


def _is_python_int(atom: Atom) -> bool:
    t = atom_type(atom)
    return isinstance(t, Scalar) and (t.kind, t.dtype, t.least) == ("int", None, None)


def _over_range(stmt: Stmt, position: int, to: tuple[Atom, Atom, int, int], build: Builder, reads: dict[Var, int]) -> list[Stmt]:
    """Return the loop over a range, behind the statement that computes its end."""
    loop, (start, bound, behind, step) = stmt.op, to
    k = loop.params[position]
    with build.at(stmt).block() as stmts:
        stop = build.call(operator.add, bound, Const(behind)) if behind else bound
    index = fresh(k, type=INT)
    domain = Range(start, stop, Const(step))
    build.count(index, domain)
    new = replace(loop, domain=domain, index=index, body=substitute(loop.body, {k: index}))
    kept = [n for n in range(len(loop.params)) if n != position or reads.get(stmt.targets[n])]
    return [*stmts, with_results(replace(stmt, op=new), kept)]
