"""Lower early exits from loops: `break`, `return`, and `else` on loops.

An exit is represented by a flag, false at the beginning of each iteration, which the loop carries and which ends it.

    for x in xs:                    loop (done = False, returned = False, result = undefined) for x in xs until done:
        if p(x):                        done, returned, result = if p(x): True, True, x
            return x                                             else: rest of the body; False, False, undefined
    else:                           if returned: result
        after                       else: (if not done: after); the rest of the function

A loop that is left by `return` alone needs no flag besides `returned`.
"""

from __future__ import annotations

import gast

from sourcead.frontend.control.exits import Exits, flag, is_endless
from sourcead.frontend.core import TRUE, Flag, Lowering, Value


def exits_of(lo: Lowering, node) -> Exits:
    """Find out how control may leave a loop."""
    known = lo.scope.exits
    if node not in known:
        breaks, returns = False, []
        todo = [(n, True) for n in node.body]
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


def set_break(lo: Lowering) -> None:
    """Set the flag that ends the innermost loop."""
    lo.set(lo.scope.names, lo.scope.leaves[-1], TRUE)


def set_return(lo: Lowering, value: Value, again: bool) -> None:
    """Set the flags for a `return` inside a loop; `again` means that the `return` has already left an inner loop."""
    returned = flag(lo.scope, "returned")
    if not again:
        lo.set(lo.scope.names, flag(lo.scope, "result"), value)
        lo.set(lo.scope.names, returned, TRUE)
    if lo.scope.leaves[-1] is not returned:
        set_break(lo)


def after_loop(lo: Lowering, node) -> list[gast.AST]:
    """Return the statements to lower right after a loop: those that continue the exit outwards, and those of its `else`."""
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
    """Rewrite `while test: body` as `while True: if not test: break; body`, for a test that assigns names."""
    if (node, "inside") not in lo.scope.exits:
        stop = gast.If(gast.UnaryOp(gast.Not(), node.test), [gast.Break()], [])
        stop.stands_for = node
        made = gast.While(gast.Constant(True, None), [stop, *node.body], [])
        made.stands_for = node
        lo.scope.exits[node, "inside"] = made
    return lo.scope.exits[node, "inside"]


def unless(left: Flag, body: list[gast.AST], node) -> list[gast.AST]:
    """Build `if not left: body`."""
    return [if_flag(left, [], body, node)] if body else []


def if_flag(test: Flag, body: list[gast.AST], orelse: list[gast.AST], node) -> gast.If:
    """Build `if flag: body else: orelse`, which messages and comments attribute to the user's statement `node`."""
    made = gast.If(gast.Name(test, gast.Load(), None, None), body, orelse)
    made.stands_for = node
    return made


# -- what the syntax of a statement tells ------------------------------------------------------------------------------------


def may_leave(node: gast.AST) -> bool:
    """Tell whether a `return`, `continue` or `break` may take control out of this statement."""
    todo = [(node, False)]
    while todo:
        n, in_loop = todo.pop()
        if isinstance(n, gast.Return) or isinstance(n, (gast.Continue, gast.Break)) and not in_loop:
            return True
        if isinstance(n, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
            continue
        in_loop = in_loop or isinstance(n, (gast.For, gast.While))
        todo.extend((child, in_loop) for child in gast.iter_child_nodes(n))
    return False


def may_continue(node: gast.AST) -> bool:
    """Tell whether this statement contains a `continue` of the enclosing loop."""
    if isinstance(node, (gast.For, gast.While)):
        return any(map(may_continue, node.orelse))
    if isinstance(node, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
        return False
    return isinstance(node, gast.Continue) or any(map(may_continue, gast.iter_child_nodes(node)))


def leaves_always(stmts: list[gast.AST]) -> bool:
    """Tell whether control never reaches the end of these statements."""
    for node in stmts:
        if isinstance(node, (gast.Return, gast.Raise, gast.Continue, gast.Break)):
            return True
        if isinstance(node, gast.If) and leaves_always(node.body) and leaves_always(node.orelse):
            return True
        if isinstance(node, gast.With) and leaves_always(node.body):
            return True
    return False
