"""Computes less for the adjoints of linear systems: one factorisation serves the solutions and the determinant of one matrix.

    y = solve(a, mul(c, b))                          y = mul(c, solve(a, b))        c a number
    y = solve(transpose(a), b), v = inv(a)           y = matmul(transpose(v), b)
    y = solve(l, b), l = cholesky(k)                 y = solve_lower(l, b), or matmul(v, b) with v = inverse_lower(l)
    y = matmul(m, outer(u, v))                       y = outer(matmul(m, u), v)
    d_k = cholesky_cotangent(d_l, l), l = cholesky(k), and d_l is a sum of
        diagonal_cotangent(div(c, diag(l)), l)                             of the logarithm of the determinant
        outer(solve(l.T, p), q) and outer(solve(l.T, q), p)                of solutions by l and by l.T
    t = c inv(l).T @ inv(l) + outer(solve(l.T, p), solve(l.T, q)) + ...    d_k = lower_half(t)

The last holds because d_k = lower_half(s + s.T), s = l^-T phi(l.T d_l) l^-1, where phi takes the lower triangle and half of the diagonal:
phi of a diagonal matrix is half of it, and phi(m) + phi(m).T is m for a symmetric m, such as outer(p, q) + outer(q, p).  So a likelihood
of a Gaussian needs no more than the inverse of l, as a person writes it.  `p` and `q` may be one vector, or matrices with `p @ q.T`.

This is legal in adjoints, for real matrices, and for what only they read; the results differ by rounding.

M. Giles (2008), section 2.2; S. Smith, "Differentiation of the Cholesky algorithm" (1995).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Call, Const, Function, Op, Stmt, Update, Var
from sourcead.ir.types import Array, kind_of, rank, same_dtype
from sourcead.ir.walk import calls
from sourcead.passes.cleanup.constant_folding import generated, is_literal, read_by_adjoints
from sourcead.passes.cleanup.sums_of_products import axes_of
from sourcead.passes.equality import equal_types, same
from sourcead.passes.peephole import Facts, peephole
from sourcead.primitives.function_kinds import home
from sourcead.runtime.matrices import cholesky_cotangent
from sourcead.runtime.triangular import inverse_lower, lower_half, solve_lower

ADD, SUB, MUL, DIV, NEG, MATMUL = operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.matmul


def share_factorisations(function: Function) -> Function:
    """Return the function whose adjoints of linear systems use what is known of their matrices."""
    shared = _share(function)
    return _share(shared) if shared is not function and calls(shared.body, inverse_lower) else shared  # solutions by this inverse


def _share(function: Function) -> Function:
    solutions: dict[System, Var] = {}
    free = read_by_adjoints(function) if calls(function.body, np.linalg.inv, inverse_lower) else ()

    def rule(stmt: Stmt, facts: Facts) -> Atom | list[Stmt] | None:
        if not isinstance(stmt.op, Call) or stmt.op.effect or not is_real(stmt.targets[0]):
            return None
        system = system_of(stmt.op, facts)
        found = _simpler(stmt, system, solutions, facts) if generated(stmt) or stmt.targets[0] in free else None
        if system is not None and found is None:
            solutions[system] = stmt.targets[0]
        for s in found if isinstance(found, list) else ():
            if (system := system_of(s.op, facts)) is not None:
                solutions[system] = s.targets[0]
        return found

    return peephole(function, rule)


def _simpler(stmt: Stmt, system: System | None, solutions: dict[System, Var], facts: Facts) -> Atom | list[Stmt] | None:
    build, op = Builder().at(stmt), stmt.op
    result = None
    if system is not None:
        result = of_scaled(build, op, system, solutions, facts)
        result = result or by_inverse(build, op, system, facts) or by_factor(build, op, system, facts)
    elif op.fn is cholesky_cotangent and len(op.args) == 2:
        result = of_parts(build, *op.args, facts)
    elif op.fn is MATMUL:
        result = of_outer(build, *op.args, facts)
    if result is None or not is_alike(result, stmt.targets[0]):
        return None
    if not build.stmts or build.stmts[-1].targets != (result,):
        return result
    return [*build.stmts[:-1], replace(stmt, op=build.stmts[-1].op)]


def is_real(x: Atom) -> bool:
    """Return whether a variable is an array of real floating point numbers with a known number of axes."""
    return isinstance(x, Var) and isinstance(x.type, Array) and x.type.dims is not None and kind_of(x.type) == "float"


def is_alike(a: Atom, b: Var) -> bool:
    """Return whether two ways to compute one value give arrays of one dtype; if the number of axes is the same, so is the shape."""
    return is_real(a) and same_dtype(a.type.dtype, b.type.dtype) and rank(a.type) == rank(b.type)


# ---- systems ----


@dataclass(frozen=True)
class System:
    """A linear system: the matrix or its transpose, the triangle of the matrix that is read, and the right side."""

    matrix: Atom
    turned: bool
    triangle: str | None
    right: Var


def system_of(op: Op | None, facts: Facts) -> System | None:
    """Return the system of real equations that an operation solves; None for other operations."""
    if not isinstance(op, Call) or len(op.args) < 2 or not is_real(op.args[1]) or rank(op.args[1].type) not in (1, 2):
        return None
    matrix, turned = untransposed(op.args[0], facts)
    if not is_real(matrix) or rank(matrix.type) != 2:
        return None
    if op.fn is solve_lower:
        flags = [getattr(c, "value", None) for c in op.args[2:]]  # of a factor there is no more than what is read
        return System(matrix, flags == [True], None, op.args[1]) if flags in ([], [True], [False]) and not op.kwargs else None
    if op.fn is np.linalg.solve:
        return System(matrix, turned, None, op.args[1]) if len(op.args) == 2 and not op.kwargs else None
    if getattr(op.fn, "__name__", None) != "solve_triangular" or not home(op.fn).startswith("scipy.linalg") or len(op.args) > 5:
        return None
    given = dict(zip(("trans", "lower", "unit_diagonal"), op.args[2:])) | dict(op.kwargs)
    if not given.keys() <= {"trans", "lower", "unit_diagonal", "check_finite"} or not all(isinstance(v, Const) for v in given.values()):
        return None
    trans, lower, unit = (given[name].value if name in given else False for name in ("trans", "lower", "unit_diagonal"))
    if trans not in (0, 1, 2, "N", "T", "C") or unit:
        return None
    return System(matrix, (trans in (0, "N")) is turned, "upper" if bool(lower) is turned else "lower", op.args[1])


# ---- products with a number ----


@dataclass(frozen=True)
class Scaled:
    """A value times a number: a literal, and the numbers of the program that it is multiplied with or divided by, in order."""

    value: Atom
    number: float = 1.0
    steps: tuple[tuple[Callable, Atom], ...] = ()

    def times(self, other: Scaled) -> Scaled:
        """Return this with the numbers of another too."""
        return replace(self, number=self.number * other.number, steps=(*self.steps, *other.steps))

    def alike(self, other: Scaled) -> bool:
        """Return whether two values are scaled by the same numbers of the program."""
        return len(self.steps) == len(other.steps) and all(f is g and same(a, b) for (f, a), (g, b) in zip(self.steps, other.steps))

    def emit(self, build: Builder) -> Atom:
        """Emit the product."""
        value = self.value
        for fn, number in self.steps:
            value = build.call(fn, value, number)
        if self.number == -1:
            return build.call(NEG, value)
        return value if self.number == 1 else build.call(MUL, Const(self.number), value)


def scaled(x: Atom, facts: Facts) -> Scaled:
    """Return what a value is a multiple of, through all operations that scale it without a change of its type."""
    match facts.op(x):
        case Call(fn, (Var() as a,), ()) if fn is NEG and equal_types(a.type, x.type):
            found = scaled(a, facts)
            return replace(found, number=-found.number)
        case Call(fn, (a, b), ()) if fn in (MUL, DIV):
            for one, number in ((a, b), (b, a)) if fn is MUL else ((a, b),):
                if isinstance(one, Var) and axes_of(number) == 0 and axes_of(one) != 0 and equal_types(one.type, x.type):
                    found = scaled(one, facts)
                    if is_literal(number) and number.value != 0:
                        return replace(found, number=fn(found.number, number.value))
                    return replace(found, steps=(*found.steps, (fn, number)))
    return Scaled(x)


def of_scaled(build: Builder, op: Call, system: System, solutions: dict[System, Var], facts: Facts) -> Atom | None:
    """Emit the solution for a multiple of a right side as a multiple of the solution, which may be known; None for other systems."""
    found = scaled(system.right, facts)
    whole = replace(system, right=found.value)
    known = solutions.get(whole)
    if known is not None and facts.scopes.get(known) in facts.open:
        return replace(found, value=known).emit(build)
    if found.value is system.right:
        return None
    solution = by_inverse(build, op, whole, facts) or by_factor(build, op, whole, facts)
    if solution is None:
        solution = build.call(op.fn, op.args[0], found.value, *op.args[2:], name="solution", **dict(op.kwargs))
    return replace(found, value=solution).emit(build)


# ---- inverses, and products of vectors ----


def by_inverse(build: Builder, op: Call, system: System, facts: Facts) -> Atom | None:
    """Emit the solution as a product with the inverse of the matrix, if the function computes that anyway; None if it does not."""
    a = system.matrix
    of_factor = op.fn is solve_lower or system.triangle == "lower" or is_cholesky(facts.op(a))
    inverter = inverse_lower if of_factor else np.linalg.inv if system.triangle is None else None
    made = (stmt.op for stmt in facts.function.body.stmts)  # in no branch
    if len(facts.open) != 1 or not any(isinstance(o, Call) and o.fn is inverter and o.args == (a,) for o in made):
        return None
    inverse = build.call(inverter, a, name="inverse")
    return build.call(MATMUL, build.call(np.transpose, inverse) if system.turned else inverse, system.right, name="solution")


def by_factor(build: Builder, op: Call, system: System, facts: Facts) -> Atom | None:
    """Emit the solution by a Cholesky factor, whose other triangle is zero; None for other matrices."""
    if op.fn is not np.linalg.solve or not is_cholesky(facts.op(system.matrix)):
        return None
    turned = (Const(True),) if system.turned else ()
    return build.call(solve_lower, system.matrix, system.right, *turned, name="solution")


def is_cholesky(op: Op | None) -> bool:
    return isinstance(op, Call) and op.fn is np.linalg.cholesky and len(op.args) == 1 and not op.kwargs


def untransposed(a: Atom, facts: Facts) -> tuple[Atom, bool]:
    """Return the matrix that a matrix is or is the transpose of, and whether it is the transpose."""
    match facts.op(a):
        case Call(np.transpose, (Var() as x,), ()) if rank(x.type) == 2:
            inner, turned = untransposed(x, facts)
            return inner, not turned
    return a, False


def of_outer(build: Builder, a: Atom, b: Atom, facts: Facts) -> Atom | None:
    """Emit the product of a matrix and the outer product of two vectors as one of two vectors; None for other products."""
    for one, other in ((a, b), (b, a)):
        match facts.op(one):
            case Call(np.outer, (Var() as u, Var() as v), ()) if facts.uses[one] == 1 and rank(getattr(other, "type", None)) == 2:
                if rank(u.type) != 1 or rank(v.type) != 1 or not all(map(is_real, (u, v, other))):
                    return None
                if one is a:
                    return build.call(np.outer, u, build.call(MATMUL, v, other, name="product"))
                return build.call(np.outer, build.call(MATMUL, other, u, name="product"), v)
    return None


# ---- Cholesky's factor ----


@dataclass(frozen=True)
class Pair:
    """A part `left @ right.T` of the cotangent of a Cholesky factor l, where left is a multiple of `solve(l.T, source)`."""

    left: Scaled
    right: Scaled
    source: Var


def of_parts(build: Builder, d: Atom, factor: Atom, facts: Facts) -> Atom | None:
    """Emit the cotangent of a matrix from the parts of the cotangent of its Cholesky factor; None if a part is of another kind."""
    if not is_real(factor) or rank(factor.type) != 2:
        return None
    diagonal: list[Scaled] = []
    pairs: list[Pair] = []
    for part, turned in parts(Scaled(d), False, facts):
        if (number := over_diagonal(part.value, factor, facts)) is not None:
            diagonal.append(number.times(part))
        elif (pair := solved_pair(part, turned, factor, facts)) is not None:
            pairs.append(pair)
        else:
            return None
    terms = symmetric_terms(pairs)
    if terms is None:
        return None
    total: Atom | None = None
    for left, right, both in terms:
        product = outer(build, left.value, replace(right.times(left), value=right.value, number=1.0).emit(build))
        number = left.number * right.number
        if both:
            product = build.call(ADD, product, build.call(np.transpose, product))
        total = added(build, total, product, number)
    if diagonal:
        inverse = build.call(inverse_lower, factor, name="inverse")
        product = build.call(MATMUL, build.call(np.transpose, inverse), inverse, name="product")
        for number in diagonal:
            total = added(build, total, replace(number, value=product, number=1.0).emit(build), number.number)
    return build.call(lower_half, total)


def parts(x: Scaled, turned: bool, facts: Facts) -> Iterator[tuple[Scaled, bool]]:
    """Yield the terms of a sum, with the numbers that they are multiplied with, and whether their transposes are meant."""
    match facts.op(x.value):
        case Update(Var() as a, (), Var() as b, "add" | "sub" as mode):
            yield from parts(replace(x, value=a), turned, facts)
            yield from parts(replace(x, value=b, number=x.number if mode == "add" else -x.number), turned, facts)
        case Call(fn, (Var() as a, Var() as b), ()) if fn in (ADD, SUB) and equal_types(a.type, b.type):
            yield from parts(replace(x, value=a), turned, facts)
            yield from parts(replace(x, value=b, number=x.number if fn is ADD else -x.number), turned, facts)
        case Call(fn, (Var() as a,), ()) if fn is (np.triu if turned else np.tril):  # no more is read of it
            yield from parts(replace(x, value=a), turned, facts)
        case Call(np.transpose, (Var() as a,), ()) if rank(a.type) == 2:
            yield from parts(replace(x, value=a), not turned, facts)
        case _:
            found = scaled(x.value, facts)
            if found.value is x.value:
                yield x, turned
            else:
                yield from parts(found.times(x), turned, facts)


def over_diagonal(x: Atom, factor: Atom, facts: Facts) -> Scaled | None:
    """Return c, as a scaled nothing, if the matrix has c / diag(factor) on its diagonal and zeros elsewhere; None for others."""
    match facts.op(x):
        case Call(fn, (Var() as v, like, *offset), ()) if fn is runtime.diagonal_cotangent and is_main(offset):
            v = scaled(v, facts)
            match facts.op(v.value):
                case Call(fn, (c, Var() as diagonal), ()) if fn is DIV and axes_of(c) == 0 and is_factor(like, factor, facts):
                    if is_diagonal(facts.op(diagonal), factor, facts):
                        return v.times(Scaled(x, float(c.value)) if is_literal(c) else Scaled(x, 1.0, ((MUL, c),)))
    return None


def is_main(offset: list) -> bool:
    """Return whether the offset and axes of a diagonal are those of the main diagonal of a matrix."""
    values = [o.value if is_literal(o) else None for o in offset]
    return values in ([], [0], [0, 0, 1], [0, -2, -1])


def is_diagonal(op: Op | None, factor: Atom, facts: Facts) -> bool:
    """Return whether an operation takes the main diagonal of a matrix or of its transpose."""
    named = isinstance(op, Call) and op.fn in (np.diag, np.diagonal, np.linalg.diagonal) and not op.kwargs
    return named and is_factor(op.args[0], factor, facts) and is_main(list(op.args[1:]))


def is_factor(x: Atom, factor: Atom, facts: Facts) -> bool:
    """Return whether a matrix is the Cholesky factor or its transpose."""
    return untransposed(x, facts)[0] is factor


def solved_pair(part: Scaled, turned: bool, factor: Atom, facts: Facts) -> Pair | None:
    """Return a part that is a product of which one factor is a solution by the transpose of the Cholesky factor; None for others."""
    left = right = None
    match facts.op(part.value):
        case Call(np.outer, (Var() as u, Var() as v), ()):
            left, right = u, v
        case Call(fn, (Var() as u, Var() as v), ()) if fn is MATMUL and rank(u.type) == rank(v.type) == 2:
            v, is_transpose = untransposed(v, facts)
            left, right = (u, v) if is_transpose else (None, None)
    if left is None or not is_real(left) or not is_real(right):
        return None
    left, right = (scaled(v, facts) for v in ((right, left) if turned else (left, right)))
    system = system_of(facts.op(left.value), facts)
    if system is None or system.matrix is not factor or not system.turned or system.triangle == "upper":
        return None
    return Pair(left.times(part), right, system.right)


def symmetric_terms(pairs: list[Pair]) -> list[tuple[Scaled, Scaled, bool]] | None:
    """Return the pairs as products of two solutions, and whether the transpose of each is to be added; None if the sum is not symmetric."""
    terms: list[tuple[Scaled, Scaled, bool]] = []
    rest = list(pairs)
    while rest:
        pair = rest.pop(0)
        if pair.right.value is pair.source:
            term = (pair.left, replace(pair.right, value=pair.left.value), False)
        else:
            k = next((k for k, other in enumerate(rest) if is_mirrored(pair, other)), None)
            if k is None:
                return None
            term = (pair.left, replace(pair.right, value=rest.pop(k).left.value), True)
        equal = next((k for k, other in enumerate(terms) if is_multiple(other, term)), None)
        if equal is None:
            terms.append(term)
        else:
            left, right, both = terms[equal]
            number = left.number * right.number + term[0].number * term[1].number
            terms[equal] = (replace(left, number=number), replace(right, number=1.0), both)
    return terms


def is_mirrored(a: Pair, b: Pair) -> bool:
    """Return whether one pair is the transpose of another, but for the factor in front."""
    both = a.left.times(a.right), b.left.times(b.right)
    return a.right.value is b.source and b.right.value is a.source and both[0].number == both[1].number and both[0].alike(both[1])


def is_multiple(a: tuple[Scaled, Scaled, bool], b: tuple[Scaled, Scaled, bool]) -> bool:
    """Return whether two terms are the same but for a literal."""
    values = all(x.value is y.value for x, y in zip(a[:2], b[:2]))
    return values and a[2] is b[2] and a[0].times(a[1]).alike(b[0].times(b[1]))


def outer(build: Builder, u: Atom, v: Atom) -> Atom:
    """Emit u v.T for two vectors, or for two matrices."""
    if rank(u.type) == 1:
        return build.call(np.outer, u, v)
    return build.call(MATMUL, u, build.call(np.transpose, v), name="product")


def added(build: Builder, total: Atom | None, term: Atom, number: float) -> Atom:
    """Emit total + number * term."""
    if total is not None and abs(number) == 1:
        return build.call(ADD if number == 1 else SUB, total, term)
    term = Scaled(term, number).emit(build)
    return term if total is None else build.call(ADD, total, term)
