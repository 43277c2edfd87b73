"""Lower `itertools` to loops over elements or over their indices.

    combinations(xs, 2)     (xs[i], xs[j]) for i, j in combinations(range(len(xs)), 2)
    chain(xs, ys)           the list of all their elements
    zip(xs, cycle(ys))      ys[k % len(ys)]
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from sourcead.frontend import core
from sourcead.frontend.control import loops
from sourcead.frontend.control.loops import ZERO
from sourcead.frontend.core import Iterable, Lowering, TupleVal, Value
from sourcead.frontend.values import iterables, lists, sequences
from sourcead.ir.nodes import Call, Const, Slice
from sourcead.ir.types import INT, UNKNOWN, ListT, TupleT


def choosing(fn: Any):
    """Make the handler of `product`, `combinations` or `permutations`, which reads the tuples of elements by index."""

    def handler(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
        times = kwargs.get("repeat", Const(1)) if fn is itertools.product else (args[1] if len(args) > 1 else kwargs.get("r"))
        found, r = (True, None) if times is None else core.known(lo, times)
        if not found:
            raise core.unsupported(lo, node, f"`{fn.__name__}` of a number of elements that is not known here")
        sources = args * r if fn is itertools.product else args[:1]
        parts = [iterables.without_generator(lo, core.iterate(lo, a, node), node) for a in sources]
        how = () if fn is itertools.product or r is None else (r,)
        if all(p.items is not None for p in parts):
            return iterables.listed([TupleVal(t) for t in fn(*(p.items for p in parts), *how)])
        if r is None:
            raise core.unsupported(lo, node, f"`{fn.__name__}` of a number of elements that is not known here")
        parts = [iterables.by_unknown_number(lo, p, node) for p in parts]
        ranges = [lo.build.call(range, p.length()) for p in parts]
        chosen = lo.build.emit(Call(fn, (*ranges, *map(Const, how))), UNKNOWN, "chosen")
        count = len(parts) if fn is itertools.product else r
        places = lo.wrap(lo.build.call(list, chosen, type=ListT(TupleT((INT,) * count)), name="places"))
        owners = parts if fn is itertools.product else parts * r
        each = core.iterate(lo, places, node)

        def nth(k):
            chosen = sequences.static_items(lo, each.nth(k), node, count)
            return TupleVal(tuple(p.nth(lo.read(i)) for p, i in zip(owners, chosen)))

        return Iterable.numbered(each.length, nth)

    return handler


@core.builtin(np.ndindex)
def builtin_ndindex(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `np.ndindex(2, 3)` or `np.ndindex(x.shape)` to a product of ranges."""
    if len(args) == 1 and core.is_sequence(args[0]):
        args = sequences.static_items(lo, args[0], node)
    ranges = [core.call(lo, Const(range), [n], {}, node) for n in args]
    return choosing(itertools.product)(lo, ranges, {}, node)


@core.builtin(itertools.chain)
def builtin_chain(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `chain(xs, ys)`."""
    parts = [core.iterate(lo, a, node) for a in args]
    if all(p.items is not None for p in parts):
        return iterables.listed([item for p in parts for item in p.items])
    made = lo.new_list([])
    for part in parts:
        loops.for_each(lo, part, lambda item: sequences.append(lo, made, item, node))
    return made


@core.builtin(itertools.chain.from_iterable)
def builtin_from_iterable(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `chain.from_iterable(rows)`."""
    rows = core.iterate(lo, args[0], node)
    if rows.items is not None:
        return builtin_chain(lo, rows.items, {}, node)
    made = lo.new_list([])

    def add(row):
        loops.for_each(lo, core.iterate(lo, row, node), lambda item: sequences.append(lo, made, item, node))

    loops.for_each(lo, rows, add)
    return made


@core.builtin(itertools.islice)
def builtin_islice(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `islice(xs, start, stop, step)`."""
    source = core.iterate(lo, args[0], node)
    if source.endless:
        raise core.unsupported(lo, node, "`islice` of what never ends", "write the loop, and leave it with `break`")
    bounds = [None if isinstance(a, Const) and a.value is None else lo.read(a) for a in args[1:]]
    key = Slice(None, bounds[0], None) if len(bounds) == 1 else Slice(*bounds, *[None] * (3 - len(bounds)))
    return core.subscript(lo, lists.as_list(lo, source, node), key, node)


@core.builtin(itertools.pairwise)
def builtin_pairwise(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `pairwise(xs)`."""
    source = iterables.without_generator(lo, core.iterate(lo, args[0], node), node)
    if source.items is not None:
        return iterables.listed([TupleVal(pair) for pair in zip(source.items, source.items[1:])])

    def length():
        return lo.build.call(operator.sub, source.length(), Const(1), type=INT)

    def nth(k):
        return TupleVal((source.nth(k), source.nth(lo.build.call(operator.add, k, Const(1), type=INT))))

    return Iterable.numbered(length, nth)


@core.builtin(itertools.repeat)
def builtin_repeat(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `repeat(value, times)`."""
    times = args[1] if len(args) > 1 else kwargs.get("times")
    if times is None:
        return Iterable(nth=lambda k: args[0], endless=True)
    inner = iterables.counted(lo, [times], node)
    value = args[0]
    return Iterable(domain=inner.domain, element=lambda k: value, length=inner.length, nth=lambda k: value)


@core.builtin(itertools.count)
def builtin_count(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `count(start, step)`."""
    start = args[0] if args else kwargs.get("start", ZERO)
    step = args[1] if len(args) > 1 else kwargs.get("step", Const(1))

    def nth(k):
        far = core.operate(lo, operator.mul, k, step) if not core.is_number(lo, lo.read(step), 1) else k
        return far if core.is_number(lo, lo.read(start), 0) else core.operate(lo, operator.add, start, far)

    return Iterable(nth=nth, endless=True)


@core.builtin(itertools.cycle)
def builtin_cycle(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `cycle(xs)`."""
    source = iterables.by_unknown_number(lo, iterables.without_generator(lo, core.iterate(lo, args[0], node), node), node)

    def nth(k):
        return source.nth(lo.build.call(operator.mod, k, source.length(), type=INT))

    return Iterable(nth=nth, endless=True)



@core.builtin(itertools.zip_longest)
def builtin_zip_longest(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `zip_longest(xs, ys, fillvalue=0)` for lists of known lengths."""
    parts = [iterables.without_generator(lo, core.iterate(lo, a, node), node).items for a in args]
    if None in parts:
        raise core.unsupported(lo, node, "`zip_longest` of what has a length that is not known here")
    rows = itertools.zip_longest(*parts, fillvalue=kwargs.get("fillvalue", Const(None)))
    return iterables.listed([TupleVal(row) for row in rows])


@core.builtin(itertools.groupby)
def builtin_groupby(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `groupby(xs, key)` for items whose keys are known while compiling."""
    key = args[1] if len(args) > 1 else kwargs.get("key", Const(None))
    items = iterables.without_generator(lo, core.iterate(lo, args[0], node), node).items
    if items is not None:
        keys = [item if core.is_none(key) else core.call(lo, key, [item], {}, node) for item in items]
        known = [core.known(lo, k) for k in keys]
        if all(found for found, _ in known):
            groups = itertools.groupby(range(len(items)), lambda k: known[k][1])
            return iterables.listed([TupleVal((Const(name), lo.new_list([items[k] for k in places]))) for name, places in groups])
    raise core.unsupported(lo, node, "`groupby` with keys that are not known here", "put the items into a dict of lists")


core.builtin(itertools.product)(choosing(itertools.product))
core.builtin(itertools.combinations)(choosing(itertools.combinations))
core.builtin(itertools.permutations)(choosing(itertools.permutations))
core.builtin(itertools.combinations_with_replacement)(choosing(itertools.combinations_with_replacement))
