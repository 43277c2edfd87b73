"""The sizes of dims as expressions of what is in scope: `w.shape[0]` for the rows of `w`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Const, Var
from sourcead.ir.types import Array, Sym


def dims_in(atom: Atom | None) -> tuple[int | Sym, ...] | None:
    """The dims of an array; None of anything else, or if its rank is not known."""
    t = atom_type(atom) if atom is not None else None
    return t.dims if isinstance(t, Array) else None


class Sizes:
    """Says how large dims are by arrays that are in scope.

    Args:
        scope: the variables in scope; the earliest that has a dim is asked for it.
    """

    def __init__(self, scope: Iterable[Var]):
        self.where: dict[Sym, tuple[Var, int]] = {}
        for v in scope:
            self.learn(v)

    def learn(self, v: Var) -> None:
        """One more variable is in scope."""
        for axis, dim in enumerate(dims_in(v) or ()):
            if isinstance(dim, Sym):
                self.where.setdefault(dim, (v, axis))

    def where_is(self, dim: int | Sym) -> tuple[Var | None, int]:
        """An array and the axis along which it is as large; None and the size of a dim that is known."""
        return (None, dim) if isinstance(dim, int) else self.where[dim]

    def knows(self, dim: int | Sym) -> bool:
        """Whether the size of a dim can be written down."""
        return isinstance(dim, int) or dim in self.where


def least(dim: int | Sym) -> int:
    """The least size that a dim may have."""
    return dim if isinstance(dim, int) else dim.least


def known_dtype(v: Var) -> np.dtype | None:
    """The dtype of an array of numbers, if it is known."""
    dtype = v.type.dtype if isinstance(v.type, Array) else None
    return dtype if isinstance(dtype, np.dtype) and dtype.kind in "biufc" else None


def dtype_option(dtype: np.dtype) -> dict[str, Const]:
    """The option of `np.empty` and kin that makes an array of a dtype; none for the one that they make anyway."""
    return {} if dtype == np.float64 else {"dtype": Const(dtype.type, f"np.{dtype.name}")}


def rank(v: Var) -> int | None:
    """How many axes an array has, if it is known."""
    dims = dims_in(v)
    return None if dims is None else len(dims)
