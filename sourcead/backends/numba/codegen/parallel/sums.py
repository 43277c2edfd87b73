"""Variants of a loop that only grow: sums, each iteration of which adds a number that does not depend on the sum, and counters.

    s = s0                                       k = k0
    for i in range(n):                           for i in range(n):
        if ...: s1 = s + x[i]                        stack[k] = ...
        yield s1                                     k1 = k + 1;  yield k1

A part of the iterations may begin with the sum 0.0, and with the counter k0 + first * 1; the sums of all parts are added in the end.
"""

import operator
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from sourcead.analysis.affine import number
from sourcead.ir.nodes import Atom, Block, Branch, Call, Const, Let, Loop, Range, Stmt, Update, Var
from sourcead.ir.walk import count_reads, definitions


@dataclass(frozen=True)
class Advance:
    """By how much each iteration of a loop moves a counter: a number, and numbers of iterations of inner loops with factors.

    Attributes:
        constant: the number.
        trips: the domains of the inner loops, whose ends no iteration changes, each with its factor.
        versions: the versions of the counter in an iteration that its result is computed of.
        falls, rises: whether some step makes it smaller, or greater.
    """

    constant: int = 0
    trips: tuple[tuple[Range, int], ...] = ()
    versions: frozenset[Var] = frozenset()
    falls: bool = False
    rises: bool = False

    def plus(self, other: "Advance", factor: int = 1) -> "Advance":
        """Return the sum of two advances, the other one times a factor."""
        return Advance(
            self.constant + factor * other.constant,
            self.trips + tuple((domain, factor * k) for domain, k in other.trips),
            self.versions | other.versions, self.falls or other.falls, self.rises or other.rises,
        )  # fmt: skip

    def is_as(self, other: "Advance") -> bool:
        """Return whether two advances are the same number."""
        return self.constant == other.constant and Counter(self.trips) == Counter(other.trips)


@dataclass(eq=False)
class Growth:
    """Finds sums and counters among the variants of a loop.

    Attributes:
        loop: the loop.
        inside: the variables that an iteration defines.
    """

    loop: Loop
    inside: frozenset[Var]
    made: dict[Var, Stmt] = field(init=False)
    reads: Counter = field(init=False)

    def __post_init__(self):
        self.made, self.reads = definitions(self.loop.body), Counter(count_reads(self.loop.body))

    def is_sum(self, param: Var, result: Atom) -> bool:
        """Return whether an iteration only adds to a variant, or subtracts from it, and reads it for nothing else."""
        steps = self._steps(result, param)
        return steps is not None and all(self.reads[v] == n for v, n in steps.items())

    def _steps(self, result: Atom, source: Var) -> Counter | None:
        """Return how often each version is read on the ways from a variant to a result of its block; None if it is no sum."""
        if not isinstance(result, Var):
            return None
        if result is source:
            return Counter([source])
        stmt = self.made.get(result)
        before: Iterable[tuple[Atom, Var]]
        match stmt.op if stmt is not None else None:
            case Call(operator.add, (a, b), ()):
                for one in (a, b):
                    if (found := self._steps(one, source)) is not None:
                        return found + Counter([result])
                return None
            case Call(operator.sub, (a, _), ()) | Update(a, (), _, "add" | "sub") | Let(a):
                before = [(a, source)]
            case Branch(_, then, orelse):
                k = stmt.targets.index(result)
                before = [(then.results[k], source), (orelse.results[k], source)]
            case Loop(_, _, params, inits, body):
                k = stmt.targets.index(result)
                before = [(inits[k], source), (body.results[k], params[k])]
            case _:
                return None
        total = Counter([result])
        for atom, of in before:
            found = self._steps(atom, of)
            if found is None:
                return None
            total += found
        return total

    def advance(self, result: Atom, source: Var) -> Advance | None:
        """Return by how much an iteration moves a counter, None if that is not the same in each iteration."""
        if not isinstance(result, Var):
            return None
        own = Advance(versions=frozenset([result]))
        if result is source:
            return own
        stmt = self.made.get(result)
        match stmt.op if stmt is not None else None:
            case Call(operator.add, (a, Const() as b), ()) | Call(operator.add, (Const() as b, a), ()) if number(b) is not None:
                return self._moved(a, source, own, number(b))
            case Call(operator.sub, (a, Const() as b), ()) if number(b) is not None:
                return self._moved(a, source, own, -number(b))
            case Let(a):
                return self._moved(a, source, own, 0)
            case Branch(_, then, orelse):
                k = stmt.targets.index(result)
                first, second = self.advance(then.results[k], source), self.advance(orelse.results[k], source)
                if first is None or second is None or not first.is_as(second):
                    return None
                return own.plus(first).plus(second).plus(second, -1)
            case Loop(Range() as domain, _, params, inits, body, None):
                k = stmt.targets.index(result)
                before, each = self.advance(inits[k], source), self.advance(body.results[k], params[k])
                if before is None or each is None or each.trips or not self.is_fixed(domain):
                    return None
                total = before.plus(own).plus(each).plus(Advance(each.constant), -1)
                return total.plus(Advance(trips=((domain, each.constant),)))
        return None

    def _moved(self, atom: Atom, source: Var, own: Advance, by: int) -> Advance | None:
        before = self.advance(atom, source)
        return None if before is None else before.plus(own).plus(Advance(by, falls=by < 0, rises=by > 0))

    def is_fixed(self, domain: Range) -> bool:
        """Return whether an inner loop has the same number of iterations in each iteration of this one."""
        return all(a not in self.inside for a in (domain.start, domain.stop, domain.step))


def moved_behind(block: Block, at: Stmt, version: Var, advance: Advance) -> bool:
    """Return whether a block moves a version of a counter upward, behind a statement of the block."""
    behind = block.stmts[block.stmts.index(at) + 1 :]
    for stmt in behind:
        match stmt.op:
            case Call(operator.add, (a, Const() as b), ()) if a is version and (number(b) or 0) > 0 and stmt.targets[0] in advance.versions:
                return True
    return False
