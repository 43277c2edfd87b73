"""Find what decides whether a value is true."""

import operator

from sourcead.frontend.core.cells import Cell, OptionalVal, Value, array_of
from sourcead.frontend.core.lowering import Lowering
from sourcead.frontend.core.operations import call_special, operate
from sourcead.ir.nodes import Const


def condition(lo: Lowering, value: Value) -> Value:
    """Return the value whose truth is that of a value: what `__bool__` or `__len__` of an object returns, or the value itself."""
    if isinstance(value, OptionalVal):
        return operate(lo, operator.not_, value.missing) if isinstance(value.held, Cell) or value.held.items else Const(False)
    for name in ("__bool__", "__len__"):
        if (found := call_special(lo, value, name, [], None)) is not None:
            return found
    return array_of(value) or value
