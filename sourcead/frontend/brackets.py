"""`np.r_[...]` and `np.c_[...]`: joining arrays, written as a subscript.

    np.r_[0.0, x]      np.hstack((0.0, x))
    np.c_[x, y]        np.column_stack((x, y))
"""

from __future__ import annotations

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import calls
from sourcead.frontend.context import Lowering
from sourcead.frontend.values import SliceVal, TupleVal, Value
from sourcead.ir.nodes import Const
from sourcead.ir.types import Array, Scalar, dims_of

DOUBLE = np.dtype(float)


def subscript_of_object(lo: Lowering, obj: object, key: Value, node) -> Value | None:
    """The subscript of an object that is no data; None if no derivative can pass through it."""
    items = key.items if isinstance(key, TupleVal) else (key,)
    if lo.static_only or not any(passes(lo, i) for i in items):
        return None
    join = {id(np.r_): np.hstack, id(np.c_): np.column_stack}.get(id(obj))
    if join is None or not can_join(lo, join, items):
        raise UnsupportedSyntaxError(
            "a subscript whose derivative is not known", at=lo.origin(node), instead="call a function, such as `np.concatenate`"
        )
    return calls.call(lo, Const(join), [TupleVal(tuple(items))], {}, node)


def passes(lo: Lowering, item: Value) -> bool:
    """Whether a derivative may pass through a part of the key."""
    if isinstance(item, SliceVal):
        return any(part is not None and calls.passes_derivative(part) for part in (item.lower, item.upper, item.step))
    return calls.passes_derivative(lo.operand(item))


def can_join(lo: Lowering, join, items) -> bool:
    """Whether the function makes of these items what the brackets make of them, in shape and dtype."""
    if any(isinstance(i, (SliceVal, TupleVal)) for i in items):
        return False
    types = [atom_type(lo.operand(i)) for i in items]
    if not all(isinstance(t, (Array, Scalar)) and dims_of(t) is not None for t in types):
        return False
    arrays = [t for t in types if isinstance(t, Array)]
    ranks = {len(dims_of(t)) for t in types}
    if join is np.hstack and not ranks <= {0, 1} or join is np.column_stack and not (arrays and ranks <= {1, 2}):
        return False
    # a number takes the dtype of the arrays in brackets, but not in a call
    return len(arrays) == len(types) or all(t.dtype == DOUBLE for t in arrays)
