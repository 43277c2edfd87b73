"""Removes arithmetic that a person would not have written.

    y = mul(x, 1)                                y = x
    y = neg(neg(x))                              y = x
    y = sub(x, neg(z))                           y = add(x, z)
    y = mul(div(v, c), c)                        y = v                     (`cancelled_quotients.py`)
    y = transpose(transpose(x))                  y = x                     (`transposes.py`)
    y = conjugate(x)       x: float              y = x
    d1 = zeros_like(x) with all += v             d1 = v
    d1 = zeros_like(x) with [i] += v             d1 = zeros_like(x) with [i] = v
    y = x[:, None][:, 0]                         y = x                     (`dropped_axes.py`)

Each rule says what makes it legal.  A rule that replaces an operation by one of its operands requires both to have the same type,
dims and dtype included, so that no broadcast or cast is lost.  A few rules are exact but for the sign of a zero, the
rounding of the last bit, or an overflow: they apply to generated statements only, never to arithmetic that the user wrote.
"""

import operator
from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.analysis.loop_indices import names_elements_once
from sourcead.ir.nodes import Atom, Call, Const, Function, Index, Operand, Stmt, Sub, Update, Var, fresh
from sourcead.ir.types import INT, Array, Scalar, kind_of
from sourcead.passes.cleanup.cancelled_quotients import (
    contribution_of_number, product_with_one, quotient_that_cancels, sum_with_number, times_divisor
)
from sourcead.passes.cleanup.constant_folding import (
    OPERANDS, folded, generated, identity, is_const, is_literal, is_numeric, is_real, is_real_or_generated, keeps_type,
    negatable, same_operand_type, unusual_options, whole_options
)
from sourcead.passes.cleanup.dropped_axes import simpler_expansion, simpler_subscript, sum_of_sum
from sourcead.passes.cleanup.literal_factors import added_twice, integer_as_float, joined
from sourcead.passes.cleanup.outer_products import product_with_outer, transposed_sum
from sourcead.passes.cleanup.parts_of_results import part_of_result
from sourcead.passes.cleanup.transposes import TRANSPOSES, simpler_transpose
from sourcead.passes.peephole import Facts, peephole
from sourcead.runtime import zeros_like as runtime_zeros_like

ADD, SUB, MUL, DIV, POW, NEG = operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg
ZEROS = (np.zeros, np.zeros_like, runtime_zeros_like)
VIEWS = (np.transpose, np.expand_dims, np.squeeze, np.reshape)
PRODUCTS = (operator.mul, operator.truediv, operator.matmul, np.outer, np.multiply)


def simplify_arithmetic(function: Function) -> Function:
    """Return the function without operations that change nothing and without arithmetic on constants."""
    return peephole(function, _simpler, keeps_names=True)


def _simpler(stmt: Stmt, facts: Facts):
    match stmt.op:
        case Call() as call:
            return _simpler_call(stmt, call, facts)
        case Update(Var(type=Array()) as base, _, value) if (
            generated(stmt) and is_real(base) and (k := integer_as_float(value, facts)) is not None
        ):
            return replace(stmt.op, value=k)
        case Update(base, (), value, "add" | "sub"):
            return _first_contribution(stmt, base, value, facts) or _accumulation(stmt, stmt.op, facts)
        case Update(base, path, _, "add") if generated(stmt) and _zeros(base, facts) and (
            all(isinstance(step, Sub) and names_elements_once(step.key) for step in path)
        ):
            return replace(stmt.op, mode="set")
        case Update(_, _, _, "add" | "sub"):
            return _accumulation(stmt, stmt.op, facts)
        case Index(Var() as x, key) if generated(stmt):
            return simpler_subscript(stmt, x, key, facts) or part_of_result(stmt, x, key, facts)
    return None


def _simpler_call(stmt: Stmt, call: Call, facts: Facts):
    fn, args, kwargs = call.fn, call.args, call.kwargs
    if call.effect or not isinstance(fn, Hashable):
        return None
    if kwargs and generated(stmt) and (kept := unusual_options(fn, kwargs)) != kwargs:
        return replace(call, kwargs=kept)
    if any(isinstance(v, tuple) for _, v in kwargs) and (whole := whole_options(kwargs)) != kwargs:
        return replace(call, kwargs=whole)
    if fn in TRANSPOSES:
        turned = fn is np.transpose and len(args) == 1 and not kwargs and isinstance(args[0], Var)
        return turned and transposed_sum(stmt, args[0], facts) or simpler_transpose(stmt, call, facts)
    if fn is np.expand_dims and len(args) == 2 and not kwargs and generated(stmt):
        return simpler_expansion(stmt, *args, facts)
    if fn is np.sum and generated(stmt):
        of_one = bool(args) and isinstance(args[0], Var)
        return _sum_of_negation(stmt, args[0], facts) or sum_of_sum(call, facts) if of_one else None
    if kwargs or not all(isinstance(a, (Var, Const)) for a in args):
        return None
    if fn is np.conjugate and len(args) == 1 and is_real(args[0]) and keeps_type(stmt, args[0]):
        return args[0]
    if len(args) == OPERANDS.get(fn) and all(map(is_literal, args)):
        return folded(stmt, fn, *(a.value for a in args))
    if fn in (operator.is_, operator.is_not) and len(args) == 2:
        return identity(fn, *args)
    return RULES[fn](stmt, *args, facts) if fn in RULES else None


# -- products, quotients, powers --------------------------------------------------------------------------------------


def _mul(stmt: Stmt, a: Atom, b: Atom, facts: Facts):
    for x, c in ((a, b), (b, a)):
        # 1 is neutral to the bit, in IEEE arithmetic also for nan; for complex numbers it makes nan of infinities
        if is_const(c, 1) and keeps_type(stmt, x) and is_real_or_generated(stmt, x):
            return x
        # -1 * x is -x to the bit for real x, and but for signs of zeros for complex x
        if is_const(c, -1) and keeps_type(stmt, x) and (is_real(x) or generated(stmt) and kind_of(atom_type(x)) == "complex"):
            return Call(NEG, (x,))
        if (whole := times_divisor(stmt, x, c, facts)) is not None:
            before, value = whole
            return [*before[:-1], replace(before[-1], targets=stmt.targets)] if before else value
        # y ** 0 is 1 everywhere, also for nan (C99 pow), so that x * y ** 0 is x broadcast to the shape of x * y
        power = facts.call(c, POW, np.power)
        if power and is_const(power.args[1], 0) and same_operand_type(stmt.targets[0], x) and is_real_or_generated(stmt, x):
            return x
    if (x := product_with_one(stmt, a, b, facts)) is not None:
        return x
    return _two_negations(stmt, MUL, a, b, facts) or joined(stmt, MUL, a, b, facts) or _positive_product(stmt, a, b, facts)


def _positive_product(stmt: Stmt, a: Atom, b: Atom, facts: Facts) -> list[Stmt] | None:
    """Simplify (-1 / n) * (x - y) to (1 / n) * (y - x), which is equal to the bit but for the sign of zero; n is a number."""
    for scale, difference in ((a, b), (b, a)):
        quotient, minus = facts.call(scale, DIV), facts.call(difference, SUB)
        if not quotient or not minus or not _is_spent(stmt, scale, facts) or not _is_spent(stmt, difference, facts):
            continue
        literal = quotient.args[0]
        if not is_literal(literal) or literal.value >= 0 or not isinstance(scale.type, Scalar):
            continue
        positive, turned = fresh(scale), fresh(difference)
        before = [
            replace(facts.definitions[scale], targets=(positive,), op=Call(DIV, (Const(-literal.value), quotient.args[1]))),
            replace(facts.definitions[difference], targets=(turned,), op=Call(SUB, minus.args[::-1])),
        ]
        return [*before, replace(stmt, op=Call(MUL, (positive, turned) if scale is a else (turned, positive)))]
    return None


def _and(stmt: Stmt, a: Atom, b: Atom, facts: Facts):
    """Simplify m & True to m for a mask or truth value m."""
    is_true = isinstance(b, Const) and b.value is True
    return a if is_true and isinstance(a, Var) and kind_of(a.type) == "bool" and same_operand_type(stmt.targets[0], a) else None


def _two_negations(stmt: Stmt, fn, a: Atom, b: Atom, facts: Facts):
    """Simplify (-a) * (-b) to a * b, and (-a) / (-b) to a / b, which is exact because IEEE signs multiply."""
    m, n = _negation(a, facts), _negation(b, facts)
    if m and n and negatable(stmt, m.args[0]) and negatable(stmt, n.args[0]):
        return Call(fn, (m.args[0], n.args[0]))
    return None


def _is_spent(stmt: Stmt, value: Var, facts: Facts) -> bool:
    """Return whether a statement of a derivative reads a real value without a name, and nothing else reads it."""
    return generated(stmt) and is_real(value) and facts.uses[value] == 1 and value.temp


def _div(stmt: Stmt, a: Atom, b: Atom, facts: Facts):
    if is_const(b, 1) and keeps_type(stmt, a) and is_real_or_generated(stmt, a):  # the type excludes int / 1
        return a
    if is_const(b, -1) and keeps_type(stmt, a) and is_real(a):
        return Call(NEG, (a,))
    if (whole := quotient_that_cancels(stmt, a, b, facts)) is not None:
        return whole
    return _two_negations(stmt, DIV, a, b, facts) or joined(stmt, DIV, a, b, facts)


def _pow(stmt: Stmt, a: Atom, b: Atom, facts: Facts):
    return a if is_const(b, 1) and keeps_type(stmt, a) and is_real(a) else None  # C99: pow(x, 1) is x


# -- sums and negations -----------------------------------------------------------------------------------------------


def _add(stmt: Stmt, a: Atom, b: Atom, facts: Facts):
    shifted = _shifted_twice(stmt, ADD, a, b, facts)
    if shifted is not None:
        return shifted
    if generated(stmt) and a is b and isinstance(a, Var) and kind_of(a.type) in ("float", "complex"):
        return Call(MUL, (Const(2), a))  # equal to the bit, and of the same dtype
    for x, c in ((a, b), (b, a)):
        # x + 0 is x for integers; for floats it makes 0.0 of -0.0
        if is_const(c, 0) and keeps_type(stmt, x) and (generated(stmt) or kind_of(atom_type(x)) == "int"):
            return x
        if generated(stmt) and _zeros(c, facts) and same_operand_type(stmt.targets[0], x):
            return x
        if generated(stmt) and is_literal(c) and type(c.value) is not bool and c.value < 0 and is_real(x):
            return Call(SUB, (x, Const(-c.value)))  # by the definition of IEEE subtraction
    for x, negative in ((a, b), (b, a)) if generated(stmt) else ((a, b),):
        positive = _negated(stmt, negative, facts) if is_numeric(stmt, x) else None
        if positive:  # x + (-y) is x - y, by the definition of IEEE subtraction
            before, y = positive
            return [*before, replace(stmt, op=Call(SUB, (x, y)))]
    return sum_with_number(stmt, ADD, a, b, facts)


def _sum_of_negation(stmt: Stmt, x: Var, facts: Facts) -> list[Stmt] | None:
    """Simplify sum(-x) to -sum(x), which is equal to the bit and less work."""
    if facts.uses[x] != 1 or not x.temp or kind_of(x.type) not in ("float", "complex"):
        return None
    positive = _negated(stmt, x, facts)
    if positive is None:
        return None
    before, y = positive
    total = fresh(stmt.targets[0], name="total", temp=True)
    op = replace(stmt.op, args=(y, *stmt.op.args[1:]))
    return [*before, replace(stmt, targets=(total,), op=op), replace(stmt, op=Call(NEG, (total,)))]


def _sub(stmt: Stmt, a: Atom, b: Atom, facts: Facts):
    shifted = _shifted_twice(stmt, SUB, a, b, facts)
    if shifted is not None:
        return shifted
    if is_const(b, 0) and keeps_type(stmt, a) and is_real_or_generated(stmt, a) and not str(b.value).startswith("-"):
        return a  # x - 0 is x to the bit
    if generated(stmt) and same_operand_type(stmt.targets[0], b) and (is_const(a, 0) or _zeros(a, facts)) and negatable(stmt, b):
        return Call(NEG, (b,))
    positive = _negated(stmt, b, facts) if is_numeric(stmt, a) else None
    if positive:
        before, y = positive
        return [*before, replace(stmt, op=Call(ADD, (a, y)))]
    return sum_with_number(stmt, SUB, a, b, facts)


def _shifted_twice(stmt: Stmt, fn, a: Atom, b: Atom, facts: Facts):
    """Simplify (n - 1) - 1 to n - 2 for Python's integers, which do not overflow."""
    if not generated(stmt) or stmt.targets[0].type != INT or not getattr(a, "temp", False):
        return None
    if not (isinstance(b, Const) and type(b.value) is int and not b.live):
        return None
    match facts.op(a):
        case Call(again, (Var() as x, Const(c, _, False)), ()) if again in (ADD, SUB) and type(c) is int and x.type == INT:
            total = (c if again is ADD else -c) + (b.value if fn is ADD else -b.value)
            if total == 0:
                return x
            return Call(ADD if total > 0 else SUB, (x, Const(abs(total))))
    return None


def _neg(stmt: Stmt, a: Atom, facts: Facts):
    positive = _negated(stmt, a, facts)
    if positive:  # -(-x) is x to the bit
        before, y = positive
        return [*before[:-1], replace(stmt, op=before[-1].op)] if before else y
    quotient = facts.call(a, DIV)
    if quotient and is_literal(quotient.args[0]) and _is_spent(stmt, a, facts):
        return Call(DIV, (Const(-quotient.args[0].value), quotient.args[1]))  # equal to the bit
    difference = facts.call(a, SUB)
    if difference and generated(stmt) and facts.uses[a] == 1 and a.temp and is_real(a):
        # -(a - b) is b - a but for the sign of zero
        return Call(SUB, difference.args[::-1])
    total = facts.call(a, ADD)
    for x, negative in (total.args, total.args[::-1]) if total and _is_spent(stmt, a, facts) else ():
        positive = _negated(stmt, negative, facts)
        if positive and isinstance(x, Var):  # -(x + -y) is y - x but for the sign of zero
            before, y = positive
            return [*before, replace(stmt, op=Call(SUB, (y, x)))]
    return None


def _pos(stmt: Stmt, a: Atom, facts: Facts):
    return a if keeps_type(stmt, a) and kind_of(atom_type(a)) != "bool" else None


def _negation(atom: Atom, facts: Facts) -> Call | None:
    """Return the negation that an atom is the result of, or None if the user gave it a name, which the text keeps using."""
    return facts.call(atom, NEG) if isinstance(atom, Var) and atom.temp else None


def _negated(stmt: Stmt, atom: Atom, facts: Facts) -> tuple[list[Stmt], Var] | None:
    """Return statements that compute `-atom` and their result if the atom is a negation, its transpose or a product with one.

    Rounding to nearest is symmetric, so that moving a sign through products and sums of products is exact.
    """
    negation = _negation(atom, facts)
    if negation:
        x = negation.args[0]
        return ([], x) if isinstance(x, Var) and negatable(stmt, x) else None
    product = facts.call(atom, *PRODUCTS, *VIEWS)
    if not product or not atom.temp or facts.uses[atom] != 1 or not negatable(stmt, atom):
        return None
    for i in range(1 if product.fn in VIEWS else 2):
        factor = _negated(stmt, product.args[i], facts) or _positive_literal(stmt, product.fn, product.args[i])
        if factor:
            before, positive = factor
            args = (*product.args[:i], positive, *product.args[i + 1 :])
            var = fresh(atom)
            return [*before, replace(facts.definitions[atom], targets=(var,), op=Call(product.fn, args))], var
    return None


def _positive_literal(stmt: Stmt, fn, a: Atom) -> tuple[list[Stmt], Const] | None:
    """Return the positive number for a negative one that the compiler multiplies with."""
    scales = generated(stmt) and fn in (MUL, DIV) and is_literal(a) and type(a.value) is not bool
    return ([], Const(-a.value)) if scales and a.value < 0 else None


# -- accumulation -----------------------------------------------------------------------------------------------------


def _first_contribution(stmt: Stmt, base: Atom, value: Operand, facts: Facts):
    """Simplify `d = zeros; d += v` to v if v is known to have the shape and dtype of the zeros."""
    if not (generated(stmt) and same_operand_type(stmt.targets[0], value)):
        return None
    if not (is_const(base, 0) or (_zeros(base, facts) and same_operand_type(base, value))):
        return None
    return value if stmt.op.mode == "add" else Call(NEG, (value,)) if negatable(stmt, value) else None


def _accumulation(stmt: Stmt, op: Update, facts: Facts):
    """Simplify d += -v to d -= v, d -= -v to d += v, d += d to 2 * d, and d += v twice to d += 2 * v."""
    if not isinstance(op.base, Var) or kind_of(op.base.type) is None and not generated(stmt):
        return None
    if op.value is op.base and not op.path and op.mode == "add" and generated(stmt):
        return Call(MUL, (Const(2), op.base))
    if (plain := contribution_of_number(stmt, op, facts)) is not None:
        return plain
    positive = _negated(stmt, op.value, facts) or _positive_literal(stmt, MUL, op.value)
    if not positive:
        return added_twice(stmt, facts) if not op.path else None
    before, value = positive
    return [*before, replace(stmt, op=replace(op, value=value, mode="sub" if op.mode == "add" else "add"))]


def _zeros(atom: Atom, facts: Facts) -> bool:
    """Return whether an atom is a new array of zeros."""
    op = facts.op(atom)
    return isinstance(op, Call) and isinstance(op.fn, Hashable) and op.fn in ZEROS and not any(k == "out" for k, _ in op.kwargs)


RULES = {
    ADD: _add, SUB: _sub, MUL: _mul, DIV: _div, POW: _pow, NEG: _neg, operator.pos: _pos, operator.and_: _and,
    operator.matmul: product_with_outer,
}  # fmt: skip
