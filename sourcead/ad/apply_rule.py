"""Application of a derivative rule to a call.

A rule is a Python function.  It is lowered by the frontend like the user's code, and its statements take their place in the sweep:

    @adjoint(np.multiply)
    def _(y, a, b, d_y): return d_y * b, d_y * a            v = x * w       d_x = d_v * w;  d_w = d_v * x

If a rule depends on something that the types leave open, such as a rank, the generated text calls the rule itself.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import gast
import numpy as np

from sourcead import runtime
from sourcead.ad import rule_functions  # noqa: F401  (importing it registers how calls in rules are lowered)
from sourcead.ad.rule_results import is_open, one_for_each, results_for, returns_nothing
from sourcead.analysis.builder import Builder, operand_type
from sourcead.errors import RuleError, SourceADError, UnsupportedArgumentError, UnsupportedSyntaxError
from sourcead.frontend.core import Cell, TupleVal, Value
from sourcead.frontend.find_source import find_source
from sourcead.frontend.lower import Lowering, NotStatic, Scope, returned
from sourcead.frontend.values import sequences
from sourcead.ir.nodes import Atom, Attr, Call, Const, Index, Operand, Slice, Stmt, Var, fresh, operand_atoms
from sourcead.ir.types import UNKNOWN, Array, NoneType, Scalar, SetT, TupleT, Type, Unknown, kind_of
from sourcead.places.spelling import spelled
from sourcead.primitives.rule import Arguments, Rule, TangentRule
from sourcead.primitives.table import missing_rule, record_of, takes_arrays

cached_source = cache(find_source)


@dataclass(frozen=True, eq=False)
class RuleCall:
    """A rule with the arguments of one call.

    Attributes:
        rule: the rule.
        y: the result of the call.
        values: the arguments that the rule has derivatives of.
        options: the other arguments, by name.
    """

    rule: Arguments
    y: Var
    values: list[Operand]
    options: dict[str, Operand]


def bound(rule: Arguments, stmt: Stmt) -> RuleCall:
    """Return the rule with the arguments of a call."""
    try:
        values, options = rule.bind(stmt.op.args, stmt.op.kwargs, wrap=Const)
    except RuleError as error:
        raise UnsupportedArgumentError(error.reason, at=stmt.origin, instead=error.instead) from None
    return RuleCall(rule, stmt.targets[0], values, options)


def cotangents_of(build: Builder, stmt: Stmt, d_y: Atom, wanted: set[Var]) -> list[tuple[Operand, Operand | None, bool]]:
    """Return the contributions of a call to the cotangents of its operands.

    Args:
        build: where the statements of the rule go.
        stmt: the call, one target.
        d_y: the cotangent of its result.
        wanted: the variables whose cotangents matter.

    Returns:
        (operand of the call, its cotangent, whether that must still be summed over broadcast axes).
    """
    rule = rule_of(stmt.op, stmt)
    call = bound(rule, stmt)
    refuse_active_options(rule, call.options | held(call), wanted, stmt)
    return [(value, d, rule.broadcasts) for value, d in zip(call.values, inlined(build, call, d_y, wanted))]


def rule_of(call: Call, stmt: Stmt) -> Rule:
    """Return the adjoint rule of a call's function."""
    if isinstance(call.fn, Var):
        raise pullback_refused(stmt)
    if isinstance(stmt.targets[0].type, SetT):
        raise set_refused(stmt)
    rule = record_of(call.fn).adjoint_rule
    if rule is None:
        raise missing_rule(call.fn, stmt.origin)
    return rule


def pullback_refused(stmt: Stmt) -> UnsupportedSyntaxError:
    """Return the error for the derivative of a recursive function that is differentiated again."""
    return UnsupportedSyntaxError(
        "the derivative of a function that calls itself cannot be differentiated again yet", at=stmt.origin, instead="write it as a loop"
    )


def set_refused(stmt: Stmt) -> UnsupportedSyntaxError:
    """Return the error for a set of numbers that carry a derivative."""
    why = "a set of differentiated numbers, in which equal ones become one, and whose order depends on their values"
    return UnsupportedSyntaxError(why, at=stmt.origin, instead="use a list or a tuple")


def inlined(build: Builder, call: RuleCall, d_y: Atom, wanted: set[Var]) -> list[Operand | None]:
    """Emit the statements of a rule and return the cotangents of its parameters, with None for those that are not wanted.

    What NumPy takes as an array although it may be a number or a list is made one, if the statements are for arrays only.
    """
    before, values = len(build.stmts), call.values
    out = applied(build, call, d_y, wanted)
    of_arrays = with_arrays(build, call, before)
    if of_arrays is not None:
        arrays = dict(zip(values, of_arrays.values))
        out = applied(build, of_arrays, d_y, wanted | {arrays[v] for v in values if v in wanted})
        shaped = [d is not None and arrays[v] is not v and not call.rule.broadcasts for d, v in zip(out, values)]
        out = [build.call(runtime.unbroadcast, d, v, type=v.type) if new else d for d, v, new in zip(out, values, shaped)]
    return [typed(build, d, v, call) for d, v in zip(out, values)]


def with_arrays(build: Builder, call: RuleCall, before: int) -> RuleCall | None:
    """Return the call with the arrays of values that may be numbers or lists, None if the rule does not need arrays.

    It needs them if a statement after `before` is for arrays only. Then these statements are removed.
    """
    if not takes_arrays(call.rule.primal):
        return None
    loose = {v for v in call.values if isinstance(v, Var) and isinstance(v.type, Unknown)}
    if not any(is_for_arrays(stmt, loose, call.rule.function) for stmt in build.stmts[before:]):
        return None
    del build.stmts[before:]
    arrays = {v: build.call(np.asarray, v) for v in call.values if v in loose}
    return replace(call, values=[arrays.get(v, v) for v in call.values])


def applied(build: Builder, call: RuleCall, d_y: Atom, wanted: set[Var]) -> list[Operand | None]:
    """Emit the statements of a rule, or a call of it, and return the cotangents as they are."""
    before, rule, values = len(build.stmts), call.rule, call.values
    types = {p: UNKNOWN if p == rule.star else operand_type(v) for p, v in zip(rule.params, [*values, None])}
    try:
        lo, result = lowered(build, call, {"d_y": d_y})
        results = results_for(lo, rule, result, types)
        if rule.star is not None:
            results = [*results[:-1], *sequences.static_items(lo, results[-1], None, len(values) - len(rule.params) + 1)]
        out = [as_operand(lo, r) if reaches(v, wanted) else None for r, v in zip(results, values)]
    except (NotStatic, SourceADError) as error:
        if not is_open(error):
            raise
        del build.stmts[before:]
        out = called(build, call, d_y)  # what the types leave open is decided when the text runs
    drop_unused(build, before, out)
    refuse_undefined(rule, build.stmts[before:], build.origin)
    return out


def is_for_arrays(stmt: Stmt, loose: set[Var], rule: Callable) -> bool:
    """Return whether a statement takes some of the values for arrays.

    It reads an attribute or a slice, compares, computes with numbers, or calls a helper for arrays or the rule.
    """
    match stmt.op:
        case Attr(base):
            return base in loose
        case Index(base, key):
            return base in loose and isinstance(key, (tuple, Slice))
        case Call(fn, args) if fn in OPERATORS and not loose.isdisjoint(stmt.op.reads):
            return not any(isinstance(operand_type(a), Array) for a in args)
        case Call(fn):
            of_arrays = fn is rule or runtime.is_helper(fn) and fn.__module__ not in FOR_ALL_KINDS
            return of_arrays and not loose.isdisjoint(stmt.op.reads)
    return False


OPERATORS = {operator.lt, operator.le, operator.gt, operator.ge, operator.mul, operator.truediv, operator.sub, operator.neg}
FOR_ALL_KINDS = {runtime.unbroadcast.__module__, runtime.zeros_like.__module__}  # of helpers that take numbers and lists too


def lowered(build: Builder, call: RuleCall, further: dict[str, Operand]) -> tuple[Lowering, Value]:
    """Emit the statements of a rule's function and return what it returns.

    `further` gives the parameters that the primal does not have: cotangents or tangents.

    Raises:
        NotStatic, SourceADError: the types do not decide which branch the rule takes.
        UnsupportedArgumentError: the rule refuses the case.
    """
    before, rule = len(build.stmts), call.rule
    lo = Lowering()
    lo.build, lo.static_only = build, True
    source = cached_source(rule.function)
    lo.scope = Scope(source)
    plain = [p for p in rule.params if p != rule.star]
    given = {"y": call.y, **dict(zip(plain, call.values)), **further}
    given.update((name, call.options.get(name, Const(default))) for name, default in rule.options)
    names = lo.scope.names
    names.update((name, as_value(lo, value)) for name, value in given.items())
    if rule.star is not None:
        names[rule.star] = TupleVal(tuple(as_value(lo, v) for v in call.values[len(plain) :]))
    origin = build.origin
    try:
        result = returned(lo, source)
        if result is None:
            raise refused(rule, build.stmts[before:], build.origin)
        return lo, result
    finally:  # the statements belong to the user's call, not to the rule
        build.origin = origin
        build.stmts[before:] = [replace(s, origin=origin) for s in build.stmts[before:]]


def refused(rule: Arguments, stmts: list[Stmt], origin) -> SourceADError:
    """Return the error for a case that a rule refuses with `raise`, or for a rule that returns nothing."""
    if not any(isinstance(n, gast.Return | gast.Raise) for n in gast.walk(cached_source(rule.function).node)):
        return returns_nothing(rule)
    texts = [a.value for s in stmts for a in getattr(s.op, "args", ()) if isinstance(a, Const) and isinstance(a.value, str)]
    return UnsupportedArgumentError(
        texts[-1] if texts else f"the derivative of `{spelled(rule.primal)}` does not cover this case", at=origin
    )


def held(call: RuleCall) -> dict[str, Operand]:
    """Return the arguments that the function's tangent rule takes for constants, so that both modes refuse the same ones."""
    other = record_of(call.rule.primal).tangent_rule
    if not isinstance(other, TangentRule) or other.star is not None or call.rule.star is not None:
        return {}
    return {name: value for name, value in zip(other.params, call.values) if name not in other.tangents}


def refuse_active_options(rule: Arguments, options: dict, active: set[Var], stmt: Stmt) -> None:
    """Refuse a call whose derivative would have to pass through an argument that the rule takes for a constant."""
    for name, value in options.items():
        if reaches(value, active):
            why = f"the derivative of `{spelled(rule.primal)}` with respect to its argument `{name}` is not known"
            raise UnsupportedArgumentError(why, at=stmt.origin, instead=f"`stop_gradient(...)` as `{name}`, if it is to be a constant")


def refuse_undefined(rule: Arguments, stmts: list[Stmt], origin) -> None:
    """Refuse a call that needs a derivative which its rule declares unknown."""
    for stmt in stmts:
        if isinstance(stmt.op, Call) and stmt.op.fn is runtime.undefined:
            what = stmt.op.args[0].value
            raise UnsupportedArgumentError(f"the derivative of `{spelled(rule.primal)}` with respect to {what} is not known", at=origin)


def reaches(operand: Operand, wanted: set[Var]) -> bool:
    """Return whether the cotangent of an operand matters."""
    if isinstance(operand, tuple):
        return any(reaches(o, wanted) for o in operand)
    return operand in wanted


def as_value(lo: Lowering, operand: Operand) -> Value:
    """Return an operand as a value of the frontend, in which a container variable stays one value."""
    match operand:
        case tuple():
            return TupleVal(tuple(as_value(lo, o) for o in operand))
        case Const() | Slice():
            return operand
    return lo.wrap(operand)


def as_operand(lo: Lowering, value: Value) -> Operand | None:
    """Return what a rule returned for one parameter as an operand: an atom, a tuple of operands, or None."""
    if isinstance(value, Const) and value.value is None:
        return None
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind == "list":
        items = value.items.values() if isinstance(value, Cell) else value.items
        return tuple(as_operand(lo, item) for item in items)
    return lo.read(value)


def called(build: Builder, call: RuleCall, d_y: Atom) -> list:
    """Emit a call of the rule's function and return the cotangents that it returns."""
    rule, values = call.rule, call.values
    args = (call.y, *values) if rule.star else (call.y, *values, d_y)
    kwargs = dict(call.options, d_y=d_y) if rule.star else dict(call.options)
    silent = silent_params(rule)
    types = tuple(NoneType() if k in silent else Unknown() if rule.broadcasts else operand_type(v) for k, v in enumerate(values))
    if rule.star:
        plain = len(rule.params) - 1
        types = (*types[:plain], TupleT(types[plain:]))
    whole = types[0] if len(rule.params) == 1 else TupleT(types)
    result = build.emit(Call(rule.function, args, tuple(kwargs.items())), whole, "d" if len(rule.params) == 1 else "d_args")
    result = result if rule.star and len(rule.params) == 1 else one_for_each(build, rule, result, len(rule.params))
    if len(rule.params) == 1 and not rule.star:
        return [in_dtype(build, result, values[0], call)]
    items = [build.index(result, Const(i)) for i in range(len(rule.params))] if len(rule.params) > 1 else [result]
    if rule.star:
        rest = items.pop()
        items += [build.index(rest, Const(i)) for i in range(len(values) - len(items))]
    return [None if k in silent else in_dtype(build, d, v, call) for k, (d, v) in enumerate(zip(items, values))]


def in_dtype(build: Builder, d: Var, x: Operand, call: RuleCall) -> Var:
    """Return a cotangent of a type that is not known, cast if NumPy may have widened its dtype."""
    if call.rule.broadcasts or not isinstance(x, Var) or not isinstance(x.type, Array) or x.type.dtype is None:
        return d
    if x.type.dtype == np.dtype(float) and not any(may_be_complex(operand_type(v)) for v in (call.y, *call.values)):
        return d
    return build.call(runtime.unbroadcast, d, x, type=x.type)


def may_be_complex(t: Type) -> bool:
    """Return whether a value of a type may be complex: its type says so, or says nothing."""
    return kind_of(t) == "complex" or isinstance(t, Unknown)


@cache
def silent_params(rule: Rule) -> frozenset[int]:
    """Return the positions of the parameters for which every `return` of an adjoint rule has None."""
    node = find_source(rule.function).node
    if isinstance(node, gast.Lambda):
        returned = [node.body]
    else:
        returned = [n.value for n in gast.walk(node) if isinstance(n, gast.Return)]
    rows = [r.elts for r in returned if isinstance(r, gast.Tuple)]
    columns = enumerate(zip(*rows))
    return frozenset(k for k, column in columns if all(isinstance(e, gast.Constant) and e.value is None for e in column))


def typed(build: Builder, d: Operand | None, x: Operand, call: RuleCall) -> Operand | None:
    """Return the cotangent, with the type that rules must give it if inference found none."""
    t = operand_type(x)
    if call.rule.broadcasts or not isinstance(t, (Array, Scalar)) or not isinstance(d, Var) or not isinstance(d.type, Unknown):
        return d
    cast = in_dtype(build, d, x, call)
    return promised(build, d, t) if cast is d else cast


def is_untyped(build: Builder, d: Operand | None) -> bool:
    """Return whether the last statement makes `d` and inference found no type for it."""
    return isinstance(d, Var) and isinstance(d.type, Unknown) and bool(build.stmts) and build.stmts[-1].targets == (d,)


def promised(build: Builder, d: Operand | None, t: Type) -> Operand | None:
    """Return what a rule returned, with the type that rules must give it if inference found none."""
    if isinstance(t, Unknown) or not is_untyped(build, d):
        return d
    new = fresh(d, type=t)
    build.stmts[-1] = replace(build.stmts[-1], targets=(new,))
    return new


def drop_unused(build: Builder, start: int, results: list) -> None:
    """Remove the statements after `start` that the results do not need."""
    needed = {a for result in results for a in operand_atoms(result) if isinstance(a, Var)}
    kept = []
    for stmt in reversed(build.stmts[start:]):
        if any(t in needed for t in stmt.targets) or getattr(stmt.op, "fn", None) is runtime.check_structure:
            kept.append(stmt)
            needed.update(stmt.op.reads)
    build.stmts[start:] = reversed(kept)
