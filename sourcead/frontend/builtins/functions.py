"""The built-in functions that the frontend knows: `len`, `isinstance`, `range`, `zip`, `sum` and kin."""

from __future__ import annotations

import collections
import functools
import itertools
import operator
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.frontend.builtins import itertools_functions
from sourcead.frontend.core import NotStatic
from sourcead.frontend.syntax import branches as control, calls, expressions, iteration
from sourcead.frontend.syntax.iteration import Iterable
from sourcead.frontend.values import (
    copying, elements, getters, lists, methods, objects, records, runtime_dicts as maps, sequences, sets
)
from sourcead.frontend.values.cells import Cell, SliceVal, Slots, TupleVal, Value, roots
from sourcead.ir.nodes import Call, Const, Stmt, Var
from sourcead.ir.types import BOOL, INT, UNKNOWN, Array, DictT, ListT, MapT, NoneType, Scalar, Str, TupleT, is_array


def builtin_len(lo, args, kwargs, node):
    (value,) = args
    if (found := objects.special(lo, value, "__len__", [], node)) is not None:
        return found
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind in ("list", "dict"):
        if isinstance(value, Cell):
            lo.alive(value)
            lo.sure(value)
        return Const(len(value.items))
    if isinstance(value, Iterable):
        return Const(len(value.items)) if value.items is not None else value.length()
    if isinstance(value, Const) and not value.live:
        return Const(len(value.value))
    return lo.build.call(len, lo.read(value), type=INT, name="n")


def builtin_isinstance(lo, args, kwargs, node):
    value, cls = args
    found, classes = expressions.known(lo, cls)
    if objects.class_of(value) is not None:
        kind: Any = objects.class_of(value)
    elif isinstance(value, TupleVal):
        kind = tuple
    elif isinstance(value, Cell) and value.kind in ("list", "dict"):
        kind = {"list": list, "dict": dict}[value.kind]
    else:
        t = atom_type(lo.read(value))
        kind = None
        match t:
            case Array():
                kind = np.ndarray
            case ListT():
                kind = list
            case TupleT():
                kind = tuple
            case DictT() | MapT():
                kind = dict
            case Str():
                kind = str
            case NoneType():
                kind = type(None)
            case Scalar(k, None):
                kind = {"float": float, "int": int, "bool": bool, "complex": complex}[k]
            case Scalar(_, dtype) if dtype != np.dtype(object):
                kind = dtype.type
    if found and kind is not None:
        return Const(issubclass(kind, classes))
    if lo.static_only:
        raise NotStatic
    return lo.build.call(isinstance, lo.read(value), lo.operand(cls), type=BOOL)


def builtin_range(lo, args, kwargs, node):
    return iteration.counted(lo, args, node)


def builtin_enumerate(lo, args, kwargs, node):
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    return once(iteration.enumerated(lo, iteration.iterate(lo, args[0], node), start, node))


def builtin_zip(lo, args, kwargs, node):
    kwargs.pop("strict", None)
    return once(iteration.zipped(lo, [iteration.iterate(lo, a, node) for a in args], node))


def builtin_reversed(lo, args, kwargs, node):
    return once(iteration.reverse(lo, iteration.iterate(lo, args[0], node), node))


def builtin_iter(lo, args, kwargs, node):
    """`iter(xs)`, of which `next` takes nothing."""
    if len(args) != 1:
        raise expressions.unsupported(lo, node, "`iter` with a sentinel", "write the loop")
    return once(iteration.iterate(lo, args[0], node))


def once(made: Iterable) -> Iterable:
    """An iterator, which can be walked through once."""
    return replace(made, once=True, state=Slots())


def builtin_tuple(lo, args, kwargs, node):
    if not args:
        return TupleVal(())
    value = args[0]
    if isinstance(value, Cell) and value.kind == "array" and isinstance(atom_type(lo.read(value)), ListT):
        return lo.wrap(lo.build.call(tuple, lo.read(value), type=UNKNOWN), shares=roots(value))
    return TupleVal(tuple(sequences.static_items(lo, value, node)))


def builtin_list(lo, args, kwargs, node):
    if not args:
        return lo.new_list([])
    value = args[0]
    if isinstance(value, Cell) and is_made_here(lo, node):
        return value
    if isinstance(value, Iterable) and value.items is None or isinstance(value, Cell) and value.kind == "array":
        return sequences.collect(lo, iteration.iterate(lo, value, node), lambda element: element, node)
    return lo.new_list(sequences.static_items(lo, value, node))


def builtin_deque(lo, args, kwargs, node):
    """`collections.deque(xs)`: a list that also grows and shrinks at its beginning."""
    longest = args[1] if len(args) > 1 else kwargs.get("maxlen", Const(None))
    if expressions.known(lo, longest) != (True, None):
        raise expressions.unsupported(lo, node, "a `deque` with `maxlen`", "use a list: `xs.append(x)`, then `if len(xs) > n: xs.pop(0)`")
    return builtin_list(lo, args[:1], {}, node)


def is_made_here(lo, node) -> bool:
    """Whether the argument of `list(...)` is a list that nothing else can name, such as that of `map(f, xs)`."""
    made = node.args[0] if isinstance(node, gast.Call) and node.args else None
    if not (isinstance(made, gast.Call) and isinstance(made.func, (gast.Name, gast.Attribute))):
        return False
    found, fn = expressions.known(lo, expressions.lower(lo, made.func))
    return found and fn in (map, filter, itertools.accumulate)


def builtin_dict(lo, args, kwargs, node):
    items: dict[Any, Value] = {}
    if args and isinstance(args[0], Cell) and args[0].kind == "dict":
        lo.alive(args[0])
        items.update(args[0].items)
    elif args and not sequences.has_known_items(args[0]):
        made = lo.new_dict(kwargs)
        maps.open_up(lo, made, node)
        maps.update(lo, made, args[0], node)
        return made
    elif args:
        for pair in sequences.static_items(lo, args[0], node):
            key, value = sequences.static_items(lo, pair, node, 2)
            found, k = expressions.known(lo, key)
            if not found:
                raise expressions.unsupported(lo, node, "a dict key that is not known before the program runs")
            items[k] = value
    return lo.new_dict({**items, **kwargs})


def builtin_map(lo, args, kwargs, node):
    fn, *iterables = args
    parts = [iteration.iterate(lo, a, node) for a in iterables]
    if len(parts) == 1:
        return sequences.collect(lo, parts[0], lambda e: calls.call(lo, fn, [e], {}, node), node)
    return sequences.collect(lo, iteration.zipped(lo, parts, node), lambda e: calls.call(lo, fn, list(e.items), {}, node), node)


def builtin_sum(lo, args, kwargs, node):
    value = args[0]
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    items = None
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind == "list":
        items = sequences.static_items(lo, value, node)
    elif isinstance(value, Iterable):
        value = iteration.iterate(lo, value, node)
        items = value.items
    if items is not None:
        total = start
        for item in items:
            zero = isinstance(total, Const) and type(total.value) is int and total.value == 0
            total = item if zero and not isinstance(item, Const) else expressions.operate(lo, operator.add, total, item)
        if len(items) == 1 and isinstance(total, Cell):
            total = expressions.operate(lo, operator.add, start, items[0])
        return total
    if isinstance(value, Iterable):
        return sequences.fold(lo, value, start, lambda total, e: plus(lo, total, e), node)
    atom = lo.read(value)
    if is_array(atom_type(atom)):
        total = calls.emit_call(lo, np.sum, [value], {"axis": Const(0)}, node)
        plain = isinstance(start, Const) and start.value == 0
        return total if plain else expressions.operate(lo, operator.add, start, total)
    return sequences.fold(lo, iteration.iterate(lo, value, node), start, lambda total, e: plus(lo, total, e), node)


def plus(lo, total, item):
    """`total + item`, without the 0 that a sum starts from."""
    zero = isinstance(total, Const) and type(total.value) is int and total.value == 0
    return item if zero and not isinstance(item, (Const, Cell)) else expressions.operate(lo, operator.add, total, item)


def builtin_extreme(fn):
    def handler(lo, args, kwargs, node):
        default, key = kwargs.get("default"), kwargs.get("key")
        values = args
        if key is not None or len(args) == 1 and not sequences.has_known_items(args[0]):
            return lists.extreme(lo, fn, args[0] if len(args) == 1 else TupleVal(tuple(args)), key, default, node)
        if len(args) == 1:
            values = sequences.static_items(lo, args[0], node)
            if not values and default is not None:
                return default
        folded = expressions.fold(lo, fn, list(values))
        if folded is not None and lo.static_only:
            return folded
        result = values[0]
        for value in values[1:]:
            result = lo.build.call(fn, lo.read(result), lo.read(value))
        if folded is not None and isinstance(result, Var):
            lo.build.known[result] = folded.value
        return result

    return handler


def builtin_print(lo, args, kwargs, node):
    operands = tuple(lo.operand(a) for a in args)
    named = tuple((k, lo.operand(v)) for k, v in kwargs.items())
    lo.build.add(Stmt((), Call(print, operands, named, effect=True)))
    return Const(None)


def builtin_reduce(lo, args, kwargs, node):
    fn, iterable, *rest = args
    source = iteration.iterate(lo, iterable, node)
    if source.items is None:
        return sequences.fold_left(lo, source, lambda acc, e: calls.call(lo, fn, [acc, e], {}, node), rest[0] if rest else None, node)
    items = list(source.items)
    total = rest[0] if rest else items.pop(0)
    for item in items:
        total = calls.call(lo, fn, [total, item], {}, node)
    return total


def builtin_accumulate(lo, args, kwargs, node):
    """`itertools.accumulate`: the partial results of a reduction, as a list."""
    iterable, *rest = args
    fn = rest[0] if rest else kwargs.get("func", Const(operator.add))
    first = kwargs.get("initial")
    source = iteration.iterate(lo, iterable, node)
    result = lo.new_list([])
    if first is not None and not (isinstance(first, Const) and first.value is None):
        methods.append(lo, result, first, node)
    else:
        first = None

    def step(acc, e):
        value = calls.call(lo, fn, [acc, e], {}, node)
        methods.append(lo, result, value, node)
        return value

    if source.items is None:
        sequences.fold_left(lo, source, step, first, node, begin=lambda value: methods.append(lo, result, value, node))
        return result
    items = list(source.items)
    if first is None and items:
        first = items.pop(0)
        methods.append(lo, result, first, node)
    for item in items:
        first = step(first, item)
    return result


def builtin_filter(lo, args, kwargs, node):
    """`filter(test, xs)`, as a list."""
    test, iterable = args
    result = lo.new_list([])

    def keep(element):
        value = element if isinstance(test, Const) and test.value is None else calls.call(lo, test, [element], {}, node)
        verdict = expressions.truth(lo, value)
        if verdict is None:
            control.branch(lo, lo.read(value), [lambda: methods.append(lo, result, element, node), lambda: None])
        elif verdict:
            methods.append(lo, result, element, node)

    sequences.for_each(lo, iteration.iterate(lo, iterable, node), keep)
    return result


def builtin_slice(lo, args, kwargs, node):
    parts = [None if isinstance(a, Const) and a.value is None else lo.read(a) for a in args]
    return SliceVal(*{1: (None, *parts, None), 2: (*parts, None), 3: tuple(parts)}[len(parts)])


def rule_is_literal(lo, args, kwargs, node):
    found, value = expressions.known(lo, args[0])
    return Const(found and isinstance(value, (int, float)))


def operator_function(fn):
    return lambda lo, args, kwargs, node: expressions.operate(lo, fn, *args)


def builtin_int(fn):
    def handler(lo, args, kwargs, node):
        folded = expressions.fold(lo, fn, args) if not kwargs else None
        if folded is not None:
            return folded
        return calls.emit_call(lo, fn, args, kwargs, node)

    return handler


BUILTINS: dict[Any, Any] = {
    iter: builtin_iter, collections.deque: builtin_deque,
    len: builtin_len, isinstance: builtin_isinstance, range: builtin_range, enumerate: builtin_enumerate, zip: builtin_zip,
    reversed: builtin_reversed, tuple: builtin_tuple, list: builtin_list, dict: builtin_dict, map: builtin_map, sum: builtin_sum,
    max: builtin_extreme(max), min: builtin_extreme(min), sorted: lists.builtin_sorted, print: builtin_print, slice: builtin_slice,
    **objects.BUILTINS, **records.BUILTINS, **maps.BUILTINS, **sets.BUILTINS, **getters.BUILTINS, **elements.BUILTINS, **copying.BUILTINS,
    **itertools_functions.BUILTINS, functools.reduce: builtin_reduce, itertools.accumulate: builtin_accumulate,
    filter: builtin_filter, runtime.is_literal: rule_is_literal, int: builtin_int(int),
    **{f: operator_function(f) for f in (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.matmul, operator.mod,
        operator.floordiv, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    )},
}  # fmt: skip
