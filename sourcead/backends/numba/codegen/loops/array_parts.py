"""Parts of arrays: which elements a subscript with slices selects, and when two parts have equal lengths along an axis.

A slice `a[lo:-c]` of an axis with n elements has max(0, n - lo - c) elements, if lo and c are not negative; so `a[2:]`, `a[1:-1]` and
`a[:-2]` have equal lengths for each n.  The types of arrays say which axes of different arrays have the same n (`Sym`).
"""

from dataclasses import dataclass

from sourcead.analysis.affine import Affine, Subscripts, number
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Block, Index, Operand, Slice, Var
from sourcead.ir.types import Array, Scalar, Sym
from sourcead.ir.walk import walk

Length = tuple  # a number of elements: (dim, how many fewer) or (dim, start, end)


@dataclass(frozen=True)
class Axis:
    """The elements of one axis that a part selects: the one at `at`, or those from `start` to `stop` or to `from_end` before the end."""

    dim: int | Sym
    at: Atom | None = None
    start: Affine = Affine(0)
    first: Atom | None = None  # the start as an atom; None: 0
    stop: Atom | None = None  # None: `from_end` before the end
    from_end: int = 0
    length: Length = ()


class Parts:
    """The lengths of all parts of arrays that a function reads."""

    def __init__(self, block: Block, subscripts: Subscripts):
        self.subscripts = subscripts
        self.lengths: dict[Sym, Length] = {}  # by dim of a part
        for stmt in walk(block):
            if isinstance(stmt.op, Index) and isinstance(stmt.op.base, Var):
                axes = self.axes(stmt.op.base.type, stmt.op.key)
                t = stmt.targets[0].type
                kept = [] if axes is None else [a for a in axes if a.at is None]
                if axes is not None and isinstance(t, Array) and t.dims is not None and len(t.dims) == len(kept):
                    for n, a in zip(t.dims, kept):
                        if isinstance(n, Sym) and n.parts:
                            self.lengths.setdefault(n, a.length)

    def length(self, dim: int | Sym) -> Length:
        """Return the number of elements along an axis of an array."""
        return self.lengths.get(dim, (dim, Affine(0))) if isinstance(dim, Sym) else (dim, Affine(0))

    def axes(self, t: object, key: Operand | None) -> list[Axis] | None:
        """Return the axes of the selected part, or of the whole array if `key` is None; None if a key is no integer and no slice with step
        1."""
        if not isinstance(t, Array) or t.dims is None:
            return None
        parts = () if key is None else key if isinstance(key, tuple) else (key,)
        if len(parts) > len(t.dims):
            return None
        found: list[Axis] = []
        for k, dim in enumerate(t.dims):
            axis = self.axis(dim, parts[k]) if k < len(parts) else Axis(dim, length=self.length(dim))
            if axis is None:
                return None
            found.append(axis)
        return found

    def axis(self, dim: int | Sym, part: Operand) -> Axis | None:
        if not isinstance(part, Slice):
            t = None if isinstance(part, tuple) else atom_type(part)
            return Axis(dim, at=part) if isinstance(t, Scalar) and t.kind == "int" else None
        if part.step is not None and number(part.step) != 1:
            return None
        low = Affine(0) if part.lower is None else self.subscripts.from_zero(part.lower)
        if low is None:
            return None
        first = None if number(part.lower) == 0 else part.lower
        whole, less = self.length(dim) if len(self.length(dim)) == 2 else (None, None)
        if part.upper is None or (number(part.upper) or 0) < 0:
            end = 0 if part.upper is None else -number(part.upper)
            length = (dim, low, end) if whole is None else plain(whole, less.plus(low).plus(Affine(end)))
            return Axis(dim, start=low, first=first, from_end=end, length=length)
        high = self.subscripts.from_zero(part.upper)
        return None if high is None else Axis(dim, start=low, first=first, stop=part.upper, length=(dim, low, high))


def plain(dim: int | Sym, less: Affine) -> Length:
    """Return the length `dim - less`, computed if both are known numbers."""
    return (max(0, dim - less.constant), Affine(0)) if isinstance(dim, int) and not less.terms else (dim, less)
