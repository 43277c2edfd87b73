"""Rules of products that sum over shared axes and are linear in each factor.

    y = a @ b             d_a = d_y @ b.T         d_b = a.T @ d_y         (matrices)
    y = outer(a, b)       d_a = d_y @ b           d_b = a @ d_y
    y = cross(a, b)       d_a = cross(b, d_y)     d_b = cross(d_y, a)
    y = einsum("ij,jk->ik", a, b)
                          d_a = einsum("ik,jk->ij", d_y, b), likewise d_b: the result's letters and the operand's change places
"""

import operator

import numpy as np

from sourcead.ir.types import UNKNOWN, Array, TupleT, Type, anydim
from sourcead.primitives.registry import adjoints, enter, family, infers, multilinear, tangent
from sourcead.primitives.result_types.by_example import sized
from sourcead.primitives.result_types.operands import array_type, need_dims
from sourcead.primitives.together import flat, together
from sourcead.runtime import (
    einsum_back, einsum_cotangents, einsum_is_plain, has_more, kron_cotangents, product_in_range, split_axes,
    tensordot_back, tensordot_cotangents, unbroadcast
)
from sourcead.runtime.matrices import planar_cross_cotangents

family(__name__, memory="fresh")


@multilinear(operator.matmul, np.matmul, np.linalg.matmul)
def matmul_adjoint(y, a, b, d_y):
    if a.ndim == 2 and b.ndim == 2:
        return d_y @ b.T, a.T @ d_y
    if a.ndim == 2 and b.ndim == 1:
        return np.outer(d_y, b), a.T @ d_y
    if a.ndim == 1 and b.ndim == 2:
        return b @ d_y, np.outer(a, d_y)
    if a.ndim == 1 and b.ndim == 1:
        return d_y * b, d_y * a
    if b.ndim == 1:
        return np.expand_dims(d_y, -1) * b, np.tensordot(d_y, a, d_y.ndim)
    if a.ndim == 1:
        d_a = np.tensordot(d_y, np.swapaxes(b, -1, -2), d_y.ndim)
        return d_a, np.expand_dims(a, -1) * np.expand_dims(d_y, -2)
    if b.ndim == 2:
        rows, _ = split_axes(a.ndim, -1)
        return d_y @ b.T, np.tensordot(a, d_y, (rows, rows))
    d_a = unbroadcast(d_y @ np.swapaxes(b, -1, -2), a)
    d_b = unbroadcast(np.swapaxes(a, -1, -2) @ d_y, b)
    return d_a, d_b


adjoints({product_in_range: matmul_adjoint})


@tangent(product_in_range)
def product_in_range_tangent(y, a, b, t_a, t_b):
    return t_a @ b, a @ t_b  # which may be of any size and sign


@multilinear(np.dot)
def dot_adjoint(y, a, b, d_y):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(d_y * b, a), unbroadcast(d_y * a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul_adjoint(y, a, b, d_y)
    return tensordot_cotangents(d_y, a, b, (-1, -2 if b.ndim > 1 else -1))


@multilinear(np.inner)
def inner_adjoint(y, a, b, d_y):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(d_y * b, a), unbroadcast(d_y * a, b)
    if a.ndim == 1 and b.ndim == 1:
        return d_y * b, d_y * a
    if a.ndim == 2 and b.ndim == 2:
        return d_y @ b, d_y.T @ a
    return tensordot_cotangents(d_y, a, b, (-1, -1))


@multilinear(np.vdot)
def vdot_adjoint(y, a, b, d_y):
    if np.iscomplexobj(a):
        return np.conj(d_y * np.reshape(b, np.shape(a))), np.reshape(np.conj(a), np.shape(b)) * d_y
    return d_y * np.reshape(b, np.shape(a)), d_y * np.reshape(a, np.shape(b))


@multilinear(np.outer, np.linalg.outer)
def outer_adjoint(y, a, b, d_y):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return d_y @ b, a @ d_y
    return np.reshape(d_y @ np.ravel(b), np.shape(a)), np.reshape(np.ravel(a) @ d_y, np.shape(b))


multilinear({
    np.multiply.outer: lambda y, a, b, d_y: tensordot_cotangents(d_y, a, b, 0),
    np.kron: lambda y, a, b, d_y: kron_cotangents(d_y, a, b),
})


@multilinear(np.cross, np.linalg.cross)
def cross_adjoint(y, a, b, d_y, axis=-1):
    if has_more(a, axis, 2) and has_more(b, axis, 2):
        return unbroadcast(np.cross(b, d_y, axis=axis), a), unbroadcast(np.cross(d_y, a, axis=axis), b)
    return planar_cross_cotangents(d_y, a, b, axis)


@multilinear(np.einsum, broadcasts=True)  # an axis of length 1 stretches to its letter's
def einsum_adjoint(y, subscripts, *operands, d_y, optimize=False):
    if einsum_is_plain(subscripts, len(operands)):
        if len(operands) == 1:
            return None, (np.einsum(einsum_back(subscripts, 0), d_y),)
        if len(operands) == 2:
            a, b = operands
            return None, (np.einsum(einsum_back(subscripts, 0), d_y, b), np.einsum(einsum_back(subscripts, 1), d_y, a))
    return None, einsum_cotangents(d_y, subscripts, operands)


@multilinear(np.tensordot, np.linalg.tensordot)
def tensordot_adjoint(y, a, b, axes=2, d_y=None):
    with_b, with_a, a_order, b_order = tensordot_back(np.ndim(a), np.ndim(b), axes)
    d_a, d_b = np.tensordot(d_y, b, with_b), np.tensordot(a, d_y, with_a)
    return d_a if a_order is None else np.transpose(d_a, a_order), d_b if b_order is None else np.transpose(d_b, b_order), None


# ---- memory, order and forms ----

enter(product_in_range, memory="fresh")
enter(np.matmul, operator.matmul, product_in_range, np.outer, np.kron, order="C")
enter(np.matmul, operator.matmul, np.dot, batched="product")
enter(np.outer, batched="outer")
enter(np.einsum, batched="einsum")
enter(operator.matmul, np.dot, np.inner, np.outer, np.vdot, np.kron, np.cross, sequences="arrays")
enter(operator.matmul, memory="operands")
enter(np.einsum, memory=lambda count, options: "fresh" if count > 2 and not options & {"out"} else "shared", view="maybe")
enter(
    np.matmul, operator.matmul, operator.imatmul, np.dot, np.inner, np.vdot, np.outer, np.tensordot, np.einsum, np.cross,
    product_in_range, np.linalg.cross, np.kron, np.linalg.solve, np.linalg.inv, np.linalg.cholesky, np.linalg.eigh, np.linalg.eigvalsh,
    result=sized,
)  # fmt: skip

# ---- types ----


@infers(np.linalg.lstsq)
def _lstsq(fn, args, kwargs) -> Type:
    x, residuals, _, singular_values = sized(fn, args, kwargs).items
    return TupleT((x, Array(residuals.dtype, (anydim(),)), UNKNOWN, singular_values))  # there may be no residuals


@infers(np.linalg.eig, np.linalg.eigvals)
def _eig(fn, args, kwargs) -> Type:
    dims = need_dims(args[0])
    dtype = array_type(args[0].type).dtype
    dtype = dtype if dtype is not None and dtype.kind == "c" else None  # real matrices may have real eigenvalues
    w = Array(dtype, dims[:-1])
    return w if fn is np.linalg.eigvals else TupleT((w, Array(dtype, dims)))


# ---- for all members of a batch ----


@together(np.cross, along="a b")
def _(a, b):
    return np.cross(a, b)


@together(np.kron, along="a b")
def _(a, b):
    if a.ndim == 2 and b.ndim == 2:
        return np.reshape(a[:, :, None] * b[:, None, :], (len(a), -1))
    if a.ndim == 3 and b.ndim == 3:
        rows, columns = a.shape[1] * b.shape[1], a.shape[2] * b.shape[2]
        return np.reshape(a[:, :, None, :, None] * b[:, None, :, None, :], (len(a), rows, columns))
    raise ValueError("arrays of another number of axes")


@together(np.inner, along="a b")
def _(a, b):
    if a.ndim == 2 and b.ndim == 2:
        return np.sum(a * b, axis=1)
    if a.ndim == 3 and b.ndim == 3:
        return a @ np.swapaxes(b, 1, 2)
    raise ValueError("arrays of another number of axes")


@together(np.vdot, along="a b")
def _(a, b):
    return np.sum(np.conj(flat(a)) * flat(b), axis=1)


@together(np.tensordot, along="a b")
def _(a, b, axes=2):
    if axes == 1 and a.ndim == 3 and b.ndim == 3:
        return a @ b
    if axes == 1 and a.ndim == 3 and b.ndim == 2:
        return (a @ b[:, :, None])[:, :, 0]
    if axes == 1 and a.ndim == 2 and b.ndim == 2 or axes == 2 and a.ndim == 3 and b.ndim == 3:
        return np.sum(flat(a) * flat(b), axis=1)
    raise ValueError("other axes")
