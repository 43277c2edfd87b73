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


def held(part, known):
    """Return a part that a function reads, which stays as it is while the text calculates on: arrays are copied, functions frozen."""
    if isinstance(part, np.ndarray):
        return part.copy()
    if type(part) in (tuple, list):
        return type(part)([held(item, known) for item in part])
    if type(part) is dict:
        return {key: held(item, known) for key, item in part.items()}
    return frozen(part, known) if type(part) is type(held) and part.__closure__ else part


def frozen(function, known=None):
    """Return a function of the text with the values that the variables which it reads have now, in the place of the variables.

    Args:
        function: the function.
        known: the functions that are frozen already, by the id of each; it may read itself.
    """
    known = {} if known is None else known
    if id(function) in known:
        return known[id(function)]
    cells = tuple([(lambda part: lambda: part)(None).__closure__[0] for _ in function.__closure__ or ()])  # one for each variable
    made = type(function)(function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)
    known[id(function)] = made
    for cell, new in zip(function.__closure__ or (), cells):
        try:
            new.cell_contents = held(cell.cell_contents, known)
        except ValueError:  # it is not assigned yet, and not read
            del new.cell_contents
    return made


def system_solver(product, pullback, x):
    """Return a function of a right side, and of whether the Jacobian is transposed, which returns the solution of the linear system.

    Args:
        product: a function of an array of shape (n,), which returns its product with the Jacobian at a root.
        pullback: the same with the transposed Jacobian.
        x: the root, of shape (n,).

    Returns:
        The function. Up to 200 unknowns, the Jacobian is computed by n products, at the first right side that is not zero. Beyond
        that, GMRES solves with up to n products; where these are not enough, it is computed as well.
    """
    count, known = len(x), []
    product, pullback = frozen(product), frozen(pullback)

    def solve_directly(b, transposed):
        if not known:
            known.append(np.stack([product(unit) for unit in np.eye(count)], axis=-1))
        return np.linalg.solve(known[0].T if transposed else known[0], b)

    def solve(b, transposed):
        if not np.any(b):
            return np.zeros_like(b)
        if count <= 200 or known:
            return solve_directly(b, transposed)
        from scipy.sparse.linalg import LinearOperator, gmres

        operator = LinearOperator((count, count), pullback if transposed else product, dtype=float)
        found, failed = gmres(operator, b, rtol=1e-13, atol=0.0, restart=min(count, 100), maxiter=max(1, count // 100))
        if failed and np.max(np.abs(operator.matvec(found) - b)) > 1e-11 * np.max(np.abs(b)):
            return solve_directly(b, transposed)
        return found

    return solve


def solve_system(solve, b, transposed):
    """Return the solution of a linear system by a function of `system_solver`."""
    return solve(b, transposed)


def solve_system_again(solve, b, transposed):
    """Return what `solve_system` returns, in the derivative of one: it has one derivative itself."""
    return solve(b, transposed)


def moved_root(x, step):
    """Return `x`, a root, with the derivatives of `x - step`: `step` is that of Newton's method, which is nearly zero."""
    return x


def check_root(x, value, jacobian):
    """Raise an error where a solver of a user's own has not converged: where a step of Newton's method still leads elsewhere.

    Args:
        x: what the solver returned.
        value: the residual there.
        jacobian: the Jacobian of the residual there, or a function that multiplies by it.

    Raises:
        RuntimeError: where the residual is not finite, or the step larger than 1e-3 of the largest unknown, or of 1.
    """
    far = not np.all(np.isfinite(value))
    if not far and np.any(value):
        at, left = np.ravel(x), np.ravel(value)
        if callable(jacobian):
            direction = left / np.sqrt(np.sum(left * left))
            slope = jacobian(direction) if len(left) > 200 else np.stack([jacobian(unit) for unit in np.eye(len(left))], axis=-1)
        else:
            slope = jacobian
        if np.ndim(slope) == 1:  # of many unknowns: along the residual alone
            step = np.max(np.abs(left)) / max(np.sqrt(np.sum(slope * slope)), np.finfo(float).tiny)
        else:
            step = np.max(np.abs(np.linalg.lstsq(slope, left, rcond=None)[0]))
        far = not step <= 1e-3 * max(1.0, np.max(np.abs(at)))
    if far:
        raise RuntimeError("a solver has not converged: the residual that is given to `implicit` is not zero at what it returned")
