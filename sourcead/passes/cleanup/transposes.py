"""Simplifies transposes of transposes and of products of matrices.

    y = transpose(transpose(x))                  y = x
    y = transpose(matmul(transpose(a), b))       y = matmul(transpose(b), a)
    y = transpose(outer(a, b))                   y = outer(b, a)

The first is legal where the two permutations of axes are known to cancel.  The others differ from what they replace by rounding, and
are legal in generated statements, for a product that nothing else reads; for `matmul` of two matrices, one of them transposed.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from sourcead.ir.nodes import Atom, Call, Const, Stmt, Var
from sourcead.ir.types import Array, rank
from sourcead.passes.cleanup.operands import generated
from sourcead.passes.peephole import Facts

_NOT_KNOWN = object()


def transposed(stmt: Stmt, args: tuple, kwargs: tuple, facts: Facts) -> Atom | list[Stmt] | Call | None:
    """Return what replaces a call of `np.transpose`, or None if the call stays."""
    inner = facts.op(args[0]) if args else None
    if isinstance(inner, Call) and inner.fn in (operator.matmul, np.outer) and len(args) == 1 and not kwargs:
        return _transposed_product(stmt, args[0], inner, facts)
    if not (isinstance(inner, Call) and inner.fn is np.transpose and inner.args and isinstance(inner.args[0], Var)):
        return None
    x = inner.args[0]
    axes, inner_axes = _axes(args, kwargs), _axes(inner.args, inner.kwargs)
    if not isinstance(x.type, Array) or axes is _NOT_KNOWN or inner_axes is _NOT_KNOWN:
        return None
    if axes is None and inner_axes is None:
        return x
    n = len(axes or inner_axes)
    outer, inner_ = (tuple(range(n))[::-1] if p is None else tuple(k % n for k in p) for p in (axes, inner_axes))
    return x if len(outer) == len(inner_) and all(inner_[outer[i]] == i for i in range(n)) else None


def _transposed_product(stmt: Stmt, product: Var, op: Call, facts: Facts) -> list[Stmt] | Call | None:
    if not generated(stmt) or not product.temp or facts.uses[product] != 1 or op.kwargs or op.effect or len(op.args) != 2:
        return None
    if op.fn is np.outer:
        return Call(np.outer, op.args[::-1])
    if any(not isinstance(a, Var) or rank(a.type) != 2 for a in op.args):
        return None
    sources = [t.args[0] if t is not None and len(t.args) == 1 else None for t in (facts.call(a, np.transpose) for a in op.args)]
    if sources == [None, None]:
        return None
    before, factors = [], []
    for a, source in zip(op.args, sources):
        if source is None:
            source = Var("transpose", Array(a.type.dtype, a.type.dims[::-1]), True)
            before.append(replace(stmt, targets=(source,), op=Call(np.transpose, (a,))))
        factors.append(source)
    return [*before, replace(stmt, op=Call(op.fn, tuple(factors[::-1])))]


def _axes(args: tuple, kwargs: tuple):
    """Return the axes of a transpose: a tuple of numbers, None if all are reversed, or `_NOT_KNOWN`."""
    given = [*args[1:], *(v for _, v in kwargs)]
    if not given:
        return None
    axes = given[0]
    if len(given) == 1 and isinstance(axes, tuple) and axes and all(isinstance(a, Const) and not a.live for a in axes):
        axes = Const(tuple(a.value for a in axes))
    if len(given) == 1 and isinstance(axes, Const) and not axes.live:
        if axes.value is None:
            return None
        if isinstance(axes.value, tuple) and axes.value and all(type(n) is int for n in axes.value):
            return axes.value
    return _NOT_KNOWN
