"""Cotangents in the shape and dtype of the values that they belong to."""

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import Builder, atom_type
from sourcead.ir.equal_sizes import EqualSizes
from sourcead.ir.nodes import Atom, Call, Const, Var
from sourcead.ir.sizes_of_call import not_one, same
from sourcead.ir.types import Array, MapT, Scalar, Sym, Unknown, dims_of, kind_of


def in_dtype(build: Builder, d: Atom, var: Var) -> Atom:
    """Return the cotangent in the dtype of the variable, if it was lost when values of several dtypes were joined."""
    t, to = atom_type(d), var.type
    if isinstance(t, Unknown) and isinstance(to, Scalar):  # it is an array on other paths
        return build.call(runtime.unbroadcast, d, var, type=to, name=f"d_{var.name}")
    if isinstance(t, MapT) and isinstance(to, MapT) and isinstance(to.item, Scalar) and not isinstance(t.item, Scalar):
        return build.call(runtime.like_argument, d, var, type=to, name=f"d_{var.name}")  # items that were replaced are None
    if isinstance(to, Array) and to.dtype is None and build.complexes and kind_of(t) in (None, "complex"):
        return build.call(runtime.unbroadcast, d, var, type=to, name=f"d_{var.name}")  # real for what is real at run time
    if not isinstance(t, Array) or not isinstance(to, Array) or to.dtype is None or to.dtype.kind not in "fc":
        return d
    if t.dtype is not None and t.dtype == to.dtype or t.dtype is not None and t.dtype.kind not in "fc":
        return d
    return same_number_all_over(build, d, Array(to.dtype, t.dims)) or build.call(
        np.ndarray.astype, d, Const(to.dtype), type=Array(to.dtype, t.dims), name=f"d_{var.name}"
    )


def same_number_all_over(build: Builder, d: Atom, t: Array) -> Var | None:
    """Return `d` rewritten as `np.full` in the right dtype if the last statement broadcast one number to it, else None."""
    last = build.stmts[-1] if build.stmts else None
    if last is None or last.targets != (d,) or not isinstance(last.op, Call) or last.op.fn is not np.broadcast_to:
        return None
    source, shape = last.op.args
    if not isinstance(atom_type(source), Scalar):
        return None
    build.stmts.pop()
    return build.call(np.full, shape, source, Const(t.dtype), type=t, name=d.name)


def unbroadcast(build: Builder, d: Atom, x: Atom) -> Atom:
    """Return the cotangent `d`, which has the broadcast shape, summed to the shape of `x` and cast to its dtype."""
    t, to = atom_type(d), atom_type(x)
    if not isinstance(t, (Scalar, Array)) or not isinstance(to, (Scalar, Array)):
        return build.call(runtime.unbroadcast, d, x, type=to, name="d")
    have, want = dims_of(t), dims_of(to)
    if have is None or want is None or not known_axes(have, want, build.equal):
        return build.call(runtime.unbroadcast, d, x, type=to, name="d")
    if len(have) < len(want):  # `x` was broadcast to fewer axes than it has, as in `a[:] = x` where its first axes have length 1
        d = summed_over(build, d, have, want[len(want) - len(have) :])
        d = build.call(np.broadcast_to, d, build.attr(x, "shape"), type=Array(getattr(t, "dtype", None), want))
        return cast(build, d, x)
    lead = tuple(range(len(have) - len(want)))
    if lead:
        d = build.call(np.sum, d) if len(lead) == len(have) else build.call(np.sum, d, axis=Const(lead if len(lead) > 1 else 0))
    return cast(build, summed_over(build, d, have[len(lead) :], want), x)


def summed_over(build: Builder, d: Atom, have: tuple, want: tuple) -> Atom:
    """Return `d`, of dims `have`, summed over each axis that has length 1 in `want`, and keeps it."""
    inner = tuple(k for k, (n, m) in enumerate(zip(have, want)) if m == 1 and n != 1)
    return build.call(np.sum, d, axis=Const(inner if len(inner) > 1 else inner[0]), keepdims=Const(True)) if inner else d


def known_axes(have: tuple, want: tuple, equal: EqualSizes) -> bool:
    """Return whether the types determine which axes were broadcast; `equal` knows which sizes are equal."""
    for n, m in zip(have[::-1], want[::-1]):
        if equal.same(m, n) or same(m, n):
            continue
        if isinstance(m, Sym) and n != 1 and not not_one(m):
            return False
        if m == 1 and isinstance(n, Sym):  # if it is 1 in the run, the sum over the axis changes nothing
            continue
        if n == 1 and m != 1:
            return False
        if isinstance(n, Sym) and m != 1 and not not_one(n):  # an einsum, whose other operand may have length 1 here
            return False
    return True


def cast(build: Builder, d: Atom, x: Atom) -> Atom:
    """Return the cotangent, cast to the dtype of `x` if the types show that it differs."""
    t, to = atom_type(d), atom_type(x)
    have, want = getattr(t, "dtype", None), getattr(to, "dtype", None)
    if kind_of(t) == "complex" and kind_of(to) == "float":
        d = build.call(np.real, d)
        t, have = atom_type(d), getattr(atom_type(d), "dtype", None)
    if isinstance(to, Scalar) or isinstance(t, Scalar) or want is None or have is None or have == want:
        return d
    if want.kind not in "fc" or have.kind == "O" or want.kind == "O":
        return d
    return same_number_all_over(build, d, Array(want, dims_of(to))) or build.call(np.ndarray.astype, d, Const(want))
