"""The sizes of dims as expressions of variables in scope, such as `w.shape[0]` for the number of rows of `w`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sourcead.analysis.builder import Builder, atom_type, operand_type
from sourcead.ir.equal_sizes import EqualSizes
from sourcead.ir.nodes import Atom, Call, Const, Stmt, Var
from sourcead.ir.sizes import Dim, Sym
from sourcead.ir.types import Array, Type, same_dtype
from sourcead.primitives.result_types.asserted import equal_sizes


def dims_in(atom: Atom | None) -> tuple[int | Sym, ...] | None:
    """Return the dims of an array, or None for other values and for arrays of unknown rank."""
    t = atom_type(atom) if atom is not None else None
    return t.dims if isinstance(t, Array) else None


@dataclass(frozen=True, eq=False)
class Size:
    """A way to compute a dim: as the size of `var` along `axis`, or as a number."""

    var: Var | None
    axis: int
    dim: int | Sym

    def write(self, build: Builder) -> Atom:
        """Emit the size, unless it is a number, and return it."""
        if isinstance(self.dim, int):
            return Const(self.dim)
        return build.index(build.attr(self.var, "shape"), Const(self.axis))


class Sizes:
    """Finds the sizes of dims in the arrays that are in scope.

    Args:
        scope: the variables in scope; a dim is read from the first array that has it.
    """

    def __init__(self, scope: Iterable[Var]):
        self.where: dict[Sym, tuple[Var, int]] = {}
        for v in scope:
            self.learn(v)

    def learn(self, v: Var) -> None:
        """Add a variable to the scope."""
        for axis, dim in enumerate(dims_in(v) or ()):
            if isinstance(dim, Sym):
                self.where.setdefault(dim, (v, axis))

    def size(self, dim: int | Sym) -> Size | None:
        """Return how to compute a dim, or None if no array in scope has it."""
        if isinstance(dim, int):
            return Size(None, 0, dim)
        return Size(*self.where[dim], dim) if dim in self.where else None


def equal_after(stmt: Stmt) -> Iterator[tuple[Dim, Dim]]:
    """Yield pairs of dims that are equal once a statement has run."""
    match stmt.op:
        case Call(fn, args) if not isinstance(fn, Var) and len(stmt.targets) == 1:
            yield from equal_sizes(fn, list(map(operand_type, args)), stmt.targets[0].type)


def equal_behind(stmts: Iterable[Stmt], a: Type, b: Type) -> bool:
    """Return whether two types of arrays are the same once statements have run, as their operations need sizes to be equal.

        h1 = m * h0 + x         h0: (n, k), m: (n1, 1)          h1: (n1, k), where n1 is n
    """
    if not isinstance(a, Array) or not isinstance(b, Array) or not a.dims or not b.dims or len(a.dims) != len(b.dims):
        return False
    equal = EqualSizes()
    for stmt in stmts:
        for first, second in equal_after(stmt):
            equal.learn(first, second)
    return a.dtype is not None and same_dtype(a.dtype, b.dtype) and all(map(equal.same, a.dims, b.dims))


def least(dim: int | Sym) -> int:
    """Return the least size that a dim may have."""
    return dim if isinstance(dim, int) else dim.least


def fills(value: tuple[int | Sym, ...], part: tuple[int | Sym, ...]) -> bool:
    """Return whether a value of these dims is known to fill a part, if it fits there, without being broadcast."""
    return len(value) == len(part) and all(m == n or least(m) > 1 and least(n) > 1 for m, n in zip(value, part))


def known_dtype(v: Var) -> np.dtype | None:
    """Return the dtype of an array of numbers, or None if it is unknown."""
    dtype = v.type.dtype if isinstance(v.type, Array) else None
    return dtype if isinstance(dtype, np.dtype) and dtype.kind in "biufc" else None


def dtype_option(dtype: np.dtype) -> dict[str, Const]:
    """Return the keyword for `np.empty` and similar functions that selects a dtype, or no keyword for their default, float64."""
    return {} if dtype == np.float64 else {"dtype": Const(dtype.type, f"np.{dtype.name}")}


def empty_stack(build: Builder, v: Var, sizes: Iterable[Size], rows: tuple[Atom, int | Sym], axis: int = 0) -> Var:
    """Emit a new array for values like `v`, of these sizes, which lie side by side along an axis; `rows` is their number and its dim."""
    dtype, sizes = known_dtype(v), list(sizes)
    shape, dims = [s.write(build) for s in sizes], [s.dim for s in sizes]
    shape.insert(axis, rows[0])
    dims.insert(axis, rows[1])
    return build.call(np.empty, tuple(shape), name=f"{v.name}s", type=Array(dtype, tuple(dims)), **dtype_option(dtype))
