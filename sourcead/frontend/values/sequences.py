"""What lists and tuples do without a name of their own: unpacking, `in`, `+`, `*`, and the list of a function's values."""

from __future__ import annotations

import operator
from typing import Any

import gast
import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend.core import Lowering
from sourcead.frontend.syntax import expressions, iteration
from sourcead.frontend.syntax.iteration import Iterable
from sourcead.frontend.values import lists, methods, objects, optional_tuples as optional
from sourcead.frontend.values.cells import MISSING, BoundVal, Cell, FunctionVal, MethodVal, TupleVal, Value, leaves
from sourcead.ir.nodes import Const, Range, Var
from sourcead.ir.types import BOOL, INT, Array, ListT, Str, Unknown, carries_derivative, join


def static_items(lo: Lowering, value: Value, node, count: int | None = None) -> list[Value]:
    """The items of a value whose number is known."""
    value = optional.present(value)
    if objects.method(value, "__iter__") is not None:
        value = iteration.iterate(lo, value, node)
    if isinstance(value, TupleVal):
        return list(value.items)
    if isinstance(value, Cell) and value.kind in ("list", "dict"):
        lo.alive(value)
        lo.sure(value)
        return list(value.items.values()) if value.kind == "list" else [Const(k) for k in value.items]
    if isinstance(value, Iterable) and value.items is not None:
        return list(iteration.iterate(lo, value, node).items)
    if isinstance(value, Const) and not value.live and isinstance(value.value, (tuple, list, str, range)):
        return [Const(v) for v in value.value]
    if isinstance(value, (Var, Cell)):
        t = atom_type(lo.read(value))
        if count is None and isinstance(t, Array) and t.dims and isinstance(t.dims[0], int):
            count = t.dims[0]
        if count is None:
            raise expressions.unsupported(lo, node, "the number of items is not known before the program runs", "take them as `x[0]`")
        if isinstance(t, (Array, ListT, Unknown)):
            return [expressions.subscript(lo, value, Const(i), node) for i in range(count)]
    raise expressions.unsupported(lo, node, "the number of items is not known before the program runs")


def collect(lo: Lowering, iterable: Iterable, f, node) -> Value:
    """The list of `f(element)` for each element."""

    result = lo.new_list([])
    if iterable.items is not None:
        for item in iterable.items:
            methods.append(lo, result, f(item), node)
        return result
    for_each(lo, iterable, lambda e: methods.append(lo, result, f(e), node))
    return result


def as_array(lo: Lowering, value: Value) -> Value:
    """A list or tuple through which a derivative passes as an array; other values as they are."""
    if not expressions.is_sequence(value) or isinstance(value, Const) or isinstance(value, Var) and isinstance(value.type, Str):
        return value
    if any(isinstance(leaf, (FunctionVal, BoundVal, MethodVal)) for leaf in leaves(value)):
        return value
    t = atom_type(lo.read(value))
    return lo.wrap(lo.build.call(np.array, lo.operand(value))) if carries_derivative(t) else value


def fold(lo: Lowering, iterable: Iterable, initial: Value, step, node, name: str = "total") -> Value:
    """`step(... step(step(initial, e0), e1) ..., en)` over the elements."""
    from sourcead.frontend.syntax import loops

    names, key = lo.scope.names, f"${name}"
    outer = names.get(key, MISSING)
    lo.set(names, key, initial)
    if iterable.items is not None:
        for item in iterable.items:
            lo.set(names, key, step(names[key], item))
    else:
        element: list[Value] = []
        loop = loops.ForLike(gast.Name(key, gast.Store(), None, None), [gast.Pass()])
        loops.run_loop(
            lo, loop, iterable,
            lambda e: element.__setitem__(slice(None), [e]), lambda: lo.set(names, key, step(names[key], element[0])),
        )  # fmt: skip
    result = names[key]
    lo.set(names, key, outer)
    return result


def has_known_items(value: Value) -> bool:
    """Whether the items are known one by one."""
    if isinstance(value, Iterable):
        return value.items is not None
    return isinstance(value, (TupleVal, Const)) or isinstance(value, Cell) and value.kind != "array"


def has_countable_items(lo: Lowering, value: Value) -> bool:
    """Whether the number of items is known."""
    if isinstance(value, (Var, Cell)) and not (isinstance(value, Cell) and value.kind != "array"):
        t = atom_type(lo.read(value))
        return isinstance(t, Array) and bool(t.dims) and isinstance(t.dims[0], int)
    return True


def for_each(lo: Lowering, iterable: Iterable, act) -> None:
    """Does `act(element)` for each element."""
    from sourcead.frontend.syntax import loops

    if iterable.items is not None:
        for item in iterable.items:
            act(item)
        return
    target = gast.Name("$element", gast.Store(), None, None)
    element: list[Value] = []
    loops.run_loop(
        lo, loops.ForLike(target, [gast.Pass()]), iterable,
        lambda e: element.__setitem__(slice(None), [e]), lambda: act(element[0]),
    )  # fmt: skip


def fold_left(lo: Lowering, iterable: Iterable, step, first: Value | None, node, begin=lambda value: None) -> Value:
    """`step(... step(step(first, x0), x1) ..., xn)`; without `first`, it is x0, which `begin` sees."""
    if first is None:
        first = iterable.nth(Const(0))
        begin(first)
        inner = iterable

        def nth(k):
            return inner.nth(lo.build.call(operator.add, k, Const(1), type=INT))

        def length():
            return lo.build.call(operator.sub, inner.length(), Const(1), type=INT)

        iterable = Iterable(domain=lambda: Range(Const(0), length(), Const(1)), element=nth, length=length, nth=nth)
    return fold(lo, iterable, first, step, node)


def contains(lo: Lowering, item: Value, container: Value, negated: bool, node) -> Value:
    """`item in container`."""
    found, key = expressions.known(lo, item)
    if (special := objects.special(lo, container, "__contains__", [item], node)) is not None:
        return expressions.operate(lo, operator.not_, special) if negated else special
    if any(isinstance(leaf, Cell) and leaf.kind == "object" for value in (item, container) for leaf in leaves(value)):
        raise expressions.unsupported(lo, node, "`in` with objects")
    if isinstance(container, Cell) and container.kind != "array":
        lo.alive(container)
        lo.sure(container)
    if isinstance(container, Cell) and container.kind == "dict" and found:
        return Const((key in container.items) != negated)
    known, values = expressions.known(lo, container)
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
    items = [*static_items(lo, a, None), *static_items(lo, b, None)]
    return lo.new_list(items) if isinstance(a, Cell) else TupleVal(tuple(items))


def repeat(lo: Lowering, a: Value, b: Value) -> Value:
    """`[x] * n`."""
    if not expressions.is_sequence(a):
        a, b = b, a
    found, n = expressions.known(lo, b)
    if not found or isinstance(a, Const):
        if isinstance(a, Cell) and all(isinstance(v, Const) for v in a.items.values()):
            var = lo.build.call(operator.mul, lo.read(a), lo.read(b), type=ListT(element_join(a)))
            return lo.wrap(var)
        result = lo.new_list([])
        for_each(lo, iteration.counted(lo, [b], None), lambda _: methods.extend(lo, result, a, None))
        return result
    items = static_items(lo, a, None) * n
    return lo.new_list(items) if isinstance(a, Cell) else TupleVal(tuple(items))


def element_join(cell: Cell):
    from sourcead.ir.types import Undefined

    t: Any = Undefined()
    for v in cell.items.values():
        t = join(t, atom_type(v))
    return t
