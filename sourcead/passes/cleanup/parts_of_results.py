"""Computes of a result only the part that is read, as the adjoint of `W @ np.concatenate([h, x])` does where `x` needs no gradient.

    y = matmul(a, b)[:n]                     y = matmul(a[:n], b)
    y = matmul(a, transpose(w))[:, :n]       y = matmul(a, transpose(w[:n]))
    y = mul(a, b)[1:-1, 1:-1]                y = mul(a[1:-1, 1:-1], b[1:-1, 1:-1])
    y = add(matmul(a, b), c)[:n]             y = add(matmul(a[:n], b), c[:n])

Legal where nothing else reads the result: each element of a product depends on one row of the first factor and one column of the second,
each element of a sum on those in its place in arrays of the same shape.  Slices and integers select the part, so that parts of operands are
views.  For generated statements only, because BLAS may round the rest of a product in another way.
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.analysis.numbers_or_arrays import may_be_numbers
from sourcead.ir.nodes import Atom, Call, Const, Index, Op, Operand, Slice, Stmt, Update, Var
from sourcead.ir.types import INT, Array, Scalar, dims_of, rank
from sourcead.passes.peephole import Facts

ALL = Slice(None, None, None)
BY_ELEMENT = (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg)


def part_of_result(stmt: Stmt, x: Var, key: Operand, facts: Facts) -> list[Stmt] | None:
    """Return statements that compute `x[key]`, a part of a product of matrices or of arithmetic by element; None if it is no such part."""
    keys, t = key if isinstance(key, tuple) else (key,), stmt.targets[0].type
    if not isinstance(t, Array) or t.dims is None or not 0 < len(keys) <= (rank(x.type) or 0) or not all(map(_selects, keys)):
        return None
    found = _Part(stmt, keys, t.dims, facts).of(x)
    return None if found is None else [*found[:-1], replace(found[-1], targets=stmt.targets)]


def _selects(key: Operand) -> bool:
    """Return whether a subscript of one axis is a slice or an integer."""
    return isinstance(key, Slice) or (isinstance(key, Var) and key.type == INT) or isinstance(key, Const) and type(key.value) is int


def _is_all(key: Operand) -> bool:
    parts = (key.lower, key.upper, key.step) if isinstance(key, Slice) else (key,)
    return isinstance(key, Slice) and all(p is None or isinstance(p, Const) and p.value is None for p in parts)


class _Part:
    """The part of arrays that subscripts select, which has these dims."""

    def __init__(self, stmt: Stmt, keys: tuple[Operand, ...], dims: tuple, facts: Facts):
        self.stmt, self.keys, self.dims, self.facts = stmt, keys, dims, facts
        cut = [axis for axis, one in enumerate(keys) if not _is_all(one)]
        self.axis = cut[0] if len(cut) == 1 and isinstance(keys[cut[0]], Slice) else None  # the only one that is cut

    def of(self, x: Atom) -> list[Stmt] | None:
        """Return statements whose last one computes the part of a value that nothing else reads; None if it is the result of another op."""
        if not isinstance(x, Var) or not x.temp or self.facts.uses[x] != 1 or self.facts.scopes.get(x) != self.facts.scope:
            return None
        match self.facts.op(x):
            case Call(operator.matmul, (Var() as a, Var() as b), ()):
                return None if self.axis is None else self.of_product(x, a, b)
            case Call(fn, args, ()) if fn in BY_ELEMENT:
                return self.of_elements(fn, x, args)
            case Update(Var() as a, (), Var() as b, mode) if mode in ("add", "sub"):
                return self.of_elements(operator.add if mode == "add" else operator.sub, x, (a, b))
        return None

    def of_elements(self, fn, x: Var, args: tuple[Operand, ...]) -> list[Stmt] | None:
        """Return the part of a sum, product or quotient of arrays of one shape and numbers."""
        before, parts, numbers = [], [], may_be_numbers(self.facts.function)
        for v in args:
            if v in numbers:
                return None
            if isinstance(v, Var) and isinstance(v.type, Array) and v.type.dims == dims_of(x.type):
                before += self.of(v) or [self.made("part", Index(v, self.keys if len(self.keys) > 1 else self.keys[0]), v, self.dims)]
                parts.append(before[-1].targets[0])
            elif isinstance(v, (Const, Var)) and isinstance(atom_type(v), Scalar):  # a constant may be a global array
                parts.append(v)
            else:
                return None
        return [*before, self.made(x.name, Call(fn, tuple(parts)), x, self.dims)]

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
        return [*before, self.made(x.name, Call(operator.matmul, factors), x, self.dims)]

    def of_matrix(self, matrix: Var, axis: int) -> list[Stmt]:
        """Return rows or columns of a matrix; those of a transpose are taken from what it is the transpose of."""
        rows = dims_of(matrix.type)
        dims = (rows[0], self.dims[self.axis]) if axis else (self.dims[self.axis], rows[1])
        match self.facts.op(matrix):
            case Call(np.transpose, (Var(type=Array()) as source,), ()):
                before = self.of_matrix(source, 1 - axis)
                return [*before, self.made("transpose", Call(np.transpose, before[-1].targets), matrix, dims)]
        key = self.keys[self.axis]
        return [self.made("part", Index(matrix, (ALL, key) if axis else key), matrix, dims)]

    def made(self, name: str, op: Op, like: Var, dims: tuple) -> Stmt:
        """Return a statement whose result is an array of these dims, of the dtype of a variable."""
        return replace(self.stmt, targets=(Var(name, replace(like.type, dims=dims), True),), op=op)
