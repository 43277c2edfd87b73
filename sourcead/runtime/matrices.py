"""Cotangents and tangents of matrix decompositions, norms, linear equations and functions of matrices.

Cotangents pair with tangents without a conjugate, as Re(sum(d * t)): a formula of the literature for the conjugate cotangent g is
applied to g = conj(d), and its result is conjugated.
"""

import numpy as np

from sourcead.runtime.broadcasting import unbroadcast
from sourcead.runtime.checks import refuse_now
from sourcead.runtime.elementwise import direction
from sourcead.runtime.triangular import inverse_lower


def conjugate_transpose(x):
    """Return the conjugate transposes of the matrices `x`."""
    turned = np.swapaxes(x, -1, -2)
    return np.conj(turned) if np.iscomplexobj(x) else turned


def conjugate(d):
    """Return the conjugate of a cotangent, or `d` itself if it is real or None."""
    return np.conj(d) if np.iscomplexobj(d) else d


def over_gaps(inner, w):
    """Return inner[i, j] / (w[j] - w[i]), 0 on the diagonal; 0 / 0 is 0, and anything else over 0 is nan: its limit is not known here."""
    gaps = w[..., None, :] - w[..., :, None]
    equal = gaps == 0
    found = inner * ~equal / np.where(equal, 1, gaps)
    return np.where(equal & ~np.eye(w.shape[-1], dtype=bool) & (inner != 0), np.nan, found)


def with_diagonal(matrix, diagonal):
    """Return the matrix with `diagonal` added to its diagonal."""
    return matrix + np.eye(matrix.shape[-1], dtype=diagonal.dtype) * np.expand_dims(diagonal, -1)


# ---- Hermitian matrices of which one triangle is read ----


def one_triangle(d, UPLO="L"):
    """Return the cotangent of the triangle that is read of a Hermitian matrix, whose full cotangent is `d`."""
    d = d + conjugate_transpose(d)
    d = np.tril(d) if UPLO in "Ll" else np.triu(d)
    return d - np.eye(d.shape[-1], dtype=d.dtype) * d / 2


def from_triangle(t, UPLO="L"):
    """Return the Hermitian tangent of a Hermitian matrix of which one triangle is read, from that triangle of `t`."""
    half = np.tril(t) if UPLO in "Ll" else np.triu(t)
    return half + conjugate_transpose(half) - np.eye(t.shape[-1], dtype=t.dtype) * np.real(half)


def cholesky_cotangent(d_y, y):
    """Return the cotangent of `a` in `y = np.linalg.cholesky(a)`, which reads only the lower triangle of `a`."""
    inner = np.tril(conjugate_transpose(y) @ conjugate(d_y))
    inverse = inverse_lower(y)
    half = inner - np.eye(y.shape[-1], dtype=y.dtype) * inner / 2
    return one_triangle(conjugate(conjugate_transpose(inverse) @ half @ inverse))


def cholesky_tangent(t_a, y):
    """Return the tangent of `y = np.linalg.cholesky(a)`, which reads only the lower triangle of `a`."""
    left = np.linalg.solve(y, from_triangle(t_a))
    inner = np.tril(np.linalg.solve(y, conjugate_transpose(left)))
    return y @ (inner - inner * np.eye(y.shape[-1], dtype=y.dtype) / 2)


def eigh_cotangent(d_w, d_v, w, v, UPLO="L"):
    """Return the cotangent of `a` in `w, v = np.linalg.eigh(a, UPLO)`, which reads only one triangle of `a`."""
    v_h = conjugate_transpose(v)
    inner = np.zeros_like(v) if d_v is None else over_gaps(v_h @ conjugate(d_v), w)
    if d_w is not None:
        inner = with_diagonal(inner, d_w)
    return one_triangle(conjugate(v @ inner @ v_h), UPLO)


def eigh_tangent(t_a, w, v, UPLO="L"):
    """Return the tangents of `w, v = np.linalg.eigh(a, UPLO)`, which reads only one triangle of `a`."""
    inner = conjugate_transpose(v) @ from_triangle(t_a, UPLO) @ v
    return np.real(np.diagonal(inner, axis1=-2, axis2=-1)), v @ over_gaps(inner, w)


# ---- eigenvalues of any matrix ----


def eig_cotangent(d_w, d_v, w, v, a):
    """Return the cotangent of `a` in `w, v = np.linalg.eig(a)`, for distinct eigenvalues and a result that ignores the phases of `v`."""
    v_h = conjugate_transpose(v)
    inner = np.zeros_like(v)
    if d_v is not None:
        overlap = v_h @ conjugate(d_v)
        along = np.diagonal(overlap, axis1=-2, axis2=-1)[..., None, :]  # the length of v stays 1
        inner = over_gaps(overlap - v_h @ v * along, conjugate(w))
    if d_w is not None:
        inner = with_diagonal(inner, conjugate(d_w))
    d_a = conjugate(np.linalg.solve(v_h, inner @ v_h))
    return d_a if np.iscomplexobj(a) else np.real(d_a)


def eig_tangent(t_a, w, v):
    """Return the tangents of `w, v = np.linalg.eig(a)`, for distinct eigenvalues."""
    inner = np.linalg.solve(v, t_a @ v)
    t_v = v @ over_gaps(inner, w)
    along = np.sum(np.conj(v) * t_v, axis=-2, keepdims=True)
    return np.diagonal(inner, axis1=-2, axis2=-1), t_v - v * along


# ---- qr ----


def qr_cotangent(d_y, y, a, mode="reduced"):
    """Return the cotangent of `a` in `q, r = np.linalg.qr(a)`, where the first columns of `a` are linearly independent."""
    if mode not in ("reduced", "r", "complete"):
        refuse_now("np.linalg.qr in this mode has no derivative")
    q, r = np.linalg.qr(a) if mode == "r" else (y[0], y[1])
    d_q, d_r = (np.zeros_like(q), d_y) if mode == "r" else (d_y[0], d_y[1])
    k = min(a.shape[-2], a.shape[-1])
    if np.any(d_q[..., k:]):
        refuse_now("np.linalg.qr in this mode has no derivative: the columns of q beyond those of a are not determined")
    q, r = q[..., :k], r[..., :k, :]
    g_q, g_r = conjugate(d_q)[..., :k], conjugate(d_r)[..., :k, :]
    if a.shape[-1] > k:  # r = [r1, q^H a2]
        g_rest = g_r[..., k:]
        g_q = g_q + a[..., k:] @ conjugate_transpose(g_rest)
        return conjugate(np.concatenate([tall_qr_cotangent(g_q, g_r[..., :k], q, r[..., :k]), q @ g_rest], axis=-1))
    return conjugate(tall_qr_cotangent(g_q, g_r, q, r))


def tall_qr_cotangent(g_q, g_r, q, r):
    """Return the conjugate cotangent of `a` in `q, r = np.linalg.qr(a)`, for matrices with no more columns than rows."""
    m = r @ conjugate_transpose(g_r) - conjugate_transpose(g_q) @ q
    low = np.tril(m, -1)
    hermitian = low + conjugate_transpose(low) + np.eye(r.shape[-1], dtype=m.dtype) * np.real(m)
    return conjugate_transpose(np.linalg.solve(r, conjugate_transpose(g_q + q @ hermitian)))


def qr_tangent(t_a, q, r, a):
    """Return the tangents of `q, r = np.linalg.qr(a)`, where the first columns of `a` are linearly independent."""
    k = r.shape[-2]
    first = r[..., :k]
    t_first = t_a[..., :k]
    x = conjugate_transpose(np.linalg.solve(conjugate_transpose(first), conjugate_transpose(t_first)))  # t_first @ inv(first)
    inner = conjugate_transpose(q) @ x
    low = np.tril(inner, -1)
    turned = low - conjugate_transpose(low)
    if np.iscomplexobj(inner):  # the diagonal of r is real
        turned = turned + 1j * np.eye(k, dtype=first.dtype) * np.imag(inner)
    t_q, t_r = x - q @ (inner - turned), (inner - turned) @ first
    if a.shape[-1] > k:
        t_r = np.concatenate([t_r, conjugate_transpose(t_q) @ a[..., k:] + conjugate_transpose(q) @ t_a[..., k:]], axis=-1)
    return t_q, t_r


# ---- singular values ----


def svd_cotangent(d_y, y, a, full_matrices=True, compute_uv=True):
    """Return the cotangent of `a` in `u, s, vt = np.linalg.svd(a)`."""
    u, s, vt = np.linalg.svd(a, full_matrices=False) if not compute_uv else y
    d_u, d_s, d_vt = (None, d_y, None) if not compute_uv else d_y
    k = s.shape[-1]
    if d_u is not None and np.any(d_u[..., :, k:]) or d_vt is not None and np.any(d_vt[..., k:, :]):
        refuse_now("the columns that np.linalg.svd adds with full_matrices=True are not determined and have no derivative")
    u, vt = u[..., :, :k], vt[..., :k, :]
    u_h, v = conjugate_transpose(u), conjugate_transpose(vt)
    inner = np.zeros((*s.shape, k), dtype=a.dtype)
    if d_s is not None:
        inner = with_diagonal(inner, d_s)
    over = (s != 0) / np.where(s == 0, 1, s)
    g_a = 0
    if d_u is not None:
        g_u = conjugate(d_u)[..., :, :k]
        overlap = u_h @ g_u
        m = over_gaps(overlap, s * s)
        inner = inner + (m + conjugate_transpose(m)) * s[..., None, :]
        if np.iscomplexobj(a):  # the phase that each column of u shares with its row of vt
            inner = with_diagonal(inner, 1j * np.imag(np.diagonal(overlap, axis1=-2, axis2=-1)) * over)
        g_a = g_a + ((g_u - u @ overlap) * over[..., None, :]) @ vt
    if d_vt is not None:
        g_v = conjugate_transpose(conjugate(d_vt)[..., :k, :])
        overlap = vt @ g_v
        m = over_gaps(overlap, s * s)
        inner = inner + s[..., :, None] * (m + conjugate_transpose(m))
        g_a = g_a + (u * over[..., None, :]) @ conjugate_transpose(g_v - v @ overlap)
    return conjugate(g_a + u @ inner @ vt)


def svd_left_tangent(t_a, u, s, vt, phase=False):
    """Return the tangent of `u` in `u, s, vt = np.linalg.svd(a)`, with the change of the phases if `phase` is true, which v then omits."""
    k = s.shape[-1]
    if u.shape[-1] > k:
        refuse_now("the columns that np.linalg.svd adds with full_matrices=True are not determined and have no derivative")
    moved = t_a @ conjugate_transpose(vt[..., :k, :])
    inner = conjugate_transpose(u) @ moved
    over = (s != 0) / np.where(s == 0, 1, s)
    turned = over_gaps(inner * s[..., None, :] + s[..., :, None] * conjugate_transpose(inner), s * s)
    if phase and np.iscomplexobj(inner):
        turned = with_diagonal(turned, 1j * np.imag(np.diagonal(inner, axis1=-2, axis2=-1)) * over)
    return u @ turned + (moved - u @ inner) * over[..., None, :]


# ---- equations ----


def lstsq_cotangents(d_y, y, a, b):
    """Return the cotangents of `a` and `b` in `y = np.linalg.lstsq(a, b)[0]`, for matrices of full rank."""
    inverse = np.linalg.pinv(a)
    inverse_h = conjugate_transpose(inverse)
    g_b = inverse_h @ conjugate(d_y)
    columns = (a.shape[1], -1)
    gy, yy, gb = np.reshape(conjugate(d_y), columns), np.reshape(y, columns), np.reshape(g_b, (a.shape[0], -1))
    residual = np.reshape(b - a @ y, (a.shape[0], -1))
    g_a = residual @ conjugate_transpose(inverse @ inverse_h @ gy) - gb @ conjugate_transpose(yy)
    if a.shape[0] < a.shape[1]:  # the shortest of many solutions
        g_a = g_a + (inverse_h @ yy) @ conjugate_transpose(gy - inverse @ (a @ gy))
    d_a, d_b = conjugate(g_a), conjugate(g_b)
    return d_a if np.iscomplexobj(a) else np.real(d_a), d_b if np.iscomplexobj(b) else np.real(d_b)


def lstsq_tangents(t_a, t_b, y, a, b):
    """Return the contributions of `t_a` and `t_b` to the tangent of `y = np.linalg.lstsq(a, b)[0]`, for matrices of full rank."""
    inverse = np.linalg.pinv(a)
    inverse_h, t_h = conjugate_transpose(inverse), conjugate_transpose(t_a)
    by_a = inverse @ (inverse_h @ (t_h @ (b - a @ y)) - t_a @ y)
    if a.shape[0] < a.shape[1]:  # the shortest of many solutions
        w = t_h @ (inverse_h @ y)
        by_a = by_a + w - inverse @ (a @ w)
    return by_a, inverse @ t_b


def pinv_cotangent(d_y, y, a):
    """Return the cotangent of `a` in `y = np.linalg.pinv(a)`, where the rank does not change."""
    y_h, g_y = conjugate_transpose(y), conjugate(d_y)
    g_h = conjugate_transpose(g_y)
    left = np.eye(a.shape[-2], dtype=a.dtype) - a @ y
    right = np.eye(a.shape[-1], dtype=a.dtype) - y @ a
    return conjugate(left @ g_h @ y @ y_h + y_h @ y @ g_h @ right - y_h @ g_y @ y_h)


def pinv_tangent(t_a, y, a):
    """Return the tangent of `y = np.linalg.pinv(a)`, where the rank does not change."""
    y_h, t_h = conjugate_transpose(y), conjugate_transpose(t_a)
    left = np.eye(a.shape[-2], dtype=a.dtype) - a @ y
    right = np.eye(a.shape[-1], dtype=a.dtype) - y @ a
    return y @ y_h @ t_h @ left + right @ t_h @ y_h @ y - y @ t_a @ y


def read_triangle(t, lower=False, unit_diagonal=False):
    """Return the part of a matrix that `scipy.linalg.solve_triangular` reads, with zeros elsewhere."""
    off = 1 if unit_diagonal else 0
    return np.tril(t, -off) if lower else np.triu(t, off)


def banded_cotangents(solve, d_y, y, l_and_u, ab):
    """Return the cotangents of `ab` and `b` in `y = solve((l, u), ab, b)`, which solves a banded system."""
    low, up = l_and_u
    n = ab.shape[1]
    turned, d_ab = np.zeros_like(ab), np.zeros_like(ab)
    for k in range(-low, up + 1):  # a diagonal: a[j - k, j] stands in ab[up - k, j]
        right, left = max(k, 0), max(-k, 0)
        turned[low + k, left : n - right] = ab[up - k, right : n - left]
    d_b = solve((up, low), turned, d_y)
    for k in range(-low, up + 1):
        right, left = max(k, 0), max(-k, 0)
        product = d_b[left : n - right] * y[right : n - left]
        d_ab[up - k, right : n - left] = -(product if product.ndim == 1 else np.sum(product, axis=-1))
    return d_ab, d_b


def banded_tangent(t_ab, y, l_and_u):
    """Return the product of the banded matrix `t_ab` and `y`."""
    low, up = l_and_u
    n = t_ab.shape[1]
    result = np.zeros_like(y)
    for k in range(-low, up + 1):
        right, left = max(k, 0), max(-k, 0)
        diagonal = np.reshape(t_ab[up - k, right : n - left], (-1,) + (1,) * (y.ndim - 1))
        result[left : n - right] += diagonal * y[right : n - left]
    return result


# ---- functions of matrices ----


def frechet(function, a, t):
    """Return the derivative of a function of matrices at `a` in the direction `t`, which is a block of function([[a, t], [0, a]])."""
    n = a.shape[-1]
    rows = np.concatenate([a, t], -1), np.concatenate([np.zeros_like(a), a], -1)
    return function(np.concatenate(rows, -2))[..., :n, n:]


def inverse_frechet(function, y, t):
    """Return the derivative of the inverse of `function`: the direction in which the derivative of `function` at `y` is `t`."""
    n = y.shape[-1]
    columns = [np.ravel(frechet(function, y, e)) for e in np.reshape(np.eye(n * n, dtype=y.dtype), (n * n, n, n))]
    return np.reshape(np.linalg.solve(np.stack(columns, -1), np.ravel(t)), (n, n))


# ---- cross products in the plane ----


def planar_cross_cotangents(d_y, a, b, axis):
    """Return the cotangents of `a` and `b` in `y = np.cross(a, b, axis=axis)`, where vectors with two components have a zero third."""
    flat_a, flat_b = np.shape(a)[axis] == 2, np.shape(b)[axis] == 2
    if flat_a and flat_b:  # y is the third component alone
        d = np.expand_dims(d_y, axis)
        d_y = np.concatenate([0 * d, 0 * d, d], axis)
    in_space = [np.concatenate([x, 0 * np.take(x, [0], axis)], axis) if flat else x for x, flat in ((a, flat_a), (b, flat_b))]
    d_a, d_b = np.cross(in_space[1], d_y, axis=axis), np.cross(d_y, in_space[0], axis=axis)
    d_a = np.take(d_a, [0, 1], axis) if flat_a else d_a
    d_b = np.take(d_b, [0, 1], axis) if flat_b else d_b
    return unbroadcast(d_a, a), unbroadcast(d_b, b)


# ---- powers and norms ----


def matrix_power_tangent(t_a, a, n):
    """Return the tangent of `y = np.linalg.matrix_power(a, n)`."""
    if n < 0:
        a = np.linalg.inv(a)
        t_a = -(a @ t_a @ a)
    t, power = np.zeros_like(a), np.linalg.matrix_power(a, 0)
    for _ in range(abs(n)):
        t = t @ a + power @ t_a
        power = power @ a
    return t


def matrix_power_cotangent(d_y, a, n):
    """Return the cotangent of `a` in `y = np.linalg.matrix_power(a, n)`, which is the tangent for the transpose of `a`."""
    return matrix_power_tangent(d_y, np.swapaxes(a, -1, -2), n)


def vector_norm_slope(x, ord=None, axis=None):
    """Return the derivative of `np.linalg.norm(x, ord, axis)` over one axis."""
    size = np.abs(x)
    sign = direction(x)
    if ord in (np.inf, -np.inf):
        end = np.max(size, axis=axis, keepdims=True) if ord > 0 else np.min(size, axis=axis, keepdims=True)
        hit = (size == end).astype(x.dtype)
        return sign * hit / np.sum(hit, axis=axis, keepdims=True)
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return sign
    norm = np.linalg.norm(x, ord, axis, keepdims=True)
    return sign * np.where(norm == 0, 0, size / np.where(norm == 0, 1, norm)) ** (ord - 1)


def matrix_norm_slope(x, ord, axis=None):
    """Return the derivative of `np.linalg.norm(x, ord, axis)` for matrices."""
    rows, columns = (0, 1) if axis is None else (axis[0] % x.ndim, axis[1] % x.ndim)
    if ord in (1, -1, np.inf, -np.inf):
        along, across = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = np.sum(np.abs(x), axis=along, keepdims=True)
        end = np.max(sums, axis=across, keepdims=True) if ord > 0 else np.min(sums, axis=across, keepdims=True)
        hit = (sums == end).astype(x.dtype)
        return direction(x) * hit / np.sum(hit, axis=across, keepdims=True)
    u, s, vt = np.linalg.svd(np.moveaxis(x, (rows, columns), (-2, -1)), full_matrices=False)
    if ord == "nuc":
        slope = (u * (s > 0)[..., None, :]) @ vt
    else:
        hit = (s == (s[..., :1] if ord > 0 else s[..., -1:])).astype(x.dtype)
        slope = (u * (hit / np.sum(hit, axis=-1, keepdims=True))[..., None, :]) @ vt
    return np.conj(np.moveaxis(slope, (-2, -1), (rows, columns)))
