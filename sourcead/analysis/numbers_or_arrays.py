"""Finds variables of the type of an array that hold a number at times.

    h = 0.0                                a number
    for x in xs:
        h = np.tanh(w * h + x)             an array, from the first iteration on

NumPy broadcasts such a number as it does an array of one element, but it has no parts, and no product of matrices takes it.
"""

import numpy as np

from sourcead.analysis.sizes import dims_in
from sourcead.ir.nodes import Call, Function, Let, Var
from sourcead.ir.walk import handed_on, walk


def makes_numbers(fn: object) -> bool:
    """Return whether a function gives a number for numbers, as `np.float64`, `np.exp` and `operator.add` do, but not `np.zeros`."""
    return isinstance(fn, (type, np.ufunc)) or getattr(fn, "__module__", None) == "_operator"


def may_be_numbers(function: Function) -> set[Var]:
    """Return the variables of the type of an array that may be numbers, as a state that begins as 0.0 is, and the containers of such."""
    found: set[Var] = set()
    flows = [group for stmt in walk(function.body) for group in handed_on(stmt)]
    for group in flows:
        if dims_in(group[0]) and not all(isinstance(a, Var) and dims_in(a) for a in group[1:]):
            found.update(v for v in group[:2] if isinstance(v, Var) and dims_in(v))
    for stmt in walk(function.body):
        if isinstance(stmt.op, Let) or isinstance(stmt.op, Call) and makes_numbers(stmt.op.fn):
            found.update(v for v in stmt.targets if dims_in(v) and not any(map(dims_in, stmt.op.reads)))
    before = -1
    while found and len(found) > before:
        before = len(found)
        for target, *values in flows:
            if not found.isdisjoint(v for v in values if isinstance(v, Var)):
                found.update(v for v in (target, *values[:1]) if isinstance(v, Var))
        for stmt in walk(function.body):
            read = () if stmt.op.blocks else tuple(stmt.op.reads)
            if not found.isdisjoint(read) and not any(dims_in(v) and v not in found for v in read):
                found.update(stmt.targets)
    return found
