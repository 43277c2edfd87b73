"""Arithmetic that a person would not have written: `x * 1`, `-(-x)`, `x - (-y)`, `2 - 1`, `zeros + v`.

Each rule names what makes it right.  A rule that replaces an operation by one of its operands asks that both have the
same type, dims and dtype included, so that nothing is broadcast or cast less than before.  A few rules are right but for
the sign of a zero, the rounding of the last bit, or an overflow; they apply to *generated* statements only (those of
adjoints), never to arithmetic that the user wrote.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Call, Const, Function, Let, Operand, Slice, Stmt, Sub, Update, Var, View, fresh
from sourcead.ir.types import INT, Array, FunctionT, NoneType, Scalar, Unknown, kind_of, rank
from sourcead.passes.equality import equal_types
from sourcead.passes.rewriting import Facts, rewrite
from sourcead.runtime import zeros_like as runtime_zeros_like

ADD, SUB, MUL, DIV, POW, NEG = operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg
ZEROS = (np.zeros, np.zeros_like, runtime_zeros_like)
NOT_NONE = (Array, Scalar, FunctionT)


def simplify_arithmetic(function: Function) -> Function:
    """The function without operations that change nothing and without arithmetic on constants."""
    return rewrite(function, _rule)


def _rule(stmt: Stmt, facts: Facts):
    answer = _simpler(stmt, facts)
    return Let(answer) if isinstance(answer, Const) and not stmt.targets[0].temp else answer  # the user's name stays


def _simpler(stmt: Stmt, facts: Facts):
    match stmt.op:
        case Update(Var() as base, (), value, "add") if value is base and generated(stmt) and _is_fraction(base):
            return _twice(base)
        case Update(base, (), value, "add" | "sub"):
            return _first_contribution(stmt, base, value, facts) or _accumulation(stmt, stmt.op, facts)
        case Update(base, path, _, "add") if generated(stmt) and _zeros(base, facts) and all(map(_takes_a_part, path)):
            return replace(stmt.op, mode="set")
        case Update(_, _, _, "add" | "sub"):
            return _accumulation(stmt, stmt.op, facts)
        case Call(fn, effect=effect) if effect or not isinstance(fn, Hashable):
            return None
        case Call(fn, args, ()) if fn in FOLDED and len(args) == FOLDED[fn] and all(map(_is_number, args)):
            return _fold(stmt, fn, *(a.value for a in args))
        case Call(fn, (a, b), ()) if fn in IDENTITY and isinstance(a, (Var, Const)) and isinstance(b, (Var, Const)):
            return _identity(fn, a, b)
        case Call(fn, _, kwargs) if kwargs and generated(stmt) and (kept := _unusual(fn, kwargs)) != kwargs:
            return replace(stmt.op, kwargs=kept)
        case Call(fn, args, kwargs) if fn is np.transpose:
            return _transpose(stmt, args, kwargs, facts)
        case Call(fn, (Var() as x, *_)) if fn is np.sum and generated(stmt):
            return _sum_of_negation(stmt, x, facts)
        case Call(fn, args, ()) if fn in RULES and all(isinstance(a, (Var, Const)) for a in args):
            return RULES[fn](stmt, *args, facts)
    return None


# -- what is known of operands ----------------------------------------------------------------------------------------


def generated(stmt: Stmt) -> bool:
    """Whether the statement is ours: the user's arithmetic is kept to the bit, ours is only held to be right."""
    return stmt.adjoint_of is not None or stmt.origin is None


def is_const(atom: Operand, *values: Any) -> bool:
    """Whether an operand is a Python number literal equal to one of these; those are weak and never widen."""
    return _is_number(atom) and type(atom.value) is not bool and atom.value in values


def _is_number(atom: Operand) -> bool:
    return isinstance(atom, Const) and not atom.live and atom.text is None and type(atom.value) in (int, float, bool)


def keeps_type(stmt: Stmt, atom: Operand) -> bool:
    """Whether an operation of `atom` with a Python number gives the type, shape and dtype that `atom` has."""
    if not isinstance(atom, Var):
        return False
    a, b = stmt.targets[0].type, atom.type
    return equal_types(a, b) or (isinstance(a, Scalar) and a == b)  # numbers of any dtype: a weak number does not change it


def same_type(stmt: Stmt, atom: Operand) -> bool:
    """Whether the statement's result is known to have the operand's type, shape and dtype."""
    return isinstance(atom, Var) and equal_types(stmt.targets[0].type, atom.type)


def is_real(atom: Operand) -> bool:
    """Whether it is a floating point number or an array of such."""
    return isinstance(atom, Var) and kind_of(atom.type) == "float"


def negatable(stmt: Stmt, atom: Operand) -> bool:
    """Whether `-atom` is exact: floating point or complex. Cotangents of unknown type are one of the two."""
    if not isinstance(atom, Var):
        return False
    return kind_of(atom.type) in ("float", "complex") or (generated(stmt) and isinstance(atom.type, Unknown))


# -- products, quotients, powers --------------------------------------------------------------------------------------


def _mul(stmt: Stmt, a: Atom, b: Atom, facts: Facts):
    for x, c in ((a, b), (b, a)):
        # 1 is neutral to the bit, in IEEE arithmetic also for nan; for complex numbers it makes nan of infinities
        if is_const(c, 1) and keeps_type(stmt, x) and _exact_or_ours(stmt, x):
            return x
        if is_const(c, -1) and keeps_type(stmt, x) and (is_real(x) or _ours(stmt, x)):
            return Call(NEG, (x,))
        # y ** 0 is one everywhere, also for nan (C99 pow), so that x * y ** 0 is x broadcast to the shape of x * y
        power = facts.call(c, POW, np.power)
        if power and is_const(power.args[1], 0) and same_type(stmt, x) and _exact_or_ours(stmt, x):
            return x
    return _two_negations(stmt, MUL, a, b, facts) or _constant_factors(stmt, a, b, facts)


def _two_negations(stmt: Stmt, fn, a: Atom, b: Atom, facts: Facts):
    """(-a) * (-b) is a * b: IEEE signs multiply."""
    m, n = _negation(a, facts), _negation(b, facts)
    if m and n and negatable(stmt, m.args[0]) and negatable(stmt, n.args[0]):
        return Call(fn, (m.args[0], n.args[0]))
    return None


def _constant_factors(stmt: Stmt, a: Atom, b: Atom, facts: Facts):
    """c * (k * x) is (c * k) * x and c * (k / x) is (c * k) / x where c * k is exact.

    But for rounding and overflow: in generated statements.
    """
    for c, inner in ((a, b), (b, a)):
        product = facts.call(inner, MUL, DIV)
        if not (product and generated(stmt) and _is_number(c) and is_real(inner) and facts.uses[inner] == 1 and inner.temp):
            continue
        k, x = product.args if _is_number(product.args[0]) or product.fn is DIV else product.args[::-1]
        if not _is_number(k) or not equal_types(inner.type, stmt.targets[0].type):
            continue
        value = _exact(MUL, c.value, k.value)
        if value is not None and (product.fn is DIV or same_operand_type(inner, x)):
            return x if value == 1 and product.fn is MUL else Call(product.fn, (Const(value), x))
    return None


def same_operand_type(a: Operand, b: Operand) -> bool:
    return isinstance(a, Var) and isinstance(b, Var) and equal_types(a.type, b.type)


def _exact_or_ours(stmt: Stmt, x: Var) -> bool:
    return kind_of(x.type) in ("float", "int") or generated(stmt)


def _ours(stmt: Stmt, x: Var) -> bool:
    """A complex cotangent: -1 * x is -x but for signs of zeros."""
    return generated(stmt) and kind_of(x.type) == "complex"


def _div(stmt: Stmt, a: Atom, b: Atom, facts: Facts):
    if is_const(b, 1) and keeps_type(stmt, a) and _exact_or_ours(stmt, a):  # same type: not int / 1
        return a
    if is_const(b, -1) and keeps_type(stmt, a) and is_real(a):
        return Call(NEG, (a,))
    return _two_negations(stmt, DIV, a, b, facts) or _constant_over_product(stmt, a, b, facts)


def _constant_over_product(stmt: Stmt, c: Atom, b: Atom, facts: Facts) -> Call | None:
    """c / (k * x) is (c / k) / x where c / k is exact; but for rounding and overflow: in generated statements."""
    product = facts.call(b, MUL)
    if not (product and generated(stmt) and _is_number(c) and is_real(b) and facts.uses[b] == 1 and b.temp):
        return None
    k, x = product.args if _is_number(product.args[0]) else product.args[::-1]
    if not _is_number(k) or not same_operand_type(b, x):
        return None
    value = _exact(DIV, c.value, k.value)
    return None if value is None else Call(DIV, (Const(value), x))


def _pow(stmt: Stmt, a: Atom, b: Atom, facts: Facts):
    return a if is_const(b, 1) and keeps_type(stmt, a) and is_real(a) else None  # C99: pow(x, 1) is x


# -- sums and negations -----------------------------------------------------------------------------------------------


def _add(stmt: Stmt, a: Atom, b: Atom, facts: Facts):
    shifted = _shifted_twice(stmt, ADD, a, b, facts)
    if shifted is not None:
        return shifted
    if a is b and generated(stmt) and _is_fraction(a):
        return _twice(a)
    if generated(stmt) and a is b and isinstance(a, Var) and kind_of(a.type) in ("float", "complex"):
        return Call(MUL, (Const(2), a))
    for x, c in ((a, b), (b, a)):
        if _adds_nothing(stmt, x, c):
            return x
        # cotangents start from nothing: no array of zeros that is only added to
        if generated(stmt) and _zeros(c, facts) and same_type(stmt, x):
            return x
    for x, negative in ((a, b), (b, a)) if generated(stmt) else ((a, b),):
        positive = _negated(stmt, negative, facts) if _is_number_typed(stmt, x) else None
        if positive:  # x + (-y) is x - y, by the definition of IEEE subtraction
            before, y = positive
            return [*before, replace(stmt, op=Call(SUB, (x, y)))]
    return None


def _twice(x: Var) -> Call:
    """x + x is 2 * x to the bit, and in the same dtype."""
    return Call(MUL, (Const(2), x))


def _is_fraction(atom: Atom) -> bool:
    return isinstance(atom, Var) and isinstance(atom.type, (Array, Scalar)) and kind_of(atom.type) in ("float", "complex")


def _sum_of_negation(stmt: Stmt, x: Var, facts: Facts) -> list[Stmt] | None:
    """sum(-x) is -sum(x) to the bit, and less work."""
    if facts.uses[x] != 1 or not x.temp or not _is_fraction(x):
        return None
    positive = _negated(stmt, x, facts)
    if positive is None:
        return None
    before, y = positive
    total = fresh(stmt.targets[0], name="total", temp=True)
    op = replace(stmt.op, args=(y, *stmt.op.args[1:]))
    return [*before, replace(stmt, targets=(total,), op=op), replace(stmt, op=Call(NEG, (total,)))]


def _adds_nothing(stmt: Stmt, x: Atom, c: Atom) -> bool:
    """x + 0 is x for integers; for floats it makes 0.0 of -0.0, which we allow ourselves but not the user's text."""
    return is_const(c, 0) and keeps_type(stmt, x) and (generated(stmt) or kind_of(x.type) == "int")


def _sub(stmt: Stmt, a: Atom, b: Atom, facts: Facts):
    shifted = _shifted_twice(stmt, SUB, a, b, facts)
    if shifted is not None:
        return shifted
    if is_const(b, 0) and keeps_type(stmt, a) and _exact_or_ours(stmt, a) and not _negative_zero(b):
        return a  # x - 0 is x to the bit
    if generated(stmt) and same_type(stmt, b) and (is_const(a, 0) or _zeros(a, facts)) and negatable(stmt, b):
        return Call(NEG, (b,))
    positive = _negated(stmt, b, facts) if _is_number_typed(stmt, a) else None
    if positive:
        before, y = positive
        return [*before, replace(stmt, op=Call(ADD, (a, y)))]
    return None


def _shifted_twice(stmt: Stmt, fn, a: Atom, b: Atom, facts: Facts):
    """(n - 1) - 1 is n - 2: of Python's integers, which do not overflow."""
    inner = facts.op(a)
    if not generated(stmt) or stmt.targets[0].type != INT or not getattr(a, "temp", False):
        return None
    if not (isinstance(b, Const) and type(b.value) is int and not b.live):
        return None
    match inner:
        case Call(again, (x, Const(c, _, False)), ()) if again in (ADD, SUB) and type(c) is int and _is_python_int(x):
            total = (c if again is ADD else -c) + (b.value if fn is ADD else -b.value)
            if total == 0:
                return x
            return Call(ADD if total > 0 else SUB, (x, Const(abs(total))))
    return None


def _is_python_int(atom: Atom) -> bool:
    return isinstance(atom, Var) and atom.type == INT


def _negative_zero(c: Const) -> bool:
    return type(c.value) is float and c.value.hex().startswith("-")


def _neg(stmt: Stmt, a: Atom, facts: Facts):
    positive = _negated(stmt, a, facts)
    if positive:  # -(-x) is x to the bit
        before, y = positive
        return [*before[:-1], replace(stmt, op=before[-1].op)] if before else y
    difference = facts.call(a, SUB)
    if difference and generated(stmt) and facts.uses[a] == 1 and a.temp and is_real(a):
        # -(a - b) is b - a but for the sign of zero
        return Call(SUB, difference.args[::-1])
    return None


def _pos(stmt: Stmt, a: Atom, facts: Facts):
    return a if keeps_type(stmt, a) and kind_of(a.type) != "bool" else None


def _is_number_typed(stmt: Stmt, atom: Atom) -> bool:
    """Whether `atom + y` is addition of numbers, not of lists."""
    if isinstance(atom, Const):
        return _is_number(atom)
    return kind_of(atom.type) is not None or (generated(stmt) and isinstance(atom.type, Unknown))


PRODUCTS = (operator.mul, operator.truediv, operator.matmul, np.outer, np.multiply)


def _negation(atom: Atom, facts: Facts) -> Call | None:
    """The negation whose result this is, unless the user gave it a name: then the text goes on using it."""
    return facts.call(atom, NEG) if isinstance(atom, Var) and atom.temp else None


def _negated(stmt: Stmt, atom: Atom, facts: Facts) -> tuple[list[Stmt], Var] | None:
    """`-atom` without a negation, if `atom` is one, its transpose or a product with one: statements that compute it, and the variable.

    Rounding to nearest is symmetric, so that a sign moves through products and sums of products without a trace.
    """
    negation = _negation(atom, facts)
    if negation:
        x = negation.args[0]
        return ([], x) if isinstance(x, Var) and negatable(stmt, x) else None
    product = facts.call(atom, *PRODUCTS, np.transpose)
    if not product or not atom.temp or facts.uses[atom] != 1 or not negatable(stmt, atom):
        return None
    for i in range(1 if product.fn is np.transpose else 2):
        factor = _negated(stmt, product.args[i], facts)
        if factor:
            before, positive = factor
            args = (*product.args[:i], positive, *product.args[i + 1 :])
            var = fresh(atom)
            return [*before, replace(facts.definitions[atom], targets=(var,), op=Call(product.fn, args))], var
    return None


# -- accumulation -----------------------------------------------------------------------------------------------------


def _first_contribution(stmt: Stmt, base: Atom, value: Operand, facts: Facts):
    """`d = zeros; d += v` is v, if v is known to have the shape and dtype of the zeros."""
    if not (generated(stmt) and same_type(stmt, value)):
        return None
    if not (is_const(base, 0) or (_zeros(base, facts) and same_operand_type(base, value))):
        return None
    return value if stmt.op.mode == "add" else Call(NEG, (value,)) if negatable(stmt, value) else None


def _accumulation(stmt: Stmt, op: Update, facts: Facts):
    """d += -v is d -= v, and the other way round; d += d is 2 * d."""
    if op.value is op.base and not op.path and op.mode == "add" and generated(stmt) and _arithmetic_base(stmt, op.base):
        return Call(MUL, (Const(2), op.base))
    positive = _negated(stmt, op.value, facts) if _arithmetic_base(stmt, op.base) else None
    if not positive:
        return None
    before, value = positive
    return [*before, replace(stmt, op=replace(op, value=value, mode="sub" if op.mode == "add" else "add"))]


def _zeros(atom: Atom, facts: Facts) -> bool:
    """Whether it is an array of zeros, or a zero, made for nothing but to be added to."""
    op = facts.op(atom)
    return isinstance(op, Call) and isinstance(op.fn, Hashable) and op.fn in ZEROS and not any(k == "out" for k, _ in op.kwargs)


def _takes_a_part(step: Sub | View) -> bool:
    """Whether a step of a path is a subscript of numbers and slices, which names no element twice."""
    keys = step.key if isinstance(step, Sub) and isinstance(step.key, tuple) else (step.key,) if isinstance(step, Sub) else (step,)
    return all(isinstance(k, Slice) or isinstance(k, (Var, Const)) and isinstance(atom_type(k), Scalar) for k in keys)


def _arithmetic_base(stmt: Stmt, base: Atom) -> bool:
    return isinstance(base, Var) and (kind_of(base.type) is not None or generated(stmt))


# -- options ----------------------------------------------------------------------------------------------------------


def _unusual(fn: Hashable, kwargs: tuple) -> tuple:
    """The options of a NumPy function that are not what they are anyway."""
    defaults = _defaults(fn)
    return tuple((k, v) for k, v in kwargs if not (k in defaults and isinstance(v, Const) and not v.live and _same(v.value, defaults[k])))


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


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b


# -- constants --------------------------------------------------------------------------------------------------------

COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
INTEGER = {ADD: 2, SUB: 2, MUL: 2, operator.floordiv: 2, operator.mod: 2, POW: 2, NEG: 1, operator.pos: 1, abs: 1}
FOLDED = {**INTEGER, DIV: 2, operator.not_: 1, operator.truth: 1, bool: 1, **dict.fromkeys(COMPARISONS, 2)}
IDENTITY = (operator.is_, operator.is_not)


def _fold(stmt: Stmt, fn, *values) -> Const | None:
    """Arithmetic on literals: on integers and truth values, and where floating point is exact.

    Of the user's own floating point arithmetic only products and negations: `1 / 3` says more than 0.333.
    """
    if fn in COMPARISONS or fn in (operator.not_, operator.truth, bool):
        return Const(fn(*values))
    if fn in (MUL, NEG) or generated(stmt) or fn is not DIV and all(isinstance(v, int) for v in values):
        value = _exact(fn, *values)
        return None if value is None else Const(value)
    return None


def _exact(fn, *values) -> int | float | None:
    """`fn(*values)` if that is exact and neither fails nor gets long."""
    if fn is POW and not (all(isinstance(v, int) for v in values) and 0 <= values[1] <= 64 and abs(values[0]) <= 64):
        return None
    try:
        result = fn(*values)
        if all(isinstance(v, int) for v in values) and isinstance(result, int):
            return result if abs(result) < 2**63 else None
        if fn not in (ADD, SUB, MUL, DIV, NEG) or not isfinite(result):
            return None
        if result == 0 and fn is not NEG:  # signs of zeros
            return None
        return result if Fraction(result) == fn(*map(Fraction, values)) else None
    except (ArithmeticError, ValueError, TypeError):
        return None


def _identity(fn, a: Atom, b: Atom) -> Const | None:
    """`a is b`, decided where one of them is None or both are constants that are one of a kind."""
    answer = _is_same(a, b)
    return None if answer is None else Const(answer is (fn is operator.is_))


def _is_same(a: Atom, b: Atom) -> bool | None:
    if isinstance(a, Const) and isinstance(b, Const) and not a.live and not b.live:
        if any(c.value is None or isinstance(c.value, (bool, type)) for c in (a, b)):
            return a.value is b.value
        return None
    for x, none in ((a, b), (b, a)):
        if isinstance(x, Var) and isinstance(none, Const) and not none.live and none.value is None:
            if isinstance(x.type, NoneType):
                return True
            if isinstance(x.type, NOT_NONE):
                return False
    return None


# -- shapes -----------------------------------------------------------------------------------------------------------


def _transpose(stmt: Stmt, args: tuple, kwargs: tuple, facts: Facts) -> Atom | list[Stmt] | Call | None:
    """The transpose of the transpose of an array, or of a product of matrices."""
    inner = facts.op(args[0]) if args else None
    if isinstance(inner, Call) and inner.fn in (operator.matmul, np.outer) and len(args) == 1 and not kwargs:
        return _transposed_product(stmt, args[0], inner, facts)
    if not (isinstance(inner, Call) and inner.fn is np.transpose and inner.args and isinstance(inner.args[0], Var)):
        return None
    x = inner.args[0]
    axes, inner_axes = _axes(args, kwargs), _axes(inner.args, inner.kwargs)
    if not isinstance(x.type, Array) or axes is _NOT_KNOWN or inner_axes is _NOT_KNOWN:
        return None
    if axes is None and inner_axes is None:
        return x
    rank = len(axes or inner_axes)
    outer, inner_ = (tuple(range(rank))[::-1] if p is None else tuple(n % rank for n in p) for p in (axes, inner_axes))
    return x if len(outer) == len(inner_) and all(inner_[outer[i]] == i for i in range(rank)) else None


def _transposed_product(stmt: Stmt, product: Var, op: Call, facts: Facts) -> list[Stmt] | Call | None:
    """(a.T @ b).T is b.T @ a, and outer(a, b).T is outer(b, a); but for rounding: in generated statements."""
    if not generated(stmt) or not product.temp or facts.uses[product] != 1 or op.kwargs or op.effect or len(op.args) != 2:
        return None
    if op.fn is np.outer:
        return Call(np.outer, op.args[::-1])
    if any(not isinstance(a, Var) or rank(a.type) != 2 for a in op.args):
        return None
    sources = [t.args[0] if t is not None and len(t.args) == 1 else None for t in (facts.call(a, np.transpose) for a in op.args)]
    if sources == [None, None]:
        return None
    before, factors = [], []
    for a, source in zip(op.args, sources):
        if source is None:
            source = Var("transpose", Array(a.type.dtype, a.type.dims[::-1]), True)
            before.append(replace(stmt, targets=(source,), op=Call(np.transpose, (a,))))
        factors.append(source)
    return [*before, replace(stmt, op=Call(op.fn, tuple(factors[::-1])))]


_NOT_KNOWN = object()


def _axes(args: tuple, kwargs: tuple):
    """The `axes` of a transpose: a tuple of numbers, None for all reversed, or `_NOT_KNOWN`."""
    given = [*args[1:], *(v for _, v in kwargs)]
    if not given:
        return None
    axes = given[0]
    if len(given) == 1 and isinstance(axes, tuple) and axes and all(isinstance(a, Const) and not a.live for a in axes):
        axes = Const(tuple(a.value for a in axes))
    if len(given) == 1 and isinstance(axes, Const) and not axes.live:
        if axes.value is None:
            return None
        if isinstance(axes.value, tuple) and axes.value and all(type(n) is int for n in axes.value):
            return axes.value
    return _NOT_KNOWN


RULES = {ADD: _add, SUB: _sub, MUL: _mul, DIV: _div, POW: _pow, NEG: _neg, operator.pos: _pos}
