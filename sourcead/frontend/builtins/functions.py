"""Lower built-in functions: `len`, `isinstance`, `range`, `zip`, `sum` and others."""

import collections
import enum
import math
import numbers
import operator
import types
from dataclasses import replace
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.builtins import in_python
from sourcead.frontend.builtins.arguments import NONE, ZERO, lowers
from sourcead.frontend.control import outliving
from sourcead.frontend.core import WHOLE, Cell, Iterable, Lowering, NotStatic, TupleVal, Value, roots
from sourcead.frontend.values import dicts, iterables, members, sequences, sets, walks
from sourcead.frontend.values.dict_keys import known_key
from sourcead.ir.nodes import Call, Const, Slice, Var
from sourcead.ir.records import find, made_by_its_class
from sourcead.ir.types import (
    BOOL, INT, UNKNOWN, Array, DictT, ListT, NoneType, Scalar, dims_of, is_array, join, kind_of
)
from sourcead.primitives.result_types.sparse import is_sparse, of_format

EMPTY = TupleVal(())


@lowers(len)
def builtin_len(lo: Lowering, node, value: Value) -> Value:
    """Lower `len(x)`."""
    if (found := core.call_special(lo, value, "__len__", [], node)) is not None:
        return found
    if isinstance(value, core.LogVal | core.DictVal):
        return outliving.count_items(lo, value)
    value = core.array_of(value) or value
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind in ("list", "dict"):
        if isinstance(value, Cell):
            lo.sure(value)
        return Const(len(value.items))
    if isinstance(value, Iterable):
        if value.once or value.drive is not None or value.endless:
            raise core.surely(lo, core.unsupported(lo, node, "`len` of an iterator", "make a list of it: `list(...)`"), TypeError)
        value = core.iterate(lo, value, node)
        return Const(len(value.items)) if value.items is not None else value.length()
    if isinstance(value, Const) and not value.live:
        try:
            return Const(len(value.value))
        except TypeError:
            raise without_length(lo, value, node) from None
    t = atom_type(lo.read(value))
    if isinstance(t, (Scalar, NoneType)) or isinstance(t, Array) and t.dims == ():
        raise without_length(lo, value, node)
    return lo.build.call(len, lo.read(value), type=INT, name="n")


def without_length(lo: Lowering, value: Value, node) -> Exception:
    """Return the error for the length of a value that has none."""
    return core.surely(lo, core.unsupported(lo, node, f"{core.structure_of(value)} has no length"), TypeError)


@lowers(bool)
def builtin_bool(lo: Lowering, node, value: Value = ZERO) -> Value:
    """Lower `bool(x)`, which takes no element of an iterator."""
    value = core.condition(lo, value)
    verdict = core.truth(lo, value) if isinstance(value, (Iterable, Cell)) else None
    return core.call_library(lo, bool, [value], {}, node) if verdict is None else Const(verdict)


@lowers(isinstance)
def builtin_isinstance(lo: Lowering, node, value: Value, wanted: Value) -> Value:
    """Lower `isinstance(x, cls)`."""
    found, classes = core.known(lo, wanted)
    classes = core.in_source(classes)
    listed = classes if isinstance(classes, tuple) else (classes,)
    from_argument = isinstance(value, Cell) and value.kind == "dict" and (value in lo.params or WHOLE in value.slots)
    item = isinstance(value, Cell) and value.kind == "array" and isinstance(atom_type(lo.read(value)), DictT)
    if from_argument or item:  # of which class it is, the call tells
        if found and any(isinstance(cls, type) and issubclass(cls, dict) and cls is not dict for cls in listed):
            if not item and WHOLE not in value.slots:
                raise core.unsupported(lo, node, "the class of a dict that was changed before", "ask for it first")
            return lo.build.call(isinstance, lo.read(value), lo.operand(wanted), type=BOOL)
    if found and is_sparse(core.data_type(lo, value)) and not any(map(of_format, listed)):
        return Const(issubclass(core.data_type(lo, value).cls, classes))
    try:
        answers = {issubclass(cls, classes) for cls in core.classes_of(lo, value)} if found else ()
    except TypeError as error:
        raise core.surely(lo, core.unsupported(lo, node, f"`isinstance` raises TypeError: {error}"), TypeError) from None
    if found and answers:
        core.refuse_unknown_class(lo, core.classes_of(lo, value)) if len(answers) > 1 or answers == {False} else None
    t = core.data_type(lo, value)
    of_members = found and members.may_be(t) and any(isinstance(cls, enum.EnumMeta) for cls in listed)
    if len(answers) == 1 and not of_members:
        return Const(answers.pop())
    if lo.static_only:
        raise NotStatic
    return lo.build.call(isinstance, lo.read(value), lo.operand(wanted), type=BOOL)


@lowers(np.ndarray.tolist)
def builtin_tolist(lo: Lowering, node, array: Value) -> Value:
    """Lower `a.tolist()`, whose items are known one by one where loops are unrolled and the length is known."""
    t = core.data_type(lo, array)
    count = t.dims[0] if isinstance(t, Array) and t.dims else None
    if not lo.unrolling or not isinstance(count, int) or t.dims is None:
        return core.call_library(lo, np.ndarray.tolist, [array], {}, node)
    parts = [core.subscript(lo, array, Const(k), node) for k in range(count)]
    item = np.ndarray.item if len(t.dims) == 1 else np.ndarray.tolist
    return lo.new_list([core.call_object(lo, item, [part], {}, node) for part in parts])


@lowers(np.require)
def builtin_require(lo: Lowering, node, a: Value, dtype: Value = NONE, requirements: Value = EMPTY, **options: Value) -> Value:
    """Lower `np.require(a, dtype, ["W"])`, which gives the array itself or, of one that cannot be written, a copy."""
    wanted = EMPTY if core.is_none(requirements) else requirements
    found, flags = core.known(lo, TupleVal(tuple(sequences.static_items(lo, wanted, node))))
    if options or not found or not {*flags} <= {"W", "WRITEABLE"}:
        raise core.unsupported(lo, node, "`np.require` of an array that lies in memory in some order", "`np.array(a)`")
    made = core.call_library(lo, np.asanyarray, [a] if core.is_none(dtype) else [a, dtype], {}, node)
    return lo.wrap(lo.read(made), shares=roots(made)) if flags else made


@lowers(np.geterr)
def builtin_geterr(lo: Lowering, node) -> Value:
    """Lower `np.geterr()` to a dict of its keys."""
    made = lo.wrap(lo.build.emit(Call(np.geterr, ()), UNKNOWN, "settings"))
    return lo.new_dict({name: core.subscript(lo, made, Const(name), node) for name in np.geterr()})


@lowers(np.isscalar)
def builtin_isscalar(lo: Lowering, node, value: Value) -> Value:
    """Lower `np.isscalar(x)`."""
    answers = {issubclass(cls, (np.generic, numbers.Number, str, bytes)) for cls in core.classes_of(lo, value)}
    return Const(answers.pop()) if len(answers) == 1 else lo.build.call(np.isscalar, lo.read(value), type=BOOL)


def masked_test(fn):
    """Return the rule of a function that tells whether an array is masked, as no array of a differentiated program is."""

    def lower(lo: Lowering, node, value: Value) -> Value:
        plain = not any(issubclass(cls, np.ma.MaskedArray) for cls in core.classes_of(lo, value) or [np.ma.MaskedArray])
        return Const(False) if plain else lo.build.call(fn, lo.read(value), type=BOOL)

    return lower


lowers(np.ma.is_masked)(masked_test(np.ma.is_masked))
lowers(np.ma.isMaskedArray)(masked_test(np.ma.isMaskedArray))

lowers(range)(lambda lo, node, *bounds: iterables.counted(lo, bounds, node))


@lowers(zip)
def builtin_zip(lo: Lowering, node, *xs: Value, strict: Value = NONE) -> Value:
    """Lower `zip(xs, ys, strict=s)`."""
    compares = core.truth(lo, strict) is not False
    if len(xs) > 1 and isinstance(xs[0], Iterable) and xs[0].once and all(x is xs[0] for x in xs) and core.is_none(strict):
        return iterables.later(lo, xs[:1], lambda inner: iterables.in_groups(lo, inner, len(xs), node), node)

    def rows(*parts: Iterable) -> Iterable:
        if any(p.endless and p.nth is None for p in parts) and core.is_none(strict):
            return core.call_object(lo, in_python.in_step, list(parts), {}, node)
        return iterables.zipped(lo, parts, node, compares) if parts else iterables.listed([])

    return iterables.later(lo, xs, rows, node)


@lowers(enumerate)
def builtin_enumerate(lo: Lowering, node, xs: Value, start: Value = ZERO) -> Value:
    """Lower `enumerate(xs, start)`."""

    def numbered(inner: Iterable) -> Iterable:
        if inner.drive is None:
            return iterables.enumerated(lo, inner, start, node)
        return replace(core.call_object(lo, in_python.numbered, [inner, start], {}, node), endless=inner.endless)

    return iterables.later(lo, [xs], numbered, node)


@lowers(reversed)
def builtin_reversed(lo: Lowering, node, xs: Value) -> Value:
    """Lower `reversed(xs)`, which begins at the item that is the last one when it is made."""
    if (found := core.call_special(lo, xs, "__reversed__", [], node)) is not None:
        return found
    if isinstance(xs, Cell) and xs.kind == "object" and core.array_of(xs) is None and not issubclass(xs.cls, (list, tuple, dict)):
        return core.call_object(lo, in_python.backwards, [xs], {}, node)
    if isinstance(xs, Cell) and xs.kind == "object" and isinstance(find(xs.cls, "__iter__")[1], types.FunctionType):
        raise core.unsupported(lo, node, "`reversed` of an object with an `__iter__` of its own, which Python does not ask")
    made = len(lo.resized)
    if sets.set_type(lo, xs) is not None or isinstance(xs, Iterable) and xs.once:
        raise core.surely(lo, core.unsupported(lo, node, "`reversed` of a set or an iterator"), TypeError)

    def backward(inner: Iterable) -> Iterable:
        if isinstance(xs, Cell) and walks.may_be_resized(lo, xs, made):
            raise core.unsupported(lo, node, "the list grew or shrank after `reversed` was called on it", "reverse a copy: `list(...)`")
        return iterables.reverse(lo, inner, node)

    return iterables.later(lo, [xs], backward, node)


@lowers(iter)
def builtin_iter(lo: Lowering, node, xs: Value, *sentinel: Value) -> Value:
    """Lower `iter(xs)`."""
    if sentinel:
        raise core.unsupported(lo, node, "`iter` with a sentinel", "write the loop")
    if isinstance(xs, Iterable) and xs.once:
        return xs
    return iterables.later(lo, [xs], lambda inner: inner, node)


@lowers(tuple)
def builtin_tuple(lo: Lowering, node, value: Value = EMPTY) -> Value:
    """Lower `tuple(xs)`."""
    value = sequences.taken(lo, value, node)
    if isinstance(core.data_type(lo, value), ListT):
        return lo.wrap(lo.build.call(tuple, lo.read(value)), shares=roots(value))
    if isinstance(value, TupleVal) and value.cls is None:
        return value
    return TupleVal(tuple(sequences.static_items(lo, value, node)))


@lowers(list)
def builtin_list(lo: Lowering, node, value: Value = EMPTY) -> Value:
    """Lower `list(xs)`."""
    given, value = value, sequences.taken(lo, value, node)
    if isinstance(value, Cell) and value is not given:
        return value
    is_text = isinstance(value, Var) and not core.known(lo, value)[0]
    if isinstance(value, Iterable) and value.items is None or isinstance(value, Cell) and value.kind == "array" or is_text:
        return sequences.collect(lo, core.iterate(lo, value, node), lambda element: element, node)
    return lo.new_list(sequences.static_items(lo, value, node))


@lowers(dict)
def builtin_dict(lo: Lowering, node, given: Value = EMPTY, /, **named: Value) -> Value:
    """Lower `dict(xs, key=value)`."""
    given = dicts.without_class(lo, given, node)
    if isinstance(given, Cell) and given.kind == "dict":
        lo.sure(given)
        return lo.new_dict({**given.items, **named})
    given = sequences.taken(lo, given, node)
    if not core.has_known_items(given):
        made = lo.new_dict({})
        dicts.open_up(lo, made, node)
        dicts.update(lo, made, given, node)
        for name, value in named.items():
            dicts.store(lo, made, Const(name), value)
        return made
    items: dict[Any, Value] = {}
    for pair in sequences.static_items(lo, given, node):
        key, value = sequences.static_items(lo, pair, node, 2)
        found, known = known_key(lo, key, items)
        if not found:
            raise core.unsupported(lo, node, "a dict key that is not known before the program runs")
        items[known] = value
    return lo.new_dict({**items, **named})


@lowers(collections.defaultdict)
def builtin_defaultdict(lo: Lowering, node, factory: Value = NONE, given: Value = EMPTY, /, **named: Value) -> Value:
    """Lower `defaultdict(factory, ...)`."""
    made = builtin_dict(lo, node, given, **named)
    if not core.is_none(factory):
        if made.kind != "dict":
            raise core.unsupported(lo, node, "`defaultdict` of a dict whose keys are not known here")
        made.default = factory
    return made


@lowers(made_by_its_class)
def builtin_made_by_its_class(lo: Lowering, node) -> Value:
    """Refuse to read a key that a dict from outside lacks, where its class makes a value for it."""
    why = "a key that the dict lacks, for which its class makes a value"
    raise core.unsupported(lo, node, why, "give the dict this key before the call")


@lowers(sum)
def builtin_sum(lo: Lowering, node, value: Value, start: Value = ZERO) -> Value:
    """Lower `sum(xs, start)`."""
    given, value = value, core.iterate(lo, value, node) if isinstance(value, Iterable) else sequences.taken(lo, value, node)
    sequences.took_all(lo, given)
    if isinstance(value, (TupleVal, Iterable, Cell)) and getattr(value, "kind", "list") == "list" and core.has_known_items(value):
        items = sequences.static_items(lo, value, node)
        total = start
        for item in items:
            total = item if begins_with(lo, total, item) else core.operate(lo, operator.add, total, item)
        if len(items) == 1 and isinstance(total, Cell):
            total = core.operate(lo, operator.add, start, items[0])
        return total
    if not isinstance(value, Iterable) and is_array(atom_type(lo.read(value))):
        total = core.call_library(lo, np.sum, [value], {"axis": ZERO}, node)
        return total if isinstance(start, Const) and start.value == 0 else core.operate(lo, operator.add, start, total)
    t = UNKNOWN if isinstance(value, Iterable) else atom_type(lo.read(value))
    if isinstance(t, ListT) and isinstance(t.item, Scalar) and t.item.kind == "float" and core.is_number(lo, start, 0):
        return lo.build.call(sum, lo.read(value), type=join(INT, t.item), name="total")  # an empty list has the sum 0
    return core.call_object(lo, in_python.summed, [value, start], {}, node)


def begins_with(lo: Lowering, total: Value, item: Value) -> bool:
    """Tell whether a total is the 0 that a sum starts from, and adding it to an item gives an equal one; True and 0 give the number 1."""
    is_zero = isinstance(total, Const) and type(total.value) is int and total.value == 0
    return is_zero and isinstance(item, (Var, Cell)) and kind_of(core.data_type(lo, item)) in ("int", "float", "complex")


@lowers(in_python.plus)
def plus(lo: Lowering, node, total: Value, item: Value) -> Value:
    """Lower `total + item`, but omit the 0 that a sum starts from."""
    return item if begins_with(lo, total, item) and not isinstance(item, Cell) else core.operate(lo, operator.add, total, item)


@lowers(slice)
def builtin_slice(lo: Lowering, node, *bounds: Value) -> Value:
    """Lower `slice(...)`."""
    if not 1 <= len(bounds) <= 3:
        raise core.surely(lo, core.unsupported(lo, node, f"`slice` of {len(bounds)} arguments"), TypeError)
    parts = [None if isinstance(b, Const) and b.value is None else lo.read(b) for b in bounds]
    return Slice(*{1: (None, *parts, None), 2: (*parts, None), 3: tuple(parts)}[len(parts)])


@lowers(runtime.is_literal)
def rule_is_literal(lo: Lowering, node, value: Value) -> Value:
    """Lower `is_literal(x)` in a rule."""
    found, known = core.known(lo, value)
    return Const(found and isinstance(known, (int, float)))


@lowers(runtime.is_integer)
def rule_is_integer(lo: Lowering, node, value: Value) -> Value:
    """Lower `is_integer(x)` in a rule."""
    return Const(kind_of(atom_type(lo.read(value))) == "int")


@lowers(runtime.has_more)
def rule_has_more(lo: Lowering, node, x: Value, axis: Value, number: Value) -> Value:
    """Lower `has_more(x, axis, number)` in a rule."""
    dims, (found, along), (counted, least) = dims_of(atom_type(lo.read(x))), core.known(lo, axis), core.known(lo, number)
    if dims is None or not found or not counted:
        return Const(False)
    sizes = [d if isinstance(d, int) else max(d.least, 0) for d in dims]
    axes = range(len(sizes)) if along is None else along if isinstance(along, tuple) else (along,)
    return Const(math.prod(sizes[k] for k in axes) > least)


for _fn in (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.matmul, operator.mod,
    operator.floordiv, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
):  # fmt: skip
    lowers(_fn)(lambda lo, node, *values, fn=_fn: core.operate(lo, fn, *values))
