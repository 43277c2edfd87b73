"""Computes functions of rows, which a loop over the rows of arrays takes in turn, for all iterations before the loop.

    loop (p = p0) for t in range(0, n, 1):          e_rows = exp(mul(-0.5, pow(sub(expand_dims(xs, 1), m), 2)))
        x = xs[t]                                   loop (p = p0) for t in range(0, n, 1):
        e = exp(mul(-0.5, pow(sub(x, m), 2)))           e = e_rows[t]
        yield mul(p, e)                                 yield mul(p, e)

A call from Python takes longer than the elements of a vector, so that one call for all iterations takes a part of the time, and so does its
adjoint.  This is legal if the rows and all else that is read do not depend on the loop: elementwise functions have no effect, and raise
no error.  It is done for numbers and vectors where at least one function is no mere arithmetic.  It takes the memory of all
iterations, which the reverse sweep needs anyway for most of them.  Results may differ by rounding.
"""

import operator
from collections.abc import Iterable
from dataclasses import replace

from sourcead.analysis.builder import Builder
from sourcead.analysis.sizes import dims_in, least
from sourcead.ir.nodes import Block, Call, Const, Function, Index, Loop, Stmt, Var, fresh
from sourcead.ir.types import Array, Scalar, kind_of, rank
from sourcead.ir.walk import all_reads, has, map_atoms, with_body
from sourcead.passes.batching.blocks import Batched
from sourcead.passes.batching.calls import Unbatchable
from sourcead.passes.loops.independent import Batching
from sourcead.primitives.table import record_of


def compute_rows_before(function: Function, notes: list[str], build: Builder) -> Function:
    """Return the function with functions of rows computed before the loops that take the rows; add a line for each loop to `notes`."""
    if not has(function.body, Loop):
        return function
    return with_body(function, _RowsBefore(function, notes, build).block(function.body, set(function.params)))


class _RowsBefore(Batching):
    def at_once(self, stmt: Stmt, outside: set[Var]) -> list[Stmt] | None:
        loop: Loop = stmt.op
        counted = self.counting.of(loop)
        if counted is None or counted.first or loop.leave is not None or not self.is_count(counted):
            return None
        rows = {}
        for s in loop.body.stmts:
            if isinstance(s.op, Index) and s.op.key is loop.index and s.op.base in outside and (dims := dims_in(s.op.base)):
                if dims[0] == counted.rows or least(dims[0]) >= 2:
                    rows[s.targets[0]] = s.op.base
        found, ends = chosen(loop, rows, outside)
        if not ends:
            return None
        with self.build.block() as made:
            self.build.at(stmt)
            size = counted.write_count(self.build, self.counting)
            bases = {row: self.taken(base, size, counted.rows) for row, base in rows.items()}
            batched = Batched(self.build, bases, size, counted.rows)
            try:
                batched.block(Block(tuple(found)))
            except Unbatchable:
                return None
        if not all(v in batched.found and isinstance(batched.found[v].type, Array) for v in ends):
            return None
        self.notes.append(f"functions of rows before the loop: {', '.join(v.name for v in ends)}")
        called = {batched.found[v]: fresh(batched.found[v], name=f"{v.name}_rows") for v in ends if not v.temp}
        made = map_atoms(Block(tuple(made)), lambda a: called.get(a, a), lambda v: called.get(v, v)).stmts
        batched.found.update((v, called.get(batched.found[v], batched.found[v])) for v in ends)
        taken = {v: Index(batched.found[v], loop.index) for v in ends}
        body = [replace(s, op=taken[s.targets[0]]) if s.targets and s.targets[0] in ends else s for s in loop.body.stmts]
        return [*made, replace(stmt, op=replace(loop, body=Block(tuple(body), loop.body.results)))]


def chosen(loop: Loop, rows: Iterable[Var], outside: set[Var]) -> tuple[list[Stmt], list[Var]]:
    """Return the statements of a loop that compute functions of rows alone, and those of their results that other statements read."""
    known, costly = set(rows), set()
    found: dict[Var, Stmt] = {}
    for s in loop.body.stmts:
        if is_function_of_rows(s, known, outside):
            known.add(s.targets[0])
            found[s.targets[0]] = s
            if not is_arithmetic(s.op) or not costly.isdisjoint(s.op.reads):
                costly.add(s.targets[0])
    others = Block(tuple(s for s in loop.body.stmts if not s.targets or s.targets[0] not in costly), loop.body.results)
    ends = costly.intersection((*all_reads(others), *loop.body.results))
    needed, todo = set(), list(ends)
    while todo:
        v = todo.pop()
        if v in found and v not in needed:
            needed.add(v)
            todo += found[v].op.reads
    return [s for v, s in found.items() if v in needed], [v for v in found if v in ends]


def is_function_of_rows(stmt: Stmt, known: set[Var], outside: set[Var]) -> bool:
    """Return whether a statement calls an elementwise function of rows that gives a vector or a number of NumPy."""
    op = stmt.op
    if not isinstance(op, Call) or op.kwargs or op.effect or stmt.within or len(stmt.targets) != 1:
        return False
    t = stmt.targets[0].type
    if not isinstance(t, (Array, Scalar)) or kind_of(t) != "float" or t.dtype is None or (rank(t) or 0) > 1 or rank(t) is None:
        return False
    read, record = set(op.reads), record_of(op.fn)
    return record.is_elementwise(len(op.args)) and record.pure and read <= known | outside and not read.isdisjoint(known)


def is_arithmetic(op: Call) -> bool:
    """Return whether an elementwise call is about as fast as a product."""
    return record_of(op.fn).cheap or op.fn is operator.pow and isinstance(op.args[1], Const) and op.args[1].value in (1, 2, 3, -1)
