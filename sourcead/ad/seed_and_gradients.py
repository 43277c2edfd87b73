"""The first and last cotangents of the reverse sweep: the seed of the result, and the gradients of the parameters."""

from __future__ import annotations

import numpy as np

from sourcead import runtime
from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.cotangents.shapes import unbroadcast
from sourcead.analysis.builder import Builder, atom_type
from sourcead.ir.nodes import Atom, Const, Var
from sourcead.ir.types import FLOAT, Array, ListT, Scalar, TupleT, Type, dims_of, keyed_parts

SMALL_FLOATS = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.complex64))


def seed(build: Builder, value: Var) -> Atom:
    """Return the cotangent of a scalar result: one, of its type."""
    if isinstance(value.type, Array) and value.type.dims == ():
        return build.call(np.ones_like, value, name="d_y")
    if dims_of(value.type) == ():
        return Const(1.0)
    return build.call(runtime.seed, value, type=value.type, name="d_y")


def parameter_gradient(build: Builder, cots: Cotangents, v: Var, written: bool) -> Atom:
    """Return the gradient of a parameter: its cotangent in the structure, shape and dtype of the parameter.

    `written` tells whether the function writes into the parameter.
    """
    d = cots.get_or_zero(v)
    t, to = atom_type(d), v.type
    if isinstance(to, TupleT) and isinstance(t, ListT):
        return build.call(tuple, d, type=to, name=f"d_{v.name}")
    if not isinstance(to, (Array, Scalar)):
        return build.call(runtime.like_argument, d, v, type=to, name=f"d_{v.name}") if written or narrower(t, to) else d
    if dims_of(t) is None or dims_of(to) is None or len(dims_of(t)) != len(dims_of(to)):
        return build.call(runtime.unbroadcast, d, v, type=to, name=f"d_{v.name}")
    d = unbroadcast(build, d, v)
    narrow = isinstance(to, Array) and to.dtype is not None and to.dtype.kind in "fc" and to.dtype != np.dtype(float)
    if isinstance(to, Array) and to.dims == ():  # NumPy turns arrays without axes into numbers
        dtype = (Const(to.dtype.type),) if narrow else ()
        return build.call(np.asarray, d, *dtype, type=to, name=f"d_{v.name}")
    if narrow and isinstance(atom_type(d), Array) and atom_type(d).dtype is None:
        return build.call(np.ndarray.astype, d, Const(to.dtype.type), type=to, name=f"d_{v.name}")
    if isinstance(to, Scalar) and to.dtype in SMALL_FLOATS and getattr(atom_type(d), "dtype", None) is not to.dtype:
        return build.call(to.dtype.type, d, type=to, name=f"d_{v.name}")
    if isinstance(to, Scalar) and to.kind == "float" and to.dtype is None and getattr(atom_type(d), "dtype", None) in SMALL_FLOATS:
        return build.call(float, d, type=to, name=f"d_{v.name}")
    return d


def narrower(t: Type, to: Type) -> bool:
    """Return whether a cotangent of type `t` has a low-precision number where the argument of type `to` has a Python float."""
    if isinstance(t, Scalar):
        return to == FLOAT and t.dtype in SMALL_FLOATS
    theirs = dict(keyed_parts(t) or ()) if type(t) is type(to) else {}
    return any(narrower(theirs[k], part) for k, part in keyed_parts(to) or () if k in theirs)
