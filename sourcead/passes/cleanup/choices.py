"""Adds what the two arms of a choice contribute to a cotangent as one product.

    p = mul(where(c, d, 0), a)        q = mul(where(c, 0, d), b)
    y = add(p, q)                                y = mul(d, where(c, a, b))
    y = add(p, q)            b is a              y = mul(d, a)
    y = add(p, q)            no a, no b          y = d
    y = add(p, q)            a = f(u), b = f(v)  y = mul(d, f(where(c, u, v)))
    y = add(mul(d, c), mul(div(d, 2), e))        y = mul(d, add(c, mul(0.5, e)))      c, e: masks, as where `maximum` has equal operands

    where(c, x, neg(x)) and where(c, neg(u), u)  mul(s, x) and neg(mul(s, u)), s = 2 * c - 1

Each element has one of the two contributions, the other is zero.  So the choice can be made before the multiplication, between the
factors that the products do not share, and before an elementwise function that both are results of.  This is legal in adjoints, if nothing
else reads the products.  The result is the same but for rounding, for the sign of a zero, and where the factor that is not chosen is
not finite: zero times that is not a number, which is no longer computed.  Products with a sign, as for options that are calls or puts, are
exact; one array of signs serves several of them, since a choice in no order takes as long as ten products.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Call, Const, Function, Op, Stmt, Update, Var
from sourcead.ir.types import Array, kind_of, same_dtype
from sourcead.ir.walk import calls, walk
from sourcead.passes.cleanup.constant_folding import generated, is_const, is_literal
from sourcead.passes.equality import KnownDims, equal_types, same
from sourcead.passes.peephole import Facts, peephole
from sourcead.primitives.table import record_of

ADD, SUB, MUL, DIV, NEG = operator.add, operator.sub, operator.mul, operator.truediv, operator.neg

MOST_TERMS = 12  # of a sum of which two at a time are looked at
Step = tuple[object, Atom]


@dataclass(frozen=True)
class Share:
    """A product of `where(condition, d, 0)` if `first`, else of `where(condition, 0, d)`: factors and divisors in order, and a sign."""

    condition: Atom
    d: Atom
    first: bool
    negative: bool = False
    steps: tuple[Step, ...] = ()

    def then(self, fn, other: Atom) -> Share:
        return replace(self, steps=(*self.steps, (fn, other)))

    def negated(self) -> Share:
        return replace(self, negative=not self.negative)


def merge_choices(function: Function) -> Function:
    """Return the function with the sums of two products that never both differ from zero written as one product."""
    dims = KnownDims()
    chooses = calls(function.body, np.where)

    def rule(stmt: Stmt, facts: Facts) -> list[Stmt] | Var | None:
        dims.learn(stmt, facts)
        match stmt.op:
            case Call(fn, (Var() as p, Var() as q), ()) if fn in (ADD, SUB) and generated(stmt):
                found = merged(stmt, p, q, fn is SUB, facts, dims) or fn is ADD and of_masks(stmt, p, q, facts)
                return found or chooses and of_distant_terms(stmt, facts) or None
            case Update(Var() as p, (), Var() as q, "add" | "sub" as mode) if generated(stmt):
                found = merged(stmt, p, q, mode == "sub", facts, dims) or of_two_updates(stmt, facts.op(p), q, facts)
                return found or chooses and of_distant_terms(stmt, facts) or None
        return None

    return peephole(function, rule)


def merged(stmt: Stmt, p: Var, q: Var, subtracted: bool, facts: Facts, dims: KnownDims) -> list[Stmt] | Var | None:
    """Return the sum or difference of two products as one product, None if they are no shares of one choice."""
    build = Builder().at(stmt)
    result = sum_of_shares(build, p, q, (False, subtracted), facts)
    t, found = stmt.targets[0].type, getattr(result, "type", None)
    if not isinstance(t, Array) or not isinstance(found, Array) or not t.dims or not same_dtype(t.dtype, found.dtype):
        return None
    shape = dims.shape(t, facts)
    if shape is None or shape != dims.shape(found, facts):
        return None
    if not build.stmts:  # both contributions are the cotangent itself
        return result
    return None if build.stmts[-1].targets != (result,) else [*build.stmts[:-1], replace(stmt, op=build.stmts[-1].op)]


def of_two_updates(stmt: Stmt, before: Op | None, q: Var, facts: Facts) -> list[Stmt] | None:
    """Return one update in place of two that nothing stands between: d1 = d0 + p, d2 = d1 + q; None if p and q are no shares."""
    match before:
        case Update(base, (), Var() as p, "add" | "sub" as mode) if is_spent(stmt.op.base, facts):
            build = Builder().at(stmt)
            value = sum_of_shares(build, p, q, (mode == "sub", stmt.op.mode == "sub"), facts)
            kinds = [kind_of(v.type) for v in (p, q, value)] if isinstance(value, Var) else []
            if kinds and kinds[0] is not None and kinds.count(kinds[0]) == 3:
                return [*build.stmts, replace(stmt, op=Update(base, (), value, "add"))]
    return None


def of_distant_terms(stmt: Stmt, facts: Facts) -> list[Stmt] | None:
    """Return a sum of more than two terms with two shares of one choice as one term, the last; None if it has none.

        y = add(add(p, r), q)                   y = add(r, mul(d, where(c, a, b)))
    """
    target = stmt.targets[0]
    if not isinstance(target.type, Array) or not target.type.dims:
        return None
    found = list(terms(stmt.op, target, False, facts))
    for j in range(1, len(found)) if 2 < len(found) <= MOST_TERMS else ():
        for i in range(j):
            (p, minus_p), (q, minus_q) = found[i], found[j]
            if not is_better(share(p, facts), share(q, facts), facts):
                continue
            build = Builder().at(stmt)
            value = sum_of_shares(build, p, q, (minus_p, minus_q), facts)
            if not isinstance(value, Var) or not equal_types(value.type, target.type):
                continue
            rest = sorted((term for k, term in enumerate(found) if k not in (i, j)), key=lambda term: term[1])
            total = build.call(NEG, rest[0][0]) if rest[0][1] else rest[0][0]
            for x, minus in rest[1:]:
                total = build.call(SUB if minus else ADD, total, x)
            return [*build.stmts, replace(stmt, op=Call(ADD, (total, value)))]
    return None


def is_better(a: Share | None, b: Share | None, facts: Facts) -> bool:
    """Return whether one product of two shares is less than two: they have factors in common, or results of one function."""
    if a is None or b is None:
        return False
    common, of_a, of_b = apart(a.steps, b.steps)
    return bool(common) or not of_a and not of_b or function_of_both(of_a, of_b, facts) is not None


def terms(op: Op | None, x: Var, negative: bool, facts: Facts) -> Iterator[tuple[Var, bool]]:
    """Yield the terms of a sum that adjoints make and nothing else reads, of arrays of one type, and whether each is subtracted."""
    match op:
        case Call(fn, (Var() as a, Var() as b), ()) if fn in (ADD, SUB):
            minus = fn is SUB
        case Update(Var() as a, (), Var() as b, "add" | "sub" as mode):
            minus = mode == "sub"
        case _:
            yield x, negative
            return
    if not all(equal_types(v.type, x.type) for v in (a, b)):
        yield x, negative
        return
    for v, sign in ((a, negative), (b, negative is not minus)):
        yield from terms(facts.op(v) if is_spent(v, facts) else None, v, sign, facts)


def of_masks(stmt: Stmt, p: Var, q: Var, facts: Facts) -> list[Stmt] | None:
    """Return the sum of `d` and of a part of `d`, each where a mask holds, as one product; `0.5 * mask` is of double precision."""
    match facts.call(p, MUL), facts.call(q, MUL):
        case Call(_, (Var(type=Array() as t) as d, Var() as c)), Call(_, (Var() as part, Var() as e)) if (
            kind_of(c.type) == kind_of(e.type) == "bool" and same_dtype(t.dtype, np.dtype(float))
        ):
            divided = facts.call(part, DIV)
            if divided and divided.args[0] is d and is_const(divided.args[1], 2) and all(is_spent(x, facts) for x in (p, q, part)):
                build = Builder().at(stmt)
                share = build.call(ADD, c, build.call(MUL, Const(0.5), e))
                return [*build.stmts, replace(stmt, op=Call(MUL, (d, share)))]
    return None


def is_spent(x: Atom, facts: Facts) -> bool:
    """Return whether an adjoint makes a value in the block of the statement that is visited, and nothing else reads it."""
    return facts.uses[x] == 1 and facts.scopes.get(x) == facts.scope and generated(facts.definitions[x])


def sum_of_shares(build: Builder, p: Var, q: Var, negative: tuple[bool, bool], facts: Facts) -> Atom | None:
    """Emit the sum of two products, each of which may be negated first; None if they are no shares of one choice."""
    a = share(p, facts)
    b = None if a is None else share(q, facts)
    if b is None or a.first is b.first or a.condition is not b.condition or not same(a.d, b.d):
        return None
    a, b = (v.negated() if minus else v for v, minus in zip((a, b), negative))
    return product(build, *((a, b) if a.first else (b, a)), facts)


def share(x: Atom, facts: Facts) -> Share | None:
    """Return the product that a value is with one arm's share of a cotangent; None if it is none, or if more reads it or its parts."""
    match facts.op(x):
        case Call(np.where, (Var() as c, d, zero), ()) if is_const(zero, 0):
            return Share(c, d, True)
        case Call(np.where, (Var() as c, zero, d), ()) if is_const(zero, 0):
            return Share(c, d, False)
    if not is_spent(x, facts):
        return None
    match facts.op(x):
        case Call(fn, (Var() as a,), ()) if fn is NEG:
            found = share(a, facts)
            return found and found.negated()
        case Call(fn, (a, b), ()) if fn is MUL:
            for one, other in ((a, b), (b, a)):
                if isinstance(one, Var) and (found := share(one, facts)) is not None:
                    return found.then(MUL, other)
        case Call(fn, (Var() as a, b), ()) if fn is DIV:
            found = share(a, facts)
            return found and found.then(DIV, b)
    return None


def product(build: Builder, a: Share, b: Share, facts: Facts) -> Atom:
    """Emit the sum of the shares of the first and the second arm."""
    common, of_a, of_b = apart(a.steps, b.steps)
    outside: Atom = a.d
    negative = a.negative and b.negative
    if of_a or of_b or a.negative is not b.negative:
        signs = (a.negative and not negative, b.negative and not negative)
        function = function_of_both(of_a, of_b, facts)
        if function is not None:
            u, v = (steps[0][1] for steps in (of_a, of_b))
            chosen = build.call(np.where, a.condition, facts.op(u).args[0], facts.op(v).args[0], name="chosen")
            chosen = build.call(function, chosen)
            if any(signs):
                outside = chosen_of(build, a.condition, outside, outside, signs)
            outside = build.call(MUL, outside, chosen)
        else:
            within = not all(steps and steps[0][0] is MUL for steps in (of_a, of_b))
            parts = [multiplied(build, outside if within else None, steps) for steps in (of_a, of_b)]
            if all(map(is_literal, parts)):  # which NumPy would take for float64
                parts, within = [multiplied(build, outside, steps) for steps in (of_a, of_b)], True
            chosen = chosen_of(build, a.condition, *parts, signs)
            outside = chosen if within else build.call(MUL, outside, chosen)
    result = multiplied(build, outside, common)
    return build.call(NEG, result) if negative else result


def apart(of_a: tuple[Step, ...], of_b: tuple[Step, ...]) -> tuple[list[Step], list[Step], list[Step]]:
    """Return the steps of both products, and the others of each; factors come first, so that a product can begin with them."""
    common, left, rest = [], [], list(of_b)
    for fn, x in of_a:
        at = next((k for k, (other, y) in enumerate(rest) if other is fn and same(x, y)), None)
        (left if at is None else common).append((fn, x))
        if at is not None:
            del rest[at]
    return common, *(sorted(steps, key=lambda step: step[0] is DIV) for steps in (left, rest))


def multiplied(build: Builder, first: Atom | None, steps: list[Step]) -> Atom:
    """Emit the product of a number, if there is one, with the factors and divisors of the steps."""
    for fn, x in steps:
        first = x if first is None else build.call(fn, first, x)
    return first


def chosen_of(build: Builder, condition: Atom, a: Atom, b: Atom, negative: tuple[bool, bool]) -> Var:
    """Emit the choice between two values, each of which may be negated first."""
    a, b = (build.call(NEG, x) if minus else x for x, minus in zip((a, b), negative))
    return build.call(np.where, condition, a, b, name="chosen")


def function_of_both(of_a: list[Step], of_b: list[Step], facts: Facts):
    """Return the function that both products have one result of, if it is worth to be called once and nothing else reads the results."""
    if not all(len(steps) == 1 and steps[0][0] is MUL and isinstance(steps[0][1], Var) for steps in (of_a, of_b)):
        return None
    results = [steps[0][1] for steps in (of_a, of_b)]
    match list(map(facts.op, results)):
        case [Call(fn, (Var() as u,), ()), Call(other, (Var() as v,), ())] if fn is other and isinstance(fn, Hashable):
            alike = u.type == v.type and isinstance(u.type, Array) and bool(u.type.dims)
            record = record_of(fn)
            costly = record.is_elementwise(1) and not record.cheap and not record.effect and record.pure
            return fn if alike and costly and all(facts.uses[r] == 1 for r in results) else None
    return None


# ---- signs ----


def multiply_by_signs(function: Function) -> Function:
    """Return the function with products with one array of signs in place of several choices between a value and its negative."""
    negations = {s.targets[0]: s.op.args[0] for s in walk(function.body) if isinstance(s.op, Call) and s.op.fn is NEG}
    found = {s: signed for s in walk(function.body) if (signed := choice_of_sign(s, negations)) is not None}
    counts = Counter(c for c, _, _ in found.values())
    if max(counts.values(), default=0) < 2:
        return function
    signs: dict[tuple[Var, np.dtype], tuple[Var, int]] = {}

    def rule(stmt: Stmt, facts: Facts) -> list[Stmt] | None:
        c, x, first = choice_of_sign(stmt, negations) or (None, None, False)
        if counts[c] < 2:
            return None
        build, dtype = Builder().at(stmt), x.type.dtype
        sign, scope = signs.get((c, dtype), (None, None))
        if scope not in facts.open:
            two = Const(2.0) if same_dtype(dtype, np.dtype(float)) else build.call(dtype.type, Const(2.0))
            sign = build.call(SUB, build.call(MUL, two, c), Const(1.0), name="sign")
            signs[c, dtype] = sign, facts.scope
        value = build.call(MUL, sign, x)
        if not isinstance(value.type, Array) or not same_dtype(value.type.dtype, dtype) or value.type.dims != stmt.targets[0].type.dims:
            return None
        *before, last = build.stmts
        return [*before, replace(stmt, op=last.op)] if first else [*before, last, replace(stmt, op=Call(NEG, (value,)))]

    return peephole(function, rule)


def choice_of_sign(stmt: Stmt, negations: dict[Var, Atom]) -> tuple[Var, Var, bool] | None:
    """Return the condition and the value of a choice between a value and its negative, and whether the value comes first."""
    match stmt.op:
        case Call(np.where, (Var(type=Array()) as c, Var() as a, Var() as b), ()) if generated(stmt) and kind_of(c.type) == "bool":
            for x, other, first in ((a, b, True), (b, a, False)):
                known = isinstance(x.type, Array) and kind_of(x.type) == "float" and x.type.dtype is not None
                if known and isinstance(stmt.targets[0].type, Array) and negations.get(other) is x:
                    return c, x, first
    return None
