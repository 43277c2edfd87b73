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
from sourcead.primitives.registry import adjoint, enter, family, infers, multilinear
from sourcead.primitives.result_types.by_example import sample, sized
from sourcead.primitives.result_types.dims import broadcast_dim, broadcast_dims
from sourcead.primitives.result_types.operands import Arg, Impossible, arrange, array_type, const, need_dims, only
from sourcead.runtime import (
    dot_cotangents, einsum_back, einsum_cotangents, einsum_is_plain, kron_cotangents, tensordot_cotangents, unbroadcast
)
from sourcead.runtime.matrices import planar_cross_cotangents

family(__name__, memory="fresh")


@adjoint(operator.matmul, np.matmul, np.linalg.matmul)
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
    d_a = unbroadcast(d_y @ np.swapaxes(b, -1, -2), a)
    d_b = unbroadcast(np.swapaxes(a, -1, -2) @ d_y, b)
    return d_a, d_b


@adjoint(np.dot)
def dot_adjoint(y, a, b, d_y):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(d_y * b, a), unbroadcast(d_y * a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul_adjoint(y, a, b, d_y)
    return dot_cotangents(d_y, a, b)


@adjoint(np.inner)
def inner_adjoint(y, a, b, d_y):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(d_y * b, a), unbroadcast(d_y * a, b)
    if a.ndim == 1 and b.ndim == 1:
        return d_y * b, d_y * a
    if a.ndim == 2 and b.ndim == 2:
        return d_y @ b, d_y.T @ a
    return tensordot_cotangents(d_y, a, b, (-1, -1))


@adjoint(np.vdot)
def vdot_adjoint(y, a, b, d_y):
    if np.iscomplexobj(a):
        return np.conj(d_y * np.reshape(b, np.shape(a))), np.reshape(np.conj(a), np.shape(b)) * d_y
    return d_y * np.reshape(b, np.shape(a)), d_y * np.reshape(a, np.shape(b))


@adjoint(np.outer, np.linalg.outer)
def outer_adjoint(y, a, b, d_y):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return d_y @ b, a @ d_y
    return np.reshape(d_y @ np.ravel(b), np.shape(a)), np.reshape(np.ravel(a) @ d_y, np.shape(b))


multilinear({
    np.multiply.outer: lambda y, a, b, d_y: tensordot_cotangents(d_y, a, b, 0),
    np.kron: lambda y, a, b, d_y: kron_cotangents(d_y, a, b),
})


@adjoint(np.cross, np.linalg.cross)
def cross_adjoint(y, a, b, d_y, axis=-1):
    if a.shape[axis] == 3 and b.shape[axis] == 3:
        return unbroadcast(np.cross(b, d_y, axis=axis), a), unbroadcast(np.cross(d_y, a, axis=axis), b)
    return planar_cross_cotangents(d_y, a, b, axis)


@adjoint(np.einsum, broadcasts=True)  # an axis of length 1 stretches to its letter's
def einsum_adjoint(y, subscripts, *operands, d_y, optimize=False):
    if einsum_is_plain(subscripts):
        if len(operands) == 1:
            return None, (np.einsum(einsum_back(subscripts, 0), d_y),)
        if len(operands) == 2:
            a, b = operands
            return None, (np.einsum(einsum_back(subscripts, 0), d_y, b), np.einsum(einsum_back(subscripts, 1), d_y, a))
    return None, einsum_cotangents(d_y, subscripts, operands)


@adjoint(np.tensordot, np.linalg.tensordot)
def tensordot_adjoint(y, a, b, axes=2, d_y=None):
    d_a, d_b = tensordot_cotangents(d_y, a, b, axes)
    return d_a, d_b, None


multilinear(operator.matmul, np.matmul, np.linalg.matmul, np.dot, np.inner, np.vdot, np.outer, np.linalg.outer)
multilinear(np.tensordot, np.linalg.tensordot, np.cross, np.linalg.cross, np.einsum)

# ---- memory, order and forms ----

enter(np.matmul, operator.matmul, np.outer, np.kron, order="C")
enter(np.matmul, operator.matmul, np.dot, batched="product")
enter(np.outer, batched="outer")
enter(operator.matmul, np.dot, np.inner, np.outer, np.vdot, np.kron, np.cross, sequences="arrays")
enter(operator.matmul, memory="operands")
enter(np.einsum, memory=lambda count, options: "fresh" if count > 2 and not options & {"out"} else "shared", view="maybe")
enter(np.outer, result=sized)

# ---- types ----


def _product(fn, args, dims) -> Type:
    """Return the type of a product with these dims; examples give the dtype and whether it is a scalar."""
    if any(isinstance(a.type, Array) and a.type.dtype is None for a in args):
        if not dims:
            raise Impossible
        return Array(None, dims)
    # contracted axes must agree in the example even where a dim is 1 in one operand and unknown in the other
    result = sample(fn, [Arg(_all_many(a.type)) for a in args], {})
    if not isinstance(result, Array):
        return result
    if len(result.dims) != len(dims):
        raise Impossible
    return Array(result.dtype, dims)


def _all_many(t):
    return Array(t.dtype, (4,) * len(t.dims)) if isinstance(t, Array) else t


_DIMS = {
    operator.matmul: lambda a, b: (*broadcast_dims(a[:-2], b[:-2]), *a[-2:-1], *b[1:][-1:]),
    np.dot: lambda a, b: (*a[:-1], *b[:-2], *b[1:][-1:]) if a and b else a + b,
    np.inner: lambda a, b: a[:-1] + b[:-1] if a and b else a + b,
    np.vdot: lambda a, b: (),
    np.linalg.solve: lambda a, b: b if len(b) == 1 else (*broadcast_dims(a[:-2], b[:-2]), *b[-2:]),
}
"""Functions of two arrays -> the dims of the result, given those of the arrays."""


@infers(*_DIMS, np.matmul, operator.imatmul)
def _of_two(fn, args, kwargs) -> Type:
    given = arrange("a b out", args, kwargs)
    only(given, "a b")
    fn = fn if fn in _DIMS else operator.matmul
    args = [given["a"], given["b"]]
    a, b = map(need_dims, args)
    if fn is operator.matmul and not (a and b) or fn is np.linalg.solve and len(b) == 1 and len(a) != 2:
        raise Impossible
    return _product(fn, args, _DIMS[fn](a, b))


@infers(np.tensordot)
def _tensordot(fn, args, kwargs) -> Type:
    given = arrange("a b axes", args, kwargs)
    a, b = need_dims(given["a"]), need_dims(given["b"])
    axes = const(given.get("axes"), 2)
    if isinstance(axes, (int, np.integer)):
        left, right = range(len(a) - axes, len(a)), range(axes)
    else:
        left, right = ((n,) if isinstance(n, (int, np.integer)) else tuple(n) for n in axes)
    left, right = [i % len(a) for i in left], [i % len(b) for i in right]
    dims = tuple(d for i, d in enumerate(a) if i not in left) + tuple(d for i, d in enumerate(b) if i not in right)
    types = [x.type for x in (given["a"], given["b"])]
    if any(t.dtype is None for t in types if isinstance(t, Array)):
        return Array(None, dims)
    return Array(np.result_type(*(array_type(t).dtype for t in types)), dims)  # also of rank 0


@infers(np.einsum)
def _einsum(fn, args, kwargs) -> Type:
    only(kwargs, "optimize")
    subscripts = const(args[0])
    operands = args[1:]
    if not isinstance(subscripts, str) or "." in subscripts:
        raise Impossible
    subscripts = subscripts.replace(" ", "")
    inputs, arrow, output = subscripts.partition("->")
    terms = inputs.split(",")
    if not arrow:
        letters = inputs.replace(",", "")
        output = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    if len(terms) != len(operands):
        raise Impossible
    size: dict = {}
    for term, operand in zip(terms, operands):
        dims = need_dims(operand)
        if len(dims) != len(term):
            raise Impossible
        for letter, dim in zip(term, dims):
            size[letter] = broadcast_dim(size.get(letter, 1), dim)
    dims = tuple(size[c] for c in output)
    if any(isinstance(o.type, Array) and o.type.dtype is None for o in operands):
        if not dims:
            raise Impossible
        return Array(None, dims)
    result = sample(fn, [Arg(args[0].type, subscripts), *(Arg(_all_many(o.type)) for o in operands)], {})
    return Array(result.dtype, dims) if isinstance(result, Array) else result


@infers(np.linalg.inv, np.linalg.cholesky, np.linalg.eigh, np.linalg.eigvalsh)
def _of_matrices(fn, args, kwargs) -> Type:
    """Return the type of a result whose parts have the axes of the stack of matrices, or the first of these axes."""
    only(kwargs, "upper UPLO")
    dims, dtype = need_dims(args[0]), array_type(args[0].type).dtype
    found = sample(fn, [Arg(Array(np.dtype(dtype or float), (4,) * len(dims)))], {})
    parts = [Array(dtype and t.dtype, dims[: len(t.dims)]) for t in (found.items if isinstance(found, TupleT) else (found,))]
    return TupleT(tuple(parts)) if isinstance(found, TupleT) else parts[0]


def _less(m, n):
    """Return the lesser of two dims."""
    if m is n:
        return m
    return min(m, n) if isinstance(m, int) and isinstance(n, int) else anydim()


@infers(np.cross, np.linalg.cross)
def _cross(fn, args, kwargs) -> Type:
    if kwargs or len(args) != 2:
        raise Impossible
    a, b = need_dims(args[0]), need_dims(args[1])
    if a[-1:] != (3,) or b[-1:] != (3,):
        raise Impossible
    dtypes = [array_type(x.type).dtype for x in args]
    return Array(None if any(t is None for t in dtypes) else np.result_type(*dtypes), broadcast_dims(a, b))


@infers(np.linalg.lstsq)
def _lstsq(fn, args, kwargs) -> Type:
    given = arrange("a b rcond", args, kwargs)
    a, b = need_dims(given["a"]), need_dims(given["b"])
    dtype = sample(np.linalg.lstsq, [Arg(_all_many(given["a"].type)), Arg(_all_many(given["b"].type))], {}).items[0].dtype
    real = np.zeros(0, dtype).real.dtype
    return TupleT((Array(dtype, (a[-1], *b[1:])), Array(real, (anydim(),)), UNKNOWN, Array(real, (_less(*a),))))


@infers(np.linalg.eig, np.linalg.eigvals)
def _eig(fn, args, kwargs) -> Type:
    dims = need_dims(args[0])
    dtype = array_type(args[0].type).dtype
    dtype = dtype if dtype is not None and dtype.kind == "c" else None  # real matrices may have real eigenvalues
    w = Array(dtype, dims[:-1])
    return w if fn is np.linalg.eigvals else TupleT((w, Array(dtype, dims)))
