"""Replace calls of functions that are defined by other functions: see `sourcead.primitives.compositions`."""

import inspect
import types
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.errors import RuleError, UnsupportedArgumentError
from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import lowers
from sourcead.frontend.control import inlining
from sourcead.frontend.core import BoundVal, Cell, FunctionVal, Lowering, MethodVal, TupleVal, Value, parts_of
from sourcead.frontend.find_source import find_source
from sourcead.ir.nodes import Call, Const, Slice, Var
from sourcead.ir.types import Array, Opaque, carries_derivative, kind_of, rank
from sourcead.primitives.compositions import Composition, defaults_of, known_length, number_kind, parameters_of, refuse
from sourcead.primitives.result_types.sparse import is_sparse
from sourcead.primitives.rule import Rule
from sourcead.primitives.table import compositions_of, record_of
from sourcead.runtime import stop_gradient


def composed(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value | None:
    """Inline the composition that replaces a call and return its result, or return None if the call stays as it is."""
    if lo.static_only:
        return None
    if fn is callable and core.in_composition(lo):
        known = isinstance(args[0], Const) and callable(args[0].value)
        return Const(known or isinstance(args[0], (FunctionVal, BoundVal, MethodVal)))
    if fn is np.ndim and (core.in_composition(lo) or not parts_of(args[0])) and (found := rank_of(lo, args[0])) is not None:
        return Const(found)
    compositions = compositions_of(fn)
    if not compositions or any(is_function_of_text(v) for v in (*args, *kwargs.values())):
        return None
    rule = record_of(fn).adjoint_rule
    named = {**dict(zip(parameters_of(fn), args)), **kwargs}
    active = {name for name, value in named.items() if may_pass(lo, value)}
    fitting = rule is not None and fits(lo, rule, args, kwargs)
    for composition in compositions:
        is_needed = not fitting and (not composition.given or composition.given & named.keys())
        words = {v.value for v in named.values() if isinstance(v, Const) and isinstance(v.value, str)}
        given = arranged(composition, parameters_of(fn), args, kwargs)
        if (is_needed or composition.active & active or composition.words & words) and takes(composition, *given):
            if not (composition.writes or composition.always or any(may_pass(lo, v) for v in (*args, *kwargs.values()))):
                return None
            if lo.catching and not composition.writes and not any(isinstance(a, FunctionVal | BoundVal | MethodVal) for a in args):
                named = {k: lo.operand(v) for k, v in kwargs.items()}
                lo.build.applied(fn, tuple(map(lo.operand, args)), named)  # it raises what Python raises
            return inline_composition(lo, composition, *given, node)
    return None


def einsum_with_letters(args: list[Value]) -> list[Value]:
    """Rewrite `np.einsum(a, [0, 1], b, [1, 2], [0, 2])` as `np.einsum("ab,bc->ac", a, b)`."""
    letters = []
    for value in [*args[1::2], *(args[-1:] if len(args) % 2 else ())]:
        is_listed = isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind == "list"
        if not is_listed or not all(isinstance(i, Const) and isinstance(i.value, int) and 0 <= i.value < 52 for i in value.contents):
            return args
        letters.append("".join(LETTERS[i.value] for i in value.contents))
    inputs = letters[: len(args) // 2]
    output = [f"->{letters[-1]}"] if len(args) % 2 else []
    return [Const("".join([",".join(inputs), *output])), *args[: 2 * len(inputs) : 2]]


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def is_function_of_text(value: Value) -> bool:
    """Return whether a value is a function that other code calls, with results that are constants for derivatives."""
    return isinstance(value, Var) and value.type == Opaque(types.FunctionType)


def rank_of(lo: Lowering, value: Value) -> int | None:
    """Return the number of axes of a value, or None if its type does not tell."""
    if (parts := parts_of(value)) is not None:
        ranks = {rank_of(lo, item) for item in parts.values()}
        return 1 + ranks.pop() if len(ranks) == 1 and None not in ranks else None
    if isinstance(value, (FunctionVal, Slice)):
        return None
    if isinstance(value, Const) and isinstance(value.value, (int, float, complex)):
        return 0
    return rank(atom_type(lo.read(value)))


def without_plain_options(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """Drop the options of a call that have their default values, unless its rule accepts the call unchanged."""
    if fn is np.einsum and args and not isinstance(args[0], Const) and not lo.static_only:
        return einsum_with_letters(args), kwargs
    if core.in_composition(lo) and not isinstance(fn, type):  # `float()` says less than `float(0)`, and Numba does not know it
        return without_defaults(fn, args, kwargs)
    rule = record_of(fn).adjoint_rule
    if lo.static_only or (rule is not None and fits(lo, rule, args, kwargs)) or (rule is None and not compositions_of(fn)):
        return args, kwargs
    return without_defaults(fn, args, kwargs)


def inline_composition(lo: Lowering, composition: Composition, args, kwargs, node) -> Value:
    """Inline a composition; give its statements the origin of the user's call."""
    with lo.using(called_from=lo.origin(node), escaping=None if lo.probing else lo.escaping):
        source = find_source(composition.function)
        return inlining.call_source(lo, source, [*map(Const, composition.first), *args], kwargs, node)


@lowers(refuse)
def lower_refuse(lo: Lowering, node, reason: Const) -> Value:
    """Lower `refuse(reason)` in a composition."""
    raise UnsupportedArgumentError(reason.value, at=lo.called_from)


lowers(known_length)(lambda lo, node, x: Const(length_in_text(atom_type(lo.read(x)))))
lowers(number_kind)(lambda lo, node, x: Const(kind_of(atom_type(lo.read(x))) or ""))


def fits(lo: Lowering, rule: Rule, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Tell whether a rule applies to a call: it binds the arguments, and none that it treats as constant carries a derivative."""
    try:
        _, options = rule.bind(args, kwargs)
    except RuleError:
        return False
    return not any(may_pass(lo, v) for v in options.values())


def without_defaults(fn: Any, args: list[Value], kwargs: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """Drop the options of a call that have their default values; name those given by position if one of these is a default."""
    defaults, names = defaults_of(fn), parameters_of(fn)
    first = next((i for i, name in enumerate(names) if name in defaults), len(names))
    if len(args) <= len(names) and any(is_default(v, defaults[k]) for k, v in zip(names[first:], args[first:])):
        args, kwargs = args[:first], {**dict(zip(names[first:], args[first:])), **kwargs}
    defaults = {**defaults, "keepdims": False}  # NumPy's default is a marker with the same meaning
    return args, {k: v for k, v in kwargs.items() if not is_default(v, defaults.get(k, MISSING))}


MISSING = object()


def is_default(value: Value, default: Any) -> bool:
    """Tell whether an argument is known to be the default."""
    if not isinstance(value, Const) or value.live:
        return False
    if value.value is None and default is np._NoValue:
        return False
    return value.value is default or type(value.value) is type(default) and isinstance(default, (bool, str)) and value.value == default


def arranged(composition: Composition, names: tuple[str, ...], args: list[Value], kwargs: dict[str, Value]) -> tuple[list, dict]:
    """Pass arguments by name from the first option whose position in the composition differs from that in the primal."""
    own = [p for p in inspect.signature(composition.function).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    for k, (p, name) in enumerate(zip(own[len(composition.first) :], names)):
        if p.default is not p.empty and p.name != name:
            return (args[:k], {**dict(zip(names[k:], args[k:])), **kwargs}) if len(args) <= len(names) else (args, kwargs)
    return args, kwargs


def takes(composition: Composition, args, kwargs) -> bool:
    """Tell whether the parameters of a composition accept these arguments."""
    try:
        inspect.signature(composition.function).bind(*composition.first, *args, **kwargs)
    except TypeError:
        return False
    return True


def may_pass(lo: Lowering, value: Value) -> bool:
    """Tell whether a derivative may pass through an argument."""
    if isinstance(value, (FunctionVal, BoundVal)):
        return True
    if (parts := parts_of(value)) is not None:
        return any(may_pass(lo, item) for item in parts.values())
    if isinstance(value, Const) and not value.live or not isinstance(value, (Var, Const, Cell)):
        return False
    atom = lo.read(value)
    made = lo.build.made_by.get(atom)
    return carries_derivative(t := atom_type(atom)) and not is_sparse(t) and not (isinstance(made, Call) and made.fn is stop_gradient)


def length_in_text(t) -> int:
    """Return the length of an array of one axis of this type if it is a number, else 0."""
    return t.dims[0] if isinstance(t, Array) and len(t.dims) == 1 and isinstance(t.dims[0], int) else 0
