"""Keeps the states of a loop once: what the reverse sweep needs and what the program collects are rows of one array.

    a0 = empty((n, *shape));  l0 = list()                  a0 = empty((n + 1, *shape));  a1 = a0 with [0] = h0
    loop (h = h0, a = a0, l = l0) for i in range(n):       loop (h = h0, a = a1) for i in range(n):
        a2 = a with [i] = h                                    h1 = f(h)
        h1 = f(h);  l1 = l ++ [h1]                             a2 = a with [i + 1] = h1
        yield h1, a2, l1                                       yield h1, a2
    s = stack(l)                                           s = a[1:]
    ... a[k] ... a ...                                     ... a[k] ... a[:-1] ...

The first array holds the state with which each iteration begins, for the sums of products that are computed after the reverse loop
(`fission.py`), and the list those with which they end.  This is legal if the list is read by `stack` alone, which raises an error for an
empty list, so that n must be known to be positive, and if all states are known to have one shape and dtype.
"""

import operator
from dataclasses import dataclass, replace

import numpy as np

from sourcead.analysis.affine import number
from sourcead.analysis.builder import Builder
from sourcead.analysis.loop_indices import Counting
from sourcead.analysis.sizes import dims_in, equal_after, known_dtype, least
from sourcead.ir.equal_sizes import EqualSizes
from sourcead.ir.nodes import (
    Append, Block, Build, Call, Const, Function, Index, Loop, Slice, Stmt, Sub, Update, Var, fresh
)
from sourcead.ir.sizes import Dim, plus
from sourcead.ir.types import Array, same_dtype
from sourcead.ir.walk import all_reads, count_reads, definitions, has, map_blocks, map_op, with_body, with_stmts


@dataclass(eq=False)
class States:
    """A loop that keeps its states twice.

    Attributes:
        loop: the statement of the loop.
        state, kept, listed: the numbers of the loop variants that are the state, the array and the list.
        keeps, appends: the statements of the body that write the state into the array and append it to the list.
        empty: what makes the array.
        stacked: the statement that makes an array of the list.
    """

    loop: Stmt
    state: int
    kept: int
    listed: int
    keeps: Stmt
    appends: Stmt
    empty: Stmt
    stacked: Stmt


def keep_states_once(function: Function) -> Function:
    """Return the function with the states of each loop in one array, where it kept them in an array and in a list that is stacked."""
    if not has(function.body, Append):
        return function

    def block(b: Block) -> Block:
        stmts = [map_blocks(s, block) for s in b.stmts]
        for stmt in [s for s in stmts if isinstance(s.op, Loop)]:
            found = _states(stmt, stmts, facts)
            if found is not None:
                stmts = _in_one_array(found, stmts, facts)
        return with_stmts(b, stmts)

    facts = _Facts(function)
    body = block(function.body)
    return with_body(function, _with_parts(body, facts))


class _Facts:
    """What is known of the function, and the arrays that have become parts of larger ones, each with that and the name of the part."""

    def __init__(self, function: Function):
        self.made = definitions(function.body)
        self.uses = count_reads(function.body)
        self.counting = Counting(self.made)
        self.params = set(function.params)
        self.larger: dict[Var, Var] = {}

    @property
    def indices(self) -> set[Var]:
        """Return the indices of loops that are never negative."""
        loops = {s.op for s in self.made.values() if isinstance(s.op, Loop)}
        return {loop.index for loop in loops if (counted := self.counting.of(loop)) is not None and counted.first >= 0}


def _states(stmt: Stmt, stmts: list[Stmt], facts: _Facts) -> States | None:
    """Return how a loop keeps its states twice, or None if it does not."""
    loop, counted = stmt.op, facts.counting.of(stmt.op)
    if counted is None or counted.first != 0 or number(loop.domain.step) != 1 or least(counted.rows) < 1:
        return None
    behind = stmts[stmts.index(stmt) + 1 :]
    writes = {p: s for s in loop.body.stmts if isinstance(s.op, (Update, Append)) and isinstance(p := s.op.base, Var)}
    for kept, a in enumerate(loop.params):
        match writes.get(a):
            case Stmt((target,), Update(_, (Sub(key),), Var() as h, "set")) as keeps if key is loop.index and h in loop.params:
                if loop.body.results[kept] is not target or facts.uses[a] != 1 or facts.uses[target] != 1:
                    continue
            case _:
                continue
        empty, state = facts.made.get(loop.inits[kept]), loop.params.index(h)
        if empty is None or empty not in stmts or not isinstance(empty.op, Call) or empty.op.fn is not np.empty:
            continue
        if facts.uses[loop.inits[kept]] != 1 or not isinstance(empty.op.args[0], tuple):
            continue
        for listed, p in enumerate(loop.params):
            match writes.get(p):
                case Stmt((target,), Append(_, value, (), None)) as appends if value is loop.body.results[state]:
                    pass
                case _:
                    continue
            list_ = facts.made.get(loop.inits[listed])
            if list_ is None or not isinstance(list_.op, Build) or list_.op.kind != "list" or list_.op.items or list_.op.residual:
                continue
            used = (loop.inits[listed], p, target, stmt.targets[listed])
            stacked = next((s for s in behind if _stacks(s, stmt.targets[listed])), None)
            if stacked is None or any(facts.uses[v] != 1 for v in used) or loop.body.results[listed] is not target:
                continue
            found = States(stmt, state, kept, listed, keeps, appends, empty, stacked)
            if _alike(found, stmts, facts):
                return found
    return None


def _stacks(stmt: Stmt, list_: Var) -> bool:
    match stmt.op:
        case Call(np.stack, (of,), kwargs) if of is list_ and not stmt.within:
            return all(name == "axis" and isinstance(v, Const) and v.value == 0 and type(v.value) is int for name, v in kwargs)
    return False


def _alike(states: States, stmts: list[Stmt], facts: _Facts) -> bool:
    """Return whether the state at the end of each iteration is known to have the dtype and shape of the rows of the array."""
    loop: Loop = states.loop.op
    rows, state = loop.inits[states.kept], loop.body.results[states.state]
    own, given = dims_in(rows), dims_in(state) if isinstance(state, Var) else None
    dtypes = [known_dtype(v) for v in (rows, state, states.stacked.targets[0], loop.params[states.state]) if isinstance(v, Var)]
    if not own or given is None or len(own) != len(given) + 1 or not all(d is not None and same_dtype(dtypes[0], d) for d in dtypes):
        return False
    if own[0] != facts.counting.of(loop).rows:
        return False
    before = stmts[: stmts.index(states.loop)]
    known: set[Dim] = {d for v in (*facts.params, *(t for s in before for t in s.targets)) for d in dims_in(v) or ()}
    if not all(isinstance(d, int) or d in known for d in given):  # it may be another one in each iteration
        return False
    for values in (loop.inits, loop.body.results)[: least(own[0])]:  # what the state is in the first iteration, and in the second
        equal = EqualSizes()
        for s in before:
            _learn(equal, s)
        for param, value in zip(loop.params, values):
            for a, b in zip(dims_in(param) or (), dims_in(value) or ()):
                equal.learn(a, b)
        for s in loop.body.stmts:
            _learn(equal, s)
        if all(equal.same(a, b) for a, b in zip(own[1:], given)):
            return True
    return False


def _learn(equal: EqualSizes, stmt: Stmt) -> None:
    for a, b in equal_after(stmt):
        if not equal.same(a, b):
            equal.learn(a, b)


def _in_one_array(states: States, stmts: list[Stmt], facts: _Facts) -> list[Stmt]:
    """Return the statements of a block with the states of a loop in one array."""
    stmt, loop, empty = states.loop, states.loop.op, states.empty
    h0, h1 = loop.inits[states.state], loop.body.results[states.state]
    rows, *others = empty.op.args[0]
    before = Builder().at(empty)
    one_more = before.call(operator.add, rows, Const(1))
    old, listed = loop.inits[states.kept], loop.params[states.listed]
    t = Array(old.type.dtype, (plus(old.type.dims[0], 1), *old.type.dims[1:]))
    array = Var(listed.name, t, listed.temp)
    before.add(replace(empty, targets=(array,), op=replace(empty.op, args=((one_more, *others), *empty.op.args[1:]))))
    first, param, new, result = (fresh(array) for _ in range(4))
    before.add(replace(stmt, targets=(first,), op=Update(array, (Sub(Const(0)),), h0)))
    body: list[Stmt] = []
    for s in loop.body.stmts:
        if s is states.appends:
            writer = Builder().at(s)
            at = writer.call(operator.add, loop.index, Const(1))
            body += [*writer.stmts, replace(s, targets=(new,), op=Update(param, (Sub(at),), h1))]
        elif s is not states.keeps:
            body.append(s)

    def without(items: tuple, item: object) -> tuple:
        return tuple(item if k == states.kept else x for k, x in enumerate(items) if k != states.listed)

    changed = replace(
        loop, params=without(loop.params, param), inits=without(loop.inits, first),
        body=Block(tuple(body), without(loop.body.results, new)),
    )  # fmt: skip
    facts.larger[stmt.targets[states.kept]] = result
    whole = replace(states.stacked, op=Index(result, Slice(Const(1), None, None)))
    out: list[Stmt] = []
    for s in stmts:
        if s is stmt:
            out += [*before.stmts, replace(stmt, targets=without(stmt.targets, result), op=changed)]
            out.append(Stmt((stmt.targets[states.kept],), _all_but_the_last(result), stmt.origin, stmt.adjoint_of))
        elif s is states.stacked:
            out.append(whole)
        elif s is not empty and s is not facts.made[loop.inits[states.listed]]:
            out.append(s)
    return out


def _with_parts(body: Block, facts: _Facts) -> Block:
    """Return the block with single states read of the larger arrays, and parts of these taken where they are read."""
    if not facts.larger:
        return body
    indices = facts.indices

    def visit(b: Block) -> Block:
        return with_stmts(b, [new for s in b.stmts for new in read(map_blocks(s, visit))])

    def read(stmt: Stmt) -> list[Stmt]:
        found = dict.fromkeys(v for v in stmt.op.reads if v in facts.larger)
        match stmt.op:
            case Index(Var() as base, key) if base in found and key in indices:
                return [replace(stmt, op=replace(stmt.op, base=facts.larger[base]))]
        parts = {v: fresh(v, name=facts.larger[v].name) for v in found}
        before = [Stmt((part,), _all_but_the_last(facts.larger[v]), stmt.origin, stmt.adjoint_of) for v, part in parts.items()]
        return [*before, replace(stmt, op=map_op(stmt.op, lambda a: parts.get(a, a)))] if parts else [stmt]

    body = visit(body)
    last = set(all_reads(body))
    return with_stmts(body, [s for s in body.stmts if not (s.targets and s.targets[0] in facts.larger and s.targets[0] not in last)])


def _all_but_the_last(states: Var) -> Index:
    return Index(states, Slice(None, Const(-1), None))
