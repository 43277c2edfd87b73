"""What the conditions of branches tell at a place of a program: those of the branches around it, and what follows because no path raised.

    if c: (if d: raise ...)         after it, c and d do not hold together: inside a later branch on c, d is false
"""

import operator
from collections.abc import Generator, Iterable

from sourcead.ir.nodes import Atom, Block, Branch, Call, Const, Effect, Op, Stmt, Var

Conditions = frozenset[tuple[Atom, bool]]
Excluded = tuple[Conditions, ...]  # conditions of which not all hold, because an error was raised where they did
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


def implied(given: Conditions, excluded: Iterable[Conditions]) -> Conditions:
    """Return the conditions that hold where those `given` do."""
    before = None
    while given != before:
        before = given
        for together in excluded:
            rest = together - given
            if len(rest) == 1:
                [(cond, value)] = rest
                given |= {(cond, not value)}
            elif not rest:  # all of them hold: nothing gets here
                given |= {(cond, not value) for cond, value in together}
    return given


def settled(known: Conditions, excluded: Excluded) -> tuple[Conditions, Excluded]:
    """Return the conditions that hold where those `known` do, and what of the `excluded` may tell more where others hold as well."""
    known = implied(known, excluded)
    return known, tuple(e for e in excluded if not any((cond, not value) in known for cond, value in e))


def either(ways: Ways, more: Ways) -> Ways:
    """Return the ways of both, or what all of them have in common if there are many."""
    found = ways | more
    found = frozenset(way for way in found if not any(other < way for other in found))
    return found if len(found) <= MOST_WAYS else frozenset({frozenset.intersection(*found)})


def is_possible(conditions: Conditions) -> bool:
    """Return whether no condition must be true and false at once."""
    return not any((c, not value) in conditions for c, value in conditions)


def with_conditions(
    block: Block, made: dict[Var, Stmt], given: Conditions = NO_CONDITIONS, known: Conditions = NO_CONDITIONS, excluded: Excluded = ()
) -> Generator[tuple[Stmt, Conditions], None, Excluded]:
    """Yield each statement, before those inside it, with what is known to hold where it runs; return what the block excludes.

    Args:
        block: the block.
        made: the definitions of all variables.
        given: the conditions of the branches around the block.
        known: these, and what follows from them.
        excluded: conditions that are known not to hold together.
    """
    known, excluded = settled(known, excluded)
    all_new: Excluded = ()
    for stmt in block.stmts:
        yield stmt, known
        new: Excluded = (given,) if is_raise(stmt) else ()
        for inner, taken in inside(stmt.op, made, known):
            found = yield from with_conditions(inner, made, given | taken, known | taken, excluded)
            new += found if isinstance(stmt.op, Branch) else ()  # another block may not run
        if new:
            all_new += new
            known, excluded = settled(known, excluded + new)
    return all_new


def is_raise(stmt: Stmt) -> bool:
    """Return whether a statement raises an error."""
    return isinstance(stmt.op, Effect) and stmt.op.kind == "raise"
