"""Takes a factor that does not depend on the axis of a sum out of the sum.

    y = sum(mul(a, v), axis=0)                          y = mul(sum(a, axis=0), v)
    y = sum(matmul(a, b), axis=0)                       y = matmul(sum(a, axis=0), b)
    y = sum(einsum("nki,kij->nkj", a, b), axis=0)       y = einsum("ki,kij->kj", sum(a, axis=0), b)
    y = sum(add(p, q), axis=0)                          y = add(sum(p, axis=0), sum(q, axis=0))     if this helps one of them

So the cotangent of a value that was broadcast is added up before it is multiplied, and the large product is never computed.  This is legal
in adjoints, if nothing else reads the product, `v` has no axis at or left of that of the sum, and the other operand is as long along it as
the product and has its dtype.  The result differs by rounding, as the order of sums does.
"""

from __future__ import annotations

import operator

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Call, Const, Function, Stmt, Update, Var
from sourcead.ir.types import Array, kind_of, same_dtype
from sourcead.passes.cleanup.einsum_products import letters_of
from sourcead.passes.cleanup.equal_dims import KnownDims, not_one
from sourcead.passes.peephole import Facts, peephole

ADD, SUB, MUL, NEG, MATMUL = operator.add, operator.sub, operator.mul, operator.neg, operator.matmul


def factor_sums(function: Function) -> Function:
    """Return the function with sums of products replaced by products of sums if that saves the product."""
    dims = KnownDims()

    def rule(stmt: Stmt, facts: Facts) -> list[Stmt] | None:
        dims.learn(stmt, facts)
        match stmt.op:
            case Call(np.sum, (Var() as x,), (("axis", Const(int() as axis)),)) if stmt.adjoint_of is not None and is_real_array(x):
                build = Builder().at(stmt)
                found = _SumWriter(build, facts, dims).without_product(x, axis % len(x.type.dims))
                if found is not None:
                    (*before, last) = build.stmts
                    assert last.targets == (found,)
                    return [*before, Stmt(stmt.targets, last.op, stmt.origin, stmt.adjoint_of, stmt.within)]
        return None

    return peephole(function, rule)


def is_real_array(x: Var) -> bool:
    """Return whether a variable is an array of floating point numbers with a known number of axes, at least one."""
    return isinstance(x.type, Array) and bool(x.type.dims) and x.type.dtype is not None and kind_of(x.type) in ("float", "complex")


class _SumWriter:
    """Emits the sum of an array over one axis."""

    def __init__(self, build: Builder, facts: Facts, dims: KnownDims):
        self.build, self.facts, self.dims = build, facts, dims

    def of(self, x: Var, axis: int) -> Var:
        """Return the sum of `x`, computed without `x` itself if that is legal and saves work."""
        found = self.without_product(x, axis)
        return self.build.call(np.sum, x, name="total", axis=Const(axis)) if found is None else found

    def without_product(self, x: Var, axis: int) -> Var | None:
        """Return the sum of `x`, computed without `x` by the statement that is emitted last, or None if that is illegal or useless."""
        if self.facts.uses[x] != 1 or self.facts.scopes.get(x) != self.facts.scope:
            return None
        match self.facts.op(x):
            case Call(fn, (Var() as p, Var() as q), ()) if fn in (ADD, SUB):
                return self.of_both(fn, p, q, x, axis)
            case Update(Var() as p, (), Var() as q, "add" | "sub" as mode):
                return self.of_both(ADD if mode == "add" else SUB, p, q, x, axis)
            case Call(fn, (Var() as p,), ()) if fn is NEG:
                total = self.without_product(p, axis)
                return None if total is None else self.build.call(NEG, total)
            case Call(fn, (p, q), ()) if fn is MUL:
                return self.of_product(p, q, x, axis)
            case Call(fn, (Var() as a, Var() as b), ()) if fn is MATMUL and self.are_matrices(a, b, x):
                return self.of_letters("ij", "jk", "ik", a, b, axis)
            case Call(np.einsum, (Const(str() as subscripts, live=False), Var() as a, Var() as b), ()):
                letters = letters_of(subscripts, a, b)
                return letters and self.of_letters(letters.a, letters.b, letters.out, a, b, axis)
        return None

    def of_both(self, fn, p: Var, q: Var, x: Var, axis: int) -> Var | None:
        """Return the sum of a sum or difference of two arrays that are as long as it along the axis."""
        if not (self.is_whole(p, x, axis) and self.is_whole(q, x, axis)):
            return None
        before = len(self.build.stmts)
        first = self.without_product(p, axis)
        second = self.without_product(q, axis) if first is None else self.of(q, axis)
        if first is None and second is None:
            del self.build.stmts[before:]
            return None
        return self.build.call(fn, self.of(p, axis) if first is None else first, second)

    def of_product(self, p, q, x: Var, axis: int) -> Var | None:
        """Return the sum of a product with a factor that does not vary along the axis: a number, or an array with later axes only."""
        for a, v in ((p, q), (q, p)):
            if isinstance(a, Var) and self.is_whole(a, x, axis) and axes_of(v) <= len(x.type.dims) - axis - 1:
                total = self.of(a, axis)
                return self.build.call(MUL, *((total, v) if a is p else (v, total)))
        return None

    def of_letters(self, of_a: str, of_b: str, out: str, a: Var, b: Var, axis: int) -> Var | None:
        """Return the sum of an `einsum` along an axis that one operand alone has."""
        c = out[axis]
        if c in of_a and c in of_b or c in (of_a, of_b) or len(out) == 1:
            return None
        if c in of_a:
            a, of_a = self.of(a, of_a.index(c)), of_a.replace(c, "")
        else:
            b, of_b = self.of(b, of_b.index(c)), of_b.replace(c, "")
        out = out.replace(c, "")
        if {len(of_a), len(of_b)} == {1, 2} and of_a[-1] == of_b[0]:
            return self.build.call(MATMUL, a, b, name="product")
        return self.build.call(np.einsum, Const(f"{of_a},{of_b}->{out}"), a, b, name="product")

    def are_matrices(self, a: Var, b: Var, x: Var) -> bool:
        """Return whether two operands of `@` are matrices, of the dtype of the result."""
        return all(is_real_array(v) and len(v.type.dims) == 2 and same_dtype(v.type.dtype, x.type.dtype) for v in (a, b))

    def is_whole(self, p: Var, x: Var, axis: int) -> bool:
        """Return whether an operand has all axes and the dtype of the result, and is as long along this axis."""
        if not is_real_array(p) or len(p.type.dims) != len(x.type.dims) or not same_dtype(p.type.dtype, x.type.dtype):
            return False
        m, n = p.type.dims[axis], x.type.dims[axis]
        return self.dims.same(m, n, self.facts) or not_one(m)


def axes_of(operand) -> float:
    """Return the number of axes of an operand, or infinity if it is unknown."""
    if isinstance(operand, Const):
        return 0 if type(operand.value) in (int, float) and not operand.live else np.inf
    t = operand.type if isinstance(operand, Var) else None
    if isinstance(t, Array):
        return np.inf if t.dims is None else len(t.dims)
    return 0 if kind_of(t) in ("float", "int") else np.inf
