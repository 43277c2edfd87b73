"""Lower operators, truth tests and membership tests."""

import collections
import enum
import functools
import operator
import types
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.control import loops
from sourcead.frontend.core import (
    VALUE, BoundVal, Cell, ChoiceVal, FunctionVal, Iterable, Lowering, MethodVal, OptionalVal, SuperVal, TupleVal,
    Value, roots
)
from sourcead.frontend.core.known_values import PURE
from sourcead.frontend.core.names import BEFORE_ALL
from sourcead.frontend.values import (
    implicit_calls, iterables, lists, objects, objects_by_place, sequences, sets, strides
)
from sourcead.frontend.values.dict_keys import known_key
from sourcead.ir.nodes import Atom, Call, Const, Let, Sub, Var, View
from sourcead.ir.types import (
    BOOL, INT, AnyTuple, Array, DictT, ListT, MapT, NoneType, Scalar, Str, TupleT, Undefined, Unknown, join, rank
)
from sourcead.primitives.table import record_of


@core.operate.register(object)
def operate(lo: Lowering, fn: Any, *values: Value) -> Value:
    """Apply an operator to values."""
    values = core.what_python_takes(fn, values)
    if (found := objects.operate(lo, fn, list(values))) is not None or (found := strides.operate(lo, fn, values)) is not None:
        return found
    if len(values) == 2 and (found := core.compared_with_none(lo, fn, *values)) is not None:
        return found
    if fn in (operator.is_, operator.is_not):
        return objects_by_place.identity(lo, fn, *values) or identity_test(lo, fn, *values)
    ours = lo.static_only or lo.called_from is not None  # code of rules and compositions adds shapes
    if fn is operator.add and not all(isinstance(v, TupleVal) for v in values) and all(is_shape(lo, v) for v in values):
        return lo.wrap(lo.build.call(fn, *map(lo.read, values), type=AnyTuple(INT)))
    if len(values) == 2 and any(map(core.is_sequence, values)):
        if fn is operator.add and all(map(core.is_sequence, values)):
            return concatenate(lo, *values)
        if any(isinstance(core.data_type(lo, v), Array) for v in values):
            values = tuple(sequences.as_array(lo, v) for v in values)
        elif fn in OF_NUMBERS and not ours and all(core.is_sequence(v) or is_of_python(v) for v in values):
            raise sequences.no_numbers(lo, "a list, tuple or string in a calculation with numbers", values)
        elif fn is operator.mul:
            return repeat(lo, *values)
        elif fn is operator.add and any(isinstance(core.data_type(lo, v), Unknown) for v in values) and not ours:
            raise core.refused(
                lo, "`+` of a list or tuple and of what may be a list or an array", "write `np.add(a, b)` for arrays, `[*a, *b]` for lists"
            )
    if fn in (operator.add, operator.mul) and any(isinstance(core.data_type(lo, v), AnyTuple) for v in values):
        if not any(isinstance(core.data_type(lo, v), Array) for v in values):
            raise core.refused(lo, "`+` or `*` of a tuple whose length is not known here", "write `[*a, *b]`")
    if fn is operator.or_ and all(isinstance(v, Cell) and v.kind == "dict" for v in values):
        for value in values:
            lo.sure(value)
        of_class = next((v for v in values if v.default is not None or v.cls is not None), values[0])  # it is of the class of that one
        return lo.like(of_class, {**values[0].items, **values[1].items}, "items")
    if fn is operator.or_ and any(kind_of_object(lo, v) == "dict" for v in values):  # one of them is one value
        made = core.call_method(lo, values[0], "copy", [], {}, None)
        core.call_method(lo, made, "update", [values[1]], {}, None)
        return made
    if (found := sets.operate(lo, fn, values)) is not None:
        return found
    if fn in (operator.eq, operator.ne) and not any(may_be_array(lo, v) for v in values):
        none = [is_none(lo, v) for v in values] if any(map(core.is_none, values)) else []
        kinds = {kind_of_object(lo, v) for v in values}
        if none and None not in none or len(kinds) == 2 and "text" in kinds and None not in kinds:  # no text equals anything else
            return Const((bool(none) and all(none)) == (fn is operator.eq))
    if fn in implicit_calls.COMPARISONS and all(map(has_items, values)) and len({(kind_of_object(lo, v), v.cls) for v in values}) == 1:
        if implicit_calls.holds_objects(*values) and kind_of_object(lo, values[0]) != "dict":
            return implicit_calls.compared(lo, fn, *values)
    if fn in (operator.eq, operator.ne) and all(has_items(v) for v in values) and (equal := equal_items(lo, *values)) is not None:
        return Const(equal == (fn is operator.eq))
    if fn in (operator.eq, operator.ne) and not all(map(has_items, values)) and any(getattr(v, "cls", None) in OF_ONE_KIND for v in values):
        raise core.refused(lo, "the comparison of a deque or ordered dict of which the items are not known one by one")
    folded = core.fold(lo, fn, list(values))
    if folded is not None and isinstance(folded.value, (bool, str, type(None), *PURE)):
        return folded
    if folded is not None and (lo.static_only or all(isinstance(v, Const) for v in values) and fn is operator.neg):
        return folded
    if any(isinstance(v, (Var, Cell)) and atom_type(lo.read(v)) == Undefined() for v in values):
        return lo.build.emit(Call(fn, tuple(map(lo.read, values))), Undefined())  # from a container that is still empty in this round
    var = lo.build.call(fn, *(lo.operand(v) if fn in (operator.eq, operator.ne) else lo.read(v) for v in values))
    if folded is not None:
        lo.build.known[var] = folded.value
    return lo.wrap(var)


OF_NUMBERS = (operator.sub, operator.truediv, operator.floordiv, operator.pow, operator.matmul)  # which lists and tuples do not have


def is_of_python(value: Value) -> bool:
    """Tell whether a value is a number of Python; with one of NumPy, a list is an array."""
    return isinstance(t := core.type_of_value(value), Scalar) and t.dtype is None and t.least is None


OF_ONE_KIND = (collections.deque, collections.OrderedDict)  # a deque equals no list, and of two ordered dicts the order counts


def has_items(value: Value) -> bool:
    """Tell whether a value is a tuple, list, deque or dict whose items are known one by one."""
    if isinstance(value, TupleVal):
        return value.cls is None
    return isinstance(value, Cell) and value.kind in ("list", "dict") and value.cls in (None, *OF_ONE_KIND)


def equal_items(lo: Lowering, a: Value, b: Value) -> bool | None:
    """Tell whether two containers are equal, or return None if that is not known; as in Python, one object is equal to itself."""
    for cell in (v for v in (a, b) if isinstance(v, Cell)):
        lo.sure(cell)
    one, other = (dict(zip(x.keys, x.contents)) for x in (a, b))
    is_deque, is_ordered = ([x.cls is cls for x in (a, b)] for cls in OF_ONE_KIND)
    if any(is_deque) and not all(is_deque) or all(is_ordered) and list(one) != list(other):
        return False
    if kind_of_object(lo, a) != kind_of_object(lo, b) or one.keys() != other.keys():
        return False
    return next((verdict for key, item in one.items() if (verdict := equal(lo, item, other[key])) is not True), True)


def equal(lo: Lowering, a: Value, b: Value) -> bool | None:
    """Tell whether two items of containers are equal, or return None if that is not known."""
    if a is b and isinstance(a, (Cell, TupleVal)) or one_object(lo, a, b):
        return True
    if has_items(a) and has_items(b):
        return equal_items(lo, a, b)
    for x, other in ((a, b), (b, a)):
        if has_items(x) and isinstance(x, Cell) and isinstance(other, Const) and not isinstance(other.value, (list, dict)):
            return False
    found, values = core.known(lo, TupleVal((a, b)))
    decided = found and all(isinstance(v, (*CONDITIONS, type)) and v == v for v in values)  # of NaN the same object is asked for
    return values[0] == values[1] if decided else None


def is_shape(lo: Lowering, value: Value) -> bool:
    """Tell whether a value is a tuple of integers."""
    if isinstance(value, TupleVal):
        return value.cls is None and all(isinstance(t := atom_type(lo.read(v)), Scalar) and t.kind == "int" for v in value.items)
    return core.data_type(lo, value) == AnyTuple(INT)


CONDITIONS = (bool, int, float, str, type(None), tuple, types.FunctionType, types.BuiltinFunctionType, np.ufunc)


@core.truth.register(Const, Var)
def _truth_of_atom(lo: Lowering, value: Atom) -> bool | None:
    found, v = core.known(lo, value)
    if found:
        return bool(v) if isinstance(v, CONDITIONS) else None
    return lo.build.truths.get(value) if isinstance(value, Var) else None


core.truth.register(Cell)(lambda lo, value: lo.build.truths.get(value.slots.get(VALUE)))


@core.truth.register("object", TupleVal, SuperVal)
def _truth_of_object(lo: Lowering, value: Value) -> bool | None:
    if core.known(lo, value)[0]:
        return bool(value.items)
    if (found := core.condition(lo, value)) is not value:
        return core.truth(lo, found)
    return True if isinstance(value, Cell) else bool(value.items)


@core.truth.register("list", "dict")
def _truth_of_container(lo: Lowering, value: Cell) -> bool:
    lo.sure(value)
    return bool(value.items)


core.truth.register(FunctionVal, BoundVal, ChoiceVal)(lambda lo, value: True)


@core.truth.register(Iterable)
def _truth_of_iterable(lo: Lowering, value: Iterable) -> bool | None:
    """An iterator is true; a range or a view of a dict is, if it has elements."""
    return True if value.once or value.drive is not None else core.truth(lo, core.call_object(lo, len, [value], {}, None))


SHARED_BY_VALUE = (int, float, complex, str, bytes, tuple, range, slice, np.generic, np.dtype)
"""Objects that are equal without being the same object, or the same only because an interpreter keeps one of each value."""


def identity_test(lo: Lowering, fn: Any, a: Value, b: Value) -> Value:
    """Lower `a is b`: decide it while compiling if that can be known, emit it if one side exists only once, such as None; else refuse."""
    same = one_object(lo, a, b)
    if same is not None:
        of_arguments = [roots(v) & lo.params.keys() for v in (a, b) if isinstance(v, Cell)]
        if not same and len(of_arguments) == 2 and all(of_arguments):  # each call checks that they are not one object
            lo.note_compared(set().union(*of_arguments))
        return Const(same == (fn is operator.is_))
    if not any(exists_once(lo, v) for v in (a, b)):
        raise core.marked(core.refused(lo, "whether these are one object is not known before the program runs"), objects_apart=True)
    return lo.wrap(lo.build.call(fn, lo.read(a), lo.read(b)))


def exists_once(lo: Lowering, value: Value) -> bool:
    """Tell whether a value is a known object of which there is no equal other one."""
    atom = value.slots.get(VALUE) if isinstance(value, Cell) else value
    if isinstance(atom, Const) and atom.live:
        return True
    found, v = core.known(lo, value)
    return found and (isinstance(v, (bool, enum.Enum)) or not isinstance(v, SHARED_BY_VALUE))


ONE_OBJECT_EACH = range(-5, 257)  # CPython makes each of these integers once


def as_written(lo: Lowering, value: Value) -> Value:
    """Return the constant that a name was given, such as the number of an iteration that is lowered alone; any other value as it is."""
    made = lo.build.made_by.get(value) if isinstance(value, Var) else None
    return made.value if isinstance(made, Let) else value


def one_object(lo: Lowering, a: Value, b: Value) -> bool | None:
    """Tell whether two values are the same object, or return None if that is not known."""
    if a is b and not isinstance(a, (Var, MethodVal, ChoiceVal, OptionalVal)):
        return True
    found, values = zip(*(core.known(lo, v) for v in (a, b)))
    if all(found) and (exists_once(lo, a) or exists_once(lo, b)):
        return values[0] is values[1]
    integers = [as_written(lo, v) for v in (a, b)]
    if all(isinstance(v, Const) and type(v.value) is int and v.value in ONE_OBJECT_EACH for v in integers):
        return integers[0].value == integers[1].value
    if core.is_none(a) or core.is_none(b):
        return is_none(lo, b if core.is_none(a) else a)
    kinds = {kind_of_object(lo, v) for v in (a, b)}
    if len(kinds) == 2 and None not in kinds:
        return False
    if isinstance(a, Cell) and isinstance(b, Cell):
        if a.frozen is not None and b.frozen is not None:
            of_globals = [core.part_of_global(lo, v) for v in (a, b)]
            if all(part is not core.NOT_A_PART for part in of_globals):
                return of_globals[0] is of_globals[1]
        if one_may_be_of_global(lo, a, b):
            return None
        if a.frozen is not None and a.frozen == b.frozen:  # parts of one global, or results of one cached function
            return None
        if all(v.kind != "array" for v in (a, b)):
            return None if {a, *a.shares} & {b, *b.shares} else False
        if all(is_array_of_its_own(lo, v) for v in (a, b)):
            return False
        unknown = roots(a) & roots(b) or any(isinstance(core.data_type(lo, v), Unknown) for v in (a, b))
        return None if unknown else False
    match a, b:
        case TupleVal(), TupleVal():
            return False if len(a.items) != len(b.items) or a.cls is not b.cls else None
        case FunctionVal(), FunctionVal():
            return False if a.source.node is not b.source.node else None
        case ((TupleVal() | FunctionVal() | Iterable()), other) | (other, (TupleVal() | FunctionVal() | Iterable())):
            return False if exists_once(lo, other) else None
    if not all(found):
        return None
    equal = values[0] is values[1] or type(values[0]) is type(values[1]) and values[0] == values[1]
    return None if equal else False


def one_may_be_of_global(lo: Lowering, a: Cell, b: Cell) -> bool:
    """Tell whether one object may be that of a global, and the other one that of another name of it, or of an argument."""
    found = [() if is_new_view(lo, v) else [r for r in roots(v) if r.slots.birth == BEFORE_ALL or r in lo.params] for v in (a, b)]
    return all(found) and any(r.slots.birth == BEFORE_ALL for each in found for r in each)


def is_new_view(lo: Lowering, cell: Cell) -> bool:
    """Tell whether a cell is an array that a subscript or a view of an array has just made, which no other name has."""
    if cell.base is None or not isinstance(core.data_type(lo, cell.base), Array):
        return False
    return isinstance(cell.step, Sub) or isinstance(cell.step, View) and record_of(cell.step.fn).view != "shorter"


KINDS = {Scalar: "number", Array: "array", Str: "text", ListT: "list", MapT: "dict", DictT: "dict", TupleT: "tuple", NoneType: "none"}


def kind_of_object(lo: Lowering, value: Value) -> str | None:
    """Return the kind of object that a value surely is, or None if that is not known; values of two kinds are not one object."""
    match value:
        case TupleVal():
            return "tuple"
        case FunctionVal() | Iterable():
            return type(value).__name__
        case Cell() if value.kind != "array":
            return value.kind
        case Var() | Const() | Cell():
            return KINDS.get(type(atom_type(lo.read(value))))
    return None


def is_array_of_its_own(lo: Lowering, cell: Cell) -> bool:
    """Tell whether a cell is an array, or a view of one, that no other cell can be."""
    while isinstance(core.data_type(lo, cell), Array) and not cell.shares:
        if cell.base is None:
            return True
        shorter = isinstance(cell.step, View) and record_of(cell.step.fn).view == "shorter"
        if cell.step is None or shorter and rank(atom_type(lo.read(cell))) is None:
            return False  # it may be its base
        cell = cell.base
    return False


def is_none(lo: Lowering, value: Value) -> bool | None:
    """Tell whether a value is None, or return None if that is not known."""
    if not isinstance(value, (Var, Const, Cell)) or isinstance(value, Cell) and value.kind != "array":
        return None if isinstance(value, OptionalVal) else False
    t = atom_type(lo.read(value))
    if isinstance(t, NoneType):
        return True
    return False if isinstance(t, (Scalar, Array, Str, ListT, DictT, TupleT)) else None


def may_be_array(lo: Lowering, value: Value) -> bool:
    """Tell whether a value may be an array, or an object, which says itself what it is equal to."""
    return core.class_of(value) is not None or isinstance(core.data_type(lo, value), (Array, Unknown))


def contains(lo: Lowering, item: Value, container: Value, negated: bool, node) -> Value:
    """Lower `item in container`."""
    is_dict = isinstance(container, Cell) and container.kind == "dict"  # whose values are not asked for
    found, key = known_key(lo, item, container.items) if is_dict else core.known(lo, item)
    if (special := core.call_special(lo, container, "__contains__", [item], node)) is not None:
        return core.call_object(lo, operator.not_ if negated else bool, [special], {}, node)
    if not is_dict and implicit_calls.holds_objects(item, container) and sets.set_type(lo, container) is None:
        among = implicit_calls.among(lo, sequences.static_items(lo, container, node), item)
        return core.call_object(lo, operator.not_, [among], {}, node) if negated else among
    if isinstance(container, Cell) and container.kind != "array":
        lo.sure(container)
    if is_dict and not found and core.class_of(item) is not None:
        raise core.unsupported(lo, node, "`in` with objects")
    if is_dict and found:
        return Const((key in container.items) != negated)
    if isinstance(container, core.NamesVal) and found:
        return Const(core.has_global(lo, container.names, key) != negated)
    if not is_dict and has_items(container):
        among = [equal(lo, item, other) for other in container.contents]
        if (verdict := next((v for v in among if v is not False), False)) is not None:
            return Const(verdict != negated)
    listed = TupleVal(tuple(container.contents)) if isinstance(container, Cell) and container.kind == "list" else container
    known, values = sets.known_set(lo, container) if sets.set_type(lo, container) else core.known(lo, listed)
    if found and known:
        return Const((key in values) != negated)
    fn = operator.contains
    var = lo.build.call(fn, lo.operand(container), lo.read(item), type=BOOL)
    return lo.build.call(operator.not_, var, type=BOOL) if negated else var


def concatenate(lo: Lowering, a: Value, b: Value) -> Value:
    """Lower `a + b` of two tuples, lists or strings."""
    for value in (a, b):
        if isinstance(value, Const) and isinstance(value.value, str) or isinstance(value, Var) and isinstance(value.type, Str):
            return core.fold(lo, operator.add, [a, b]) or lo.build.call(operator.add, lo.read(a), lo.read(b), type=Str())
    kinds = {"tuple" if isinstance(v, TupleVal) else v.cls or v.kind for v in (a, b) if isinstance(v, (TupleVal, Cell))} - {"array"}
    if len(kinds) > 1:
        raise core.surely(lo, core.refused(lo, "`+` of a tuple and a list, or of a list and a deque", "write `[*a, *b]`"), TypeError)
    if any(isinstance(v, Cell) and v.kind == "array" for v in (a, b)):
        return lists.wrap_items(lo, lists.joined(lo, lo.read(a), lo.read(b)), a, b)
    items = [*sequences.static_items(lo, a, None), *sequences.static_items(lo, b, None)]
    return lo.like(a, dict(enumerate(items)), "items") if isinstance(a, Cell) else TupleVal(tuple(items))


def repeat(lo: Lowering, a: Value, b: Value) -> Value:
    """Lower `[x] * n`."""
    if not core.is_sequence(a):
        a, b = b, a
    if core.is_sequence(b):
        raise sequences.no_numbers(lo, "a list or tuple times another one", (a, b))
    found, n = core.known(lo, b)
    if isinstance(core.type_of_value(a), Str) and isinstance(t := core.type_of_value(b), Scalar) and t.kind in ("int", "bool"):
        return core.fold(lo, operator.mul, [a, b]) or lo.build.call(operator.mul, lo.read(a), lo.read(b), type=Str())
    if found and not isinstance(n, (int, np.integer)):
        wrong = core.refused(lo, "a list or tuple times what is not an integer", "multiply an array: `np.array(...)`")
        raise core.surely(lo, wrong, TypeError)
    if not found and isinstance(t := core.data_type(lo, b), Scalar) and t.kind == "float":  # perhaps an integer that is an argument in wrt
        if isinstance(core.type_of_value(a), Str):
            instead = "numbers in place of the string; `s * int(n)`, with `n` left out of wrt, if it is repeated"
            raise core.perhaps(core.refused(lo, "a string times a float", instead), TypeError)
        instead = "`np.asarray(x) * w` if each number is to be multiplied; leave an integer that says how often to repeat out of wrt"
        raise core.perhaps(core.refused(lo, "a list or tuple times a float", instead), TypeError)
    if not found and isinstance(core.data_type(lo, b), Unknown) and not lo.static_only:
        instead = "`np.asarray(x) * w` if each number is to be multiplied, `[...] * int(n)` if the list is repeated"
        raise core.refused(lo, "a list or tuple times what may be a number or an array", instead)
    is_long = isinstance(a, Cell) and a.kind == "array"  # a list whose length is not known
    if is_long and found and n <= 4:
        return functools.reduce(functools.partial(concatenate, lo), [a] * max(n, 0), lo.new_list([]))
    if not found or isinstance(a, Const) or is_long:
        if isinstance(a, Cell) and a.kind == "list" and all(isinstance(v, Const) for v in a.contents):
            item = functools.reduce(join, map(atom_type, a.items.values()), Undefined())
            return lo.wrap(lo.build.call(operator.mul, lo.read(a), lo.read(b), type=ListT(item)))
        if isinstance(a, TupleVal) and all(isinstance(v, Const) for v in a.items):
            return lo.wrap(lo.build.call(operator.mul, lo.read(a), lo.read(b)))
        result = lo.new_list([])
        loops.for_each(lo, iterables.counted(lo, [b], None), lambda _: lists.extend(lo, result, a, None))
        return result
    items = sequences.static_items(lo, a, None) * n
    return lo.like(a, dict(enumerate(items)), "items") if isinstance(a, Cell) else TupleVal(tuple(items))
