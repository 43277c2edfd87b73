"""The tangent of a call, from the tangent rule of its function.

    y = f(a, b)                     t_y = (df/da) t_a + (df/db) t_b
    f linear in (a, b) together     t_y = f(t_a, t_b)
    f linear in each                t_y = f(t_a, b) + f(a, t_b)
    f element by element            t_y = t_a * f_a(a, b) + t_b * f_b(a, b), from its adjoint rule
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.ad.apply_rule import (
    RuleCall, as_operand, bound, drop_unused, inlined, lowered, promised, refuse_active_options, refuse_undefined,
    set_refused, silent_params, with_arrays
)
from sourcead.ad.closed_forms import ClosedForm
from sourcead.ad.forward.tangents import Tangents
from sourcead.ad.rule_results import check_structures, collected, is_open, one_for_each, results_for
from sourcead.analysis.builder import Builder, atom_type
from sourcead.errors import RuleError, SourceADError, UnsupportedArgumentError
from sourcead.frontend.lower import NotStatic
from sourcead.ir.nodes import Atom, Call, Const, Operand, Stmt, Var, operand_atoms
from sourcead.ir.types import ANY_DTYPE, Array, Scalar, SetT, TupleT, Unknown, tangent_type
from sourcead.primitives.rule import Arguments, Linear, Rule
from sourcead.primitives.table import missing_rule, record_of


def tangent_of(tangents: Tangents, stmt: Stmt, form: ClosedForm | None = None) -> Atom | None:
    """Return the tangent of a call's result; None if it is zero.  `form` is the closed form that the call ends, if it ends one."""
    (y,) = stmt.targets
    if isinstance(y.type, SetT):
        raise set_refused(stmt)
    rule = record_of(stmt.op.fn).tangent_rule
    if rule is None:
        raise missing_rule(stmt.op.fn, stmt.origin, "tangent")
    if isinstance(rule, Rule):
        t = elementwise_tangent(tangents, stmt, bound_with_tangents(rule, stmt, tangents), form)
        return None if t is None else tangents.fit(t, y)
    if isinstance(rule, Linear):
        t = in_shape_of(linear_tangent(tangents, stmt, rule), y)
    else:
        t = explicit_tangent(tangents, stmt, bound_with_tangents(rule, stmt, tangents))
    if t is None:
        return None
    t = promised(tangents.build, t, tangent_type(y.type))
    return tangents.fit(t, y) if isinstance(y.type, Array) and not isinstance(t.type, Unknown) else t


def bound_with_tangents(rule: Arguments, stmt: Stmt, tangents: Tangents) -> RuleCall:
    """Return the rule with the arguments of a call, and refuse a call in which an option has a tangent."""
    call = bound(rule, stmt)
    refuse_active_options(rule, call.options, tangents.known, stmt)
    return call


def added(build: Builder, parts: list[Atom | None], y: Var) -> Atom | None:
    """Return the sum of the contributions to the tangent of `y`; None if there are none."""
    total = None
    for part in parts:
        if part is None or total is None:
            total = total if part is None else part
        elif isinstance(y.type, (Scalar, Array)):
            total = build.call(operator.add, total, part)
        else:
            total = build.call(runtime.add, total, part, type=tangent_type(y.type))
    return total


# ---- functions that work element by element ----


def elementwise_tangent(tangents: Tangents, stmt: Stmt, call: RuleCall, form: ClosedForm | None = None) -> Atom | None:
    """Return the tangent by the adjoint rule, which multiplies tangents by the same factor as cotangents: the Jacobian is diagonal."""
    parts = []
    if form is not None and (t := tangents.get(form.argument)) is not None:
        parts.append(form.product(tangents.build, t))
    for k, value in enumerate(call.values):
        t = tangents.get(value)
        if t is None or form is not None and value in form.covered:
            continue
        if isinstance(t, tuple):
            raise UnsupportedArgumentError("a tuple of numbers stands where a function of arrays is differentiated", at=stmt.origin,
                                           instead="np.array(...) of it")  # fmt: skip
        if isinstance(atom_type(t), TupleT):  # beside what may be an array; beside a number it raises
            t = tangents.build.call(np.asarray, t, type=Unknown())
        parts.append(inlined(tangents.build, call, t, {value})[k])
    return added(tangents.build, parts, call.y)


# ---- rules of their own ----


def explicit_tangent(tangents: Tangents, stmt: Stmt, call: RuleCall) -> Atom | None:
    """Return the tangent by a tangent rule, without the contributions of zero tangents."""
    build, rule = tangents.build, call.rule
    primals = tangent_arguments(call)
    constants = {p: v for p, v in zip(rule.params, call.values) if p != rule.star and p not in rule.tangents}
    refuse_active_options(rule, constants, tangents.known, stmt)
    wanted = [tangents.has(v) for v in primals.values()]
    if not any(wanted):
        return None
    further = {f"t_{p}": tangents.get(v) if has else placeholder(v) for (p, v), has in zip(primals.items(), wanted)}
    placeholders = {a for o, has in zip(further.values(), wanted) if not has for a in operand_atoms(o) if isinstance(a, Var)}
    start = len(build.stmts)

    def applied(call: RuleCall) -> list[Atom | None]:
        before = len(build.stmts)
        try:
            lo, result = lowered(build, call, further)
            results = results_for(lo, rule, result, dict.fromkeys(primals, tangent_type(call.y.type)))
            check_structures(build, rule, call.y, results)
            out = [as_operand(lo, r) if has else None for r, has in zip(results, wanted)]
            out = [collected(build, r, tangent_type(call.y.type), f"t_{call.y.name}") for r in out]
            drop_unused(build, before, out)
            refuse_undefined(rule, build.stmts[before:], build.origin)
            if any(v in placeholders for s in build.stmts[before:] for v in s.op.reads):
                raise NotStatic
        except (NotStatic, SourceADError) as error:
            if not is_open(error):
                raise
            del build.stmts[before:]
            out = called(tangents, call, primals, wanted)  # what the types leave open is decided when the text runs
        return out

    out = applied(call)
    of_arrays = with_arrays(build, call, start)
    return added(build, out if of_arrays is None else applied(of_arrays), call.y)


def tangent_arguments(call: RuleCall) -> dict[str, Operand]:
    """Return the arguments whose tangents a rule takes, by the names of its parameters."""
    rule, plain = call.rule, len(call.rule.params) - (call.rule.star is not None)
    if rule.star is not None:
        return {rule.star: tuple(call.values[plain:])}
    by_name = dict(zip(rule.params, call.values))
    return {p: by_name[p] for p in rule.tangents}


def placeholder(operand: Operand) -> Operand:
    """Return a placeholder for a tangent of zeros, whose contribution is left out."""
    if isinstance(operand, tuple):
        return tuple(map(placeholder, operand))
    return Var("zero", tangent_type(atom_type(operand)), True)


def called(tangents: Tangents, call: RuleCall, primals: dict[str, Operand], wanted: list[bool]) -> list[Atom | None]:
    """Emit a call of the rule's function, for arguments `primals` that have tangents, and return the contributions that it returns."""
    build, rule, t_y = tangents.build, call.rule, tangent_type(call.y.type)
    ts = {f"t_{p}": tangents.get_or_zero(v) for p, v in primals.items()}
    if rule.star is not None:
        return [build.applied(rule.function, (call.y, *call.values), {**ts, **call.options}, t_y)]
    several = len(ts) > 1
    whole = build.applied(rule.function, (call.y, *call.values, *ts.values()), call.options, Unknown() if several else t_y)
    whole = one_for_each(build, rule, whole, len(ts))
    return [build.index(whole, Const(k)) if has else None for k, has in enumerate(wanted)] if several else [whole]


# ---- functions that are their own tangents ----


def linear_tangent(tangents: Tangents, stmt: Stmt, rule: Linear) -> Atom | None:
    """Return the tangent of a linear function: the function itself, with tangents in place of the arguments in which it is linear."""
    call, build, (y,) = stmt.op, tangents.build, stmt.targets
    places = linear_places(call, rule, stmt, tangents)
    active = [p for p in places if tangents.has(operand_at(call, p))]
    if not active:
        return None
    if call.fn is runtime.add and len(active) == 1:  # either may be None; the first is what a dict of cotangents had under a key
        t = tangents.get(operand_at(call, active[0]))
        return t if active == [1] else build.call(runtime.add, t, tangents.zero(call.args[1]), type=tangent_type(y.type))

    is_method = getattr(call.fn, "__objclass__", None) is np.ndarray

    def of(changed: dict) -> Atom:
        if is_method and 0 in changed and isinstance(t := atom_type(call.args[0]), Scalar):  # Python may have computed it
            of_numpy = np.float64 if t.dtype in (None, ANY_DTYPE) else t.dtype.type
            changed = {**changed, 0: build.call(of_numpy, changed[0], type=t)}
        args = tuple(changed.get(k, a) for k, a in enumerate(call.args))
        kwargs = {k: changed.get(k, v) for k, v in call.kwargs}
        return build.applied(call.fn, args, kwargs)

    if rule.together:
        return of({p: tangents.get_or_zero(operand_at(call, p)) for p in places})
    return added(build, [of({p: tangents.get(operand_at(call, p))}) for p in active], y)


def in_shape_of(t: Atom | None, y: Var) -> Atom | None:
    """Give the tangent of a linear function the sizes of `y`: it is called with tangents, which have the shapes of their primals."""
    have, want = (getattr(getattr(v, "type", None), "dims", None) for v in (t, y))
    if isinstance(t, Var) and have is not None and want is not None and len(have) == len(want):
        if all(b == 1 or a != 1 for a, b in zip(have, want)):
            t.type = replace(t.type, dims=want)
    return t


def operand_at(call: Call, place: int | str) -> Operand:
    """Return the argument at a position or with a name."""
    return call.args[place] if isinstance(place, int) else dict(call.kwargs)[place]


def linear_places(call: Call, linear: Linear, stmt: Stmt, tangents: Tangents) -> list[int | str]:
    """Return the positions and names of the arguments that the adjoint rule has cotangents of."""
    rule = record_of(call.fn).adjoint_rule
    if rule is None:
        raise missing_rule(call.fn, stmt.origin)
    places = [*range(len(call.args)), *(name for name, _ in call.kwargs)]
    try:
        values, options = rule.bind(range(len(call.args)), {name: name for name, _ in call.kwargs}, wrap=lambda default: None)
    except RuleError as error:
        raise UnsupportedArgumentError(error.reason, at=stmt.origin, instead=error.instead) from None
    refuse_active_options(rule, {k: operand_at(call, p) for k, p in options.items() if p is not None}, tangents.known, stmt)
    silent = silent_params(rule)
    found = {p: rule.params[min(k, len(rule.params) - 1)] for k, p in enumerate(values) if p in places and k not in silent}
    if linear.only is None:
        return list(found)
    others = {name: operand_at(call, p) for p, name in found.items() if name not in linear.only}
    refuse_active_options(rule, others, tangents.known, stmt)
    return [p for p, name in found.items() if name in linear.only]
