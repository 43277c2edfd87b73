"""Affine forms of integers, such as `2 * i + n - 1`, and lower bounds of such forms in a nest of loops.

`Subscripts` tells by such forms whether, and in which iterations, two subscripts in a loop name the same element of an array:

    for i in range(1, n):
        a[i + 1] += ...         the element that a[i] names one iteration later
        a[i] = ...
        b[k, i], b[j, i]        never the same, if k < j is known from the loops around
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from sourcead.ir.frozen import frozen
from sourcead.ir.nodes import Atom, Block, Call, Const, Let, Loop, Op, Range, Var
from sourcead.ir.types import INT
from sourcead.ir.walk import places


@frozen()
class Affine:
    """A constant plus a sum of terms, each a variable times a factor other than zero."""

    constant: int = 0
    terms: frozenset[tuple[Hashable, int]] = frozenset()

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """Return the sum of this form and `factor` times another."""
        terms = dict(self.terms)
        for v, k in other.terms:
            terms[v] = terms.get(v, 0) + factor * k
        return Affine(self.constant + factor * other.constant, frozenset((v, k) for v, k in terms.items() if k))

    def times(self, factor: int) -> Affine:
        """Return `factor` times this form."""
        return Affine().plus(self, factor)

    def renamed(self, f: Callable[[Hashable], Hashable]) -> Affine:
        """Return the form with each variable v replaced by f(v)."""
        return Affine(self.constant, frozenset((f(v), k) for v, k in self.terms))

    def factor(self, v: Hashable) -> int:
        """Return the factor of a variable, 0 if it does not occur."""
        return dict(self.terms).get(v, 0)

    def replaced(self, v: Hashable, by: Affine) -> Affine:
        """Return the form with a variable replaced by another form."""
        k = self.factor(v)
        return self.plus(variable(v), -k).plus(by, k)


def variable(v: Hashable) -> Affine:
    return Affine(0, frozenset({(v, 1)}))


def least(
    form: Affine, depth: Callable[[Hashable], int | None], bounds: Callable[[Hashable], tuple[Affine | None, Affine | None]]
) -> int | None:
    """Return a lower bound of an affine form, or None if none is found.

    Args:
        form: the affine form.
        depth: gives the number of loops around an index, or None for a variable that is not an index.
        bounds: gives the least and the greatest value of an index, as forms in the indices of outer loops.

    Indices are replaced by the end of their range at which the form is smaller, those of the innermost loops first.
    """
    while form.terms:
        indices = [(depth(v), v) for v, _ in form.terms if depth(v) is not None]
        if not indices:
            return None
        _, v = max(indices, key=lambda pair: pair[0])
        low, high = bounds(v)
        end = low if form.factor(v) > 0 else high
        if end is None:
            return None
        form = form.replaced(v, end)
    return form.constant


@dataclass(frozen=True)
class Counted:
    """The range of a loop index, and the depth of its loop: 1 for an outermost loop."""

    domain: Range
    depth: int


@dataclass(frozen=True)
class Later:
    """A variable in a later execution of a statement, where its value may differ from that in the earlier execution."""

    var: Var


def own(v: Var | Later) -> Var:
    return v.var if isinstance(v, Later) else v


class Forms:
    """Derives the affine forms of a program's integers from the statements that define them.

    Attributes:
        definitions: maps each variable to the op that computes it; an integer that is in neither map counts as a variable.
        indices: the indices of counted loops.
    """

    def __init__(self):
        self.definitions: dict[Var, Op] = {}
        self.indices: dict[Var, Counted] = {}
        self.forms: dict[Var, Affine | None] = {}

    def count(self, loop: Loop, depth: int) -> None:
        """Register a loop over a range."""
        self.indices[loop.index] = Counted(loop.domain, depth)

    def from_zero(self, atom: Atom) -> Affine | None:
        """Return the form of a subscript if it is known not to be negative, else None, because a negative one counts from the end."""
        form = self.affine(atom)
        lowest = None if form is None else least(form, self.depth, self.range_of)
        return form if lowest is not None and lowest >= 0 else None

    def depth(self, v: Var | Later) -> int | None:
        return self.indices[own(v)].depth if own(v) in self.indices else None

    def range_of(self, index: Var | Later) -> tuple[Affine | None, Affine | None]:
        """Return the least and the greatest value of a loop index, None where they are unknown."""
        domain = self.indices[own(index)].domain
        step, start, stop = number(domain.step), self.affine(domain.start), self.affine(domain.stop)
        if not step:
            return None, None
        last = None if stop is None else stop.plus(Affine(1), -1 if step > 0 else 1)
        return (start, last) if step > 0 else (last, start)

    def affine(self, atom: Atom) -> Affine | None:
        """Return the affine form of an integer, or None if it has none."""
        if isinstance(atom, Const):
            return Affine(atom.value) if type(atom.value) is int and not atom.live else None
        if atom not in self.forms:
            self.forms[atom] = self._affine(atom)
        return self.forms[atom]

    def _affine(self, v: Var) -> Affine | None:
        match self.definitions.get(v):
            case Let(value) if isinstance(value, (Var, Const)):
                return self.affine(value)
            case Call(fn, (a, b), ()) if fn in (operator.add, operator.sub):
                x, y = self.affine(a), self.affine(b)
                return None if x is None or y is None else x.plus(y, 1 if fn is operator.add else -1)
            case Call(operator.mul, (a, b), ()):
                x, y = self.affine(a), self.affine(b)
                for p, q in ((x, y), (y, x)):
                    if p is not None and q is not None and not q.terms:
                        return p.times(q.constant)
        return variable(v) if v.type == INT else None


def number(atom: Atom) -> int | None:
    """Return the value of a literal integer, or None for other atoms."""
    return atom.value if isinstance(atom, Const) and type(atom.value) is int and not atom.live else None


class Meeting(enum.Enum):
    """In which iterations two subscripts name the same element."""

    NEVER = "in no two"
    EVERY = "in any two"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class After:
    """The second subscript names the element of the first when its index is greater by this amount."""

    steps: int


class Subscripts(Forms):
    """Compares subscripts in a function by their affine forms."""

    def __init__(self, block: Block):
        super().__init__()
        for place in places(block):
            op = place.stmt.op
            self.definitions.update(dict.fromkeys(place.stmt.targets, op))
            if isinstance(op, Loop) and isinstance(op.domain, Range):
                self.count(op, len(place.loops) + 1)

    def meeting(self, first: tuple[Atom, ...], second: tuple[Atom, ...], index: Var) -> Meeting | After:
        """Compare the elements that `first` and `second` name in two iterations of the loop with this index.

        If the two can meet at one distance only, they are assumed to meet there.
        """
        found = [self.on_axis(self.from_zero(a), self.from_zero(b), index) for a, b in zip(first, second)]
        distances = {m for m in found if isinstance(m, After)}
        if Meeting.NEVER in found or len(distances) > 1:
            return Meeting.NEVER
        if distances:
            return distances.pop()
        return Meeting.EVERY if set(found) <= {Meeting.EVERY} else Meeting.UNKNOWN

    def on_axis(self, a: Affine | None, b: Affine | None, index: Var) -> Meeting | After:
        if a is None or b is None:
            return Meeting.UNKNOWN
        gap = a.plus(b, -1)
        if not gap.terms:
            slope = a.factor(index)
            if slope == 0:
                return Meeting.NEVER if gap.constant else Meeting.EVERY
            return Meeting.NEVER if gap.constant % slope else After(gap.constant // slope)
        gap = a.plus(b.renamed(lambda v: Later(v) if v is index else v), -1)
        return Meeting.NEVER if any(self.at_least_one(g) for g in (gap, gap.times(-1))) else Meeting.UNKNOWN

    def at_least_one(self, form: Affine) -> bool:
        """Return whether an affine form is positive in all iterations; `Later(i)` is the index i in another iteration."""
        found = least(form, self.depth, self.range_of)
        return found is not None and found >= 1

    def is_never_empty(self, domain: Range) -> bool:
        """Return whether a loop is known to run at least once."""
        start, stop, step = self.affine(domain.start), self.affine(domain.stop), number(domain.step)
        if start is None or stop is None or not step:
            return False
        return self.at_least_one(stop.plus(start, -1).times(1 if step > 0 else -1))

    def advances(self, key: Iterable[Atom], index: Var) -> bool:
        """Return whether consecutive iterations access adjacent elements of an array in C order."""
        *outer, last = (self.affine(a) for a in key)
        return last is not None and abs(last.factor(index)) == 1 and all(a is not None and not a.factor(index) for a in outer)
