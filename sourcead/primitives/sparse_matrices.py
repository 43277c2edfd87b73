"""Rules of the helpers for sparse matrices (`runtime/sparse_matrices.py`).

A product y = A x is linear in the entries of A and in x. For a solution, A x = b:

    d_b = A^-T d_x        d_A = -d_b x^T at the places of the entries        t_x = A^-1 (t_b - t_A x)

The matrix that solves is decomposed once, for the value and for all derivatives.
"""

import types

import numpy as np

from sourcead import runtime
from sourcead.ir.types import INT, UNKNOWN, Array, Opaque, TupleT, anydim
from sourcead.primitives.registry import adjoint, enter, multilinear, tangent
from sourcead.primitives.together import together
from sourcead.runtime import entries_of_product, found_solution, sparse_product, sparse_solution


def type_of_product(fn, args, kwargs):
    """Return the type of the product of a sparse matrix and an array: as many rows as the matrix has."""
    entries, x, count = args[0].type, args[-1].type, args[3]
    if not isinstance(entries, Array) or not isinstance(x, Array) or not x.dims:
        return UNKNOWN
    known = entries.dtype is not None and x.dtype is not None
    first = count.value if count.known and isinstance(count.value, int) else anydim()
    return Array(np.result_type(entries.dtype, x.dtype) if known else None, (first, *x.dims[1:]))


def type_of_entries(fn, args, kwargs):
    """Return the type of one number for each entry."""
    rows = args[2].type
    return Array(np.dtype(float), rows.dims) if isinstance(rows, Array) and args[0].type.dtype == args[1].type.dtype == float else UNKNOWN


def type_of_solution(fn, args, kwargs):
    """Return the type of the solution of a linear system: that of the right side, in floating point."""
    entries, b = args[1].type, args[4].type
    if not isinstance(entries, Array) or not isinstance(b, Array):
        return UNKNOWN
    return Array(np.dtype(float) if entries.dtype == b.dtype == np.dtype(float) else None, b.dims)


def type_of_triplets(fn, args, kwargs):
    """Return the types of the entries of a matrix, of their places, and of its shape."""
    count, dtype = (anydim(),), getattr(args[0].type, "dtype", "")
    return TupleT((Array(np.dtype(dtype) if dtype else None, count), *[Array(np.dtype(np.int64), count)] * 2, INT, INT))


enter(runtime.sparse_triplets, constant=True, memory="fresh", result=type_of_triplets)
enter(runtime.pairs_to_multiply, constant=True, memory="fresh", result=lambda fn, args, kwargs: TupleT((
    Array(np.dtype(int), (n := anydim(),)), Array(np.dtype(int), (n,))
)))  # fmt: skip
enter(runtime.solve_operator, constant=True, memory="fresh", result=lambda fn, args, kwargs: args[2].type)
enter(runtime.first_solution, constant=True, memory="fresh", result=lambda fn, args, kwargs: args[1].type)
enter(runtime.sparse_solver, constant=True, memory="fresh", result=lambda fn, args, kwargs: Opaque(types.FunctionType))

multilinear({
    sparse_product: lambda y, entries, rows, columns, count, x, d_y: (
        entries_of_product(d_y, x, rows, columns), None, None, None, sparse_product(entries, columns, rows, len(x), d_y)
    ),
}, result=type_of_product, memory="fresh")
multilinear({
    entries_of_product: lambda y, d, x, rows, columns, d_y: (
        sparse_product(d_y, rows, columns, len(d), x), sparse_product(d_y, columns, rows, len(x), d), None, None
    ),
}, result=type_of_entries, memory="fresh")


enter(sparse_solution, result=type_of_solution, memory="fresh")


@adjoint(sparse_solution)
def sparse_solution_adjoint(y, solve, entries, rows, columns, b, transposed, d_y):
    d_b = sparse_solution(solve, entries, rows, columns, d_y, not transposed)
    if transposed:
        d_entries = -entries_of_product(y, d_b, rows, columns)
    else:
        d_entries = -entries_of_product(d_b, y, rows, columns)
    return None, d_entries, None, None, d_b, None


@tangent(sparse_solution)
def sparse_solution_tangent(y, solve, entries, rows, columns, b, transposed, t_entries, t_b):
    if transposed:
        change = sparse_product(t_entries, columns, rows, len(b), y)
    else:
        change = sparse_product(t_entries, rows, columns, len(b), y)
    by_entries = -sparse_solution(solve, entries, rows, columns, change, transposed)
    return by_entries, sparse_solution(solve, entries, rows, columns, t_b, transposed)


enter(found_solution, result=lambda fn, args, kwargs: args[0].type, memory="shared")


@adjoint(found_solution)
def found_solution_adjoint(y, x, solve, entries, rows, columns, b, d_y):
    d_b = sparse_solution(solve, entries, rows, columns, d_y, True)
    return None, None, -entries_of_product(d_b, y, rows, columns), None, None, d_b


@tangent(found_solution)
def found_solution_tangent(y, x, solve, entries, rows, columns, b, t_entries, t_b):
    change = sparse_product(t_entries, rows, columns, len(b), y)
    return -sparse_solution(solve, entries, rows, columns, change, False), sparse_solution(solve, entries, rows, columns, t_b, False)


@together(sparse_product, along="x")
def _(entries, rows, columns, count, x):
    columns_of_members = np.reshape(np.moveaxis(x, 0, 1), (x.shape[1], -1))
    found = sparse_product(entries, rows, columns, count, columns_of_members)
    return np.moveaxis(np.reshape(found, (count, len(x)) + x.shape[2:]), 0, 1)
