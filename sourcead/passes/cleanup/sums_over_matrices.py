"""Sums over all elements of a product with a matrix that is known by vectors, without the matrix.

    y = sum(mul(x, eye(n)))                    y = trace(x)
    y = sum(mul(mul(outer(u, v), a), b))       y = matmul(u, matmul(mul(a, b), v))
    y = trace(outer(u, v))                     y = dot(u, v)

This is legal in adjoints, if the other factors together have the shape of the matrix: what they are broadcast to would be summed too.
The result differs by rounding.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Call, Function, Stmt, Var
from sourcead.ir.types import Array, kind_of, rank, same_dtype
from sourcead.passes.cleanup.constant_folding import generated
from sourcead.passes.equality import KnownDims
from sourcead.passes.peephole import Facts, peephole

MUL, MATMUL = operator.mul, operator.matmul


def contract_sums(function: Function) -> Function:
    """Return the function with sums over products with an identity or an outer product written by the diagonal or the vectors."""
    dims = KnownDims()

    def rule(stmt: Stmt, facts: Facts) -> list[Stmt] | None:
        dims.learn(stmt, facts)
        match stmt.op:
            case Call(np.sum, (Var() as x,), ()) if generated(stmt) and is_matrix(x):
                return contracted(stmt, x, facts, dims)
        return None

    return peephole(function, rule)


def contracted(stmt: Stmt, x: Var, facts: Facts, dims: KnownDims) -> list[Stmt] | None:
    """Return the sum over a product, without the matrix among its factors that is known by vectors; None if there is none."""
    factors = factors_of(x, facts)
    at = next((k for k, f in enumerate(factors) if is_identity(f, facts) or vectors_of(f, facts)), None)
    if at is None or len(factors) == 1:
        return None
    matrix, others = factors[at], [f for k, f in enumerate(factors) if k != at]
    build = Builder().at(stmt)
    rest = others[0]
    for f in others[1:]:
        rest = build.call(MUL, rest, f)
    shape = dims.shape(matrix.type, facts)
    if not is_matrix(rest) or shape is None or shape != dims.shape(rest.type, facts):
        return None
    if (vectors := vectors_of(matrix, facts)) is not None:
        u, v = vectors
        if len(others) == 1 and is_identity(rest, facts):
            result = build.call(MATMUL, u, v, name="product")
        else:
            result = build.call(MATMUL, u, build.call(MATMUL, rest, v, name="product"), name="product")
    else:
        result = build.call(np.trace, rest)
    t = stmt.targets[0].type
    if kind_of(result.type) != kind_of(t) or not same_dtype(getattr(result.type, "dtype", None), getattr(t, "dtype", None)):
        return None
    return [*build.stmts[:-1], replace(stmt, op=build.stmts[-1].op)]


def factors_of(x: Atom, facts: Facts) -> list[Atom]:
    """Return the factors of a product that nothing else reads, in order."""
    match facts.op(x):
        case Call(fn, (Var() as a, Var() as b), ()) if fn is MUL and facts.uses[x] == 1 and facts.scopes.get(x) == facts.scope:
            return [*factors_of(a, facts), *factors_of(b, facts)]
    return [x]


def is_matrix(x: Atom) -> bool:
    """Return whether a variable is a matrix of real floating point numbers."""
    return isinstance(x, Var) and isinstance(x.type, Array) and rank(x.type) == 2 and kind_of(x.type) == "float"


def is_identity(x: Atom, facts: Facts) -> bool:
    """Return whether a value is an identity matrix of floating point numbers."""
    match facts.op(x):
        case Call(np.eye | np.identity, (_,), kwargs):
            return is_matrix(x) and all(name == "dtype" for name, _ in kwargs)
    return False


def vectors_of(x: Atom, facts: Facts) -> tuple[Atom, Atom] | None:
    """Return the two vectors that a matrix is the outer product of; None for other matrices."""
    match facts.op(x):
        case Call(np.outer, (Var() as u, Var() as v), ()) if rank(u.type) == rank(v.type) == 1 and is_matrix(x):
            return u, v
    return None
