"""The composition of `scipy.optimize.linprog`: SciPy searches, and the solution has the derivative of its vertex.

A solution is a vertex: as many of the constraints hold with equality there, and are independent, as there are unknowns. While these stay
the same, x solves a linear system of their rows and right sides, which gives its derivative. It does not change with the costs. Where more
constraints than needed hold with equality, the vertex has derivatives on each side only; those with the largest multipliers are taken.
"""

import numpy as np
from scipy import optimize
from scipy.sparse import issparse

from sourcead.ir.types import Opaque
from sourcead.primitives.compositions import composed, refuse
from sourcead.primitives.registry import enter
from sourcead.primitives.scipy_systems import Solution, limits, vector
from sourcead.runtime import found_by_search, rows_of_vertex, stop_gradient, with_derivative_of

enter(optimize.linprog, result=lambda fn, args, kwargs: Opaque(optimize.OptimizeResult))


@composed(optimize.linprog)
def linprog(
    c, A_ub=None, b_ub=None, A_eq=None, b_eq=None, bounds=(0, None), method="highs", callback=None, options=None, x0=None, integrality=None
):  # fmt: skip
    if integrality is not None:
        refuse("`scipy.optimize.linprog` with integrality: its solution jumps")
    costs = vector(c) * 1.0
    count = len(costs)
    lower, upper = limits_of(bounds, count)
    above, most = rows_of(A_ub, b_ub, count)
    equal, values = rows_of(A_eq, b_eq, count)
    solved = optimize.linprog(
        stop_gradient(costs), stop_gradient(above), stop_gradient(most), stop_gradient(equal), stop_gradient(values),
        stop_gradient(np.stack((lower, upper), axis=1)), method=method, options=options,
    )  # fmt: skip
    if not solved.success:
        raise RuntimeError("`scipy.optimize.linprog` found no solution")
    found = found_by_search(solved.x, stop_gradient(costs))

    rows = np.concatenate((equal, above, np.eye(count), np.eye(count)))
    right = np.concatenate((values, most, lower, upper))
    multipliers = np.concatenate((
        found_by_search(solved.eqlin.marginals, 1), found_by_search(solved.ineqlin.marginals, 1),
        found_by_search(solved.lower.marginals, 1), found_by_search(solved.upper.marginals, 1),
    ))  # fmt: skip
    chosen = rows_of_vertex(rows, right, found, multipliers, len(values))
    x = with_derivative_of(found, np.linalg.solve(rows[chosen], right[chosen]))
    solution = Solution(solved, x, costs @ x)
    solution.slack, solution.con = most - above @ x, values - equal @ x
    return solution


def rows_of(matrix, right, count):
    """Return the rows and right sides of constraints, of which there may be none."""
    if matrix is None or right is None:
        return np.zeros((0, count)), np.zeros(0)
    rows = np.asarray(matrix.toarray() if issparse(matrix) else matrix) * 1.0
    return np.reshape(rows, (-1, count)), vector(right) * 1.0


def limits_of(bounds, count):
    """Return the lower and the upper bounds, of a pair for all unknowns or one for each, in which None is none."""
    if bounds is None:
        return np.zeros(count), np.full(count, np.inf)
    if isinstance(bounds, np.ndarray):
        pairs = np.reshape(bounds, (-1, 2))
        return np.zeros(count) + pairs[:, 0], np.zeros(count) + pairs[:, 1]
    lower, upper = limits([bounds] if len(bounds) == 2 and np.ndim(bounds[0]) == 0 else bounds)
    return np.zeros(count) + lower, np.zeros(count) + upper
