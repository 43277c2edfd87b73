"""Lower `x.strides`: a stride is no number here, but some times the step along an axis (`builtins/strided_windows.py`)."""

import operator
from dataclasses import dataclass
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import Lowering, TupleVal, Value
from sourcead.ir.nodes import Const
from sourcead.ir.types import rank

WHY = "`.strides` of an array shows its memory, which the gradient does not share"
INSTEAD = "multiples of them as the strides of `as_strided`, or `np.lib.stride_tricks.sliding_window_view`"


@dataclass(frozen=True, eq=False)
class StrideVal:
    """Represent so many times the stride of an array along an axis."""

    array: Value
    axis: int
    times: Value


def strides(lo: Lowering, array: Value, node) -> Value:
    """Lower `array.strides`."""
    axes = rank(atom_type(lo.read(array)))
    if axes is None:
        raise core.unsupported(lo, node, WHY, INSTEAD)
    return TupleVal(tuple(StrideVal(array, k, Const(1)) for k in range(axes)))


def operate(lo: Lowering, fn: Any, values: tuple) -> Value | None:
    """Lower a product with a stride; return None for values among which there is none."""
    if not any(isinstance(v, StrideVal) for v in values):
        return None
    stride, times = values if isinstance(values[0], StrideVal) else values[::-1]
    if fn is not operator.mul or isinstance(times, StrideVal):
        raise core.refused(lo, WHY, INSTEAD)
    return StrideVal(stride.array, stride.axis, core.operate(lo, operator.mul, stride.times, times))
