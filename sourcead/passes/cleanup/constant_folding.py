"""Folds arithmetic on literals and comparisons by identity, and drops options of NumPy functions that have their default values.

    y = sub(2, 1)                                y = 1
    y = is_(x, None)        x: float             y = False
    y = sum(x, axis=None)                        y = sum(x)
    y = sum(x, axis=tuple(0, 1))                 y = sum(x, axis=(0, 1))

This is legal for integers and truth values, and for floating point numbers where the result is exact; `is` where one side is None and the
type of the other says whether it is, or where both are constants of which there is only one object.

Also the properties of statements and operands that the rules of arithmetic test.
"""

import inspect
import operator
from collections.abc import Hashable
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Call, Const, Function, Operand, Stmt, Var
from sourcead.ir.types import ANY_DTYPE, Array, FunctionT, NoneType, Scalar, Unknown, kind_of, same_dtype
from sourcead.ir.walk import reads_inside
from sourcead.passes.equality import equal_types

ADD, SUB, MUL, DIV, POW, NEG = operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg
COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
OPERANDS = {
    **dict.fromkeys((ADD, SUB, MUL, DIV, POW, operator.floordiv, operator.mod, min, max, *COMPARISONS), 2),
    **dict.fromkeys((NEG, operator.pos, abs, operator.not_, operator.truth, bool), 1),
}
"""How many operands the functions have that can be computed here."""


def generated(stmt: Stmt) -> bool:
    """Return whether the compiler wrote the statement: generated arithmetic may change by rounding, the user's may not."""
    return stmt.adjoint_of is not None or stmt.origin is None


SOLVERS = {"transpose", "solve", "solve_triangular"}
"""The names of functions by which solutions of linear systems become others."""


def read_by_adjoints(function: Function) -> set[Var]:
    """Return the results of the user's statements, outside of loops and branches, that only generated statements and others of them read.

    Like generated arithmetic, they may change by rounding: the value of the function is not computed from them.
    """
    read = {r for r in function.body.results if isinstance(r, Var)}
    found: set[Var] = set()
    for stmt in reversed(function.body.stmts):
        alone = not generated(stmt) and not stmt.op.blocks and read.isdisjoint(stmt.targets)
        if alone:
            found.update(stmt.targets)
        if not generated(stmt) and not (alone and isinstance(stmt.op, Call) and getattr(stmt.op.fn, "__name__", None) in SOLVERS):
            read.update(reads_inside(stmt.op))
    return found


def is_literal(atom: Operand) -> bool:
    """Return whether an operand is a Python number that is written in the program."""
    return isinstance(atom, Const) and not atom.live and atom.text is None and type(atom.value) in (int, float, bool)


def is_const(atom: Operand, *values: Any) -> bool:
    """Return whether an operand is a Python number equal to one of these, which never widens the dtype of a result."""
    return is_literal(atom) and type(atom.value) is not bool and atom.value in values


def keeps_type(stmt: Stmt, atom: Operand) -> bool:
    """Return whether an operation of `atom` with a Python number gives the type, shape and dtype that `atom` has."""
    if not isinstance(atom, Var) and (not isinstance(atom, Const) or is_literal(atom)):
        return False
    a, b = stmt.targets[0].type, atom_type(atom)
    if isinstance(a, Array) and isinstance(b, Array) and a.dims is not None and b.dims is not None:
        known = a.dtype is not None and a.dtype != ANY_DTYPE  # the number has no shape
        return known and len(a.dims) == len(b.dims) and same_dtype(a.dtype, b.dtype)
    if isinstance(a, Scalar) and isinstance(b, Scalar):  # a Python number does not change the dtype of a number
        return (a.kind, a.least) == (b.kind, b.least)
    return equal_types(a, b)


def same_operand_type(a: Operand, b: Operand) -> bool:
    """Return whether two variables are known to have the same type, shape and dtype."""
    return isinstance(a, Var) and isinstance(b, Var) and equal_types(a.type, b.type)


def is_real(atom: Operand) -> bool:
    """Return whether an operand is a floating point number or an array of such."""
    return isinstance(atom, Var) and kind_of(atom.type) == "float"


def is_real_or_generated(stmt: Stmt, x: Atom) -> bool:
    """Return whether a rule that is exact for real numbers, but not for complex infinities, may be applied."""
    return kind_of(atom_type(x)) in ("float", "int") or generated(stmt)


def negatable(stmt: Stmt, atom: Operand) -> bool:
    """Return whether `-atom` is exact, as for floating point numbers and for cotangents, even those of unknown type."""
    if not isinstance(atom, Var):
        return False
    return kind_of(atom.type) in ("float", "complex") or (generated(stmt) and isinstance(atom.type, Unknown))


def is_numeric(stmt: Stmt, atom: Atom) -> bool:
    """Return whether `atom + y` adds numbers, not lists."""
    if isinstance(atom, Const):
        return is_literal(atom)
    return kind_of(atom.type) is not None or (generated(stmt) and isinstance(atom.type, Unknown))


def folded(stmt: Stmt, fn, *values) -> Const | None:
    """Return the value of a function of `OPERANDS` for literals if it is exact, else None.

    In the user's own floating point arithmetic, only products and negations are folded: `1 / 3` says more than 0.333.
    """
    if fn in COMPARISONS or fn in (operator.not_, operator.truth, bool):
        return Const(fn(*values))
    if fn in (MUL, NEG) or generated(stmt) or fn is not DIV and all(isinstance(v, int) for v in values):
        value = exact(fn, *values)
        return None if value is None else Const(value)
    return None


def exact(fn, *values) -> int | float | None:
    """Return `fn(*values)` if it is exact, raises no error and is not long, else None."""
    integers = all(isinstance(v, int) for v in values)
    if fn is POW and not (integers and 0 <= values[1] <= 64 and abs(values[0]) <= 64):
        return None
    try:
        result = fn(*values)
        if integers and isinstance(result, int):
            return result if abs(result) < 2**63 else None
        if fn not in (ADD, SUB, MUL, DIV, NEG) or not isfinite(result):
            return None
        if result == 0 and fn is not NEG:  # zeros have signs
            return None
        return result if Fraction(result) == fn(*map(Fraction, values)) else None
    except (ArithmeticError, ValueError, TypeError):
        return None


def identity(fn, a: Atom, b: Atom) -> Const | None:
    """Return the value of `a is b` or `a is not b`, or None if it is unknown."""
    answer = _is_same_object(a, b)
    return None if answer is None else Const(answer is (fn is operator.is_))


def _is_same_object(a: Atom, b: Atom) -> bool | None:
    if isinstance(a, Const) and isinstance(b, Const) and not a.live and not b.live:
        if any(c.value is None or isinstance(c.value, (bool, type)) for c in (a, b)):
            return a.value is b.value
        return None
    for x, none in ((a, b), (b, a)):
        if isinstance(x, Var) and isinstance(none, Const) and not none.live and none.value is None:
            if isinstance(x.type, NoneType):
                return True
            if isinstance(x.type, (Array, Scalar, FunctionT)):
                return False
    return None


def whole_options(kwargs: tuple) -> tuple:
    """Return the options with tuples of integers that the program writes, as in `axis=(0, 1)`, as one constant each."""
    return tuple((k, Const(tuple(a.value for a in v)) if _are_integers(v) else v) for k, v in kwargs)


def _are_integers(operand: Operand) -> bool:
    return isinstance(operand, tuple) and bool(operand) and all(is_literal(a) and type(a.value) is int for a in operand)


def unusual_options(fn: Hashable, kwargs: tuple) -> tuple:
    """Return the options of a NumPy function that do not have their default values."""
    defaults = _defaults(fn)
    return tuple(
        (k, v)
        for k, v in kwargs
        if not (k in defaults and isinstance(v, Const) and not v.live and type(v.value) is type(defaults[k]) and v.value == defaults[k])
    )


@cache
def _defaults(fn: Hashable) -> dict[str, Any]:
    module = getattr(fn, "__module__", None) or ""
    if not module.startswith("numpy") or isinstance(fn, np.ufunc):
        return {}
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: p.default for p in parameters if p.default is None or type(p.default) in (int, bool, str)}
