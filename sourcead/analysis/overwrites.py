"""Which elements of an array are never written again after they were read.

    for t in range(n):
        h[t + 1] = f(h[t])

An iteration reads `h[t]`, and later ones write only behind it; so the reverse sweep can read `h[t]` from the finished array,
and nothing has to be saved.  Shown for subscripts that, on some axis, are `k * t + c` in the index t of the outermost loop
that carries the array: of an element [lo, lo + 1), of a slice [lower, upper).  With t ascending, a read is never overwritten
if every write of this or a later iteration begins at or above the read's end; with t descending, likewise below.  An index of a
loop inside stands for all the values that it takes there.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

from sourcead.analysis.builder import atom_type
from sourcead.analysis.chains import Chains
from sourcead.ir.nodes import (
    Atom,
    Call,
    Const,
    Index,
    Let,
    Loop,
    Operand,
    Range,
    Slice,
    Stmt,
    Sub,
    Update,
    Var,
    op_blocks,
)
from sourcead.ir.types import INT, Array, Scalar, rank


@dataclass(frozen=True)
class Affine:
    """slope * t + constant + a sum of values that the loop does not change."""

    slope: int
    constant: int
    rest: frozenset[tuple[Var, int]] = frozenset()

    def plus(self, other: Affine, sign: int = 1) -> Affine:
        rest = dict(self.rest)
        for v, k in other.rest:
            rest[v] = rest.get(v, 0) + sign * k
        kept = frozenset((v, k) for v, k in rest.items() if k)
        return Affine(self.slope + sign * other.slope, self.constant + sign * other.constant, kept)

    def times(self, k: int) -> Affine:
        return Affine(self.slope * k, self.constant * k, frozenset((v, c * k) for v, c in self.rest if c * k))


ONE = Affine(0, 1)
ZERO = Affine(0, 0)


@dataclass(frozen=True)
class Place:
    """Where a statement stands in a nest of loops: its number in order of the text, and the loops around it."""

    number: int
    loops: tuple[Stmt, ...]


class Nest:
    """A loop with all that is inside, asked which reads are never overwritten."""

    def __init__(self, loop: Stmt, chains: Chains):
        self.stmt = loop
        self.chains = chains
        self.places: dict[Stmt, Place] = {}
        self.definitions: dict[Var, Stmt | None] = {}
        self.updates: dict[Var, list[Stmt]] = {}
        self.indices: dict[Var, Stmt] = {}  # the index of a loop -> the loop
        self.written_as: dict[Var, Stmt] = {}  # a value -> the update that put it into an array
        self._places_written: dict[tuple[Var, Stmt], dict] = {}
        self._visit(loop, ())

    def _visit(self, stmt: Stmt, loops: tuple[Stmt, ...]) -> None:
        self.places[stmt] = Place(len(self.places), loops)
        self.definitions.update(dict.fromkeys(stmt.targets, stmt))
        op = stmt.op
        if isinstance(op, Update):
            self.updates.setdefault(self.chains.find(stmt.targets[0]), []).append(stmt)
            if op.mode == "set" and len(op.path) == 1 and isinstance(op.path[0], Sub) and isinstance(op.value, Var):
                self.written_as.setdefault(op.value, stmt)
        if isinstance(op, Loop):
            loops = (*loops, stmt)
            self.definitions.update(dict.fromkeys(op.params))
            if op.index is not None:
                self.definitions[op.index] = None
                self.indices[op.index] = stmt
        for block in op_blocks(op):
            for inner in block.stmts:
                self._visit(inner, loops)

    def finished(self, read: Stmt) -> Var | None:
        """The finished array from which a read can be repeated at any later time; None if it may be overwritten."""
        return self._finished(read.op.base, read.op.key, self.places.get(read))

    def read_back(self, value: Var) -> Index | None:
        """The read of a value that was written into an array and never overwritten there."""
        update = self.written_as.get(value)
        if update is None or not same_kind(value, update):
            return None
        place = self.places[update]
        key = update.op.path[0].key
        array = self._finished(update.op.base, key, Place(place.number + 1, place.loops), after=update)
        return None if array is None else Index(array, key)

    def _finished(self, base: Atom, key: Operand, place: Place | None, after: Stmt | None = None) -> Var | None:
        chain = self.chains.find(base)
        if chain is None or place is None or not isinstance(atom_type(base), Array):
            return None
        carrying = [loop for loop in place.loops if chain in self.chains.carried_by(loop)]
        if not carrying or not isinstance(carrying[0].op.domain, Range):
            return None
        outermost = carrying[0]
        axes = self.intervals(key, rank(atom_type(base)), outermost)
        if axes is None:
            return None
        for written, updates in self.places_written(chain, outermost).items():
            if not self.misses(written, updates, place, axes, outermost, after):
                return None
        return outermost.targets[self.chains.carried_by(outermost)[chain]]

    def places_written(self, chain: Var, loop: Stmt) -> dict[tuple | None, list[Stmt]]:
        """The updates of an array in a loop, by the intervals that they write; None: not known."""
        if (chain, loop) not in self._places_written:
            found = self._places_written[chain, loop] = {}
            for update in self.updates.get(chain, ()):
                if loop in self.places[update].loops:
                    path = update.op.path
                    known = len(path) == 1 and isinstance(path[0], Sub)
                    axes = self.intervals(path[0].key, rank(update.targets[0].type), loop) if known else None
                    found.setdefault(None if axes is None else tuple(axes), []).append(update)
        return self._places_written[chain, loop]

    def misses(
        self, written: tuple | None, updates: list[Stmt], place: Place, read: list, loop: Stmt, after: Stmt | None
    ) -> bool:
        """Whether no execution after the read of updates that write these intervals touches what was read."""
        if written is None:
            return False
        step = number(loop.op.domain.step)
        all_before = None
        for (r_low, r_high), (w_low, w_high) in zip(read, written):
            gap = difference(w_low, r_high) if step > 0 else difference(r_low, w_high)
            low = w_low if step > 0 else r_low
            if gap is None or low is None:
                continue
            if gap >= 0:
                return True
            if gap + abs(low.slope) * abs(step) >= 0:
                if all_before is None:
                    all_before = all(self.is_before(u, place, loop, after) for u in updates)
                if all_before:
                    return True
        return False

    def is_before(self, update: Stmt, place: Place, loop: Stmt, after: Stmt | None) -> bool:
        """Whether an update runs once in an iteration of the loop, before the read (`after`: the update read back)."""
        other = self.places[update]
        only_once = [a for a in other.loops if a in place.loops][-1] is loop  # no loop inside repeats both
        return only_once and (other.number < place.number or update is after)

    def intervals(self, key: Operand, axes: int | None, loop: Stmt) -> list | None:
        """For each axis of a subscript the interval [low, high) that it takes; bounds that are not known are None."""
        parts = list(key) if isinstance(key, tuple) else [key]
        if axes is None or len(parts) > axes or number(loop.op.domain.step) in (None, 0):
            return None
        found = []
        for part in parts:
            if isinstance(part, Slice):
                low = ZERO if part.lower is None else self.bounds(part.lower, loop)[0]
                high = None if part.upper is None else self.bounds(part.upper, loop)[1]
                plain = part.step is None or number(part.step) == 1
                found.append((low, high) if plain else (None, None))
            elif isinstance(part, tuple) or isinstance(part, Const) and type(part.value) is not int:
                return None
            else:
                low, high = self.bounds(part, loop) if atom_type(part) == INT else (None, None)
                if low is None and not (isinstance(atom_type(part), Scalar) and atom_type(part).kind == "int"):
                    return None
                found.append((low, None if high is None else high.plus(ONE)))
        return found

    def bounds(self, atom: Atom, loop: Stmt) -> tuple[Affine | None, Affine | None]:
        """The least and the greatest value of an index that is surely not negative, which would count from the end."""
        span = self.span(atom, loop)
        return span if span is not None and self.not_negative(span[0], loop) else (None, None)

    def not_negative(self, form: Affine, loop: Stmt) -> bool:
        """Whether an affine function of the loop's index is at least 0 in every iteration."""
        if form.rest or form.slope < 0:
            return False
        if form.slope == 0:
            return form.constant >= 0
        domain = loop.op.domain
        up = number(domain.step) > 0
        least = number(domain.start if up else domain.stop)
        return least is not None and form.slope * (least + (0 if up else 1)) + form.constant >= 0

    def span(self, atom: Atom, loop: Stmt, depth: int = 8) -> tuple[Affine, Affine] | None:
        """The least and the greatest value of a number in an iteration, as affine functions of the loop's index.

        The index of a loop inside runs from its start to its stop.
        """
        form = self.affine(atom, loop)
        if form is not None:
            return form, form
        if depth == 0 or not isinstance(atom, Var):
            return None
        inner = self.indices.get(atom)
        if inner is not None:
            if loop not in self.places[inner].loops or not isinstance(inner.op.domain, Range):
                return None
            domain = inner.op.domain
            start, stop = self.span(domain.start, loop, depth - 1), self.span(domain.stop, loop, depth - 1)
            step = number(domain.step)
            if start is None or stop is None or not step:
                return None
            return (start[0], stop[1].plus(ONE, -1)) if step > 0 else (stop[0].plus(ONE), start[1])
        definition = self.definitions.get(atom)
        if definition is None or loop not in self.places[definition].loops:
            return None
        match definition.op:
            case Let(value) if isinstance(value, (Var, Const)):
                return self.span(value, loop, depth - 1)
            case Call(fn, (a, b), ()) if fn in (operator.add, operator.sub):
                x, y = self.span(a, loop, depth - 1), self.span(b, loop, depth - 1)
                if x is None or y is None:
                    return None
                if fn is operator.add:
                    return x[0].plus(y[0]), x[1].plus(y[1])
                return x[0].plus(y[1], -1), x[1].plus(y[0], -1)
        return None

    def affine(self, atom: Atom, loop: Stmt, depth: int = 8) -> Affine | None:
        """A number as an affine function of the index of a loop; None if it is none."""
        if atom is loop.op.index:
            return Affine(1, 0)
        if isinstance(atom, Const):
            return Affine(0, atom.value) if type(atom.value) is int and not atom.live else None
        definition = self.definitions.get(atom, ...)
        if definition is ...:  # defined outside the nest
            return Affine(0, 0, frozenset({(atom, 1)})) if atom.type == INT else None
        if definition is None or depth == 0 or loop not in self.places[definition].loops:
            return None
        match definition.op:
            case Let(value) if isinstance(value, (Var, Const)):
                return self.affine(value, loop, depth - 1)
            case Call(fn, (a, b), ()) if fn in (operator.add, operator.sub):
                x, y = self.affine(a, loop, depth - 1), self.affine(b, loop, depth - 1)
                return None if x is None or y is None else x.plus(y, 1 if fn is operator.add else -1)
            case Call(operator.mul, (a, b), ()):
                x, y = self.affine(a, loop, depth - 1), self.affine(b, loop, depth - 1)
                for p, q in ((x, y), (y, x)):
                    if p is not None and q is not None and q.slope == 0 and not q.rest:
                        return p.times(q.constant)
        return None


def number(atom: Atom) -> int | None:
    """A literal integer."""
    return atom.value if isinstance(atom, Const) and type(atom.value) is int and not atom.live else None


def difference(a: Affine | None, b: Affine | None) -> int | None:
    """`a - b` at the same iteration, if it is a number and neither runs away from the other."""
    if a is None or b is None:
        return None
    gap = a.plus(b, -1)
    return gap.constant if gap.slope == 0 and not gap.rest and a.slope > 0 else None


def same_kind(value: Var, update: Stmt) -> bool:
    """Whether a value comes back from the array as it was written: same dtype, not broadcast."""
    t, array = value.type, update.targets[0].type
    if not isinstance(array, Array) or array.dtype is None or array.dims is None:
        return False
    key = update.op.path[0].key
    parts = key if isinstance(key, tuple) else (key,)
    left = len(array.dims) - sum(not isinstance(p, Slice) for p in parts)
    if isinstance(t, Scalar):
        return left == 0 and (t.dtype == array.dtype or t.kind == "float" and t.dtype is None and str(array.dtype) == "float64")
    from sourcead.analysis.infer import Arg, infer_index

    if not isinstance(t, Array) or t.dtype is None or t.dtype != array.dtype or any(isinstance(p, Slice) for p in parts):
        return False
    part = infer_index(array, tuple(Arg(atom_type(p)) for p in parts))
    return isinstance(part, Array) and part.dims is not None and t.dims is not None and same_dims(part.dims, t.dims)


def same_dims(a: tuple, b: tuple) -> bool:
    """Whether a value of dims `b` fills a part of dims `a` without broadcasting: assigned there, no dim of it is one."""
    return len(a) == len(b) and all(n == m or (m != 1 if isinstance(m, int) else m.many) for n, m in zip(a, b))
