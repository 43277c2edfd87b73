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
def _(y, a, d_y):
    return cholesky_cotangent(d_y, y)


@adjoint(np.linalg.eigh)
def _(y, a, d_y, UPLO="L"):
    return eigh_cotangent(d_y[0], d_y[1], y[0], y[1], UPLO)


@adjoint(np.linalg.eigvalsh)
def _(y, a, d_y, UPLO="L"):
    v = np.linalg.eigh(a, UPLO)[1]
    return one_triangle((v * np.expand_dims(d_y, -2)) @ np.swapaxes(v, -1, -2), UPLO)


@adjoint(np.linalg.qr)
def _(y, a, d_y, mode="reduced"):
    return qr_cotangent(d_y, y, a, mode)


@adjoint(np.linalg.svd)
def _(y, a, full_matrices=True, compute_uv=True, d_y=None):
    return svd_cotangent(d_y, y, a, full_matrices, compute_uv), None, None


if hasattr(np.linalg, "svdvals"):

    @adjoint(np.linalg.svdvals)
    def _(y, a, d_y):
        u, _s, vt = np.linalg.svd(a, full_matrices=False)
        return (u * np.expand_dims(d_y, -2)) @ vt
