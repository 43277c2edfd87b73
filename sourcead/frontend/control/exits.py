"""The ways in which control leaves a statement, a loop or a function.

An exit from a loop is data: the loop carries a flag that is false at the beginning of each iteration and ends the loop when true
(`syntax/early_exits.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from sourcead.frontend.core import FALSE, Flag, Lowering, Scope, Value

NEXT = object()  # control leaves a statement for the next iteration


@dataclass(frozen=True, eq=False)
class Return:
    """The exit of a statement that returns `value` from the function."""

    value: Value


@dataclass(frozen=True)
class Exits:
    """The exits of a loop that its syntax contains, and the flag that ends it, None if only the end of its domain does."""

    breaks: bool
    returns: list[gast.Return]
    leave: Flag | None


NO_EXITS = Exits(False, [], None)


def flag(scope: Scope, name: str) -> Flag:
    """Return a function's flag `returned` or `result`."""
    return scope.exits.setdefault(name, Flag(name))


def enter(lo: Lowering, exits: Exits) -> None:
    """Set the flags of a loop's exits to false before the loop."""
    if exits.returns:
        lo.set(lo.scope.names, flag(lo.scope, "returned"), FALSE)
    go_on(lo, exits)


def go_on(lo: Lowering, exits: Exits) -> None:
    """Set the flag that ends the loop to false at the beginning of an iteration."""
    if exits.leave is not None:
        lo.set(lo.scope.names, exits.leave, FALSE)


def is_endless(node) -> bool:
    """Return whether a statement is `while True` or a `while` of another true constant."""
    return isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and bool(node.test.value)
