"""Writes sums over products that are large because a factor is broadcast, or known by less, without the products.

    y = sum(mul(x, eye(n)))                                    y = trace(x)
    y = sum(mul(mul(outer(u, v), a), b))                       y = matmul(u, matmul(mul(a, b), v))
    y = sum(mul(outer(u, v), eye(n)))                          y = matmul(u, v)
    y = sum(mul(outer(u, v), a), axis=1)                       y = mul(u, matmul(a, v))
    y = sum(mul(expand_dims(w, 2), b), axis=0)                 y = einsum("ij,ijk->jk", w, b)
    y = sum(mul(x[:, :, None], b), axis=(0, 1))                y = einsum("ij,ijk->k", x, b)

This is legal in adjoints, if the other factors together have the shape of the matrix, or of the product: what they are broadcast to would
be summed too.  The last two are for sums that keep the last axis: those along it NumPy adds pairwise, which is more precise than a
product of matrices.  If a product is read by several sums, each of them is computed without it.  The result differs by rounding.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Call, Const, Function, Op, Stmt, Var
from sourcead.ir.types import Array, kind_of, rank, same_dtype
from sourcead.passes.cleanup.constant_folding import generated
from sourcead.passes.cleanup.dead_code import remove_dead
from sourcead.passes.equality import KnownDims
from sourcead.passes.peephole import Facts, peephole

MUL, MATMUL = operator.mul, operator.matmul
LETTERS = "ijklmn"


def contract_sums(function: Function) -> Function:
    """Return the function with sums over products with an identity or an outer product written by the diagonal or the vectors."""
    before = None
    while function is not before:  # a product that one sum no longer reads may be read by other sums alone
        before, function = function, _contract(function)
        function = function if function is before else remove_dead(function)
    return function


def _contract(function: Function) -> Function:
    dims = KnownDims()

    def rule(stmt: Stmt, facts: Facts) -> list[Stmt] | None:
        dims.learn(stmt, facts)
        match stmt.op:
            case Call(np.sum, (Var() as x,), ()) if generated(stmt) and is_matrix(x):
                return contracted(stmt, x, facts, dims)
            case Call(np.sum, (Var() as x,), _) if generated(stmt) and (rows := of_rows_or_columns(stmt, x, facts, dims)):
                return rows
            case Call(np.sum, (Var() as x,), _) if generated(stmt) and (axes := summed_axes(stmt.op)):
                return over_axes(stmt, x, axes, facts, dims)
        return None

    return peephole(function, rule)


def contracted(stmt: Stmt, x: Var, facts: Facts, dims: KnownDims) -> list[Stmt] | None:
    """Return the sum over a product, without the matrix among its factors that is known by vectors; None if there is none."""
    build = Builder().at(stmt)
    if (found := known_factor(build, x, facts, dims)) is None:
        return None
    matrix, others, rest = found
    if (vectors := vectors_of(matrix, facts)) is not None:
        u, v = vectors
        if len(others) == 1 and is_identity(rest, facts):
            result = build.call(MATMUL, u, v, name="product")
        else:
            result = build.call(MATMUL, u, build.call(MATMUL, rest, v, name="product"), name="product")
    else:
        result = build.call(np.trace, rest)
    t = stmt.targets[0].type
    if kind_of(result.type) != kind_of(t) or not same_dtype(getattr(result.type, "dtype", None), getattr(t, "dtype", None)):
        return None
    return [*build.stmts[:-1], replace(stmt, op=build.stmts[-1].op)]


def known_factor(build: Builder, x: Var, facts: Facts, dims: KnownDims) -> tuple[Var, list[Atom], Var] | None:
    """Return the factor of a product that is an identity or known by vectors, the other factors, and their product, of the same shape."""
    factors = factors_of(x, facts)
    at = next((k for k, f in enumerate(factors) if is_identity(f, facts) or vectors_of(f, facts)), None)
    if at is None or len(factors) == 1:
        return None
    matrix, others = factors[at], [f for k, f in enumerate(factors) if k != at]
    rest = others[0]
    for f in others[1:]:
        rest = build.call(MUL, rest, f)
    shape = dims.shape(matrix.type, facts)
    return (matrix, others, rest) if is_matrix(rest) and shape is not None and shape == dims.shape(rest.type, facts) else None


def of_rows_or_columns(stmt: Stmt, x: Var, facts: Facts, dims: KnownDims) -> list[Stmt] | None:
    """Return the sums of the rows, or of the columns, of a product with an outer product, without this; None for others."""
    options, build = dict(stmt.op.kwargs), Builder().at(stmt)
    axis, keeps = (getattr(options.pop(name, None), "value", None) for name in ("axis", "keepdims"))
    if options or axis not in (0, 1, -1) or not is_matrix(x) or (found := known_factor(build, x, facts, dims)) is None:
        return None
    matrix, _, rest = found
    if (vectors := vectors_of(matrix, facts)) is None:
        return None
    u, v = vectors
    result = build.call(MUL, build.call(MATMUL, u, rest), v) if axis == 0 else build.call(MUL, u, build.call(MATMUL, rest, v))
    if keeps:
        result = build.call(np.expand_dims, result, Const(axis))
    if rank(result.type) != rank(stmt.targets[0].type) or not same_dtype(result.type.dtype, stmt.targets[0].type.dtype):
        return None
    return [*build.stmts[:-1], replace(stmt, op=build.stmts[-1].op)]


def factors_of(x: Atom, facts: Facts) -> list[Atom]:
    """Return the factors of a product that nothing else reads, in order."""
    match facts.op(x):
        case Call(fn, (Var() as a, Var() as b), ()) if fn is MUL and facts.uses[x] == 1 and facts.scopes.get(x) == facts.scope:
            return [*factors_of(a, facts), *factors_of(b, facts)]
    return [x]


def is_matrix(x: Atom) -> bool:
    """Return whether a variable is a matrix of real floating point numbers."""
    return isinstance(x, Var) and isinstance(x.type, Array) and rank(x.type) == 2 and kind_of(x.type) == "float"


def is_identity(x: Atom, facts: Facts) -> bool:
    """Return whether a value is an identity matrix of floating point numbers."""
    match facts.op(x):
        case Call(np.eye | np.identity as fn, (_, *more), kwargs):  # `np.eye(n, m)` has m columns
            return is_matrix(x) and all(name == "dtype" for name, _ in kwargs) and len(more) <= (fn is np.identity)
    return False


def vectors_of(x: Atom, facts: Facts) -> tuple[Atom, Atom] | None:
    """Return the two vectors that a matrix is the outer product of; None for other matrices."""
    match facts.op(x):
        case Call(np.outer, (Var() as u, Var() as v), ()) if rank(u.type) == rank(v.type) == 1 and is_matrix(x):
            return u, v
    return None


# ---- sums along axes ----


def summed_axes(op: Op | None) -> tuple[int, ...]:
    """Return the axes of a sum of real numbers along some axes that keeps the last one; none for others."""
    match op:
        case Call(np.sum, (Var() as x,), (("axis", Const(int() | tuple() as axis, live=False)),)) if is_real(x):
            n = len(x.type.dims)
            axes = tuple(k % n for k in (axis if isinstance(axis, tuple) else (axis,)))
            return axes if n - 1 not in axes and len(set(axes)) == len(axes) else ()
    return ()


def is_real(x: Var) -> bool:
    """Return whether a variable is an array of floating point numbers of one of NumPy's two usual dtypes with axes that are known."""
    usual = isinstance(x.type, Array) and bool(x.type.dims)
    return usual and any(same_dtype(x.type.dtype, np.dtype(t)) for t in (np.float64, np.float32))


def over_axes(stmt: Stmt, x: Var, axes: tuple[int, ...], facts: Facts, dims: KnownDims) -> list[Stmt] | None:
    """Return the sum of a product along some axes as an `einsum` of a factor that lacks an axis and the others; None if there is none."""
    factors = broadcast_factors(x, facts)
    n = len(x.type.dims)
    if len(factors) == 1 or n > len(LETTERS) or not all(is_real(f) and same_dtype(f.type.dtype, x.type.dtype) for f in factors):
        return None
    thin = [f for f in factors if lacks_only_kept_axes(f, x, axes, facts, dims)]
    whole = [f for f in factors if is_whole(f, x, range(n), facts, dims)]
    if len(thin) != 1 or len(thin) + len(whole) != len(factors):
        return None
    build = Builder().at(stmt)
    product = whole[0]
    for f in whole[1:]:
        product = build.call(MUL, product, f)
    missing = [k for k, size in enumerate(thin[0].type.dims) if size == 1]
    small = squeezed(build, thin[0], missing, facts)
    letters = LETTERS[:n]
    of_small, out = ("".join(c for k, c in enumerate(letters) if k not in gone) for gone in (missing, axes))
    result = build.call(np.einsum, Const(f"{of_small},{letters}->{out}"), small, product, name="product")
    if rank(result.type) != rank(stmt.targets[0].type) or not same_dtype(result.type.dtype, stmt.targets[0].type.dtype):
        return None
    return [*build.stmts[:-1], replace(stmt, op=build.stmts[-1].op)]


def broadcast_factors(x: Var, facts: Facts) -> list[Var]:
    """Return the factors of a product that is read by sums along axes alone, in order.

    A factor is taken apart if it is a product that nothing else reads, or one of two factors.
    """
    if not all(summed_axes(reader) for reader in facts.readers.get(x, ())) or facts.scopes.get(x) != facts.scope:
        return [x]
    match facts.op(x):
        case Call(fn, (Var() as a, Var() as b), ()) if fn is MUL and a is not b:
            return [*parts_of(a, facts), *parts_of(b, facts)]
    return [x]


def parts_of(x: Var, facts: Facts) -> list[Var]:
    """Return the two factors of a product of arrays in an adjoint of which one is broadcast; the value itself if it is no such product."""
    match facts.op(x):
        case Call(fn, (Var() as a, Var() as b), ()) if fn is MUL and generated(facts.definitions[x]) and is_real(a) and is_real(b):
            if rank(a.type) == rank(b.type) and facts.scopes.get(x) == facts.scope and (1 in a.type.dims) is not (1 in b.type.dims):
                return [a, b]
    return [x]


def is_whole(f: Var, x: Var, axes: Iterable[int], facts: Facts, dims: KnownDims) -> bool:
    """Return whether a factor has all axes of the product, and is as long along some of them."""
    if len(f.type.dims) != len(x.type.dims):
        return False
    return all(dims.same(f.type.dims[k], x.type.dims[k], facts) and f.type.dims[k] != 1 for k in axes)


def lacks_only_kept_axes(f: Var, x: Var, axes: tuple[int, ...], facts: Facts, dims: KnownDims) -> bool:
    """Return whether a factor is broadcast along axes that the sum keeps, the last among them, and is whole along the others."""
    if len(f.type.dims) != len(x.type.dims) or f.type.dims[-1] != 1:
        return False
    missing = {k for k, size in enumerate(f.type.dims) if size == 1}
    return missing.isdisjoint(axes) and is_whole(f, x, [k for k in range(len(x.type.dims)) if k not in missing], facts, dims)


def squeezed(build: Builder, x: Var, missing: list[int], facts: Facts) -> Var:
    """Emit a value without its axes of length 1."""
    match facts.op(x):
        case Call(np.expand_dims, (Var() as a, Const()), ()) if is_real(a) and len(a.type.dims) == len(x.type.dims) - len(missing):
            return a
        case Call(fn, (Const() as number, Var() as a), ()) if fn is MUL and same_dtype(a.type.dtype, x.type.dtype):
            return build.call(MUL, number, squeezed(build, a, missing, facts))
        case Call(fn, (Var() as a,), ()) if fn is operator.neg:
            return build.call(fn, squeezed(build, a, missing, facts))
    return build.call(np.squeeze, x, axis=Const(tuple(missing) if len(missing) > 1 else missing[0]))
