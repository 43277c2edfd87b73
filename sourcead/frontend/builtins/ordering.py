"""Lower `sorted`, and `max` and `min` with a key or of an iterable of unknown length."""

import functools
import operator

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.errors import SourceADError
from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import lowers
from sourcead.frontend.control import branches
from sourcead.frontend.core import FALSE, Cell, Lowering, TupleVal, Value
from sourcead.frontend.values import lists, objects_by_place, sequences, sets
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import BOOL, INT, Array, ListT, Scalar
from sourcead.primitives.result_types.infer import Arg, infer_call


def indexable(lo: Lowering, value: Value, node) -> Value:
    """Return the items of an iterable as a one-axis array or a list that can be indexed; those of a set come in any order."""
    if sets.set_type(lo, value) is not None:
        return sets.listed(lo, value)
    value = sequences.taken(lo, value, node)
    t = core.data_type(lo, value)
    if isinstance(t, ListT) or isinstance(t, Array) and t.dims is not None and len(t.dims) == 1:
        return value
    found = lists.as_list(lo, value, node)
    return sequences.as_one_value(lo, found) if isinstance(found, Cell) and found.kind == "list" else found


@lowers(sorted)
def builtin_sorted(lo: Lowering, node, xs: Value, *, key: Value | None = None, **options: Value) -> Value:
    """Lower `sorted(xs, key=f, reverse=r)`."""
    if key is None and sets.set_type(lo, xs) is not None:
        return sets.listed(lo, xs, sorted, options)
    xs = sequences.taken(lo, xs, node)
    known = sequences.static_items(lo, xs, node) if key is not None and core.has_known_items(xs) else []
    if objects_by_place.may_differ(lo, known, node) and len(known) <= 3 and not core.is_none(key):
        return objects_by_place.orders_of(lo, known, key, bool(core.certain(lo, options.get("reverse", FALSE), node)), node)
    if objects_by_place.are_few_objects(lo, known) and len(known) <= 3 and not core.is_none(key):
        backward = core.certain(lo, options.get("reverse", FALSE), node)
        return lo.new_list(objects_by_place.in_order(lo, known, key, bool(backward), node))
    if (found := sorted_while_compiling(lo, xs, key, node, **options)) is not None:
        return found

    def ordered() -> Value:
        items = indexable(lo, xs, node)
        if getattr(atom_type(lo.read(items)), "items", None) == ():
            return lo.new_list([])
        return lists.gathered(lo, items, lists.order_of(lo, items, key, options.get("reverse"), node), node)

    return objects_by_place.or_noted(lo, known, ordered)


def sorted_while_compiling(lo: Lowering, xs: Value, key: Value | None, node, reverse: Value = FALSE) -> Value | None:
    """Return the sorted list of items that are no plain data, such as objects and iterators, if all keys are known; else None."""
    items = sequences.static_items(lo, xs, node) if key is not None and core.has_known_items(xs) else ()
    if all(core.type_of_value(item) for item in items):
        return None
    with lo.attempt(SourceADError, TypeError) as attempt:
        found, keys = zip(*(core.known(lo, core.call(lo, key, [item], {}, node)) for item in items))
        backward = core.certain(lo, reverse, node)
        if all(found):
            return lo.new_list([items[k] for k in sorted(range(len(items)), key=keys.__getitem__, reverse=backward)])
        attempt.fail()
    return None


def extreme(fn, lo: Lowering, node, *values: Value, key: Value | None = None, default: Value | None = None) -> Value:
    """Lower `max(xs, key=f, default=v)` or `max(x, y)`, or `min`."""
    if len(values) == 1:
        values = (sequences.taken(lo, values[0], node),)
    items = sequences.static_items(lo, values[0], node) if len(values) == 1 and core.has_known_items(values[0]) else list(values)
    if key is not None and not core.is_none(key) and objects_by_place.may_differ(lo, items, node):
        return objects_by_place.best_of(lo, operator.gt if fn is max else operator.lt, items, key, node)
    if key is not None and not core.is_none(key) and objects_by_place.are_few_objects(lo, items):
        return objects_by_place.extreme(lo, operator.gt if fn is max else operator.lt, items, key, node)
    if key is not None or len(values) == 1 and not core.has_known_items(values[0]):
        given = values[0] if len(values) == 1 else TupleVal(values)
        return objects_by_place.or_noted(lo, items, lambda: extreme_item(lo, fn, given, key, default, node))
    if not items and default is not None:
        return default
    if not items:
        raise core.surely(lo, core.unsupported(lo, node, f"`{fn.__name__}` of what has no items"), ValueError)
    if any(core.is_sequence(item) or isinstance(item, Cell) and item.kind == "object" for item in items):
        exceeds = operator.gt if fn is max else operator.lt
        return functools.reduce(
            lambda a, b: branches.choose(lo, core.operate(lo, exceeds, b, a), lambda: b, lambda: a, "ifexp"), items
        )
    folded = core.fold(lo, fn, items)
    if folded is not None and lo.static_only:
        return folded
    result = functools.reduce(lambda a, b: lo.build.call(fn, lo.read(a), lo.read(b)), items)
    if folded is not None and isinstance(result, Var):
        lo.build.known[result] = folded.value
    return result


lowers(max)(functools.partial(extreme, max))
lowers(min)(functools.partial(extreme, min))


def extreme_item(lo: Lowering, fn, value: Value, key: Value | None, default: Value | None, node) -> Value:
    """Lower `max(xs, key=f, default=v)` or `min` with a key or for an iterable of unknown length."""
    items = indexable(lo, value, node)
    t = atom_type(lo.read(items))

    def best():
        of_array = np.max if fn is max else np.min
        if key is None and isinstance(t, Array):
            return core.call_library(lo, of_array, [items], {}, node)
        if key is None and isinstance(t, ListT) and isinstance(t.item, Scalar):  # of which more is known than of an array of them
            found = lo.build.call(of_array, lo.build.call(np.array, lo.read(items)), type=infer_call(of_array, [Arg(t)], {}))
            of_python = {"float": float, "int": int}.get(t.item.kind) if t.item.dtype is None and t.item.least is None else None
            return found if of_python is None else lo.build.call(of_python, found)
        largest = Const(fn is max)
        place = lo.build.call(runtime.best_place, lists.keys_of(lo, items, key, node), largest, type=INT, name="best")
        return core.subscript(lo, items, place, node)

    if default is None:
        return best()
    if isinstance(t, ListT) and t.items is not None:
        return best() if t.items else default
    n = lo.build.call(len, lo.read(items), type=INT, name="n")
    return branches.branch(lo, lo.build.call(operator.gt, n, Const(0), type=BOOL), [best, lambda: default], "ifexp")
