"""TODO"""

from __future__ import annotations

import enum
import functools
import operator
import random
import types
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.compile import nested
from sourcead.errors import NoSourceError
from sourcead.frontend.builtins import calls, compositions, elements, functions, getters, library_calls
from sourcead.frontend.builtins.calls import COMBINATORS, SPEAKERS
from sourcead.frontend.builtins.getters import GETTERS
from sourcead.frontend.builtins.library_calls import EFFECTS, FOLDED, MAKERS, MUTATES, SAVES, SPECIAL, SURE_VIEWS
from sourcead.frontend.builtins.numba_names import in_python
from sourcead.frontend.control import inlining
from sourcead.frontend.core.cells import (
    BoundVal, Cell, ChoiceVal, FunctionVal, Iterable, IterVal, MethodVal, OptionalVal, SliceVal, TupleVal, Value, hold,
    reach, roots
)
from sourcead.frontend.core.comparing import part_of_slice
from sourcead.frontend.core.errors import unsupported
from sourcead.frontend.core.known import fold, is_array_value, is_function, is_sequence, known, may_be
from sourcead.frontend.core.libraries import has_rule, is_library
from sourcead.frontend.core.lowering import Lowering
from sourcead.frontend.core.names import as_value
from sourcead.frontend.core.optional_tuples import compared_with_none, present
from sourcead.frontend.source import find_source, unwrap
from sourcead.frontend.syntax import branches, early_exits, statements
from sourcead.frontend.syntax.statements import HANDLERS, SPLICED
from sourcead.frontend.values import (
    attributes, classes, function_choices, item_assignment, iterables, known_dicts, known_lists, list_items, lists,
    memory_layouts, methods, numpy_brackets, objects, operators, random_generators, records, runtime_dicts, sequences,
    sets, subscripts
)
from sourcead.frontend.values.iterables import USED
from sourcead.frontend.values.methods import OF_DEQUES
from sourcead.ir.nodes import Atom, Call, Const, Operand, Slice, Sub, Var, View
from sourcead.ir.types import (
    UNKNOWN, Array, Foreign, ListT, MapT, NoneType, Scalar, SetT, Str, StructT, TupleT, Undefined, Unknown, is_array,
    kind_of, rank
)
from sourcead.primitives.constants import CHECKS
from sourcead.primitives.methods import INPLACE, METHODS, NORMALISERS
from sourcead.primitives.result_types.infer import NOT_CONST, static_value
from sourcead.primitives.views import VIEWS


def store(lo: Lowering, base: Value, key: Value, value: Value, node, mode: str = "set") -> None:
    """`base[key] = value`."""
    if isinstance(base, Cell) and base.kind in ("list", "dict"):
        is_known, k = known(lo, key)
        if is_known and not isinstance(key, SliceVal):
            if base.kind == "list":
                n = len(base.items)
                if not -n <= k < n:
                    raise unsupported(lo, node, f"index {k} is out of range: there are {n} items")
                k %= n
            elif k not in base.items and base.depth < lo.depth and may_be(lo, base, value):
                runtime_dicts.open_up(lo, base, node)  # whether the key is there afterwards depends on what the program does
                return store(lo, base, key, value, node, mode)
            lo.alive(base)
            lo.changed(base)
            lo.set(base.slots, k, value)
            return
        if isinstance(key, SliceVal) and (new := item_assignment.assigned_slice(lo, base, key, value)) is not None:
            lo.alive(base)
            list_items.replace_items(lo, base, new)
            return
        if base.kind == "dict":
            runtime_dicts.open_up(lo, base, node, key)
            return store(lo, base, key, value, node, mode)
        if base.depth < lo.depth:
            raise branches.MustMaterialise(base, lo.here)
        lo.materialise(base)
    if not isinstance(base, Cell):
        raise unsupported(lo, node, "this object cannot be written into")
    if runtime_dicts.is_map(lo, base):
        runtime_dicts.store(lo, base, runtime_dicts.key_of(lo, key, node), value)
        return
    if isinstance(key, SliceVal) and lists.is_list(lo, base):
        lists.assign_slice(lo, base, key, value, node)
        return
    if isinstance(atom_type(lo.read(base)), (ListT, Unknown)) and isinstance(value, (Cell, TupleVal)):
        operand = lo.operand(value) if not isinstance(value, Cell) else lo.read(value)
        lo.write(base, (Sub(lo.operand(key)),), operand, mode)
        if isinstance(atom_type(lo.read(base)), ListT):
            hold(base.root(), value)
        return
    lo.write(base, (Sub(lo.operand(key)),), lo.operand(sequences.as_array(lo, value)), mode)


VALUES = (Var, Const, Cell, TupleVal, FunctionVal, MethodVal, BoundVal, ChoiceVal)


def call(lo: Lowering, fn: Value, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of a value with values."""
    match fn:
        case MethodVal(value, name):
            return call_method(lo, value, name, args, kwargs, node)
        case FunctionVal(source, scope, defaults):
            return inlining.inline(lo, source, args, kwargs, node, scope, defaults)
        case BoundVal(function, first, named):
            target = call if isinstance(function, (*VALUES, nested.DerivativeVal, nested.PullbackVal)) else call_object
            return target(lo, function, [*first, *args], {**named, **kwargs}, node)
        case ChoiceVal():
            return function_choices.call(lo, fn, args, kwargs, node)
        case Const(function, _, False):
            return call_object(lo, function, args, kwargs, node)
        case nested.DerivativeVal():
            return nested.lower_derivative(lo, fn, args, kwargs, node)
        case nested.PullbackVal():
            return nested.lower_pullback(lo, fn, args, kwargs, node)
    if classes.method(fn, "__call__") is not None:
        return call_object(lo, classes.method(fn, "__call__"), [fn, *args], kwargs, node)
    if isinstance(fn, Cell) and lo.unreadable(fn) is not None:
        lo.read(fn)  # says why
    raise unsupported(lo, node, "the function that is called here is not known before the program runs", "call it by its name")


def call_object(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of a Python object."""
    fn = in_python(fn)
    try:
        handler = functions.BUILTINS.get(fn) or COMBINATORS.get(fn)
    except TypeError:
        handler = None
    if handler is not None:
        return handler(lo, args, kwargs, node)
    if nested.takes_derivatives(fn):
        return nested.lower_object(lo, fn, args, kwargs, node)
    if isinstance(fn, functools.partial):
        extra = {k: as_value(lo, v) for k, v in fn.keywords.items()}
        return call_object(lo, fn.func, [as_value(lo, v) for v in fn.args] + args, {**extra, **kwargs}, node)
    if isinstance(fn, np.vectorize) and not has_rule(fn):
        return elements.call_vectorized(lo, fn, args, kwargs, node)
    if isinstance(fn, GETTERS):
        return getters.call_getter(lo, fn, args, kwargs, node)
    if library_calls.is_ufunc_at(fn):
        return library_calls.ufunc_at(lo, fn, args, node)
    if has_rule(fn) or is_library(fn):
        return call_library(lo, fn, args, kwargs, node)
    if objects.can_make(fn):
        return objects.make(lo, fn, args, kwargs, node)
    plain, bound_args, bound_kwargs = unwrap(fn)
    if getattr(plain, "__module__", None) in SPEAKERS:
        return calls.opaque(lo, fn, args, kwargs, node)
    if isinstance(plain, types.FunctionType):
        if has_rule(plain):
            return call_library(lo, plain, args, kwargs, node)
        try:
            source = find_source(fn)
        except NoSourceError:
            return calls.opaque(lo, fn, args, kwargs, node)
        if bound_args or bound_kwargs:
            args = [as_value(lo, v) for v in bound_args] + args
            kwargs = {**{k: as_value(lo, v) for k, v in bound_kwargs.items()}, **kwargs}
        return inlining.inline(lo, source, args, kwargs, node)
    return calls.opaque(lo, fn, args, kwargs, node)


def call_library(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of a function that has a rule, carries no derivative, or belongs to a library."""
    if fn in SPECIAL and args and (found := classes.special(lo, args[0], SPECIAL[fn], args[1:], node)) is not None:
        return found
    if fn in (float, complex) and args and library_calls.passes_text(lo, args[0]):
        raise unsupported(lo, node, f"`{fn.__name__}` of a string: a derivative does not pass through text")
    if fn is np.sign and args and kind_of(atom_type(lo.read(args[0]))) == "complex":
        raise unsupported(lo, node, "`np.sign` of complex numbers cannot be differentiated yet", "write `x / np.abs(x)`")
    if fn is np.broadcast_to and len(args) == 2 and isinstance(args[1], TupleVal) and not args[1].items and not kwargs:
        return args[0]
    out = kwargs.pop("out", None) if "out" in kwargs else None
    if out is not None and isinstance(out, TupleVal) and len(out.items) == 1:
        out = out.items[0]
    if isinstance(fn, np.ufunc) and len(args) > fn.nin:
        args, out = args[: fn.nin], args[fn.nin]
    if isinstance(out, Const) and out.value is None:
        out = None
    args, kwargs = compositions.said_briefly(lo, fn, *memory_layouts.order_said(lo, fn, args, kwargs, node))
    if isinstance(fn, np.ufunc) and out is not None and "where" in kwargs:
        return compositions.written_out(lo, fn, args, {**kwargs, "out": out}, node)
    written = compositions.written_out(lo, fn, args, kwargs, node)
    if written is not None:
        return written if out is None else library_calls.write_to(lo, out, lo.read(written), node)
    if fn in MUTATES:
        return library_calls.mutate(lo, fn, args, kwargs, node)
    if is_library(fn):
        args = [records.plain(a, lo) for a in args]
        kwargs = {k: records.plain(v, lo) for k, v in kwargs.items()}
        if library_calls.takes_arrays(fn) and not lo.static_only:
            args = [sequences.as_array(lo, a) for a in args]
    operands = tuple(lo.operand(a) for a in args)
    named = {k: lo.operand(v) for k, v in kwargs.items()}
    if lo.static_only:
        found = static_value(fn, [lo.build.arg(o) for o in operands], named)
        if found is not NOT_CONST:
            return Const(found)
    base = args[0] if args and isinstance(args[0], Cell) else None
    if fn in VIEWS and args and memory_layouts.is_temporary(lo, args, node):
        return lo.wrap(lo.build.call(fn, *operands, **named))
    if fn in memory_layouts.RESHAPES and base is not None and not lo.static_only and is_array(atom_type(lo.read(base))):
        for found in (memory_layouts.reshaped(lo, fn, base, operands, named), memory_layouts.copied(lo, fn, base, operands)):
            if found is not None:
                return found
    if fn in memory_layouts.SAME_OBJECT and len(args) == 1 and not kwargs and memory_layouts.gives_the_same(lo, fn, base):
        return base
    if fn in SURE_VIEWS and base is not None and is_array(atom_type(lo.read(base))):
        cell = lo.view(base, View(fn, operands[1:], tuple(named.items())))
        lo.read(cell)
        return cell
    module = getattr(fn, "__module__", "") or ""
    draws = isinstance(getattr(fn, "__self__", None), (np.random.Generator, np.random.RandomState, random.Random))
    effect = draws or module.startswith(EFFECTS) or fn in SAVES or fn in CHECKS
    folded = fold(lo, fn, args) if fn in FOLDED and not kwargs else None
    if folded is not None:
        return folded
    if effect:
        t = Foreign(MAKERS[fn]) if fn in MAKERS else UNKNOWN
        var = lo.build.emit(Call(fn, operands, tuple(named.items()), effect=True), t, "sample")
    else:
        var = lo.build.call(fn, *operands, **named)
    if out is not None:
        return library_calls.write_to(lo, out, var, node)
    shared = [r for a in args for r in roots(a)] if fn in VIEWS or library_calls.registry_is_users(fn) else ()
    return lo.wrap(var, shares=shared)


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


def operate(lo: Lowering, fn, *values: Value) -> Value:
    """`fn` applied to values, for an operator."""
    if (found := objects.operate(lo, fn, list(values))) is not None:
        return found
    if len(values) == 2 and (found := compared_with_none(lo, fn, *values)) is not None:
        return found
    if fn is operator.add and len(values) == 2 and all(is_sequence(v) for v in values):
        return operators.concatenate(lo, *values)
    if len(values) == 2 and any(is_sequence(v) for v in values) and any(is_array_value(v) for v in values):
        values = tuple(sequences.as_array(lo, v) for v in values)
    elif fn is operator.mul and len(values) == 2 and any(is_sequence(v) for v in values):
        return operators.repeat(lo, *values)
    if fn in (operator.or_,) and all(isinstance(v, Cell) and v.kind == "dict" for v in values):
        for value in values:
            lo.alive(value)
        return lo.new_dict({**values[0].items, **values[1].items})
    if (found := operators.of_sets(lo, fn, values)) is not None:
        return found
    folded = fold(lo, fn, list(values))
    if folded is not None and isinstance(folded.value, (bool, str, type(None))):
        return folded
    if folded is not None and (lo.static_only or all(isinstance(v, Const) for v in values) and fn is operator.neg):
        return folded
    if fn in (operator.is_, operator.is_not):
        verdict = operators.identity_test(lo, fn, *values)
        if verdict is not None:
            return verdict
    if any(isinstance(v, (Var, Cell)) and atom_type(lo.read(v)) == Undefined() for v in values):
        return lo.build.emit(Call(fn, tuple(map(lo.read, values))), Undefined())  # an item of what is empty in this round of a loop
    var = lo.build.call(fn, *(lo.operand(v) if fn in (operator.eq, operator.ne) else lo.read(v) for v in values))
    if folded is not None:
        lo.build.known[var] = folded.value
    return lo.wrap(var)


def truth(lo: Lowering, value: Value) -> bool | None:
    """Whether a condition holds, if that is known while compiling."""
    is_known, v = known(lo, value)
    if is_known and isinstance(v, (bool, int, float, str, type(None), tuple, types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
        return bool(v)
    if classes.class_of(value) is not None:
        for name in ("__bool__", "__len__"):
            if (found := classes.special(lo, value, name, [], None)) is not None:
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


def subscript(lo: Lowering, base: Value, key: Value, node) -> Value:
    """`base[key]`."""
    base = present(base)
    if isinstance(base, IterVal):
        raise unsupported(lo, node, "subscripts of this iterable are not supported", "turn it into a list first")
    if (found := classes.special(lo, base, "__getitem__", [key], node)) is not None:
        return found
    if isinstance(base, TupleVal) and base.cls is not None:
        base = TupleVal(base.items)
    static = subscripts.static_item(lo, base, key, node)
    if static is not None:
        return static
    if isinstance(base, TupleVal) or isinstance(base, Cell) and base.kind == "list":
        items = sequences.static_items(lo, base, node)
        if items and all(map(is_function, items)):
            return function_choices.by_index(lo, items, key, node)
        base = sequences.dynamic(lo, base)
    if isinstance(base, Cell) and base.kind == "dict" and base.items and all(map(is_function, base.items.values())):
        return function_choices.by_key(lo, base.items, key, None)
    if isinstance(base, Cell) and base.kind == "dict":
        runtime_dicts.open_up(lo, base, node, key)
    if runtime_dicts.is_map(lo, base):
        return runtime_dicts.item(lo, base, key, node)
    if isinstance(base, (MethodVal, FunctionVal, BoundVal)) or classes.class_of(base) is not None:
        raise unsupported(lo, node, "this object has no items")
    if isinstance(base, Const) and (found := numpy_brackets.subscript_of_object(lo, base, key, node)) is not None:
        return found
    operand_ = lo.operand(key)
    if isinstance(base, Cell):
        t = atom_type(lo.read(base))
        if isinstance(t, ListT) and isinstance(operand_, Slice):
            return lists.wrap_items(lo, lo.build.index(lo.read(base), operand_), base)
        if subscripts.views(t, operand_) and not subscripts.may_be_number(t, operand_):
            cell = lo.view(base, Sub(operand_))
            var = lo.read(cell)
            if isinstance(var.type, (Scalar, Str, NoneType)) or subscripts.takes_number(t, operand_):
                return var
            if isinstance(var.type, (TupleT, StructT)):
                return lo.wrap(var, shares=reach(base))
            return cell
    var = lo.build.index(lo.read(base), operand_)
    shared = reach(base) if isinstance(base, Cell) and not subscripts.is_gather(t, operand_) else ()
    return lo.wrap(var, shares=shared)


def iterate(lo: Lowering, value: Value, node) -> Iterable:
    """The iterable that a value is."""
    value = present(value)
    if isinstance(value, Iterable):
        if not value.once:
            return value
        if USED in value.state:
            raise unsupported(
                lo, node, "this iterator was walked through before", "make it anew, or make a list of it: `list(...)`"
            )
        lo.set(value.state, USED, True)
        return replace(value, once=False)
    if (found := classes.special(lo, value, "__iter__", [], node)) is not None:
        return iterate(lo, found, node)
    if isinstance(value, Const) and isinstance(value.value, enum.EnumMeta):
        return iterables.listed([Const(member) for member in value.value])
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind == "list":
        return iterables.static_sequence(lo, value, node)
    if isinstance(value, Cell) and value.kind == "dict":
        lo.alive(value)
        lo.sure(value)
        return iterables.listed([Const(k) for k in value.items])
    if isinstance(value, Const) and not value.live and isinstance(value.value, (tuple, list, str, dict, range)):
        return iterables.listed([Const(v) for v in value.value])
    if isinstance(value, (Var, Cell)):
        t = atom_type(lo.read(value))
        if isinstance(t, MapT):
            return runtime_dicts.iterate(lo, value, runtime_dicts.PARTS["keys"], node)
        if isinstance(t, SetT):
            return sets.iterate(lo, value, node)
        if isinstance(t, (Array, ListT, TupleT, Unknown)):
            return iterables.sequence(lo, value, node)
    if isinstance(value, Const) and value.live:
        return iterables.sequence(lo, value, node)
    raise unsupported(lo, node, "this object cannot be iterated over", "loop over a range, an array, a list or a tuple")


def lower_statements(lo: Lowering, stmts: list[gast.AST]) -> Any:
    """Lowers a list of statements; returns how control leaves it."""
    for k, node in enumerate(stmts):
        if isinstance(node, gast.If):
            left, taken_all = statements.lower_if(lo, node, stmts[k + 1 :])
            if left is not None or taken_all:
                return left
            continue
        splice = SPLICED.get(type(node))
        if splice is not None:
            with lo.at(node):
                inside = splice(lo, node)
            return lower_statements(lo, [*inside, *stmts[k + 1 :]])
        handler = HANDLERS.get(type(node))
        if handler is None:
            raise unsupported(lo, node)
        with lo.at(node):
            left = handler(lo, node)
        if left is not None:
            return left
        if isinstance(node, (gast.For, gast.While)):
            after = early_exits.after_loop(lo, node)
            if after:
                return lower_statements(lo, [*after, *stmts[k + 1 :]])
    return None


def attribute(lo: Lowering, value: Value, name: str, node) -> Value:
    """`value.name`."""
    if isinstance(value, OptionalVal):
        return attribute(lo, value.held, name, node)
    if classes.class_of(value) is not None:
        return objects.attribute(lo, value, name, node)
    if isinstance(value, Const) and not value.live and not isinstance(value.value, (int, float, complex, str, tuple, np.dtype)):
        return attributes.attribute_of_object(lo, value, name, node)
    if isinstance(value, SliceVal) and (part := part_of_slice(value, name)) is not None:
        return part
    if (found := records.named_result(lo, value, name, node)) is not None:
        return found
    if isinstance(value, (TupleVal, FunctionVal, SliceVal)) or isinstance(value, Cell) and value.kind != "array":
        return MethodVal(value, name)
    atom = lo.read(value)
    t = atom_type(atom)
    if isinstance(t, Str):
        return MethodVal(value, name)
    if name == "ndim" and rank(t) is not None:
        return Const(rank(t))
    if name in ("shape", "size") and isinstance(t, Scalar):
        return TupleVal(()) if name == "shape" else Const(1)
    if name in ("shape", "size", "ndim") and isinstance(t, Unknown) and lo.static_only:
        return lo.wrap(lo.build.call(getattr(np, name), atom))
    if name in ("shape", "size", "ndim", "dtype", "itemsize", "nbytes"):
        var = lo.build.attr(atom, name)
        if name == "dtype" and getattr(t, "dtype", None) is not None and t.dtype != np.dtype(object):
            lo.build.known[var] = t.dtype
        return lo.wrap(var)
    if name == "T":
        return call_library(lo, np.transpose, [value], {}, node) if not isinstance(t, Scalar) else value
    if name == "mT" and is_array(t):
        return call_library(lo, np.matrix_transpose, [value], {}, node)
    if name in ("real", "imag"):
        return call_library(lo, getattr(np, name), [value], {}, node)
    if name == "flat" and isinstance(value, Cell) and is_array(t):
        return memory_layouts.flat(lo, value)
    if name in ("flat", "data", "base", "ctypes", "strides", "flags"):
        raise unsupported(
            lo,
            node,
            f"`.{name}` of an array shows its memory, which the gradient does not share",
            "use `ravel()` or a subscript",
        )
    return MethodVal(value, name)


def call_method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """`value.name(*args, **kwargs)`."""
    if name == "__getitem__" and len(args) == 1 and classes.class_of(value) is None:
        return subscript(lo, value, args[0], node)
    if name in OF_DEQUES:
        name, places = OF_DEQUES[name]
        args = [*map(Const, places), *args]
    if isinstance(value, Cell) and value.kind == "list":
        return known_lists.list_method(lo, value, name, args, kwargs, node)
    if isinstance(value, Cell) and value.kind == "dict":
        return known_dicts.dict_method(lo, value, name, args, kwargs, node)
    if isinstance(value, TupleVal) and value.cls is not None:
        return records.tuple_method(lo, value, name, args, kwargs, node)
    if isinstance(value, TupleVal):
        if name in ("index", "count"):
            return known_lists.list_method(lo, lo.new_list(value.items), name, args, kwargs, node)
        raise unsupported(lo, node, f"the method `{name}` of a tuple")
    t = atom_type(lo.read(value))
    if isinstance(t, Foreign):
        return random_generators.lower_draw(lo, value, t.cls, name, args, kwargs, node)
    if isinstance(t, MapT):
        return runtime_dicts.method(lo, value, name, args, kwargs, node)
    if isinstance(t, SetT):
        return sets.method(lo, value, name, args, node)
    if isinstance(t, ListT):
        return lists.method(lo, value, name, args, kwargs, node)
    if isinstance(t, Str) and (found := methods.text_method(lo, value, name, args, kwargs)) is not None:
        return found
    if isinstance(t, Str):
        return lo.build.call(getattr(str, name), lo.read(value), *map(lo.operand, args), type=methods.text_result(name))
    if name in INPLACE:
        return methods.inplace_method(lo, value, name, args, kwargs, node)
    if name == "append":
        raise unsupported(lo, node, "`append` to something that is not known to be a list")
    if name == "compress" and args:
        return call_library(lo, np.compress, [args[0], value, *args[1:]], kwargs, node)
    if name == "item" and args:  # of one place: `x.item(i, j)`
        of, place = (value, TupleVal(tuple(args))) if len(args) > 1 else (call_library(lo, np.ravel, [value], {}, node), args[0])
        return call_method(lo, subscript(lo, of, place, node), name, [], {}, node)
    if name in NORMALISERS:
        fn, new_args, new_kwargs = NORMALISERS[name](tuple(args), dict(kwargs))
        return call_library(lo, fn, [value, *[methods.static(v) for v in new_args]], {k: methods.static(v) for k, v in new_kwargs.items()}, node)
    if name in METHODS:
        return call_object(lo, METHODS[name], [value, *args], kwargs, node)
    raise unsupported(lo, node, f"the method `{name}` is not known for this value", "call the NumPy function instead")
