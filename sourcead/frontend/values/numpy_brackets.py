"""Lower the NumPy objects that are used with a subscript.

    np.r_[0.0, x]      np.hstack((0.0, x))
    np.r_[x, 0:n]      np.hstack((x, np.arange(0, n)))
    np.r_[0:1:5j, x]   np.hstack((np.linspace(0, 1, 5), x))
    np.r_[a, b]        np.concatenate((a, b), axis=0) of matrices
    np.c_[x, y]        np.column_stack((x, y))
    np.r_["0,2", x]    np.concatenate((np.expand_dims(x, 0),), axis=0): the axis and the least number of axes
    np.s_[a:b]         the key itself
    np.mgrid[0:n]      the same subscript, which carries no derivative
    np.mgrid[a:b, c:d] np.stack(np.meshgrid(np.arange(a, b), np.arange(c, d), indexing="ij")) of floats
"""

from typing import NamedTuple

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import Lowering, TupleVal, Value
from sourcead.ir.nodes import Atom, Const, Index, Slice
from sourcead.ir.types import Array, Scalar, Sym, TupleT, Type, anydim, dims_of, kind_of, same_dtype
from sourcead.primitives.result_types.infer import infer_call

DOUBLE = np.dtype(float)


def subscript_of_object(lo: Lowering, base: Const, key: Value, node) -> Value | None:
    """Lower a subscript of an object that is not data, or return None if no derivative can pass through it."""
    obj = base.value
    items = key.items if isinstance(key, TupleVal) else (key,)
    if obj is np.s_ or obj is np.index_exp:
        return TupleVal(tuple(items)) if obj is np.index_exp else key
    if lo.static_only:
        return None
    if not any(passes(lo, i) for i in items):
        t = grid_type(lo, obj, key)
        return None if t is None else lo.wrap(lo.build.emit(Index(base, lo.operand(key)), t, "grid"))
    if obj is np.mgrid and None not in (ranges := [ranged(lo, i, node) if isinstance(i, Slice) else None for i in items]):
        if not isinstance(key, TupleVal):
            return ranges[0]
        grids = core.call(lo, Const(np.meshgrid), ranges, {"indexing": Const("ij")}, node)
        return core.call(lo, Const(np.stack), [grids], {}, node)
    form, items = form_of(obj, items)
    parts = [part_of(lo, i, node) for i in items]
    if form is None or None in parts or not keeps_dtype(parts):
        raise core.unsupported(lo, node, "a subscript whose derivative is not known", "call a function, such as `np.concatenate`")
    return joined(lo, form, parts, node)


class Form(NamedTuple):
    """How brackets join their parts: the axis, the least number of axes, and where the axes of a part with fewer of them go."""

    axis: int
    ndmin: int = 1
    trans1d: int = -1


ROWS, COLUMNS = Form(0), Form(-1, 2, 0)


def form_of(obj: object, items) -> tuple[Form | None, tuple]:
    """Return the form of the brackets `np.r_` and `np.c_`, which a text such as "0,2" in front changes, and the parts."""
    form = ROWS if obj is np.r_ else COLUMNS if obj is np.c_ else None
    text = items[0].value if isinstance(items[0], Const) else None
    if form is None or not isinstance(text, str):
        return form, items
    try:
        numbers = [int(n) for n in text.split(",")]
    except ValueError:  # "r" and "c" make matrices
        return None, items
    return (Form(*numbers, *form[len(numbers) :]) if len(numbers) <= 3 else None), items[1:]


class Part(NamedTuple):
    """A part of what brackets join: its value, its type, its number of axes, and whether it is a slice."""

    value: Value
    type: Array | Scalar
    rank: int
    is_range: bool = False


def part_of(lo: Lowering, item: Value, node) -> Part | None:
    """Lower a part of the key to an array or a number, or return None if it is neither or its number of axes is not known."""
    if isinstance(item, Slice):
        value = ranged(lo, item, node)
        return None if value is None else Part(value, atom_type(lo.read(value)), 1, True)
    if core.is_sequence(item):
        item = core.call(lo, Const(np.array), [item], {}, node)
    t = atom_type(lo.operand(item))
    dims = dims_of(t) if isinstance(t, (Array, Scalar)) else None
    return None if dims is None else Part(item, t, len(dims))


def keeps_dtype(parts: list[Part]) -> bool:
    """Tell whether NumPy's functions give the dtype that the brackets do, where numbers do not change the precision of arrays."""
    types = [p.type for p in parts]
    if all(isinstance(t, Array) for t in types):
        return True
    types = [t for t in types if kind_of(t) not in ("int", "bool")]
    arrays = [t for t in types if isinstance(t, Array)]
    if arrays or any(p.is_range for p in parts):
        return all(same_dtype(t.dtype, DOUBLE) for t in arrays)
    return bool(types) and all(same_dtype(t.dtype, None) or same_dtype(t.dtype, DOUBLE) for t in types)


def joined(lo: Lowering, form: Form, parts: list[Part], node) -> Value:
    """Emit the call of NumPy that joins the parts of brackets."""
    ranks = {p.rank for p in parts}
    values = TupleVal(tuple(p.value for p in parts))
    if form == ROWS and ranks <= {0, 1}:
        return core.call(lo, Const(np.hstack), [values], {}, node)
    if form == COLUMNS and ranks <= {1, 2}:
        return core.call(lo, Const(np.column_stack), [values], {}, node)
    spread = TupleVal(tuple(with_axes(lo, form, p, node) for p in parts))
    return core.call(lo, Const(np.concatenate), [spread], {"axis": Const(form.axis)}, node)


def with_axes(lo: Lowering, form: Form, part: Part, node) -> Value:
    """Emit the axes that brackets add to a part with fewer than the least number."""
    missing = form.ndmin - part.rank
    if missing <= 0:
        return part.value
    before = form.trans1d if form.trans1d >= 0 else form.trans1d + missing + 1
    if not 0 <= before <= missing:
        raise core.unsupported(lo, node, "a subscript whose derivative is not known", "call a function, such as `np.concatenate`")
    new = tuple(Const(k) for k in (*range(before), *range(before + part.rank, form.ndmin)))
    return core.call(lo, Const(np.expand_dims), [part.value, TupleVal(new)], {}, node)


def passes(lo: Lowering, item: Value) -> bool:
    """Tell whether a derivative may pass through a part of the key."""
    return any(map(core.passes_derivative, bounds_of(item) if isinstance(item, Slice) else [lo.operand(item)]))


def bounds_of(key: Slice) -> list[Atom]:
    """Return the bounds that a slice has."""
    return [part for part in (key.lower, key.upper, key.step) if part is not None]


def is_range(key: Slice) -> bool:
    """Tell whether the brackets treat a slice as `np.arange`: it has an end, and its step is not a count such as `5j`."""
    types = map(atom_type, bounds_of(key))
    return key.upper is not None and all(isinstance(t, Scalar) and t.kind in ("int", "float") for t in types)


def ranged(lo: Lowering, key: Slice, node) -> Value | None:
    """Lower the slice `a:b:c` inside brackets to a call of `np.arange`, one with a count of points as its step to `np.linspace`."""
    lower = Const(0) if key.lower is None else key.lower
    if is_range(key):
        return core.call(lo, Const(np.arange), [lower, key.upper, *(() if key.step is None else (key.step,))], {}, node)
    count = count_of(key)
    return None if count is None or key.upper is None else core.call(lo, Const(np.linspace), [lower, key.upper, Const(count)], {}, node)


def grid_type(lo: Lowering, obj: object, key: Value) -> Type | None:
    """Infer the type of `np.mgrid[...]` or `np.ogrid[...]`, or return None if the subscript makes something else."""
    if obj is not np.mgrid and obj is not np.ogrid:
        return None
    items = key.items if isinstance(key, TupleVal) else (key,)
    if not all(isinstance(i, Slice) and (is_range(i) or count_of(i) is not None) for i in items):
        return None
    kinds = {atom_type(p).kind for i in items for p in bounds_of(i)}
    dtype = np.dtype(float) if kinds & {"float", "complex"} else np.dtype(int)
    dims = tuple(length(lo, i) for i in items)
    if not isinstance(key, TupleVal):
        return Array(dtype, dims)
    if obj is np.mgrid:
        return Array(dtype, (len(dims), *dims))
    alone = [Array(dtype, tuple(n if k == axis else 1 for k in range(len(dims)))) for axis, n in enumerate(dims)]
    return TupleT(tuple(alone))


def count_of(key: Slice) -> int | None:
    """Return the number of points that an imaginary step gives, such as 5 for `0:1:5j`, or None for other steps."""
    step = key.step
    return int(abs(step.value)) if isinstance(step, Const) and not step.live and isinstance(step.value, complex) else None


def length(lo: Lowering, key: Slice) -> int | Sym:
    """Return the number of elements of a range in brackets."""
    if (count := count_of(key)) is not None:
        return count
    found, bounds = core.known(lo, key)
    if found and bounds.step != 0:
        return len(np.arange(bounds.start or 0, bounds.stop, bounds.step))
    from_zero = key.lower is None or isinstance(key.lower, Const) and key.lower.value == 0
    if from_zero and key.step is None:
        return infer_call(np.arange, [lo.build.arg(key.upper)], {}).dims[0]
    return anydim()
