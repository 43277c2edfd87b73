"""Lower assignments to attributes of arrays: `a.shape = s`, `a.real = b`, `a.flat = c`."""

import operator

import gast
import numpy as np

from sourcead.frontend import core
from sourcead.frontend.core import Iterable, Lowering, MethodVal, Value, leaves
from sourcead.ir.nodes import Const, Slice
from sourcead.ir.types import kind_of


def set_shape(lo: Lowering, array: Value, shape: Value, node) -> None:
    """Lower `array.shape = shape`: from here on, the one name of the array stands for the array in another shape."""
    since = {(slots, key): list(leaves(slots.get(key, None))) for slots, key, *_ in lo.journal.entries[array.mark :]}
    names = [at for at, held in since.items() if array in held]
    only = len(names) == 1 and names[0][0] is lo.scope.names and names[0][0].get(names[0][1]) is array
    hidden = any(isinstance(v, (Iterable, MethodVal)) or getattr(v, "defaults", None) for held in since.values() for v in held)
    apart = lo.scope.loops or any(isinstance(n, gast.With) for n in gast.walk(lo.scope.source.node))  # where generators may hold it
    further = [frame.bound for frame in lo.calls] + [names for names in lo.captured() if names is not lo.scope.names]
    passed = any(array in leaves(v) for names in further for v in names.values())
    if not only or hidden or apart or passed or array.shares or array.held_by or array.base is not None or array in lo.params:
        raise core.refused(lo, "`.shape` is assigned of an array that may have other names", "`b = a.reshape(...)`")
    lo.set(*names[0], core.call_library(lo, np.reshape, [array, shape], {}, node))  # a view, or Python raises an error


def set_part(lo: Lowering, array: Value, name: str, new: Value, node) -> bool:
    """Lower `array.flat = new`, `array.real = new` or `array.imag = new`, and tell whether it is one of these."""
    if name == "flat":
        core.store(lo, core.attribute(lo, array, name, node), Slice(None, None, None), new, node)
    elif (whole := with_part(lo, array, name, new)) is not None:
        core.store(lo, array, Const(...), whole, node)
    else:
        return False
    return True


def with_part(lo: Lowering, array: Value, name: str, new: Value) -> Value | None:
    """Return what an array holds after `array.name = new`, None if that is not known."""
    kind = kind_of(core.data_type(lo, array))
    if name not in ("real", "imag") or kind is None:
        return None
    if kind != "complex":
        return new if name == "real" else None
    real, imaginary = (new if part == name else core.attribute(lo, array, part, None) for part in ("real", "imag"))
    return core.operate(lo, operator.add, real, core.operate(lo, operator.mul, Const(1j), imaginary))
