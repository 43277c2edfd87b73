"""Keeps elements of arrays that each iteration of an innermost loop reads or adds to in variables.

    c1, x1 = loop (c = c0, x = x0) for k ...:        s0 = c0[i, j];  d = e[i]
        d = e[i]                                     s1, x1 = loop (s = s0, x = x0) for k ...:
        c2 = c with [i, j] += mul(a, b)                  s2 = add(s, mul(a, b))
        x2 = x with [k] -= mul(d, y)                     x2 = x with [k] -= mul(d, y)
        yield c2, x2                                     yield s2, x2
                                                     c1 = c0 with [i, j] = s1

Machine code cannot do so by itself: for all that it knows, `x` and `e` share memory.  This is legal if every other access of the array in
the loop is known to be of the same element or never of it (`analysis/affine.py`).  No element is read that the loop does not read:
if it may have no iterations, all statements stand inside a branch.

`accumulate_in_variables` does so before differentiation, with the elements that innermost loops add to while they read other elements:

    b1 = loop (b = b0) for k in range(p, m, 1):      e0 = b0[i, j]
        c = b[k, j]                                  e1 = loop (e = e0) for k in range(p, m, 1):
        b2 = b with [i, j] += mul(a, c)                  c = b0[k, j]
        yield b2                                         e2 = add(e, mul(a, c));  yield e2
                                                     b1 = b0 with [i, j] = e1

The reverse sweep needs `b[k, j]` as it was, which later statements overwrite.  Now the array is written once, so that what is overwritten
is saved once.  Where the loop may have no iterations, and nothing beside it uses the element anyway, a branch makes sure that it is not
read in vain.
"""

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from sourcead.analysis.affine import Meeting, Subscripts, number
from sourcead.analysis.builder import atom_type
from sourcead.analysis.element_loops import ADDING, Access, Body, body_of, one_more
from sourcead.ir.nodes import (
    Atom, Block, Branch, Call, Const, Function, Index, Let, Loop, Op, Stmt, Sub, Update, Var, fresh
)
from sourcead.ir.types import BOOL, Array, Scalar, same_dtype
from sourcead.ir.walk import copied, map_blocks, substitute, with_body, with_stmts
from sourcead.passes.equality import same

FLOAT = np.dtype(np.float64)
BY = {"add": operator.add, "sub": operator.sub}


def accumulate_in_variables(function: Function) -> Function:
    """Return the function with variables for the elements that innermost loops add to while they read other elements."""
    subscripts = cache(lambda: Subscripts(function.body))  # computed only when needed: it takes time, and most functions have no such loop
    return with_registers(function, subscripts, lambda loop: [loop], accumulated=True)


def with_registers(
    function: Function, subscripts: Callable[[], Subscripts], written: Callable[[Stmt], list[Stmt]], accumulated: bool = False
) -> Function:
    """Return the function with `written(loop)` in place of each loop over elements, some of which are now in variables."""

    def visit(block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            stmt = map_blocks(stmt, visit)
            body = body_of(stmt.op) if isinstance(stmt.op, Loop) else None
            if body is None:
                stmts.append(stmt)
                continue
            before, loop, after, certain = in_registers(stmt, body, subscripts(), block.stmts, accumulated)
            made = [*before, *written(loop), *after]
            stmts += made if certain else where_not_empty(made, stmt, subscripts())
        return with_stmts(block, stmts)

    return with_body(function, visit(function.body))


def in_registers(
    stmt: Stmt, body: Body, subscripts: Subscripts, beside: tuple[Stmt, ...], accumulated: bool
) -> tuple[list[Stmt], Stmt, list[Stmt], bool]:
    """Return the statements before the loop, the loop, the statements after it, and whether these are legal if it has no iterations.

    Args:
        beside: the statements of the block that the loop stands in.
        accumulated: whether this is done only with elements that the loop adds to while it reads others of the same array.
    """
    if not any(True for _ in body.updates()):
        return [], stmt, [], True
    work = _ScalarReplacement(stmt, body, subscripts)
    work.promote(others_read=accumulated)
    if not accumulated:
        work.hoist()
    if not work.keys:
        return [], stmt, [], True
    certain = subscripts.is_never_empty(stmt.op.domain) or all(is_done_anyway(base, key, beside) for base, key in work.keys)
    return work.before, work.loop(), work.after, certain


def where_not_empty(stmts: list[Stmt], stmt: Stmt, subscripts: Subscripts) -> list[Stmt]:
    """Return a branch that runs the statements in place of a loop if the loop has iterations, and else yields its initial values."""
    some = Var("some", BOOL, True)
    bounds: list[Stmt] = []
    start, stop = stmt.op.domain.start, stmt.op.domain.stop
    if number(stmt.op.domain.step) < 0:
        start, stop = (one_more(a, stmt, subscripts, bounds) for a in (stop, start))
    inside = copied(Block(tuple(stmts), stmt.targets), {})
    branch = replace(stmt, op=Branch(some, inside, Block((), stmt.op.inits)))
    return [*bounds, Stmt((some,), Call(operator.gt, (stop, start)), stmt.origin, stmt.adjoint_of), branch]


class _ScalarReplacement:
    """Changes the parts of one loop step by step.

    Attributes:
        before, after: the new statements before and after the loop.
        keys: the elements that are read before the loop: array and subscript.
        stmts, params, inits, results, targets: the parts of the loop; a statement that is removed is None.
        renamed: the atoms that take the place of variables.
    """

    def __init__(self, stmt: Stmt, body: Body, subscripts: Subscripts):
        self.stmt, self.body, self.subscripts = stmt, body, subscripts
        self.before: list[Stmt] = []
        self.after: list[Stmt] = []
        self.keys: list[tuple[Var, tuple]] = []
        self.stmts: list[Stmt | None] = list(body.stmts)
        self.params: list[Var] = list(stmt.op.params)
        self.inits: list[Atom] = list(stmt.op.inits)
        self.results: list[Atom] = list(stmt.op.body.results)
        self.targets: list[Var] = list(stmt.targets)
        self.renamed: dict[Var, Atom] = {}

    def is_invariant(self, key: tuple[Atom, ...]) -> bool:
        return all(a is not self.stmt.op.index and a not in self.body.defined and a not in self.body.scalars for a in key)

    def meet(self, a: Access, b: Access):
        return self.subscripts.meeting(a.key, b.key, self.stmt.op.index)

    def like(self, target: Var, op: Op) -> Stmt:
        return Stmt((target,), op, self.stmt.origin, self.stmt.adjoint_of)

    # ---- elements that are written ----

    def promote(self, others_read: bool = False) -> None:
        """Put the elements that each iteration writes into variables or, with `others_read`, only if it reads other elements too."""
        for chain in [p for p in self.params if isinstance(p.type, Array) and same_dtype(p.type.dtype, FLOAT)]:
            accesses = [a for found in self.body.accesses for a in found if a.chain is chain]
            candidates = [a for a in accesses if a.mode is not None and self.is_invariant(a.key)]
            if not candidates:
                continue
            first = candidates[0]
            meetings = {a: self.meet(first, a) for a in accesses}
            here = [a for a in accesses if meetings[a] is Meeting.EVERY]
            if any(m not in (Meeting.EVERY, Meeting.NEVER) for m in meetings.values()):
                self.summed(chain, accesses, candidates)
                continue
            if not all(map(self.is_plain, here)):
                continue
            if others_read and not any(a.mode is None and meetings[a] is Meeting.NEVER for a in accesses):
                continue
            self.promoted(chain, first.key, {a.at for a in here})

    def is_plain(self, access: Access) -> bool:
        """Return whether an access is a whole statement and handles numbers of 64 bits."""
        op = self.body.stmts[access.at].op
        if isinstance(op, Update):
            t = atom_type(op.value)
            return t.kind in ("float", "int") and (t.dtype is None or t.dtype.kind in "iu" or t.dtype == FLOAT)
        return isinstance(op, Index)

    def summed(self, chain: Var, accesses: list[Access], candidates: list[Access]) -> None:
        """Add what the iterations add to one element of a cotangent in a variable, if the loop does nothing but add to the array.

        Other statements may add to the same element in some iterations: the order of additions does not matter.
        """
        updates = [self.body.stmts[a.at] for a in accesses]
        if not all(a.mode in ADDING and s.adjoint_of is not None for a, s in zip(accesses, updates)):
            return
        ends: list[tuple[tuple[Atom, ...], Var]] = []
        for access in filter(self.is_plain, candidates):
            update = self.body.stmts[access.at]
            inside, now, end = (Var(f"{chain.name}_item", Scalar("float", FLOAT), True) for _ in range(3))
            self.stmts[access.at] = replace(update, targets=(now,), op=Call(BY[update.op.mode], (inside, update.op.value)))
            self.renamed[update.targets[0]] = update.op.base
            self.add_variant(inside, Const(0.0), now, end)
            ends.append((access.key, end))
        if not ends:
            return
        k = self.params.index(chain)
        left, init, old = fresh(self.targets[k]), self.inits[k], self.targets[k]
        if len(ends) < len(accesses):
            self.targets[k] = left
        else:
            left = init
            self.remove(k)
        for n, (key, end) in enumerate(ends, 1):
            sum_ = old if n == len(ends) else fresh(old)
            self.keys.append((init, key))
            self.after.append(self.like(sum_, Update(left, (Sub(single(key)),), end, "add")))
            left = sum_

    def add_variant(self, inside: Var, init: Atom, result: Atom, end: Var) -> None:
        self.params.append(inside)
        self.inits.append(init)
        self.results.append(result)
        self.targets.append(end)

    def promoted(self, chain: Var, key: tuple[Atom, ...], positions: set[int]) -> None:
        k = self.params.index(chain)
        init, number_ = self.inits[k], Scalar("float", FLOAT)
        name = f"{chain.name}_item"
        start, inside, end = Var(name, number_, True), Var(name, number_, True), Var(name, number_, True)
        self.before.append(self.like(start, Index(init, single(key))))
        self.keys.append((init, key))
        now: Atom = inside
        others = False
        for at, stmt in enumerate(self.stmts):
            if stmt is None or not any(a.chain is chain for a in self.body.accesses[at]):
                continue
            op = stmt.op
            if at not in positions:
                others |= isinstance(op, Update)
            elif isinstance(op, Index):
                self.renamed[stmt.targets[0]] = now
                self.stmts[at] = None
            else:
                new = Var(name, number_, True)
                self.stmts[at] = replace(stmt, targets=(new,), op=Call(BY[op.mode], (now, op.value)) if op.mode in BY else Let(op.value))
                self.renamed[stmt.targets[0]] = op.base
                now = new
        self.add_variant(inside, start, now, end)
        old = self.targets[k]
        if others:  # the loop still writes the array elsewhere
            left = self.targets[k] = fresh(old)
        else:
            left = init
            self.remove(k)
        self.after.append(self.like(old, Update(left, (Sub(single(key)),), end, "set")))

    def remove(self, k: int) -> None:
        param = self.params[k]
        self.renamed[param] = self.inits[k]
        for found in self.params, self.inits, self.results, self.targets:
            del found[k]

    # ---- elements that are only read ----

    def hoist(self) -> None:
        """Move reads of elements that no iteration writes in front of the loop."""
        updates = [a for _, a in self.body.updates()]
        done: dict[tuple, Var] = {}
        for at, stmt in enumerate(self.stmts):
            if stmt is None or not isinstance(stmt.op, Index) or not self.body.accesses[at]:
                continue
            (read,) = self.body.accesses[at]
            if not self.is_invariant(read.key):
                continue
            if any(u.chain is read.chain and self.meet(u, read) is not Meeting.NEVER for u in updates):
                continue
            base = self.entry(read.chain)
            again = done.get((base, read.key))
            if again is None:
                again = done[base, read.key] = fresh(stmt.targets[0], temp=False)  # with a name of its own: the text must not put it back
                self.before.append(replace(stmt, targets=(again,), op=Index(base, stmt.op.key)))
                self.keys.append((base, read.key))
            self.renamed[stmt.targets[0]] = again
            self.stmts[at] = None

    def entry(self, chain: Var) -> Atom:
        """Return the version of an array that is current before the loop."""
        op = self.stmt.op
        return op.inits[op.params.index(chain)] if chain in op.params else chain

    def loop(self) -> Stmt:
        op = self.stmt.op
        body = Block(tuple(s for s in self.stmts if s is not None), tuple(self.results))
        for param in op.params:  # a variant that the loop does not carry any more
            if param not in self.params:
                self.renamed.setdefault(param, self.entry(param))
        body = substitute(body, self.renamed)
        made = replace(op, params=tuple(self.params), inits=tuple(self.inits), body=body)
        return replace(self.stmt, op=made, targets=tuple(self.targets))


def single(key: tuple[Atom, ...]):
    """Return the subscript of an op for a tuple of subscripts."""
    return key if len(key) > 1 else key[0]


def is_done_anyway(base: Atom, key: tuple[Atom, ...], beside: tuple[Stmt, ...]) -> bool:
    """Return whether a statement of a block always reads or writes this element of an array of the same shape."""
    for stmt in beside:
        match stmt.op:
            case Index(Var() as other, found):
                pass
            case Update(Var() as other, (Sub(found),)):
                pass
            case _:
                continue
        parts = found if isinstance(found, tuple) else (found,)
        dims = getattr(other.type, "dims", None)
        if len(parts) == len(key) and all(map(same, parts, key)) and dims is not None and dims == getattr(base.type, "dims", None):
            return True
    return False
