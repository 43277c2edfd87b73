"""Uses that the cotangent of a matrix is half of a symmetric matrix, where it has a Cholesky factor, and the inverse that is there.

    y = add(d, transpose(d)), d = lower_half(t)         y = t
    y = diagonal(d), d = lower_half(t)                  y = mul(0.5, diagonal(t))
    y = matmul(transpose(v), matmul(v, b))              y = matmul(p, b), p = matmul(transpose(v), v)

The first two hold where t is symmetric by what it is computed of.  The last pays where v = inverse_lower(l) and p are computed anyway,
b has several columns, and nothing else reads the inner product.  This is legal in adjoints, and for what only they read; the results
differ by rounding.
"""

import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Call, Const, Function, Op, Stmt, Var
from sourcead.ir.types import rank
from sourcead.ir.walk import calls
from sourcead.passes.cleanup.common_subexpressions import merge_common
from sourcead.passes.cleanup.constant_folding import generated, read_by_adjoints
from sourcead.passes.cleanup.linear_systems import is_alike, is_main, is_real
from sourcead.passes.cleanup.sums_of_products import axes_of
from sourcead.passes.peephole import Facts, peephole
from sourcead.runtime.triangular import inverse_lower, lower_half

ADD, SUB, MUL, DIV, NEG, MATMUL = operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.matmul


def use_symmetry(function: Function) -> Function:
    """Return the function with symmetric matrices in place of halves of them that are put together again."""
    if not calls(function.body, lower_half):
        return function
    function = merge_common(function)  # the inverse is computed once
    free = read_by_adjoints(function)
    ops = {t: s.op for s in function.body.stmts for t in s.targets}
    squared = {op.args[1] for op in ops.values() if isinstance(op, Call) and op.fn is MATMUL and is_turned(op.args[0], op.args[1], ops.get)}

    def rule(stmt: Stmt, facts: Facts) -> Atom | list[Stmt] | None:
        op, target = stmt.op, stmt.targets[0] if stmt.targets else None
        if not isinstance(op, Call) or op.kwargs or op.effect or not is_real(target) or not (generated(stmt) or target in free):
            return None
        build = Builder().at(stmt)
        result = _simpler(build, op, squared, facts)
        if result is None or not is_alike(result, target):
            return None
        return [*build.stmts[:-1], replace(stmt, op=build.stmts[-1].op)] if build.stmts else result

    return peephole(function, rule)


def _simpler(build: Builder, op: Call, squared: set[Atom], facts: Facts) -> Atom | None:
    """Emit what an operation computes in another way; None if there is no better one."""
    if op.fn is ADD:
        a, b = op.args
        return (halved(a, facts) or halved(b, facts)) if is_turned(a, b, facts.op) else None
    if op.fn in (np.diagonal, np.diag) and is_main(list(op.args[1:])):
        whole = halved(op.args[0], facts)
        return None if whole is None else build.call(MUL, Const(0.5), build.call(op.fn, whole, *op.args[1:]))
    if op.fn is MATMUL and isinstance(op.args[1], Var):
        turned, inner = op.args[0], facts.call(op.args[1], MATMUL)
        if inner is not None and facts.uses[op.args[1]] == 1 and inner.args[0] in squared and is_turned(turned, inner.args[0], facts.op):
            if facts.call(inner.args[0], inverse_lower) and inner.args[1] is not inner.args[0] and rank(inner.args[1].type) == 2:
                return build.call(MATMUL, build.call(MATMUL, turned, inner.args[0], name="product"), inner.args[1])
    return None


def halved(x: Atom, facts: Facts) -> Var | None:
    """Return the symmetric matrix that a matrix is half of; None for others."""
    half = facts.call(x, lower_half)
    return half.args[0] if half is not None and is_symmetric(half.args[0], facts) else None


def is_turned(a: Atom, b: Atom, op_of: Callable[[Atom], Op | None]) -> bool:
    """Return whether a matrix is the transpose of another."""
    for x, y in ((a, b), (b, a)):
        op = op_of(x)
        if isinstance(op, Call) and op.fn is np.transpose and op.args == (y,) and rank(y.type) == 2:
            return True
    return False


def is_symmetric(t: Atom, facts: Facts) -> bool:
    """Return whether a matrix is symmetric by what it is computed of: products with transposes, their sums, and multiples by numbers."""
    match facts.op(t):
        case Call(np.outer, (Var() as u, Var() as v)):
            return u is v
        case Call(fn, (Var() as u, Var() as v), ()) if fn is MATMUL:
            return is_turned(u, v, facts.op)
        case Call(fn, (a, b), ()) if fn in (ADD, SUB):
            return is_turned(a, b, facts.op) and fn is ADD or is_symmetric(a, facts) and is_symmetric(b, facts)
        case Call(fn, (a, b), ()) if fn in (MUL, DIV):
            factors = [x for x in (a, b) if axes_of(x) != 0]
            return len(factors) == 1 and not (fn is DIV and factors[0] is b) and is_symmetric(factors[0], facts)
        case Call(fn, (a,), ()) if fn is NEG:
            return is_symmetric(a, facts)
    return False
