"""Compositions of norms, condition numbers and tensor equations from functions of matrices."""

import numpy as np

from sourcead.primitives.compositions import composed, refuse
from sourcead.primitives.registry import enter

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
