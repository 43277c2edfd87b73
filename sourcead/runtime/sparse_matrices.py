"""Sparse matrices as three arrays: the entries, and the row and the column of each; entries at one place add up."""

import numpy as np


def sparse_product(entries, rows, columns, count, x):
    """Return the product of a sparse matrix of `count` rows with a vector, of shape (n,), or with the columns of a matrix, (n, k)."""
    dtype = np.result_type(entries, x)
    if np.ndim(x) == 1 and dtype in (np.float64, np.float32):
        return np.bincount(rows, entries * x[columns], count).astype(dtype, copy=False)
    y = np.zeros((count, *np.shape(x)[1:]), dtype)
    np.add.at(y, rows, np.reshape(entries, (-1,) + (1,) * (np.ndim(x) - 1)) * x[columns])
    return y


def entries_of_product(d_y, x, rows, columns):
    """Return the cotangents of a sparse matrix's entries from that of its product with `x`."""
    products = d_y[rows] * x[columns]
    return products if np.ndim(products) == 1 else np.sum(products, axis=tuple(range(1, np.ndim(products))))


def sparse_triplets(matrix):
    """Return the entries of a matrix of `scipy.sparse`, their rows, their columns, and how many rows and columns it has."""
    found = matrix.tocoo()
    return found.data.copy(), found.row.astype(np.int64), found.col.astype(np.int64), *found.shape


def pairs_to_multiply(columns, rows):
    """Return which entries of two sparse matrices meet in their product: the column of the one is the row of the other.

    Args:
        columns: the columns of the entries of the first, of shape (m,).
        rows: the rows of the entries of the second, of shape (n,).

    Returns:
        Positions in the first and in the second, two arrays of one length.
    """
    order = np.argsort(rows, kind="stable")
    first, last = (np.searchsorted(rows, columns, side, order) for side in ("left", "right"))
    counts = last - first
    mine = np.repeat(np.arange(len(columns)), counts)
    within = np.arange(len(mine)) - np.repeat(np.cumsum(counts) - counts, counts)
    return mine, order[np.repeat(first, counts) + within]


def sparse_solver(solver, options, entries, rows, columns, count):
    """Return a function of a right side, and of whether the matrix is transposed, which returns the solution of the linear system.

    Args:
        solver: an iterative solver of `scipy.sparse.linalg`, such as `cg`; None for a decomposition.
        options: what the solver is given besides, as keyword arguments.
        entries, rows, columns: the entries of the matrix, with their places.
        count: how many rows and columns it has.

    Raises:
        RuntimeError: where a decomposition finds the matrix singular, or an iteration ends without a solution.
    """
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    matrix, decomposed = csc_matrix((entries, (rows, columns)), shape=(count, count)), {}

    def solve_directly(b, transposed):
        dtype = np.result_type(matrix, b, np.float32)
        if dtype not in decomposed:
            decomposed[dtype] = splu(matrix.astype(dtype))
        return decomposed[dtype].solve(np.asarray(b, dtype), "T" if transposed else "N")

    if solver is None:
        return solve_directly

    def solve(b, transposed, start=None):
        if np.ndim(b) == 2:
            return np.stack([solve(column, transposed) for column in b.T], axis=1)
        turned = {"M": options["M"].T} if transposed and "M" in options and solver.__name__ not in ("cg", "minres") else {}
        found, failed = solver(matrix.T if transposed else matrix, b, x0=start, **{**options, **turned})
        if failed:
            raise RuntimeError(f"`scipy.sparse.linalg.{solver.__name__}` found no solution")
        return found

    return solve


def first_solution(solve, b, start):
    """Return the solution of a linear system that an iterative solver finds from `start`, by a function of `sparse_solver`."""
    return solve(b, False, start)


def solve_operator(solver, product, b, start, options):
    """Return the solution that an iterative solver of `scipy.sparse.linalg` finds for a matrix which is known by its products.

    Args:
        solver: the solver, such as `gmres`.
        product: a function of an array of shape (n,), which returns its product with the matrix.
        b: the right side, of shape (n,).
        start: where the solver starts, or None.
        options: what the solver is given besides, as keyword arguments.

    Raises:
        RuntimeError: where the iteration ends without a solution.
    """
    from scipy.sparse.linalg import LinearOperator

    found, failed = solver(LinearOperator((len(b), len(b)), product), b, x0=start, **options)
    if failed:
        raise RuntimeError(f"`scipy.sparse.linalg.{solver.__name__}` found no solution")
    return found


def sparse_solution(solve, entries, rows, columns, b, transposed):
    """Return the solution of a linear system of a sparse matrix, or of its transpose, by a function of `sparse_solver`.

    `b` has the shape (n,), or (n, k) for several right sides.
    """
    return solve(b, transposed)


def found_solution(x, solve, entries, rows, columns, b):
    """Return `x`, a constant, with the derivatives of the solution of the linear system that it solves."""
    return x
