"""Lower `for` and `while` loops."""

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import gast

from sourcead.errors import AliasError, UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import exits, loop_variants, loops
from sourcead.frontend.control.branches import RAISED, choose, tested
from sourcead.frontend.control.loops import ForLoop
from sourcead.frontend.core import (
    FALSE, MISSING, SEEN, VALUE, Cell, Iterable, Lowering, Slots, Value, name_reads, next_birth
)
from sourcead.frontend.syntax import adjoint_blocks
from sourcead.frontend.syntax.assignment import assign
from sourcead.frontend.values import counting, sequences, walks
from sourcead.ir.nodes import Block, Stmt
from sourcead.ir.types import Unknown
from sourcead.ir.walk import walk


@core.lower_statement.register(gast.For, gast.While)
def lower_loop(lo: Lowering, node, rest: list[gast.AST]) -> tuple[Any, bool]:
    """Lower a loop, and also the statements after it if the loop may be left early."""
    with lo.at(node):
        left = lower_for(lo, node) if isinstance(node, gast.For) else lower_while(lo, node)
    if left is not None:
        return left, False
    after = exits.after_loop(lo, node)
    return (core.lower_statements(lo, [*after, *rest]), True) if after else (None, False)


def lower_for(lo: Lowering, node: gast.For) -> Any:
    """Lower a `for` loop; unroll it over a list that it reads by index if it changes the items or must know them."""
    walked: list[Cell] = []
    before = len(lo.build.stmts)
    with lo.attempt(AliasError, UnsupportedSyntaxError, when=lambda error: bool(walked)) as attempt:
        with lo.using(walked=walked):
            left = for_loop(lo, node)
        if any(cell in lo.dirty for cell in walked) or types_are_lost(walked, lo.build.stmts[before:]):
            attempt.fail()
    return for_loop(lo, node, listing=True) if attempt.failed else left


def types_are_lost(walked: list[Cell], made: list[Stmt]) -> bool:
    """Tell whether a loop over constants has values of unknown type: an axis, a size or an option that the compiler does not see."""
    targets = {t for stmt in made for t in stmt.targets}
    if not any(cell.slots[VALUE] in targets for cell in walked):
        return False
    return any(isinstance(t.type, Unknown) for stmt in walk(Block(tuple(made), ())) for t in stmt.targets)


def for_loop(lo: Lowering, node: gast.For, listing: bool = False) -> Any:
    """Lower a `for` loop; with `listing`, take the items of lists of known length one by one."""
    with walks.unchanged(lo, node, exits.exits_of(lo, node).leave) as taken:
        return over(lo, node, taken, listing)


def over(lo: Lowering, node: gast.For, taken: list, listing: bool) -> Any:
    """Lower a `for` loop, and add what the loop must not change to `taken`."""
    with lo.using(listing=listing, walks=taken):
        value = core.lower(lo, node.iter)
        leaving = exits.exits_of(lo, node)
        is_left = leaving.leave is not None and lo.unrolling and isinstance(value, Iterable) and value.once
        iterable = counting.each_taken(lo, value, node) if is_left else core.iterate(lo, value, node)
    bind = functools.partial(assign, lo, node.target)
    body = functools.partial(core.lower_statements, lo, node.body)
    if iterable.items is not None:
        exits.enter(lo, leaving)

        places = itertools.count()

        def taking(elements: Sequence[Value]) -> list:
            takes = [functools.partial(elements.__getitem__, k) for k in range(len(elements))]
            return [functools.partial(walks.element_now, lo, taken, iterable, next(places), take, node) for take in takes]

        def added() -> list:
            return taking(walks.items_added(lo, taken, iterable, node))

        left = loops.iteration_by_iteration(lo, leaving.leave, taking(iterable.items), bind, body, added)
        took_some(lo, value, leaving, node)
        return left
    changed = functools.partial(seeds, lo, node.target, node.body, node)
    loops.run_loop(lo, ForLoop(iterable, bind, body, index_name(node.target), leaving, changed, node))
    walks.check_items(lo, taken, node)
    took_some(lo, value, leaving, node)
    return None


def took_some(lo: Lowering, value: Value, leaving: exits.Exits, node) -> None:
    """Note that a loop has ended, and that an iterator has no more elements after one that nothing ends early."""
    if isinstance(value, Iterable):
        counting.left_early(lo, value, node)
    sequences.took_all(lo, value, leaving.leave)


def index_name(target: gast.AST) -> str | None:
    """Return the user's name for the iteration index: `for i in range`, `for i, x in enumerate`."""
    match target:
        case gast.Name(id=name) | gast.Tuple(elts=[gast.Name(id=name), *_]):
            return name
    return None


MOST_WHILES = 20  # the most iterations of a `while` loop that are lowered one by one
TEST_ASSIGNS, ASSIGN_OUTSIDE = "the condition of this loop changes something", "do it before the loop and at the end of its body"


class TestChanges(Exception):
    """Signal a `while` loop whose condition changes a name, an array, a container or an iterator."""


def lower_while(lo: Lowering, node: gast.While) -> None:
    """Lower a `while` loop; if its condition changes something, test it inside the body."""
    with lo.attempt(TestChanges) as attempt:
        return tested_first(lo, node)
    if attempt.failed and any(not isinstance(n, gast.Return) for child in node.orelse for n in exits.exits_in(child)):
        raise core.unsupported(lo, node, f"{TEST_ASSIGNS}, and its `else` leaves another loop", ASSIGN_OUTSIDE)
    return tested_first(lo, exits.tested_inside(lo, node))


def tested_first(lo: Lowering, node: gast.While) -> None:
    """Lower a `while` loop whose condition is tested before each iteration."""
    if not exits.is_endless(node) and any(isinstance(n, gast.NamedExpr) for n in gast.walk(node.test)):
        raise TestChanges
    leaving = exits.exits_of(lo, node)
    exits.enter(lo, leaving)

    if lo.unrolling:
        with lo.attempt(NotUnrolled):
            return whiles(lo, node, leaving, 0)

    def start() -> tuple[Block, None]:
        before, birth = lo.journal.mark(), next_birth()
        with lo.build.block() as stmts:
            cond = tested(lo, lo.read(core.condition(lo, core.lower(lo, node.test))))
        changed = lo.journal.changed(before, birth)
        if any(slots.get(key, MISSING) is not old and not reads_again(slots, key) for (slots, key), old in changed.items()):
            raise TestChanges
        lo.journal.rollback(before)
        return Block(tuple(stmts), (cond,)), None

    run = functools.partial(loops.whole_iteration, lo, leaving, functools.partial(core.lower_statements, lo, node.body))
    loop_variants.loop(lo, start, run, seeds(lo, node.body[0], node.body, node), leaving.leave)
    return None


def reads_again(slots: Slots, key: Any) -> bool:
    """Tell whether the change of a slot is that a view was derived from its base, which a condition does that reads the view."""
    return key is SEEN or key is VALUE and slots.cell is not None and slots.cell.base is not None


class NotUnrolled(Exception):
    """Signal a `while` loop whose number of iterations is not known."""


def whiles(lo: Lowering, node: gast.While, leaving: exits.Exits, count: int) -> Any:
    """Lower the iterations of a `while` loop from number `count` on, as long as its condition is known to hold."""
    holds = core.truth(lo, core.condition(lo, core.lower(lo, node.test)))
    if holds is None or count == MOST_WHILES:
        raise NotUnrolled
    if not holds:
        return None
    if loops.one_iteration(lo, leaving.leave, functools.partial(core.lower_statements, lo, node.body)) is RAISED:
        return RAISED
    left = FALSE if leaving.leave is None else lo.scope.names[leaving.leave]
    return choose(lo, left, lambda: None, functools.partial(whiles, lo, node, leaving, count + 1))


def seeds(lo: Lowering, target: gast.AST, body: list[gast.AST], node: gast.AST | None = None) -> list:
    """Find the slots that an iteration surely changes, judged by the syntax: names assigned, arrays written through a name.

    Args:
        lo: the lowering.
        target: the syntax node that the elements are assigned to.
        body: the statements of the loop.
        node: the loop, if it is a statement of the function.
    """
    found: dict = {}
    everywhere, statements = lo.scope.reads
    here = name_reads(node) if getattr(node, "original", node) in statements else {}
    inside = [m for s in body for m in adjoint_blocks.walk(lo, s)] + list(gast.walk(target))
    in_place = {n.target for n in inside if isinstance(n, gast.AugAssign) and isinstance(value_of(lo, n.target), Cell)}
    for n in inside:
        match n:
            case gast.Name(id=name, ctx=gast.Store()) if n not in in_place:
                home = lo.scope.home(name)
                is_own = name in lo.scope.local  # and not that of a comprehension or function inside, which may stand for another one here
                if name in home or home is not lo.scope.names or is_own and everywhere[name] > here.get(name, 0):  # read outside this loop
                    found.setdefault((home, name))
            case gast.Subscript(value=gast.Name() as name, ctx=gast.Store()):
                cell = value_of(lo, name)
                if isinstance(cell, Cell) and cell.root().kind == "array":
                    found.setdefault((cell.root().slots, VALUE))
    return list(found)


def value_of(lo: Lowering, target: gast.AST) -> Value | None:
    """Return the value of a variable of the function, None if it has none or if the target is no variable."""
    name = getattr(target, "id", None)
    return lo.scope.home(name).get(name)
