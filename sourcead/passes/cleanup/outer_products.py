"""Multiplies by the vectors of an outer product, one after the other, in place of the matrix that they make.

    y = matmul(x, outer(u, v))                    y = outer(matmul(x, u), v)
    y = matmul(outer(u, v), x)                    y = outer(u, matmul(v, x))
    y = matmul(x, outer(u, v))                    y = mul(matmul(x, u), v)             x: a vector
    y = matmul(x, neg(outer(u, v)))               y = outer(neg(matmul(x, u)), v)
    y = transpose(add(outer(u, v), p))            y = add(outer(v, u), transpose(p))

So n * m numbers are multiplied in place of n * m * k.  For generated statements, vectors and matrices; the result differs by rounding.
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Call, Stmt, Update, Var
from sourcead.ir.types import rank
from sourcead.passes.cleanup.constant_folding import generated, is_real
from sourcead.passes.equality import equal_types
from sourcead.passes.peephole import Facts

MATMUL, NEG = operator.matmul, operator.neg


def product_with_outer(stmt: Stmt, a: Atom, b: Atom, facts: Facts) -> list[Stmt] | None:
    """Return the statements for a product of matrices of which one is an outer product, None for others."""
    if not generated(stmt) or stmt.within or not is_real(stmt.targets[0]):
        return None
    for x, matrix, before in ((a, b, True), (b, a, False)):
        found = vectors(matrix, facts)
        if found is None or not isinstance(x, Var) or rank(x.type) not in (1, 2):
            continue
        u, v, negative = found
        build = Builder().at(stmt)
        along = build.call(MATMUL, *((x, u) if before else (v, x)), name="product")
        if negative:
            along = build.call(NEG, along, name="product")
        if rank(x.type) == 2:
            build.call(np.outer, *((along, v) if before else (u, along)))
        else:
            build.call(operator.mul, along, v if before else u)
        *made, last = build.stmts
        return [*made, replace(stmt, op=last.op)]
    return None


def vectors(matrix: Atom, facts: Facts) -> tuple[Var, Var, bool] | None:
    """Return the vectors of which a matrix is the outer product, and whether it is the negative of that; None for other matrices."""
    negation = facts.call(matrix, NEG)
    op = facts.call(negation.args[0] if negation else matrix, np.outer)
    if op is None or op.kwargs or len(op.args) != 2 or not all(isinstance(v, Var) and is_real(v) and rank(v.type) == 1 for v in op.args):
        return None
    return *op.args, negation is not None


def transposed_sum(stmt: Stmt, x: Var, facts: Facts) -> list[Stmt] | None:
    """Return the sum of the transposes of two products of which one is an outer product, in place of the transpose of their sum."""
    match facts.op(x):
        case Call(operator.add | operator.sub as fn, (Var() as p, Var() as q), ()):
            pass
        case Update(Var() as p, (), Var() as q, "add" | "sub" as mode):
            fn = operator.add if mode == "add" else operator.sub
        case _:
            return None
    t, products = stmt.targets[0].type, [facts.call(p, np.outer, MATMUL), facts.call(q, np.outer, MATMUL)]
    if not generated(stmt) or stmt.within or not all(facts.uses[v] == 1 for v in (x, p, q)) or rank(x.type) != 2:
        return None
    if None in products or all(op.fn is MATMUL for op in products) or not all(equal_types(v.type, x.type) for v in (p, q)):
        return None
    parts = [Var("product", t, True) for _ in products]
    made = [replace(stmt, targets=(part,), op=Call(np.transpose, (v,))) for part, v in zip(parts, (p, q))]
    return [*made, replace(stmt, op=Call(fn, tuple(parts)))]
