"""Lower `as_strided(x, shape, strides)`: windows over an array, whatever its layout in memory.

    as_strided(x, (n, k), (x.strides[0] * s, x.strides[0]))           x.ravel()[np.arange(n)[:, None] * s + np.arange(k)].reshape(n, k)

The strides are multiples of those of the array, or zero, so that its layout decides nothing.
"""

import operator

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import NONE, lowers
from sourcead.frontend.core import Cell, Lowering, TupleVal, Value, cells_of, roots
from sourcead.frontend.values import sequences
from sourcead.frontend.values.strides import INSTEAD, StrideVal
from sourcead.ir.nodes import Const
from sourcead.ir.types import rank


@lowers(np.lib.stride_tricks.as_strided)
def as_strided(lo: Lowering, node, x: Value, shape=NONE, strides=NONE, **options) -> Value:
    """Lower `as_strided(x, shape, strides)` to a selection of the elements of `x`."""
    lengths, steps = (sequences.static_items(lo, given, node) for given in (shape, strides))
    if len(lengths) != len(steps) or not all(map(of_axis(x), steps)):
        raise core.unsupported(lo, node, "`as_strided` with these strides", INSTEAD)
    sizes = [core.call_library(lo, np.size, [x, Const(k)], {}, node) for k in range(rank(atom_type(lo.read(x))))]
    places = Const(0)
    for k, (length, step) in enumerate(zip(lengths, steps)):
        along = core.call_library(lo, np.arange, [length], {}, node)
        for factor in [step.times, *sizes[step.axis + 1 :]] if isinstance(step, StrideVal) else [Const(0)]:
            along = core.operate(lo, operator.mul, along, factor)
        ones = [Const(1)] * len(lengths)
        ones[k] = Const(-1)
        places = core.operate(lo, operator.add, places, core.call_library(lo, np.reshape, [along, TupleVal(tuple(ones))], {}, node))
    flat = core.call_library(lo, np.ravel, [x], {}, node)
    taken = core.subscript(lo, flat, core.call_library(lo, np.ravel, [places], {}, node), node)
    windows = lo.wrap(lo.read(core.call_library(lo, np.reshape, [taken, TupleVal(tuple(lengths))], {}, node)), shares=roots(x))
    core.keep(cells_of(windows), "its elements are elements of the array that `as_strided` was given, which would change too")
    return windows


def of_axis(x: Value):
    """Return a function that tells whether a stride is zero or some times one of the strides of an array."""

    def tells(step: Value) -> bool:
        if isinstance(step, StrideVal):
            return step.array is x or isinstance(x, Cell) and isinstance(step.array, Cell) and core.same_view(step.array, x)
        return isinstance(step, Const) and not step.live and type(step.value) is int and step.value == 0

    return tells
