"""Several operations whose derivative together is shorter and safer than that of one after the other.

    y = n / (a + e),  e = exp(u)            dy/du = -y (1 - a / (a + e));  for n = a, as in a sigmoid, -y (1 - y)
    y = e / (a + e)                         dy/du = y (1 - y)
    y = e / sum(e, axis)                    dy/du = diag(y) - y y^T along the axis, as in a softmax

One after the other, the sigmoid of -800 has the derivative 0 / inf * inf, which is not a number, and saves `e` and the sum beside `y`.
The Jacobians are symmetric: the same product serves tangents and cotangents.

Source: I. Goodfellow, Y. Bengio, A. Courville, "Deep Learning", 2016, sections 3.10 and 6.2.2.
"""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sourcead.analysis.builder import Builder, operand_type
from sourcead.ir.nodes import Atom, Call, Const, Index, Let, Op, Operand, Slice, Stmt, Var
from sourcead.ir.types import Array, Scalar, rank

EXP = {np.exp, math.exp}
SUMS = {operator.add, np.add}
QUOTIENTS = {operator.truediv, np.divide, np.true_divide}
POWERS = {operator.pow, np.power}


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """The product of a Jacobian with a tangent or cotangent.

    Attributes:
        argument: `u`.
        covered: the operands of the operation that computes `y` whose contribution this is.
        product: emits the product.
    """

    argument: Var
    covered: frozenset[Var]
    product: Callable[[Builder, Atom], Atom]


def closed_form(stmt: Stmt, made: Mapping[Var, Stmt]) -> ClosedForm | None:
    """Return the closed form that the statement ends; None if there is none.

    Args:
        stmt: a statement whose op is a call.
        made: the statements before it in its block, by their targets.
    """
    if (found := quotient(stmt.op)) is None or not is_real(stmt.targets[0]):
        return None
    above, below = found
    (y,), numerator = stmt.targets, copied_from(made, above)

    def slope(build: Builder, d: Atom, opposite: Atom, name: str) -> Atom:
        return build.call(operator.mul, build.call(operator.mul, d, y), build.call(operator.sub, Const(1), opposite), name=name)

    if (parts := shifted_exponential(made, below)) is not None:
        e, u, a = parts
        if numerator is e:
            return ClosedForm(u, frozenset((above, below)), lambda build, d: slope(build, d, y, "product"))
        def of_denominator(build: Builder, d: Atom) -> Atom:
            same = is_literal(above) and type(above.value) in (int, float) and above.value == a.value
            opposite = y if same else build.call(operator.truediv, a, below)
            return build.call(operator.neg, slope(build, d, opposite, "product"))

        return ClosedForm(u, frozenset((below,)), of_denominator)
    e = numerator if isinstance(numerator, Var) else None
    u = exponent(made, e)
    if u is None or (total := sum_over_itself(made, below, e)) is None:
        return None

    def of_softmax(build: Builder, d: Atom) -> Atom:
        common = total(build, build.call(operator.mul, d, y))
        return build.call(operator.mul, build.call(operator.sub, d, common), y)

    return ClosedForm(u, frozenset((above, below)), of_softmax)


def is_real(v: Var) -> bool:
    """Return whether a variable is known to be a real number or an array of them."""
    t = v.type
    return isinstance(t, Scalar) and t.kind == "float" or isinstance(t, Array) and t.dtype is not None and np.dtype(t.dtype).kind == "f"


def quotient(op: Call) -> tuple[Operand, Var] | None:
    """Return the numerator and the denominator of a quotient; None for other operations."""
    match op:
        case Call(fn, (above, Var() as below), ()) if fn in QUOTIENTS:
            return above, below
        case Call(np.reciprocal, (Var() as below,), ()):
            return Const(1), below
        case Call(fn, (Var() as below, Const(int() | float() as n, live=False)), ()) if fn in POWERS and n == -1:
            return Const(1), below
    return None


def copied_from(made: Mapping[Var, Stmt], atom: Operand) -> Operand:
    """Return the variable that this is a copy of, itself if it is none."""
    while isinstance(atom, Var) and atom in made and isinstance(value := getattr(made[atom].op, "value", None), Var):
        if not isinstance(made[atom].op, Let):
            break
        atom = value
    return atom


def maker(made: Mapping[Var, Stmt], atom: Operand) -> Op | None:
    """Return the operation that computes a variable, through copies; None if it stands elsewhere or has further results."""
    stmt = made.get(copied_from(made, atom)) if isinstance(atom, Var) else None
    return stmt.op if stmt is not None and len(stmt.targets) == 1 else None


def exponent(made: Mapping[Var, Stmt], e: Var | None) -> Var | None:
    """Return the variable of which this is the exponential; None if it is none."""
    match maker(made, e):
        case Call(fn, (Var() as u,), ()) if fn in EXP:
            return u
    return None


def shifted_exponential(made: Mapping[Var, Stmt], total: Var) -> tuple[Var, Var, Const] | None:
    """Return `e`, `u` and `a` of `a + e` or `e + a` with `e = exp(u)` and a positive number `a`; None for others."""
    op = maker(made, total)
    if not isinstance(op, Call) or op.fn not in SUMS or op.kwargs or len(op.args) != 2:
        return None
    for a, e in (op.args, op.args[::-1]):
        if is_literal(a) and type(a.value) in (int, float) and a.value > 0 and (u := exponent(made, e)) is not None:
            return copied_from(made, e), u, a
    return None


def sum_over_itself(made: Mapping[Var, Stmt], total: Var, e: Var) -> Callable[[Builder, Atom], Atom] | None:
    """Return what sums as `total` sums `e` if each element of `total` meets those of `e` that it is the sum of; None for others."""
    op, key = maker(made, total), None
    if isinstance(op, Index) and isinstance(op.base, Var):
        op, key = maker(made, op.base), op.key
    if not isinstance(op, Call) or op.fn is not np.sum or len(op.args) not in (1, 2) or copied_from(made, op.args[0]) is not e:
        return None
    options, axes = dict(zip(("axis",), op.args[1:])) | dict(op.kwargs), rank(operand_type(e))
    if not options.keys() <= {"axis", "keepdims"} or not all(map(is_literal, options.values())):
        return None
    axis, keeps = (options[name].value if name in options else None for name in ("axis", "keepdims"))
    if key is None and (axis is None or keeps is True or axes == 1):
        return lambda build, v: build.call(np.sum, v, **options)
    if key is not None and isinstance(axis, int) and not keeps and axes is not None and restores(key, axis % axes, axes):
        return lambda build, v: build.index(build.call(np.sum, v, **options), key)
    return None


def restores(key: Operand, axis: int, axes: int) -> bool:
    """Return whether a subscript of a sum puts the axis back that was summed: `[:, None]` for axis 1 of two."""
    parts = key if isinstance(key, tuple) else (key,)
    whole = all(isinstance(p, Slice) and p.lower is p.upper is p.step is None or is_literal(p) and p.value in (None, ...) for p in parts)
    none = [is_literal(p) and p.value is None for p in parts]
    rest = [is_literal(p) and p.value is ... for p in parts]
    if not whole or none.count(True) != 1:
        return False
    return none.index(True) == axis and not any(rest) or rest == [True, False] and axis == axes - 1


def is_literal(operand: Operand | None) -> bool:
    """Return whether an operand is a constant of the program, not a global variable."""
    return isinstance(operand, Const) and not operand.live
