"""Leaving a loop early: `break`, `return`, and `else` on loops.

Control that leaves is data: a flag, false at the beginning of each iteration, that the loop carries and that ends it.

    for x in xs:                    loop (done = False, returned = False, result = undefined) for x in xs until done:
        if p(x):                        done, returned, result = if p(x): True, True, x
            return x                                             else: rest of the body; False, False, undefined
    else:                           if returned: result
        after                       else: (if not done: after); the rest of the function

A loop that is left by `return` alone needs no flag besides `returned`.
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from sourcead.frontend.core import Lowering, Scope
from sourcead.frontend.values.cells import Value
from sourcead.ir.nodes import Const

FALSE, TRUE = Const(False), Const(True)


class Flag(str):
    """A variable of a scope that no name of the user's can be mistaken for."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


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


def set_break(lo: Lowering) -> None:
    """Control leaves the innermost loop."""
    lo.set(lo.scope.names, lo.scope.leaves[-1], TRUE)


def set_return(lo: Lowering, value: Value, again: bool) -> None:
    """Control leaves the function from inside a loop; `again`: it has left a loop inside this one in that way."""
    returned = flag(lo.scope, "returned")
    if not again:
        lo.set(lo.scope.names, flag(lo.scope, "result"), value)
        lo.set(lo.scope.names, returned, TRUE)
    if lo.scope.leaves[-1] is not returned:
        set_break(lo)


def after_loop(lo: Lowering, node) -> list[gast.AST]:
    """What follows a loop before the next statement: leaving further, `else`."""
    exits = exits_of(lo, node)
    if not exits.returns:
        return unless(exits.leave, node.orelse, node) if exits.breaks else list(node.orelse)
    result = gast.Return(gast.Name(flag(lo.scope, "result"), gast.Load(), None, None))
    result.stands_for = exits.returns[0]
    if is_endless(node) and not exits.breaks:
        return [result]
    after = unless(exits.leave, node.orelse, node) if exits.breaks else list(node.orelse)
    return [if_flag(flag(lo.scope, "returned"), [result], [], node), *after]


def tested_inside(lo: Lowering, node: gast.While) -> gast.While:
    """`while test: body` as `while True: if not test: break; body`, for a test that assigns names."""
    if (node, "inside") not in lo.scope.exits:
        stop = gast.If(gast.UnaryOp(gast.Not(), node.test), [gast.Break()], [])
        stop.stands_for = node
        made = gast.While(gast.Constant(True, None), [stop, *node.body], [])
        made.stands_for = node
        lo.scope.exits[node, "inside"] = made
    return lo.scope.exits[node, "inside"]


def is_endless(node) -> bool:
    """Whether this is `while True`."""
    return isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and bool(node.test.value)


def unless(left: Flag, body: list[gast.AST], node) -> list[gast.AST]:
    """`if not left: body`."""
    return [if_flag(left, [], body, node)] if body else []


def if_flag(test: Flag, body: list[gast.AST], orelse: list[gast.AST], node) -> gast.If:
    """`if flag: body else: orelse`, which stands for a statement of the user's in messages and comments."""
    made = gast.If(gast.Name(test, gast.Load(), None, None), body, orelse)
    made.stands_for = node
    return made
