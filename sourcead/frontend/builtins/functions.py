"""Lower built-in functions: `len`, `isinstance`, `range`, `zip`, `sum` and others."""

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
from sourcead.frontend import core
from sourcead.frontend.builtins import ordering
from sourcead.frontend.control import loops
from sourcead.frontend.core import Cell, Iterable, Lowering, NotStatic, Slots, TupleVal, Value, roots
from sourcead.frontend.values import dicts, iterables as iterables_, sequences
from sourcead.ir.nodes import Call, Const, Slice, Stmt, Var
from sourcead.ir.types import BOOL, INT, UNKNOWN, Array, DictT, ListT, MapT, NoneType, Scalar, Str, TupleT, is_array


@core.builtin(len)
def builtin_len(lo, args, kwargs, node):
    """Lower `len(x)`."""
    (value,) = args
    if (found := core.call_special(lo, value, "__len__", [], node)) is not None:
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


@core.builtin(isinstance)
def builtin_isinstance(lo, args, kwargs, node):
    """Lower `isinstance(x, cls)`."""
    value, cls = args
    found, classes = core.known(lo, cls)
    if core.class_of(value) is not None:
        kind: Any = core.class_of(value)
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


@core.builtin(range)
def builtin_range(lo, args, kwargs, node):
    """Lower `range(...)`."""
    return iterables_.counted(lo, args, node)


@core.builtin(enumerate)
def builtin_enumerate(lo, args, kwargs, node):
    """Lower `enumerate(xs, start)`."""
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    return once(iterables_.enumerated(lo, core.iterate(lo, args[0], node), start, node))


@core.builtin(zip)
def builtin_zip(lo, args, kwargs, node):
    """Lower `zip(*xs)`."""
    kwargs.pop("strict", None)
    return once(iterables_.zipped(lo, [core.iterate(lo, a, node) for a in args], node))


@core.builtin(reversed)
def builtin_reversed(lo, args, kwargs, node):
    """Lower `reversed(xs)`."""
    return once(iterables_.reverse(lo, core.iterate(lo, args[0], node), node))


@core.builtin(iter)
def builtin_iter(lo, args, kwargs, node):
    """Lower `iter(xs)`; `next` of the result is refused."""
    if len(args) != 1:
        raise core.unsupported(lo, node, "`iter` with a sentinel", "write the loop")
    return once(core.iterate(lo, args[0], node))


def once(made: Iterable) -> Iterable:
    """Make an iterator, which can be used only once, over the elements of an iterable."""
    return replace(made, once=True, state=Slots())


@core.builtin(tuple)
def builtin_tuple(lo, args, kwargs, node):
    """Lower `tuple(xs)`."""
    if not args:
        return TupleVal(())
    value = args[0]
    if isinstance(core.data_type(lo, value), ListT):
        return lo.wrap(lo.build.call(tuple, lo.read(value), type=UNKNOWN), shares=roots(value))
    return TupleVal(tuple(sequences.static_items(lo, value, node)))


@core.builtin(list)
def builtin_list(lo, args, kwargs, node):
    """Lower `list(xs)`."""
    if not args:
        return lo.new_list([])
    value = args[0]
    if isinstance(value, Cell) and is_made_here(lo, node):
        return value
    if isinstance(value, Iterable) and value.items is None or isinstance(value, Cell) and value.kind == "array":
        return sequences.collect(lo, core.iterate(lo, value, node), lambda element: element, node)
    return lo.new_list(sequences.static_items(lo, value, node))


@core.builtin(collections.deque)
def builtin_deque(lo, args, kwargs, node):
    """Lower `collections.deque(xs)` to a list, which can also grow and shrink at its beginning."""
    longest = args[1] if len(args) > 1 else kwargs.get("maxlen", Const(None))
    if core.known(lo, longest) != (True, None):
        raise core.unsupported(lo, node, "a `deque` with `maxlen`", "use a list: `xs.append(x)`, then `if len(xs) > n: xs.pop(0)`")
    return builtin_list(lo, args[:1], {}, node)


def is_made_here(lo, node) -> bool:
    """Tell whether the argument of `list(...)` is a list that nothing else refers to, such as that of `map(f, xs)`."""
    made = node.args[0] if isinstance(node, gast.Call) and node.args else None
    if not (isinstance(made, gast.Call) and isinstance(made.func, (gast.Name, gast.Attribute))):
        return False
    found, fn = core.known(lo, core.lower(lo, made.func))
    return found and fn in (map, filter, itertools.accumulate)


@core.builtin(dict)
def builtin_dict(lo, args, kwargs, node):
    """Lower `dict(xs, key=value)`."""
    items: dict[Any, Value] = {}
    if args and isinstance(args[0], Cell) and args[0].kind == "dict":
        lo.alive(args[0])
        items.update(args[0].items)
    elif args and not core.has_known_items(args[0]):
        made = lo.new_dict(kwargs)
        dicts.open_up(lo, made, node)
        dicts.update(lo, made, args[0], node)
        return made
    elif args:
        for pair in sequences.static_items(lo, args[0], node):
            key, value = sequences.static_items(lo, pair, node, 2)
            found, k = core.known(lo, key)
            if not found:
                raise core.unsupported(lo, node, "a dict key that is not known before the program runs")
            items[k] = value
    return lo.new_dict({**items, **kwargs})



@core.builtin(sum)
def builtin_sum(lo, args, kwargs, node):
    """Lower `sum(xs, start)`."""
    value = args[0]
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    items = None
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind == "list":
        items = sequences.static_items(lo, value, node)
    elif isinstance(value, Iterable):
        value = core.iterate(lo, value, node)
        items = value.items
    if items is not None:
        total = start
        for item in items:
            zero = isinstance(total, Const) and type(total.value) is int and total.value == 0
            total = item if zero and not isinstance(item, Const) else core.operate(lo, operator.add, total, item)
        if len(items) == 1 and isinstance(total, Cell):
            total = core.operate(lo, operator.add, start, items[0])
        return total
    if isinstance(value, Iterable):
        return loops.fold(lo, value, start, lambda total, e: plus(lo, total, e))
    atom = lo.read(value)
    if is_array(atom_type(atom)):
        total = core.call_library(lo, np.sum, [value], {"axis": Const(0)}, node)
        plain = isinstance(start, Const) and start.value == 0
        return total if plain else core.operate(lo, operator.add, start, total)
    return loops.fold(lo, core.iterate(lo, value, node), start, lambda total, e: plus(lo, total, e))


def plus(lo, total, item):
    """Lower `total + item`, but omit the 0 that a sum starts from."""
    zero = isinstance(total, Const) and type(total.value) is int and total.value == 0
    return item if zero and not isinstance(item, (Const, Cell)) else core.operate(lo, operator.add, total, item)


def builtin_extreme(fn):
    """Make the handler of `max` or `min`."""
    def handler(lo, args, kwargs, node):
        default, key = kwargs.get("default"), kwargs.get("key")
        values = args
        if key is not None or len(args) == 1 and not core.has_known_items(args[0]):
            return ordering.extreme(lo, fn, args[0] if len(args) == 1 else TupleVal(tuple(args)), key, default, node)
        if len(args) == 1:
            values = sequences.static_items(lo, args[0], node)
            if not values and default is not None:
                return default
        folded = core.fold(lo, fn, list(values))
        if folded is not None and lo.static_only:
            return folded
        result = values[0]
        for value in values[1:]:
            result = lo.build.call(fn, lo.read(result), lo.read(value))
        if folded is not None and isinstance(result, Var):
            lo.build.known[result] = folded.value
        return result

    return handler


core.builtin(max)(builtin_extreme(max))
core.builtin(min)(builtin_extreme(min))


@core.builtin(print)
def builtin_print(lo, args, kwargs, node):
    """Lower `print(...)`."""
    operands = tuple(lo.operand(a) for a in args)
    named = tuple((k, lo.operand(v)) for k, v in kwargs.items())
    lo.build.add(Stmt((), Call(print, operands, named, effect=True)))
    return Const(None)


@core.builtin(functools.reduce)
def builtin_reduce(lo, args, kwargs, node):
    """Lower `functools.reduce(f, xs, initial)`."""
    fn, iterable, *rest = args
    source = core.iterate(lo, iterable, node)
    if source.items is None:
        return loops.fold_left(lo, source, lambda acc, e: core.call(lo, fn, [acc, e], {}, node), rest[0] if rest else None)
    items = list(source.items)
    total = rest[0] if rest else items.pop(0)
    for item in items:
        total = core.call(lo, fn, [total, item], {}, node)
    return total


@core.builtin(itertools.accumulate)
def builtin_accumulate(lo, args, kwargs, node):
    """Lower `itertools.accumulate` to the list of the partial results of a reduction."""
    iterable, *rest = args
    fn = rest[0] if rest else kwargs.get("func", Const(operator.add))
    first = kwargs.get("initial")
    source = core.iterate(lo, iterable, node)
    result = lo.new_list([])
    if first is not None and not (isinstance(first, Const) and first.value is None):
        sequences.append(lo, result, first, node)
    else:
        first = None

    def step(acc, e):
        value = core.call(lo, fn, [acc, e], {}, node)
        sequences.append(lo, result, value, node)
        return value

    if source.items is None:
        loops.fold_left(lo, source, step, first, begin=lambda value: sequences.append(lo, result, value, node))
        return result
    items = list(source.items)
    if first is None and items:
        first = items.pop(0)
        sequences.append(lo, result, first, node)
    for item in items:
        first = step(first, item)
    return result


@core.builtin(slice)
def builtin_slice(lo, args, kwargs, node):
    """Lower `slice(...)`."""
    parts = [None if isinstance(a, Const) and a.value is None else lo.read(a) for a in args]
    return Slice(*{1: (None, *parts, None), 2: (*parts, None), 3: tuple(parts)}[len(parts)])


@core.builtin(runtime.is_literal)
def rule_is_literal(lo, args, kwargs, node):
    """Lower `is_literal(x)` in a rule."""
    found, value = core.known(lo, args[0])
    return Const(found and isinstance(value, (int, float)))


@core.builtin(int)
def builtin_int(lo, args, kwargs, node):
    """Lower `int(x)`."""
    folded = core.fold(lo, int, args) if not kwargs else None
    return core.call_library(lo, int, args, kwargs, node) if folded is None else folded


def operator_function(fn):
    """Make the handler of a function of the module `operator`."""
    return lambda lo, args, kwargs, node: core.operate(lo, fn, *args)


for _fn in (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.matmul, operator.mod,
    operator.floordiv, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
):  # fmt: skip
    core.builtin(_fn)(operator_function(_fn))


@core.builtin(collections.defaultdict)
def builtin_defaultdict(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `defaultdict(factory, ...)`."""
    made = builtin_dict(lo, args[1:], kwargs, node)
    if args and not (isinstance(args[0], Const) and args[0].value is None):
        if made.kind != "dict":
            raise core.unsupported(lo, node, "`defaultdict` of a dict whose keys are not known here")
        made.default = args[0]
    return made
