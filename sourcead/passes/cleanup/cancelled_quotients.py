"""Quotients that cancel, as those of the entropy do.

    y = mul(div(v, c), c)                        y = v
    y = mul(div(v, mul(c, h)), c)                y = div(v, h)
    y = div(p, div(p, q))                        y = q
    y = div(div(v, div(p, q)), q)                y = div(v, p)
    y = div(mul(c, w), w)                        y = c
    y = mul(x, div(w, w))                        y = x
    y = add(x, div(mul(c, w), w))                y = add(x, c)             c: a number

For generated statements only: both sides are equal but for rounding, and where the divisor is 0, for which the quotients are not finite.
"""

import operator
from dataclasses import replace

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Call, Const, Stmt, Update, Var, fresh
from sourcead.ir.types import Scalar
from sourcead.passes.cleanup.constant_folding import generated, is_real, same_operand_type
from sourcead.passes.peephole import Facts

ADD, SUB, MUL, DIV, NEG = operator.add, operator.sub, operator.mul, operator.truediv, operator.neg


def times_divisor(stmt: Stmt, x: Atom, c: Atom, facts: Facts) -> tuple[list[Stmt], Atom] | None:
    """Return v for x = v / c, v / h for x = v / (c * h), v + w for x = v / c + w / c, and -v for x = -(v / c), after their statements.

    Each is `x * c`.
    """
    if not isinstance(x, Var) or not generated(stmt) or not is_real(x) or facts.uses[x] != 1 or not x.temp:
        return None
    match facts.op(x):
        case Call(operator.truediv, (Var() as v, divisor), ()) if divisor is c:
            return ([], v) if same_operand_type(stmt.targets[0], v) else None
        case Call(operator.truediv, (v, Var() as divisor), ()):
            h = _other_factor(divisor, c, facts)
            if h is None or not any(same_operand_type(stmt.targets[0], part) for part in (v, h)):
                return None
            quotient = replace(facts.definitions[x], targets=(fresh(x),), op=Call(DIV, (v, h)))
            return [quotient], quotient.targets[0]
        case Call(operator.add | operator.sub | operator.neg as fn, terms, ()):
            pass
        case Update(base, (), value, "add" | "sub" as mode):
            fn, terms = ADD if mode == "add" else SUB, (base, value)
        case _:
            return None
    found = [times_divisor(stmt, term, c, facts) for term in terms]
    if None in found:
        return None
    last = replace(stmt, targets=(fresh(x),), op=Call(fn, tuple(value for _, value in found)))
    return [*(s for before, _ in found for s in before), last], last.targets[0]


def _other_factor(product: Atom, factor: Atom, facts: Facts) -> Atom | None:
    """Return the other factor of a product that has a factor, else None."""
    call = facts.call(product, MUL)
    return next((b for a, b in (call.args, call.args[::-1]) if a is factor), None) if call else None


def quotient_that_cancels(stmt: Stmt, a: Atom, b: Atom, facts: Facts) -> Atom | Call | None:
    """Return q for p / (p / q), v / p for v / (p / q) / q, c for (c * w) / w, -c for (c * -w) / w, and x for x / (w / w)."""
    if not generated(stmt) or not is_real(stmt.targets[0]):
        return None
    if (outer := facts.call(a, DIV)) and facts.uses[a] == 1 and a.temp and (inner := facts.call(outer.args[1], DIV)):
        p, q = inner.args
        if q is b and isinstance(q, Var) and same_operand_type(stmt.targets[0], p):
            return Call(DIV, (outer.args[0], p))
    inner, product = facts.call(b, DIV), facts.call(a, MUL)
    found, minus = inner.args[1] if inner and inner.args[0] is a else _other_factor(a, b, facts), None
    if found is None and _is_one(b, facts):
        found = a
    for c, w in (product.args, product.args[::-1]) if found is None and product else ():
        if (negation := facts.call(w, NEG)) and negation.args[0] is b:
            found, minus = c, Call(NEG, (c,))
    return (minus or found) if isinstance(found, Var) and same_operand_type(stmt.targets[0], found) else None


def product_with_one(stmt: Stmt, a: Atom, b: Atom, facts: Facts) -> Atom | None:
    """Return x for x * (w / w)."""
    for x, one in ((a, b), (b, a)) if generated(stmt) else ():
        if _is_one(one, facts) and same_operand_type(stmt.targets[0], x):
            return x
    return None


def sum_with_number(stmt: Stmt, fn, a: Atom, b: Atom, facts: Facts) -> Call | None:
    """Return x + c for x + (c * w) / w, and likewise for differences, where x has the shape and dtype of the sum."""
    for x, term in ((a, b), (b, a)) if generated(stmt) else ():
        turned, number = fn is SUB and term is a, _number(term, facts)
        if number is not None and same_operand_type(stmt.targets[0], x):
            return Call(fn, (number, x) if turned else (x, number))
    return None


def contribution_of_number(stmt: Stmt, op: Update, facts: Facts) -> Update | None:
    """Return d += c for d += (c * w) / w."""
    number = _number(op.value, facts) if generated(stmt) and not op.path else None
    return replace(op, value=number) if number is not None and same_operand_type(op.base, op.value) else None


def _is_one(quotient: Atom, facts: Facts) -> bool:
    number = _number(quotient, facts)
    return isinstance(number, Const) and number.value == 1


def _number(quotient: Atom, facts: Facts) -> Atom | None:
    """Return the number that each element of a quotient is, 1.0 for w / w and c for (c * w) / w; None if it is none."""
    call = facts.call(quotient, DIV) if isinstance(quotient, Var) and is_real(quotient) else None
    if not call or not isinstance(call.args[1], Var):
        return None
    w = call.args[1]
    if call.args[0] is w:
        return Const(1.0)
    c = _other_factor(call.args[0], w, facts)
    t = None if c is None else atom_type(c)
    weak = isinstance(t, Scalar) and t.kind == "float" and t.dtype is None  # so that a sum with it has the dtype of the other term
    return c if weak and is_real(w) else None
