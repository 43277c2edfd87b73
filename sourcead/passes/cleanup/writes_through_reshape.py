"""Turns a write through `reshape` into a write into the reshaped array, which is reshaped back.

    a1 = a0 with .reshape[k] = v        r0 = reshape(a0, s);  r1 = r0 with [k] = v;  a1 = reshape(r1, a0.shape)

This is always legal, and needed because `np.reshape` gives a view of an array in C order only, and nothing tells which of the arrays that
the text makes are in C order.  A write through a reshape to one axis stays where the text can write it as `a.flat[k] = v`.
"""

from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder, atom_type
from sourcead.ir.nodes import Call, Const, Function, Slice, Stmt, Sub, Update, Var, View
from sourcead.ir.types import Scalar
from sourcead.ir.walk import rewrite, with_body

RESHAPES = (np.reshape, np.ravel)


def is_reshape(step: Sub | View) -> bool:
    return isinstance(step, View) and any(step.fn is f for f in RESHAPES)


def is_flat(step: Sub | View) -> bool:
    """Return whether a step is a reshape to one axis that holds all elements."""
    if not is_reshape(step) or step.kwargs:
        return False
    return not step.args or len(step.args) == 1 and isinstance(step.args[0], Const) and step.args[0].value in (-1, (-1,))


def is_plain(op: Update) -> bool:
    """Return whether an update can be written with `.flat`."""
    if len(op.path) != 2 or not is_flat(op.path[0]) or not isinstance(op.path[1], Sub):
        return False
    key = op.path[1].key
    if isinstance(key, Slice):  # `.flat` would repeat a value that is too short
        return not isinstance(op.value, tuple) and isinstance(atom_type(op.value), Scalar)
    return not isinstance(key, tuple) and isinstance(atom_type(key), Scalar)


def expand_writes_through_reshape(function: Function) -> Function:
    """Return the function without writes through `reshape` that `.flat` cannot express."""

    def change(stmt: Stmt) -> list[Stmt]:
        through = isinstance(stmt.op, Update) and any(map(is_reshape, stmt.op.path)) and not is_plain(stmt.op)
        return expanded(stmt) if through else [stmt]

    return with_body(function, rewrite(function.body, change))


def expanded(stmt: Stmt) -> list[Stmt]:
    """Return the statements that take the place of an update through `reshape`."""
    build = Builder().at(stmt)
    new = updated(build, stmt.op)
    last = build.stmts.pop()
    assert last.targets == (new,)
    return [*build.stmts, replace(last, targets=stmt.targets)]


def updated(build: Builder, op: Update) -> Var:
    """Return the new version of the array, which the statement that is emitted last defines."""
    k = next((k for k, step in enumerate(op.path) if is_reshape(step)), None)
    if k is None:
        return build.emit(op, atom_type(op.base))
    outer = build.part(op.base, op.path[:k])
    shape = build.attr(outer, "shape")
    part = build.part(outer, op.path[k : k + 1])
    new = updated(build, replace(op, base=part, path=op.path[k + 1 :]))
    back = build.emit(Call(np.reshape, (new, shape)), atom_type(outer), getattr(outer, "name", "out"))
    return back if k == 0 else build.emit(Update(op.base, op.path[:k], back), atom_type(op.base))
