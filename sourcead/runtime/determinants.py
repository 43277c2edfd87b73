"""Derivatives of determinants, which are polynomials: they exist for singular matrices too.

The derivative of det(a) is the matrix of cofactors, and that of the cofactors, for a change e of a, is taken where a is diagonal. With
a = u diag(s) vt, cofactors of products are products of cofactors, and those of u are det(u) conj(u):

    change of cofactors = det(u) det(vt) conj(u) h conj(vt),       e' = u^H e vt^H
    h[i, j] = -e'[j, i] * (product of all s but s[i], s[j]),       h[i, i] = sum over j != i of e'[j, j] * (the same product)

Each cofactor is the determinant of a minor, up to its sign, so that further derivatives are those of the determinants of all minors.
"""

import numpy as np

from sourcead.runtime.reductions import product_of_others


def cofactors(a):
    """Return the derivative of `np.linalg.det(a)`, also where a is singular."""
    try:
        return np.linalg.det(a)[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2)
    except np.linalg.LinAlgError:
        u, s, vt = np.linalg.svd(a)
        sign = np.linalg.det(u) * np.linalg.det(vt)
        return sign[..., None, None] * np.conj((u * product_of_others(s, -1)[..., None, :]) @ vt)


def change_of_cofactors(a, change):
    """Return the change of `cofactors(a)` for a change of `a`; the map is symmetric, so it serves tangents and cotangents."""
    y, det = cofactors(a), np.linalg.det(a)[..., None, None]
    size = np.linalg.norm(a, axis=(-2, -1)) * np.linalg.norm(y, axis=(-2, -1))
    if np.all(size < 1e4 * np.abs(det[..., 0, 0])):  # the condition number below which the next formula loses four of sixteen digits
        return (np.sum(y * change, axis=(-2, -1), keepdims=True) * y - y @ np.swapaxes(change, -1, -2) @ y) / det
    u, s, vt = np.linalg.svd(a)
    within = np.swapaxes(np.conj(u), -1, -2) @ change @ np.swapaxes(np.conj(vt), -1, -2)
    diagonal = np.eye(a.shape[-1], dtype=bool)
    others = product_of_others(np.where(diagonal, 1, s[..., None, :]), -1) * ~diagonal
    turned = others @ np.diagonal(within, 0, -2, -1)[..., None] * diagonal - others * np.swapaxes(within, -1, -2)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return sign[..., None, None] * (np.conj(u) @ turned @ np.conj(vt))


def minors(a):
    """Return for each element of the matrices `a` the matrix without its row and its column, along two axes after those of the stack."""
    n = a.shape[-1]
    rest = np.nonzero(~np.eye(n, dtype=bool))[1].reshape(n, max(n - 1, 0))
    return a[..., rest[:, None, :, None], rest[None, :, None, :]]


def signs_of_cofactors(a):
    """Return the sign with which the determinant of each minor of `a` is its cofactor."""
    n = np.arange(a.shape[-1])
    return 1.0 - 2.0 * ((n[:, None] + n) % 2)
