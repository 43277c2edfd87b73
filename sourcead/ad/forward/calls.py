"""The tangent of a call, from the tangent rule of its function.

    y = f(a, b)                     t_y = (df/da) t_a + (df/db) t_b
    f linear in (a, b) together     t_y = f(t_a, t_b)
    f linear in each                t_y = f(t_a, b) + f(a, t_b)
    f element by element            t_y = t_a * f_a(a, b) + t_b * f_b(a, b), from its adjoint rule
"""

from __future__ import annotations

import operator
from dataclasses import replace

from sourcead import runtime
from sourcead.ad.forward.tangents import Tangents
from sourcead.ad.reverse.rules import (
    as_operand, drop_unused, inlined, lowered, refuse_active_options, refuse_undefined, silent_params
)
from sourcead.analysis.builder import Builder, atom_type
from sourcead.errors import RuleError, SourceADError, UnsupportedArgumentError
from sourcead.frontend.core import NotStatic
from sourcead.ir.nodes import Atom, Call, Const, Operand, Stmt, Var, fresh, operand_atoms
from sourcead.ir.types import Array, Scalar, TupleT, Unknown, tangent_type
from sourcead.ir.walk import op_reads
from sourcead.primitives.refusals import missing_rule
from sourcead.primitives.rule import Arguments, Linear, Rule, TangentRule
from sourcead.primitives.table import adjoint_rule, tangent_rule


def tangent_of(tangents: Tangents, stmt: Stmt) -> Atom | None:
    """The tangent of a call's result; None if it is zero."""
    call, build = stmt.op, tangents.build
    rule = tangent_rule(call.fn)
    if rule is None:
        raise missing_rule(call.fn, stmt.origin, "tangent")
    match rule:
        case Linear():
            t = linear_tangent(tangents, stmt, rule)
        case TangentRule():
            values, options = bound(rule, stmt, tangents)
            t = explicit_tangent(tangents, stmt, rule, values, options)
        case Rule():
            values, options = bound(rule, stmt, tangents)
            t = elementwise_tangent(tangents, stmt, rule, values, options)
    (y,) = stmt.targets
    if t is None:
        return None
    if isinstance(rule, Rule):
        return tangents.fit(t, y)
    t = promised(build, t, y)
    return tangents.fit(t, y) if isinstance(y.type, Array) and not isinstance(t.type, Unknown) else t


def bound(rule: Arguments, stmt: Stmt, tangents: Tangents) -> tuple[list[Operand], dict]:
    """The call's arguments as the rule takes them."""
    try:
        values, options = rule.bind(stmt.op.args, stmt.op.kwargs, wrap=Const)
    except RuleError as error:
        raise UnsupportedArgumentError(error.reason, at=stmt.origin, instead=error.instead) from None
    refuse_active_options(rule, options, tangents.known, stmt)
    return values, options


def promised(build: Builder, t: Atom, y: Var) -> Atom:
    """The tangent that a rule returned, with the type that the contract of rules gives it, where inference found none."""
    stmt = build.stmts[-1] if build.stmts else None
    if not isinstance(t, Var) or not isinstance(t.type, Unknown) or isinstance(y.type, Unknown) or stmt is None or stmt.targets != (t,):
        return t
    new = fresh(t, type=tangent_type(y.type))
    build.stmts[-1] = replace(stmt, targets=(new,))
    return new


def added(build: Builder, parts: list[Atom], y: Var) -> Atom | None:
    """The sum of contributions."""
    total = None
    for part in parts:
        if total is None:
            total = part
        elif isinstance(y.type, (Scalar, Array)):
            total = build.call(operator.add, total, part)
        else:
            total = build.call(runtime.add, total, part, type=tangent_type(y.type))
    return total


# ---- functions that work element by element ----


def elementwise_tangent(tangents: Tangents, stmt: Stmt, rule: Rule, values: list[Operand], options: dict) -> Atom | None:
    """The adjoint rule is symmetric: what it multiplies a cotangent with is what a tangent is multiplied with."""
    build, (y,) = tangents.build, stmt.targets
    parts = []
    for k, value in enumerate(values):
        t = tangents.get(value)
        if t is None:
            continue
        if isinstance(t, tuple):
            raise UnsupportedArgumentError("a tuple of numbers stands where a function of arrays is differentiated", at=stmt.origin,
                                           instead="np.array(...) of it")  # fmt: skip
        results = inlined(build, rule, y, values, t, options, {value})
        if results[k] is not None:
            parts.append(results[k])
    return added(build, parts, y)


# ---- rules of their own ----


def explicit_tangent(tangents: Tangents, stmt: Stmt, rule: TangentRule, values: list[Operand], options: dict) -> Atom | None:
    build, (y,) = tangents.build, stmt.targets
    plain = len(rule.params) - (rule.star is not None)
    by_name = dict(zip(rule.params, values[:plain]))
    refuse_active_options(rule, {p: v for p, v in by_name.items() if p not in rule.tangents}, tangents.known, stmt)
    if rule.star is not None:
        rest = tuple(values[plain:])
        if not tangents.has(rest):
            return None
        further = {f"t_{rule.star}": tangents.get(rest)}
        wanted = [True]
    else:
        wanted = [tangents.has(by_name[p]) for p in rule.tangents]
        if not any(wanted):
            return None
        further = {
            f"t_{p}": tangents.get(by_name[p]) if has else placeholder(by_name[p]) for p, has in zip(rule.tangents, wanted)
        }
    placeholders = {a for o, has in zip(further.values(), wanted) if not has for a in operand_atoms(o) if isinstance(a, Var)}
    before = len(build.stmts)
    try:
        lo, result = lowered(build, rule, y, values, options, further)
        results = list(result.items) if len(wanted) > 1 else [result]
        out = [as_operand(lo, r) if has else None for r, has in zip(results, wanted)]
        out = [collected(build, r, y) for r in out]
        drop_unused(build, before, out)
        refuse_undefined(rule, build.stmts[before:], build.origin)
        if any(v in placeholders for s in build.stmts[before:] for v in op_reads(s.op)):
            raise NotStatic
    except UnsupportedArgumentError:
        raise
    except (NotStatic, SourceADError):  # what the types do not tell is decided when the text runs
        del build.stmts[before:]
        out = called(tangents, rule, y, values, options, by_name, wanted)
    return added(build, [r for r in out if r is not None], y)


def placeholder(operand: Operand) -> Operand:
    """Stands for a tangent of zeros, whose contribution is left out."""
    if isinstance(operand, tuple):
        return tuple(map(placeholder, operand))
    return Var("zero", tangent_type(atom_type(operand)), True)


def collected(build: Builder, result: Operand | None, y: Var) -> Atom | None:
    """A result that a rule returned item by item as one value."""
    if not isinstance(result, tuple):
        return result
    from sourcead.ir.nodes import Build

    items = tuple(collected(build, r, y) if isinstance(r, tuple) else r for r in result)
    kind = "list" if not isinstance(y.type, TupleT) and "List" in type(y.type).__name__ else "tuple"
    return build.emit(Build(kind, tuple(Const(None) if i is None else i for i in items)), tangent_type(y.type), f"t_{y.name}")


def called(
    tangents: Tangents, rule: TangentRule, y: Var, values: list[Operand], options: dict, by_name: dict, wanted: list[bool]
) -> list:
    """The contributions as results of a call of the rule function in the text."""
    build = tangents.build
    if rule.star is not None:
        rest = tuple(values[len(by_name) :])
        kwargs = {f"t_{rule.star}": tangents.get_or_zero(rest), **options}
        return [build.call(rule.function, y, *values, type=tangent_type(y.type), **kwargs)]
    ts = [tangents.get_or_zero(by_name[p]) for p in rule.tangents]
    whole = build.call(rule.function, y, *values, *ts, type=Unknown() if len(ts) > 1 else tangent_type(y.type), **options)
    if len(ts) == 1:
        return [whole]
    return [build.index(whole, Const(k)) if has else None for k, has in enumerate(wanted)]


# ---- functions that are their own tangents ----


def linear_tangent(tangents: Tangents, stmt: Stmt, rule: Linear) -> Atom | None:
    """The function itself, of tangents in place of the arguments in which it is linear."""
    call, build, (y,) = stmt.op, tangents.build, stmt.targets
    places = linear_places(call, rule, stmt, tangents)
    active = [p for p in places if tangents.has(operand_at(call, p))]
    if not active:
        return None

    def of(changed: dict) -> Atom:
        args = tuple(changed.get(k, a) for k, a in enumerate(call.args))
        kwargs = {k: changed.get(k, v) for k, v in call.kwargs}
        return build.call(call.fn, *args, **kwargs)

    if rule.together:
        return of({p: tangents.get_or_zero(operand_at(call, p)) for p in places})
    return added(build, [of({p: tangents.get(operand_at(call, p))}) for p in active], y)


def operand_at(call: Call, place: int | str) -> Operand:
    """The argument at a position or of a name."""
    return call.args[place] if isinstance(place, int) else dict(call.kwargs)[place]


def linear_places(call: Call, linear: Linear, stmt: Stmt, tangents: Tangents) -> list[int | str]:
    """Where the arguments stand that the adjoint rule has cotangents of."""
    rule = adjoint_rule(call.fn)
    if rule is None:
        raise missing_rule(call.fn, stmt.origin)
    places = [*range(len(call.args)), *(name for name, _ in call.kwargs)]
    try:
        values, options = rule.bind(range(len(call.args)), {name: name for name, _ in call.kwargs}, wrap=lambda default: None)
    except RuleError as error:
        raise UnsupportedArgumentError(error.reason, at=stmt.origin, instead=error.instead) from None
    refuse_active_options(rule, {k: operand_at(call, p) for k, p in options.items()}, tangents.known, stmt)
    silent = silent_params(rule)
    found = {p: rule.params[min(k, len(rule.params) - 1)] for k, p in enumerate(values) if p in places and k not in silent}
    if linear.only is None:
        return list(found)
    others = {name: operand_at(call, p) for p, name in found.items() if name not in linear.only}
    refuse_active_options(rule, others, tangents.known, stmt)
    return [p for p, name in found.items() if name in linear.only]
