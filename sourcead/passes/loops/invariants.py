"""Computes once, in front of a loop, the functions of values that do not change in it.

    loop for i:                                    s = sqrt(dt)
        s = sqrt(dt)                               loop for i:
        x = add(x, mul(s, z[i]))         ->            x = add(x, mul(s, z[i]))

So a function that the loop calls with the same parameters each time, such as one step of a process, does not evaluate them again, and
nothing of them is saved for the reverse sweep.  This is legal for NumPy's elementwise functions of numbers and arrays, which raise no
error, so that they may be evaluated also where the loop has no iteration.  Arithmetic stays: it costs no more than a name.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder, atom_type
from sourcead.ir.nodes import Atom, Block, Call, Function, Loop, Stmt, Var
from sourcead.ir.types import Array, Scalar, kind_of
from sourcead.ir.walk import bound_vars, has, rewrite, walk, with_body
from sourcead.primitives.table import record_of


def evaluate_invariants_once(function: Function, build: Builder) -> Function:
    """Return the function with elementwise functions of what does not change in a loop in front of it."""
    if not has(function.body, Loop):
        return function
    return with_body(function, rewrite(function.body, lambda stmt: _moved(stmt, build.unassigned)))


def _moved(stmt: Stmt, unassigned: set[Var]) -> Iterator[Stmt]:
    """Yield a loop, and before it the statements of its body that do not depend on it."""
    if isinstance(loop := stmt.op, Loop) and loop.policy is None:
        inside = {*unassigned, *bound_vars(loop), *(t for s in walk(loop.body) for t in s.targets)}
        before: list[Stmt] = []
        for s in loop.body.stmts:
            if _is_elementwise(s) and inside.isdisjoint(s.op.reads):
                before.append(s)
                inside.difference_update(s.targets)
        if before:
            yield from before
            body = Block(tuple(s for s in loop.body.stmts if s not in before), loop.body.results)
            stmt = replace(stmt, op=replace(loop, body=body))
    yield stmt


def _is_elementwise(stmt: Stmt) -> bool:
    op = stmt.op
    if not isinstance(op, Call) or not isinstance(op.fn, np.ufunc) or op.kwargs or op.effect or stmt.within:
        return False
    known = record_of(op.fn)
    return known.elementwise and not known.cheap and all(map(_is_real, op.args))


def _is_real(atom: Atom) -> bool:
    """Return whether an operand is a real number, or an array of them with axes that are known; integers may have no power."""
    t = atom_type(atom)
    return kind_of(t) == "float" and (isinstance(t, Scalar) or isinstance(t, Array) and t.dims is not None)
