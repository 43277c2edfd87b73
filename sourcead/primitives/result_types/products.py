"""Types of products, such as matmul, dot, outer and einsum."""

from __future__ import annotations

import operator

import numpy as np

from sourcead.ir.types import UNKNOWN, Array, Scalar, TupleT, Type, anydim
from sourcead.primitives.registry import infers
from sourcead.primitives.result_types.by_example import sample
from sourcead.primitives.result_types.dims import broadcast_dim, broadcast_dims
from sourcead.primitives.result_types.operands import Arg, Impossible, arrange, array_type, const, only


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


@infers(operator.matmul, np.matmul, operator.imatmul)
def _matmul(fn, args, kwargs) -> Type:
    if kwargs or len(args) != 2:
        raise Impossible
    a, b = (_dims(x) for x in args)
    if not a or not b:
        raise Impossible
    batch = broadcast_dims(a[:-2], b[:-2])
    return _product(operator.matmul, args, (*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ())))


@infers(np.dot)
def _dot(fn, args, kwargs) -> Type:
    given = arrange("a b out", args, kwargs)
    only(given, "a b")
    args = [given["a"], given["b"]]
    a, b = (_dims(x) for x in args)
    if not a or not b:
        return _product(fn, args, a + b)
    return _product(fn, args, (*a[:-1], *b[:-2], *(b[-1:] if len(b) > 1 else ())))


@infers(np.inner)
def _inner(fn, args, kwargs) -> Type:
    a, b = (_dims(x) for x in args)
    return _product(fn, args, a + b if not a or not b else (*a[:-1], *b[:-1]))


@infers(np.vdot)
def _vdot(fn, args, kwargs) -> Type:
    return _product(fn, args, ())


@infers(np.tensordot)
def _tensordot(fn, args, kwargs) -> Type:
    given = arrange("a b axes", args, kwargs)
    a, b = _dims(given["a"]), _dims(given["b"])
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
        dims = _dims(operand)
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


@infers(np.linalg.solve)
def _solve(fn, args, kwargs) -> Type:
    a, b = (_dims(x) for x in args)
    dims = b if len(b) == 1 else (*broadcast_dims(a[:-2], b[:-2]), *b[-2:])
    if len(b) == 1 and len(a) != 2:
        raise Impossible
    return _product(fn, args, dims)


@infers(np.linalg.inv, np.linalg.cholesky, np.linalg.eigh, np.linalg.eigvalsh)
def _of_matrices(fn, args, kwargs) -> Type:
    """Return the type of a result whose parts have the axes of the stack of matrices, or the first of these axes."""
    only(kwargs, "upper UPLO")
    dims, dtype = _dims(args[0]), array_type(args[0].type).dtype
    found = sample(fn, [Arg(Array(np.dtype(dtype or float), (4,) * len(dims)))], {})
    parts = [Array(dtype and t.dtype, dims[: len(t.dims)]) for t in (found.items if isinstance(found, TupleT) else (found,))]
    return TupleT(tuple(parts)) if isinstance(found, TupleT) else parts[0]


def _dims(arg: Arg) -> tuple:
    match arg.type:
        case Array(_, dims) if dims is not None:
            return dims
        case Scalar():
            return ()
    return array_type(arg.type).dims


def _less(m, n):
    """Return the lesser of two dims."""
    if m is n:
        return m
    return min(m, n) if isinstance(m, int) and isinstance(n, int) else anydim()


@infers(np.cross, np.linalg.cross)
def _cross(fn, args, kwargs) -> Type:
    if kwargs or len(args) != 2:
        raise Impossible
    a, b = _dims(args[0]), _dims(args[1])
    if a[-1:] != (3,) or b[-1:] != (3,):
        raise Impossible
    dtypes = [array_type(x.type).dtype for x in args]
    return Array(None if any(t is None for t in dtypes) else np.result_type(*dtypes), broadcast_dims(a, b))


@infers(np.linalg.lstsq)
def _lstsq(fn, args, kwargs) -> Type:
    given = arrange("a b rcond", args, kwargs)
    a, b = _dims(given["a"]), _dims(given["b"])
    dtype = sample(np.linalg.lstsq, [Arg(_all_many(given["a"].type)), Arg(_all_many(given["b"].type))], {}).items[0].dtype
    real = np.zeros(0, dtype).real.dtype
    return TupleT((Array(dtype, (a[-1], *b[1:])), Array(real, (anydim(),)), UNKNOWN, Array(real, (_less(*a),))))


@infers(np.linalg.eig, np.linalg.eigvals)
def _eig(fn, args, kwargs) -> Type:
    dims = _dims(args[0])
    dtype = array_type(args[0].type).dtype
    dtype = dtype if dtype is not None and dtype.kind == "c" else None  # real matrices may have real eigenvalues
    w = Array(dtype, dims[:-1])
    return w if fn is np.linalg.eigvals else TupleT((w, Array(dtype, dims)))
