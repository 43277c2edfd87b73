"""Masked arrays of which nothing is masked, as `np.ma.asarray` makes them of plain ones.

They calculate as plain arrays do, except where a result has no value, such as a logarithm of 0, which NumPy masks then. So only what always
has a value is lowered, and powers, whose text checks that they are finite. Of the results only items and views have a mask that is known.
"""

import operator
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.frontend import core
from sourcead.frontend.core import Cell, Lowering, Value, array_of
from sourcead.ir.nodes import Call, Const, Stmt, Var

MaskedArray = type("MaskedArray", (np.ndarray,), {"__module__": "np.ma", "__array_priority__": np.ma.MaskedArray.__array_priority__})
core.REAL_CLASSES[MaskedArray] = np.ma.MaskedArray

HAS_MASK = "has mask"  # the attribute that tells whether there is an array of False, or `np.ma.nomask`; missing where that is not known
VIEWS = frozenset({"T", "shape", "ndim", "size", "dtype"})
LIKE_PLAIN = VIEWS | {
    operator.add, operator.sub, operator.mul, operator.neg, operator.pow, operator.matmul, operator.getitem, np.dot, np.matmul,
    np.linalg.solve, np.sum, np.asarray, np.array, np.shape, np.ndim, np.size, np.ravel, np.transpose, "ravel", "transpose", "flatten",
}  # fmt: skip
"""The functions, methods and attributes that are lowered."""


def is_masked(value: Value) -> bool:
    """Tell whether a value is a masked array."""
    return isinstance(value, Cell) and value.kind == "object" and value.cls is MaskedArray


def refuse_others(lo: Lowering, what: Any, values: list[Value]) -> None:
    """Refuse what a masked array may do otherwise than a plain array."""
    if any(map(is_masked, values)) and what not in LIKE_PLAIN:
        name = what if isinstance(what, str) else getattr(what, "__name__", "this")
        raise core.refused(lo, f"whether `{name}` of a masked array masks something is not known here", "plain arrays: `np.asarray(x)`")


def checked(lo: Lowering, fn: Any, values: list[Value], made: Value) -> Value:
    """Return the result of an operator, after a check that a power masks nothing."""
    if fn is operator.pow and any(map(is_masked, values)):
        lo.build.add(Stmt((Var("checked"),), Call(runtime.check_finite, (lo.read(made),), effect=True), lo.here))
    return made


def with_mask(lo: Lowering, made: Value, base: Value) -> Value:
    """Return an item or view of a masked array, whose mask is a part of the mask of `base`."""
    if is_masked(made) and is_masked(base) and made is not base and HAS_MASK in base.items:
        lo.set(made.slots, HAS_MASK, base.items[HAS_MASK])
    return made


def mask_of(lo: Lowering, value: Value, node) -> Value:
    """Lower `np.ma.getmask(x)`."""
    if not is_masked(value):
        return Const(np.ma.nomask)
    if (has_mask := value.items.get(HAS_MASK)) is None:
        raise core.unsupported(lo, node, "which mask the result of an operation on masked arrays has is not known here")
    shape = core.attribute(lo, array_of(value), "shape", node)
    return core.call_library(lo, np.zeros, [shape, Const(bool)], {}, node) if has_mask.value else Const(np.ma.nomask)
