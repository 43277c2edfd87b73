"""Lowering of calls.

A callee is, in this order: a built-in that the frontend knows (`len`, `range`, `enumerate`), a function with a derivative
rule or one that carries none, which stays a call, or a Python function, which is inlined.
"""

from __future__ import annotations

import functools
import random
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.errors import NoSourceError
from sourcead.frontend.builtins import compositions as composing, functions as builtin_functions
from sourcead.frontend.builtins.adjoint_blocks import lower_stop_gradient
from sourcead.frontend.builtins.checkpoint import CLASSES, lower_checkpoint, lower_policy
from sourcead.frontend.builtins.numba_names import in_python
from sourcead.frontend.core import Lowering
from sourcead.frontend.source import find_source, unwrap
from sourcead.frontend.syntax import expressions, generators, inlining, iteration
from sourcead.frontend.values import (
    elements, function_choices as choices, getters, lists, memory_layouts as layouts, methods, objects, records,
    sequences
)
from sourcead.frontend.values.cells import BoundVal, Cell, ChoiceVal, FunctionVal, MethodVal, TupleVal, Value, roots
from sourcead.ir.nodes import Atom, Call, Const, Operand, Sub, Var, View
from sourcead.ir.type_of import GENERATORS
from sourcead.ir.types import UNKNOWN, Foreign, Str, carries_derivative, is_array, kind_of
from sourcead.ir.walk import map_operand
from sourcead.language import combinators
from sourcead.language.checkpoints import checkpoint
from sourcead.primitives import refusals, table
from sourcead.primitives.compositions import number_kind, refuse
from sourcead.primitives.result_types.infer import NOT_CONST, static_value
from sourcead.primitives.views import MAKES_NEW, VIEWS
from sourcead.runtime import is_helper, stop_gradient

VALUES = (Var, Const, Cell, TupleVal, FunctionVal, MethodVal, BoundVal, ChoiceVal)
DERIVATIVES: list[tuple[Callable[[Any], bool], Callable]] = []  # (whether a callee takes derivatives, what lowers a call of it)


def lower_call(lo: Lowering, node: gast.Call) -> Value:
    """`f(*args, **kwargs)`."""
    if isinstance(node.func, gast.Attribute):
        fn = expressions.lower_attribute(lo, node.func)
    else:
        fn = expressions.lower(lo, node.func)
    if isinstance(fn, Const) and fn.value is sum and node.args and isinstance(node.args[0], gast.GeneratorExp | gast.ListComp):
        from sourcead.frontend.syntax import comprehensions

        start = expressions.lower(lo, node.args[1]) if len(node.args) > 1 else Const(0)
        return comprehensions.summed(lo, node.args[0], start)
    if isinstance(fn, Const) and fn.value is next and node.args and isinstance(node.args[0], gast.GeneratorExp):
        if len(node.args[0].generators) == 1:
            return generators.search(lo, node)
    if (whole := starred_list(lo, fn, node)) is not None:
        return whole
    args: list[Value] = expressions.elements(lo, node.args)
    return call(lo, fn, args, keywords(lo, node), node)


def starred_list(lo: Lowering, fn: Value, node: gast.Call) -> Value | None:
    """`f(*xs)` for a list or array whose length is not known, where that can be said; None for other calls."""
    if len(node.args) != 1 or not isinstance(node.args[0], gast.Starred):
        return None
    value = expressions.lower(lo, node.args[0].value)
    if sequences.has_countable_items(lo, value) and not (isinstance(value, iteration.Iterable) and value.items is None):
        return call(lo, fn, sequences.static_items(lo, value, node), keywords(lo, node), node)
    if isinstance(fn, Const) and fn.value in (max, min):
        return call(lo, fn, [value], keywords(lo, node), node)
    if isinstance(fn, Const) and fn.value is zip and isinstance(value, Cell) and value.kind == "array":
        return lists.transposed(lo, value, node)
    source = fn.source if isinstance(fn, FunctionVal) else None
    if source is not None:
        a = source.node.args
        if a.vararg is not None and not a.args and not a.posonlyargs:
            rest = lists.as_list(lo, value, node)
            return inlining.inline(lo, source, [], keywords(lo, node), node, fn.scope, fn.defaults, rest)
    return None


def keywords(lo: Lowering, node: gast.Call) -> dict[str, Value]:
    """The keyword arguments of a call."""
    found: dict[str, Value] = {}
    for keyword in node.keywords:
        value = expressions.lower(lo, keyword.value)
        if keyword.arg is not None:
            found[keyword.arg] = value
        elif isinstance(value, Cell) and value.kind == "dict":
            lo.alive(value)
            found.update(value.items)
        else:
            raise expressions.unsupported(lo, node, "`**` of a dict whose keys are not known here")
    return found


def call(lo: Lowering, fn: Value, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of a value with values."""
    match fn:
        case MethodVal(value, name):
            return methods.call_method(lo, value, name, args, kwargs, node)
        case FunctionVal(source, scope, defaults):
            return inlining.inline(lo, source, args, kwargs, node, scope, defaults)
        case BoundVal(function, first, named):
            target = call if isinstance(function, VALUES) else call_object
            return target(lo, function, [*first, *args], {**named, **kwargs}, node)
        case ChoiceVal():
            return choices.call(lo, fn, args, kwargs, node)
        case Const(function, _, False):
            return call_object(lo, function, args, kwargs, node)
    if any(takes(fn) for takes, _ in DERIVATIVES):
        return call_object(lo, fn, args, kwargs, node)
    if objects.method(fn, "__call__") is not None:
        return call_object(lo, objects.method(fn, "__call__"), [fn, *args], kwargs, node)
    if isinstance(fn, Cell) and lo.unreadable(fn) is not None:
        lo.read(fn)  # says why
    raise expressions.unsupported(lo, node, "the function that is called here is not known before the program runs", "call it by its name")


def call_object(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of a Python object."""
    fn = in_python(fn)
    try:
        handler = builtin_functions.BUILTINS.get(fn) or COMBINATORS.get(fn)
    except TypeError:
        handler = None
    if handler is not None:
        return handler(lo, args, kwargs, node)
    for takes, lower in DERIVATIVES:
        if takes(fn):
            return lower(lo, fn, args, kwargs, node)
    if isinstance(fn, functools.partial):
        extra = {k: as_value(lo, v) for k, v in fn.keywords.items()}
        return call_object(lo, fn.func, [as_value(lo, v) for v in fn.args] + args, {**extra, **kwargs}, node)
    if isinstance(fn, np.vectorize) and not has_rule(fn):
        return elements.call_vectorized(lo, fn, args, kwargs, node)
    if isinstance(fn, getters.GETTERS):
        return getters.call_getter(lo, fn, args, kwargs, node)
    if is_ufunc_at(fn):
        return ufunc_at(lo, fn, args, node)
    if has_rule(fn) or is_library(fn):
        return emit_call(lo, fn, args, kwargs, node)
    if objects.can_make(fn):
        return objects.make(lo, fn, args, kwargs, node)
    plain, bound_args, bound_kwargs = unwrap(fn)
    if getattr(plain, "__module__", None) in SPEAKERS:
        return opaque(lo, fn, args, kwargs, node)
    if isinstance(plain, types.FunctionType):
        if has_rule(plain):
            return emit_call(lo, plain, args, kwargs, node)
        try:
            source = find_source(fn)
        except NoSourceError:
            return opaque(lo, fn, args, kwargs, node)
        if bound_args or bound_kwargs:
            args = [as_value(lo, v) for v in bound_args] + args
            kwargs = {**{k: as_value(lo, v) for k, v in bound_kwargs.items()}, **kwargs}
        return inlining.inline(lo, source, args, kwargs, node)
    return opaque(lo, fn, args, kwargs, node)


def as_value(lo: Lowering, obj: Any) -> Value:
    """A Python object that is part of the program (an argument of a partial) as a value."""
    if expressions.is_code(obj) or isinstance(obj, (int, float, bool, complex)):
        return Const(obj)
    holder = {"value": obj}
    return expressions.live_data(lo, "bound", obj, (holder, "value"))


def has_rule(fn: Any) -> bool:
    """Whether the derivative of a function is known, if only that it has none."""
    return table.has_rule(fn) or table.no_derivative(fn)


LIBRARIES = ("numpy", "math", "operator", "scipy", "cmath", "_operator")
SPEAKERS = ("warnings", "logging")  # modules that talk to the user and return nothing
PLAIN_BUILTINS = frozenset({abs, pow, round, divmod, format, repr, ascii, ord, chr, bin, hex, all, any, sorted, callable, type, hash})


def is_library(fn: Any) -> bool:
    """Whether a function belongs to NumPy, math or kin: no source is looked for, a missing rule is an error."""
    if is_helper(fn):
        return True
    owner = getattr(fn, "__objclass__", None) or getattr(fn, "__self__", None)
    module = getattr(fn, "__module__", None) or getattr(owner, "__module__", None) or ""
    if isinstance(fn, np.ufunc) or isinstance(getattr(fn, "__self__", None), np.ufunc):
        return True
    if isinstance(fn, type) and issubclass(fn, (np.generic, int, float, complex, bool, str)):
        return True
    if module == "builtins":
        return fn in PLAIN_BUILTINS
    return module.split(".")[0] in LIBRARIES and not isinstance(fn, type)


SEES_EVERYTHING = frozenset({eval, exec, locals, globals, vars, dir, getattr, setattr, delattr, open, input, iter, next, id, compile})


def opaque(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of what has neither source nor rule: fine as long as no derivative can pass through it."""
    if isinstance(fn, types.BuiltinFunctionType | type) and fn in SEES_EVERYTHING:
        raise expressions.unsupported(
            lo, node, f"what `{fn.__name__}` reads or changes cannot be seen in the source", "write out what it does"
        )
    operands = [lo.operand(a) for a in args]
    named = {k: lo.operand(v) for k, v in kwargs.items()}
    for operand in [*operands, *named.values()]:
        if passes_derivative(operand) and lo.steering is None:
            raise refusals.missing_rule(fn, lo.origin(node))
    if lo.steering is not None:  # nothing is differentiated; what the call keeps must not be the memory of a cotangent
        operands = [map_operand(o, lambda a: own_memory(lo, a)) for o in operands]
        named = {k: map_operand(o, lambda a: own_memory(lo, a)) for k, o in named.items()}
    const = fn
    effect = not (isinstance(fn, type) and issubclass(fn, BaseException))
    t = Foreign(fn) if fn in GENERATORS else UNKNOWN
    var = lo.build.emit(Call(const, tuple(operands), tuple(named.items()), effect=effect), t, "value")
    return lo.wrap(var, shares=[r for a in (*args, *kwargs.values()) for r in roots(a)])


def own_memory(lo: Lowering, atom: Atom) -> Atom:
    """An array's copy; any other value itself."""
    return lo.build.call(np.ndarray.copy, atom) if is_array(atom_type(atom)) else atom


def passes_derivative(operand: Operand) -> bool:
    if isinstance(operand, tuple):
        return any(map(passes_derivative, operand))
    if isinstance(operand, Const):
        return operand.live and carries_derivative(atom_type(operand))
    return isinstance(operand, Var) and carries_derivative(operand.type)


def is_ufunc_at(fn: Any) -> bool:
    return isinstance(getattr(fn, "__self__", None), np.ufunc) and getattr(fn, "__name__", "") == "at"


def ufunc_at(lo: Lowering, fn: Any, args: list[Value], node) -> Value:
    """`np.add.at(a, key, v)`."""
    mode = {np.add: "add", np.subtract: "sub"}.get(fn.__self__)
    if mode is None and isinstance(args[0], Cell):
        return composing.written_out(lo, fn, args, {}, node)
    if len(args) != 3 or not isinstance(args[0], Cell):
        raise expressions.unsupported(lo, node, f"`np.{fn.__self__.__name__}.at` cannot be differentiated", "write the loop")
    lo.write(args[0], (Sub(lo.operand(args[1])),), lo.operand(args[2]), mode)
    return Const(None)


# -- calls that stay calls ---------------------------------------------------------------------------------------------

MUTATES = frozenset(
    {np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis, np.random.shuffle}
)
EFFECTS = ("numpy.random", "numpy.testing", "random", "secrets")
MAKERS = {np.random.default_rng: np.random.Generator, np.random.RandomState: np.random.RandomState}
SAVES = frozenset({np.save, np.savez, np.savez_compressed, np.savetxt})
SPECIAL = {abs: "__abs__", round: "__round__", float: "__float__", int: "__int__"}  # methods of the user's classes


def emit_call(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of a function that has a rule, carries no derivative, or belongs to a library."""
    if fn in SPECIAL and args and (found := objects.special(lo, args[0], SPECIAL[fn], args[1:], node)) is not None:
        return found
    if fn in (float, complex) and args and passes_text(lo, args[0]):
        raise expressions.unsupported(lo, node, f"`{fn.__name__}` of a string: a derivative does not pass through text")
    if fn is np.sign and args and kind_of(atom_type(lo.read(args[0]))) == "complex":
        raise expressions.unsupported(lo, node, "`np.sign` of complex numbers cannot be differentiated yet", "write `x / np.abs(x)`")
    if fn is np.broadcast_to and len(args) == 2 and isinstance(args[1], TupleVal) and not args[1].items and not kwargs:
        return args[0]
    out = kwargs.pop("out", None) if "out" in kwargs else None
    if out is not None and isinstance(out, TupleVal) and len(out.items) == 1:
        out = out.items[0]
    if isinstance(fn, np.ufunc) and len(args) > fn.nin:
        args, out = args[: fn.nin], args[fn.nin]
    if isinstance(out, Const) and out.value is None:
        out = None
    args, kwargs = composing.said_briefly(lo, fn, *layouts.order_said(lo, fn, args, kwargs, node))
    if isinstance(fn, np.ufunc) and out is not None and "where" in kwargs:
        return composing.written_out(lo, fn, args, {**kwargs, "out": out}, node)
    written = composing.written_out(lo, fn, args, kwargs, node)
    if written is not None:
        return written if out is None else write_to(lo, out, lo.read(written), node)
    if fn in MUTATES:
        return mutate(lo, fn, args, kwargs, node)
    if is_library(fn):
        args = [records.plain(a, lo) for a in args]
        kwargs = {k: records.plain(v, lo) for k, v in kwargs.items()}
        if takes_arrays(fn) and not lo.static_only:
            args = [sequences.as_array(lo, a) for a in args]
    operands = tuple(lo.operand(a) for a in args)
    named = {k: lo.operand(v) for k, v in kwargs.items()}
    if lo.static_only:
        found = static_value(fn, [lo.build.arg(o) for o in operands], named)
        if found is not NOT_CONST:
            return Const(found)
    base = args[0] if args and isinstance(args[0], Cell) else None
    if fn in VIEWS and args and layouts.is_temporary(lo, args, node):
        return lo.wrap(lo.build.call(fn, *operands, **named))
    if fn in layouts.RESHAPES and base is not None and not lo.static_only and is_array(atom_type(lo.read(base))):
        for found in (layouts.reshaped(lo, fn, base, operands, named), layouts.copied(lo, fn, base, operands)):
            if found is not None:
                return found
    if fn in layouts.SAME_OBJECT and len(args) == 1 and not kwargs and layouts.gives_the_same(lo, fn, base):
        return base
    if fn in SURE_VIEWS and base is not None and is_array(atom_type(lo.read(base))):
        cell = lo.view(base, View(fn, operands[1:], tuple(named.items())))
        lo.read(cell)
        return cell
    module = getattr(fn, "__module__", "") or ""
    draws = isinstance(getattr(fn, "__self__", None), (np.random.Generator, np.random.RandomState, random.Random))
    effect = draws or module.startswith(EFFECTS) or fn in SAVES or table.record_of(fn).checks
    folded = expressions.fold(lo, fn, args) if fn in FOLDED and not kwargs else None
    if folded is not None:
        return folded
    if effect:
        t = Foreign(MAKERS[fn]) if fn in MAKERS else UNKNOWN
        var = lo.build.emit(Call(fn, operands, tuple(named.items()), effect=True), t, "sample")
    else:
        var = lo.build.call(fn, *operands, **named)
    if out is not None:
        return write_to(lo, out, var, node)
    shared = [r for a in args for r in roots(a)] if fn in VIEWS or registry_is_users(fn) else ()
    return lo.wrap(var, shares=shared)


def write_to(lo: Lowering, out: Value, result: Atom, node) -> Value:
    """`out=`: the result is written into an array, which is the value of the call."""
    if not isinstance(out, Cell):
        raise expressions.unsupported(lo, node, "`out=` of something that is not an array")
    lo.write(out, (), result)
    return out


def takes_arrays(fn: Any) -> bool:
    """Whether NumPy makes arrays of the lists and tuples that this function is given, one of each."""
    of_numpy = (getattr(fn, "__module__", None) or "").startswith("numpy") and not isinstance(fn, np.ufunc)
    return of_numpy and fn not in TAKES_SEQUENCES and table.adjoint_rule(fn) is not None


TAKES_SEQUENCES = frozenset({
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.stack, np.concatenate, np.hstack, np.vstack, np.dstack,
    np.column_stack, np.block, np.linalg.multi_dot, np.select, np.choose, np.meshgrid, np.broadcast_arrays, np.einsum, np.ix_,
})  # fmt: skip


def passes_text(lo: Lowering, value: Value) -> bool:
    """Whether a value is, or may be, text made while the program runs."""
    return isinstance(value, Var) and isinstance(value.type, Str)


def registry_is_users(fn: Any) -> bool:
    return not is_library(fn) and fn not in MAKES_NEW


SURE_VIEWS = frozenset({
    np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.expand_dims, np.flip, np.flipud, np.fliplr, np.diagonal, np.squeeze, np.rot90,
})  # fmt: skip
FOLDED = frozenset({isinstance, len, min, max, abs, int, round, tuple, callable, issubclass, np.dtype, np.ndim})


def mutate(lo: Lowering, fn: Any, args: list[Value], kwargs, node) -> Value:
    """Library functions that write into their first argument."""
    if fn is np.copyto and len(args) == 2 and set(kwargs) <= {"where"} and isinstance(args[0], Cell):
        value = lo.operand(args[1])
        if kwargs:
            value = lo.build.call(np.where, lo.operand(kwargs["where"]), value, lo.read(args[0]))
        lo.write(args[0], (), value)
        return Const(None)
    raise expressions.unsupported(
        lo,
        node,
        f"`np.{fn.__name__}` writes into its argument in a way that cannot be differentiated yet",
        "assign to a subscript: `a[mask] = v`",
    )


def lower_combinator(name: str):
    def handler(lo, args, kwargs, node):
        from sourcead.frontend.builtins import combinators as lowering

        return getattr(lowering, f"lower_{name}")(lo, args, kwargs, node)

    return handler


def policy_handler(cls, lo, args, kwargs, node):
    return lower_policy(lo, cls, args, kwargs, node)


COMBINATORS = {
    checkpoint: lower_checkpoint, **{cls: functools.partial(policy_handler, cls) for cls in CLASSES},
    combinators.map: lower_combinator("map"), combinators.reduce: lower_combinator("reduce"),
    combinators.scan: lower_combinator("scan"), combinators.together: lower_combinator("together"),
    refuse: composing.lower_refuse,
    number_kind: composing.lower_number_kind, stop_gradient: lower_stop_gradient,
}  # fmt: skip
