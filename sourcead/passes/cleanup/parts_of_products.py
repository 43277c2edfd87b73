"""Computes of a product what is read of it, as the adjoint of `W @ np.concatenate([h, x])` does where `x` needs no gradient.

    y = matmul(a, b)[:n]                     y = matmul(a[:n], b)
    y = matmul(a, transpose(w))[:, :n]       y = matmul(a, transpose(w[:n]))
    y = add(matmul(a, b), c)[:n]             y = add(matmul(a[:n], b), c[:n])

Legal where nothing else reads the product: each element of a product depends on one row of the first factor and one column of the second.
For generated statements only, because BLAS may round the rest of a product in another way.
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead.ir.nodes import Atom, Call, Const, Index, Operand, Slice, Stmt, Update, Var
from sourcead.ir.types import Array, dims_of, rank
from sourcead.passes.equality import equal_types
from sourcead.passes.peephole import Facts

ALL = Slice(None, None, None)
SUMS = (operator.add, operator.sub)


def part_of_product(stmt: Stmt, x: Var, key: Operand, facts: Facts) -> list[Stmt] | None:
    """Return statements that compute a part of a product, or of a sum with one; None if `x[key]` is not such a part."""
    keys = key if isinstance(key, tuple) else (key,)
    cut = [axis for axis, one in enumerate(keys) if not _is_all(one)]
    t = stmt.targets[0].type
    if len(cut) != 1 or not all(isinstance(one, Slice) for one in keys) or rank(x.type) not in (1, 2):
        return None
    if not isinstance(t, Array) or t.dims is None or (found := _Part(stmt, cut[0], keys[cut[0]], t.dims[cut[0]], facts).of(x)) is None:
        return None
    return [*found[:-1], replace(found[-1], targets=stmt.targets)]


def _is_all(key: Operand) -> bool:
    parts = (key.lower, key.upper, key.step) if isinstance(key, Slice) else (key,)
    return isinstance(key, Slice) and all(p is None or isinstance(p, Const) and p.value is None for p in parts)


class _Part:
    """The part of arrays that one slice takes along an axis, where it has `size` elements."""

    def __init__(self, stmt: Stmt, axis: int, key: Slice, size, facts: Facts):
        self.stmt, self.axis, self.key, self.size, self.facts = stmt, axis, key, size, facts

    def of(self, x: Atom) -> list[Stmt] | None:
        """Return statements whose last one computes the part of a value that nothing else reads; None if there is no product in it."""
        if not isinstance(x, Var) or not x.temp or self.facts.uses[x] != 1 or self.facts.scopes.get(x) != self.facts.scope:
            return None
        match self.facts.op(x):
            case Call(operator.matmul, (Var() as a, Var() as b), ()):
                return self.of_product(x, a, b)
            case Call(fn, (Var() as a, Var() as b), ()) if fn in SUMS:
                return self.of_sum(fn, x, a, b)
            case Update(Var() as a, (), Var() as b, mode) if mode in ("add", "sub"):
                return self.of_sum(operator.add if mode == "add" else operator.sub, x, a, b)
        return None

    def of_sum(self, fn, x: Var, a: Var, b: Var) -> list[Stmt] | None:
        """Return the part of a sum of arrays of one shape."""
        if not (equal_types(a.type, x.type) and equal_types(b.type, x.type)):
            return None
        parts = [self.of(a), self.of(b)]
        if parts == [None, None]:
            return None
        key = (*[ALL] * self.axis, self.key) if self.axis else self.key
        before = [part or [self.made("part", Index(v, key), self.cut(v.type, self.axis))] for part, v in zip(parts, (a, b))]
        total = Call(fn, tuple(stmts[-1].targets[0] for stmts in before))
        return [*before[0], *before[1], self.made(x.name, total, self.cut(x.type, self.axis))]

    def of_product(self, x: Var, a: Var, b: Var) -> list[Stmt] | None:
        """Return the part of a product of matrices, or of a matrix and a vector."""
        if rank(b.type) == 2 and self.axis == rank(x.type) - 1:
            before = self.of_matrix(b, 1)
            factors = a, before[-1].targets[0]
        elif rank(a.type) == 2 and self.axis == 0:
            before = self.of_matrix(a, 0)
            factors = before[-1].targets[0], b
        else:
            return None
        return [*before, self.made(x.name, Call(operator.matmul, factors), self.cut(x.type, self.axis))]

    def of_matrix(self, matrix: Var, axis: int) -> list[Stmt]:
        """Return rows or columns of a matrix; those of a transpose are taken from what it is the transpose of."""
        match self.facts.op(matrix):
            case Call(np.transpose, (Var(type=Array()) as source,), ()):
                [*before, last] = self.of_matrix(source, 1 - axis)
                return [*before, last, self.made("transpose", Call(np.transpose, last.targets), self.cut(matrix.type, axis))]
        key = (ALL, self.key) if axis else self.key
        return [self.made("part", Index(matrix, key), self.cut(matrix.type, axis))]

    def cut(self, t: Array, axis: int) -> Array:
        """Return the type of the part of an array that the slice takes along an axis."""
        dims = dims_of(t)
        return replace(t, dims=(*dims[:axis], self.size, *dims[axis + 1 :]))

    def made(self, name: str, op: Call | Index, t: Array) -> Stmt:
        return replace(self.stmt, targets=(Var(name, t, True),), op=op)
