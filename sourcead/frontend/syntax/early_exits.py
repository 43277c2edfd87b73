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

import gast

from sourcead.frontend.control import exits as exits_
from sourcead.frontend.core import TRUE, Flag, Lowering, Value


def set_break(lo: Lowering) -> None:
    """Control leaves the innermost loop."""
    lo.set(lo.scope.names, lo.scope.leaves[-1], TRUE)


def set_return(lo: Lowering, value: Value, again: bool) -> None:
    """Control leaves the function from inside a loop; `again`: it has left a loop inside this one in that way."""
    returned = exits_.flag(lo.scope, "returned")
    if not again:
        lo.set(lo.scope.names, exits_.flag(lo.scope, "result"), value)
        lo.set(lo.scope.names, returned, TRUE)
    if lo.scope.leaves[-1] is not returned:
        set_break(lo)


def after_loop(lo: Lowering, node) -> list[gast.AST]:
    """What follows a loop before the next statement: leaving further, `else`."""
    exits = exits_.exits_of(lo, node)
    if not exits.returns:
        return unless(exits.leave, node.orelse, node) if exits.breaks else list(node.orelse)
    result = gast.Return(gast.Name(exits_.flag(lo.scope, "result"), gast.Load(), None, None))
    result.stands_for = exits.returns[0]
    if exits_.is_endless(node) and not exits.breaks:
        return [result]
    after = unless(exits.leave, node.orelse, node) if exits.breaks else list(node.orelse)
    return [if_flag(exits_.flag(lo.scope, "returned"), [result], [], node), *after]


def tested_inside(lo: Lowering, node: gast.While) -> gast.While:
    """`while test: body` as `while True: if not test: break; body`, for a test that assigns names."""
    if (node, "inside") not in lo.scope.exits:
        stop = gast.If(gast.UnaryOp(gast.Not(), node.test), [gast.Break()], [])
        stop.stands_for = node
        made = gast.While(gast.Constant(True, None), [stop, *node.body], [])
        made.stands_for = node
        lo.scope.exits[node, "inside"] = made
    return lo.scope.exits[node, "inside"]


def unless(left: Flag, body: list[gast.AST], node) -> list[gast.AST]:
    """`if not left: body`."""
    return [if_flag(left, [], body, node)] if body else []


def if_flag(test: Flag, body: list[gast.AST], orelse: list[gast.AST], node) -> gast.If:
    """`if flag: body else: orelse`, which stands for a statement of the user's in messages and comments."""
    made = gast.If(gast.Name(test, gast.Load(), None, None), body, orelse)
    made.stands_for = node
    return made
