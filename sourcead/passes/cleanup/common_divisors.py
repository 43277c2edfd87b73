"""Divides once by what all multiples of a cotangent are divided by.

    v = div(n, s)                                        m = div(n, g);  w = div(m, s)
    p = div(mul(v, a), g);  q = div(mul(b, v), g)        p = mul(w, a);  q = mul(b, w)

The adjoint of a soft minimum divides the cotangent of each operand by the temperature, where a person divides the cotangent of the result.
This is legal in adjoints, if nothing else reads `v` and the products, and all have one type.  The result differs by rounding.
"""

import operator
from dataclasses import replace

from sourcead.ir.nodes import Call, Function, Op, Stmt, Var, fresh
from sourcead.ir.walk import walk
from sourcead.passes.cleanup.constant_folding import generated, is_real
from sourcead.passes.equality import equal_types
from sourcead.passes.peephole import Facts, peephole

MUL, DIV = operator.mul, operator.truediv


def divide_once(function: Function) -> Function:
    """Return the function with one division in place of several by the same value."""
    results: dict[Op, Var] = {}
    divided: dict[Var, Var] = {}  # by the quotient that takes its place, for each cotangent

    def rule(stmt: Stmt, facts: Facts) -> Var | list[Stmt] | None:
        if not results:
            made = (s for s in walk(function.body) if len(s.targets) == 1 and generated(s))
            results.update((s.op, s.targets[0]) for s in made if is_real(s.targets[0]))
        match stmt.op:
            case Call(fn, (Var() as a, Var() as b), ()) if fn is MUL and generated(stmt):
                for v in (a, b):
                    before = [] if v in divided else quotient(v, results, divided, facts)
                    if before is not None:
                        w = divided[v]
                        return [*before, replace(stmt, op=Call(MUL, tuple(w if x is v else x for x in (a, b))))]
            case Call(fn, (Var() as p, Var()), ()) if fn is DIV:
                product = facts.call(p, MUL)
                if product is not None and any(w in divided.values() for w in product.args):
                    return p
        return None

    return peephole(function, rule)


def quotient(v: Var, results: dict[Op, Var], divided: dict[Var, Var], facts: Facts) -> list[Stmt] | None:
    """Return the statements that divide a value by what all its multiples are divided by, and note the result; None if they are not."""
    made, readers = facts.definitions.get(v), facts.readers.get(v, ())
    if made is None or not generated(made) or not v.temp or not is_real(v) or len(readers) < 2 or facts.scopes.get(v) != facts.scope:
        return None
    divisors = set()
    for op in readers:
        p = results.get(op) if isinstance(op, Call) and op.fn is MUL and not op.kwargs else None
        last = facts.readers.get(p, ()) if p is not None and p.temp and op.args.count(v) == 1 else ()
        if len(last) != 1 or not isinstance(last[0], Call) or last[0].fn is not DIV or last[0].args[0] is not p or last[0] not in results:
            return None
        if not equal_types(p.type, v.type) or not equal_types(results[last[0]].type, v.type):
            return None
        divisors.add(last[0].args[1])
    g = divisors.pop()
    if divisors or not isinstance(g, Var) or not (facts.scopes.get(g) in facts.open or g in facts.function.params):
        return None
    op, stmts, n = made.op, [], v
    if isinstance(op, Call) and op.fn is DIV and not op.kwargs and isinstance(op.args[0], Var) and equal_types(op.args[0].type, v.type):
        n = fresh(op.args[0])
        stmts.append(replace(made, targets=(n,), op=Call(DIV, (op.args[0], g))))
        divided[v] = fresh(v)
        return [*stmts, replace(made, targets=(divided[v],), op=Call(DIV, (n, op.args[1])))]
    divided[v] = fresh(v)
    return [replace(made, targets=(divided[v],), op=Call(DIV, (v, g)))]
