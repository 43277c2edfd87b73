"""Takes a factor that both terms of a sum have out of the sum.

    a = mul(s, p); b = mul(s, q); y = add(a, b)     y = mul(s, add(p, q))
    y = sub(mul(p, s), mul(neg(s), q))              y = mul(add(p, q), s)
    y = add(div(p, s), div(q, s))                   y = div(add(p, q), s)
    y = sub(div(p, s), mul(q, div(div(r, s), n)))   y = div(sub(p, mul(q, div(r, n))), s)
    y = add(matmul(p, s), matmul(q, s))             y = matmul(add(p, q), s)
    y = add(add(r, matmul(p, s)), matmul(q, s))     y = add(r, matmul(add(p, q), s))
    y = sub(outer(p, s), outer(q, s))               y = outer(sub(p, q), s)
    d1 = mul(s, p), d2 = d1 with all += mul(s, q)   d2 = mul(s, add(p, q))

So one product is computed in place of two.  This is legal in adjoints, for real numbers, if nothing else reads the terms and the result has
the dtype that it had; its shape is that of all factors in either form.  Matrices whose products are added must be of one shape.  The result
differs by rounding, and where s is not finite.
"""

import operator
from dataclasses import dataclass, replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Call, Const, Function, Stmt, Update, Var, fresh
from sourcead.ir.types import Array, same_dtype
from sourcead.ir.walk import rewrite, with_body
from sourcead.passes.cleanup.constant_folding import generated, is_literal, is_real
from sourcead.passes.cleanup.dead_code import remove_dead
from sourcead.passes.cleanup.literal_factors import is_spent
from sourcead.passes.equality import equal_types
from sourcead.passes.peephole import Facts, peephole

ADD, SUB, MUL, DIV, NEG, MATMUL = operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.matmul
PRODUCTS = (MATMUL, np.outer)


@dataclass(frozen=True, eq=False)
class Quotient:
    """What is left of `factor * (numerator / ... / ...)` without one of the divisors; `place` is the position of the quotient."""

    factor: Atom
    place: int
    numerator: Atom
    divisors: tuple[Atom, ...]

    def write(self, build: Builder) -> Atom:
        quotient = self.numerator
        for divisor in self.divisors:
            quotient = build.call(DIV, quotient, divisor)
        return build.call(MUL, *((self.factor, quotient) if self.place else (quotient, self.factor)))


@dataclass(eq=False)
class Term:
    """One term of a sum as the product, quotient or matrix product of a factor that may be common and of what is left of the term.

    Attributes:
        fn: what connects the two.
        factor: the operand that the other term may have too.
        left: the other operand, or the product that it is without a divisor.
        place: the position of the factor.
        negative: whether the product has the other sign.
    """

    fn: object
    factor: Var
    left: Atom | Quotient
    place: int
    negative: bool


def take_common_factors(function: Function) -> Function:
    """Return the function with one product in place of two that are added or subtracted, where the second of them stood."""
    before = None
    while function is not before:
        before, function = function, _once(function)
    return function


def _once(function: Function) -> Function:
    instead: dict[Var, list[Stmt]] = {}
    done: set[Var] = set()

    def rule(stmt: Stmt, facts: Facts) -> list[Stmt] | None:
        match stmt.op:
            case Call(fn, (Var() as a, Var() as b), ()) if fn is ADD or fn is SUB:
                pass
            case Update(Var() as a, (), Var() as b, "add" | "sub" as mode):
                fn = ADD if mode == "add" else SUB
            case _:
                return None
        made = None if done & {a, b} else _factored(stmt, fn, a, b, facts)
        if made is None:
            return None
        order = list(facts.definitions)
        instead[max(a, b, key=order.index)] = made
        done.update(stmt.targets, (a, b))
        return []

    function = peephole(function, rule)
    if not instead:
        return function
    body = rewrite(function.body, lambda stmt: [*instead.get(stmt.targets[0], ()), stmt] if stmt.targets else [stmt])
    return remove_dead(with_body(function, body))


def _factored(stmt: Stmt, fn, a: Var, b: Var, facts: Facts) -> list[Stmt] | None:
    """Return the statements that compute `fn(a, b)`, a sum or difference, with one product; None if the two have no factor in common."""
    target = stmt.targets[0]
    if not generated(stmt) or not isinstance(target.type, Array) or not is_real(target) or a is b or stmt.within:
        return None
    for first in _terms(a, facts):
        for second in _terms(b, facts):
            if first.fn is second.fn and first.factor is second.factor and (first.fn is MUL or first.place == second.place):
                if (made := _multiplied_once(stmt, first, second, second.negative != (fn is SUB))) is not None:
                    return made
    return _regrouped(stmt, fn, a, b, facts) or (_regrouped(stmt, fn, b, a, facts) if fn is ADD else None)


def _regrouped(stmt: Stmt, fn, a: Var, b: Var, facts: Facts) -> list[Stmt] | None:
    """Return the statements in which a product of matrices joins one of the two terms of a sum; None if it has no factor in common."""
    terms = [t for t in _terms(b, facts) if t.fn is MATMUL]
    if not terms or facts.uses[a] != 1 or a not in facts.definitions or not _in_adjoint(a, facts):
        return None
    if not equal_types(a.type, stmt.targets[0].type):
        return None
    match facts.op(a):
        case Call(operator.add, (p, q), ()) | Update(p, (), q, "add"):
            pairs = (p, q), (q, p)
        case _:
            return None
    for p, other in pairs:
        if isinstance(p, Var) and isinstance(other, Var) and equal_types(p.type, a.type) and equal_types(other.type, a.type):
            for first in _terms(p, facts):
                for second in terms:
                    if first.fn is MATMUL and first.factor is second.factor and first.place == second.place:
                        joined = replace(stmt, targets=(fresh(p),))
                        made = _multiplied_once(joined, first, second, second.negative != (fn is SUB))
                        if made is not None:
                            return [*made, replace(stmt, op=Call(ADD, (other, joined.targets[0])))]
    return None


def _terms(x: Atom, facts: Facts) -> list[Term]:
    """Return the ways to see an array that nothing else reads as a product with a factor."""
    if not isinstance(x, Var) or not is_real(x) or not isinstance(x.type, Array) or not is_spent(x, facts) or not _in_adjoint(x, facts):
        return []
    negative = False
    if negation := facts.call(x, NEG):
        x, negative = negation.args[0], True
        if not isinstance(x, Var) or not is_spent(x, facts) or not _in_adjoint(x, facts):
            return []
    op = facts.call(x, MUL, DIV, *PRODUCTS)
    found = []
    for place in () if op is None else (1,) if op.fn is DIV else (0, 1):
        factor, left = op.args[place], op.args[1 - place]
        sign = negative
        if op.fn not in PRODUCTS and (inner := facts.call(factor, NEG)):
            factor, sign = inner.args[0], not negative
        if op.fn not in PRODUCTS and (inner := facts.call(left, NEG)) and left.temp:
            left, sign = inner.args[0], not sign
        if isinstance(factor, Var) and (isinstance(left, Var) or is_literal(left)):
            found.append(Term(op.fn, factor, left, place, sign))
    for place in (0, 1) if op is not None and op.fn is MUL else ():
        a, sign = op.args[place], negative
        if (inner := facts.call(a, NEG)) and is_spent(a, facts):
            a, sign = inner.args[0], not sign
        divisors: list[Atom] = []
        while (quotient := facts.call(a, DIV)) and is_spent(a, facts):
            a, divisors = quotient.args[0], [quotient.args[1], *divisors]
        for divisor in dict.fromkeys(d for d in divisors if isinstance(d, Var)):
            k = divisors.index(divisor)
            left = Quotient(op.args[1 - place], place, a, (*divisors[:k], *divisors[k + 1 :]))
            found.append(Term(DIV, divisor, left, 1, sign))
    return found


def _in_adjoint(x: Var, facts: Facts) -> bool:
    return generated(facts.definitions[x]) and not facts.definitions[x].within


def _multiplied_once(stmt: Stmt, first: Term, second: Term, negative: bool) -> list[Stmt] | None:
    """Return the product of the common factor and the sum of what is left; `negative` says whether the second term is subtracted."""
    p, q, target = first.left, second.left, stmt.targets[0]
    if isinstance(p, Const) and isinstance(q, Const) or isinstance(p, Quotient) and isinstance(q, Quotient):
        return None
    alike = isinstance(p, Var) and isinstance(q, Var) and equal_types(p.type, q.type)
    if first.fn in PRODUCTS and not (alike and len(p.type.dims) == (2 if first.fn is MATMUL else 1)):
        return None
    build = Builder().at(stmt)
    p, q = (left.write(build) if isinstance(left, Quotient) else left for left in (p, q))
    if first.negative and not negative:
        total = build.call(SUB, q, p)
    else:
        total = build.call(SUB if negative != first.negative else ADD, p, q)
    operands = (first.factor, total) if first.place == 0 else (total, first.factor)
    product = build.call(first.fn, *operands)
    if first.negative and negative:
        product = build.call(NEG, product)
    same = isinstance(product.type, Array) and isinstance(product.type.dtype, type(target.type.dtype))
    if not same or not same_dtype(product.type.dtype, target.type.dtype) or len(product.type.dims or ()) != len(target.type.dims or (0,)):
        return None
    *before, last = build.stmts
    return [*before, replace(stmt, op=last.op)]


