"""TODO"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import branches, exits, loop_variants
from sourcead.frontend.control.branches import RAISED
from sourcead.frontend.core import MISSING, VALUE, Cell, Iterable, Lowering, NeverReturns, Value, name_reads
from sourcead.frontend.syntax import adjoint_blocks
from sourcead.ir.nodes import Const, Range, Var
from sourcead.ir.types import INT

ZERO, ONE = Const(0), Const(1)


def unending(lo: Lowering, inner: Iterable) -> Iterable:
    """A loop over what never ends, which the program leaves in another way."""
    most = Const(2**62)
    return Iterable(domain=lambda: Range(ZERO, most, ONE), element=inner.nth, length=lambda: most, nth=inner.nth)


MAX_UNROLLED = 64  # iterations


def iteration_by_iteration(lo: Lowering, leave, items: list, bind, body) -> Any:
    """The iterations one after the other; after one that may leave the loop, the others depend on a flag."""
    for k, item in enumerate(items):
        bind(item())
        if one_iteration(lo, leave, body) is RAISED:
            return RAISED
        if leave is None:
            continue
        left = lo.scope.names[leave]
        verdict = core.truth(lo, left)
        if verdict is None:
            rest = functools.partial(iteration_by_iteration, lo, leave, items[k + 1 :], bind, body)
            return branches.branch(lo, lo.read(left), [lambda: None, rest])
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
        iterable = unending(lo, iterable)
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
            raise core.unsupported(lo, node, "every iteration of this loop raises")

    state = State(lo)
    try:
        first, leave = seeds(lo, node), (lo.scope.names, leaving.leave)
        or_not_at_all(lo, lambda: loop_variants.loop(lo, start, run, first, leave, iterable.policy))
    except UnsupportedSyntaxError as error:
        if not getattr(error, "needs_items", False):
            raise
        places = known_places(lo, iterable)
        if places is None:
            raise
        state.restore(lo)
        items = [functools.partial(iterable.element, Const(k)) for k in places]
        if iteration_by_iteration(lo, leaving.leave, items, bind, body) is RAISED:
            raise core.unsupported(lo, node, "every iteration of this loop raises") from None


def known_places(lo: Lowering, iterable: Iterable) -> range | None:
    """The indices of the items of an iterable, if they are known and few."""
    if iterable.drive is not None or iterable.endless:
        return None
    domain = iterable.domain()
    bounds = [core.known_bound(lo, a) for a in (domain.start, domain.stop, domain.step)]
    if None in bounds:
        return None
    places = range(*bounds)
    return places if len(places) <= MAX_UNROLLED else None


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


def seeds(lo: Lowering, node) -> list:
    """Slots that an iteration surely changes, judged by the syntax: names assigned, arrays written through a name."""
    found: dict = {}
    names = lo.scope.names
    everywhere, loops = lo.scope.reads
    here = name_reads(node) if node in loops else {}
    inside = [m for s in node.body for m in adjoint_blocks.walk(lo, s)] + list(gast.walk(getattr(node, "target", node.body[0])))
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


def or_not_at_all(lo: Lowering, lower_loop: Callable[[], None]) -> None:
    """Lowers a loop whose body may be a recursive call that nothing is known of yet: then it has no iterations."""
    mark, stmts, count = lo.journal.mark(), lo.build.stmts, len(lo.build.stmts)
    try:
        lower_loop()
    except NeverReturns:
        lo.journal.rollback(mark)
        del stmts[count:]


def fold(lo: Lowering, iterable: Iterable, initial: Value, step, node, name: str = "total") -> Value:
    """`step(... step(step(initial, e0), e1) ..., en)` over the elements."""
    names, key = lo.scope.names, f"${name}"
    outer = names.get(key, MISSING)
    lo.set(names, key, initial)
    if iterable.items is not None:
        for item in iterable.items:
            lo.set(names, key, step(names[key], item))
    else:
        element: list[Value] = []
        loop = ForLike(gast.Name(key, gast.Store(), None, None), [gast.Pass()])
        run_loop(
            lo, loop, iterable,
            lambda e: element.__setitem__(slice(None), [e]), lambda: lo.set(names, key, step(names[key], element[0])),
        )  # fmt: skip
    result = names[key]
    lo.set(names, key, outer)
    return result


def for_each(lo: Lowering, iterable: Iterable, act) -> None:
    """Does `act(element)` for each element."""
    if iterable.items is not None:
        for item in iterable.items:
            act(item)
        return
    target = gast.Name("$element", gast.Store(), None, None)
    element: list[Value] = []
    run_loop(
        lo, ForLike(target, [gast.Pass()]), iterable,
        lambda e: element.__setitem__(slice(None), [e]), lambda: act(element[0]),
    )  # fmt: skip


def fold_left(lo: Lowering, iterable: Iterable, step, first: Value | None, node, begin=lambda value: None) -> Value:
    """`step(... step(step(first, x0), x1) ..., xn)`; without `first`, it is x0, which `begin` sees."""
    if first is None:
        first = iterable.nth(Const(0))
        begin(first)
        inner = iterable

        def nth(k):
            return inner.nth(lo.build.call(operator.add, k, Const(1), type=INT))

        def length():
            return lo.build.call(operator.sub, inner.length(), Const(1), type=INT)

        iterable = Iterable(domain=lambda: Range(Const(0), length(), Const(1)), element=nth, length=length, nth=nth)
    return fold(lo, iterable, first, step, node)
