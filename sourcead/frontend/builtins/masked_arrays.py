"""Lower the functions of `np.ma` that make masked arrays of plain ones, and those that ask what is masked."""

import numpy as np

from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import lowers
from sourcead.frontend.core import Lowering, Value, array_of
from sourcead.frontend.values import array_objects
from sourcead.frontend.values.masked_arrays import HAS_MASK, MaskedArray, is_masked, mask_of
from sourcead.ir.nodes import Call, Const
from sourcead.ir.types import Array

MADE_BY = {np.ma.asarray: np.asarray, np.ma.asanyarray: np.asarray, np.ma.atleast_1d: np.atleast_1d, np.ma.atleast_2d: np.atleast_2d}


def maker(fn, plain):
    """Return the rule of a function of `np.ma` that does to the data what `plain` does, and gives a whole mask if it is not `asarray`."""

    def lower(lo: Lowering, node, x: Value) -> Value:
        if core.class_of(x) is not None and not is_masked(x):
            raise core.unsupported(lo, node, f"`np.ma.{fn.__name__}` of an object of a class of yours", "`np.asarray(x)`")
        if is_masked(x) and plain is np.asarray:
            return x
        made = array_objects.new(lo, MaskedArray, core.call_library(lo, plain, [array_of(x) if is_masked(x) else x], {}, node), Const(None))
        lo.set(made.slots, HAS_MASK, Const(plain is not np.asarray))
        return made

    return lower


for _fn, _plain in MADE_BY.items():
    lowers(_fn)(maker(_fn, _plain))

lowers(np.ma.getmask)(lambda lo, node, x: mask_of(lo, x, node))
lowers(np.ma.getdata)(lambda lo, node, x: array_of(x) if is_masked(x) else core.call_library(lo, np.asarray, [x], {}, node))


@core.builtin(np.any)
def builtin_any(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `np.any(x)`, which is known of the mask of an array of which nothing is masked."""
    if len(args) == 1 and not kwargs and holds_nothing_true(lo, args[0]):
        return Const(False)
    return core.call_library(lo, np.any, args, kwargs, node)


def holds_nothing_true(lo: Lowering, value: Value) -> bool:
    """Tell whether a value is an array of False that was just made, or `np.ma.nomask`."""
    if isinstance(value, Const):
        return value.value is np.ma.nomask
    made = lo.build.made_by.get(lo.read(value)) if isinstance(core.data_type(lo, value), Array) else None
    return isinstance(made, Call) and made.fn is np.zeros and getattr(made.args[-1], "value", None) is bool
