"""Computes and reverses each iteration of a loop in one loop, where nothing but its residuals is needed of the forward sweep.

    vs0 = list()                                        d1 = loop (d = d0) for i in range(n - 1, -1, -1):
    vs1 = loop (a = vs0) for i in range(0, n, 1):           v = f(x[i])
        v = f(x[i]);  a1 = a ++ [v];  yield a1              d2 = g(d, v);  yield d2
    d1, vs2 = loop (d = d0, b = vs1) for i in range(n - 1, -1, -1):
        b1, v = pop b;  d2 = g(d, v);  yield d2, b1

This is legal if the first loop carries nothing but lists of residuals, the second takes of each list what the same iteration of the first
put there, the first has no effects, and nothing that it reads is changed in place from there to the end of the second, since it is read
later now.  It computes no more than before: each iteration is computed once, and nothing is saved.  Loops inside loops are joined from the
outside to the inside.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sourcead.analysis.builder import operand_type
from sourcead.analysis.connected import UnionFind
from sourcead.analysis.loop_indices import Counting
from sourcead.analysis.residual_stacks import Stack, residual_stacks
from sourcead.ir.nodes import Append, Block, Call, Const, Function, Loop, Origin, Pop, Stmt, Update, Var
from sourcead.ir.types import Array, Scalar
from sourcead.ir.walk import (
    copied, definitions, free_vars, handed_on, has_effect, places, rewrite, substitute, walk, with_results
)
from sourcead.primitives.table import record_of


@dataclass(frozen=True)
class Fused:
    """The note on a loop whose iterations are computed and reversed in one loop."""

    origin: Origin | None

    def __str__(self) -> str:
        where = f"line {self.origin.line}, `{self.origin.text.splitlines()[0].strip()}`" if self.origin else "a loop"
        return f"{where}: saves nothing; each iteration is computed and reversed in one loop"


def fuse_sweeps(function: Function, notes: list) -> Function:
    """Return the function in which loops of the forward sweep that only save residuals are part of the loops that reverse them."""
    while (found := _first(function)) is not None:
        forward, reverse = found
        function = replace(function, body=rewrite(function.body, partial(_in_one, forward, reverse)))
        notes.append(Fused(forward.origin))
    return function


def _first(function: Function) -> tuple[Stmt, Stmt] | None:
    """Return a loop of the forward sweep and the loop that reverses it, the outer before the inner ones, if they can be one."""
    stacks = residual_stacks(function)
    if not stacks:
        return None
    counting, same = Counting(definitions(function.body)), _same(function)
    for place in places(function.body):
        if isinstance(place.stmt.op, Loop) and all(t in stacks and stacks[t].is_simple for t in place.stmt.targets):
            reverse = _reverse(place.stmt, [stacks[t] for t in place.stmt.targets], place.block)
            if reverse is not None and _alike(place.stmt, reverse, counting) and _stays(place.stmt, reverse, place.block, same):
                return place.stmt, reverse
    return None


def _reverse(forward: Stmt, stacks: list[Stack], block: Block) -> Stmt | None:
    """Return the loop of the same block that empties all lists that a loop fills; None if there is none, or the loop does more."""
    if not stacks or any(stack.pushes[0].block is not forward.op.body for stack in stacks):
        return None
    for stmt in block.stmts:
        if isinstance(stmt.op, Loop) and all(stack.pops[0].block is stmt.op.body for stack in stacks):
            return stmt
    return None


def _alike(forward: Stmt, reverse: Stmt, counting: Counting) -> bool:
    """Tell whether two loops have the same iterations, the one from the last to the first of the other."""
    up, down = counting.of(forward.op), counting.of(reverse.op)
    if up is None or down is None or forward.op.domain.step.value == reverse.op.domain.step.value:
        return False
    a, b = up.count, down.count
    return up.first == down.first and (a is b or isinstance(a, Const) and isinstance(b, Const) and a.value == b.value)


def _stays(forward: Stmt, reverse: Stmt, block: Block, same: UnionFind) -> bool:
    """Tell whether the iterations of a loop compute the same where they are reversed."""
    if forward.within or has_effect(forward.op):
        return False
    between = block.stmts[block.stmts.index(forward) + 1 : block.stmts.index(reverse) + 1]
    written = {same.find(s.op.base) for s in walk(Block(between, ())) if isinstance(s.op, (Update, Append, Pop))}
    stacks = {*forward.targets, *forward.op.params, *forward.op.inits}
    return all(v in stacks or same.find(v) not in written for v in free_vars(Block((forward,), ())))


def _same(function: Function) -> UnionFind:
    """Return the sets of variables that may share memory once updates are in place."""
    found = UnionFind()
    for stmt in walk(function.body):
        for group in handed_on(stmt):
            found.unite(*(a for a in group if isinstance(a, Var)))
        sharing = () if stmt.op.blocks or isinstance(stmt.op, Call) and _is_fresh(stmt.op) else stmt.op.reads
        match stmt.op:
            case Update(Var(type=Array(dtype=np.dtype(kind=kind))) as base) if kind != "O":  # the value is copied into the array
                sharing = (base,)
        found.unite(*(v for v in (*stmt.targets, *sharing) if not isinstance(v.type, Scalar)))
    return found


def _is_fresh(call: Call) -> bool:
    """Tell whether the result of a call has memory of its own."""
    if isinstance(call.fn, (Var, Const)):
        return False
    memory = record_of(call.fn).memory
    return memory == "fresh" or memory == "operands" and all(isinstance(operand_type(a), (Array, Scalar)) for a in call.args)


def _in_one(forward: Stmt, reverse: Stmt, stmt: Stmt) -> tuple[Stmt, ...]:
    """Return what takes the place of a statement: nothing of the first loop, and both for the second."""
    if not isinstance(stmt.op, Loop) or stmt.targets not in (forward.targets, reverse.targets):
        return (stmt,)
    return () if stmt.targets == forward.targets else (_both(forward, stmt),)


def _both(forward: Stmt, reverse: Stmt) -> Stmt:
    """Return the loop that computes each iteration before it reverses it."""
    first, second = forward.op, reverse.op
    pushed = {s.op.base: s for s in first.body.stmts if isinstance(s.op, Append) and s.op.base in first.params}
    rest = [s for s in first.body.stmts if s not in pushed.values()]
    values = tuple(pushed[p].op.value for p in first.params)
    block = copied(Block(tuple(rest), values), {first.index: second.index})
    lists = {second.params[second.inits.index(t)]: value for t, value in zip(forward.targets, block.results)}
    popped = {s.targets[1]: lists[s.op.base] for s in second.body.stmts if isinstance(s.op, Pop) and s.op.base in lists}
    kept = [s for s in second.body.stmts if not (isinstance(s.op, Pop) and s.op.base in lists)]
    body = substitute(Block((*block.stmts, *kept), second.body.results), popped)
    keep = [k for k, p in enumerate(second.params) if p not in lists]
    return with_results(replace(reverse, op=replace(second, body=body)), keep)
