"""Lowering of statements: one function for each kind, returning how control leaves it.

None: goes on to the next statement.  `Return(value)`, `RAISED`, `NEXT` (a `continue`): it does not.  An `if` out of which
control may leave takes the statements after it into its arms, so that structured branches are all there is.
"""

from __future__ import annotations

import importlib
from typing import Any

import gast

from sourcead.frontend import core
from sourcead.frontend.control import branches, inlining
from sourcead.frontend.control.branches import RAISED
from sourcead.frontend.control.exits import NEXT, Return
from sourcead.frontend.core import MISSING, Cell, Lowering, SliceVal
from sourcead.frontend.syntax import (
    adjoint_blocks, assignment, comprehensions, early_exits, exceptions, expressions, loops, matching, with_blocks
)
from sourcead.frontend.syntax.adjoint_blocks import Steered
from sourcead.frontend.values import lists, runtime_dicts
from sourcead.ir.nodes import Const, Effect, Stmt

MAX_COPIES = 64


def lower_if(lo: Lowering, node: gast.If, rest: list[gast.AST]) -> tuple[Any, bool]:
    """Lowers an `if`; returns how control leaves it, and whether the statements after it were lowered too."""
    with lo.at(node):
        test = core.lower(lo, node.test)
        verdict = core.truth(lo, test)
    if verdict is not None:
        taken = node.body if verdict else node.orelse
        if may_leave(node):  # what comes after is what an `if` inside goes on to
            return core.lower_statements(lo, [*taken, *rest]), True
        return core.lower_statements(lo, taken), False
    with lo.at(node):
        cond = lo.read(test)
        if not may_leave(node):
            left = branches.branch(lo, cond, [lambda: core.lower_statements(lo, node.body), lambda: core.lower_statements(lo, node.orelse)])
            return left, False
        if rest and not leaves_always(node.body) and not leaves_always(node.orelse):
            if lo.scope.loops and not may_continue(node):
                return leave_or_go_on(lo, node, cond, rest), True
            lo.copies = getattr(lo, "copies", 0) + 1
            if lo.copies > MAX_COPIES:
                raise core.unsupported(lo, node, "too many nested `return` or `continue` statements", "restructure with `else`")

        def arm(body):
            def run():
                left = core.lower_statements(lo, body if leaves_always(body) else [*body, *rest])
                return arm_value(lo, left)

            return run

        left = branches.branch(lo, cond, [arm(node.body), arm(node.orelse)])
    if left is RAISED:
        return RAISED, True
    return (NEXT if lo.scope.loops else Return(left)), True


def leave_or_go_on(lo: Lowering, node: gast.If, cond, rest: list[gast.AST]) -> Any:
    """An `if` somewhere in which the loop may be left, then the rest of the iteration if it was not."""

    def arm(body):
        return lambda: arm_value(lo, core.lower_statements(lo, body))

    if branches.branch(lo, cond, [arm(node.body), arm(node.orelse)]) is RAISED:
        return RAISED
    left = core.lower_statements(lo, [early_exits.if_flag(lo.scope.leaves[-1], [gast.Pass()], rest, node)])
    return RAISED if left is RAISED else NEXT


def arm_value(lo: Lowering, left: Any) -> Any:
    """What an arm that runs to the end of the function or iteration hands to the branch."""
    if left is RAISED:
        return RAISED
    if lo.scope.loops:
        return None
    return left.value if isinstance(left, Return) else Const(None)


def may_leave(node: gast.AST) -> bool:
    """Whether a `return`, `continue` or `break` may take control out of this statement."""
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
    """Whether a `continue` of the loop around may stand inside."""
    if isinstance(node, (gast.For, gast.While)):
        return any(map(may_continue, node.orelse))
    if isinstance(node, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
        return False
    return isinstance(node, gast.Continue) or any(map(may_continue, gast.iter_child_nodes(node)))


def leaves_always(stmts: list[gast.AST]) -> bool:
    """Whether control never reaches the end of these statements."""
    for node in stmts:
        if isinstance(node, (gast.Return, gast.Raise, gast.Continue, gast.Break)):
            return True
        if isinstance(node, gast.If) and leaves_always(node.body) and leaves_always(node.orelse):
            return True
        if isinstance(node, gast.With) and leaves_always(node.body):
            return True
    return False


# -- simple statements -----------------------------------------------------------------------------------------------


def lower_return(lo: Lowering, node) -> Any:
    value = Const(None) if node.value is None else core.lower(lo, node.value)
    if lo.scope.loops:
        early_exits.set_return(lo, value, again=hasattr(node, "stands_for"))
        return NEXT
    return Return(value)


def lower_break(lo: Lowering, node) -> Any:
    early_exits.set_break(lo)
    return NEXT


def lower_continue(lo: Lowering, node) -> Any:
    return NEXT


def lower_pass(lo: Lowering, node) -> None:
    return None


def lower_expr(lo: Lowering, node) -> Any:
    if isinstance(node.value, gast.Constant):
        return None  # a docstring
    if isinstance(node.value, gast.Yield):
        return RAISED if comprehensions.lower_yield(lo, node.value) is RAISED else None
    if isinstance(node.value, gast.YieldFrom):
        left: list = []
        loops.for_each(lo, core.iterate(lo, core.lower(lo, node.value.value), node), lambda e: left.append(lo.scope.consume(e)))
        return None
    core.lower(lo, node.value)
    return None


def lower_assert(lo: Lowering, node) -> None:
    test = core.lower(lo, node.test)
    if core.truth(lo, test) is True:
        return
    args = (lo.read(test),) if node.msg is None else (lo.read(test), core.operand(lo, node.msg))
    lo.build.add(Stmt((), Effect("assert", args)))


def lower_raise(lo: Lowering, node) -> Any:
    if node.exc is None:
        raise core.unsupported(lo, node, "a bare `raise`")
    exc = core.atom(lo, node.exc)
    lo.build.add(Stmt((), Effect("raise", (exc,))))
    return RAISED


def lower_functiondef(lo: Lowering, node) -> None:
    lo.set(lo.scope.names, node.name, inlining.local_function(lo, node))


def lower_global(lo: Lowering, node) -> None:
    """`global n`: says nothing where the name is only read."""
    stored = {n.id for n in gast.walk(lo.scope.source.node) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}
    if stored & set(node.names):
        raise core.unsupported(lo, node, "an assignment to a global name", "return the new value")


def lower_nonlocal(lo: Lowering, node) -> None:
    """`nonlocal name`: assignments go to the function around that has it."""
    for name in node.names:
        scope = lo.scope.parent
        while scope is not None and name not in scope.names:
            scope = scope.parent
        if scope is None:
            raise core.unsupported(lo, node, f"`nonlocal {name}` of a function that is not differentiated", "pass it, and return the new value")
        lo.scope.homes[name] = scope.homes.get(name, scope.names)


def lower_delete(lo: Lowering, node) -> None:
    for target in node.targets:
        if isinstance(target, gast.Subscript):
            delete_item(lo, target)
            continue
        if not isinstance(target, gast.Name):
            raise core.unsupported(lo, node, "`del` of something else than a name")
        lo.set(lo.scope.names, target.id, MISSING)


def delete_item(lo: Lowering, target: gast.Subscript) -> None:
    """`del items[k]` of a list or dict whose items are known one by one."""
    base = core.lower(lo, target.value)
    place = expressions.lower_key(lo, target.slice)
    if isinstance(base, Cell) and (base.kind == "list" or lists.is_list(lo, base)):
        if isinstance(place, SliceVal):
            return core.store(lo, base, place, lo.new_list([]), target)
        core.call_method(lo, base, "pop", [place], {}, target)
        return None
    if isinstance(base, Cell) and base.kind == "dict" or runtime_dicts.is_map(lo, base):
        core.call_method(lo, base, "pop", [place], {}, target)
        return None
    found, key = core.known(lo, place)
    if not (isinstance(base, Cell) and base.kind == "dict" and found):
        raise core.unsupported(lo, target, "`del` of an item whose place is not known before the program runs", "build the list without it")
    if base.kind == "dict" and key not in base.items:
        raise core.unsupported(lo, target, f"the dict has no key {key!r} here")
    core.call_method(lo, base, "pop", [Const(key)], {}, target)
    return None


def lower_import(lo: Lowering, node) -> None:
    """`import` inside a function: of a module that can be imported now."""
    for alias in node.names:
        if isinstance(node, gast.ImportFrom):
            if node.level or alias.name == "*":
                raise core.unsupported(lo, node, "a relative import inside a function", "import it at the top of the file")
            found = getattr(importlib.import_module(node.module), alias.name)
        else:
            found = importlib.import_module(alias.name)
            if alias.asname is None:
                found = importlib.import_module(alias.name.partition(".")[0])
        name = alias.asname or alias.name.partition(".")[0]
        lo.set(lo.scope.names, name, Const(found, text=None))


HANDLERS = {
    gast.Return: lower_return, gast.Continue: lower_continue, gast.Break: lower_break, gast.Pass: lower_pass, gast.Expr: lower_expr,
    gast.Assign: assignment.lower_assign, gast.AnnAssign: assignment.lower_annassign, gast.AugAssign: assignment.lower_augassign,
    gast.For: loops.lower_for,
    gast.While: loops.lower_while, gast.Assert: lower_assert, gast.Raise: lower_raise, gast.FunctionDef: lower_functiondef,
    gast.Global: lower_global,
    gast.Nonlocal: lower_nonlocal, gast.Delete: lower_delete, gast.Import: lower_import, gast.ImportFrom: lower_import,
    Steered: adjoint_blocks.lower_steered, with_blocks.Opened: with_blocks.lower_opened, with_blocks.Closed: with_blocks.lower_closed,
    exceptions.Begun: exceptions.lower_begun, exceptions.Guarded: exceptions.lower_guarded,
}  # fmt: skip

SPLICED = {gast.With: with_blocks.spliced, gast.Try: exceptions.spliced, gast.Match: matching.as_branch}
