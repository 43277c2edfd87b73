"""What the conditions of branches tell at a place of a program: those of the branches around it, and what follows because no path raised.

    if c: (if d: raise ...)         after it, c and d do not hold together: inside a later branch on c, d is false
"""

import operator
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set

from sourcead.ir.nodes import Atom, Block, Branch, Call, Const, Effect, Op, Stmt, Var

Conditions = frozenset[tuple[Atom, bool]]
NO_CONDITIONS: Conditions = frozenset()
Ways = frozenset[Conditions]  # conditions of which, in one of the ways, all hold
MOST_WAYS = 8


def raises(block: Block) -> bool:
    """Return whether control never reaches the end of a block."""
    return bool(block.stmts) and surely_raises(block.stmts[-1].op)


def surely_raises(op: Op) -> bool:
    """Return whether control never goes on behind an op."""
    return isinstance(op, Effect) and op.kind == "raise" or isinstance(op, Branch) and raises(op.then) and raises(op.orelse)


def inside(op: Op, made: dict[Var, Stmt], given: Conditions) -> list[tuple[Block, Conditions]]:
    """Return the blocks of an op, which runs where the conditions `given` hold, the arms of a branch with the condition that each adds."""
    if not isinstance(op, Branch):
        return [(b, NO_CONDITIONS) for b in op.blocks]
    cond, value = meaning(op.cond, made, given)
    return [(op.then, frozenset({(cond, value)})), (op.orelse, frozenset({(cond, not value)}))]


def meaning(cond: Atom, made: dict[Var, Stmt], given: Conditions) -> tuple[Atom, bool]:
    """Return the condition that a variable is, and whether it is this or its negation.

        d = not c                                           ->      c, False
        d = if c: yield e else: yield None, given c         ->      e, True
    """
    value = True
    while cond in made:
        stmt = made[cond]
        match stmt.op:
            case Call(operator.not_, (negated,)):
                cond, value = negated, not value
                continue
            case Branch(of, then, orelse):
                known, holds = meaning(of, made, given)
                arms = [arm for arm, taken in ((then, holds), (orelse, not holds)) if (known, not taken) not in given and not raises(arm)]
                if len(arms) == 1:
                    cond = arms[0].results[stmt.targets.index(cond)]
                    continue
        break
    return cond, value


def known_truth(cond: Atom, made: dict[Var, Stmt], given: Conditions) -> bool | None:
    """Return whether a variable or constant is true where the conditions `given` hold, or None if that is not known."""
    cond, value = meaning(cond, made, given)
    if isinstance(cond, Const):
        return cond.value is value if isinstance(cond.value, bool) else None
    return value if (cond, True) in given else not value if (cond, False) in given else None


class Excluded:
    """Sets of conditions of which not all hold, because an error was raised where they did, in the order in which they were found."""

    def __init__(self):
        self.found: list[Conditions] = []
        self.about: dict[Atom, list[Conditions]] = defaultdict(list)

    def learn(self, known: Conditions, together: Conditions) -> Conditions:
        """Add a set, and return what holds where the conditions `known` do."""
        self.found.append(together)
        for cond in {cond for cond, _ in together}:
            self.about[cond].append(together)
        return self.after(known, self.found[-1:])

    def forget(self, count: int) -> None:
        """Remove all but the first sets."""
        while len(self.found) > count:
            for cond in {cond for cond, _ in self.found.pop()}:
                self.about[cond].pop()

    def after(self, known: Conditions, sets: Iterable[Conditions]) -> Conditions:
        """Return what holds where the conditions `known` do, and everything that followed from them without some of the sets."""
        for together in sets:
            known = self.implied(known, negated(together, known))
        return known

    def implied(self, known: Conditions, added: Conditions) -> Conditions:
        """Return the conditions `known`, which hold with everything that follows from them, those `added`, and what follows from both."""
        todo = list(added - known)
        holding = {*known, *todo}
        while todo:
            for together in self.about.get(todo.pop()[0], ()):
                new = negated(together, holding) - holding
                holding |= new
                todo += new
        return frozenset(holding) if len(holding) > len(known) else known


def negated(together: Conditions, holding: Set) -> Conditions:
    """Return what holds where the conditions `holding` do, because those `together` do not hold all."""
    rest = [condition for condition in together if condition not in holding]
    if len(rest) > 1:
        return NO_CONDITIONS
    return frozenset({(cond, not value) for cond, value in rest or together})  # if all of them hold, nothing gets here


def either(ways: Ways, more: Ways) -> Ways:
    """Return the ways of both, or what all of them have in common if there are many."""
    found = ways | more
    found = frozenset(way for way in found if not any(other < way for other in found))
    return found if len(found) <= MOST_WAYS else frozenset({frozenset.intersection(*found)})


def is_possible(conditions: Conditions, before: Conditions = NO_CONDITIONS) -> bool:
    """Return whether no condition must be true and false at once; of those `before` that is known."""
    return not any((c, not value) in conditions for c, value in conditions - before)


def with_conditions(
    block: Block, made: dict[Var, Stmt], given: Conditions = NO_CONDITIONS, known: Conditions = NO_CONDITIONS,
    excluded: Excluded | None = None,
) -> Iterator[tuple[Stmt, Conditions]]:  # fmt: skip
    """Yield each statement, before those inside it, with what is known to hold where it runs.

    Args:
        block: the block.
        made: the definitions of all variables.
        given: the conditions of the branches around the block.
        known: these, and what follows from them.
        excluded: conditions that are known not to hold together, to which those of the block are added.
    """
    excluded = Excluded() if excluded is None else excluded
    for stmt in block.stmts:
        yield stmt, known
        before = len(excluded.found)
        for inner, taken in inside(stmt.op, made, known):
            yield from with_conditions(inner, made, given | taken, excluded.implied(known, taken), excluded)
        known = learned(stmt, given, known, excluded, before)


def learned(stmt: Stmt, given: Conditions, known: Conditions, excluded: Excluded, before: int) -> Conditions:
    """Return what is known after a statement, whose blocks have added to what is excluded since there were `before` sets."""
    if is_raise(stmt):
        return excluded.learn(known, given)
    if not isinstance(stmt.op, Branch):  # another block may not run
        excluded.forget(before)
    return excluded.after(known, excluded.found[before:])


def is_raise(stmt: Stmt) -> bool:
    """Return whether a statement raises an error."""
    return isinstance(stmt.op, Effect) and stmt.op.kind == "raise"
