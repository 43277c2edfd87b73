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
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from sourcead.ir.affine import Affine, variable
from sourcead.ir.nodes import Atom, Block, Call, Const, Let, Loop, Op, Range, Var
from sourcead.ir.types import INT
from sourcead.ir.walk import places


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

    def slope(self, key: tuple[Atom, ...], index: Var) -> int:
        """Return 1 or -1 if consecutive iterations access adjacent elements of an array in C order, upward or downward, else 0."""
        *outer, last = (self.affine(a) for a in key)
        if last is None or any(a is None or a.factor(index) for a in outer):
            return 0
        return last.factor(index) if abs(last.factor(index)) == 1 else 0

    def row(self, key: tuple[Atom, ...]) -> tuple:
        """Return what is equal for two subscripts if the elements that they name keep a distance that is known, in C order."""
        *outer, last = ((self.affine(a) or a) for a in key)
        return *outer, last.terms if isinstance(last, Affine) else last
