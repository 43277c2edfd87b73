"""Count the elements that loops and `next` take of an iterator, so that one that is left early is used again with the others.

    for x in it:                 k = 0                              the elements that are left are those from place k on
        if x > 1.0:              for x in elements:
            break                    k = k + 1
    rest = sum(it)                   if x > 1.0: break

The elements of a generator are put into a list first, unless Python would show that they are taken one by one. This is how a function is
lowered that is refused without it (`Lowering.unrolling`), since the text is longer.
"""

import operator
from collections.abc import Callable
from dataclasses import replace

from sourcead.frontend import core
from sourcead.frontend.control.loops import ONE
from sourcead.frontend.core import BUSY, ENDED, FALSE, LEFT, TAKEN, TRUE, USED, Iterable, Lowering, Value
from sourcead.frontend.values import iterables, walks
from sourcead.ir.nodes import Atom, Const
from sourcead.ir.types import INT, Array


def countable(lo: Lowering, it: Iterable, node) -> Iterable | None:
    """Return the elements of an iterator, those of a generator in a list, from now on counted by `TAKEN`; None if that cannot be."""
    if not iterables.is_countable(lo, it) or core.truth(lo, it.state[ENDED]) is not False:
        return None
    outer = lo.reads
    with lo.using(reads=set()):
        found = iterables.elements(lo, it, node)
        is_generator = found.drive is not None and not found.endless
        found, reads = iterables.at_once(lo, found, node) if is_generator else (found, lo.reads | iterables.slots_of([it]))
    if outer is not None:
        outer |= reads
    if is_generator:
        walks.watch(lo, reads)  # while a loop takes them
    if is_generator or takes_of_others(it) and LEFT not in it.state:
        lo.set(it.state, USED, TRUE)
        lo.set(it.state, LEFT, Iterable(begin=unless_changed(lo, reads, lambda: found, node)))
    return found if found.drive is None else None


def takes_of_others(it: Iterable) -> bool:
    """Tell whether an iterator takes its elements of other iterators, of which it can take them once."""
    return any(isinstance(source, Iterable) and source.once for source in it.sources)


def left_early(lo: Lowering, it: Iterable, node) -> None:
    """Note that a loop that may have been left early has ended; if it was not, the elements that a list gets later are not for it."""
    if core.truth(lo, it.state[BUSY]) is not False:
        lo.set(it.state, BUSY, FALSE)
        keep_their_length = all(isinstance(core.data_type(lo, v), Array) for v in it.sources)
        if LEFT not in it.state and it.begin is not None and not keep_their_length:
            lo.set(it.state, LEFT, Iterable(begin=unless_changed(lo, iterables.slots_of([it]), it.begin, node)))


def unless_changed(lo: Lowering, reads: set, begin: Callable[[], Iterable], node) -> Callable[[], Iterable]:
    """Return what begins an iterable again, but refuses to where something was changed since now."""
    still = walks.Unchanged(lo, reads)

    def again() -> Iterable:
        still.check(node)
        walks.watch(lo, reads)
        return begin()

    return again


def each_taken(lo: Lowering, it: Iterable, node) -> Iterable:
    """Iterate over what is left of an iterator in a loop that may be left early: each iteration counts its element.

    Until the loop ends (`BUSY`), nothing else may take an element.
    """
    found = countable(lo, it, node)
    if found is None:
        return core.iterate(lo, it, node)
    before = it.state[TAKEN]
    source = found if core.is_number(lo, before, 0) else iterables.after(lo, found, before, node)
    lo.set(it.state, BUSY, TRUE)

    def take(k: Atom) -> Value:
        lo.set(it.state, TAKEN, lo.read(core.operate(lo, operator.add, before, plus_one(lo, k))))
        return source.items[k.value] if source.items is not None else source.nth(k)

    if source.items is not None:
        return replace(source, items=iterables.ReadWhenTaken(range(len(source.items)), lambda k: take(Const(k))))
    if source.endless:
        return Iterable(nth=take, endless=True)
    return Iterable.numbered(source.length, take, count=source.count)


def plus_one(lo: Lowering, k: Atom) -> Atom:
    """Return the integer after `k`."""
    return Const(k.value + 1) if isinstance(k, Const) else lo.build.call(operator.add, k, ONE, type=INT)
