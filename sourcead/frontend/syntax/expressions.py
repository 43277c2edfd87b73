"""Lowering of expressions: one function for each kind of syntax node, `lower(lo, node) -> Value`."""

from __future__ import annotations

import builtins
import enum
import operator
import types
from typing import Any

import gast
import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend.builtins import numpy_brackets as brackets
from sourcead.frontend.core import Lowering
from sourcead.frontend.syntax import branches as control, calls, inlining, iteration
from sourcead.frontend.values import (
    function_choices as choices, lists, methods, objects, optional_tuples as optional, runtime_dicts as maps, sequences
)
from sourcead.frontend.values.cells import (
    VALUE, BoundVal, Cell, ChoiceVal, FunctionVal, Held, MethodVal, SliceVal, TupleVal, Value, cells_of, hold, reach,
    roots
)
from sourcead.ir.nodes import UNDEFINED, Atom, Call, Const, Operand, Slice, Sub, Var
from sourcead.ir.records import is_record
from sourcead.ir.types import Array, DictT, ListT, NoneType, Scalar, Str, StructT, TupleT, Undefined, Unknown, rank
from sourcead.language.checkpoints import SavingPolicy

BINARY = {
    gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul, gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv, gast.Mod: operator.mod, gast.Pow: operator.pow, gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_, gast.BitOr: operator.or_, gast.BitXor: operator.xor, gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
}  # fmt: skip
UNARY = {gast.USub: operator.neg, gast.UAdd: operator.pos, gast.Not: operator.not_, gast.Invert: operator.invert}
COMPARE = {
    gast.Lt: operator.lt, gast.LtE: operator.le, gast.Gt: operator.gt, gast.GtE: operator.ge, gast.Eq: operator.eq,
    gast.NotEq: operator.ne, gast.Is: operator.is_, gast.IsNot: operator.is_not,
}  # fmt: skip


def lower(lo: Lowering, node: gast.AST) -> Value:
    """The value of an expression."""
    handler = HANDLERS.get(type(node))
    if handler is None:
        raise unsupported(lo, node)
    return handler(lo, node)


def atom(lo: Lowering, node: gast.AST) -> Atom:
    """The value of an expression, as one atom."""
    return lo.read(lower(lo, node))


def operand(lo: Lowering, node: gast.AST) -> Operand:
    """The value of an expression, as an operand: tuple displays and slices stay as written."""
    return lo.operand(lower(lo, node))


def unsupported(lo: Lowering, node: gast.AST, reason: str | None = None, instead: str | None = None) -> UnsupportedSyntaxError:
    """The error for a construct that is not supported."""
    name = CONSTRUCTS.get(type(node).__name__, f"`{type(node).__name__}`")
    if reason is None and instead is None:
        instead = INSTEAD.get(type(node).__name__)
    return UnsupportedSyntaxError(reason or f"{name} cannot be differentiated yet", at=lo.origin(node), instead=instead)


CONSTRUCTS = {
    "Lambda": "a lambda", "ListComp": "a list comprehension",
    "DictComp": "a dict comprehension", "GeneratorExp": "a generator expression", "Await": "`await`", "Yield": "`yield`",
    "YieldFrom": "`yield from`", "NamedExpr": "the walrus operator `:=`", "Starred": "a starred expression",
    "JoinedStr": "an f-string", "Try": "`try`", "With": "`with`", "Match": "`match`", "ClassDef": "a class definition",
    "Delete": "`del`", "Global": "`global`", "Nonlocal": "`nonlocal`", "Import": "`import` inside a function",
    "ImportFrom": "`import` inside a function", "AsyncFunctionDef": "an async function", "Break": "`break`",
    "Continue": "`continue`", "TypeAlias": "a type alias",
}  # fmt: skip


INSTEAD = {
    "ClassDef": "define the class outside of the function", "Await": "a function without `async`",
    "AsyncFunctionDef": "a function without `async`", "TypeAlias": "define the alias outside of the function",
}


# -- what is known while compiling ---------------------------------------------------------------------------------


def known(lo: Lowering, value: Value) -> tuple[bool, Any]:
    """Whether the value is a Python object known while compiling, and that object."""
    match value:
        case Const(v, _, live):
            return (not live), v
        case Var():
            return (value in lo.build.known), lo.build.known.get(value)
        case TupleVal(items):
            parts = [known(lo, item) for item in items]
            return all(k for k, _ in parts), tuple(v for _, v in parts)
    return False, None


FOLDABLE = (bool, int, str, type(None), tuple, type, enum.Enum)


def fold(lo: Lowering, fn, operands: list[Value], result: Var | None = None) -> Value | None:
    """The result of a call on known values, or None. `result`: the variable that stands for it in the text."""
    parts = [known(lo, v) for v in operands]
    if not all(k for k, _ in parts):
        return None
    values = [v for _, v in parts]
    foldable = (*FOLDABLE, float) if lo.static_only or fn is operator.neg else FOLDABLE
    if not all(isinstance(v, foldable) or fn in (operator.is_, operator.is_not) for v in values):
        return None
    try:
        return Const(fn(*values))
    except Exception:  # the program will raise it too, when it runs
        return None


def operate(lo: Lowering, fn, *values: Value) -> Value:
    """`fn` applied to values, for an operator."""
    if (found := objects.operate(lo, fn, list(values))) is not None:
        return found
    if len(values) == 2 and (found := optional.compared_with_none(lo, fn, *values)) is not None:
        return found
    if fn is operator.add and len(values) == 2 and all(is_sequence(v) for v in values):
        return sequences.concatenate(lo, *values)
    if len(values) == 2 and any(is_sequence(v) for v in values) and any(is_array_value(v) for v in values):
        values = tuple(sequences.as_array(lo, v) for v in values)
    elif fn is operator.mul and len(values) == 2 and any(is_sequence(v) for v in values):
        return sequences.repeat(lo, *values)
    if fn in (operator.or_,) and all(isinstance(v, Cell) and v.kind == "dict" for v in values):
        for value in values:
            lo.alive(value)
        return lo.new_dict({**values[0].items, **values[1].items})
    if (found := of_sets(lo, fn, values)) is not None:
        return found
    folded = fold(lo, fn, list(values))
    if folded is not None and isinstance(folded.value, (bool, str, type(None))):
        return folded
    if folded is not None and (lo.static_only or all(isinstance(v, Const) for v in values) and fn is operator.neg):
        return folded
    if fn in (operator.is_, operator.is_not):
        verdict = identity_test(lo, fn, *values)
        if verdict is not None:
            return verdict
    if any(isinstance(v, (Var, Cell)) and atom_type(lo.read(v)) == Undefined() for v in values):
        return lo.build.emit(Call(fn, tuple(map(lo.read, values))), Undefined())  # an item of what is empty in this round of a loop
    var = lo.build.call(fn, *(lo.operand(v) if fn in (operator.eq, operator.ne) else lo.read(v) for v in values))
    if folded is not None:
        lo.build.known[var] = folded.value
    return lo.wrap(var)


def of_sets(lo: Lowering, fn, values: tuple[Value, ...]) -> Value | None:
    from sourcead.frontend.values import sets

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


def is_array_value(value: Value) -> bool:
    return isinstance(value, Cell) and value.kind == "array" and isinstance(atom_type(value.slots.get(VALUE, UNDEFINED)), Array)


def is_sequence(value: Value) -> bool:
    """Whether the value is a tuple or list (where + joins and * repeats)."""
    if isinstance(value, TupleVal) or (isinstance(value, Cell) and value.kind == "list"):
        return True
    if isinstance(value, Cell) and VALUE in value.slots:
        return isinstance(atom_type(value.slots[VALUE]), (ListT, TupleT))
    if isinstance(value, Const):
        return isinstance(value.value, (tuple, list, str))
    return isinstance(value, Var) and isinstance(value.type, (ListT, TupleT, Str))


def truth(lo: Lowering, value: Value) -> bool | None:
    """Whether a condition holds, if that is known while compiling."""
    is_known, v = known(lo, value)
    if is_known and isinstance(v, (bool, int, float, str, type(None), tuple, types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
        return bool(v)
    if objects.class_of(value) is not None:
        for name in ("__bool__", "__len__"):
            if (found := objects.special(lo, value, name, [], None)) is not None:
                return truth(lo, found)
        return True if isinstance(value, Cell) else bool(value.items)
    if isinstance(value, TupleVal):
        return bool(value.items)
    if isinstance(value, (FunctionVal, BoundVal, ChoiceVal)):
        return True
    if isinstance(value, Cell) and value.kind in ("list", "dict"):
        lo.sure(value)
        return bool(value.items)
    return None


# -- the handlers ----------------------------------------------------------------------------------------------------


def lower_constant(lo: Lowering, node) -> Value:
    return Const(node.value)


def lower_name(lo: Lowering, node) -> Value:
    return resolve(lo, node.id, node)


def resolve(lo: Lowering, name: str, node=None) -> Value:
    """What a name stands for: local, enclosing, closure, global, built-in."""
    scope = lo.scope
    while scope is not None:
        if name in scope.names:
            value = scope.names[name]
            if value is UNDEFINED:
                raise UnsupportedSyntaxError(f"`{name}` is read here, but nothing was assigned to it on this path", at=lo.here)
            return value
        if name in scope.ended:
            raise UnsupportedSyntaxError(f"`{name}` has its value in the reverse sweep, inside its `adjoint_of` block", at=lo.here)
        outermost, scope = scope, scope.parent
    source = outermost.source
    if name in source.closure:
        return outside(lo, name, source.closure[name], "cell_contents", source)
    if name in source.globals:
        return outside(lo, name, source.globals, name, source)
    if hasattr(builtins, name):
        return Const(getattr(builtins, name), text=name)
    raise UnsupportedSyntaxError(f"the name `{name}` is not defined", at=lo.here)


def outside(lo: Lowering, name: str, where, key: str, source) -> Value:
    """A global or closure variable: code is resolved now, data is read again at each call."""
    try:
        value = where.cell_contents if key == "cell_contents" else where[key]
    except ValueError:
        raise UnsupportedSyntaxError(f"the name `{name}` has no value yet", at=lo.here) from None
    if isinstance(value, types.ModuleType):
        return Const(value, text=name)
    if lo.static_only or is_code(value):
        if not lo.static_only:
            lo.guards[(id(where), key)] = (where, key, value)
        return Const(value, text=name)
    return live_data(lo, name, value, (where, key))


def is_code(value: Any) -> bool:
    """Whether an object is part of the program rather than of its data."""
    if isinstance(value, (type, types.ModuleType, str, type(None), np.dtype, SavingPolicy)):
        return True
    return callable(value) and not is_record(value)


def live_data(lo: Lowering, name: str, value: Any, where: tuple[Any, str]) -> Value:
    """A constant of the text that is read anew at each call; only its type is relied on."""
    text = name
    n = 1
    while text in lo.live and lo.live[text] != where:
        n += 1
        text = f"{name}_{n}"
    lo.live[text] = where
    if text not in lo.live_values:
        const = Const(value, text=text, live=True)
        if isinstance(value, (tuple, list, dict)) or is_record(value):
            with lo.at_top():
                wrapped = lo.unpack(lo.build.emit(Let_(const), atom_type(const), text, temp=True))
        else:
            wrapped = lo.wrap(const)
        for cell in cells_of(wrapped):
            cell.frozen = f"`{name}` is not a parameter of the function: writing to it would change it for everybody"
        lo.live_values[text] = wrapped
    return lo.live_values[text]


def Let_(const):
    from sourcead.ir.nodes import Let

    return Let(const)


def lower_binop(lo: Lowering, node) -> Value:
    left = lower(lo, node.left)
    right = lower(lo, node.right)
    return operate(lo, BINARY[type(node.op)], left, right)


def lower_unary(lo: Lowering, node) -> Value:
    value = lower(lo, node.operand)
    fn = UNARY[type(node.op)]
    if fn is operator.neg and isinstance(value, Const) and isinstance(value.value, (int, float)) and not value.live:
        return Const(-value.value)
    if fn is operator.not_:
        verdict = truth(lo, value)
        if verdict is not None:
            return Const(not verdict)
    return operate(lo, fn, value)


def lower_compare(lo: Lowering, node) -> Value:
    left = lower(lo, node.left)
    result: Value | None = None
    for op, right_node in zip(node.ops, node.comparators):
        right = lower(lo, right_node)
        part = compare(lo, op, left, right, node)
        if result is None:
            result = part
        else:
            result = control.both(lo, result, part)
        left = right
    return result


def compare(lo: Lowering, op, left: Value, right: Value, node) -> Value:
    if isinstance(op, (gast.In, gast.NotIn)):
        return sequences.contains(lo, left, right, isinstance(op, gast.NotIn), node)
    return operate(lo, COMPARE[type(op)], left, right)


def lower_boolop(lo: Lowering, node) -> Value:
    return control.short_circuit(lo, node.values, "and" if isinstance(node.op, gast.And) else "or")


def lower_ifexp(lo: Lowering, node) -> Value:
    return control.conditional(lo, node)


def lower_tuple(lo: Lowering, node) -> Value:
    return TupleVal(tuple(elements(lo, node.elts)))


def lower_list(lo: Lowering, node) -> Value:
    parts = [(lower(lo, n.value if isinstance(n, gast.Starred) else n), isinstance(n, gast.Starred)) for n in node.elts]
    if all(sequences.has_known_items(value) for value, starred in parts if starred):
        return lo.new_list([v for value, starred in parts for v in (sequences.static_items(lo, value, node) if starred else [value])])
    made = lo.new_list([])
    for value, starred in parts:
        if not starred:
            methods.append(lo, made, value, node)
        elif sequences.has_known_items(value):
            methods.extend(lo, made, value, node)
        else:
            sequences.for_each(lo, iteration.iterate(lo, value, node), lambda element: methods.append(lo, made, element, node))
    return made


def elements(lo: Lowering, nodes) -> list[Value]:
    """The values of a display, stars unpacked."""
    values: list[Value] = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            values.extend(sequences.static_items(lo, lower(lo, node.value), node))
        else:
            values.append(lower(lo, node))
    return values


def lower_dict(lo: Lowering, node) -> Value:
    items: dict[Any, Value] = {}
    for key, value in zip(node.keys, node.values):
        if key is None:
            spread = lower(lo, value)
            if not (isinstance(spread, Cell) and spread.kind == "dict"):
                raise unsupported(lo, node, "`**` of a dict whose keys are not known here")
            lo.alive(spread)
            items.update(spread.items)
            continue
        is_known, k = known(lo, lower(lo, key))
        if not is_known:
            raise unsupported(lo, node, "a dict key that is not known before the program runs", "use a list, or constant keys")
        items[k] = lower(lo, value)
    return lo.new_dict(items)


def lower_attribute(lo: Lowering, node) -> Value:
    return methods.attribute(lo, lower(lo, node.value), node.attr, node)


def lower_subscript(lo: Lowering, node) -> Value:
    return subscript(lo, lower(lo, node.value), lower_key(lo, node.slice), node)


def lower_key(lo: Lowering, node) -> Value:
    """The key of a subscript."""
    return lower(lo, node)


def lower_slice(lo: Lowering, node) -> Value:
    parts = [None if part is None else atom(lo, part) for part in (node.lower, node.upper, node.step)]
    return SliceVal(*(None if p is not None and isinstance(p, Const) and p.value is None else p for p in parts))


def subscript(lo: Lowering, base: Value, key: Value, node) -> Value:
    """`base[key]`."""
    base = optional.present(base)
    if (found := objects.special(lo, base, "__getitem__", [key], node)) is not None:
        return found
    if isinstance(base, TupleVal) and base.cls is not None:
        base = TupleVal(base.items)
    static = static_item(lo, base, key, node)
    if static is not None:
        return static
    if isinstance(base, TupleVal) or isinstance(base, Cell) and base.kind == "list":
        items = sequences.static_items(lo, base, node)
        if items and all(map(choices.is_function, items)):
            return choices.by_index(lo, items, key, node)
        base = dynamic(lo, base)
    if isinstance(base, Cell) and base.kind == "dict" and base.items and all(map(choices.is_function, base.items.values())):
        return choices.by_key(lo, base.items, key, None)
    if isinstance(base, Cell) and base.kind == "dict":
        maps.open_up(lo, base, node, key)
    if maps.is_map(lo, base):
        return maps.item(lo, base, key, node)
    if isinstance(base, (MethodVal, FunctionVal, BoundVal)) or objects.class_of(base) is not None:
        raise unsupported(lo, node, "this object has no items")
    if isinstance(base, Const) and (found := brackets.subscript_of_object(lo, base, key, node)) is not None:
        return found
    operand_ = lo.operand(key)
    if isinstance(base, Cell):
        t = atom_type(lo.read(base))
        if isinstance(t, ListT) and isinstance(operand_, Slice):
            return lists.wrap_items(lo, lo.build.index(lo.read(base), operand_), base)
        if views(t, operand_) and not may_be_number(t, operand_):
            cell = lo.view(base, Sub(operand_))
            var = lo.read(cell)
            if isinstance(var.type, (Scalar, Str, NoneType)) or takes_number(t, operand_):
                return var
            if isinstance(var.type, (TupleT, StructT)):
                return lo.wrap(var, shares=reach(base))
            return cell
    var = lo.build.index(lo.read(base), operand_)
    shared = reach(base) if isinstance(base, Cell) and not is_gather(t, operand_) else ()
    return lo.wrap(var, shares=shared)


def dynamic(lo: Lowering, value: Value) -> Value:
    """A tuple or list of known length as one IR value, for an index that is not known."""
    objects.keep_apart(lo, value)
    whole = lo.read(value)
    cell = lo.new_cell(whole, name=whole.name if isinstance(whole, Var) else "items")
    hold(cell, value)
    if isinstance(value, Cell) and value.kind == "list":
        cell.stands_for = value
        value.stood_for.append(cell)
    return cell


def views(t, key: Operand) -> bool:
    """Whether `base[key]` is surely memory of the base: integers, slices, None and `...` alone."""
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, tuple):
            return False
        if isinstance(part, Slice) or isinstance(part, Const) and (part.value is None or part.value is Ellipsis):
            continue
        kind = atom_type(part)
        if not (isinstance(kind, Scalar) and kind.kind == "int" or isinstance(kind, Str)):
            return False
    return True


def may_be_number(t, key: Operand) -> bool:
    """Whether `base[key]` of an array of unknown rank may be a number, which later writes do not change."""
    return isinstance(t, (Array, Unknown)) and rank(t) is None and only_indices(key)


def takes_number(t, key: Operand) -> bool:
    """Whether `base[key]` is a number, whatever the dtype of the array."""
    return isinstance(t, Array) and only_indices(key) and rank(t) == (len(key) if isinstance(key, tuple) else 1)


def only_indices(key: Operand) -> bool:
    parts = key if isinstance(key, tuple) else (key,)
    return not any(isinstance(p, Slice) or isinstance(p, Const) and (p.value is None or p.value is Ellipsis) for p in parts)


def is_gather(t, key: Operand) -> bool:
    """Whether the subscript makes a copy: some part of it is an array, a list or a mask."""
    parts = key if isinstance(key, tuple) else (key,)
    for part in parts:
        if isinstance(part, Slice):
            continue
        if isinstance(part, tuple):
            return True
        kind = atom_type(part)
        if isinstance(kind, (Array, ListT)) and rank(kind) != 0:
            return True
        if isinstance(kind, Scalar) and kind.kind == "bool":
            return True
    return False


def static_item(lo: Lowering, base: Value, key: Value, node) -> Value | None:
    """An item of a tuple, list or dict of known structure, by a known key."""
    if isinstance(base, Const) and not base.live and isinstance(base.value, (tuple, list, str, dict)):
        parts = (key.lower, key.upper, key.step) if isinstance(key, SliceVal) else (key,)
        found = [(True, None) if p is None else known(lo, p) for p in parts]
        if all(k for k, _ in found):
            values = [v for _, v in found]
            try:
                return Const(base.value[slice(*values) if isinstance(key, SliceVal) else values[0]])
            except Exception:
                return None
        return None
    if not (isinstance(base, TupleVal) or (isinstance(base, Cell) and base.kind in ("list", "dict"))):
        return None
    if isinstance(base, Cell):
        lo.alive(base)
    items = base.items if isinstance(base, TupleVal) else base.items
    if isinstance(key, SliceVal) and not isinstance(items, dict) or isinstance(key, SliceVal) and base.kind == "list":
        bounds = [(True, None) if p is None else known(lo, p) for p in (key.lower, key.upper, key.step)]
        if not all(k for k, _ in bounds):
            return None
        values = list(items.values()) if isinstance(items, dict) else list(items)
        part = values[slice(*(v for _, v in bounds))]
        return TupleVal(tuple(part)) if isinstance(base, TupleVal) else lo.new_list(part)
    is_known, k = known(lo, key)
    if not is_known:
        return None
    if isinstance(base, Cell) and base.kind == "dict":
        if k not in items and base.default is not None:
            if base.depth < lo.depth:
                maps.open_up(lo, base, node)
                return None
            lo.changed(base)
            lo.set(base.slots, k, calls.call(lo, base.default, [], {}, node))
        elif k not in items:
            raise unsupported(lo, node, f"the dict has no key {k!r} here")
        return base.items[k]
    n = len(items)
    if isinstance(k, (int, np.integer)) and -n <= k < n:
        return items[int(k) % n]
    raise unsupported(lo, node, f"index {k!r} is out of range: there are {n} items")


def lower_lambda(lo: Lowering, node) -> Value:
    return inlining.local_function(lo, node)


def lower_namedexpr(lo: Lowering, node) -> Value:
    from sourcead.frontend.syntax.assignment import assign

    value = lower(lo, node.value)
    assign(lo, node.target, value)
    return value


def lower_joined(lo: Lowering, node) -> Value:
    parts: list[Operand] = []
    for part in node.values:
        if isinstance(part, gast.Constant):
            parts.append(Const(part.value))
        else:
            conversion = {-1: None, 115: str, 114: repr, 97: ascii}[part.conversion]
            value = operand(lo, part.value)
            spec = atom(lo, part.format_spec) if part.format_spec is not None else Const("")
            if conversion is not None:
                value = lo.build.call(conversion, value, type=Str())
            parts.append(lo.build.call(format, value, spec, type=Str()))
    return lo.build.call("".join, tuple(parts), type=Str(), name="text")


def lower_listcomp(lo: Lowering, node) -> Value:
    from sourcead.frontend.syntax import comprehensions

    return comprehensions.comprehension(lo, node)


def lower_dictcomp(lo: Lowering, node) -> Value:
    """`{k: f(v) for k, v in items}` where the keys are known."""
    from sourcead.frontend.syntax import comprehensions

    return comprehensions.lower_dictcomp(lo, node)


def lower_set(lo: Lowering, node) -> Value:
    from sourcead.frontend.values import sets

    return sets.lower_set(lo, node) if isinstance(node, gast.Set) else sets.lower_setcomp(lo, node)


HANDLERS = {
    gast.Constant: lower_constant, gast.Name: lower_name, gast.BinOp: lower_binop, gast.UnaryOp: lower_unary,
    gast.Compare: lower_compare, gast.BoolOp: lower_boolop, gast.IfExp: lower_ifexp, gast.Tuple: lower_tuple,
    gast.List: lower_list, gast.Dict: lower_dict, gast.Attribute: lower_attribute, gast.Subscript: lower_subscript,
    gast.Slice: lower_slice, gast.Lambda: lower_lambda, gast.NamedExpr: lower_namedexpr, gast.JoinedStr: lower_joined,
    gast.ListComp: lower_listcomp, gast.GeneratorExp: lower_listcomp,
    Held: lambda lo, node: node.value, gast.Call: lambda lo, node: calls.lower_call(lo, node), gast.DictComp: lower_dictcomp,
    gast.Set: lower_set, gast.SetComp: lower_set,
}  # fmt: skip
