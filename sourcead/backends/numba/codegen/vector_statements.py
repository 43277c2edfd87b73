"""Statements on float64 vectors that become loops over elements in the text for Numba, and the lengths that must then be equal."""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.analysis.connected import UnionFind
from sourcead.backends.numba.functions import pushed
from sourcead.ir.nodes import Atom, Call, Const, Effect, Function, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Array, Scalar
from sourcead.ir.walk import walk
from sourcead.primitives.table import record_of

FLOAT = np.dtype(float)
ELEMENT = Scalar("float", FLOAT)
BY_MODE = {"add": operator.add, "sub": operator.sub}


def is_vector(atom: object) -> bool:
    """Return whether an atom is a float64 vector whose length is not known to be 1."""
    t = atom.type if isinstance(atom, Var) else None
    return isinstance(t, Array) and t.dtype == FLOAT and t.dims is not None and len(t.dims) == 1 and t.dims[0] != 1


def is_number(atom: object) -> bool:
    """Return whether an atom is a number that does not change the dtype of a float64 vector in arithmetic."""
    if not isinstance(atom, Var | Const) or isinstance(atom, Const) and atom.live:
        return False
    t = atom_type(atom)
    return (
        isinstance(t, Scalar)
        and t.kind in ("int", "float")
        and (t.dtype is None or t.dtype in (FLOAT, np.dtype(np.int64)))
    )


def may_run_again(function: Function) -> bool:
    """Return whether a call may be abandoned and run again with another text, that is, the function has no side effects."""
    return not any(isinstance(s.op, Effect) or isinstance(s.op, Call) and s.op.effect for s in walk(function.body))


def elementwise_work(stmt: Stmt) -> tuple | None:
    """Return the function that a statement applies to each element, the operands, and a vector that fixes the length; None for others."""
    if len(stmt.targets) != 1 or stmt.within:
        return None
    match stmt.op:
        case Call(fn, (d, Var() as x), ()) if fn is runtime.unbroadcast and is_vector(d) and is_vector(x):
            found = None, (d,), x
        case Call(fn, args, (), False) if record_of(fn).looped:
            found = fn, args, None
        case Update(base, (), value, "add" | "sub" as mode):
            found = BY_MODE[mode], (base, value), None
        case _:
            return None
    operands = found[1]
    if not is_vector(stmt.targets[0]) or not any(map(is_vector, operands)):
        return None
    return found if all(is_vector(a) or is_number(a) for a in operands) else None


@dataclass(frozen=True)
class Row:
    """A write or an addition to the row `key` of a matrix or to the part `key` of a vector.

    `mode` None: the row is pushed on a stack of rows.
    """

    base: Var
    key: Atom | Slice
    value: Var
    mode: str | None

    @property
    def measured(self) -> list:
        """The lengths that must equal the length of the row."""
        return [] if self.mode is None or isinstance(self.key, Slice) else [self.base.type.dims[1]]


def row_write(stmt: Stmt) -> Row | None:
    """Return the row that a statement writes; None if it writes none."""
    match stmt.op:
        case Call(fn, (base, key, value)) if fn is pushed:
            return Row(base, key, value, None)
        case Update(Var(type=Array(dtype, (_, n))) as base, (Sub(Var() | Const() as key),), value, mode) if (
            dtype == FLOAT and n != 1
        ):
            t = atom_type(key)
            if isinstance(t, Scalar) and t.kind == "int" and is_vector(value) and not stmt.within:
                return Row(base, key, value, mode)
        case Update(base, (Sub(Slice(_, _, None) as key),), value, mode) if (
            is_vector(base) and is_vector(value) and not stmt.within
        ):
            return Row(base, key, value, mode)
    return None


class EqualLengths(UnionFind):
    """The classes of lengths that must be equal, because vectors of these lengths are operands of one operation."""

    def meet(self, stmt: Stmt) -> None:
        """Join the classes of the lengths that a statement on vectors requires to be equal; others require nothing."""
        if row_write(stmt) or elementwise_work(stmt):
            self.unite(*self.lengths(stmt))

    def lengths(self, stmt: Stmt) -> list:
        """Return the lengths that must be equal for a statement on vectors."""
        row = row_write(stmt)
        if row:
            return [row.value.type.dims[0], *row.measured]
        _, operands, witness = elementwise_work(stmt)
        return [v.type.dims[0] for v in (*operands, witness, stmt.targets[0]) if is_vector(v)]
