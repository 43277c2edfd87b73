"""Removes axes of length 1 that are added only to be dropped again, as the adjoints of `x[:, None]` and `np.sum(x, keepdims=True)` do.

    y = x[:, None][:, 0]                                 y = x
    y = expand_dims(x, 1)[:, 0]                          y = x
    y = expand_dims(x[:, 0], 1)                          y = x
    y = x[::-1][::-1]                                    y = x
    y = sum(x, axis=1, keepdims=True)[:, 0]              y = sum(x, axis=1)
    y = mul(s, sum(x, axis=1, keepdims=True))[:, 0]      y = mul(s, sum(x, axis=1))
    y = sum(sum(x, axis=0), axis=(1, 2))                 y = sum(x, axis=(0, 2, 3))
    y = x[1:][0]                                         y = x[1]

This is legal because a subscript commutes with elementwise functions whose operands all have the axes that it drops, of length 1, or are
numbers. Generated statements alone are changed, and of the user's only what nothing else reads. Sums of sums may be rounded in another way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sourcead.analysis.loop_indices import added_axes, dropped_axes, turned_axes
from sourcead.ir.nodes import Atom, Call, Const, Index, Op, Operand, Slice, Stmt, Var, fresh
from sourcead.ir.types import Array, Scalar, dims_of, rank
from sourcead.passes.cleanup.constant_folding import generated, is_literal
from sourcead.passes.equality import equal_types
from sourcead.passes.peephole import Facts
from sourcead.primitives.table import record_of


def simpler_subscript(stmt: Stmt, x: Var, key: Operand, facts: Facts) -> Atom | Op | list[Stmt] | None:
    """Return what stands in the place of the generated statement `y = x[key]`, or None if it stays."""
    inner = facts.op(x)
    if isinstance(inner, Index) and isinstance(inner.base, Var):
        turned = turned_axes(key)
        if turned and turned == turned_axes(inner.key) and equal_types(stmt.targets[0].type, inner.base.type):
            return inner.base
        at = element_of_part(inner.key, key)
        if at is not None and isinstance(inner.base.type, Array):
            return Index(inner.base, Const(at))
    dropped = dropped_axes(key)
    found = _without_axes(stmt, x, dropped, facts) if dropped and rank(x.type) else None
    if found is None:
        return None
    before, y = found
    return [*before[:-1], replace(stmt, op=before[-1].op)] if before else y


def simpler_expansion(stmt: Stmt, x: Operand, axis: Operand, facts: Facts) -> Atom | None:
    """Return `v` in the place of the generated statement `y = expand_dims(v[:, 0], 1)`, or None if it stays."""
    match facts.op(x):
        case Index(Var() as v, key) if (dropped := dropped_axes(key)) and _places(axis, rank(v.type)) == dropped:
            return v if equal_types(stmt.targets[0].type, v.type) else None
    return None


def sum_of_sum(call: Call, facts: Facts) -> Call | None:
    """Return one sum over the axes of two in the place of the generated statement `y = sum(sum(x, axis=0), axis=(1, 2))`, or None."""
    inner = facts.op(call.args[0])
    if not isinstance(inner, Call) or inner.fn is not np.sum or inner.effect or facts.uses[call.args[0]] != 1 or not call.args[0].temp:
        return None
    if not generated(facts.definitions[call.args[0]]) or len(call.args) != 1 or len(inner.args) != 1:
        return None
    n = rank(inner.args[0].type)
    (first, second), options = zip(*((dict(op.kwargs).get("axis"), {k for k, _ in op.kwargs}) for op in (inner, call)))
    if n is None or not options[0] | options[1] <= {"axis"}:
        return None
    gone = _places(first, n)
    left = [k for k in range(n) if k not in gone]
    also = [left[k] for k in _places(second, len(left))] if left else []
    return Call(np.sum, inner.args, (("axis", Const(tuple(sorted(gone + also)))),)) if gone and also and len(gone + also) < n else None


def element_of_part(part: Operand, key: Operand) -> int | None:
    """Return which element of an array the element `key` of its part is, if the part is a slice of the first axis; else None."""
    match part, key:
        case Slice(lower, upper, None | Const(1)), Const(int() as k) if type(k) is int and k >= 0:
            first = 0 if lower is None else lower.value if isinstance(lower, Const) else -1
            end = upper.value if isinstance(upper, Const) else None
            if type(first) is int and first >= 0 and (end is None and upper is None or type(end) is int and first + k < end):
                return first + k
    return None


def _places(axis: Operand, n: int | None) -> list[int]:
    """Return the axes, sorted, that an option of an array of `n` axes names; none if it is not known."""
    if n is None or not isinstance(axis, Const) or type(axis.value) not in (int, tuple):
        return []
    return sorted(k % n for k in (axis.value if isinstance(axis.value, tuple) else (axis.value,)))


def _without_axes(stmt: Stmt, x: Var, dropped: list[int], facts: Facts) -> tuple[list[Stmt], Atom] | None:
    """Return statements that compute `x` without some axes of length 1, and their result, if they take no subscript; else None."""
    n, dims = rank(x.type), dims_of(x.type)
    if dims is None or len(dropped) == n or any(dims[k] != 1 for k in dropped):
        return None
    spent = x.temp and facts.uses[x] == 1 and facts.scopes.get(x) == facts.scope  # nothing moves into a loop
    target = fresh(x, type=Array(x.type.dtype, tuple(dim for k, dim in enumerate(dims) if k not in dropped)))
    match facts.op(x):
        case Index(Var() as v, key) if added_axes(key) == dropped:
            return [], v
        case Call(np.expand_dims, (Var() as v, axis), ()) if _places(axis, n) == dropped:
            return [], v
        case Call(np.sum, (Var() as v,), options) if spent:
            options = dict(options)
            axis, keeps = options.pop("axis", None), options.pop("keepdims", None)
            summed, sizes = _places(axis, n), dims_of(v.type) or ()
            alone = len(sizes) == n and all(k in summed or sizes[k] == 1 for k in dropped)  # an axis of length 1 may be summed as well
            if not options and getattr(keeps, "value", None) is True and summed and alone and set(summed) <= set(dropped):
                axis = axis if summed == dropped else Const(tuple(dropped))
                return [replace(stmt, targets=(target,), op=Call(np.sum, (v,), (("axis", axis),)))], target
        case Call(fn, args, (), effect=False) if spent and record_of(fn).is_elementwise(len(args)):
            before, operands = [], []
            for arg in args:
                if is_literal(arg) or isinstance(arg, Var) and isinstance(arg.type, Scalar):
                    operands.append(arg)
                    continue
                found = _without_axes(stmt, arg, dropped, facts) if isinstance(arg, Var) and rank(arg.type) == n else None
                if found is None:
                    return None
                before += found[0]
                operands.append(found[1])
            return [*before, replace(stmt, targets=(target,), op=Call(fn, tuple(operands)))], target
    return None
