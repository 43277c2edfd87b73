"""TODO"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from sourcead.frontend.core import FALSE, Flag, Lowering, Scope, Value


@dataclass(frozen=True)
class Exits:
    """How control leaves a loop, judged by its syntax, and the flag that ends it (None if only its domain does)."""

    breaks: bool
    returns: list[gast.Return]
    leave: Flag | None


def exits_of(lo: Lowering, node) -> Exits:
    """The exits of a loop of the function being lowered."""
    known = lo.scope.exits
    if node not in known:
        breaks, returns = False, []
        todo = [(n, True) for n in getattr(node, "body", ())]
        while todo:
            n, own = todo.pop()
            breaks = breaks or own and isinstance(n, gast.Break)
            if isinstance(n, gast.Return):
                returns.append(n)
            if isinstance(n, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
                continue
            if isinstance(n, (gast.For, gast.While)):
                todo += [(child, False) for child in n.body] + [(child, own) for child in n.orelse]
                continue
            todo += [(child, own) for child in gast.iter_child_nodes(n)]
        leave = Flag("done") if breaks else flag(lo.scope, "returned") if returns else None
        known[node] = Exits(breaks, returns, leave)
    return known[node]


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


@dataclass(frozen=True, eq=False)
class Return:
    value: Value


NEXT = object()
