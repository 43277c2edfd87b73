"""Finds the variables whose type is that of an array although they may be a number at run time.

    s0 = float64(0.0)                         s0: (n,), the type that a loop variant has after one iteration
    s3 = loop (s1 = s0) ...: s2 = s1 + x; yield s2

The variant begins as a number and is an array from the second iteration on. So is what is computed from such variables alone.
"""

import numpy as np

from sourcead.analysis.builder import operand_type
from sourcead.ir.nodes import Atom, Call, Function, Let, Loop, Stmt, Var
from sourcead.ir.types import Array, Scalar
from sourcead.ir.walk import handed_on, walk


def numbers_as_arrays(function: Function) -> set[Var]:
    """Return the variables with the type of an array that may be a number."""
    found: set[Var] = set()
    while more := {v for s in walk(function.body) for v in _made(s, found)} - found:
        found |= more
    return found


def _made(stmt: Stmt, numbers: set[Var]) -> list[Var]:
    """Return what a statement makes that may be a number, if `numbers` may be."""

    def may_be_number(a: Atom) -> bool:
        return a in numbers or isinstance(operand_type(a), Scalar)

    made: list[Var] = []
    for group in handed_on(stmt):
        targets, values = (group[:2], group[2:]) if isinstance(stmt.op, Loop) else (group[:1], group[1:])
        made += targets if any(map(may_be_number, values)) else ()
    if isinstance(stmt.op, Call | Let):
        arrays = [v for v in stmt.op.reads if isinstance(v.type, Array)]
        fn = getattr(stmt.op, "fn", None)
        if arrays and numbers.issuperset(arrays) or isinstance(fn, type) and issubclass(fn, np.generic):
            made += stmt.targets
    return [v for v in made if isinstance(v.type, Array)]
