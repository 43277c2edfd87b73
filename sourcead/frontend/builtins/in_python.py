"""Lower functions of the standard library and of NumPy like the Python functions that they are equivalent to.

The body of such a function is lowered in place of the call. Its statements belong to the line of the call, and its names, which begin
with `$`, do not appear in the generated code.
"""

import copy
import functools
import heapq
import itertools
import operator
import random
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import NONE, lowers
from sourcead.frontend.control import generators, inlining
from sourcead.frontend.core import FunctionVal, Lowering, Scope, Value
from sourcead.frontend.find_source import find_source
from sourcead.frontend.values import iterables
from sourcead.ir.nodes import Const, Origin


def stands_in_for(*objects: Any) -> Callable:
    """Register a Python function whose body replaces calls of some objects, or of the function itself if there are none."""

    def add(function: Callable) -> Callable:
        for obj in objects or (function,):
            core.builtin(obj)(functools.partial(lower_in_place, function))
        return function

    return add


def lower_in_place(function: Callable, lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function of this file, whose statements belong to the current line; it is no call that may be recursive."""
    defaults = {k: core.as_value(lo, v) for k, v in find_source(function).defaults.items()}
    scope = Scope(InPlace(function, lo.here))
    scope.names.update(inlining.bind(lo, scope.source, args, kwargs, defaults))
    if generators.is_generator(scope.source.node):
        bound = {name: iterables.held(lo, value, node) for name, value in scope.names.items()}
        return generators.made(lo, FunctionVal(scope.source, None, {}), bound)
    with lo.in_scope(scope):
        value = inlining.returned(lo, scope.source)
    return Const(None) if value is None else value


class InPlace:
    """The source of a function whose statements belong to the place of a call."""

    def __init__(self, function: Callable, place: Origin | None):
        source = find_source(function)
        self.node, self.name, self.place, self.function = hidden_names(source.node), source.name.rstrip("_"), place, function
        self.globals, self.closure, self.file = source.globals, source.closure, source.file

    def origin(self, node: gast.AST) -> Origin | None:
        """Return the place of the call for every syntax node."""
        return self.place


@functools.cache
def hidden_names(node: gast.FunctionDef) -> gast.FunctionDef:
    """Mark the local names of a function, except for its parameters, as names that the user did not give."""
    node = copy.deepcopy(node)
    names = {n.id for n in gast.walk(node) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}
    for n in gast.walk(node):
        if isinstance(n, gast.Name) and n.id in names:
            n.id = f"${n.id}"
    return node


@stands_in_for(heapq.nsmallest)
def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[: max(n, 0)]


@stands_in_for(heapq.nlargest)
def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


@stands_in_for(itertools.groupby)
def groupby(iterable, key=None):
    group = []
    for item in iterable:
        k = item if key is None else key(item)
        if group and k != before:  # noqa: F821 (bound when there is a group)
            yield before, iter(group)  # noqa: F821
            group.clear()  # a group has nothing any more when the next one was asked for
        before = k
        group.append(item)
    if group:
        yield before, iter(group)
        group.clear()


@stands_in_for(random.choice)
def choice(seq):
    if not len(seq):
        raise IndexError("Cannot choose from an empty sequence")
    return seq[random.randrange(len(seq))]


@stands_in_for(np.seterr)
def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    return np.geterr()  # what NumPy says of an error changes no number


@stands_in_for(functools.update_wrapper)
def update_wrapper(wrapper, wrapped, assigned=None, updated=None):
    return wrapper


@stands_in_for(functools.wraps)
def wraps(wrapped, assigned=None, updated=None):
    return lambda wrapper: wrapper


@lowers(core.as_it_is)
def decorated_as_it_is(lo: Lowering, node, function: Value = NONE, *options: Value, **named: Value) -> Value:
    """Lower a decorator of Numba, such as `njit` or `njit(cache=True)`."""
    return function if core.is_function(function) else Const(core.as_it_is)


# -- loops over elements ---------------------------------------------------------------------------------------------------


@stands_in_for(map)
def map_(function, items, *others):
    if others:
        for each in zip(items, *others):
            yield function(*each)
    else:
        for item in items:
            yield function(item)


@stands_in_for(filter)
def filter_(test, items):
    if test is None:
        for item in items:
            if item:
                yield item
    else:
        for item in items:
            if test(item):
                yield item


@stands_in_for(itertools.filterfalse)
def filterfalse(test, items):
    for item in items:
        if not (item if test is None else test(item)):
            yield item


@stands_in_for(itertools.compress)
def compress(data, selectors):
    for item, chosen in zip(data, selectors):
        if chosen:
            yield item


@stands_in_for(itertools.takewhile)
def takewhile(test, items):
    for item in items:
        if not test(item):
            break
        yield item


@stands_in_for(itertools.dropwhile)
def dropwhile(test, items):
    dropping = True
    for item in items:
        dropping = dropping and bool(test(item))
        if not dropping:
            yield item


@stands_in_for()
def numbered(items, number):
    """Compute `enumerate(items, number)` for a generator."""
    count = number
    for item in items:
        place = count
        count += 1  # before the loop may be left
        yield place, item


@stands_in_for(itertools.starmap)
def starmap(function, rows):
    for row in rows:
        yield function(*row)


@stands_in_for(itertools.chain)
def chain(*parts):
    for part in parts:
        yield from part


@stands_in_for(itertools.chain.from_iterable)
def from_iterable(parts):
    for part in parts:
        yield from part


@stands_in_for(np.ndenumerate)
def ndenumerate(array):
    array = np.asarray(array)
    for place in np.ndindex(array.shape):
        yield place, array[place]


@stands_in_for(any)
def any_(items):
    for item in items:
        if item:
            return True
    return False


@stands_in_for(all)
def all_(items):
    for item in items:
        if not item:
            return False
    return True


@stands_in_for()
def is_among(items, wanted):
    for item in items:
        if item == wanted:
            return True
    return False


@stands_in_for()
def next_of_object(it, *default):
    try:
        return it.__next__()
    except StopIteration:
        pass
    if not default:
        raise StopIteration()
    return default[0]


@stands_in_for()
def backwards(items):
    for i in range(len(items) - 1, -1, -1):
        yield items[i]


@stands_in_for()
def first_of(items, *default):
    for item in items:
        return item
    if not default:
        raise StopIteration()
    return default[0]


@stands_in_for()
def in_step(first, *others):
    """Compute `zip(first, *others)` where one of them may never end, of which no element may be taken too many."""
    others = [iter(other) for other in others]
    for item in first:
        row = (item,)
        try:
            for other in others:
                row = (*row, next(other))
        except StopIteration:
            return
        yield row


@stands_in_for()
def to_the_longest(*its, fillvalue):
    """Compute `zip_longest(*its, fillvalue=fillvalue)`."""
    lists = [list(items) for items in its]
    for k in range(max([len(items) for items in lists])):
        yield tuple([items[k] if k < len(items) else fillvalue for items in lists])


@stands_in_for()
def first_left(items, count):
    """Compute `islice(items, count)` for an iterator, which has the others left."""
    if count > 0:
        place = 0
        for item in items:
            place += 1
            yield item
            if place == count:
                break


@stands_in_for()
def first_of_endless(items, count):
    """Compute `islice(items, count)` for an iterator that does not end."""
    for _ in range(count):
        yield next(items)


@stands_in_for(dict.fromkeys)
def fromkeys(keys, value=None):
    made = {}
    for key in keys:
        made[key] = value
    return made


def begun(items, required):
    """Split some items into a tuple of the first one, which is empty if there is none, and the others; `required` says that there is."""
    first, *rest = items
    return (first,), rest


@stands_in_for(functools.reduce)
def reduce(function, items, *initial):
    (total,), rest = (initial, items) if initial else begun(items, True)
    for item in rest:
        total = function(total, item)
    return total


@stands_in_for()
def summed(items, start):
    """Compute `sum(items, start)`."""
    total = start
    for item in items:
        total = plus(total, item)
    return total


def plus(total, item):
    """Add an item to a sum."""
    return total + item


@stands_in_for(itertools.accumulate)
def accumulate(items, func=operator.add, *, initial=None):
    first, rest = begun(items, False) if initial is None else ((initial,), items)
    for total in first:
        yield total
    for item in rest:
        total = func(total, item)
        yield total


@stands_in_for()
def scanned(op, xs, initial):
    """Compute `sourcead.scan` by a loop."""
    found = []
    total = initial
    for x in xs:
        total = op(total, x)
        found.append(total)
    return np.stack(found)


@stands_in_for()
def check_one_length(first, *others):
    """Refuse arrays of different lengths, as `sourcead.map` does."""
    for x in others:
        if len(x) != len(first):
            raise ValueError("map takes arrays of one length")


@stands_in_for()
def items_of_results(k, function, *items):
    """Collect one item of each tuple that `sourcead.map` stacks."""
    return [function(*each)[k] for each in zip(*items)]


@stands_in_for(set.remove)
def removed_from_set(items, item):
    if item not in items:
        raise KeyError(item)
    items.discard(item)
