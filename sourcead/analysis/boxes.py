"""Which parts of an array a subscript names, as numbers along its axes, and which parts are apart.

    d[i]                  (i, i)                            for an array of any rank
    d[1:i, j]             (1, i - 1), (j, j)
    d[:, ::2]             None, None                        the whole axis, or a part of it that is not told

A box is an upper estimate: a subscript names no element outside of it.  Its ends are sizes (`ir/sizes.py`), in which indices of loops may
stand.  Outside of a loop, or in another of its iterations, the index is another number:

    for i in range(n - 1, 0, -1): d[i]        (1, n - 1) behind the loop;  (j, j) for some j > i in an earlier iteration
"""

from __future__ import annotations

from dataclasses import dataclass

from sourcead.analysis.numbers import Numbers
from sourcead.ir.affine import Affine
from sourcead.ir.nodes import Block, Const, Function, Loop, Operand, Range, Slice, Var
from sourcead.ir.sizes import ANY, Dim, Sym, form_of, lower_bound, minus, plus, size_of_form, with_terms
from sourcead.ir.types import Array, dims_of

Ends = tuple[Dim, Dim] | None


@dataclass(frozen=True)
class Box:
    """The least and the greatest number along each of the leading axes; None for a whole axis."""

    axes: tuple[Ends, ...] = ()

    def apart(self, other: Box) -> bool:
        """Return whether two boxes are known to have no element in common."""
        pairs = [(a, b) for a, b in zip(self.axes, other.axes) if a is not None and b is not None]
        return any(_less(a[1], b[0]) or _less(b[1], a[0]) for a, b in pairs)

    def map(self, ends) -> Box:
        """Return the box with other ends along the axes of which it has some."""
        return Box(tuple(None if e is None else ends(e) for e in self.axes))


WHOLE = Box()


def is_exact(key: Operand) -> bool:
    """Return whether the box of a subscript, if it is told, has no element that the subscript does not name: one of integers alone."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(isinstance(part, Var) or isinstance(part, Const) and isinstance(part.value, int) for part in parts)


def _less(a: Dim, b: Dim) -> bool:
    return lower_bound(form_of(minus(b, a))) >= 1


class Boxes:
    """The boxes of the subscripts of a function, whose integers it learns while its blocks are visited in order."""

    def __init__(self, function: Function):
        self.numbers = Numbers()
        self.indices: set[Sym] = set()
        self.outside: dict[Loop, frozenset[Sym]] = {}  # what stays as it is while a loop runs
        self._learn(function.body, self._terms(function.params))

    def _learn(self, block: Block, known: frozenset[Sym]) -> None:
        for stmt in block.stmts:
            op, inside = stmt.op, known
            if isinstance(op, Loop):
                self.outside[op] = known
                if isinstance(op.domain, Range):
                    self.numbers.count(op.index, op.domain)
                    self.indices.update(t for t in (self._index(op),) if t is not None)
                inside |= self._terms(op.params if op.index is None else (*op.params, op.index))
            for inner in op.blocks:
                self._learn(inner, inside)
            if not op.blocks and len(stmt.targets) == 1:
                self.numbers.learn(stmt.targets[0], op)
            known |= self._terms(stmt.targets)

    def _terms(self, variables: tuple[Var, ...]) -> frozenset[Sym]:
        """Return the sizes and integers that variables are or have, without those that stand for several."""
        dims = [d for v in variables for d in (*((v.type.dims or ()) if isinstance(v.type, Array) else ()), self.numbers.number(v))]
        return frozenset(t for d in dims if isinstance(d, Sym) for t in d.terms if self._is_one(t))

    def _is_one(self, term: Sym) -> bool:
        return not term.varies or term in self.indices

    def of(self, array: Var, key: Operand) -> Box:
        """Return the box of a subscript of an array or list."""
        dims = dims_of(array.type) if isinstance(array.type, Array) else None
        parts = key if isinstance(key, tuple) else (key,)
        return Box(tuple(self._ends(part, dims[k] if dims and k < len(dims) else None) for k, part in enumerate(parts))) if all(
            isinstance(p, Slice) or self.numbers.number(p) is not None for p in parts
        ) else WHOLE

    def _ends(self, part: Operand, size: Dim | None) -> Ends:
        if not isinstance(part, Slice):
            at = self._place(part, size)
            return None if at is None else (at, at)
        step = 1 if part.step is None else self.numbers.number(part.step)
        if part.lower is part.upper is None or not isinstance(step, int) or step < 1:
            return None
        low = 0 if part.lower is None else self._place(part.lower, size)
        high = self._size(size) if part.upper is None else self._place(part.upper, size)
        return None if low is None or high is None else (low, minus(high, 1))

    def _size(self, size: Dim | None) -> Dim | None:
        """Return the size of an axis, unless it may be one of several."""
        return None if isinstance(size, Sym) and not all(map(self._is_one, size.terms)) else size

    def _place(self, atom: Operand, size: Dim | None) -> Dim | None:
        """Return the number from the beginning of an axis that an integer stands for, None if it may count from the end."""
        n = self.numbers.number(atom)
        if isinstance(n, int) and n < 0:
            return None if self._size(size) is None else plus(size, n)
        told = n is not None and (isinstance(n, int) or all(map(self._is_one, n.terms)))
        return n if told and lower_bound(form_of(n)) >= 0 else None

    # ---- other iterations ----

    def over(self, loop: Loop, box: Box) -> Box:
        """Return the box of what all iterations of a loop name."""
        index = self._index(loop)
        bounds = None if index is None else self._range(loop)

        def ends(e: tuple[Dim, Dim]) -> Ends:
            if self._varies(loop, e, None if bounds is None else index):
                return None
            if bounds is None:
                return e
            low, high = (_at(form_of(end), index, bounds, high) for high, end in enumerate(e))
            return None if low is None or high is None else (low, high)

        return box.map(ends)

    def elsewhere(self, loop: Loop, box: Box, later: bool) -> Box:
        """Return the box in some iteration after the present one, or before it."""
        index = self._index(loop)
        bounds = None if index is None else self._range(loop)
        if bounds is None:
            return self.over(loop, box)
        up = (self.numbers.number(loop.domain.step) > 0) == later
        present = form_of(index)
        if up:
            other = Sym(ANY, True, above=((bounds[1], 1),), below=((present.plus(Affine(1)), 1),))
        else:
            other = Sym(lower_bound(bounds[0]), True, above=((present.plus(Affine(-1)), 1),), below=((bounds[0], 1),))

        def ends(e: tuple[Dim, Dim]) -> Ends:
            low, high = e
            return None if self._varies(loop, e, index) else (with_terms(low, {index: other}), with_terms(high, {index: other}))

        return box.map(ends)

    def _index(self, loop: Loop) -> Sym | None:
        n = self.numbers.number(loop.index) if isinstance(loop.domain, Range) and loop.index is not None else None
        return n if isinstance(n, Sym) else None

    def _range(self, loop: Loop) -> tuple[Affine, Affine] | None:
        """Return the least and the greatest value of the index of a loop, None if they are not known."""
        start, stop, step = map(self.numbers.number, (loop.domain.start, loop.domain.stop, loop.domain.step))
        if start is None or stop is None or not isinstance(step, int) or not step:
            return None
        return (form_of(start), form_of(minus(stop, 1))) if step > 0 else (form_of(plus(stop, 1)), form_of(start))

    def _varies(self, loop: Loop, ends: tuple[Dim, Dim], index: Sym | None) -> bool:
        """Return whether an end may change from iteration to iteration other than by the index."""
        terms = {t for end in ends if isinstance(end, Sym) for t in end.terms}
        return any(t is not index and t not in self.outside[loop] for t in terms)


def _at(form: Affine, index: Sym, bounds: tuple[Affine, Affine], high: int) -> Dim | None:
    """Return the least or the greatest value of an expression over the values of an index, None if it is no sum with it."""
    k = form.factor(index)
    if any(t is not index and index in t.inside for t, _ in form.terms):
        return None
    return size_of_form(form.replaced(index, bounds[high if k > 0 else 1 - high]) if k else form)
