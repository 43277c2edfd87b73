"""Properties of statements and operands that the rules of arithmetic test."""

from __future__ import annotations

from typing import Any

from sourcead.ir.nodes import Atom, Const, Operand, Stmt, Var
from sourcead.ir.types import Array, Scalar, Unknown, kind_of
from sourcead.passes.equality import equal_types


def generated(stmt: Stmt) -> bool:
    """Return whether the compiler wrote the statement: generated arithmetic may change by rounding, the user's may not."""
    return stmt.adjoint_of is not None or stmt.origin is None


def is_literal(atom: Operand) -> bool:
    """Return whether an operand is a Python number that is written in the program."""
    return isinstance(atom, Const) and not atom.live and atom.text is None and type(atom.value) in (int, float, bool)


def is_const(atom: Operand, *values: Any) -> bool:
    """Return whether an operand is a Python number equal to one of these, which never widens the dtype of a result."""
    return is_literal(atom) and type(atom.value) is not bool and atom.value in values


def keeps_type(stmt: Stmt, atom: Operand) -> bool:
    """Return whether an operation of `atom` with a Python number gives the type, shape and dtype that `atom` has."""
    if not isinstance(atom, Var):
        return False
    a, b = stmt.targets[0].type, atom.type
    return equal_types(a, b) or (isinstance(a, Scalar) and a == b)  # a Python number does not change the dtype of a number


def same_type(stmt: Stmt, atom: Operand) -> bool:
    """Return whether the statement's result is known to have the operand's type, shape and dtype."""
    return isinstance(atom, Var) and equal_types(stmt.targets[0].type, atom.type)


def same_operand_type(a: Operand, b: Operand) -> bool:
    """Return whether two variables are known to have the same type, shape and dtype."""
    return isinstance(a, Var) and isinstance(b, Var) and equal_types(a.type, b.type)


def is_real(atom: Operand) -> bool:
    """Return whether an operand is a floating point number or an array of such."""
    return isinstance(atom, Var) and kind_of(atom.type) == "float"


def is_inexact(atom: Operand) -> bool:
    """Return whether an operand is a real or complex floating point number, or an array of such."""
    return isinstance(atom, Var) and isinstance(atom.type, (Array, Scalar)) and kind_of(atom.type) in ("float", "complex")


def is_real_or_generated(stmt: Stmt, x: Var) -> bool:
    """Return whether a rule that is exact for real numbers, but not for complex infinities, may be applied."""
    return kind_of(x.type) in ("float", "int") or generated(stmt)


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
