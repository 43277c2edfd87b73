"""Rules of linear algebra: inverses, determinants, norms and chains of products.

    y = inv(a)         d_a = -y.T @ d_y @ y.T
    y = solve(a, b)    d_b = solve(a.T, d_y)      d_a = -d_b @ y.T
    y = det(a)         d_a = d_y * cofactors of a
    y = norm(x)        d_x = d_y * x / y, 0 where y is 0

M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008).
"""

import numpy as np

from sourcead.ir.types import UNKNOWN, kind_of
from sourcead.primitives.compositions import composed, refuse
from sourcead.primitives.reductions import cotangent_of, tangent_of
from sourcead.primitives.registry import adjoint, adjoints, enter, family, in_both_modes, linear, tangent, tangents
from sourcead.primitives.result_types.by_example import sized
from sourcead.runtime import (
    cofactors, diagonal_cotangent, divide_or_zero, matrix_norm_slope, matrix_power_cotangent, matrix_power_tangent,
    unbroadcast, vector_norm_slope
)
from sourcead.runtime.matrices import lstsq_cotangents, lstsq_tangents, pinv_cotangent, pinv_tangent

family(__name__, memory="fresh")


def transposed(a):
    """Return the transpose of a matrix, or of each matrix of a stack."""
    return a.T if a.ndim == 2 else np.swapaxes(a, -1, -2)


def over_matrices(d, a):
    """Return the cotangent `d` of one number per matrix of `a`, with two trailing axes if `a` is a stack, to broadcast against `a`."""
    return d if a.ndim == 2 else np.expand_dims(d, (-1, -2))


# ---- inverses and determinants ----

adjoints({
    np.linalg.inv: lambda y, a, d_y: -(transposed(y) @ d_y @ transposed(y)),
    np.linalg.det: lambda y, a, d_y: over_matrices(d_y, a) * cofactors(a),
    np.linalg.pinv: lambda y, a, d_y: pinv_cotangent(d_y, y, a),
    np.linalg.matrix_power: lambda y, a, n, d_y: (matrix_power_cotangent(d_y, a, n), None),
})
tangents({
    np.linalg.inv: lambda y, a, t_a: -(y @ t_a @ y),
    np.linalg.det: lambda y, a, t_a: (
        np.sum(cofactors(a) * t_a) if a.ndim == 2 else np.sum(cofactors(a) * t_a, axis=(-2, -1))
    ),
    np.linalg.pinv: lambda y, a, t_a: pinv_tangent(t_a, y, a),
    np.linalg.matrix_power: lambda y, a, n, t_a: matrix_power_tangent(t_a, a, n),
})


@adjoint(np.linalg.lstsq)
def lstsq_adjoint(y, a, b, rcond=None, d_y=None):
    d_a, d_b = lstsq_cotangents(d_y[0], y[0], a, b)
    return d_a, d_b, None


@tangent(np.linalg.lstsq)
def lstsq_tangent(y, a, b, rcond=None, t_a=None, t_b=None):
    by_a, by_b = lstsq_tangents(t_a, t_b, y[0], a, b)
    return (by_a, None, None, None), (by_b, None, None, None)


@adjoint(np.linalg.solve)
def solve_adjoint(y, a, b, d_y):
    if a.ndim == 2 and b.ndim == 1:
        d_b = np.linalg.solve(a.T, d_y)
        return -np.outer(d_b, y), d_b
    if a.ndim == 2 and b.ndim == 2:
        d_b = np.linalg.solve(a.T, d_y)
        return -(d_b @ y.T), d_b
    if b.ndim == 1:
        d_b = np.linalg.solve(np.swapaxes(a, -1, -2), np.expand_dims(d_y, -1))
        return -(d_b * np.expand_dims(y, -2)), unbroadcast(np.squeeze(d_b, -1), b)
    d_b = np.linalg.solve(np.swapaxes(a, -1, -2), d_y)
    return unbroadcast(-(d_b @ np.swapaxes(y, -1, -2)), a), unbroadcast(d_b, b)


@tangent(np.linalg.solve)
def solve_tangent(y, a, b, t_a, t_b):
    if b.ndim == 1 and a.ndim > 2:
        return -np.squeeze(np.linalg.solve(a, t_a @ np.expand_dims(y, -1)), -1), np.linalg.solve(a, t_b)
    return -np.linalg.solve(a, t_a @ y), np.linalg.solve(a, t_b)


@adjoint(np.linalg.slogdet)
def slogdet_adjoint(y, a, d_y):
    inverse = np.swapaxes(np.linalg.inv(a), -1, -2)
    if np.iscomplexobj(a):  # the sign is exp(1j * phase)
        return np.expand_dims(d_y[1] + 1j * np.imag(d_y[0] * y[0]), (-1, -2)) * inverse
    if a.ndim == 2:
        return d_y[1] * np.linalg.inv(a).T
    return np.expand_dims(d_y[1], (-1, -2)) * inverse


@tangent(np.linalg.slogdet)
def slogdet_tangent(y, a, t_a):
    t_log = np.trace(np.linalg.solve(a, t_a), axis1=-2, axis2=-1)
    if np.iscomplexobj(a):
        return 1j * y[0] * np.imag(t_log), np.real(t_log)
    return np.zeros_like(y[0]), t_log


# ---- norms ----


def norm_parts(y, x, ord, axis):
    """Return the parts of a norm as a reduction: what a sum goes through, and the slope at each element."""
    if ord is None or ord == "fro":
        return lambda d: divide_or_zero(d, y), lambda: np.conj(x) if np.iscomplexobj(x) else x
    if isinstance(axis, int) or (axis is None and x.ndim == 1):
        return lambda d: d, lambda: vector_norm_slope(x, ord, axis)
    return lambda d: d, lambda: matrix_norm_slope(x, ord, axis)


in_both_modes({np.linalg.norm: (
    lambda y, x, ord=None, axis=None, d_y=None, keepdims=False: (
        cotangent_of(x, *norm_parts(y, x, ord, axis), d_y, axis, keepdims), None, None
    ),
    lambda y, x, ord=None, axis=None, t_x=None, keepdims=False: (
        tangent_of(y, *norm_parts(y, x, ord, axis), t_x, axis, keepdims)
    ),
)})

# ---- chains of products, and diagonals ----


@adjoint(np.linalg.multi_dot)
def multi_dot_adjoint(y, arrays, d_y):
    result, k = [], len(arrays)
    for i in range(k):
        x = arrays[i]
        left = np.linalg.multi_dot(arrays[:i]) if i > 1 else arrays[0] if i == 1 else None
        right = np.linalg.multi_dot(arrays[i + 1 :]) if i < k - 2 else arrays[-1] if i == k - 2 else None
        d = d_y
        if left is not None:
            d = np.tensordot(left, d, axes=(0, 0)) if left.ndim == 2 else np.multiply.outer(left, d)
        if right is not None:
            d = np.tensordot(d, right, axes=(-1, -1)) if right.ndim == 2 else np.multiply.outer(d, right)
        result.append(np.reshape(d, x.shape).astype(x.dtype))
    return result


@tangent(np.linalg.multi_dot)
def multi_dot_tangent(y, arrays, t_arrays):
    k = len(arrays)
    return sum(np.linalg.multi_dot([t_arrays[j] if j == i else arrays[j] for j in range(k)]) for i in range(k))


linear({
    np.linalg.trace: lambda y, x, d_y, offset=0: (
        over_matrices(d_y, x) * np.eye(x.shape[-2], x.shape[-1], offset, dtype=x.dtype)
    ),
    np.linalg.diagonal: lambda y, x, d_y, offset=0: (
        diagonal_cotangent(d_y, x, offset, -2, -1)
    ),
})

# ---- memory, order and forms ----

enter(np.linalg.multi_dot, sequences="kept")
enter(
    np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky, np.linalg.eigh, np.linalg.eigvalsh, np.linalg.pinv,
    np.linalg.svd, np.linalg.qr, np.linalg.matrix_power, np.linalg.eigvals, batched="matrices",
)  # fmt: skip
enter(np.linalg.solve, batched="solve")
enter(np.linalg.norm, batched="norm")
enter(np.linalg.solve, np.linalg.lstsq, sequences="arrays")
enter(np.linalg.diagonal, memory="readonly", view="maybe")
enter(
    np.linalg.solve, np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.lstsq, np.linalg.pinv, np.linalg.matrix_power,
    numba="interpreted",
)  # fmt: skip
enter(np.linalg.matrix_power, same_at=(1, 1))
enter(np.linalg.lstsq, first_only=4)
enter(np.linalg.norm, np.linalg.pinv, result=sized)
enter(np.linalg.matrix_power, result=lambda fn, args, kwargs: args[0].type if kind_of(args[0].type) in ("float", "complex") else UNKNOWN)

# ---- norms, condition numbers and tensor equations from functions of matrices ----

composed({np.linalg.matrix_norm: lambda x, keepdims=False, ord="fro": np.linalg.norm(x, ord, (-2, -1), keepdims)})


@composed(np.linalg.cond)
def cond(x, p=None):
    if p is None or p == 2:
        s = np.linalg.svd(x, compute_uv=False)
        return s[..., 0] / s[..., -1]
    if p == -2:
        s = np.linalg.svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0]
    if x.ndim != 2:
        refuse("`np.linalg.cond` in this norm of several matrices")
    return np.linalg.norm(x, p) * np.linalg.norm(np.linalg.inv(x), p)


@composed(np.linalg.vector_norm)
def vector_norm(x, axis=None, keepdims=False, ord=2):
    if axis is None:
        if keepdims:
            return np.reshape(np.linalg.norm(np.ravel(x), ord), (1,) * x.ndim)
        return np.linalg.norm(np.ravel(x), ord)
    if isinstance(axis, tuple):
        refuse("`np.linalg.vector_norm` over several axes: reshape them into one")
    return np.linalg.norm(x, ord, axis, keepdims)


@composed(np.linalg.tensorinv)
def tensorinv(a, ind=2):
    old = a.shape
    n = 1
    for size in old[ind:]:
        n = n * size
    return np.reshape(np.linalg.inv(np.reshape(a, (n, -1))), old[ind:] + old[:ind])


@composed(np.linalg.tensorsolve)
def tensorsolve(a, b, axes=None):
    if axes is not None:
        order = [i for i in range(a.ndim) if i not in axes] + [i % a.ndim for i in axes]
        a = np.transpose(a, order)
    shape = a.shape[b.ndim :]
    return np.reshape(np.linalg.solve(np.reshape(a, (b.size, b.size)), np.ravel(b)), shape)


enter(np.linalg.cond, np.linalg.tensorinv, np.linalg.tensorsolve, memory="fresh")
enter(
    *(getattr(np.linalg, name) for name in ("matrix_norm", "vector_norm", "vecdot") if hasattr(np.linalg, name)),
    memory="fresh",
)
