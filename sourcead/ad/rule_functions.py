"""Functions that rules call, where the types say what they come to: sums, and parts of the cotangent of what was joined.

    y = a + b                    d_b = sum(d_y, axis=0)               a: (m, n), b: (n,)
    y = concatenate((a, b))      d_a = d_y[:n];  d_b = d_y[n:]        a: (n,)
    y = stack((a, b))            d_a = d_y[0];  d_b = d_y[1]
    y = stack(rows)              d_rows = list(d_y)                   rows: a list of arrays of the dtype of y
    y = array(xs)                d_xs = d_y.tolist()                  xs: a list of Python's numbers
    y = array([[a, b]])          d_a = d_y[0, 0];  d_b = d_y[0, 1]
    y = irfft(x, n)              d_x has the size of x         where x has n // 2 + 1 elements

Where the types leave it open, the text calls the function, which compares the values. Here nothing is read of the values but the size along
an axis, so that they need not be saved for their shapes.
"""

import operator

import numpy as np

from sourcead import runtime
from sourcead.ad.cotangents.shapes import unbroadcast
from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import ZERO, lowers
from sourcead.frontend.core import TupleVal, Value
from sourcead.frontend.lower import Lowering
from sourcead.ir.nodes import Atom, Build, Const, Slice
from sourcead.ir.sizes import Dim, Sym
from sourcead.ir.types import Array, ListT, Scalar, TupleT, Type, dims_of, same_dtype

ALL = Slice(None, None, None)


@lowers(runtime.unbroadcast)
def rule_unbroadcast(lo: Lowering, node, d: Value, x: Value) -> Value:
    """Lower `unbroadcast(d, x)` in a rule to the sums that the types show."""
    if lo.static_only and all(isinstance(core.data_type(lo, v), (Array, Scalar)) for v in (d, x)):
        return unbroadcast(lo.build, lo.read(d), lo.read(x))
    return core.call_library(lo, runtime.unbroadcast, [d, x], {}, node)


@lowers(runtime.split_like)
def rule_split_like(lo: Lowering, node, d_y: Value, arrays: Value, axis: Value = ZERO) -> Value:
    """Lower `split_like(d_y, arrays, axis)` in a rule to slices, if `arrays` are known one by one, of known ranks."""
    types = _types(lo, arrays)
    place = _axis(lo, d_y, axis, types)
    if place is None or not all(_tells(lo, arrays, t.dims[place]) for t in types[:-1]):
        return core.call_library(lo, runtime.split_like, [d_y, arrays, axis], {}, node)
    ends = [None]
    for k, t in enumerate(types[:-1]):
        size = t.dims[place]
        size = Const(size) if isinstance(size, int) else lo.build.index(lo.build.attr(_item(lo, arrays, k), "shape"), Const(place))
        ends.append(size if ends[-1] is None else _sum(lo, ends[-1], size))
    return _parts(lo, d_y, place, [Slice(low, high, None) for low, high in zip(ends, [*ends[1:], None])])


@lowers(runtime.unstack)
def rule_unstack(lo: Lowering, node, d_y: Value, arrays: Value, axis: Value = ZERO) -> Value:
    """Lower `unstack(d_y, arrays, axis)` in a rule to subscripts, or to the list of the rows of `d_y`."""
    types = _types(lo, arrays)
    place = _axis(lo, d_y, axis, types, 1)
    if place is not None:
        return _parts(lo, d_y, place, [Const(k) for k in range(len(types))])
    if core.known(lo, axis) == (True, 0) and (rows := _rows(lo, d_y, arrays)) is not None:
        return rows
    return core.call_library(lo, runtime.unstack, [d_y, arrays, axis], {}, node)


@lowers(runtime.like_sequence)
def rule_like_sequence(lo: Lowering, node, d: Value, x: Value) -> Value:
    """Lower `like_sequence(d, x)` in a rule to the elements of `d`, or the list of its rows, if they have the types of the items of `x`."""
    shape = _nested_shape(core.data_type(lo, x)) if lo.static_only and not isinstance(x, Const) else None
    if shape is not None and shape == dims_of(core.data_type(lo, d)):
        return _elements(lo, lo.read(d), core.data_type(lo, x))
    rows = _rows(lo, d, x)
    return core.call_library(lo, runtime.like_sequence, [d, x], {}, node) if rows is None else rows


def _nested_shape(t: Type) -> tuple[int, ...] | None:
    """Return the shape of the array of lists of lists of numbers, known one by one; None for what else there is."""
    if isinstance(t, Scalar):
        return () if t.kind in ("float", "int", "bool") else None
    shapes = {_nested_shape(item) for item in getattr(t, "items", None) or ()} if isinstance(t, (ListT, TupleT)) else set()
    inner = shapes.pop() if len(shapes) == 1 else None
    return None if inner is None else (len(t.items), *inner)


def _elements(lo: Lowering, d: Atom, t: Type, key: tuple[Const, ...] = ()) -> Value:
    """Return the elements of a cotangent in lists as nested as a type."""
    if isinstance(t, Scalar):
        return lo.wrap(lo.build.index(d, key if len(key) > 1 else key[0]))
    return TupleVal(tuple(_elements(lo, d, item, (*key, Const(k))) for k, item in enumerate(t.items)))


def _types(lo: Lowering, arrays: Value) -> tuple[Type, ...]:
    """Return the types of arrays that are known one by one; no types for other values."""
    types = ()
    if lo.static_only and not isinstance(arrays, Const):
        known = isinstance(arrays, TupleVal)
        types = tuple(core.data_type(lo, a) for a in arrays.items) if known else getattr(lo.read(arrays).type, "items", None) or ()
    return types if all(isinstance(t, Array) and t.dims is not None and t.dtype is not None for t in types) else ()


def _tells(lo: Lowering, arrays: Value, size: Dim) -> bool:
    """Return whether a size of one of several arrays is known without looking the array up in a list."""
    known = not isinstance(size, Sym) or size.many or isinstance(arrays, TupleVal)
    return known or isinstance(lo.build.made_by.get(lo.read(arrays)), Build)


def _item(lo: Lowering, arrays: Value, k: int) -> Atom:
    """Return one of several arrays."""
    if isinstance(arrays, TupleVal):
        return lo.read(arrays.items[k])
    whole = lo.read(arrays)
    made = lo.build.made_by.get(whole)
    return made.items[k] if isinstance(made, Build) else lo.build.index(whole, Const(k))


def _parts(lo: Lowering, d_y: Value, axis: int, keys: list) -> Value:
    """Return the parts of a cotangent that lie at some places of an axis."""
    whole = lo.read(d_y)
    return TupleVal(tuple(lo.wrap(lo.build.index(whole, (*[ALL] * axis, key) if axis else key)) for key in keys))


def _axis(lo: Lowering, d_y: Value, axis: Value, types: tuple[Type, ...], more: int = 0) -> int | None:
    """Return the axis along which arrays lie in an array that has `more` axes than each of them, or None if that is not known."""
    t = core.data_type(lo, d_y) if types else None
    found, place = core.known(lo, axis)
    if not isinstance(t, Array) or not t.dims or t.dtype is None or not found or type(place) is not int:
        return None
    if any(len(a.dims) + more != len(t.dims) for a in types) or not -len(t.dims) <= place < len(t.dims):
        return None
    return place % len(t.dims)


def _sum(lo: Lowering, a: Atom, b: Atom) -> Atom:
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value + b.value)
    return lo.build.call(operator.add, a, b)


def _rows(lo: Lowering, d: Value, x: Value) -> Value | None:
    """Return the list of the rows of a cotangent, or None if they are not known to be of the type of the items of a list."""
    if not lo.static_only or isinstance(x, (TupleVal, Const)):
        return None
    items, t = lo.read(x).type, core.data_type(lo, d)
    if not isinstance(items, ListT) or not isinstance(t, Array) or not t.dims or t.dtype is None:
        return None
    match items.item:
        case Scalar("float", None, None) if len(t.dims) == 1 and t.dtype == np.dtype(float):
            made = np.ndarray.tolist
        case Scalar("float", dtype, None) | Array(dtype, dims=tuple()) if same_dtype(dtype, t.dtype):
            made = list if len(t.dims) == 1 + len(dims_of(items.item)) else None
        case _:
            made = None
    return None if made is None else lo.wrap(lo.build.call(made, lo.read(d), type=ListT(items.item), name="d_rows"))


@lowers(runtime.fit_axis)
def rule_fit_axis(lo: Lowering, node, d: Value, n: Value, axis: Value) -> Value:
    """Lower `fit_axis(d, n, axis)` in a rule to `d`, if it is known to have that many elements along the axis."""
    t, (found, place) = core.data_type(lo, d), core.known(lo, axis)
    if lo.static_only and found and isinstance(t, Array) and t.dims and type(place) is int and -len(t.dims) <= place < len(t.dims):
        if lo.build.number(lo.read(n)) == t.dims[place]:
            return d
    return core.call_library(lo, runtime.fit_axis, [d, n, axis], {}, node)
