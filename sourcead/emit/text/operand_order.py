"""Puts that operand of a product or a sum first which needs more memory while it is computed.

    d_y @ w.T * (1 - h * h)         (1 - h * h) * (d_y @ w.T)

The first operand is held while the second is computed, so fewer arrays are held at a time (R. Sethi and J. Ullman, 1970).
The result is the same to the bit.  It is done in adjoints, between arrays of several axes; what the user wrote keeps its order.
"""

import operator
from collections.abc import Mapping

from sourcead.emit.text.calls_in_place import is_large
from sourcead.ir.nodes import Call, Op, Operand, Stmt, Var
from sourcead.primitives.table import record_of

COMMUTES = (operator.add, operator.mul)
IN_PLACE = (*COMMUTES, operator.sub, operator.truediv)  # NumPy writes their results into an operand without a name, if that is large


def ordered(op: Call, nested: Mapping[Var, Op], made: Mapping[Var, Stmt]) -> tuple[Operand, ...]:
    """Return the operands of a call in the order in which they are written; `made` has the statements that nested values come from."""
    if not commutes(op, made):
        return op.args
    first, second = (arrays_needed(v, nested, made) for v in op.args)
    return op.args[::-1] if second > first > 0 else op.args


def commutes(op: Call, made: Mapping[Var, Stmt]) -> bool:
    """Return whether a call is a product or a sum of two values of adjoints that stand inside of it."""
    return op.fn in COMMUTES and not op.kwargs and len(op.args) == 2 and all(v in made and made[v].adjoint_of for v in op.args)


def arrays_needed(v: Operand, nested: Mapping[Var, Op], made: Mapping[Var, Stmt]) -> int:
    """Return how many arrays without names are held at most while a nested value is computed, 0 if it has a name."""
    op = nested.get(v) if isinstance(v, Var) else None
    if not isinstance(op, Call) or not is_large(v.type) or isinstance(op.fn, Var):
        return 0
    if record_of(op.fn).view is not None:
        return arrays_needed(op.args[0], nested, made)
    needs = [arrays_needed(a, nested, made) for a in op.args]
    if commutes(op, made) and needs[1] > needs[0] > 0:
        needs.reverse()
    held = most = 0
    for needed in needs:
        most, held = max(most, held + needed), held + (needed > 0)
    in_place = op.fn in IN_PLACE and len(needs) == 2 and (needs[0] > 0 or op.fn in COMMUTES and needs[1] > 0)
    return max(most, held + (not in_place))
