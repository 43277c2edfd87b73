"""Joins the literal factors of a product, and adds equal contributions once.

    y = mul(2, mul(0.5, x))                         y = x
    y = mul(mul(1.0, k), x)                         y = mul(k, x) for an integer k
    y = div(2, mul(0.5, x))                         y = div(4.0, x)
    y = mul(2, div(v, mul(2, s)))                   y = div(v, s)
    y = mul(2, neg(x))                              y = mul(-2, x)
    y = mul(2, mul(expand_dims(mul(-0.5, v), 1), x))      y = mul(expand_dims(neg(v), 1), x)
    d1 = d0 with all += p, d2 = d1 with all += p    d2 = d0 with all += mul(2, p)

A literal goes to the literal that it meets first on its way through the products, quotients, signs and new axes in a product.  This is
legal in adjoints, for real numbers, if nothing else reads what the literals are taken out of, and the product of the literals is exact.
Rounding and overflow may differ.
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Call, Const, Stmt, Update, Var, fresh
from sourcead.ir.types import INT, Array, Scalar, dims_of, kind_of
from sourcead.passes.cleanup.constant_folding import exact, generated, is_literal, is_real
from sourcead.passes.equality import equal_types
from sourcead.passes.peephole import Facts

MUL, DIV, NEG = operator.mul, operator.truediv, operator.neg
FORMS = (np.expand_dims, np.transpose)


def joined(stmt: Stmt, fn, a: Atom, b: Atom, facts: Facts) -> Atom | Call | list[Stmt] | None:
    """Return what replaces a product with a literal, or a literal divided by a product; None if no literal joins another."""
    if not generated(stmt) or not is_real(stmt.targets[0]):
        return None
    if fn is DIV:
        return _over_literal(stmt, a, b, facts)
    for x, other in ((a, b), (b, a)):
        if (k := integer_as_float(x, facts)) is not None and is_real(other):
            return Call(MUL, (k, other) if x is a else (other, k))
    for c, x in ((a, b), (b, a)):
        if (whole := _cancelled(c, x, facts)) is not None and _same(whole, stmt.targets[0]):
            return whole
        if is_literal(c) and c.value and type(c.value) is not bool and (found := absorbed(c.value, x, facts)) is not None:
            before, value = found
            if not _same(value, stmt.targets[0]):
                continue
            if not before:
                return value
            last = before[-1]  # an error of a quotient belongs to the line that divides
            return [*before[:-1], replace(stmt, op=last.op, origin=last.origin if last.op.fn is DIV else stmt.origin)]
    for c, x in ((a, b), (b, a)):
        negation = facts.call(x, NEG) if is_literal(c) and type(c.value) is not bool else None
        if negation and is_spent(x, facts) and _same(x, negation.args[0]):
            return Call(MUL, (Const(-c.value), negation.args[0]))
    return None


def _cancelled(c: Atom, x: Atom, facts: Facts) -> Var | None:
    """Return y for 2 * (0.5 * y), whoever else reads the product."""
    product = facts.call(x, MUL)
    for k, y in (product.args, product.args[::-1]) if product and is_literal(c) else ():
        if is_literal(k) and not {type(k.value), type(c.value)} & {bool, complex} and exact(MUL, c.value, k.value) == 1 and _same(x, y):
            return y
    return None


def integer_as_float(x: Atom, facts: Facts) -> Atom | None:
    """Return k for 1.0 * k, Python's integer k as a float, which it becomes anyway where it is multiplied with one."""
    product = facts.call(x, MUL)
    if not product or not is_spent(x, facts):
        return None
    for one, k in (product.args, product.args[::-1]):
        if is_literal(one) and type(one.value) is float and one.value == 1 and isinstance(t := atom_type(k), Scalar):
            return k if t == INT or t.kind == "float" else None
    return None


def _over_literal(stmt: Stmt, c: Atom, b: Atom, facts: Facts) -> list[Stmt] | None:
    """Simplify c / (k * x) to (c / k) / x."""
    product = facts.call(b, MUL)
    if not (product and is_literal(c) and is_spent(b, facts)):
        return None
    k, x = product.args if is_literal(product.args[0]) else product.args[::-1]
    value = exact(DIV, c.value, k.value) if is_literal(k) and k.value and _same(b, x) else None
    return None if value is None else [replace(stmt, op=Call(DIV, (Const(value), x)))]


def absorbed(c: int | float, x: Atom, facts: Facts) -> tuple[list[Stmt], Var] | None:
    """Return statements that compute c * x without a product for c, and their result; None if there is no way."""
    if not isinstance(x, Var) or not is_real(x) or not is_spent(x, facts) or not isinstance(op := facts.op(x), Call) or op.effect:
        return None
    if op.fn in FORMS and op.args:
        return _through(x, op, 0, absorbed(c, op.args[0], facts), facts)
    if op.kwargs or op.fn not in (MUL, DIV, NEG):
        return None
    for i, k in enumerate(op.args[:1] if op.fn is DIV else op.args):
        if not is_literal(k) or type(k.value) is bool or op.fn is NEG:
            continue
        other = op.args[1 - i]
        as_float = type(k.value) is float and isinstance(other, (Var, Const)) and atom_type(other) == INT  # 0.2 * n of an integer n
        value = exact(MUL, c, k.value) if op.fn is DIV or _same(x, other) or as_float else None
        if value is None:
            return None
        if value == 1 and op.fn is MUL and not as_float:
            return [], other
        negative = value == -1 and op.fn is MUL and not as_float
        new = Call(NEG, (other,)) if negative else Call(op.fn, (Const(float(value) if as_float else value), other))
        return _computed(x, new, [], facts)
    for i, a in enumerate(op.args):
        factor = exact(DIV, 1, c) if op.fn is DIV and i == 1 else c
        if factor is not None and (found := _through(x, op, i, absorbed(factor, a, facts), facts)) is not None:
            return found
    return None


def _through(x: Var, op: Call, i: int, found: tuple[list[Stmt], Var] | None, facts: Facts) -> tuple[list[Stmt], Var] | None:
    """Return the operation with another value of its i-th argument, after the statements that compute that."""
    if found is None or not _same(op.args[i], found[1]):
        return None
    return _computed(x, replace(op, args=(*op.args[:i], found[1], *op.args[i + 1 :])), found[0], facts)


def _computed(x: Var, op: Call, before: list[Stmt], facts: Facts) -> tuple[list[Stmt], Var]:
    var = fresh(x)
    return [*before, replace(facts.definitions[x], targets=(var,), op=op)], var


def _same(a: Atom, b: Atom) -> bool:
    """Return whether two variables have one type, so that one may stand for the other."""
    if not isinstance(a, Var) or not isinstance(b, Var):
        return False
    return equal_types(a.type, b.type) or isinstance(a.type, Scalar) and a.type == b.type


def is_spent(x: Var, facts: Facts, readers: int = 1) -> bool:
    """Return whether a value without a name is made in the block that is visited and read there only, by so many operations."""
    return facts.uses[x] == readers and x.temp and facts.scopes.get(x) == facts.scope


def added_twice(stmt: Stmt, facts: Facts) -> list[Stmt] | None:
    """Return one update in place of two with the same value that nothing stands between; None for others."""
    op: Update = stmt.op
    p, before = op.value, facts.op(op.base)
    if not generated(stmt) or not isinstance(p, Var) or not isinstance(p.type, Array) or kind_of(p.type) != "float":
        return None  # twice an integer of few bits may not have room in them
    if not isinstance(before, Update) or before.path or before.value is not p or before.mode != op.mode or before.base is p:
        return None
    if not is_spent(op.base, facts):
        return None
    made = facts.op(p) if is_spent(p, facts, 2) else None
    small = _smaller(made) if isinstance(made, Call) and made.fn is MUL and not made.kwargs else None
    if small is None:
        var = fresh(p, name="twice", temp=True)
        twice = [replace(stmt, targets=(var,), op=Call(MUL, (Const(2), p)))]
    else:
        factor = fresh(made.args[small])
        twice, var = _computed(p, replace(made, args=tuple(factor if k == small else a for k, a in enumerate(made.args))), [], facts)
        twice.insert(0, replace(stmt, targets=(factor,), op=Call(MUL, (Const(2), made.args[small]))))
    return [*twice, replace(stmt, op=replace(before, value=var))]


def _smaller(product: Call) -> int | None:
    """Return which of the two factors of a product has fewer elements for sure; None if neither has."""
    dims = [dims_of(a.type) if isinstance(a, Var) and is_real(a) else None for a in product.args]
    if None in dims:
        return None
    for k, (own, other) in enumerate((dims, dims[::-1])):
        if not own and other or len(own) == len(other) and own != other and all(m is n or m == 1 for m, n in zip(own, other)):
            return k
    return None
