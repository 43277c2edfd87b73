"""Removes arithmetic that a person would not have written.

    y = mul(x, 1)                                y = x
    y = neg(neg(x))                              y = x
    y = sub(x, neg(z))                           y = add(x, z)
    y = mul(div(v, c), c)                        y = v
    y = transpose(transpose(x))                  y = x
    y = conjugate(x)       x: float              y = x
    y = transpose(matmul(transpose(a), b))       y = matmul(transpose(b), a)
    d1 = zeros_like(x) with all += v             d1 = v
    d1 = zeros_like(x) with [i] += v             d1 = zeros_like(x) with [i] = v
    d1 = zeros_like(x) with [::-1] += v          d1 = v[::-1]
    d1 = d0 with [:, None] += sum(v, axis=1, keepdims=True)      d1 = d0 with all += sum(v, axis=1)

Each rule says what makes it legal.  A rule that replaces an operation by one of its operands requires both to have the same type,
dims and dtype included, so that no broadcast or cast is lost.  A few rules are exact but for the sign of a zero, the
rounding of the last bit, or an overflow: they apply to generated statements only, never to arithmetic that the user wrote.
"""

import operator
from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from sourcead.analysis.loop_indices import names_elements_once, turned_axes
from sourcead.ir.nodes import Atom, Call, Const, Function, Index, Operand, Stmt, Sub, Update, Var, fresh
from sourcead.ir.types import INT, Array, dims_of, kind_of, rank
from sourcead.passes.cleanup.constant_folding import (
    OPERANDS, folded, generated, identity, is_const, is_literal, is_numeric, is_real, is_real_or_generated, keeps_type,
    negatable, same_operand_type, unusual_options
)
from sourcead.passes.cleanup.literal_factors import added_twice, joined
from sourcead.passes.equality import equal_types
from sourcead.passes.peephole import Facts, peephole
from sourcead.runtime import zeros_like as runtime_zeros_like

ADD, SUB, MUL, DIV, POW, NEG = operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg
ZEROS = (np.zeros, np.zeros_like, runtime_zeros_like)
PRODUCTS = (operator.mul, operator.truediv, operator.matmul, np.outer, np.multiply)


def simplify_arithmetic(function: Function) -> Function:
    """Return the function without operations that change nothing and without arithmetic on constants."""
    return peephole(function, _simpler, keeps_names=True)


def _simpler(stmt: Stmt, facts: Facts):
    match stmt.op:
        case Call() as call:
            return _simpler_call(stmt, call, facts)
        case Update(base, (), value, "add" | "sub"):
            return _first_contribution(stmt, base, value, facts) or _accumulation(stmt, stmt.op, facts)
        case Update(Var() as base, (Sub(key),), Var() as value, "add" | "sub") if generated(stmt) and (
            whole := _write_of_whole_array(stmt, base, key, value, facts)
        ):
            return whole
        case Update(base, path, _, "add") if generated(stmt) and _zeros(base, facts) and (
            all(isinstance(step, Sub) and names_elements_once(step.key) for step in path)
        ):
            return replace(stmt.op, mode="set")
        case Update(_, _, _, "add" | "sub"):
            return _accumulation(stmt, stmt.op, facts)
        case Index(Var() as x, key) if generated(stmt) and isinstance(inner := facts.op(x), Index):
            turned = turned_axes(key)  # x[::-1][::-1] is x
            return inner.base if turned and turned == turned_axes(inner.key) and isinstance(inner.base, Var) else None
    return None


def _simpler_call(stmt: Stmt, call: Call, facts: Facts):
    fn, args, kwargs = call.fn, call.args, call.kwargs
    if call.effect or not isinstance(fn, Hashable):
        return None
    if kwargs and generated(stmt) and (kept := unusual_options(fn, kwargs)) != kwargs:
        return replace(call, kwargs=kept)
    if fn is np.transpose:
        return _transposed(stmt, args, kwargs, facts)
    if fn is np.sum and generated(stmt):
        return _sum_of_negation(stmt, args[0], facts) if args and isinstance(args[0], Var) else None
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
        if is_const(c, -1) and keeps_type(stmt, x) and (is_real(x) or generated(stmt) and kind_of(x.type) == "complex"):
            return Call(NEG, (x,))
        # v / c * c is v but for rounding, and for c = 0, where v / c is not finite
        quotient = facts.call(x, DIV)
        if quotient and quotient.args[1] is c and _is_spent(stmt, x, facts) and same_operand_type(stmt.targets[0], quotient.args[0]):
            return quotient.args[0]
        # y ** 0 is 1 everywhere, also for nan (C99 pow), so that x * y ** 0 is x broadcast to the shape of x * y
        power = facts.call(c, POW, np.power)
        if power and is_const(power.args[1], 0) and same_operand_type(stmt.targets[0], x) and is_real_or_generated(stmt, x):
            return x
    return _two_negations(stmt, MUL, a, b, facts) or joined(stmt, MUL, a, b, facts)


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
        if is_const(c, 0) and keeps_type(stmt, x) and (generated(stmt) or kind_of(x.type) == "int"):
            return x
        if generated(stmt) and _zeros(c, facts) and same_operand_type(stmt.targets[0], x):
            return x
    for x, negative in ((a, b), (b, a)) if generated(stmt) else ((a, b),):
        positive = _negated(stmt, negative, facts) if is_numeric(stmt, x) else None
        if positive:  # x + (-y) is x - y, by the definition of IEEE subtraction
            before, y = positive
            return [*before, replace(stmt, op=Call(SUB, (x, y)))]
    return None


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
    return None


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
    return None


def _pos(stmt: Stmt, a: Atom, facts: Facts):
    return a if keeps_type(stmt, a) and kind_of(a.type) != "bool" else None


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


# -- transposes ------------------------------------------------------------------------------------------------------

_NOT_KNOWN = object()


def _transposed(stmt: Stmt, args: tuple, kwargs: tuple, facts: Facts) -> Atom | list[Stmt] | Call | None:
    """Return what replaces a call of `np.transpose`, or None if the call stays.

    A transpose of a transpose is legal to remove where the two permutations of axes are known to cancel.
    """
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
    n = len(axes or inner_axes)
    outer, inner_ = (tuple(range(n))[::-1] if p is None else tuple(k % n for k in p) for p in (axes, inner_axes))
    return x if len(outer) == len(inner_) and all(inner_[outer[i]] == i for i in range(n)) else None


def _transposed_product(stmt: Stmt, product: Var, op: Call, facts: Facts) -> list[Stmt] | Call | None:
    """Simplify the transpose of a product that nothing else reads to a product of transposes if one factor is one; rounding may differ."""
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


def _axes(args: tuple, kwargs: tuple):
    """Return the axes of a transpose: a tuple of numbers, None if all are reversed, or `_NOT_KNOWN`."""
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


# -- accumulation -----------------------------------------------------------------------------------------------------


def _first_contribution(stmt: Stmt, base: Atom, value: Operand, facts: Facts):
    """Simplify `d = zeros; d += v` to v if v is known to have the shape and dtype of the zeros."""
    if not (generated(stmt) and same_operand_type(stmt.targets[0], value)):
        return None
    if not (is_const(base, 0) or (_zeros(base, facts) and same_operand_type(base, value))):
        return None
    return value if stmt.op.mode == "add" else Call(NEG, (value,)) if negatable(stmt, value) else None


def _write_of_whole_array(stmt: Stmt, base: Var, key: Operand, value: Var, facts: Facts) -> list[Stmt] | None:
    """Simplify d[:, None] += sum(v, axis=1, keepdims=True) to d += sum(v, axis=1), and zeros with [::-1] += v to zeros + v[::-1]."""
    if not isinstance(base.type, Array) or not isinstance(value.type, Array):
        return None
    parts = key if isinstance(key, tuple) else (key,)
    added = [k for k, p in enumerate(parts) if isinstance(p, Const) and p.value is None]
    turned = turned_axes(tuple(p for k, p in enumerate(parts) if k not in added))
    total = facts.op(value)
    op = None
    if turned and not added and _zeros(base, facts) and equal_types(base.type, value.type):
        op = Index(value, key)
    elif turned == [] and added and value.temp and facts.uses[value] == 1 and isinstance(total, Call) and total.fn is np.sum:
        options, n = dict(total.kwargs), rank(total.args[0].type)
        match total.args, options.pop("axis", None), options.pop("keepdims", None):
            case (Var() as v,), Const(int() | tuple() as axis), Const(True) if n and not options:
                gone = {k % n for k in (axis if isinstance(axis, tuple) else (axis,))}
                left = tuple(dim for k, dim in enumerate(dims_of(v.type)) if k not in gone)
                if gone == set(added) and left and left == base.type.dims:
                    op = Call(np.sum, (v,), (("axis", Const(axis)),))
    if op is None:
        return None
    var = fresh(value, type=Array(value.type.dtype, base.type.dims))
    return [replace(stmt, targets=(var,), op=op), replace(stmt, op=replace(stmt.op, path=(), value=var))]


def _accumulation(stmt: Stmt, op: Update, facts: Facts):
    """Simplify d += -v to d -= v, d -= -v to d += v, d += d to 2 * d, and d += v twice to d += 2 * v."""
    if not isinstance(op.base, Var) or kind_of(op.base.type) is None and not generated(stmt):
        return None
    if op.value is op.base and not op.path and op.mode == "add" and generated(stmt):
        return Call(MUL, (Const(2), op.base))
    positive = _negated(stmt, op.value, facts)
    if not positive:
        return added_twice(stmt, facts) if not op.path else None
    before, value = positive
    return [*before, replace(stmt, op=replace(op, value=value, mode="sub" if op.mode == "add" else "add"))]


def _zeros(atom: Atom, facts: Facts) -> bool:
    """Return whether an atom is a new array of zeros."""
    op = facts.op(atom)
    return isinstance(op, Call) and isinstance(op.fn, Hashable) and op.fn in ZEROS and not any(k == "out" for k, _ in op.kwargs)


RULES = {ADD: _add, SUB: _sub, MUL: _mul, DIV: _div, POW: _pow, NEG: _neg, operator.pos: _pos, operator.and_: _and}
