"""Shifts of arrays in a circle, as two slices that are copied.

    y = roll(x, 1)              x: (n,)         y = roll_axis(x, 1)
    y = roll(x, -2, axis=1)     x: (n, m)       y = roll_axis(x, -2, 1)

`np.roll` is a function of Python that takes as long as ten operations on small arrays before it copies anything, and the periodic grids of
simulations call it several times in each step; `roll_axis` copies two slices (`runtime/shapes.py`).  This is legal where the shift is known
and not larger than the axis.  It comes after the memory stage, for the text of NumPy alone.
"""

import numpy as np

from sourcead import runtime
from sourcead.ir.nodes import Call, Const, Function, Stmt, Var
from sourcead.ir.types import Array
from sourcead.passes.peephole import Facts, peephole


def copy_shifted(function: Function) -> Function:
    """Return the function with shifts along one axis by known numbers as slices that are copied."""

    def rule(stmt: Stmt, facts: Facts) -> Call | None:
        match stmt.op:
            case Call(np.roll, (Var() as x, Const(int() as shift)), (("axis", axis),)) if not stmt.op.effect:
                return copied(x, shift, axis)
            case Call(np.roll, (Var() as x, Const(int() as shift), *others), ()) if not stmt.op.effect and len(others) < 2:
                return copied(x, shift, *others)
        return None

    return peephole(function, rule)


def copied(x: Var, shift: int, axis: object = Const(None)) -> Call | None:
    """Return the call that shifts an array along one axis; None if that is not known."""
    dims = x.type.dims if isinstance(x.type, Array) else None
    place = axis.value if isinstance(axis, Const) else ...
    if place is None and dims is not None and len(dims) == 1:
        place = 0
    if not dims or type(shift) is not int or type(place) is not int or not -len(dims) <= place < len(dims):
        return None
    size = dims[place]
    if not 0 < abs(shift) <= max(1, size if isinstance(size, int) else size.least):
        return None
    place %= len(dims)
    return Call(runtime.roll_axis, (x, Const(shift), Const(place)) if place else (x, Const(shift)))
