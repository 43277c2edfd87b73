"""Multiplies with a quotient or a product that is there in place of another division by the same value, or of two products.

    q = div(d, s), y = div(mul(d, n), s)            y = mul(q, n)
    q = div(x, s), y = mul(divide_or_zero(a, s), x)     y = mul(a, q)
    q = mul(b, c), y = mul(mul(a, b), c)            y = mul(a, q)

The adjoint of a quotient n / s needs both; that of a norm, by which x is divided, the last.  The adjoint of b * exp(x) multiplies by
b, and then by the exponential.  This is legal in adjoints, if nothing else reads the product that is no longer made, and pays where
the product that is there is no larger than its larger factor, and not written later.  The result differs by rounding, and where the
quotient or the product overflows or is not a number.
"""

import operator
from dataclasses import replace

from sourcead import runtime
from sourcead.ir.nodes import Atom, Call, Function, Stmt, Update, Var, fresh
from sourcead.ir.types import Array, Scalar, same_dtype
from sourcead.passes.cleanup.constant_folding import generated, is_real
from sourcead.passes.cleanup.literal_factors import is_spent
from sourcead.passes.equality import equal_types
from sourcead.passes.peephole import Facts, peephole

MUL, DIV = operator.mul, operator.truediv


def reuse_quotients(function: Function) -> Function:
    """Return the function with products with known quotients and products in place of quotients of products and of products."""
    quotients: dict[tuple[Atom, Atom], Var] = {}
    of_user: dict[tuple[Atom, Atom], Var] = {}
    products: dict[frozenset[Atom], Var] = {}

    def rule(stmt: Stmt, facts: Facts) -> Call | list[Stmt] | None:
        match stmt.op:
            case Call(fn, (Var() as x, Var() as s), ()) if fn is DIV and generated(stmt) and is_real(stmt.targets[0]):
                found = by_quotient(stmt, x, s, quotients, facts)
                if found is None:
                    quotients[x, s] = stmt.targets[0]
                return found
            case Call(fn, (Var() as x, Var() as s), ()) if fn is DIV and is_real(stmt.targets[0]):
                of_user[x, s] = stmt.targets[0]
            case Call(fn, (Var() as a, Var() as b), ()) if fn is MUL and is_real(stmt.targets[0]):
                found = None
                if generated(stmt):
                    found = by_norm(a, b, of_user, facts) or by_norm(b, a, of_user, facts)
                    found = found or by_product(stmt, a, b, products, facts) or by_product(stmt, b, a, products, facts)
                if found is None:
                    products[frozenset((a, b))] = stmt.targets[0]
                return found
        return None

    return peephole(function, rule)


def by_quotient(stmt: Stmt, x: Var, s: Var, quotients: dict[tuple[Atom, Atom], Var], facts: Facts) -> Call | list[Stmt] | None:
    """Return the product that is equal to x / s, with the quotient of one factor of x or of its negative; None if no quotient is known."""
    product = facts.call(x, MUL)
    if product is None or not is_spent(x, facts) or not isinstance(x.type, Array) or not equal_types(x.type, stmt.targets[0].type):
        return None
    for k, d in enumerate(product.args):
        negation = facts.call(d, operator.neg)
        d = negation.args[0] if negation else d
        q, n = quotients.get((d, s)), product.args[1 - k]
        if q is None or facts.scopes.get(q) not in facts.open or not equal_types(d.type, q.type) or not isinstance(n, Var):
            continue
        if is_real(n) and (isinstance(n.type, Array) and same_dtype(n.type.dtype, q.type.dtype) or n.type == Scalar("float")):
            op = Call(MUL, (q, n) if k == 0 else (n, q))
            positive = fresh(x)
            return [replace(stmt, targets=(positive,), op=op), replace(stmt, op=Call(operator.neg, (positive,)))] if negation else op
    return None


def by_norm(slope: Var, x: Var, quotients: dict[tuple[Atom, Atom], Var], facts: Facts) -> Call | None:
    """Return the product that is equal to (a / s) * x, with the quotient x / s that the user's program has; None if it has none."""
    division = facts.call(slope, runtime.divide_or_zero)
    q = quotients.get((x, division.args[1])) if division is not None and is_spent(slope, facts) else None
    if q is None or facts.scopes.get(q) not in facts.open or not equal_types(x.type, q.type) or not isinstance(division.args[0], Var):
        return None
    return Call(MUL, (division.args[0], q)) if equal_types(division.args[0].type, slope.type) else None


def by_product(stmt: Stmt, x: Var, c: Var, products: dict[frozenset[Atom], Var], facts: Facts) -> Call | None:
    """Return the product that is equal to x * c, with the product of c and one factor of x, if that is known."""
    product = facts.call(x, MUL)
    if product is None or not is_spent(x, facts) or not equal_types(x.type, stmt.targets[0].type):
        return None
    for b, a in (product.args, product.args[::-1]):
        q = products.get(frozenset((b, c))) if isinstance(b, Var) and isinstance(a, Var) else None
        if q is None or facts.scopes.get(q) not in facts.open or any(isinstance(op, Update) for op in facts.readers.get(q, ())):
            continue
        if not any(equal_types(q.type, v.type) for v in (b, c)) or not (is_real(a) and isinstance(a.type, Array)):
            continue
        if same_dtype(a.type.dtype, q.type.dtype) if isinstance(q.type, Array) else q.type == Scalar("float"):
            return Call(MUL, (a, q))
    return None
