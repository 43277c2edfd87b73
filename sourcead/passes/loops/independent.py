"""Computes the iterations of a loop at once that are independent of each other but for sums.

    loop (s = s0) for i in range(0, n, 1):           z = matmul(xs, transpose(w))
        z = matmul(w, xs[i])                         v = f(z)
        v = f(z)                                     s = s0 + sum(v, axis=0)
        s1 = s + v;  yield s1

This is legal if the loop takes the rows of arrays in turn and only adds to its variants, and if its body has no effects.  The order of the
additions is another, so that results differ by rounding.  It is done where a product of a matrix and a vector in each iteration becomes one
product of matrices, or where an iteration computes nothing but numbers.  It takes the memory of all iterations, which the reverse sweep
needs anyway for most of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.loop_indices import Counted, Counting
from sourcead.analysis.sizes import dims_in, least
from sourcead.ir.nodes import Atom, Block, Call, Const, Function, Index, Loop, Slice, Stmt, Update, Var
from sourcead.ir.sizes import Dim
from sourcead.ir.types import Array, Scalar, kind_of, rank
from sourcead.ir.walk import (
    all_reads, bound_vars, count_reads, definitions, has, has_effect, map_blocks, rewrite, walk, with_body, with_stmts
)
from sourcead.passes.batching.blocks import Batched
from sourcead.passes.batching.calls import Unbatchable
from sourcead.passes.equality import equal_types
from sourcead.passes.loops.hoisting import PRODUCTS


@dataclass(eq=False)
class Sums:
    """The sums that an iteration adds to.

    Attributes:
        loop: the loop.
        steps: the results of the additions.
    """

    loop: Loop
    steps: set[Var] = field(default_factory=set)

    def __post_init__(self):
        self.made, self.reads = {t: s.op for s in self.loop.body.stmts for t in s.targets}, count_reads(self.loop.body)

    def terms(self, result: Atom, variant: Var) -> list[tuple[Callable, Atom]] | None:
        """Return what an iteration adds to a variant or subtracts from it, in order; None if it does anything else with it."""
        if result is variant:
            return [] if self.reads[variant] == 1 else None
        if result not in self.made or self.reads[result] != 1:
            return None
        match self.made[result]:
            case Update(Var() as sum, (), value, "add" | "sub" as mode):
                choices = [(operator.add if mode == "add" else operator.sub, sum, value)]
            case Call(operator.add, (a, b), ()):
                choices = [(operator.add, a, b), (operator.add, b, a)]
            case Call(operator.sub, (a, b), ()):
                choices = [(operator.sub, a, b)]
            case _:
                return None
        for fn, sum, value in choices:
            if isinstance(sum, Var) and isinstance(value, (Var, Const)) and kind_of(atom_type(value)) == "float":
                if (before := self.terms(sum, variant)) is not None:
                    self.steps.add(result)
                    return [*before, (fn, value)]
        return None


def batch_independent(function: Function, notes: list[str], build: Builder) -> Function:
    """Return the function with independent iterations computed at once; add a line for each loop to `notes`."""
    if not has(function.body, Loop):
        return function
    return with_body(function, Batching(function, notes, build).block(function.body, set(function.params)))


class Batching:
    """Computes the iterations of the loops of one function at once."""

    def __init__(self, function: Function, notes: list[str], build: Builder):
        self.notes, self.build = notes, build
        self.counting = Counting(definitions(function.body))

    def block(self, block: Block, before: set[Var]) -> Block:
        """Return the block with the iterations of its loops at once; `before` are the variables that are defined around it."""
        stmts, before = [], set(before)
        for stmt in block.stmts:
            new = self.at_once(stmt, before) if isinstance(stmt.op, Loop) else None
            if new is None:
                around = {*before, *bound_vars(stmt.op)}
                new = [map_blocks(stmt, lambda b, around=around: self.block(b, around))]
            stmts += new
            before.update(stmt.targets)
        return with_stmts(block, stmts)

    def at_once(self, stmt: Stmt, outside: set[Var]) -> list[Stmt] | None:
        """Return what computes the results of a loop at once, None for loops that do not have the form above."""
        loop: Loop = stmt.op
        counted = self.counting.of(loop)
        if counted is None or counted.first or not self.is_count(counted) or any(has_effect(s.op) for s in loop.body.stmts):
            return None
        sums = Sums(loop)
        terms = [sums.terms(result, variant) for variant, result in zip(loop.params, loop.body.results)]
        rows = self.rows(loop, counted, outside)
        if not rows or not terms or None in terms:
            return None
        gone = sums.steps | rows.keys()
        body = rewrite(Block(loop.body.stmts), lambda s: [] if s.targets and s.targets[0] in gone else [s])
        if not pays(body, set(rows)):
            return None
        with self.build.block() as made:
            self.build.at(stmt)
            size = counted.write_count(self.build, self.counting)
            found = {row: self.taken(base, size, counted.rows) for row, base in rows.items()}
            batched = Batched(self.build, found, size, counted.rows)
            try:
                batched.block(body)
            except Unbatchable:
                return None
            results = [self.result(init, added, batched, stmt) for init, added in zip(loop.inits, terms)]
        if not all(map(alike, results, stmt.targets)):
            return None
        self.notes.append(f"all iterations at once: {', '.join(target.name for target in stmt.targets)}")
        last = dict(zip(results, stmt.targets))
        return [replace(s, targets=tuple(last.get(t, t) for t in s.targets)) for s in made]

    def is_count(self, counted: Counted) -> bool:
        """Return whether a loop counts to the size of an array or to the least of several, and surely runs.

        What does not vary in an iteration may raise an error, which it must not if there is no iteration.
        """
        op = self.counting.op(counted.count)
        if not (isinstance(op, Call) and op.fn is min):
            return counted.is_size(self.counting) and least(counted.rows) > 0
        sizes = [(self.counting.size(size), size) for size in op.args]
        return all(n is not None and least(n) > 0 and Counted(0, n, size).is_size(self.counting) for n, size in sizes)

    def rows(self, loop: Loop, counted: Counted, outside: set[Var]) -> dict[Var, Var] | None:
        """Return the arrays of which an iteration takes a row, by the rows; None if the number of the iteration is read otherwise."""
        rows = {}
        for s in walk(loop.body):
            if loop.index in s.op.reads:
                dims = dims_in(s.op.base) if isinstance(s.op, Index) else None
                if not dims or s.op.key is not loop.index or s.op.base not in outside or dims[0] != counted.rows and least(dims[0]) < 2:
                    return None
                rows[s.targets[0]] = s.op.base
        return rows

    def taken(self, base: Var, size: Atom, dim: Dim) -> Var:
        """Return the rows of an array that the loop takes."""
        dims = dims_in(base)
        if dims[0] == dim:
            return base
        return self.build.emit(Index(base, Slice(None, size, None)), Array(base.type.dtype, (dim, *dims[1:])), base.name)

    def result(self, init: Atom, terms: list[tuple[Callable, Atom]], batched: Batched, stmt: Stmt) -> Var:
        """Emit the value of a variant behind the loop."""
        build, value = self.build.at(stmt), init
        for fn, added in terms:
            if added in batched.found:
                total = build.call(np.sum, batched.found[added], axis=Const(0))
            else:
                total = build.call(operator.mul, batched.size, batched.unbatched(added))
            value = build.call(fn, value, total)
        return value


def pays(body: Block, rows: set[Var]) -> bool:
    """Return whether products of a matrix and a vector become one product, or all that varies in the body are numbers."""
    varies, found = set(rows), False
    for s in walk(body):
        if varies.isdisjoint(all_reads(Block((s,)))):
            continue
        varies.update(s.targets)
        if isinstance(s.op, Call) and s.op.fn in PRODUCTS and sorted(rank(atom_type(a)) or 0 for a in s.op.args) == [1, 2]:
            found = True
    return found or all(isinstance(v.type, Scalar) for v in varies)


def alike(a: Atom, b: Var) -> bool:
    """Return whether two results have the same shape and dtype as far as that is known; a number may be of Python or of NumPy."""
    if isinstance(b.type, Scalar):
        return isinstance(a, Var) and isinstance(a.type, Scalar) and a.type.kind == b.type.kind
    return isinstance(a, Var) and isinstance(a.type, Array) and equal_types(a.type, b.type)
