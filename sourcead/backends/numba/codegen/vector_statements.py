"""Statements on float64 vectors that become loops over elements in the text for Numba, and the lengths that must then be equal."""

import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.analysis.connected import UnionFind
from sourcead.backends.numba.functions import pushed
from sourcead.ir.nodes import Atom, Call, Const, Effect, Function, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Array, Scalar, same_dtype
from sourcead.ir.walk import walk
from sourcead.primitives.table import record_of

FLOAT = np.dtype(float)
ELEMENT = Scalar("float", FLOAT)
BY_MODE = {"add": operator.add, "sub": operator.sub}


def is_vector(atom: object) -> bool:
    """Return whether an atom is a float64 vector whose length is not known to be 1."""
    t = atom.type if isinstance(atom, Var) else None
    return isinstance(t, Array) and same_dtype(t.dtype, FLOAT) and t.dims is not None and len(t.dims) == 1 and t.dims[0] != 1


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


@dataclass(frozen=True)
class Row:
    """A write or an addition to the row `key` of a matrix or to the part `key` of a vector.

    `mode` None: the row is pushed on a stack of rows.
    """

    base: Var
    key: Atom | Slice
    value: Var
    mode: str | None


@dataclass(frozen=True)
class Work:
    """What a statement does with the elements of vectors.

    Attributes:
        fn: the function of elements that it computes; None for the element itself.
        operands: vectors and numbers.
        lengths: the lengths that must be equal.
        witness: empty, or the vector that fixes the length of the result.
        row: where the elements are written; None if they are a new vector.
    """

    fn: Callable | None
    operands: tuple
    lengths: list
    witness: tuple[Var, ...] = ()
    row: Row | None = None

    @property
    def vectors(self) -> list[Var]:
        """The vectors whose elements are read."""
        return [a for a in self.operands if is_vector(a)]


def row_write(stmt: Stmt) -> Row | None:
    """Return the row that a statement writes; None if it writes none."""
    match stmt.op:
        case Call(fn, (base, key, value)) if fn is pushed:
            return Row(base, key, value, None)
        case Update(Var(type=Array(dtype, (_, n))) as base, (Sub(Var() | Const() as key),), value, mode) if (
            same_dtype(dtype, FLOAT) and n != 1
        ):
            t = atom_type(key)
            if isinstance(t, Scalar) and t.kind == "int" and is_vector(value) and not stmt.within:
                return Row(base, key, value, mode)
        case Update(base, (Sub(Slice(_, _, None) as key),), value, mode) if (
            is_vector(base) and is_vector(value) and not stmt.within
        ):
            return Row(base, key, value, mode)
    return None


def vector_work(stmt: Stmt) -> Work | None:
    """Return what a statement does with the elements of vectors; None if it does anything else."""
    if (row := row_write(stmt)) is not None:
        width = [] if row.mode is None or isinstance(row.key, Slice) else [row.base.type.dims[1]]
        return Work(None, (row.value,), [row.value.type.dims[0], *width], row=row)
    if len(stmt.targets) != 1 or stmt.within:
        return None
    fn, witness = None, ()
    match stmt.op:
        case Call(unbroadcast, (d, Var() as x), ()) if unbroadcast is runtime.unbroadcast and is_vector(d) and is_vector(x):
            operands, witness = (d,), (x,)
        case Call(fn, operands, (), False) if record_of(fn).looped:
            pass
        case Update(base, (), value, "add" | "sub" as mode):
            fn, operands = BY_MODE[mode], (base, value)
        case _:
            return None
    vectors = [a for a in operands if is_vector(a)]
    if not is_vector(stmt.targets[0]) or not vectors or not all(is_vector(a) or is_number(a) for a in operands):
        return None
    return Work(fn, operands, [v.type.dims[0] for v in (*vectors, *witness, *stmt.targets)], witness)


class EqualLengths(UnionFind):
    """The classes of lengths that must be equal, because vectors of these lengths are operands of one operation."""

    def meet(self, stmt: Stmt) -> None:
        """Join the classes of the lengths that a statement on vectors requires to be equal; others require nothing."""
        if work := vector_work(stmt):
            self.unite(*work.lengths)
