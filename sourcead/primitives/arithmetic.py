"""Rules of arithmetic: Python's operators and the NumPy functions that do the same.

    y = a + b     d_a = d_y                   d_b = d_y
    y = a * b     d_a = d_y * b               d_b = d_y * a
    y = a / b     d_a = d_y / b               d_b = -d_y * y / b
    y = a ** b    d_a = d_y * b * a**(b-1)    d_b = d_y * y * log(a)
    y = a % b     d_a = d_y                   d_b = -d_y * (a // b)

At a = 0 the derivative of a power is its limit: 0 where b = 0, and d_b is 0 in place of 0 * log(0).  Where several arguments of
`max` or `min` are equal to the result, they share its cotangent equally.
"""

import operator

import numpy as np

from sourcead.primitives.elementwise import extreme as extreme_of_two
from sourcead.primitives.registry import adjoint, adjoints, elementwise, enter, tangent
from sourcead.runtime import equal_shares, is_integer, is_literal, log_or_zero, lower_exponent
from sourcead.runtime.tangents import share_of_winners

elementwise({
    (operator.add, np.add): lambda y, a, b, d_y: (d_y, d_y),
    (operator.sub, np.subtract): lambda y, a, b, d_y: (d_y, -d_y),
    (operator.mul, np.multiply): lambda y, a, b, d_y: (d_y * b, d_y * a),
    (operator.truediv, np.divide): lambda y, a, b, d_y: (d_y / b, -d_y * y / b),
    (operator.mod, np.remainder): lambda y, a, b, d_y: (d_y, -d_y * (a // b)),
    np.fmod: lambda y, a, b, d_y: (d_y, -d_y * np.trunc(a / b)),
    (operator.neg, np.negative): lambda y, x, d_y: -d_y,
    (operator.pos, np.positive, float, complex): lambda y, x, d_y: d_y,
    np.square: lambda y, x, d_y: 2 * d_y * x,
    np.reciprocal: lambda y, x, d_y: -d_y * y * y,
})


@adjoint(operator.pow, pow, np.power, np.float_power, broadcasts=True)
def power_adjoint(y, a, b, d_y):
    if not is_literal(b):
        lower = b - (b != 0) if is_integer(b) else lower_exponent(b, a)
        return b * d_y * a**lower, d_y * y * log_or_zero(a)
    if b == 0:
        return None, None
    if b == 1:
        return d_y, None
    if b == 2:
        return b * d_y * a, None
    return b * d_y * a ** (b - 1), None


def extreme(wins):
    """Return the rule of the choice of the number that `wins(number, other)` against all others.

    Python takes the second of two only if it wins, so the first one gets all of the cotangent if either of them is NaN.
    """

    def rule(y, *xs, d_y):
        if len(xs) != 2:
            return equal_shares(d_y, y, xs)
        a, b = xs
        if is_literal(b):
            return extreme_of_two(wins)(y, a, b, d_y) if b == b else (d_y, None)
        d_b = d_y * wins(b, a) + d_y / 2 * (a == b)
        return d_y - d_b, d_b

    return rule


adjoints({max: extreme(operator.gt), min: extreme(operator.lt)})


@tangent(max, min)
def extreme_tangent(y, *xs, t_xs):
    if len(xs) == 2:
        a, b = xs
        t_a, t_b = t_xs
        return t_a * (a == y) * (a != b) + t_b * (b == y) * (a != b) + (t_a + t_b) / 2 * (a == b)
    return share_of_winners(t_xs, y, xs)

BINARY = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
BITWISE = (operator.and_, operator.or_, operator.xor, operator.invert, operator.lshift, operator.rshift)
IN_PLACE = (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow)

enter(*BINARY, *COMPARISONS, *BITWISE, *IN_PLACE, operator.neg, operator.pos, operator.abs, elementwise=True)
enter(*BINARY, sequences="arrays")
enter(*COMPARISONS, boolean=True)
enter(operator.add, operator.mul, np.add, np.multiply, np.maximum, np.minimum, commutes=True)
enter(
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.floordiv, operator.mod, *COMPARISONS,
    operator.not_, operator.and_, operator.or_, operator.is_, operator.is_not, np.add, np.subtract, np.multiply, np.divide, np.negative,
    np.square, np.maximum, np.minimum, np.sign,
    cheap=True,
)  # fmt: skip
enter(
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, np.add, np.subtract, np.multiply, np.divide,
    np.sqrt, np.square, np.sinh, np.cosh, np.arctan, np.abs, np.maximum, np.minimum,
    looped=True,
)  # fmt: skip
enter(operator.is_, operator.is_not, operator.not_, operator.truth, operator.contains, operator.getitem, operator.concat, numba="native")
