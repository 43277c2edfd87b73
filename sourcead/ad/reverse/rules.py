"""Applying a derivative rule: the rule is Python, lowered by our own frontend and inlined with the types at hand.

Where a rule asks something that the types do not tell (a rank that is not known), the text calls the rule itself.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import gast
import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import Builder, operand_type
from sourcead.errors import RuleError, SourceADError, UnsupportedArgumentError, UnsupportedSyntaxError, spelled
from sourcead.frontend.core import Lowering, NotStatic, Scope
from sourcead.frontend.source import find_source
from sourcead.frontend.syntax import expressions, statements
from sourcead.frontend.values import sequences
from sourcead.frontend.values.cells import Cell, SliceVal, TupleVal, Value
from sourcead.ir.nodes import Atom, Call, Const, Operand, Slice, Stmt, Var, fresh
from sourcead.ir.types import Array, NoneType, Scalar, TupleT, Type, Unknown
from sourcead.ir.walk import op_reads
from sourcead.primitives.refusals import missing_rule
from sourcead.primitives.rule import Arguments, Rule, TangentRule
from sourcead.primitives.table import adjoint_rule, tangent_rule


def cotangents_of(build: Builder, stmt: Stmt, d_y: Atom, wanted: set[Var]) -> list[tuple[Operand, Operand | None, bool]]:
    """What a call contributes to the cotangents of its operands.

    Args:
        build: where the statements of the rule go.
        stmt: the call, one target.
        d_y: the cotangent of its result.
        wanted: the variables whose cotangents matter.

    Returns:
        (operand of the call, its cotangent, whether that must still be summed over broadcast axes).
    """
    call = stmt.op
    rule = rule_of(call, stmt)
    try:
        values, options = rule.bind(call.args, call.kwargs, wrap=Const)
    except RuleError as error:
        raise UnsupportedArgumentError(error.reason, at=stmt.origin, instead=error.instead) from None
    refuse_active_options(rule, options | held(rule, values), wanted, stmt)
    results = inlined(build, rule, stmt.targets[0], values, d_y, options, wanted)
    return [(value, d, rule.broadcasts) for value, d in zip(values, results)]


def rule_of(call: Call, stmt: Stmt) -> Rule:
    """The rule of a call's function."""
    if isinstance(call.fn, Var):
        raise pullback_refused(stmt)
    rule = adjoint_rule(call.fn)
    if rule is None:
        raise missing_rule(call.fn, stmt.origin)
    return rule


def pullback_refused(stmt: Stmt) -> UnsupportedSyntaxError:
    """The error for the derivative of a recursive function that is differentiated again."""
    return UnsupportedSyntaxError(
        "the derivative of a function that calls itself cannot be differentiated again yet", at=stmt.origin, instead="write it as a loop"
    )


@cache
def _source(function):
    return find_source(function)


def inlined(build: Builder, rule: Rule, y: Var, values: list[Operand], d_y: Atom, options: dict, wanted: set[Var]) -> list:
    """The cotangents of a rule's parameters; unneeded ones are not computed."""
    before = len(build.stmts)
    try:
        lo, result = lowered(build, rule, y, values, options, {"d_y": d_y})
        results = list(result.items) if len(rule.params) > 1 else [result]
        if rule.star is not None:
            results = [*results[:-1], *sequences.static_items(lo, results[-1], None, len(values) - len(rule.params) + 1)]
        out = [as_operand(lo, r) if reaches(v, wanted) else None for r, v in zip(results, values)]
    except UnsupportedArgumentError:
        raise
    except (NotStatic, SourceADError):  # what the types do not tell is decided when the text runs
        del build.stmts[before:]
        out = called(build, rule, y, values, d_y, options)
    drop_unused(build, before, out)
    refuse_undefined(rule, build.stmts[before:], build.origin)
    return [typed(build, d, v, rule) for d, v in zip(out, values)]


def lowered(
    build: Builder, rule: Arguments, y: Var, values: list[Operand], options: dict, further: dict[str, Operand]
) -> tuple[Lowering, Value]:
    """What a rule's function returns, its statements emitted here; `further` are its parameters beside the primal's.

    Raises:
        NotStatic, SourceADError: the types do not tell which way the rule goes.
        UnsupportedArgumentError: the rule refuses the case.
    """
    before = len(build.stmts)
    lo = Lowering()
    lo.build, lo.static_only = build, True
    source = _source(rule.function)
    lo.scope = Scope(source)
    names = lo.scope.names
    plain = [p for p in rule.params if p != rule.star]
    names[rule.result] = as_value(lo, y)
    for name, value in zip(plain, values):
        names[name] = as_value(lo, value)
    if rule.star is not None:
        names[rule.star] = TupleVal(tuple(as_value(lo, v) for v in values[len(plain) :]))
    for name, value in further.items():
        names[name] = as_value(lo, value)
    for name, default in rule.options:
        names[name] = as_value(lo, options[name]) if name in options else Const(default)
    origin = build.origin
    try:
        if isinstance(source.node, gast.Lambda):
            return lo, expressions.lower(lo, source.node.body)
        left = statements.lower_statements(lo, source.node.body)
        if not isinstance(left, statements.Return):
            raise refused(rule, build.stmts[before:], build.origin)
        return lo, left.value
    finally:  # the statements stand for the user's, not for the rule's
        build.origin = origin
        build.stmts[before:] = [replace(s, origin=origin) for s in build.stmts[before:]]


def refused(rule: Arguments, stmts: list[Stmt], origin) -> UnsupportedArgumentError:
    """The error for a case that a rule refuses with `raise`."""
    texts = [a.value for s in stmts for a in getattr(s.op, "args", ()) if isinstance(a, Const) and isinstance(a.value, str)]
    return UnsupportedArgumentError(
        texts[-1] if texts else f"the derivative of `{spelled(rule.primal)}` does not cover this case", at=origin
    )


def held(rule: Rule, values: list[Operand]) -> dict[str, Operand]:
    """The arguments that the function's tangent rule takes for constants: both modes refuse the same."""
    other = tangent_rule(rule.primal)
    if not isinstance(other, TangentRule) or other.star is not None or rule.star is not None:
        return {}
    return {name: value for name, value in zip(other.params, values) if name not in other.tangents}


def refuse_active_options(rule: Arguments, options: dict, active: set[Var], stmt: Stmt) -> None:
    """Refuses a call whose derivative would have to pass through an argument that the rule takes for a constant."""
    for name, value in options.items():
        if reaches(value, active):
            raise UnsupportedArgumentError(
                f"the derivative of `{spelled(rule.primal)}` with respect to its argument `{name}` is not known", at=stmt.origin
            )


def refuse_undefined(rule: Arguments, stmts: list[Stmt], origin) -> None:
    """Refuses what a rule says it does not know, where that is needed."""
    for stmt in stmts:
        if isinstance(stmt.op, Call) and stmt.op.fn is runtime.undefined:
            what = stmt.op.args[0].value
            raise UnsupportedArgumentError(f"the derivative of `{spelled(rule.primal)}` with respect to {what} is not known", at=origin)


def reaches(operand: Operand, wanted: set[Var]) -> bool:
    """Whether the cotangent of an operand matters."""
    if isinstance(operand, tuple):
        return any(reaches(o, wanted) for o in operand)
    return operand in wanted


def as_value(lo: Lowering, operand: Operand) -> Value:
    """An operand as a value of the frontend, without opening it up."""
    match operand:
        case tuple():
            return TupleVal(tuple(as_value(lo, o) for o in operand))
        case Const():
            return operand
        case Slice(lower, upper, step):
            return SliceVal(lower, upper, step)
    return lo.wrap(operand)


def as_operand(lo: Lowering, value: Value) -> Operand | None:
    """What a rule returned for one parameter: an atom, a tuple of them, or None."""
    if isinstance(value, Const) and value.value is None:
        return None
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind == "list":
        items = value.items.values() if isinstance(value, Cell) else value.items
        return tuple(as_operand(lo, item) for item in items)
    return lo.read(value)


def called(build: Builder, rule: Rule, y: Var, values: list, d_y: Atom, options: dict) -> list:
    """The cotangents as results of a call of the rule function in the text."""
    args = (y, *values) if rule.star else (y, *values, d_y)
    kwargs = dict(options, d_y=d_y) if rule.star else dict(options)
    silent = silent_params(rule)
    types = tuple(NoneType() if k in silent else cotangent_type(v, rule.broadcasts) for k, v in enumerate(values))
    if rule.star:
        plain = len(rule.params) - 1
        types = (*types[:plain], TupleT(types[plain:]))
    whole = types[0] if len(rule.params) == 1 else TupleT(types)
    result = build.emit(Call(rule.function, args, tuple(kwargs.items())), whole, "d" if len(rule.params) == 1 else "d_args")
    if len(rule.params) == 1 and not rule.star:
        return [in_dtype(build, result, values[0], rule)]
    items = [build.index(result, Const(i)) for i in range(len(rule.params))] if len(rule.params) > 1 else [result]
    if rule.star:
        rest = items.pop()
        items += [build.index(rest, Const(i)) for i in range(len(values) - len(items))]
    return [None if k in silent else in_dtype(build, d, v, rule) for k, (d, v) in enumerate(zip(items, values))]


def in_dtype(build: Builder, d: Var, x: Operand, rule: Rule) -> Var:
    """A cotangent that a called rule returned, cast where NumPy may have widened it."""
    if rule.broadcasts or not isinstance(x, Var) or not isinstance(x.type, Array) or x.type.dtype is None:
        return d
    return d if x.type.dtype == np.dtype(float) else build.call(runtime.unbroadcast, d, x, type=x.type)


@cache
def silent_params(rule: Rule) -> frozenset[int]:
    """The numbers of the parameters for which an adjoint rule returns None wherever it returns."""
    node = find_source(rule.function).node
    if isinstance(node, gast.Lambda):
        returned = [node.body]
    else:
        returned = [n.value for n in gast.walk(node) if isinstance(n, gast.Return)]
    if not all(isinstance(r, gast.Tuple) for r in returned):
        returned = [r for r in returned if isinstance(r, gast.Tuple)]
        if not returned:
            return frozenset()
    count = min(len(r.elts) for r in returned)
    return frozenset(
        k for k in range(count) if all(isinstance(r.elts[k], gast.Constant) and r.elts[k].value is None for r in returned)
    )


def cotangent_type(operand: Operand, broadcasts: bool) -> Type:
    """The type of an operand's cotangent as a rule returns it."""
    t = operand_type(operand)
    return Unknown() if broadcasts else t


def typed(build: Builder, d: Operand | None, x: Operand, rule: Rule) -> Operand | None:
    """The cotangent with the type that the contract of rules gives it, where inference found none."""
    if not isinstance(d, Var) or rule.broadcasts or not isinstance(d.type, Unknown) or isinstance(x, tuple):
        return d
    stmt = build.stmts[-1] if build.stmts else None
    t = operand_type(x)
    if stmt is None or stmt.targets != (d,) or not isinstance(t, (Array, Scalar)):
        return d
    if (cast := in_dtype(build, d, x, rule)) is not d:
        return cast
    new = fresh(d, type=t)
    build.stmts[-1] = replace(stmt, targets=(new,))
    return new


def drop_unused(build: Builder, start: int, results: list) -> None:
    """Removes the statements after `start` that the results do not need."""
    needed: set[Var] = set()

    def need(operand) -> None:
        if isinstance(operand, tuple):
            for item in operand:
                need(item)
        elif isinstance(operand, Var):
            needed.add(operand)

    for result in results:
        need(result)
    kept = []
    for stmt in reversed(build.stmts[start:]):
        if any(t in needed for t in stmt.targets):
            kept.append(stmt)
            needed.update(op_reads(stmt.op))
    build.stmts[start:] = reversed(kept)
