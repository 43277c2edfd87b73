"""Simplifications: functions from IR to IR, one per file, and `simplify`, which runs them all.

Values in the IR are immutable, so that statements may be moved, merged and removed freely as long as effects stay in
order.  Each pass gives back the very function it was given if there was nothing to do.
"""

from __future__ import annotations

from sourcead.ir.nodes import Function
from sourcead.passes.cleanup.algebra import simplify_arithmetic
from sourcead.passes.cleanup.broadcasts import remove_broadcasts
from sourcead.passes.cleanup.common_subexpressions import merge_common
from sourcead.passes.cleanup.copies import propagate_copies
from sourcead.passes.cleanup.dead_code import remove_dead
from sourcead.passes.cleanup.shapes_of_versions import ask_first_versions
from sourcead.passes.cleanup.values_for_shape import share_shapes

PASSES = (
    remove_dead, ask_first_versions, propagate_copies, simplify_arithmetic, remove_broadcasts, share_shapes, merge_common, remove_dead,
)  # fmt: skip
ROUNDS = 4


def simplify(function: Function) -> Function:
    """The function in simplest form: all passes, again until nothing changes, at most `ROUNDS` times.

    Example:
        >>> import operator
        >>> from sourcead.ir.nodes import Block, Call, Const, Function, Stmt, Var
        >>> from sourcead.ir.types import FLOAT
        >>> x, y = Var("x", FLOAT), Var("y", FLOAT, temp=True)
        >>> f = Function("f", (x,), Block((Stmt((y,), Call(operator.mul, (x, Const(1)))),), (y,)))
        >>> simplify(f).body.stmts
        ()
    """
    finished: dict = {}  # the function that each pass last left as it was
    for _ in range(ROUNDS):
        before = function
        for run in PASSES:
            if finished.get(run) is not function:
                given, function = function, run(function)
                if function is given:
                    finished[run] = function
        if function is before:
            break
    return function
