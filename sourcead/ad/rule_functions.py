"""Functions that rules call, where the types say what they come to.

    unbroadcast(d, x)                       the sums over the axes along which x was broadcast
    split_like(d, (a, b), axis=1)           d[:, : a.shape[1]], d[:, a.shape[1] :]

Where the types leave it open, the text calls the function.
"""

import operator

from sourcead import runtime
from sourcead.ad.cotangents.shapes import unbroadcast
from sourcead.analysis.builder import Builder, atom_type
from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import ZERO, lowers
from sourcead.frontend.core import Cell, TupleVal, Value
from sourcead.frontend.lower import Lowering
from sourcead.ir.nodes import Atom, Const, Slice, Var
from sourcead.ir.sizes import Sym
from sourcead.ir.types import Array, Scalar, same_dtype

WHOLE = Slice(None, None, None)


@lowers(runtime.unbroadcast)
def rule_unbroadcast(lo: Lowering, node, d: Value, x: Value) -> Value:
    """Lower `unbroadcast(d, x)` in a rule."""
    if lo.static_only and all(isinstance(core.data_type(lo, v), (Array, Scalar)) for v in (d, x)):
        return unbroadcast(lo.build, lo.read(d), lo.read(x))
    return core.call_library(lo, runtime.unbroadcast, [d, x], {}, node)


@lowers(runtime.split_like)
def rule_split_like(lo: Lowering, node, d: Value, arrays: Value, axis: Value = ZERO) -> Value:
    """Lower `split_like(d, arrays, axis)` in a rule."""
    whole, items, (known, along) = core.data_type(lo, d), items_of(lo, arrays), core.known(lo, axis)
    fit = isinstance(whole, Array) and whole.dims and known and isinstance(along, int) and lo.static_only
    if not fit or not items or not all(is_part(atom_type(item), whole) for item in items):
        return core.call_library(lo, runtime.split_like, [d, arrays, axis], {}, node)
    return TupleVal(tuple(parts_along(lo.build, lo.read(d), items, along % len(whole.dims))))


def items_of(lo: Lowering, value: Value) -> list[Atom] | None:
    """Return the items of a tuple or list of arrays, None if they are not known one by one."""
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind == "list":
        items = value.items if isinstance(value, TupleVal) else value.contents
        return [lo.read(item) for item in items] if all(core.data_type(lo, item) is not None for item in items) else None
    types = getattr(core.data_type(lo, value), "items", None) or ()
    if any(isinstance(n, Sym) and not n.many for t in types for n in getattr(t, "dims", None) or ()):
        return None  # nothing else tells their sizes, so that the text would look them up in the list
    return [lo.build.index(lo.read(value), Const(k)) for k in range(len(types))]


def is_part(t: object, whole: Array) -> bool:
    """Return whether a type is that of an array with as many axes as another, and of the same dtype, which is known."""
    known = isinstance(t, Array) and t.dims is not None and t.dtype is not None
    return known and len(t.dims) == len(whole.dims) and same_dtype(t.dtype, whole.dtype)


def parts_along(build: Builder, d: Atom, items: list[Atom], axis: int) -> list[Var]:
    """Emit the parts of an array that lie side by side along an axis, each as long as its item."""
    parts, start = [], None
    for k, item in enumerate(items):
        stop = None if k + 1 == len(items) else end_of(build, start, item, axis)
        part = Slice(start, stop, None)
        parts.append(build.index(d, (*(WHOLE,) * axis, part) if axis else part, name="d_part"))
        start = stop
    return parts


def end_of(build: Builder, start: Atom | None, item: Atom, axis: int) -> Atom:
    """Emit the place along an axis at which an item ends that begins at `start`."""
    dim = atom_type(item).dims[axis]
    size = Const(dim) if isinstance(dim, int) else build.index(build.attr(item, "shape"), Const(axis))
    if start is None:
        return size
    return Const(start.value + dim) if isinstance(start, Const) and isinstance(dim, int) else build.call(operator.add, start, size)
