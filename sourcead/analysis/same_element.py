"""Whether, and in which iterations, two subscripts in a loop name the same element of an array.

    for i in range(1, n):
        a[i + 1] += ...         the element that a[i] names one iteration later
        a[i] = ...
        b[k, i], b[j, i]        never the same, if k < j is known from the loops around
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from sourcead.analysis.affine import Affine, Forms, least, number
from sourcead.analysis.overwrites import Later
from sourcead.ir.nodes import Atom, Block, Loop, Range, Var
from sourcead.ir.walk import op_blocks


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
        self._visit(block, 0)

    def _visit(self, block: Block, depth: int) -> None:
        for stmt in block.stmts:
            self.definitions.update(dict.fromkeys(stmt.targets, stmt.op))
            inside = depth
            if isinstance(stmt.op, Loop):
                inside += 1
                if isinstance(stmt.op.domain, Range):
                    self.count(stmt.op, inside)
            for inner in op_blocks(stmt.op):
                self._visit(inner, inside)

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

        def depth(v) -> int | None:
            return self.depth(v.var if isinstance(v, Later) else v)

        def bounds(v):
            return self.range_of(v.var if isinstance(v, Later) else v)

        found = least(form, depth, bounds)
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


