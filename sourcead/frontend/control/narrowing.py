"""Know in an arm of a branch which of a few constants a value is, such as the name of the case that the branches before have chosen.

    case = "polar" if r > 0 else ""             the constants that `case` may be: "polar", ""
    if case:                                    in this arm it is "polar"
        f = table[case]
"""

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sourcead.frontend import core
from sourcead.frontend.core import Lowering
from sourcead.ir.nodes import Atom, Call, Const, Var

MOST = 64
TESTS = {operator.eq: operator.eq, operator.ne: operator.ne, operator.is_: operator.is_, operator.is_not: operator.is_not}


def constants(lo: Lowering, atom: Atom) -> tuple[Const, ...]:
    """Return the constants that an atom may be, one of which it is; none if they are not known, or are data."""
    found, value = core.known(lo, atom)
    if found:
        return (Const(value),) if core.is_code(value) else ()
    return lo.build.one_of.get(atom, ())


def note(lo: Lowering, var: Var, a: Atom, b: Atom) -> None:
    """Note which constants the result of a branch may be, given that of each arm."""
    arms = constants(lo, a), constants(lo, b)
    if all(arms) and len(arms[0]) + len(arms[1]) <= MOST:
        lo.build.one_of[var] = arms[0] + arms[1]


def condition(lo: Lowering, cond: Atom) -> tuple[Atom, Callable[[Any], bool]] | None:
    """Return the atom that a condition asks about and the test that it is, or None if it asks for something else."""
    if cond in lo.build.one_of:
        return cond, bool
    match lo.build.made_by.get(cond):
        case Call(fn, (inner,), ()) if fn is operator.not_ and (found := condition(lo, inner)) is not None:
            return found[0], lambda value: not found[1](value)
        case Call(fn, (a, Const(other, live=False)) | (Const(other, live=False), a), ()) if fn in TESTS and a in lo.build.one_of:
            return a, lambda value: fn(value, other)
    return None


@contextmanager
def holding(lo: Lowering, cond: Atom, truth: bool) -> Iterator[None]:
    """Know, while the body runs, what follows from a condition that is true or false there."""
    asked = condition(lo, cond) if isinstance(cond, Var) else None
    if asked is None:
        yield
        return
    atom, test = asked
    before = lo.build.one_of[atom]
    left = tuple(c for c in before if bool(test(c.value)) is truth)
    lo.build.one_of[atom] = left or before
    only = left and all(core.same_constant(c, left[0]) for c in left)
    if only:
        lo.build.known[atom] = left[0].value
    try:
        yield
    finally:
        lo.build.one_of[atom] = before
        if only:
            lo.build.known.pop(atom, None)
