"""The shares of ties as weights, for numbers in the text that Numba compiles.

    product = d / 2 * (a == b)
    d_a = d * (a > b) + product             d_a = d * ((a > b) + (a == b) * 0.5)
    d_b = d * (b > a) + product             d_b = d * ((b > a) + (a == b) * 0.5)

What an iteration of a dynamic programme waits for is the cotangent `d`, to which the iteration before has added.  From there on this is one
multiplication; the weights are computed while it waits.  At most one of the comparisons is true, so the results are the same bits, unless
`d` is infinite: then they are not NaN.
"""

import operator
from dataclasses import replace

from sourcead.analysis.builder import Builder, atom_type
from sourcead.ir.nodes import Atom, Call, Const, Function, Stmt, Var
from sourcead.ir.types import FLOAT, Scalar, kind_of
from sourcead.ir.walk import definitions, rewrite, with_body


def shares_as_weights(function: Function) -> Function:
    """Return the function with weights in place of sums of shares; what nothing reads any more is left."""
    made = definitions(function.body)

    def factors(v: Atom) -> tuple[Atom, Var] | None:
        """Return the number and the truth value of which a variable is the product."""
        stmt = made.get(v)
        match stmt.op if stmt else None:
            case Call(operator.mul, (a, b), ()) if is_number(a, "float") and is_number(b, "bool"):
                return a, b
            case Call(operator.mul, (a, b), ()) if is_number(a, "bool") and is_number(b, "float"):
                return b, a
        return None

    def half_of(v: Atom) -> Atom | None:
        stmt = made.get(v)
        match stmt.op if stmt else None:
            case Call(operator.truediv, (whole, Const(2)), ()) | Call(operator.mul, (whole, Const(0.5)), ()):
                return whole
        return None

    def change(stmt: Stmt) -> list[Stmt]:
        match stmt.op:
            case Call(operator.add, (x, y), ()) if (one := factors(x)) and (other := factors(y)):
                if half_of(one[0]) is other[0]:
                    one, other = other, one
                if half_of(other[0]) is not one[0]:
                    return [stmt]
                build = Builder().at(stmt)
                half = build.emit(Call(operator.mul, (other[1], Const(0.5))), FLOAT, "half")
                weight = build.emit(Call(operator.add, (one[1], half)), FLOAT, "share")
                return [*build.stmts, replace(stmt, op=Call(operator.mul, (one[0], weight)))]
        return [stmt]

    return with_body(function, rewrite(function.body, change))


def is_number(a: Atom, kind: str) -> bool:
    return isinstance(a, Var) and isinstance(atom_type(a), Scalar) and kind_of(a.type) == kind
