"""Lower `itertools`, and NumPy's iteration over elements, to loops over elements or over their indices.

    combinations(xs, 2)     (xs[i], xs[j]) for i, j in combinations(range(len(xs)), 2)
    chain(xs, ys)           the list of all their elements
    zip(xs, cycle(ys))      ys[k % len(ys)]
"""

import functools
import itertools
import math
import operator
from typing import Any

import numpy as np

from sourcead.frontend import core
from sourcead.frontend.builtins import functions, in_python
from sourcead.frontend.builtins.arguments import NONE, ONE, ZERO, lowers
from sourcead.frontend.control import loop_variants, loops
from sourcead.frontend.core import Cell, Iterable, Lowering, TupleVal, Value, roots
from sourcead.frontend.values import counting, iterables, lists, sequences, walks
from sourcead.ir.nodes import Atom, Call, Const
from sourcead.ir.types import INT, UNKNOWN, Array, ListT, TupleT, Unknown

TWO = Const(2)


@lowers(itertools.product)
def builtin_product(lo: Lowering, node, *xs: Value, repeat: Value = ONE) -> Value:
    """Lower `product(xs, ys)`."""
    times = core.certain(lo, repeat, node, unknown_number(itertools.product))
    return chosen(lo, node, itertools.product, xs * times, len(xs) * times)


def lower_chosen(fn: Any, lo: Lowering, node, xs: Value, r: Value = NONE) -> Value:
    """Lower `combinations(xs, r)`, `permutations(xs, r)` and `combinations_with_replacement(xs, r)`."""
    return chosen(lo, node, fn, (xs,), core.certain(lo, r, node, unknown_number(fn)))


for _fn in (itertools.combinations, itertools.permutations, itertools.combinations_with_replacement):
    lowers(_fn)(functools.partial(lower_chosen, _fn))


def unknown_number(fn: Any) -> str:
    """Return why tuples of an unknown number of elements are refused."""
    return f"`{fn.__name__}` of a number of elements that is not known here"


def chosen(lo: Lowering, node, fn: Any, sources: tuple[Value, ...], count: int | None) -> Iterable:
    """Iterate over tuples of `count` elements, those of one source or one of each source, which are read by index."""
    parts = [pool(lo, a, node) for a in sources]
    parts = one_by_one(lo, parts) if lo.unrolling and fn is itertools.product else parts
    how = () if fn is itertools.product or count is None else (count,)
    if all(p.items is not None for p in parts):
        return Iterable(items=[TupleVal(t) for t in fn(*(p.items for p in parts), *how)], once=True)
    if count is None:
        raise core.unsupported(lo, node, unknown_number(fn))
    parts = [iterables.by_unknown_number(lo, p, node) for p in parts]
    ranges = [lo.build.call(range, p.length()) for p in parts]
    made = lo.build.emit(Call(fn, (*ranges, *map(Const, how))), UNKNOWN, "chosen")
    places = lo.wrap(lo.build.call(list, made, type=ListT(TupleT((INT,) * count)), name="places"))
    owners = parts * (count // len(parts))
    each = core.iterate(lo, places, node)

    def nth(k):
        indices = sequences.static_items(lo, each.nth(k), node, count)
        return TupleVal(tuple(p.nth(lo.read(i)) for p, i in zip(owners, indices)))

    return Iterable.numbered(each.length, nth, once=True)


def one_by_one(lo: Lowering, parts: list[Iterable]) -> list[Iterable]:
    """Return iterables with their elements known one by one if their numbers are known and not many."""
    places = [range(len(p.items)) if p.items is not None else loops.known_places(lo, p) for p in parts]
    if None in places or math.prod(map(len, places)) > loops.MAX_UNROLLED:
        return parts
    return [iterables.listed(p.items or [p.element(Const(k)) for k in at]) for p, at in zip(parts, places)]


def pool(lo: Lowering, xs: Value, node) -> Iterable:
    """Iterate over the items that `xs` has now, which is what `tuple(xs)` holds: later writes of `xs` do not change them."""
    t = core.data_type(lo, xs)
    if isinstance(t, Array) and len(t.dims or ()) == 1 or isinstance(t, ListT) and isinstance(t.item, lists.NO_MEMORY):
        return core.iterate(lo, lo.new_cell(lo.read(xs)), node)  # the current version, which is immutable
    if isinstance(t, ListT):
        return core.iterate(lo, lists.method(lo, xs, "copy", [], {}, node), node)
    source = core.iterate(lo, xs, node)
    if source.items is None and source.value is None and t is None:  # it reads its elements when they are asked for
        return core.iterate(lo, lists.as_list(lo, source, node), node)
    return iterables.without_generator(lo, source, node)


def held_still(lo: Lowering, xs: Value) -> Value:
    """Return an array or list to be read at any time; a write of `xs` makes it unreadable."""
    if not isinstance(core.data_type(lo, xs), (Array, ListT)):
        return xs
    return lo.new_cell(lo.read(xs), shares=roots(xs), name=getattr(xs, "name", "t"))


@lowers(np.ndindex)
def builtin_ndindex(lo: Lowering, node, *shape: Value) -> Value:
    """Lower `np.ndindex(2, 3)` or `np.ndindex(x.shape)` to a product of ranges."""
    if len(shape) == 1 and (core.is_sequence(shape[0]) or isinstance(core.data_type(lo, shape[0]), Unknown)):
        shape = sequences.static_items(lo, shape[0], node)
    return builtin_product(lo, node, *(core.call(lo, Const(range), [n], {}, node) for n in shape))


@lowers(itertools.islice)
def builtin_islice(lo: Lowering, node, xs: Value, *bounds: Value) -> Value:
    """Lower `islice(xs, start, stop, step)`."""
    if any(found and isinstance(k, int) and k < 0 for found, k in map(functools.partial(core.known, lo), bounds)):
        raise core.surely(lo, core.unsupported(lo, node, "`islice` from or to a negative place"), ValueError)

    if lo.unrolling and isinstance(xs, Iterable) and xs.once and len(bounds) == 1 and not core.is_none(bounds[0]):
        taken = in_python.first_of_endless if xs.endless else in_python.first_left
        return core.call_object(lo, taken, [xs, *bounds], {}, node)

    def sliced(source: Iterable) -> Iterable:
        if source.endless and len(bounds) == 1 and not core.is_none(bounds[0]):
            return core.iterate(lo, core.call_object(lo, in_python.first_left, [source, *bounds], {}, node), node)
        if source.endless:
            raise core.unsupported(lo, node, "`islice` of what never ends", "write the loop, and leave it with `break`")
        items = lists.as_list(lo, iterables.drained(lo, source, node), node)
        made = core.subscript(lo, items, functions.builtin_slice(lo, node, *bounds), node)
        if isinstance(xs, Cell) and isinstance(made, Cell):
            lo.share(made, roots(xs))  # read here, but by Python when they are asked for: a write of `xs` between is refused
        return core.iterate(lo, made, node)

    return iterables.later(lo, [xs], sliced, node)


@lowers(in_python.begun)
def lower_begun(lo: Lowering, node, xs: Value, required: Const) -> Value:
    """Split an iterable into the iterable of its first element, which is empty if there is none, and the others.

    If the element is `required`, the program raises an error where there is none.
    """
    source = iterables.drained(lo, core.iterate(lo, xs, node), node)
    if source.items is not None:
        unchanged = walks.Unchanged(lo, {xs.slots} if isinstance(xs, Cell) else set())

        def read(k: int) -> Value:
            unchanged.check(node)
            return source.items[k]

        rest = iterables.ReadWhenTaken(range(1, len(source.items)), read)
        return TupleVal((TupleVal(tuple(source.items[:1])), iterables.listed(rest)))
    if required.value or loops.known_places(lo, source) or loop_variants.surely_runs(lo, source.domain()):
        first = TupleVal((source.nth(ZERO),))
    else:
        first = Iterable.numbered(lambda: lo.build.call(min, ONE, source.length(), type=INT), source.nth)
    return TupleVal((first, after_first(lo, source)))


def after_first(lo: Lowering, source: Iterable) -> Iterable:
    """Iterate over the elements after the first one, which are read by index."""

    def length() -> Atom:
        return lo.build.call(operator.sub, source.length(), ONE, type=INT)

    return Iterable.numbered(length, lambda k: source.nth(lo.build.call(operator.add, k, ONE, type=INT)))


@lowers(itertools.pairwise)
def builtin_pairwise(lo: Lowering, node, xs: Value) -> Value:
    """Lower `pairwise(xs)`."""

    def pairs(inner: Iterable) -> Iterable:
        source = iterables.drained(lo, inner, node)
        if source.items is not None:
            places = range(max(len(source.items) - 1, 0))
            return iterables.listed(iterables.ReadWhenTaken(places, lambda k: TupleVal((source.items[k], source.items[k + 1]))))
        rest = after_first(lo, source)
        return Iterable.numbered(rest.length, lambda k: TupleVal((source.nth(k), rest.nth(k))))

    return iterables.later(lo, [held_still(lo, xs)], pairs, node)


@lowers(itertools.repeat)
def builtin_repeat(lo: Lowering, node, value: Value, times: Value | None = None) -> Value:
    """Lower `repeat(value, times)`."""
    if times is None:
        return Iterable(nth=lambda k: value, endless=True, once=True)
    return Iterable.numbered(iterables.counted(lo, [times], node).length, lambda k: value, once=True)


@lowers(itertools.count)
def builtin_count(lo: Lowering, node, start: Value = ZERO, step: Value = ONE) -> Value:
    """Lower `count(start, step)`."""

    def nth(k):
        far = core.operate(lo, operator.mul, k, step) if not core.is_number(lo, lo.read(step), 1) else k
        return far if core.is_number(lo, lo.read(start), 0) else core.operate(lo, operator.add, start, far)

    return Iterable(nth=nth, endless=True, once=True)


@lowers(itertools.cycle)
def builtin_cycle(lo: Lowering, node, xs: Value) -> Value:
    """Lower `cycle(xs)`."""

    def repeated(inner: Iterable) -> Iterable:
        source = iterables.by_unknown_number(lo, iterables.drained(lo, inner, node), node)
        return Iterable(nth=lambda k: source.nth(lo.build.call(operator.mod, k, source.length(), type=INT)), endless=True)

    return iterables.later(lo, [held_still(lo, xs)], repeated, node)


@lowers(itertools.zip_longest)
def builtin_zip_longest(lo: Lowering, node, *xs: Value, fillvalue: Value = NONE) -> Value:
    """Lower `zip_longest(xs, ys, fillvalue=0)`."""

    def rows(*sources: Iterable) -> Iterable:
        taken = [iterables.drained(lo, x, node) for x in sources]
        parts = [inner.items for inner in taken]
        if None in parts:
            return core.call_object(lo, in_python.to_the_longest, taken, {"fillvalue": fillvalue}, node)
        return iterables.listed([TupleVal(row) for row in itertools.zip_longest(*parts, fillvalue=fillvalue)])

    return iterables.later(lo, xs, rows, node)


@lowers(itertools.tee)
def builtin_tee(lo: Lowering, node, xs: Value, n: Value = TWO) -> Value:
    """Lower `tee(xs, n)`: each iterator gives the elements that the first to ask for them takes, so they must not change until then."""
    outer = lo.reads
    with lo.using(reads=set()):
        found = iterables.drained(lo, core.iterate(lo, xs, node), node)
        reads = lo.reads | iterables.slots_of([xs])
    if outer is not None:
        outer |= reads
    begin = counting.unless_changed(lo, reads, lambda: found, node)
    return TupleVal(tuple(Iterable(begin=begin, once=True) for _ in range(core.certain(lo, n, node, unknown_number(itertools.tee)))))


ALL = Const(-1)


@lowers(np.fromiter)
def builtin_fromiter(lo: Lowering, node, xs: Value, dtype: Value | None = None, count: Value = ALL, **named: Value) -> Value:
    """Lower `np.fromiter(xs, dtype, count)`."""
    if core.known(lo, count) != (True, -1):
        xs = core.call_object(lo, itertools.islice, [xs, count], {}, node)
    if dtype is None or named:
        raise core.unsupported(lo, node, "`np.fromiter` with more than what is iterated over and a dtype", "make a list of it")
    return core.call_library(lo, np.array, [lists.as_list(lo, xs, node), dtype], {}, node)
