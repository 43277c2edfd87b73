"""Reductions over axes of few elements, slice by slice.

    y = max(x, axis=(3, 5))     x: (n, c, h, 2, w, 2)      y = reduce_short(maximum, x, (3, 5))
    y = sum(x, axis=-1)         x: (n, m, 3)               y = reduce_short(add, x, -1)
    y = mean(x, axis=-1)                                   y = reduce_short(add, x, -1) / 3
    y = mul(x, expand_dims(v, (3, 5)))                     y = combine_short(multiply, x, v, (3, 5))

NumPy reduces each of many short rows by itself, as those of squared distances in space or the windows of a pooling.  That takes 3 to 50
times as long as adding or comparing whole slices (`runtime/reductions.py`).  This is legal for real numbers: both combine fewer than eight
one after the other.  Sums over several axes may differ by rounding.  It comes after the memory stage, for the text of NumPy alone.

Where several short axes are added to an array, as in the adjoint of a pooling, NumPy's inner loop is as short; and if the arrays lie in
memory in different orders, which no type says, it is four times as slow as that of slices.
"""

import operator
from dataclasses import replace
from math import prod

import numpy as np

from sourcead import runtime
from sourcead.analysis.sizes import known_dtype
from sourcead.ir.nodes import Call, Const, Function, Stmt, Var, fresh
from sourcead.ir.types import dims_of, rank
from sourcead.passes.peephole import Facts, peephole

SHORT = range(2, 8)  # of more numbers in a row NumPy combines several at once
MOST = 16  # and of more numbers in several axes
FEWEST = 64  # arrays that are known to have fewer numbers stay as they are
UFUNCS = {
    np.sum: np.add, np.mean: np.add, np.prod: np.multiply,
    np.max: np.maximum, np.amax: np.maximum, np.min: np.minimum, np.amin: np.minimum,
}  # fmt: skip
COMBINED = {operator.mul: np.multiply, operator.eq: np.equal}  # which commute


def reduce_short_axes(function: Function) -> Function:
    """Return the function with reductions over short axes slice by slice."""

    def rule(stmt: Stmt, facts: Facts) -> Call | list[Stmt] | None:
        match stmt.op:
            case Call(np.mean) as call if (made := by_slices(call, stmt)) is not None:
                total, (count, reduced) = fresh(stmt.targets[0], name="total", temp=True), made
                return [replace(stmt, targets=(total,), op=reduced), replace(stmt, op=Call(operator.truediv, (total, Const(count))))]
            case Call() as call if (made := by_slices(call, stmt)) is not None:
                return made[1]
            case Call(fn, (Var() as a, Var() as b), ()) if fn in COMBINED and not stmt.within:
                return combined(stmt, a, b, facts) or combined(stmt, b, a, facts)
        return None

    return peephole(function, rule)


def are_short(sizes: list) -> bool:
    return all(n in SHORT for n in sizes) and prod(sizes) <= MOST


def combined(stmt: Stmt, x: Var, y: Var, facts: Facts) -> Call | None:
    """Return an operation of an array with another to which several short axes were added, slice by slice; None for others."""
    op, dims = stmt.op, dims_of(x.type) or ()
    match facts.op(y):
        case Call(np.expand_dims, (Var() as v, Const(tuple() as axes)), ()) if len(axes) > 1 and known_dtype(v) == known_dtype(x):
            gone = {a % len(dims) for a in axes} if dims else set()
        case _:
            return None
    whole = all(k in gone or n == m for k, (n, m) in enumerate(zip(dims, dims_of(y.type) or ())))
    if known_dtype(x) not in (np.float64, np.float32) or len(dims) - 1 not in gone or not whole or rank(y.type) != len(dims):
        return None
    if len(gone) == len(dims) or not are_short([dims[k] for k in gone]) or op.into not in (None, op.args.index(x)):
        return None
    ufunc = COMBINED[op.fn]
    into = None if op.into is None else 1
    return Call(runtime.combine_short, (Const(ufunc, f"np.{ufunc.__name__}"), x, v, Const(tuple(sorted(gone)))), into=into)


def by_slices(call: Call, stmt: Stmt) -> tuple[int, Call] | None:
    """Return how many numbers a reduction makes one of, and the call that does it slice by slice; None if it stays as it is."""
    if isinstance(call.fn, Var) or call.fn not in UFUNCS or call.effect or call.into is not None or stmt.within:
        return None
    options = dict(zip(("axis",), (Const(a.value) if isinstance(a, Const) else a for a in call.args[1:]))) | dict(call.kwargs)
    x, axis, keeps = call.args[0] if call.args else None, options.pop("axis", None), options.pop("keepdims", Const(False))
    if options or len(call.args) > 2 or not isinstance(x, Var) or known_dtype(x) not in (np.float64, np.float32):
        return None
    dims, kept = dims_of(x.type) or (), keeps.value if isinstance(keeps, Const) else None
    given = axis.value if isinstance(axis, Const) else None
    axes = given if isinstance(given, tuple) else (given,)
    if type(kept) is not bool or not all(type(a) is int and -len(dims) <= a < len(dims) for a in axes):
        return None
    gone = {a % len(dims) for a in axes}
    sizes = [dims[a] for a in gone]
    few = all(isinstance(n, int) for n in dims) and prod(dims) < FEWEST
    if few or len(gone) == len(dims) or len(dims) - 1 not in gone or not are_short(sizes):
        return None
    keyword = (("keepdims", Const(True)),) if kept else ()
    ufunc = UFUNCS[call.fn]
    return prod(sizes), Call(runtime.reduce_short, (Const(ufunc, f"np.{ufunc.__name__}"), x, axis), keyword)
