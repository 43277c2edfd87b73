"""What determines the solution that a solver of SciPy has found."""

import numpy as np


def rows_of_vertex(rows, right, x, multipliers, equations):
    """Return which constraints determine a vertex, those that hold with equality there, as many as there are unknowns.

    Where more than needed hold with equality, equations come first, then those with a multiplier.

    Args:
        rows: the coefficients, of shape (m, n): `rows @ x <= right`, or `>=`, or `==` for the first `equations`.
        right: the right sides, of shape (m,); an infinite one constrains nothing.
        x: the vertex, of shape (n,).
        multipliers: the multiplier of each constraint, of shape (m,).
        equations: how many of the constraints are equations.

    Returns:
        The positions of the rows, an array of shape (n,).

    Raises:
        RuntimeError: where fewer hold with equality: the point is no vertex.
    """
    tiny = np.finfo(float).tiny
    lengths = np.sqrt(np.sum(rows * rows, axis=1))
    tight = np.abs(right - rows @ x) <= 1e-7 * (1.0 + np.abs(right) + np.abs(rows) @ np.abs(x))
    used = np.abs(multipliers) > 1e-7 * np.max(np.abs(multipliers), initial=0.0)
    weights = np.where(np.arange(len(right)) < equations, 1e6, np.where(used, 1e3, 1.0)) * (tight & np.isfinite(right))
    rest = rows * (weights / np.maximum(lengths, tiny))[:, None]
    chosen = np.zeros(len(x), dtype=int)
    for k in range(len(x)):
        left = np.sqrt(np.sum(rest * rest, axis=1))
        chosen[k] = np.argmax(left)
        if left[chosen[k]] <= 1e-9 * max(weights[chosen[k]], tiny):
            raise RuntimeError("the solution of a linear program is no vertex: others are as good, and it has no derivative")
        direction = rest[chosen[k]] / left[chosen[k]]
        rest = rest - np.outer(rest @ direction, direction)
    return chosen
