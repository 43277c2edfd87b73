"""Removes transposes of transposes and of products.

    y = transpose(transpose(x))                          y = x
    y = swapaxes(transpose(x, (0, 2, 1)), -1, -2)        y = x
    y = transpose(transpose(x, (0, 2, 1)), (1, 0, 2))    y = transpose(x, (2, 0, 1))
    y = transpose(matmul(transpose(a), b))               y = matmul(transpose(b), a)
    y = transpose(mul(0.5, x))                           y = mul(0.5, transpose(x))

The first two are legal where the two permutations of axes are known to cancel. The others are for generated statements, and operands that
nothing else reads. The transpose of a product is legal for stacks of matrices as well, if it exchanges their two axes; rounding may differ.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from sourcead.ir.nodes import Atom, Call, Const, Op, Operand, Stmt, Var
from sourcead.ir.types import Array, dims_of, rank
from sourcead.passes.cleanup.constant_folding import generated, is_literal
from sourcead.passes.equality import equal_types
from sourcead.passes.peephole import Facts

TRANSPOSES = (np.transpose, np.swapaxes)
_REVERSED = "reversed"


def simpler_transpose(stmt: Stmt, call: Call, facts: Facts) -> Atom | Op | list[Stmt] | None:
    """Return what replaces a call that permutes axes, or None if it stays."""
    x = call.args[0] if call.args else None
    inner, order = facts.op(x), permutation(call)
    if order is None or not isinstance(inner, Call) or inner.effect:
        return None
    if inner.fn is operator.mul and generated(stmt) and _is_spent(x, facts):
        return _transposed_multiple(stmt, inner, call)
    if inner.fn in (operator.matmul, np.outer):
        return _transposed_product(stmt, x, inner, order, facts)
    before = permutation(inner) if inner.fn in TRANSPOSES else None
    if before is None or not isinstance(inner.args[0], Var) or not isinstance(inner.args[0].type, Array):
        return None
    source = inner.args[0]
    if order == before == _REVERSED:
        return source
    if _REVERSED in (order, before):
        n = len(before if order == _REVERSED else order)
        order, before = (tuple(range(n))[::-1] if p == _REVERSED else p for p in (order, before))
    if len(order) != len(before):
        return None
    both = tuple(before[k] for k in order)
    if both == tuple(range(len(both))):
        return source
    return Call(np.transpose, (source, Const(both))) if generated(stmt) and _is_spent(x, facts) else None


def _transposed_multiple(stmt: Stmt, product: Call, call: Call) -> list[Stmt] | None:
    """Return a multiple of the transpose in place of the transpose of a multiple, where others can use the number."""
    for k, (c, x) in enumerate((product.args, product.args[::-1])):
        if is_literal(c) and isinstance(x, Var) and equal_types(x.type, call.args[0].type):
            source = Var("transpose", stmt.targets[0].type, True)
            before = replace(stmt, targets=(source,), op=replace(call, args=(x, *call.args[1:])))
            return [before, replace(stmt, op=Call(operator.mul, (c, source) if k == 0 else (source, c)))]
    return None


def permutation(call: Call) -> tuple[int, ...] | str | None:
    """Return the order in which a call puts axes, counted from 0, `_REVERSED` for all axes in the other order; None if it is not known."""
    given = [*call.args[1:], *(v for _, v in call.kwargs)]
    if call.fn is np.swapaxes:
        places, n = [_number(a) for a in given], rank(call.args[0].type) if isinstance(call.args[0], Var) else None
        if n is None or len(places) != 2 or None in places or not all(-n <= k < n for k in places):
            return None
        order, (i, j) = list(range(n)), places
        order[i], order[j] = order[j], order[i]
        return tuple(order)
    if not given:
        return _REVERSED
    axes = given[0]
    if len(given) == 1 and isinstance(axes, tuple) and axes and all(isinstance(a, Const) and not a.live for a in axes):
        axes = Const(tuple(a.value for a in axes))
    if len(given) != 1 or not isinstance(axes, Const) or axes.live:
        return None
    if axes.value is None:
        return _REVERSED
    known = isinstance(axes.value, tuple) and axes.value and all(type(n) is int for n in axes.value)
    return tuple(k % len(axes.value) for k in axes.value) if known else None


def _number(operand: Operand) -> int | None:
    return operand.value if isinstance(operand, Const) and type(operand.value) is int and not operand.live else None


def _transposed_product(stmt: Stmt, product: Var, op: Call, order: tuple | str, facts: Facts) -> list[Stmt] | Call | None:
    """Simplify the transpose of a product that nothing else reads to a product of transposes, if one factor is one."""
    if not generated(stmt) or not _is_spent(product, facts) or op.kwargs or len(op.args) != 2:
        return None
    if op.fn is np.outer:
        return Call(np.outer, op.args[::-1])
    if not _is_of_matrices(order, rank(product.type)) or any(not isinstance(a, Var) or (rank(a.type) or 0) < 2 for a in op.args):
        return None
    sources = [_source(a, facts) for a in op.args]
    if sources == [None, None]:
        return None
    before, factors = [], []
    for a, source in zip(op.args, sources):
        if source is None:
            dims = dims_of(a.type)
            source = Var("transpose", Array(a.type.dtype, (*dims[:-2], dims[-1], dims[-2])), True)
            stacked = (Const(-1), Const(-2)) if len(dims) > 2 else ()
            before.append(replace(stmt, targets=(source,), op=Call(np.swapaxes if stacked else np.transpose, (a, *stacked))))
        factors.append(source)
    return [*before, replace(stmt, op=Call(op.fn, tuple(factors[::-1])))]


def _source(a: Var, facts: Facts) -> Var | None:
    """Return the matrices that the matrices `a` are the transposes of, None if they are not known to be."""
    op = facts.op(a)
    found = isinstance(op, Call) and op.fn in TRANSPOSES and not op.effect and isinstance(op.args[0], Var)
    return op.args[0] if found and _is_of_matrices(permutation(op), rank(a.type)) else None


def _is_of_matrices(order: tuple | str | None, n: int | None) -> bool:
    """Return whether a permutation of `n` axes exchanges the last two."""
    if n is None or order is None:
        return False
    return n == 2 if order == _REVERSED else order == (*range(n - 2), n - 1, n - 2)


def _is_spent(x: Var, facts: Facts) -> bool:
    return x.temp and facts.uses[x] == 1
