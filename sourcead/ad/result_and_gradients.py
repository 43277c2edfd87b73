"""The ends of the reverse sweep: the result, which must be one real number, and the gradients of the parameters.

    y, one real number      d_y = 1
    d_x                     in the structure, shape and dtype of the parameter x
"""

from __future__ import annotations

import numpy as np

from sourcead import runtime
from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.cotangents.shapes import unbroadcast
from sourcead.analysis.builder import Builder, atom_type
from sourcead.errors import NonScalarError
from sourcead.frontend.lower import Lowered
from sourcead.ir.nodes import Atom, Block, Branch, Const, Var
from sourcead.ir.types import (
    FLOAT, Array, DictT, ListT, NoneType, Scalar, Str, StructT, TupleT, Type, dims_of, keyed_parts, kind_of
)

SMALL_FLOATS = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.complex64))


def function_name(name: str) -> str:
    """Return the name that a function has in messages and generated text."""
    return "function" if name == "<lambda>" else name


def check_scalar(value: Atom, lowered: Lowered) -> None:
    """Refuse a result that is known not to be one real number."""
    t = atom_type(value)
    found = None
    match t:
        case Array(_, dims) if dims:
            found = f"an array with {len(dims)} {'axis' if len(dims) == 1 else 'axes'}"
        case TupleT() | ListT() | DictT():
            found = {"TupleT": "a tuple", "ListT": "a list", "DictT": "a dict"}[type(t).__name__]
        case StructT(cls):
            found = f"an object of class {cls.__name__}"
        case NoneType():
            found = "None"
        case Str():
            found = "a string"
    if kind_of(t) in ("complex", "bool"):
        found = {"complex": "a complex number", "bool": "a truth value"}[kind_of(t)]
    if found:
        raise NonScalarError(
            f"`{function_name(lowered.function.name)}` returns {found}; a gradient is that of one real number",
            at=lowered.returned,
            instead="return a scalar, such as np.sum(...) of it; or use `jacobian` or `vjp`, which take any result",
        )


def check_each_path(value: Atom, block: Block, lowered: Lowered) -> None:
    """Refuse a function that returns a number on one path and None on another."""
    if may_be_none(value, (block,)):
        raise NonScalarError(
            f"`{function_name(lowered.function.name)}` returns None on one of its paths; a gradient is that of one real number",
            at=lowered.function.origin,
            instead="return a number on every path, or raise an error on the one that has none",
        )


def may_be_none(value: Atom, blocks: tuple[Block, ...]) -> bool:
    """Return whether a value in scope in the last of nested blocks is None on some path through the branches that yield it."""
    if isinstance(value, Const):
        return value.value is None
    for depth in range(len(blocks), 0, -1):
        for stmt in blocks[depth - 1].stmts:
            if isinstance(stmt.op, Branch) and value in stmt.targets:
                at = stmt.targets.index(value)
                arms = stmt.op.then, stmt.op.orelse
                return any(may_be_none(arm.results[at], (*blocks[:depth], arm)) for arm in arms)
    return False


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
