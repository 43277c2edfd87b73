"""Which statements may be computed where the program does not: for members that do not take an arm, or where no member takes it."""

import math
import operator

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Append, Attr, Branch, Build, Call, Const, Index, Let, Slice, Stmt, Sub, Update
from sourcead.ir.sizes import Sym
from sourcead.ir.types import BOOL, Array, Scalar
from sourcead.primitives.function_kinds import home
from sourcead.primitives.table import record_of

SAFE = frozenset({
    operator.add, operator.sub, operator.neg, operator.pos, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    operator.not_, np.add, np.subtract, np.negative, np.logical_and, np.logical_or, np.logical_not,
})  # fmt: skip
"""Functions that may be computed for members that do not need them: they cannot fail, and their adjoints multiply by 1 or -1."""

NEVER_FAIL = SAFE | {operator.mul, operator.matmul, abs, len, float, min, max, operator.is_, operator.is_not}
BY_ZERO = (operator.truediv, operator.floordiv, operator.mod, operator.pow)


def is_safe(stmt: Stmt) -> bool:
    """Return whether a statement may be computed for members that do not need it."""
    match stmt.op:
        case Let() | Build(kind="tuple" | "dict" | "record"):
            return True
        case Branch(cond):
            return atom_type(cond) == BOOL
        case Index(base, Const(int() as k)) if isinstance(atom_type(base), Array) and atom_type(base).dims:
            n = atom_type(base).dims[0]
            return -(least := n.least if isinstance(n, Sym) else n) <= k < least
        case Call(operator.mul | np.multiply, (a, b), ()):
            return any(isinstance(x, Const) and type(x.value) in (int, float) and math.isfinite(x.value) for x in (a, b))
        case Call(fn, _, ()):
            return isinstance(fn, type(len) | np.ufunc) and fn in SAFE
    return False


def may_fail(stmt: Stmt) -> bool:
    """Return whether a statement may raise an error, for some values of what it reads."""
    match stmt.op:
        case Let() | Build() | Attr() | Append():
            return False
        case Index(_, key):
            return not is_safe(stmt) and not all(isinstance(part, Slice) for part in (key if isinstance(key, tuple) else (key,)))
        case Update(_, path):
            return not all(isinstance(step, Sub) and isinstance(step.key, Slice) for step in path)
        case Branch(_, then, orelse):
            return any(may_fail(s) for arm in (then, orelse) for s in arm.stmts)
        case Call(fn, args, _) if isinstance(fn, type(len) | type | np.ufunc) or callable(fn):
            if fn in BY_ZERO:
                return all(not isinstance(a, tuple) and isinstance(atom_type(a), Scalar) for a in args)
            return not (fn in NEVER_FAIL or home(fn) == "numpy" and record_of(fn).pure)
    return True
