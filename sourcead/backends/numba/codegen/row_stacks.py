"""Residuals that are vectors, which loops save as rows of matrices in place of lists of arrays.

    hs = []                          hs = np.empty((0, 0))
                                     hs_top = 0
    for i in range(n):               for i in range(n):
        hs.append(h)                     hs = with_room(hs, hs_top, len(h))
                                         hs[hs_top] = h
                                         hs_top += 1
    for i in ...:                    for i in ...:
        h = hs.pop()                     hs_top -= 1
                                         h = hs[hs_top]

Numba takes about 0.1 µs for an array and its place on a list.  A row is written in the loop that computes the vector (`vector_loops.py`),
which then needs no memory of its own, and a saved view does not keep its base array alive.  This is done with vectors that are, as far as
the types tell, as long as an axis of a parameter; if the vectors of a list have different lengths after all, a text with lists runs the
call (`engine.py`).
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from sourcead.backends.numba.codegen.number_stacks import StackRewriter, Stacks
from sourcead.backends.numba.codegen.vector_statements import (
    FLOAT, EqualLengths, elementwise_work, is_vector, may_run_again, row_write
)
from sourcead.backends.numba.functions import pushed, with_room
from sourcead.ir.nodes import Append, Build, Call, Const, Function, Let, Stmt, Sub, Update, Var, fresh
from sourcead.ir.types import INT, Array, Sym
from sourcead.ir.walk import walk


def vector_stacks_as_matrices(function: Function) -> Function:
    """Return the function with matrices in place of stacks of vectors; must run before `assign_memory`."""
    if not may_run_again(function):
        return function
    meetings = EqualLengths()
    for stmt in walk(function.body):
        if row_write(stmt) or elementwise_work(stmt):
            meetings.meet(stmt)
    fixed = {meetings.find(n) for p in function.params if isinstance(p.type, Array) for n in p.type.dims or ()}

    def dtype_of(value) -> np.dtype | None:
        return FLOAT if is_vector(value) and meetings.find(value.type.dims[0]) in fixed else None

    stacks = Stacks(dtype_of, bounded=False)
    stacks.block(function.body, None)
    found = stacks.kept()
    return replace(function, body=Rows(stacks, found).block(function.body)) if found else function


class Rows(StackRewriter):
    """Replaces each version of a list by a matrix and the number of its rows in use."""

    def pair(self, v: Var) -> tuple[Var, Var]:
        self.now[v] = Var(v.name, Array(FLOAT, (Sym(), Sym())), v.temp), Var(f"{v.name}_top", INT, True)
        return self.now[v]

    def statement(self, stmt: Stmt) -> list[Stmt]:
        op = stmt.op
        match op:
            case Build() if self.dtype(stmt.targets[0]) is not None:
                array, top = self.pair(stmt.targets[0])
                return [self.like(stmt, array, Call(np.empty, (Const((0, 0)),))), self.like(stmt, top, Let(Const(0)))]
            case Append(base, value) if self.dtype(base) is not None:
                before, at = self.now[base]
                array, top = self.pair(stmt.targets[0])
                up = self.like(stmt, top, Call(operator.add, (at, Const(1))))
                return [self.like(stmt, array, Call(pushed, (before, at, value))), up]
        return super().statement(stmt)

    def room(self, stmt: Stmt, init: Var, domain, count: int) -> list[Stmt]:
        return []  # the width of a row is known only at the first push

    def pushes(self, block, p) -> int:
        return 0


def put(stmt: Stmt) -> list[Stmt]:
    """Return the statements for a push of a row outside fused loops, or a list of the statement if it is no push."""
    row = row_write(stmt)
    if row is None or row.mode is not None:
        return [stmt]
    wider, width = fresh(stmt.targets[0]), Var("width", INT, True)
    return [
        replace(stmt, targets=(width,), op=Call(len, (row.value,))),
        replace(stmt, targets=(wider,), op=Call(with_room, (row.base, row.key, width))),
        replace(stmt, op=Update(wider, (Sub(row.key),), row.value)),
    ]
