"""Lower loops over an iterable, one iteration at a time if the items are known, else to a loop of the IR."""

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gast

from sourcead.errors import SourceADError, UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import exits, loop_variants
from sourcead.frontend.control.branches import RAISED, branch, raised_for_sure
from sourcead.frontend.control.exits import NO_EXITS, Exits
from sourcead.frontend.core import Iterable, Lowering, NeverReturns, Value
from sourcead.ir.nodes import Atom, Call, Const, Loop, Range, Var
from sourcead.ir.types import INT

ZERO, ONE = Const(0), Const(1)
MOST = Const(2**62)  # more elements than any program takes of an endless iterable
MAX_UNROLLED = 64  # the most iterations that are unrolled
MOST_UNROLLED = 500  # the most iterations of all loops together, if all are unrolled
MOST_IN_ALL = 20 * MOST_UNROLLED  # the same with those of attempts that failed: the rounds of a loop that stays one lower its body anew
MOST_TRIED = 8  # the most iterations that are unrolled since each may find another key missing
ALL_RAISE = "every iteration of this loop raises"


@dataclass(frozen=True, eq=False)
class ForLoop:
    """A loop over an iterable.

    Attributes:
        iterable: the iterable.
        bind: a function that binds the target to an element.
        body: a function that lowers the body and returns the way in which control leaves it.
        index_name: the name for the index of the iteration, if the iterable has one.
        exits: the exits of the loop.
        seeds: a function that returns the slots that an iteration is known to change.
        node: the statement, for error messages.
    """

    iterable: Iterable
    bind: Callable[[Value], None]
    body: Callable[[], Any]
    index_name: str | None = None
    exits: Exits = NO_EXITS
    seeds: Callable[[], list] = list
    node: Any = None


def run_loop(lo: Lowering, loop: ForLoop) -> None:
    """Lower a loop to a loop of the IR; unroll it if its body needs the items and these are known and few."""
    iterable = loop.iterable
    if iterable.drive is not None:
        return driven_loop(lo, loop)
    if iterable.endless:
        iterable = Iterable.numbered(lambda: MOST, iterable.nth)
    exits.enter(lo, loop.exits)
    if (places := known_places(lo, iterable)) == range(0):
        return None
    count = None if places is None or iterable.policy is not None else len(places)
    if count is not None and (lo.unrolling or count == lo.names_for_items or count <= MOST_TRIED and tries_keys(loop.node)):
        return unrolled_loop(lo, loop, iterable, places)
    domain = iterable.domain()

    def may_be_unrolled(error: UnsupportedSyntaxError) -> bool:
        return getattr(error, "needs_items", False) and places is not None

    with lo.attempt(UnsupportedSyntaxError, when=may_be_unrolled) as attempt:
        with lo.attempt(NeverReturns):  # the body calls a recursive function whose result is unknown yet: assume no iterations
            with lo.attempt() as whole:
                if not loop_variants.loses_types(loop_of_ir(lo, loop, domain)) or not may_be_peeled(lo, loop, domain):
                    return None
                whole.fail()
            peeled_loop(lo, loop, domain)
    return unrolled_loop(lo, loop, iterable, places) if attempt.failed else None


def loop_of_ir(lo: Lowering, loop: ForLoop, domain: Range) -> Loop:
    """Lower a loop over a range of indices to a loop of the IR, and return that."""
    iterable = loop.iterable

    def start() -> tuple[Range, Var]:
        name = loop.index_name if iterable.index_name else None
        index = Var(name or "i", INT, temp=name is None)
        lo.build.count(index, domain)
        loop.bind(iterable.element(index))
        return domain, index

    run = functools.partial(whole_iteration, lo, loop.exits, loop.body)
    return loop_variants.loop(lo, start, run, loop.seeds(), loop.exits.leave, iterable.policy)


def may_be_peeled(lo: Lowering, loop: ForLoop, domain: Range) -> bool:
    """Return whether the first iteration of a loop may stand before the others: there surely is one, and none ends the loop."""
    return loop.exits.leave is None and loop.iterable.policy is None and loop_variants.surely_runs(lo, domain)


def peeled_loop(lo: Lowering, loop: ForLoop, domain: Range) -> None:
    """Lower the first iteration of a loop, and a loop over the others, if their variants keep their types; else one loop of all.

        y = b                                    b: (m,)                  y = b + x[0] @ k[0]                 y: (n, m)
        for i in range(5):                                                for i in range(1, 5):
            y = y + x[i] @ k[i]                  (n, m)                       y = y + x[i] @ k[i]             (n, m)

    So what a sum begins with may have fewer axes than the sum, and a state that is computed of float32 may be of float64 from then on.
    """
    with lo.attempt(SourceADError) as attempt:
        bind_number(lo, loop, loop.iterable.element(domain.start))
        if one_iteration(lo, None, loop.body) is RAISED:
            attempt.fail()
        elif loop_variants.loses_types(loop_of_ir(lo, loop, replace(domain, start=added(lo, domain.start, domain.step)))):
            attempt.fail()
    if attempt.failed:
        loop_of_ir(lo, loop, domain)


def tries_keys(node: gast.AST | None) -> bool:
    """Return whether a loop handles that a key is missing, which is known of each of its iterations rather than of all."""
    tried = (h.type for n in gast.walk(node) if isinstance(n, gast.Try) for h in n.handlers) if isinstance(node, gast.For) else ()
    named = (n for t in tried if t is not None for n in gast.walk(t) if isinstance(n, gast.Name))
    return any(n.id in ("KeyError", "LookupError") for n in named)


def unrolled_loop(lo: Lowering, loop: ForLoop, iterable: Iterable, places: range) -> None:
    """Lower a loop iteration by iteration."""
    items = [functools.partial(iterable.element, Const(k)) for k in places]
    bind = functools.partial(bind_number, lo, loop) if lo.names_for_items else loop.bind
    if iteration_by_iteration(lo, loop.exits.leave, items, bind, loop.body) is RAISED:
        raise core.unsupported(lo, loop.node, ALL_RAISE)


def added(lo: Lowering, a: Atom, b: Atom) -> Atom:
    """Return the sum of two integers."""
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value + b.value)
    if isinstance(b, Const) and b.value < 0:
        return lo.build.emit(Call(operator.sub, (a, Const(-b.value))), INT)
    return lo.build.emit(Call(operator.add, (a, b)), INT)


def bind_number(lo: Lowering, loop: ForLoop, value: Value) -> None:
    """Bind the target of a loop to an element; to the number itself, which needs no name in the text, if that is known."""
    loop.bind(value)
    name = loop.index_name
    if name is not None and isinstance(value, Const) and type(value.value) is int:
        lo.set(lo.scope.home(name), name, value)


def driven_loop(lo: Lowering, loop: ForLoop) -> None:
    """Lower a loop over a generator."""
    exits.enter(lo, loop.exits)

    def act(element: Value) -> Any:
        exits.go_on(lo, loop.exits)
        loop.bind(element)
        return one_iteration(lo, loop.exits.leave, loop.body)

    loop.iterable.drive(act, loop.exits.leave)


def one_iteration(lo: Lowering, leave, body: Callable[[], Any]) -> Any:
    """Lower the body of a loop that the flag `leave` ends; return the way in which control leaves it."""
    if lo.unrolling:
        lo.unrolled += 1
        if lo.unrolled > MOST_UNROLLED or next(lo.unrolled_in_all) > MOST_IN_ALL:
            raise core.refused(lo, "there are too many iterations to lower one by one")
    within = lo.build.within
    lo.scope.loops += 1
    if leave is not None:
        lo.scope.leaves.append(leave)
    try:
        with lo.using(names_for_items=0):
            return body()
    finally:
        lo.build.within = within
        lo.scope.loops -= 1
        if leave is not None:
            lo.scope.leaves.pop()


def whole_iteration(lo: Lowering, leaving: Exits, body: Callable[[], Any]) -> None:
    """Lower the iteration of a loop of the IR; if it raises on every path, what follows the loop runs only if there is none."""
    exits.go_on(lo, leaving)
    try:
        one_iteration(lo, leaving.leave, body)
    except SourceADError as error:
        raised_for_sure(lo, error)


def iteration_by_iteration(lo: Lowering, leave, items: list[Callable[[], Value]], bind, body, more=tuple) -> Any:
    """Lower the iterations one after the other; after one that may leave the loop, the others become a branch on the flag.

    `more()` returns the items that were added meanwhile.
    """
    for k, item in enumerate(items):
        bind(item())
        if one_iteration(lo, leave, body) is RAISED:
            return RAISED
        if leave is None:
            continue
        left = lo.scope.names[leave]
        verdict = core.truth(lo, left)
        if verdict is None:
            rest = functools.partial(iteration_by_iteration, lo, leave, items[k + 1 :], bind, body, more)
            return branch(lo, lo.read(left), [lambda: None, rest])
        if verdict:
            return None
    added = more()
    return iteration_by_iteration(lo, leave, added, bind, body, more) if added else None


def known_places(lo: Lowering, iterable: Iterable) -> range | None:
    """Return the indices of an iterable's items, None if they are not known or more than `MAX_UNROLLED`."""
    if iterable.drive is not None or iterable.endless:
        return None
    with lo.attempt() as attempt:
        places = loop_variants.known_range(lo, iterable.domain())
        attempt.fail()  # only the numbers are needed, so the statements are undone
    return places if places is not None and len(places) <= MAX_UNROLLED else None


# -- the loops inside built-in functions -------------------------------------------------------------------------------------


def for_each(lo: Lowering, iterable: Iterable, act: Callable[[Value], Any]) -> None:
    """Lower `act(element)` for each element of an iterable."""
    if iterable.items is not None:
        for item in iterable.items:
            act(item)
        if iterable.walk is not None:
            iterable.walk.check(lo, None)
        return
    element: list[Value] = []

    def bind(value: Value) -> None:
        element[:] = [value]

    run_loop(lo, ForLoop(iterable, bind, lambda: act(element[0]), "$element"))
