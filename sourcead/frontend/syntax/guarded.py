"""Keep what may raise an exception that the program handles: it is computed even if nothing reads it, so no exception is lost."""

import operator
from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import operand_type
from sourcead.frontend.core import VALUE, Cell, Lowering, Value, leaves
from sourcead.ir.nodes import (
    Atom, Attr, Block, Branch, Build, Call, Closure, Const, Effect, Index, Let, Loop, Op, Slice, Stmt, Update, Var
)
from sourcead.ir.types import ANY_DTYPE, Array, Scalar, Sym
from sourcead.ir.walk import map_blocks

SAFE = (Let, Build, Branch, Loop, Closure, Attr, Effect)
PLAIN = frozenset({operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.lt, operator.le, operator.gt,
                   operator.ge, operator.eq, operator.ne, operator.is_, operator.is_not, operator.not_, float, bool, len, range, abs})
DIVISIONS = (operator.truediv, operator.floordiv, operator.mod, operator.pow, divmod, pow)


HARMLESS = (runtime.as_python, runtime.computed, runtime.exception_of, runtime.handler_of)
UNHANDLED = Call(runtime.unhandled, ())


def kept(stmts: list[Stmt] | tuple[Stmt, ...], stops: tuple[type, ...], probed: set[Var]) -> list[Stmt]:
    """Return statements with a use of each value whose computation may raise an exception of one of the classes `stops`.

    The calls of which the values in `probed` are the results have been tried before (`syntax/probes.py`).
    """
    new: list[Stmt] = []
    for old in stmts:
        stmt = map_blocks(old, lambda block: Block(tuple(kept(block.stmts, stops, probed)), block.results))
        raises = not probed.intersection(stmt.targets) and any(meets(raised, stops) for raised in raised_by(stmt))
        if raises and UNHANDLED not in stmt.within:
            stmt = replace(stmt, within=(*stmt.within, UNHANDLED))
        new.append(stmt)
        if raises and stmt.targets and isinstance(stmt.targets[0], Var):
            use = Call(runtime.computed, (stmt.targets[0],), effect=True)
            if is_division(stmt.op) and all(map(may_be_of_python, stmt.op.args)):
                use = Call(runtime.as_python, (Const(stmt.op.fn), *stmt.op.args), effect=True)
            new.append(Stmt((Var("computed"),), use, stmt.origin, stmt.adjoint_of, stmt.within))
    return new


def read(lo: Lowering, value: Value) -> None:
    """Emit a use of a value that may be unassigned, so that the text raises an error there, which the program may handle."""
    for atom in (leaf.slots.get(VALUE) if isinstance(leaf, Cell) else leaf for leaf in leaves(value)):
        if atom in lo.build.unassigned:
            within = (*lo.build.within, UNHANDLED) if meets(UnboundLocalError, lo.catching) else lo.build.within
            lo.build.add(Stmt((Var("computed"),), Call(runtime.computed, (atom,), effect=True), lo.here, None, within))


def meets(raised: type, stops: tuple[type, ...]) -> bool:
    """Tell whether an exception of a class, or of a class derived from it, is caught."""
    return issubclass(raised, stops) or any(issubclass(stop, raised) for stop in stops)


def is_division(op: Op) -> bool:
    """Tell whether an operation is a division or power."""
    return isinstance(op, Call) and op.fn in DIVISIONS


def may_be_of_python(operand: Atom) -> bool:
    """Tell whether a number may be one of Python in the program, whose division by zero raises an exception; that of NumPy does not."""
    t = operand_type(operand)
    return isinstance(t, Scalar) and (t.dtype is None or t.dtype is ANY_DTYPE)


def raised_by(stmt: Stmt) -> tuple[type, ...]:
    """Return the classes of the exceptions that a statement may raise."""
    op = stmt.op
    match op:
        case Index(base, key) | Update(base, _, key):
            return () if isinstance(op, Index) and is_inside(operand_type(base), key) else (Exception,)
        case Call(fn) if fn in HARMLESS:
            return ()
        case Call(fn, args, effect=False):
            types = [operand_type(a) for a in args]
            if not all(isinstance(t, (Scalar, Array)) for t in types):
                return (Exception,)
            shapes = () if fit(types) else (ValueError,)
            if fn in (float, bool, operator.not_) and any(isinstance(t, Array) and t.dims != () for t in types):
                return (TypeError, ValueError)
            if fn in PLAIN:
                return shapes
            if fn in DIVISIONS:
                return shapes if any(isinstance(t, Array) for t in types) else (ArithmeticError,)
            if getattr(fn, "__module__", None) == "math":
                return (ArithmeticError, ValueError)
            if isinstance(fn, np.ufunc) and fn.signature is None or fn is np.sum and len(types) == 1 and not op.kwargs:
                return shapes
    return () if isinstance(op, SAFE) else (Exception,)


def fit(types: list) -> bool:
    """Tell whether arrays surely broadcast against each other."""
    dims = [t.dims for t in types if isinstance(t, Array)]
    if None in dims:
        return len(types) == 1
    return all(len({n for n in axis if n != 1}) <= 1 for axis in zip(*(d[::-1] for d in sorted(dims, key=len)), strict=False)) and (
        len({len(d) for d in dims}) <= 1
    )


def least(dim: int | Sym) -> int:
    """Return the least size that a dim may be."""
    return dim if isinstance(dim, int) else dim.least


def is_inside(t, key) -> bool:
    """Tell whether a subscript of an array is surely valid."""
    keys = key if isinstance(key, tuple) else (key,)
    if not isinstance(t, Array) or t.dims is None or len(keys) > len(t.dims):
        return False
    return all(
        isinstance(k, Slice) or isinstance(k, Const) and type(k.value) is int and -least(n) <= k.value < least(n)
        for k, n in zip(keys, t.dims)
    )
