"""Loops: over what is known one by one, over a range of unknown length, over a generator, and `while`."""

from __future__ import annotations

import functools
from typing import Any

import gast

from sourcead.errors import AliasError, UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import exits, loop_variants, loops
from sourcead.frontend.control.branches import RAISED
from sourcead.frontend.control.loops import State
from sourcead.frontend.core import VALUE, Iterable, Lowering, next_birth
from sourcead.frontend.syntax import assignment, early_exits
from sourcead.frontend.values import changing_lists
from sourcead.ir.nodes import Block


def lower_for(lo: Lowering, node) -> Any:
    """A loop in the text; but if it writes into the items of a list, or needs to know which they are, they are taken one by one."""
    state, before, birth = State(lo), lo.walked, next_birth()
    lo.walked = []
    try:
        try:
            left = lower_loop(lo, node)
            if not any(cell in lo.dirty for cell in lo.walked):
                return left
        except (AliasError, UnsupportedSyntaxError):
            if not lo.walked:
                raise
        changing_lists.forget({cell for walked in lo.walked for cell in walked.holds}, birth)
    finally:
        lo.walked = before
    state.restore(lo)
    return lower_loop(lo, node, listing=True)


def lower_loop(lo: Lowering, node, listing: bool = False) -> Any:
    listed_before, lo.listing = lo.listing, listing
    walks_before, lo.walks = lo.walks, []
    try:
        iterable = core.iterate(lo, core.lower(lo, node.iter), node)
        taken = lo.walks
    finally:
        lo.listing, lo.walks = listed_before, walks_before
    if iterable.items is not None:
        exits.enter(lo, exits.exits_of(lo, node))
        return unrolled(lo, node, iterable, taken)
    bind = functools.partial(assignment.assign, lo, node.target)
    loops.run_loop(lo, node, iterable, bind, lambda: core.lower_statements(lo, node.body))


def unrolled(lo: Lowering, node, iterable: Iterable, taken: list[changing_lists.Walk]) -> Any:
    """A loop over values known one by one."""
    items = [functools.partial(changing_lists.element, lo, taken, iterable, k, node) for k in range(len(iterable.items))]
    return loops.iteration_by_iteration(
        lo, exits.exits_of(lo, node).leave, items,
        lambda element: assignment.assign(lo, node.target, element), lambda: core.lower_statements(lo, node.body),
    )  # fmt: skip


def lower_while(lo: Lowering, node) -> None:
    if not exits.is_endless(node) and any(isinstance(n, gast.NamedExpr) for n in gast.walk(node.test)):
        if node.orelse:
            raise core.unsupported(
                lo,
                node,
                "the condition of this loop assigns a name, and the loop has an `else`",
                "assign it before the loop and at the end of its body",
            )
        return lower_while(lo, early_exits.tested_inside(lo, node))
    leaving = exits.exits_of(lo, node)
    exits.enter(lo, leaving)

    def start():
        before = lo.journal.mark()
        with lo.build.block() as stmts:
            cond = core.atom(lo, node.test)
        if any(not isinstance(key, type(VALUE)) for _, key, _ in lo.journal.entries[before:]):
            raise core.unsupported(lo, node, "the condition of this loop assigns a name", "assign it before the loop and at the end of its body")
        lo.journal.rollback(before)
        return Block(tuple(stmts), (cond,)), None

    def run():
        exits.go_on(lo, leaving)
        if loops.one_iteration(lo, leaving.leave, lambda: core.lower_statements(lo, node.body)) is RAISED:
            raise core.unsupported(lo, node, "every iteration of this loop raises")

    loop_variants.loop(lo, start, run, loops.seeds(lo, node), (lo.scope.names, leaving.leave))
