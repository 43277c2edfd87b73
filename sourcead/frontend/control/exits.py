"""The ways in which control leaves a statement, a loop or a function: `break`, `return`, and `else` on loops.

An exit from a loop is data, a flag, false at the beginning of each iteration, which the loop carries and which ends it.

    for x in xs:                    loop (done = False, returned = False, result = undefined) for x in xs until done:
        if p(x):                        done, returned, result = if p(x): True, True, x
            return x                                             else: rest of the body; False, False, undefined
    else:                           if returned: result
        after                       else: (if not done: after); the rest of the function

A loop that is left by `return` alone needs no flag besides `returned`.
"""

import copy
import operator
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import gast

from sourcead.frontend.core import FALSE, TRUE, Flag, Lowering, Scope, Value, once_for_each_node, temporarily

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


def set_break(lo: Lowering) -> None:
    """Set the flag that ends the innermost loop."""
    leave = lo.scope.leaves[-1]
    lo.set(lo.scope.names, leave, TRUE)
    lo.resized[lo.arm :] = [(cell, left | {leave}) for cell, left in lo.resized[lo.arm :]]


def set_return(lo: Lowering, value: Value, again: bool) -> None:
    """Set the flags for a `return` inside a loop; `again` means that the `return` has already left an inner loop."""
    returned = flag(lo.scope, "returned")
    if not again:
        lo.set(lo.scope.names, flag(lo.scope, "result"), value)
        lo.set(lo.scope.names, returned, TRUE)
    if lo.scope.leaves[-1] is not returned:
        set_break(lo)


# -- syntax that takes the place of a statement ------------------------------------------------------------------------------


def standing_for(node: gast.AST, made: gast.AST) -> gast.AST:
    """Attribute a syntax node that was made while lowering to the user's node `node`, for messages and comments."""
    made.stands_for = getattr(node, "stands_for", node)
    return made


def variable(name: str, ctx: gast.AST | None = None) -> gast.Name:
    """Build a variable of the user, or one that is named by a flag."""
    return gast.Name(name, ctx or gast.Load(), None, None)


def assignment(name: str, value: gast.AST, node) -> gast.Assign:
    """Build `name = value`."""
    return standing_for(node, gast.Assign([variable(name, gast.Store())], value, None))


def if_flag(test: Flag, body: list[gast.AST], orelse: list[gast.AST], node) -> gast.If:
    """Build `if flag: body else: orelse`."""
    return standing_for(node, gast.If(variable(test), body, orelse))


def after_loop(lo: Lowering, node) -> list[gast.AST]:
    """Return the statements to lower right after a loop: those that continue the exit outwards, and those of its `else`."""
    exits = exits_of(lo, node)
    orelse = [] if (node, "inside") in lo.scope.exits else list(node.orelse)
    after = [if_flag(exits.leave, [], orelse, node)] if exits.breaks and orelse else orelse
    if not exits.returns:
        return after
    result = standing_for(exits.returns[-1], gast.Return(variable(flag(lo.scope, "result"))))
    result.again = True
    if is_endless(node) and not exits.breaks:
        return [result]
    return [if_flag(flag(lo.scope, "returned"), [result], [], node), *after]


def tested_inside(lo: Lowering, node: gast.While) -> gast.While:
    """Rewrite `while test: body  else: C` as `while True: if not test: C; break; body`, for a test that changes something."""
    if (node, "inside") not in lo.scope.exits:
        stop = standing_for(node, gast.If(gast.UnaryOp(gast.Not(), node.test), [*node.orelse, gast.Break()], []))
        lo.scope.exits[node, "inside"] = standing_for(node, gast.While(gast.Constant(True, None), [stop, *node.body], []))
    return lo.scope.exits[node, "inside"]


PARTS = ("body", "orelse", "finalbody", "handlers", "cases")


def rewritten(stmts: list[gast.AST], change: Callable, around: tuple = ()) -> list[gast.AST]:
    """Return statements in which `change(statement, around)` takes the place of each statement for which it is not None.

    Those inside other statements are asked too, except in functions and classes; `around` has each of these others, outermost first,
    with the name of the part that the statement is in. A statement inside which something changes is copied.
    """
    return [new for old in stmts for new in _replaced(old, change, around)]


def _replaced(node: gast.AST, change: Callable, around: tuple) -> list[gast.AST]:
    new = change(node, around)
    if new is not None or isinstance(node, (gast.FunctionDef, gast.ClassDef)):
        return [node] if new is None else new
    found = {part: old for part in PARTS if isinstance(old := getattr(node, part, None), list)}
    changed = {part: rewritten(old, change, (*around, (node, part))) for part, old in found.items()}
    if all(len(old) == len(changed[part]) and all(map(operator.is_, old, changed[part])) for part, old in found.items()):
        return [node]
    made = copy.copy(node)
    vars(made).update(changed)
    made.original = getattr(node, "original", node)
    return [standing_for(node, made)]


# -- what the syntax of a statement tells ------------------------------------------------------------------------------------


def exits_of(lo: Lowering, node) -> Exits:
    """Find out how control may leave a loop."""
    known, key = lo.scope.exits, getattr(node, "original", node)
    if key not in known:
        found = [n for child in node.body for n in exits_in(child)]
        breaks = any(isinstance(n, gast.Break) for n in found)
        returns = [n for n in found if isinstance(n, gast.Return)]
        known[key] = Exits(breaks, returns, Flag("done") if breaks else flag(lo.scope, "returned") if returns else None)
    return known[key]


def exits_in(node: gast.AST) -> Iterator[gast.AST]:
    """Iterate over the `return`, `break` and `continue` statements that may take control out of a statement."""
    match node:
        case gast.Return() | gast.Break() | gast.Continue():
            yield node
        case gast.FunctionDef() | gast.Lambda() | gast.ClassDef():
            return
        case gast.For() | gast.While():  # its own `break` and `continue` stay inside
            yield from (n for child in node.body for n in exits_in(child) if isinstance(n, gast.Return))
            yield from (n for child in node.orelse for n in exits_in(child))
        case _:
            yield from (n for child in gast.iter_child_nodes(node) for n in exits_in(child))


@once_for_each_node
def may_leave(node: gast.AST) -> bool:
    """Tell whether a `return`, `continue` or `break` may take control out of this statement."""
    return any(True for _ in exits_in(node))


def always_leaves(stmts: list[gast.AST]) -> bool:
    """Tell whether control never goes on after some statements, whatever their conditions are."""
    match stmts:
        case [*_, gast.Return() | gast.Break() | gast.Continue()]:
            return True
        case [*_, gast.If(body=body, orelse=orelse)]:
            return always_leaves(body) and always_leaves(orelse)
        case [*_, gast.With(body=body)]:
            return always_leaves(body)
    return False


def may_continue(node: gast.AST) -> bool:
    """Tell whether this statement contains a `continue` of the enclosing loop."""
    return any(isinstance(n, gast.Continue) for n in exits_in(node))


def is_endless(node) -> bool:
    """Return whether a statement is `while True` or a `while` of another true constant."""
    return isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and bool(node.test.value)


def as_function(lo: Lowering, exits: dict) -> AbstractContextManager[None]:
    """Lower the body as if it were a function of its own with the names of this one: a `return` leaves the body alone."""
    return temporarily(lo.scope, loops=0, leaves=[], exits=exits)
