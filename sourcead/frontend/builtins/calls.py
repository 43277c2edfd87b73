"""Lower calls of Python objects that have no handler of their own: emit calls of libraries, inline functions of the user.

The kinds of callables and their order are listed in `core/operations.py`.
"""

import functools
import logging
import math
import operator
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.errors import NoSourceError
from sourcead.frontend import core
from sourcead.frontend.builtins import compositions
from sourcead.frontend.builtins.calls_as_they_are import read_or_left
from sourcead.frontend.builtins.library_arguments import (
    as_numpy_takes, in_their_places, keep_fractions, plain_arguments, refuse_some, with_tuples, without_copy,
    without_flat, without_out
)
from sourcead.frontend.control import inlining
from sourcead.frontend.core import (
    BoundVal, Cell, ChoiceVal, FunctionVal, Iterable, Lowering, TupleVal, Value, cells_of, roots
)
from sourcead.frontend.core.aliases import FIELDS, USE_ARRAYS, has_fields
from sourcead.frontend.core.known_values import DATES
from sourcead.frontend.find_source import find_source, is_cached, unwrap
from sourcead.frontend.values import array_objects, lists, memory_layouts, random_generators, sequences, subscripts
from sourcead.ir.nodes import Atom, Call, Const, Operand, Stmt, Sub, Var, View
from sourcead.ir.records import GENERATORS
from sourcead.ir.types import UNKNOWN, Foreign, ListT, TupleT, is_array, kind_of, rank
from sourcead.ir.walk import map_operand
from sourcead.places.spelling import spelled
from sourcead.primitives.registry import is_own
from sourcead.primitives.result_types.infer import NOT_CONST, static_value
from sourcead.primitives.table import missing_rule, record_of
from sourcead.runtime import is_helper

SPEAKERS = ("warnings", "_warnings", "logging", "pdb")  # modules whose functions report to the user and return nothing
SEES_EVERYTHING = frozenset({eval, exec, globals, vars, dir, getattr, setattr, delattr, open, input, iter, next, id, compile})
MAKERS = {np.random.default_rng: np.random.Generator, np.random.RandomState: np.random.RandomState}
SPECIAL = {  # methods of the user's classes
    abs: ["__abs__"], round: ["__round__"], float: ["__float__"], int: ["__int__"], hash: ["__hash__"], repr: ["__repr__"],
    str: ["__str__", "__repr__"], operator.index: ["__index__"],
}  # fmt: skip
UNBUFFERED = (np.concatenate, np.stack, np.fill_diagonal)  # other functions of NumPy first copy what they read where they write
FOLDED = frozenset({isinstance, bool, str, chr, ord, len, min, max, abs, int, round, tuple, callable, issubclass, np.dtype, np.ndim})
OF_OBJECTS = frozenset({type, hasattr, callable, repr, str, ascii, hash})  # which take no elements of what they are given
QUESTIONS = frozenset({np.isfinite, np.isnan, np.isinf, math.isfinite, math.isnan, math.isinf})


# -- libraries -------------------------------------------------------------------------------------------------------------


@core.kind_of_callable("ufunc.at", lambda fn: isinstance(getattr(fn, "__self__", None), np.ufunc) and getattr(fn, "__name__", "") == "at")
def call_ufunc_at(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `np.add.at(a, key, v)`."""
    mode = {np.add: "add", np.subtract: "sub"}.get(fn.__self__)
    if mode is None and isinstance(args[0], Cell):
        if len(args) == 3 and roots(args[0]) & roots(args[2]):
            args = [*args[:2], lo.wrap(lo.build.call(np.copy, lo.read(args[2])))]
        return compositions.composed(lo, fn, args, {}, node)
    if len(args) != 3 or not isinstance(args[0], Cell):
        raise core.unsupported(lo, node, f"`np.{fn.__self__.__name__}.at` cannot be differentiated", "write the loop")
    lo.write(args[0], (Sub(subscripts.key_operand(lo, *args[:2])),), lo.operand(args[2]), mode)
    return Const(None)


REDUCED = {np.sum: "sum", np.prod: "prod", np.max: "max", np.min: "min", np.any: "any", np.all: "all"}
"""The functions of NumPy that call the method of an object which has one."""


@core.kind_of_callable("library", lambda fn: core.has_rule(fn) or core.is_library(fn) or bool(compositions.compositions_of(fn)))
@core.call_library.register(object)
def call_library(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function that has a rule, carries no derivative, or belongs to a library."""
    args = core.what_python_takes(fn, args)
    for name in SPECIAL.get(fn, ()) if args else ():
        if (found := core.call_special(lo, args[0], name, args[1:], node)) is not None:
            return found
    if fn in (float, int, complex, bool) and not args and not kwargs:
        return Const(fn())
    if fn is float and len(args) == 1 and isinstance(args[0], (Var, Const)) and isinstance(text := core.number_of(lo, args[0]), str):
        return number_in(lo, text)
    if any(map(array_objects.holds_array, (*args, *kwargs.values()))):
        return array_objects.call(lo, fn, args, kwargs, node)
    if fn in REDUCED and len(args) == 1 and not kwargs.keys() - {"axis"} and core.special_method(args[0], REDUCED[fn]) is not None:
        return core.call(lo, core.attribute(lo, args[0], REDUCED[fn], node), [], {"axis": Const(None), "out": Const(None), **kwargs}, node)
    refuse_some(lo, fn, args, kwargs, node)
    if fn in OF_OBJECTS and any(isinstance(a, Iterable) and (a.once or a.begin) for a in args):
        raise core.unsupported(lo, node, f"what `{spelled(fn)}` says of an iterator or a view of a dict", "ask a list of its elements")
    if not (getattr(fn, "__module__", None) or "numpy").startswith("numpy"):
        args = [lists.as_list(lo, a, node) if isinstance(a, Iterable) and (a.once or a.begin) else a for a in args]
    if fn is np.broadcast_to and len(args) == 2 and isinstance(args[1], TupleVal) and not args[1].items and not kwargs:
        return args[0] if lo.static_only or is_array(core.data_type(lo, args[0])) else call_library(lo, np.asarray, args[:1], {}, node)
    if isinstance(fn, np.ufunc) or (getattr(fn, "__module__", None) or "").startswith("numpy"):
        args, kwargs = in_their_places(fn, args, kwargs) if kwargs and not isinstance(fn, np.ufunc) else (args, kwargs)
        fn, args, kwargs = without_flat(lo, fn, *with_tuples(lo, fn, [as_numpy_takes(lo, a) for a in args], kwargs), node)
    fn, args, kwargs = without_copy(lo, fn, args, kwargs, node)
    args, kwargs, out = without_out(fn, args, kwargs)
    if fn in UNBUFFERED and (out is not None or fn is np.fill_diagonal):
        written, *read = [*([] if out is None else [out]), *args, *kwargs.values()]
        subscripts.refuse_own_elements(lo, f"`{spelled(fn)}`", written, TupleVal(tuple(read)))
    args, kwargs = compositions.without_plain_options(lo, fn, *memory_layouts.without_memory_order(lo, fn, args, kwargs, node))
    if isinstance(fn, np.ufunc) and out is not None and "where" in kwargs:
        return compositions.composed(lo, fn, args, {**kwargs, "out": out}, node)
    made = compositions.composed(lo, fn, args, kwargs, node)
    if made is None and record_of(fn).writes:
        why = f"`np.{fn.__name__}` writes into its argument in a way that cannot be differentiated yet"
        raise core.unsupported(lo, node, why, "assign to a subscript: `a[mask] = v`")
    if made is None:
        keep_fractions(lo, fn, args, kwargs)
        made = emitted(lo, fn, *plain_arguments(lo, fn, args, kwargs), node)
    if out is None:
        return made
    if isinstance(out, TupleVal) and isinstance(fn, np.ufunc) and len(out.items) <= fn.nout > 1:
        return put_several(lo, out, sequences.static_items(lo, made, None, fn.nout), node)
    return put_out(lo, out, made, node)


def put_several(lo: Lowering, outs: TupleVal, results: list[Value], node) -> Value:
    """Write several results of a call into arrays, where there is one for them, and return what the call returns."""
    if len(outs.items) > 1 and not memory_layouts.are_apart(*outs.items):
        raise core.unsupported(lo, node, "results of one call that may be written into the same elements", "give each its own array")
    into = [*outs.items, *[Const(None)] * (len(results) - len(outs.items))]
    return TupleVal(tuple(one if core.is_none(to) else put_out(lo, to, one, node) for to, one in zip(into, results)))


def put_out(lo: Lowering, out: Value, result: Value, node) -> Value:
    """Write the result of a call into the array of its argument `out`, which the call returns."""
    if not isinstance(out, Cell):
        raise core.unsupported(lo, node, "`out=` of something that is not an array")
    lo.write(out, (), lo.read(result))
    return out


def number_in(lo: Lowering, text: str) -> Const:
    """Lower `float(text)` of a known text."""
    try:
        return Const(float(text))
    except ValueError as error:
        raise core.surely(lo, core.refused(lo, str(error)), ValueError) from None


def emitted(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Emit a call, or return its value if it is known, or the argument or a view of it if the call returns that."""
    refuse_functions(lo, fn, [*args, *kwargs.values()])
    if fn is np.einsum and not kwargs:
        fn, args = memory_layouts.view_of_einsum(args)
    operands = tuple(lo.operand(a) for a in args)
    named = {k: lo.operand(v) for k, v in kwargs.items()}
    if lo.static_only:
        found = static_value(fn, [lo.build.arg(o) for o in operands], named)
        if found is not NOT_CONST:
            return Const(found)
    known = record_of(fn)
    if known.view and args and memory_layouts.is_temporary(lo, args, node):
        return lo.wrap(lo.build.applied(fn, operands, named))
    if (found := same_memory(lo, fn, args, operands, named)) is not None:
        return found
    reads_clock = fn in DATES and core.known(lo, args[0])[1] in ("now", "today") if args else False
    folded = core.fold(lo, fn, args) if (fn in FOLDED or fn in DATES and not reads_clock) and not kwargs else None
    if folded is not None:
        return folded
    integer = None if kwargs else core.rounded(lo, fn, args)
    if integer is not None and isinstance(args[0], Const):
        return Const(integer)
    if known.effect or known.checks:
        t = Foreign(MAKERS[fn]) if fn in MAKERS else random_generators.type_of_call(lo, fn, args, kwargs)
        var = lo.build.emit(Call(fn, operands, tuple(named.items()), effect=True), t, "sample")
    else:
        var = core.told(lo, lo.build.applied(fn, operands, named), operands)
        if has_fields(atom_type(var)) and any(map(core.passes_derivative, operands)):
            raise core.unsupported(lo, node, FIELDS, USE_ARRAYS)
        if fn in QUESTIONS and isinstance(operands[0], Const) and not operands[0].live and type(operands[0].value) in (int, float):
            lo.build.truths[var] = bool(fn(operands[0].value))
        if integer is not None:
            lo.build.known[var] = integer
        if fn in (np.result_type, np.promote_types):
            dtypes = [core.known(lo, o)[1] for o in operands]
            if not any(d is None for d in dtypes):
                lo.build.known[var] = fn(*dtypes)
    if fn in memory_layouts.SPLITS and args and isinstance(args[0], Cell):
        if (parts := memory_layouts.parts_of_split(lo, fn, args[0], args[1:], kwargs, var)) is not None:
            return parts
    if fn is getattr(np, "unstack", None) and isinstance(args[0], Cell):
        if (rows := memory_layouts.parts_of_unstack(lo, args[0], args[1:], kwargs, var)) is not None:
            return rows
    memory = known.memory(len(operands), named.keys()) if callable(known.memory) else known.memory
    may_share = memory != "fresh" and (known.view or memory != "operands" and not is_helper(fn))
    if not may_share or memory_layouts.is_new(fn, operands):
        return lo.wrap(var)
    copied = known.view and kind_of(atom_type(var)) is not None and (fn.__module__ or "").startswith("numpy")
    shared = [a for a in args if not (copied and is_listed(lo, a))]
    return lo.wrap(var, shares=[r for a in shared for r in roots(a)])


def is_listed(lo: Lowering, value: Value) -> bool:
    """Tell whether a value is a list or tuple, of which NumPy makes an array in new memory, whatever its items are."""
    known = isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind == "list"
    return known or isinstance(core.data_type(lo, value), (ListT, TupleT))


def refuse_functions(lo: Lowering, fn: Any, values: list[Value]) -> None:
    """Refuse a call of a function of a library that is given a function which is defined inside the one that is differentiated."""
    if any(isinstance(v, FunctionVal | BoundVal | ChoiceVal) for v in values):
        why = f"`{spelled(fn)}` is given a function that is defined here, and what it does with it cannot be seen"
        instead = "write out what it does, or put this call into a function of its own, for which you register a rule (`sourcead.adjoint`)"
        raise core.needs_items(why, lo.here, instead)


def same_memory(lo: Lowering, fn: Any, args: list[Value], operands: tuple[Operand, ...], named: dict[str, Operand]) -> Value | None:
    """Return the argument itself, a view of it or a copy, whichever a call is known to return, or None if that is not known."""
    base = args[0] if args and isinstance(args[0], Cell) else None
    if base is None:
        return None
    known = record_of(fn)
    view, same_at = known.view, known.same_at
    if same_at is not None and same_at[0] < len(operands) and core.is_number(lo, operands[same_at[0]], same_at[1]):
        return base
    if view == "reshape" and not lo.static_only and is_array(atom_type(lo.read(base))):
        by_rows = memory_layouts.asks_for_rows(operands[1:], named)
        for give in (memory_layouts.reshaped, memory_layouts.copied) if by_rows else (memory_layouts.copied,):
            if (found := give(lo, fn, base, operands, named)) is not None:
                return found
    if view == "same" and memory_layouts.gives_the_same(lo, fn, base, (*operands[1:], *named.values())):
        return base
    adds_axes = fn in memory_layouts.LEAST_AXES and (rank(atom_type(lo.read(base))) or 0) > 0
    if (view in ("always", "shorter") or adds_axes) and is_array(t := atom_type(lo.read(base))):
        cell = lo.view(base, View(fn, operands[1:], tuple(named.items())))
        axes = rank(atom_type(lo.read(cell)))
        return base if view == "shorter" and axes is not None and axes == rank(t) else cell
    return None


# -- functions of the user -------------------------------------------------------------------------------------------------


@core.kind_of_callable("partial", lambda fn: isinstance(fn, functools.partial))
def call_partial(lo: Lowering, fn: functools.partial, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a `functools.partial` object that exists before the differentiated function is called."""
    lo.rely_on_items(fn.keywords)
    named = {k: core.as_value(lo, v) for k, v in fn.keywords.items()}
    return core.call_object(lo, fn.func, [core.as_value(lo, v) for v in fn.args] + args, {**named, **kwargs}, node)


BOUND = types.FunctionType, types.WrapperDescriptorType, types.MethodDescriptorType


def is_binding(fn: Any) -> bool:
    """Tell whether a callable is the `__get__` of a function or of a method of Python."""
    return isinstance(fn, types.MethodWrapperType) and fn.__name__ == "__get__" and isinstance(fn.__self__, BOUND)


@core.kind_of_callable("binding", is_binding)
def call_binding(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `f.__get__(obj)`, the method of an object, which may exist before the function is called as `object.__setattr__.__get__`."""
    if kwargs or not (args and isinstance(args[0], Cell) and core.class_of(args[0]) is not None):
        raise core.unsupported(lo, node, "`__get__` of something that is not an object that is known here", "`obj.method`")
    return BoundVal(core.as_value(lo, fn.__self__), (args[0],))


CHANGED_BY_RELOADING = ("__code__", "__defaults__", "__kwdefaults__")  # IPython loads an edited module again in place


@core.kind_of_callable("function", lambda fn: isinstance(unwrap(fn)[0], types.FunctionType))
def call_function(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a Python function, a method or an object with `__call__`."""
    plain, bound_args, bound_kwargs = unwrap(fn)
    if core.has_rule(plain):
        return core.call_library(lo, plain, args, kwargs, node)
    if plain.__module__ == "re" and (found := core.pure_result(lo, plain, args, kwargs)) is not None:
        return found
    try:
        source = find_source(fn)
    except NoSourceError as error:
        return call_opaque(lo, fn, args, kwargs, node, error)
    if not is_own(plain):
        lo.guards.update({(id(plain), name): (plain, name, getattr(plain, name)) for name in CHANGED_BY_RELOADING})
        lo.rely_on_items(plain.__kwdefaults__)
        lo.classes.update(dict.fromkeys((type(v) for v in bound_args), True))
    args = [core.as_value(lo, v) for v in bound_args] + args
    kwargs = {**{k: core.as_value(lo, v) for k, v in bound_kwargs.items()}, **kwargs}
    return read_or_left(lo, fn, args, kwargs, lambda: inlining.call_source(lo, source, args, kwargs, node))


CHOOSING = next(c for c in functools.singledispatch.__code__.co_consts if getattr(c, "co_name", None) == "wrapper")


class Choice:
    """What `functools.singledispatch` calls for objects of a class."""

    def __init__(self, function: Any, cls: type):
        self.function, self.cls = function, cls

    @property
    def chosen(self) -> Any:
        return self.function.dispatch(self.cls)


@core.kind_of_callable("chosen by class", lambda fn: getattr(fn, "__code__", None) is CHOOSING)
def call_chosen(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function of `functools.singledispatch`, where the class of its first argument decides what is called."""
    classes = core.classes_of(lo, args[0]) if args else []
    derived = any(issubclass(known, cls) and known is not cls for known in fn.registry for cls in classes)
    chosen = {fn.dispatch(cls) for cls in classes}
    if len(chosen) != 1 or derived and not core.has_exact_class(lo, args[0]):
        why = f"which function `{fn.__name__}` calls depends on the class of its first argument, which is not known here"
        raise core.unsupported(lo, node, why, "call that function by its name")
    for choice in (Choice(fn, cls) for cls in classes):
        lo.guards[(id(choice), "chosen")] = (choice, "chosen", choice.chosen)
    return core.call_object(lo, chosen.pop(), args, kwargs, node)


@core.kind_of_callable("speaker", lambda fn: getattr(unwrap(fn)[0], "__module__", None) in SPEAKERS)
def call_speaker(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Emit a call of a function that reports something, such as `logger.debug`: no derivative passes through what is reported."""
    found, names = core.known(lo, TupleVal(tuple(args)))
    if fn is logging.getLogger and found and not kwargs:
        return Const(fn(*names))
    if getattr(fn, "__name__", "") == "warn" or any(core.passes_derivative(lo.operand(a)) for a in (*args, *kwargs.values())):
        return spoken(lo, fn, args, kwargs)
    return call_opaque(lo, fn, args, kwargs, node)


def spoken(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Emit a call that only reports its arguments."""
    lo.build.add(Stmt((), Call(fn, tuple(map(lo.operand, args)), tuple((k, lo.operand(v)) for k, v in kwargs.items()), effect=True)))
    return Const(None)


core.builtin(print)(lambda lo, args, kwargs, node: spoken(lo, print, args, kwargs))


@core.kind_of_callable("opaque", lambda fn: True)
def call_opaque(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node, cause: NoSourceError | None = None) -> Value:
    """Emit a call of a function that has neither source (`cause` tells why) nor rule, provided that no derivative can pass through it."""
    if isinstance(fn, types.BuiltinFunctionType | type) and fn in SEES_EVERYTHING:
        from_outside = fn in (open, input)
        instead = "call it outside of your function, and pass what it returns as an argument" if from_outside else "write out what it does"
        raise core.unsupported(lo, node, f"what `{fn.__name__}` reads or changes cannot be seen in the source", instead)
    if is_cached(getattr(fn, "__self__", None)) and fn.__name__ != "cache_clear":
        raise core.unsupported(lo, node, f"`{fn.__name__}` tells how often a function ran, which is another number for its derivative")
    if (found := core.pure_result(lo, fn, args, kwargs)) is not None:
        return found
    refuse_functions(lo, fn, [*args, *kwargs.values()])
    operands = [lo.operand(a) for a in args]
    named = {k: lo.operand(v) for k, v in kwargs.items()}
    if lo.steering is None and any(map(core.passes_derivative, [*operands, *named.values()])):
        if isinstance(fn, type) and (issubclass(fn, Mapping) or hasattr(fn, "__array__") and not issubclass(fn, np.ndarray)):
            why = f"`{spelled(fn)}(...)` holds what is differentiated, and what its class adds to a dict or an array is not seen"
            raise core.unsupported(lo, node, why, "`dict(...)`, or arrays, and subscripts")
        if cause is None:
            raise missing_rule(fn, lo.origin(node))
        raise core.called_without_source(cause, spelled(fn), lo.origin(node))
    if lo.steering is not None:  # nothing is differentiated here; the call must not keep the memory of a cotangent
        operands = [map_operand(o, lambda a: own_memory(lo, a)) for o in operands]
        named = {k: map_operand(o, lambda a: own_memory(lo, a)) for k, o in named.items()}
    effect = not (isinstance(fn, type) and issubclass(fn, BaseException))
    t = Foreign(fn) if fn in GENERATORS else UNKNOWN
    if record_of(fn).result is not None:
        t = lo.build.result_type(Call(fn, tuple(operands), tuple(named.items())))
    if (cause or isinstance(fn, types.BuiltinFunctionType)) and any(c for a in (*args, *kwargs.values()) for c in cells_of(a)):
        fn, operands = runtime.unseen, [Const(fn), *operands]
    var = core.told(lo, lo.build.emit(Call(fn, tuple(operands), tuple(named.items()), effect=effect), t, "value"), operands)
    return lo.wrap(var, shares=[r for a in (*args, *kwargs.values()) for r in roots(a)])


def own_memory(lo: Lowering, atom: Atom) -> Atom:
    """Copy an array, so that nothing else shares its memory; return any other value itself."""
    return lo.build.call(np.ndarray.copy, atom) if is_array(atom_type(atom)) else atom
