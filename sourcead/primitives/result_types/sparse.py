"""Inference of what operators, methods and attributes of the matrices of `scipy.sparse` give, on examples of 2 by 2."""

import operator

import numpy as np

from sourcead.ir.types import ANY_DTYPE, INT, UNKNOWN, Array, Opaque, Scalar, TupleT, Type, anydim, carries_derivative
from sourcead.primitives.result_types.operands import Arg, Impossible, need_dims


def is_sparse(t: Type) -> bool:
    """Return whether a type is that of a sparse matrix of SciPy; no derivative passes through one.

    Its class tells a matrix from an array, and may be of another format.
    """
    return isinstance(t, Opaque) and t.cls.__module__.startswith("scipy.sparse") and hasattr(t.cls, "tocsr")


def of_format(cls: type) -> bool:
    """Return whether a class is one of the formats of SciPy's sparse matrices, not what all matrices or all arrays are."""
    return getattr(cls, "__module__", "").startswith("scipy.sparse") and cls.__name__ not in ("spmatrix", "sparray")


def of_sparse(fn, args: list[Arg], kwargs: dict[str, Arg]) -> Type:
    """Return the type of a call that is given a sparse matrix, and otherwise what is constant for derivatives."""
    if any(carries_derivative(a.type) and not is_sparse(a.type) and not a.known for a in (*args, *kwargs.values())):
        if fn is not operator.matmul or any(not isinstance(a.type, Array) for a in args if not is_sparse(a.type)):
            return UNKNOWN
    found = fn(*map(_example, args), **{k: _example(a) for k, a in kwargs.items()})
    return _type_of_result(found, all(a.known or _has_dtype(a.type) for a in (*args, *kwargs.values())))


def _has_dtype(t: Type) -> bool:
    """Return whether the dtype of a matrix, an array or a number is known."""
    return t.dtype != "" if is_sparse(t) else isinstance(t, (Array, Scalar)) and not (t.dtype is None or t.dtype is ANY_DTYPE)


def attribute_of_sparse(t: Opaque, name: str) -> Type:
    """Return the type of an attribute of a sparse matrix."""
    if name == "shape":
        return TupleT((INT, INT))
    return _type_of_result(getattr(_example(Arg(t)), name), t.dtype != "") if name in ("T", "real", "imag") else UNKNOWN


def _type_of_result(value, certain: bool) -> Type:
    """Return what is certain about a result; its dtype, if those of the operands are."""
    if is_sparse(Opaque(type(value))):
        return Opaque(type(value), str(value.dtype) if certain else "")
    if type(value) is np.ndarray:
        return Array(value.dtype if certain else None, tuple(anydim() for _ in value.shape))
    return UNKNOWN


def _example(arg: Arg):
    if is_sparse(arg.type):
        return arg.type.cls(np.eye(2, dtype=arg.type.dtype or float))
    if isinstance(arg.type, (Array, Scalar)):
        dtype = arg.type.dtype
        return np.ones((2,) * len(need_dims(arg)), float if dtype is None or dtype is ANY_DTYPE else dtype)[()]
    if arg.known:
        return arg.value
    raise Impossible
