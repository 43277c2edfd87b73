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

from sourcead.analysis.affine import Forms, number
from sourcead.analysis.builder import Builder, operand_type
from sourcead.analysis.connected import UnionFind
from sourcead.analysis.loop_indices import reversed_range
from sourcead.analysis.residual_stacks import Stack, residual_stacks
from sourcead.analysis.sizes import dims_in
from sourcead.ir.affine import Affine, variable
from sourcead.ir.nodes import Append, Atom, Block, Call, Const, Function, Loop, Origin, Pop, Range, Stmt, Update, Var
from sourcead.ir.types import Array, Scalar
from sourcead.ir.walk import (
    all_reads, copied, definitions, free_vars, handed_on, has_effect, places, rewrite, substitute, walk, with_results
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
    while pairs := _pairs(function):
        function = replace(function, body=rewrite(function.body, partial(_in_one, pairs)))
        notes += [Fused(forward.origin) for forward, _ in pairs]
    return function


def _pairs(function: Function) -> list[tuple[Stmt, Stmt]]:
    """Return loops of the forward sweep, none inside another, that can be one with the loops that reverse them, each with that."""
    stacks, found, taken = residual_stacks(function), [], set()
    if not stacks:
        return found
    integers, same = _Integers(function), _same(function)
    for place in places(function.body):
        forward = place.stmt
        if not isinstance(forward.op, Loop) or not taken.isdisjoint(place.loops) or not all(map(stacks.__contains__, forward.targets)):
            continue
        reverse = _reverse(forward, [stacks[t] for t in forward.targets], place.block)
        if reverse is None or reverse in taken or not _alike(forward, reverse, integers):
            continue
        if _stays(forward, reverse, place.block, same):
            found.append((forward, reverse))
            taken |= {forward, reverse}
    return found


def _reverse(forward: Stmt, stacks: list[Stack], block: Block) -> Stmt | None:
    """Return the loop of the same block that empties all lists that a loop fills; None if there is none, or either does more with them."""
    if not stacks or not all(stack.is_simple and stack.pushes[0].block is forward.op.body for stack in stacks):
        return None
    for stmt in block.stmts:
        if isinstance(stmt.op, Loop) and all(stack.pops[0].block is stmt.op.body for stack in stacks):
            return stmt
    return None


class _Integers(Forms):
    """Forms in which the length of an array is that of all arrays of the same size."""

    def __init__(self, function: Function):
        super().__init__()
        self.definitions = {t: stmt.op for t, stmt in definitions(function.body).items()}

    def _affine(self, v: Var) -> Affine | None:
        match self.definitions.get(v):
            case Call(fn, (Var() as x,), ()) if fn is len and (dims := dims_in(x)):
                size = dims[0]
                if isinstance(size, int):
                    return Affine(size)
                if not size.varies:
                    return variable(size)
        return super()._affine(v)

    def equal(self, a: Atom, b: Atom, more: int = 0) -> bool:
        """Tell whether one integer is always another plus a number."""
        x, y = self.affine(a), self.affine(b)
        return x is not None and y is not None and x.plus(y, -1) == Affine(more)


def _alike(forward: Stmt, reverse: Stmt, integers: _Integers) -> bool:
    """Tell whether two loops have the same iterations, the one from the last to the first of the other, as far as it knows its index."""
    up, down = forward.op, reverse.op
    if not isinstance(up.domain, Range) or not isinstance(down.domain, Range) or up.leave is not None or down.leave is not None:
        return False
    a, b, step, back = up.domain, down.domain, number(up.domain.step), number(down.domain.step)
    if step in (1, -1) and back == -step:
        return integers.equal(b.start, a.stop, -step) and integers.equal(b.stop, a.start, -step)
    alike = step is not None and step == back and integers.equal(a.start, b.start) and integers.equal(a.stop, b.stop)
    return alike and down.index not in set(all_reads(down.body))


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


def _in_one(pairs: list[tuple[Stmt, Stmt]], stmt: Stmt) -> tuple[Stmt, ...]:
    """Return what takes the place of a statement: nothing of the first loop of a pair, and both for the second."""
    for forward, reverse in pairs if isinstance(stmt.op, Loop) else ():
        if stmt.targets == forward.targets:
            return ()
        if stmt.targets == reverse.targets:
            return _both(forward, stmt)
    return (stmt,)


def _both(forward: Stmt, reverse: Stmt) -> tuple[Stmt, ...]:
    """Return the loop that computes each iteration before it reverses it, behind what computes its range."""
    first, second, build = forward.op, reverse.op, Builder().at(reverse)
    if number(first.domain.step) == number(second.domain.step) and first.index in set(all_reads(first.body)):
        second = replace(second, domain=reversed_range(build, first.domain))
    pushed = {s.op.base: s for s in first.body.stmts if isinstance(s.op, Append) and s.op.base in first.params}
    rest = [s for s in first.body.stmts if s not in pushed.values()]
    values = tuple(pushed[p].op.value for p in first.params)
    block = copied(Block(tuple(rest), values), {first.index: second.index})
    lists = {second.params[second.inits.index(t)]: value for t, value in zip(forward.targets, block.results)}
    popped = {s.targets[1]: lists[s.op.base] for s in second.body.stmts if isinstance(s.op, Pop) and s.op.base in lists}
    kept = [s for s in second.body.stmts if not (isinstance(s.op, Pop) and s.op.base in lists)]
    body = substitute(Block((*block.stmts, *kept), second.body.results), popped)
    keep = [k for k, p in enumerate(second.params) if p not in lists]
    return *build.stmts, with_results(replace(reverse, op=replace(second, body=body)), keep)
