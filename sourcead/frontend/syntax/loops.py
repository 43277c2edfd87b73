"""Loops: over what is known one by one, over a range of unknown length, over a generator, and `while`."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import gast

from sourcead.errors import AliasError, UnsupportedSyntaxError
from sourcead.frontend.builtins import adjoint_blocks as steering
from sourcead.frontend.core import Lowering, name_reads
from sourcead.frontend.syntax import (
    assignment, branches as control, early_exits as exits, expressions, iteration, loop_variants, recursion, statements
)
from sourcead.frontend.syntax.branches import RAISED
from sourcead.frontend.syntax.expressions import lower, unsupported
from sourcead.frontend.values import changing_lists as walks
from sourcead.frontend.values.cells import VALUE, Cell, next_birth
from sourcead.ir.nodes import Atom, Block, Const, Var
from sourcead.ir.types import INT

MAX_UNROLLED = 64  # iterations


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
        walks.forget({cell for walked in lo.walked for cell in walked.holds}, birth)
    finally:
        lo.walked = before
    state.restore(lo)
    return lower_loop(lo, node, listing=True)


def lower_loop(lo: Lowering, node, listing: bool = False) -> Any:
    listed_before, lo.listing = lo.listing, listing
    walks_before, lo.walks = lo.walks, []
    try:
        iterable = iteration.iterate(lo, lower(lo, node.iter), node)
        taken = lo.walks
    finally:
        lo.listing, lo.walks = listed_before, walks_before
    if iterable.items is not None:
        exits.enter(lo, exits.exits_of(lo, node))
        return unrolled(lo, node, iterable, taken)
    bind = functools.partial(assignment.assign, lo, node.target)
    run_loop(lo, node, iterable, bind, lambda: statements.lower_statements(lo, node.body))


def unrolled(lo: Lowering, node, iterable: iteration.Iterable, taken: list[walks.Walk]) -> Any:
    """A loop over values known one by one."""
    items = [functools.partial(walks.element, lo, taken, iterable, k, node) for k in range(len(iterable.items))]
    return iteration_by_iteration(
        lo, exits.exits_of(lo, node).leave, items,
        lambda element: assignment.assign(lo, node.target, element), lambda: statements.lower_statements(lo, node.body),
    )  # fmt: skip


def iteration_by_iteration(lo: Lowering, leave, items: list, bind, body) -> Any:
    """The iterations one after the other; after one that may leave the loop, the others depend on a flag."""
    for k, item in enumerate(items):
        bind(item())
        if one_iteration(lo, leave, body) is RAISED:
            return RAISED
        if leave is None:
            continue
        left = lo.scope.names[leave]
        verdict = expressions.truth(lo, left)
        if verdict is None:
            rest = functools.partial(iteration_by_iteration, lo, leave, items[k + 1 :], bind, body)
            return control.branch(lo, lo.read(left), [lambda: None, rest])
        if verdict:
            break
    return None


def one_iteration(lo: Lowering, leave, body) -> Any:
    """Lowers the body of a loop; returns how control leaves it."""
    within = lo.build.within
    lo.scope.loops += 1
    if leave is not None:
        lo.scope.leaves.append(leave)
    try:
        return body()
    finally:
        lo.build.within = within
        lo.scope.loops -= 1
        if leave is not None:
            lo.scope.leaves.pop()


def run_loop(lo: Lowering, node, iterable, bind, body) -> None:
    """A counted loop over an iterable of unknown length."""
    if iterable.drive is not None:
        return driven_loop(lo, node, iterable, bind, body)
    if iterable.endless:
        iterable = iteration.unending(iterable)
    domain = iterable.domain()
    leaving = exits.exits_of(lo, node)
    exits.enter(lo, leaving)

    def start():
        name = index_name(node) if iterable.index_name else None
        index = Var(name or "i", INT, temp=name is None)
        bind(iterable.element(index))
        return domain, index

    def run():
        exits.go_on(lo, leaving)
        if one_iteration(lo, leaving.leave, body) is RAISED:
            raise unsupported(lo, node, "every iteration of this loop raises")

    state = State(lo)
    try:
        first, leave = seeds(lo, node), (lo.scope.names, leaving.leave)
        recursion.or_not_at_all(lo, lambda: loop_variants.loop(lo, start, run, first, leave, iterable.policy))
    except UnsupportedSyntaxError as error:
        if not getattr(error, "needs_items", False):
            raise
        places = known_places(lo, iterable)
        if places is None:
            raise
        state.restore(lo)
        items = [functools.partial(iterable.element, Const(k)) for k in places]
        if iteration_by_iteration(lo, leaving.leave, items, bind, body) is RAISED:
            raise unsupported(lo, node, "every iteration of this loop raises") from None


def known_places(lo: Lowering, iterable: iteration.Iterable) -> range | None:
    """The indices of the items of an iterable, if they are known and few."""
    if iterable.drive is not None or iterable.endless:
        return None
    domain = iterable.domain()
    bounds = [known_bound(lo, a) for a in (domain.start, domain.stop, domain.step)]
    if None in bounds:
        return None
    places = range(*bounds)
    return places if len(places) <= MAX_UNROLLED else None


def known_bound(lo: Lowering, bound: Atom) -> int | None:
    """The value of a bound, if it is known: a number, or the length of an axis that the text is made for."""
    found, value = expressions.known(lo, bound)
    dim = value if found else lo.build.arg(bound).dim
    return dim if isinstance(dim, int) else None


class State:
    """Where lowering stands, to go back to."""

    def __init__(self, lo: Lowering):
        self.mark, self.depth, self.scope, self.loops = lo.journal.mark(), lo.depth, lo.scope, lo.scope.loops
        self.build = lo.build.stmts, lo.build.origin, lo.build.within
        self.count, self.leaves = len(lo.build.stmts), list(lo.scope.leaves)

    def restore(self, lo: Lowering) -> None:
        lo.journal.rollback(self.mark)
        lo.depth, lo.scope = self.depth, self.scope
        lo.build.stmts, lo.build.origin, lo.build.within = self.build
        del lo.build.stmts[self.count :]
        lo.scope.loops, lo.scope.leaves[:] = self.loops, self.leaves


def driven_loop(lo: Lowering, node, iterable, bind, body) -> None:
    """A loop over a generator."""
    leaving = exits.exits_of(lo, node)
    exits.enter(lo, leaving)

    def act(element):
        exits.go_on(lo, leaving)
        bind(element)
        return one_iteration(lo, leaving.leave, body)

    iterable.drive(act, leaving.leave)


def index_name(node) -> str | None:
    """The name that the user gives to the number of the iteration: `for i in range`, `for i, x in enumerate`."""
    match node.target:
        case gast.Name(id=name) | gast.Tuple(elts=[gast.Name(id=name), *_]):
            return name
    return None


def lower_while(lo: Lowering, node) -> None:
    if not exits.is_endless(node) and any(isinstance(n, gast.NamedExpr) for n in gast.walk(node.test)):
        if node.orelse:
            raise unsupported(
                lo,
                node,
                "the condition of this loop assigns a name, and the loop has an `else`",
                "assign it before the loop and at the end of its body",
            )
        return lower_while(lo, exits.tested_inside(lo, node))
    leaving = exits.exits_of(lo, node)
    exits.enter(lo, leaving)

    def start():
        before = lo.journal.mark()
        with lo.build.block() as stmts:
            cond = expressions.atom(lo, node.test)
        if any(not isinstance(key, type(VALUE)) for _, key, _ in lo.journal.entries[before:]):
            raise unsupported(lo, node, "the condition of this loop assigns a name", "assign it before the loop and at the end of its body")
        lo.journal.rollback(before)
        return Block(tuple(stmts), (cond,)), None

    def run():
        exits.go_on(lo, leaving)
        if one_iteration(lo, leaving.leave, lambda: statements.lower_statements(lo, node.body)) is RAISED:
            raise unsupported(lo, node, "every iteration of this loop raises")

    loop_variants.loop(lo, start, run, seeds(lo, node), (lo.scope.names, leaving.leave))


def seeds(lo: Lowering, node) -> list:
    """Slots that an iteration surely changes, judged by the syntax: names assigned, arrays written through a name."""
    found: dict = {}
    names = lo.scope.names
    everywhere, loops = lo.scope.reads
    here = name_reads(node) if node in loops else {}
    inside = [m for s in node.body for m in steering.walk(lo, s)] + list(gast.walk(getattr(node, "target", node.body[0])))
    in_place = {n.target for n in inside if isinstance(n, gast.AugAssign) and isinstance(names.get(getattr(n.target, "id", None)), Cell)}
    for n in inside:
        match n:
            case gast.Name(id=name, ctx=gast.Store()) if n not in in_place:
                if name in names or everywhere[name] > here.get(name, 0):  # read outside this loop
                    found.setdefault((names, name))
            case gast.Subscript(value=gast.Name(id=name), ctx=gast.Store()):
                cell = names.get(name)
                if isinstance(cell, Cell) and cell.root().kind == "array":
                    found.setdefault((cell.root().slots, VALUE))
    return list(found)


@dataclass(eq=False)
class ForLike:
    """What `run_loop` needs of a `for` statement."""

    target: gast.AST
    body: list
