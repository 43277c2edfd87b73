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

from sourcead.rules.registry import adjoint
from sourcead.runtime import cholesky_cotangent, eigh_cotangent, one_triangle, qr_cotangent, svd_cotangent


@adjoint(np.linalg.cholesky)
def cholesky_adjoint(y, a, d_y):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.cholesky of complex matrices")
    return cholesky_cotangent(d_y, y)


@adjoint(np.linalg.eigh)
def eigh_adjoint(y, a, d_y, UPLO="L"):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.eigh of complex matrices")
    return eigh_cotangent(d_y[0], d_y[1], y[0], y[1], UPLO)


@adjoint(np.linalg.eigvalsh)
def eigvalsh_adjoint(y, a, d_y, UPLO="L"):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.eigvalsh of complex matrices")
    v = np.linalg.eigh(a, UPLO)[1]
    return one_triangle((v * np.expand_dims(d_y, -2)) @ np.swapaxes(v, -1, -2), UPLO)


@adjoint(np.linalg.qr)
def qr_adjoint(y, a, d_y, mode="reduced"):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.qr of complex matrices")
    return qr_cotangent(d_y, y, a, mode)


@adjoint(np.linalg.svd)
def svd_adjoint(y, a, full_matrices=True, compute_uv=True, d_y=None):
    if np.iscomplexobj(a):
        raise NotImplementedError("the derivative of np.linalg.svd of complex matrices")
    return svd_cotangent(d_y, y, a, full_matrices, compute_uv), None, None


if hasattr(np.linalg, "svdvals"):

    @adjoint(np.linalg.svdvals)
    def svdvals_adjoint(y, a, d_y):
        if np.iscomplexobj(a):
            raise NotImplementedError("the derivative of np.linalg.svdvals of complex matrices")
        u, _s, vt = np.linalg.svd(a, full_matrices=False)
        return (u * np.expand_dims(d_y, -2)) @ vt
