"""Compositions of the solvers of `scipy.sparse.linalg`: SciPy solves, and the solution has the derivative of its linear system.

The matrix is decomposed once for the value and all derivatives; an iterative solver solves for the derivative too, with the transposed
matrix in reverse mode, and with the options that it was given. An iteration that ends without a solution is an error.
"""

import numpy as np
from scipy.sparse import eye, issparse, linalg

from sourcead.ir.records import IN_PYTHON
from sourcead.ir.types import UNKNOWN, Array
from sourcead.language.transformations import python_function
from sourcead.primitives.compositions import composed, refuse
from sourcead.primitives.registry import adjoint, enter, tangent
from sourcead.primitives.scipy_sparse import SparseMatrix, as_sparse
from sourcead.primitives.scipy_systems import differentiable
from sourcead.runtime import (
    first_solution, found_solution, solve_operator, sparse_solution, sparse_solver, stop_gradient
)


def solution(solver, options, matrix, b):
    """Return the solution of a linear system of a sparse matrix, an array like `b`."""
    a = as_sparse(matrix)
    solve = sparse_solver(solver, options, stop_gradient(a.entries), a.rows, a.columns, a.shape[0])
    return sparse_solution(solve, a.entries, a.rows, a.columns, b, False)


@composed(linalg.spsolve)
def spsolve(A, b, permc_spec=None, use_umfpack=True):
    if isinstance(b, SparseMatrix) or issparse(b):
        refuse("`scipy.sparse.linalg.spsolve` with a sparse right side: use its `toarray()`")
    right = np.asarray(b)
    return solution(None, None, A, np.ravel(right) if np.ndim(right) == 2 and right.shape[1] == 1 else right)


@composed(linalg.spsolve_triangular)
def spsolve_triangular(A, b, lower=True, overwrite_A=False, overwrite_b=False, unit_diagonal=False):
    if unit_diagonal:
        refuse("`scipy.sparse.linalg.spsolve_triangular` with unit_diagonal")
    return solution(None, None, A, np.asarray(b))


class Decomposition:
    """What `splu` and `factorized` return: a decomposed matrix, which solves for one right side after the other."""

    def __init__(self, matrix):
        self.matrix = as_sparse(matrix)
        a = self.matrix
        self.solver, self.shape = sparse_solver(None, None, stop_gradient(a.entries), a.rows, a.columns, a.shape[0]), a.shape

    def solve(self, rhs, trans="N"):
        a = self.matrix
        if trans == "H":
            return np.conj(sparse_solution(self.solver, a.entries, a.rows, a.columns, np.conj(rhs), True))
        return sparse_solution(self.solver, a.entries, a.rows, a.columns, np.asarray(rhs), trans == "T")

    def __call__(self, rhs):
        return self.solve(rhs)


IN_PYTHON.add(Decomposition)
composed({linalg.factorized: lambda A: Decomposition(A)}, always=True)
composed({linalg.splu: lambda A, permc_spec=None: Decomposition(A)}, always=True)


# ---- iterations ----


class Operator:
    """What `LinearOperator` makes of a function: a matrix by its products."""

    def __init__(self, shape, matvec):
        self.shape, self.matvec = shape, matvec

    def __matmul__(self, other):
        return self.matvec(other)

    def dot(self, other):
        return self.matvec(other)


IN_PYTHON.add(Operator)


@composed(linalg.LinearOperator, always=True)
def linear_operator(shape, matvec, rmatvec=None, matmat=None, dtype=None, rmatmat=None):
    return Operator(shape, matvec)


def iterated(solver, A, b, x0, options):
    """Return what an iterative solver returns: the solution, and 0 since it has been found."""
    right = np.asarray(b)
    given = {name: value for name, value in options.items() if value is not None}
    start = None if x0 is None else stop_gradient(np.asarray(x0))
    if isinstance(A, Operator):

        def product(x):
            return A.matvec(x)

        def residual(x):
            return A.matvec(x) - right

        plain = python_function(product, (stop_gradient(right),))
        found = solve_operator(solver, plain, stop_gradient(right), start, given)
        return differentiable(residual, found), 0
    a = as_sparse(A)
    solve = sparse_solver(solver, given, stop_gradient(a.entries), a.rows, a.columns, a.shape[0])
    found = first_solution(solve, stop_gradient(right), start)
    return found_solution(found, solve, a.entries, a.rows, a.columns, right), 0


composed({
    linalg.cg: lambda A, b, x0=None, *, rtol=None, atol=None, maxiter=None, M=None: iterated(
        linalg.cg, A, b, x0, {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M}
    ),
    linalg.cgs: lambda A, b, x0=None, *, rtol=None, atol=None, maxiter=None, M=None: iterated(
        linalg.cgs, A, b, x0, {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M}
    ),
    linalg.bicg: lambda A, b, x0=None, *, rtol=None, atol=None, maxiter=None, M=None: iterated(
        linalg.bicg, A, b, x0, {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M}
    ),
    linalg.bicgstab: lambda A, b, x0=None, *, rtol=None, atol=None, maxiter=None, M=None: iterated(
        linalg.bicgstab, A, b, x0, {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M}
    ),
    linalg.tfqmr: lambda A, b, x0=None, *, rtol=None, atol=None, maxiter=None, M=None: iterated(
        linalg.tfqmr, A, b, x0, {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M}
    ),
    linalg.minres: lambda A, b, x0=None, *, rtol=None, maxiter=None, M=None: iterated(
        linalg.minres, A, b, x0, {"rtol": rtol, "maxiter": maxiter, "M": M}
    ),
    linalg.gmres: lambda A, b, x0=None, *, rtol=None, atol=None, restart=None, maxiter=None, M=None: iterated(
        linalg.gmres, A, b, x0, {"rtol": rtol, "atol": atol, "restart": restart, "maxiter": maxiter, "M": M}
    ),
    linalg.lgmres: lambda A, b, x0=None, *, rtol=None, atol=None, maxiter=None, M=None: iterated(
        linalg.lgmres, A, b, x0, {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M}
    ),
    linalg.gcrotmk: lambda A, b, x0=None, *, rtol=None, atol=None, maxiter=None, M=None: iterated(
        linalg.gcrotmk, A, b, x0, {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M}
    ),
})


# ---- matrices that were decomposed outside of the program ----

SuperLU = type(linalg.splu(eye(2, format="csc")))
enter(SuperLU.solve, result=lambda fn, args, kwargs: Array(None, args[1].type.dims) if isinstance(args[1].type, Array) else UNKNOWN)


@adjoint(SuperLU.solve)
def superlu_solve_adjoint(y, lu, rhs, d_y, trans="N"):
    if trans == "H":
        return None, np.conj(lu.solve(np.conj(d_y), "N"))
    return None, lu.solve(d_y, "N" if trans == "T" else "T")


@tangent(SuperLU.solve)
def superlu_solve_tangent(y, lu, rhs, t_rhs, trans="N"):
    return lu.solve(t_rhs, trans)
