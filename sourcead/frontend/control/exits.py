"""How control leaves a statement, a loop or a function.

What leaves a loop is data: a flag, false at the beginning of each iteration, that the loop carries and that ends it
(`syntax/early_exits.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from sourcead.frontend.core import FALSE, Flag, Lowering, Scope, Value

NEXT = object()  # how control leaves a statement: to the next iteration


@dataclass(frozen=True, eq=False)
class Return:
    """How control leaves a statement: out of the function."""

    value: Value


@dataclass(frozen=True)
class Exits:
    """How control leaves a loop, judged by its syntax, and the flag that ends it (None if only its domain does)."""

    breaks: bool
    returns: list[gast.Return]
    leave: Flag | None


NO_EXITS = Exits(False, [], None)


def flag(scope: Scope, name: str) -> Flag:
    """The flag of this name of a function: `returned`, or `result`."""
    return scope.exits.setdefault(name, Flag(name))


def enter(lo: Lowering, exits: Exits) -> None:
    """Before a loop: nothing has left it yet."""
    if exits.returns:
        lo.set(lo.scope.names, flag(lo.scope, "returned"), FALSE)
    go_on(lo, exits)


def go_on(lo: Lowering, exits: Exits) -> None:
    """At the beginning of an iteration: nothing has left the loop."""
    if exits.leave is not None:
        lo.set(lo.scope.names, exits.leave, FALSE)


def is_endless(node) -> bool:
    """Whether this is `while True`."""
    return isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and bool(node.test.value)
