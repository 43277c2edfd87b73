"""Calls of NumPy that are compiled as loops, or left to the interpreter, because that is faster.

Numba's own `np.sum(a, axis=0)` and `np.outer(a, b)` take 1.5 s each to compile, because they cover all cases; loops for one case take a
tenth of that, and run as fast.  Its `np.linalg.solve`, `np.sort` and similar functions take as long, and call the same routines as NumPy,
so the interpreter calls NumPy's.
"""

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Call, Const, Var
from sourcead.ir.types import Array, same_dtype

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def loop_nest(op: Call, result: Array) -> str | None:
    """Return the body of a function of `a` and `b` that computes a call by loops; None for calls that stay as they are."""
    if op.fn is np.outer and not op.kwargs and [rank_of(a) for a in op.args] == [1, 1] and len(set(op.args)) == 2:
        return _OUTER
    options = {**dict(zip(("axis",), op.args[1:])), **dict(op.kwargs)}
    rank = rank_of(op.args[0]) if op.args else None
    if op.fn is np.sum and options.keys() <= {"axis", "keepdims"} and "axis" in options and len(op.args) <= 2 and rank in (2, 3):
        axis, keeps = options["axis"], options.get("keepdims", Const(False))
        known = isinstance(axis, Const) and type(axis.value) is int and isinstance(keeps, Const)
        if known and -rank <= axis.value < rank and same_dtype(result.dtype, atom_type(op.args[0]).dtype):
            return sum_along(axis.value % rank, rank, bool(keeps.value))
    return None


def reduces_all_axes(op: Call) -> bool:
    """Return whether a call reduces over all axes: it names no axis, or the only one."""
    if len(op.args) + len(op.kwargs) != 2:
        return len(op.args) == 1 and not op.kwargs
    axis = dict(op.kwargs).get("axis", op.args[-1] if len(op.args) == 2 else None)
    only = isinstance(axis, Const) and type(axis.value) is int and axis.value in (0, -1)
    return only and bool(op.args) and rank_of(op.args[0]) == 1


def rank_of(operand) -> int | None:
    """Return the rank of an array of floats; None for any other operand."""
    t = operand.type if isinstance(operand, Var) else None
    return len(t.dims) if isinstance(t, Array) and t.dims is not None and t.dtype in _FLOATS else None


_OUTER = """\
    y = np.empty((len(a), len(b)), a.dtype)
    for i in range(len(a)):
        for j in range(len(b)):
            y[i, j] = a[i] * b[j]
    return y
"""


def sum_along(axis: int, rank: int, keeps: bool) -> str:
    """Return the body of a function of `a` that computes the sum along an axis.

    >>> print(sum_along(1, 2, keeps=False))
        y = np.zeros(a.shape[0], a.dtype)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                y[i] += a[i, j]
        return y
    """
    counters = "ijk"[:rank]
    left = [k for k in range(rank) if keeps or k != axis]
    shape = ["1" if k == axis else f"a.shape[{k}]" for k in left]
    place = ["0" if k == axis else counters[k] for k in left]
    lines = [f"y = np.zeros({shape[0] if len(left) == 1 else '(' + ', '.join(shape) + ')'}, a.dtype)"]
    lines += [f"{'    ' * k}for {counter} in range(a.shape[{k}]):" for k, counter in enumerate(counters)]
    lines += [f"{'    ' * rank}y[{', '.join(place)}] += a[{', '.join(counters)}]", "return y"]
    return "".join(f"    {line}\n" for line in lines)
