"""Decompositions of matrices.

    a = l @ l.T               cholesky
    a = v @ diag(w) @ v.T     eigh
    a = q @ r                 qr (full column rank)
    a = u @ diag(s) @ vt      svd

NumPy's cholesky and eigh read one triangle of the matrix alone, so its cotangent is in that triangle alone: it is the derivative
of what NumPy computes, and where the matrix is made symmetric by the program the same as one shared between the triangles.

Where eigenvalues or singular values coincide, the cotangent of a function that does not depend on the choice of the vectors is
still finite; the terms that would divide by zero are left out.

M. Giles (2008); S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2010).
"""

import numpy as np

from sourcead.rules.registry import adjoint, tangent
from sourcead.runtime import cholesky_cotangent, eigh_cotangent, one_triangle, qr_cotangent, svd_cotangent
from sourcead.runtime_tangents import cholesky_tangent, eigh_tangent, from_triangle, qr_tangent, svd_left_tangent


@adjoint(np.linalg.cholesky)
def cholesky_adjoint(y, a, d_y):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.cholesky of complex matrices")
    return cholesky_cotangent(d_y, y)


@tangent(np.linalg.cholesky)
def _(y, a, t_a):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.cholesky of complex matrices")
    return cholesky_tangent(t_a, y)


@adjoint(np.linalg.eigh)
def eigh_adjoint(y, a, d_y, UPLO="L"):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.eigh of complex matrices")
    return eigh_cotangent(d_y[0], d_y[1], y[0], y[1], UPLO)


@tangent(np.linalg.eigh)
def _(y, a, t_a, UPLO="L"):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.eigh of complex matrices")
    t_w, t_v = eigh_tangent(t_a, y[0], y[1], UPLO)
    return t_w, t_v


@adjoint(np.linalg.eigvalsh)
def eigvalsh_adjoint(y, a, d_y, UPLO="L"):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.eigvalsh of complex matrices")
    v = np.linalg.eigh(a, UPLO)[1]
    return one_triangle((v * np.expand_dims(d_y, -2)) @ np.swapaxes(v, -1, -2), UPLO)


@tangent(np.linalg.eigvalsh)
def _(y, a, t_a, UPLO="L"):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.eigvalsh of complex matrices")
    v = np.linalg.eigh(a, UPLO)[1]
    return np.sum(v * (from_triangle(t_a, UPLO) @ v), axis=-2)


@adjoint(np.linalg.qr)
def qr_adjoint(y, a, d_y, mode="reduced"):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.qr of complex matrices")
    return qr_cotangent(d_y, y, a, mode)


@tangent(np.linalg.qr)
def qr_tangent_(y, a, t_a, mode="reduced"):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.qr of complex matrices")
    if mode == "r":
        q, r = np.linalg.qr(a)
        return qr_tangent(t_a, q, r)[1]
    if mode == "reduced":
        t_q, t_r = qr_tangent(t_a, y[0], y[1])
        return t_q, t_r
    raise NotImplementedError("the derivative of np.linalg.qr in modes besides 'reduced' and 'r'")


@adjoint(np.linalg.svd)
def svd_adjoint(y, a, full_matrices=True, compute_uv=True, d_y=None):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.svd of complex matrices")
    return svd_cotangent(d_y, y, a, full_matrices, compute_uv), None, None


@tangent(np.linalg.svd)
def svd_tangent(y, a, full_matrices=True, compute_uv=True, t_a=None):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.svd of complex matrices")
    u, s, vt = y if compute_uv else np.linalg.svd(a, full_matrices=False)
    k = s.shape[-1]
    t_s = np.sum(u[..., :, :k] * (t_a @ np.swapaxes(vt[..., :k, :], -1, -2)), axis=-2)
    if not compute_uv:
        return t_s
    t_u = svd_left_tangent(t_a, u, s, vt)
    t_v = svd_left_tangent(np.swapaxes(t_a, -1, -2), np.swapaxes(vt, -1, -2), s, np.swapaxes(u, -1, -2))
    return t_u, t_s, np.swapaxes(t_v, -1, -2)


if hasattr(np.linalg, "svdvals"):

    @adjoint(np.linalg.svdvals)
    def svdvals_adjoint(y, a, d_y):
        if np.iscomplexobj(a):
            raise NotImplementedError("the derivative of np.linalg.svdvals of complex matrices")
        u, _s, vt = np.linalg.svd(a, full_matrices=False)
        return (u * np.expand_dims(d_y, -2)) @ vt

    @tangent(np.linalg.svdvals)
    def svdvals_tangent(y, a, t_a):
        if np.iscomplexobj(a):
            raise NotImplementedError("the derivative of np.linalg.svdvals of complex matrices")
        u, _s, vt = np.linalg.svd(a, full_matrices=False)
        return np.sum(u * (t_a @ np.swapaxes(vt, -1, -2)), axis=-2)
