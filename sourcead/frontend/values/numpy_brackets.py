"""Lower the NumPy objects that are used with a subscript.

    np.r_[0.0, x]      np.hstack((0.0, x))
    np.r_[x, 0:n]      np.hstack((x, np.arange(0, n)))
    np.c_[x, y]        np.column_stack((x, y))
    np.s_[a:b]         the key itself
    np.mgrid[0:n]      the same subscript, which carries no derivative
"""

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import Lowering, TupleVal, Value
from sourcead.ir.nodes import Atom, Const, Index, Slice
from sourcead.ir.types import Array, Scalar, Sym, TupleT, Type, anydim, dims_of, same_dtype
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
    join = {id(np.r_): np.hstack, id(np.c_): np.column_stack}.get(id(obj))
    if join is None or not can_join(lo, join, items):
        raise core.unsupported(lo, node, "a subscript whose derivative is not known", "call a function, such as `np.concatenate`")
    parts = [ranged(lo, i, node) if isinstance(i, Slice) else i for i in items]
    return core.call(lo, Const(join), [TupleVal(tuple(parts))], {}, node)


def passes(lo: Lowering, item: Value) -> bool:
    """Tell whether a derivative may pass through a part of the key."""
    return any(map(core.passes_derivative, bounds_of(item) if isinstance(item, Slice) else [lo.operand(item)]))


def can_join(lo: Lowering, join, items) -> bool:
    """Tell whether `join` gives the same shape and dtype for these items as the brackets do."""
    if any(isinstance(i, TupleVal) or isinstance(i, Slice) and not is_range(i) for i in items):
        return False
    joined = [i for i in items if isinstance(i, Slice)]
    items = [i for i in items if not isinstance(i, Slice)]
    types = [atom_type(lo.operand(i)) for i in items]
    if not all(isinstance(t, (Array, Scalar)) and dims_of(t) is not None for t in types):
        return False
    arrays = [t for t in types if isinstance(t, Array)]
    ranks = {len(dims_of(t)) for t in types}
    if join is np.hstack and not ranks <= {0, 1} or join is np.column_stack and not (arrays and ranks <= {1, 2}):
        return False
    # a number takes the dtype of the arrays in brackets, but not in a call; a range beside doubles becomes doubles in both
    doubles = [t for t in types if t.kind == "float"] if not arrays else []
    if doubles and not joined and all(same_dtype(t.dtype, None) or same_dtype(t.dtype, DOUBLE) for t in types):
        return True
    return len(arrays) == len(types) and not joined or bool(arrays or joined) and all(same_dtype(t.dtype, DOUBLE) for t in arrays)


def bounds_of(key: Slice) -> list[Atom]:
    """Return the bounds that a slice has."""
    return [part for part in (key.lower, key.upper, key.step) if part is not None]


def is_range(key: Slice) -> bool:
    """Tell whether the brackets treat a slice as `np.arange`: it has an end, and its step is not a count such as `5j`."""
    types = map(atom_type, bounds_of(key))
    return key.upper is not None and all(isinstance(t, Scalar) and t.kind in ("int", "float") for t in types)


def ranged(lo: Lowering, key: Slice, node) -> Value:
    """Lower the slice `a:b:c` inside brackets to a call of `np.arange`."""
    parts = [Const(0) if key.lower is None else key.lower, key.upper, *(() if key.step is None else (key.step,))]
    return core.call(lo, Const(np.arange), parts, {}, node)


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
