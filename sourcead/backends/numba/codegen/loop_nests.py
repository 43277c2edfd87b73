"""Calls of NumPy that are compiled as loops, or left to the interpreter, because that is faster.

Numba's own `np.sum(a, axis=0)` and `np.outer(a, b)` take 1.5 s each to compile, because they cover all cases; loops for one case take a
tenth of that, and run as fast.  A call of BLAS for matrices of 6 by 6 takes ten times what loops take whose ends are constants.  Its
`np.linalg.solve`, `np.sort` and similar functions take as long, and call the same routines as NumPy, so the interpreter calls NumPy's.
"""

import operator
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Call, Const, Var
from sourcead.ir.types import Array, same_dtype

PRODUCTS = (operator.matmul, np.matmul, np.dot)
MOST_PRODUCTS = 512  # products of numbers, up to which loops take less time than a call of BLAS, which is 0.7 µs
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def loop_nest(op: Call, result: Array) -> str | None:
    """Return the body of a function of `a` and `b` that computes a call by loops; None for calls that stay as they are."""
    if op.fn is np.outer and not op.kwargs and [rank_of(a) for a in op.args] == [1, 1] and len(set(op.args)) == 2:
        return _OUTER
    if op.fn in PRODUCTS and (sizes := small_sizes(op, result)) is not None:
        body = product_of_matrices(*sizes)
        return body if op.args[0] is not op.args[1] else body.replace("b.", "a.").replace("b[", "a[")
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


def small_sizes(op: Call, result: Any) -> tuple[int | None, int, int | None] | None:
    """Return the sizes of the product of two small arrays of one dtype: rows, terms of a sum, columns, without those of a vector.

    It is None for other calls.
    """
    if op.kwargs or len(op.args) != 2 or not all(rank_of(a) in (1, 2) for a in op.args):
        return None
    a, b = (x.type for x in op.args)
    dtype = getattr(result, "dtype", None)
    if not all(isinstance(n, int) and n > 0 for n in (*a.dims, *b.dims)) or a.dims[-1] != b.dims[0] or not a.dtype == b.dtype == dtype:
        return None
    rows, terms, columns = a.dims[0] if a.dims[1:] else None, b.dims[0], b.dims[1] if b.dims[1:] else None
    return (rows, terms, columns) if (rows or 1) * terms * (columns or 1) <= MOST_PRODUCTS else None


def product_of_matrices(rows: int | None, terms: int, columns: int | None) -> str:
    """Return the body of a function of `a` and `b` that computes their product, where None stands for the axis that a vector lacks.

    The first statement tells LLVM the sizes, so that nothing is checked in the loops, which it unrolls. The innermost adds to neighbouring
    elements, or in a register.

    >>> print(product_of_matrices(2, 3, 4))
        if a.shape != (2, 3) or b.shape != (3, 4):
            raise ValueError("sizes of a product")
        y = np.zeros((2, 4), a.dtype)
        for i in range(2):
            for k in range(3):
                for j in range(4):
                    y[i, j] += a[i, k] * b[k, j]
        return y
    >>> print(product_of_matrices(2, 3, None))
        if a.shape != (2, 3) or b.shape != (3,):
            raise ValueError("sizes of a product")
        y = np.zeros((2,), a.dtype)
        for i in range(2):
            t = a[i, 0] * b[0]
            for k in range(1, 3):
                t += a[i, k] * b[k]
            y[i] = t
        return y
    """
    shapes = [tuple(n for n in sizes if n is not None) for sizes in ((rows, terms), (terms, columns), (rows, columns))]
    item_a, item_b = ("a[i, {}]" if rows else "a[{}]"), ("b[{}, j]" if columns else "b[{}]")
    lines = [f"if a.shape != {shapes[0]} or b.shape != {shapes[1]}:", '    raise ValueError("sizes of a product")']
    lines += [f"y = np.zeros({shapes[2]}, a.dtype)"] if shapes[2] else []
    lines += [f"for i in range({rows}):"] if rows else []
    inside = "    " if rows else ""
    if columns:
        lines += [f"{inside}for k in range({terms}):", f"{inside}    for j in range({columns}):"]
        lines += [f"{inside}        y[{'i, j' if rows else 'j'}] += {item_a.format('k')} * {item_b.format('k')}"]
    else:
        lines += [f"{inside}t = {item_a.format(0)} * {item_b.format(0)}", f"{inside}for k in range(1, {terms}):"]
        lines += [f"{inside}    t += {item_a.format('k')} * {item_b.format('k')}", *([f"{inside}y[i] = t"] if rows else [])]
    return "".join(f"    {line}\n" for line in (*lines, "return y" if shapes[2] else "return t"))


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
