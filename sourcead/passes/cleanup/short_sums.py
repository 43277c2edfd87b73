"""Sums along a short last axis by `einsum`.

    y = sum(x, axis=-1)        x: (n, m, 3)        y = einsum("ijk->ij", x)

NumPy sums many short rows, such as those of squared distances in space, three times as slowly as `einsum` does.  This is legal for real
numbers: both add fewer than eight one after the other or in pairs.  The results differ by rounding.  It comes after the memory stage, which
knows that a sum has memory of its own; other calls of `einsum` may return a view.
"""

import numpy as np

from sourcead.analysis.sizes import known_dtype
from sourcead.ir.nodes import Call, Const, Function, Stmt, Var
from sourcead.ir.types import dims_of
from sourcead.passes.peephole import Facts, peephole

SHORT = range(2, 8)  # of more numbers NumPy adds several at once
LETTERS = "ijklmn"


def sum_short_rows(function: Function) -> Function:
    """Return the function with sums along a short last axis as `einsum`."""

    def rule(stmt: Stmt, facts: Facts) -> Call | None:
        match stmt.op:
            case Call(np.sum, (Var() as x,), (("axis", Const(int() as axis)),), False, None) | (
                Call(np.sum, (Var() as x, Const(int() as axis)), (), False, None)
            ):
                dims = dims_of(x.type) or ()
                short = 2 <= len(dims) <= len(LETTERS) and axis in (-1, len(dims) - 1) and dims[-1] in SHORT and not stmt.within
                if short and known_dtype(x) in (np.float64, np.float32):
                    letters = LETTERS[: len(dims)]
                    return Call(np.einsum, (Const(f"{letters}->{letters[:-1]}"), x))
        return None

    return peephole(function, rule)
