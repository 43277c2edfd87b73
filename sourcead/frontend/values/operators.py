"""TODO"""

from __future__ import annotations

import operator
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import branches, loops
from sourcead.frontend.core import BoundVal, Cell, FunctionVal, Lowering, TupleVal, Value, leaves, roots
from sourcead.frontend.values import classes, iterables, known_lists, lists, sequences, sets
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import BOOL, Array, DictT, ListT, NoneType, Scalar, Str, TupleT, Undefined, join


def both(lo: Lowering, a: Value, b: Value) -> Value:
    """`a and b` of two values that are computed anyway."""
    for first, second in ((a, b), (b, a)):
        verdict = core.truth(lo, first)
        if verdict is not None:
            return second if verdict else first
    return branches.branch(lo, lo.read(a), [lambda: b, lambda: a], "and")


def of_sets(lo: Lowering, fn, values: tuple[Value, ...]) -> Value | None:
    return sets.operate(lo, fn, values)


def identity_test(lo: Lowering, fn, a: Value, b: Value) -> Const | None:
    """`a is None` where the type of `a` decides."""
    if isinstance(a, Cell) and isinstance(b, Cell):
        if a is b or not roots(a) & roots(b):
            return Const((a is b) == (fn is operator.is_))
        raise UnsupportedSyntaxError("whether these are one object is not known before the program runs", at=lo.here)
    if isinstance(a, Const) and a.value is None:
        a, b = b, a
    if not (isinstance(b, Const) and b.value is None):
        return None
    if isinstance(a, (TupleVal, FunctionVal, BoundVal)) or (isinstance(a, Cell) and a.kind != "array"):
        return Const(fn is operator.is_not)
    t = atom_type(lo.read(a))
    if isinstance(t, NoneType):
        return Const(fn is operator.is_)
    if isinstance(t, (Scalar, Array, Str, ListT, DictT, TupleT)):
        return Const(fn is operator.is_not)
    return None


def contains(lo: Lowering, item: Value, container: Value, negated: bool, node) -> Value:
    """`item in container`."""
    found, key = core.known(lo, item)
    if (special := classes.special(lo, container, "__contains__", [item], node)) is not None:
        return core.operate(lo, operator.not_, special) if negated else special
    if any(isinstance(leaf, Cell) and leaf.kind == "object" for value in (item, container) for leaf in leaves(value)):
        raise core.unsupported(lo, node, "`in` with objects")
    if isinstance(container, Cell) and container.kind != "array":
        lo.alive(container)
        lo.sure(container)
    if isinstance(container, Cell) and container.kind == "dict" and found:
        return Const((key in container.items) != negated)
    known, values = core.known(lo, container)
    if found and known:
        return Const((key in values) != negated)
    fn = operator.contains
    var = lo.build.call(fn, lo.operand(container), lo.read(item), type=BOOL)
    return lo.build.call(operator.not_, var, type=BOOL) if negated else var


def concatenate(lo: Lowering, a: Value, b: Value) -> Value:
    """`a + b` of two tuples or lists."""
    for value in (a, b):
        if isinstance(value, Const) and isinstance(value.value, str) or isinstance(value, Var) and isinstance(value.type, Str):
            return lo.build.call(operator.add, lo.read(a), lo.read(b), type=Str())
    if any(isinstance(v, Cell) and v.kind == "array" for v in (a, b)):
        return lists.concatenated(lo, a, b)
    items = [*sequences.static_items(lo, a, None), *sequences.static_items(lo, b, None)]
    return lo.new_list(items) if isinstance(a, Cell) else TupleVal(tuple(items))


def repeat(lo: Lowering, a: Value, b: Value) -> Value:
    """`[x] * n`."""
    if not core.is_sequence(a):
        a, b = b, a
    found, n = core.known(lo, b)
    if not found or isinstance(a, Const):
        if isinstance(a, Cell) and all(isinstance(v, Const) for v in a.items.values()):
            var = lo.build.call(operator.mul, lo.read(a), lo.read(b), type=ListT(element_join(a)))
            return lo.wrap(var)
        result = lo.new_list([])
        loops.for_each(lo, iterables.counted(lo, [b], None), lambda _: known_lists.extend(lo, result, a, None))
        return result
    items = sequences.static_items(lo, a, None) * n
    return lo.new_list(items) if isinstance(a, Cell) else TupleVal(tuple(items))


def element_join(cell: Cell):
    t: Any = Undefined()
    for v in cell.items.values():
        t = join(t, atom_type(v))
    return t
