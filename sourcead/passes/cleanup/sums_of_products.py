"""Turns `np.einsum` into products of matrices, and takes factors that do not depend on the axis of a sum out of the sum.

`multiply_einsums`: BLAS computes a product of matrices; `einsum` itself adds up element by element.

    y = einsum("ij,kj->ik", a, b)          y = matmul(a, transpose(b))
    y = einsum("bik,bkj->bij", a, b)       y = matmul(a, b)
    y = einsum("nti,ntj->ij", a, b)        y = tensordot(a, b, axes=((0, 1), (0, 1)))
    y = einsum("bi,bij->bj", a, b)         y = squeeze(matmul(expand_dims(a, 1), b), axis=1)

This is legal if both operands are arrays of one floating point dtype, each letter stands in an operand once, no letter is summed over in
one operand alone, and axes that are summed over are known to be equally long.  Letters of both operands that are kept stack the products.
Products of small matrices stay, because BLAS gains nothing there.  The result differs by rounding, as the order of sums does.

`factor_sums`: the cotangent of a value that was broadcast is added up before it is multiplied, and the large product is never computed.

    y = sum(mul(a, v), axis=0)                          y = mul(sum(a, axis=0), v)
    y = sum(div(a, v), axis=0)                          y = div(sum(a, axis=0), v)
    y = sum(matmul(a, b), axis=0)                       y = matmul(sum(a, axis=0), b)
    y = sum(einsum("nki,kij->nkj", a, b), axis=0)       y = einsum("ki,kij->kj", sum(a, axis=0), b)
    y = sum(add(p, q), axis=0)                          y = add(sum(p, axis=0), sum(q, axis=0))     if this helps one of them

This is legal in adjoints, if nothing else reads the product, `v` does not vary along the axis (it has no axis at or left of that of the
sum, or one of length 1), and the other operand is as long along it as the product and has its dtype.  The result differs by rounding too.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Call, Const, Function, Op, Operand, Stmt, Update, Var
from sourcead.ir.sizes_of_call import not_one
from sourcead.ir.types import SMALL, Array, Sym, kind_of, same_dtype
from sourcead.ir.walk import calls
from sourcead.passes.equality import KnownDims
from sourcead.passes.peephole import Facts, peephole


@dataclass(frozen=True)
class Letters:
    """The axes of two operands and of the result, a letter for each.

    `stacked` are those of both operands that are kept, `summed` those that are summed over, `of_a` and `of_b` those of one operand alone.
    """

    a: str
    b: str
    out: str

    @property
    def stacked(self) -> str:
        return "".join(c for c in self.out if c in self.a and c in self.b)

    @property
    def summed(self) -> str:
        return "".join(c for c in self.a if c in self.b and c not in self.out)

    @property
    def of_a(self) -> str:
        return "".join(c for c in self.out if c not in self.b)

    @property
    def of_b(self) -> str:
        return "".join(c for c in self.out if c not in self.a)

    @property
    def swapped(self) -> Letters:
        return Letters(self.b, self.a, self.out)


def multiply_einsums(function: Function) -> Function:
    """Return the function with each `einsum` replaced by a product of matrices if that is legal and faster."""
    if not calls(function.body, np.einsum):
        return function
    dims = KnownDims()

    def rule(stmt: Stmt, facts: Facts) -> Op | list[Stmt] | None:
        dims.learn(stmt, facts)
        match stmt.op:
            case Call(np.einsum, (Const(str() as subscripts, live=False), Var() as a, Var() as b), ()):
                letters = letters_of(subscripts, a, b)
                if letters and gains(letters, a, b) and agree(letters, a, b, lambda m, n: dims.same(m, n, facts)):
                    return product(stmt, letters, a, b)
        return None

    return peephole(function, rule)


def letters_of(subscripts: str, a: Var, b: Var) -> Letters | None:
    """Return the letters of an `einsum` that is legal apart from the lengths of its axes, or None for other calls."""
    floats = (np.dtype(np.float64), np.dtype(np.float32))
    for v in (a, b):
        if not isinstance(v.type, Array) or v.type.dims is None or not any(same_dtype(v.type.dtype, t) for t in floats):
            return None
    if a.type.dtype != b.type.dtype or "." in subscripts:
        return None
    inputs, arrow, out = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        out = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    if len(terms) != 2 or any(len(set(t)) < len(t) for t in (*terms, out)):
        return None
    letters = Letters(*terms, out)
    if (len(letters.a), len(letters.b)) != (len(a.type.dims), len(b.type.dims)) or set(out) - set(inputs):
        return None
    return letters if all(c in out or c in letters.summed for c in {*letters.a, *letters.b}) else None


def gains(letters: Letters, a: Var, b: Var) -> bool:
    """Return whether a product of matrices is faster: there is a sum, and not all sizes of the matrices are small."""
    sizes = {**dict(zip(letters.a, a.type.dims)), **dict(zip(letters.b, b.type.dims))}
    of_a, of_b, summed = letters.of_a, letters.of_b, letters.summed
    if not summed or not (of_a or of_b) or letters.stacked and max(map(len, (of_a, of_b, summed))) > 1:
        return False
    if not (of_a and of_b):  # vectors and matrices, whose rows BLAS reads where they are
        whole = letters.b if of_b else letters.a
        if len(of_a + of_b) > 1 or whole[-1] in letters.stacked:
            return False
    large = [n for c, n in sizes.items() if c not in letters.stacked and isinstance(n, Sym) and n.least >= SMALL]
    return bool(large)


def agree(letters: Letters, a: Var, b: Var, same) -> bool:
    """Return whether axes that are summed over are known to be equally long: `einsum` repeats those of length one, products do not."""
    of_a, of_b = dict(zip(letters.a, a.type.dims)), dict(zip(letters.b, b.type.dims))
    return all(same(of_a[c], of_b[c]) or not_one(of_a[c]) and not_one(of_b[c]) for c in letters.summed)


def product(stmt: Stmt, letters: Letters, a: Var, b: Var) -> list[Stmt]:
    """Return the statements that take the place of an `einsum`."""
    build = Builder().at(stmt)
    if comes_second(letters):
        letters, a, b = letters.swapped, b, a
    result, order = multiplied(build, letters, a, b)
    found = build.stmts.pop()
    assert found.targets == (result,)
    if order == letters.out:
        return [*build.stmts, replace(found, targets=stmt.targets)]
    axes = Const(tuple(order.index(c) for c in letters.out))
    last = Call(np.transpose, (result,) if axes.value == (1, 0) else (result, axes))
    return [*build.stmts, found, replace(stmt, op=last)]


def comes_second(letters: Letters) -> bool:
    """Return whether fewer axes have to be transposed if the first operand is the second factor."""
    if letters.of_a and letters.of_b:
        return letters.out.index(letters.of_b[0]) < letters.out.index(letters.of_a[0])
    if letters.stacked:
        return bool(letters.of_a)
    if letters.of_a:
        return letters.a[0] in letters.summed
    return bool(letters.of_b) and letters.b[0] in letters.of_b


def multiplied(build: Builder, letters: Letters, a: Var, b: Var) -> tuple[Atom, str]:
    """Return the product of the operands and the letters of its axes in order."""
    of_a, of_b, summed, stacked = letters.of_a, letters.of_b, letters.summed, letters.stacked
    if stacked and not of_a:  # a stack of products of a matrix and a column, or of a row and a matrix
        n, column = len(stacked), letters.b[-1] in summed
        vector = build.call(np.expand_dims, transposed(build, a, letters.a, stacked + summed), Const(n + column))
        matrix = transposed(build, b, letters.b, stacked + (of_b + summed if column else summed + of_b))
        rows = build.call(operator.matmul, *((matrix, vector) if column else (vector, matrix)), name="product")
        return build.call(np.squeeze, rows, axis=Const(n + column)), stacked + of_b
    if len(summed) == 1 and len(of_a) <= 1 and len(of_b) <= 1:
        a = transposed(build, a, letters.a, stacked + of_a + summed)
        b = transposed(build, b, letters.b, stacked + summed + of_b)
        return build.call(operator.matmul, a, b, name="product"), stacked + of_a + of_b
    of_a, of_b = ("".join(c for c in given if c not in summed) for given in (letters.a, letters.b))  # in the order of the operands
    axes = tuple(tuple(given.index(c) for c in summed) for given in (letters.a, letters.b))
    return build.call(np.tensordot, a, b, axes=Const(axes), name="product"), of_a + of_b


def transposed(build: Builder, x: Var, given: str, wanted: str) -> Var:
    """Return the array with its axes in another order."""
    if given == wanted:
        return x
    if len(given) == 2:
        return build.call(np.transpose, x, name="transpose")
    return build.call(np.transpose, x, Const(tuple(given.index(c) for c in wanted)), name="transpose")


# ---- factors of sums ----


ADD, SUB, MUL, DIV, NEG, MATMUL = operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.matmul


def factor_sums(function: Function) -> Function:
    """Return the function with sums of products replaced by products of sums if that saves the product."""
    if not calls(function.body, np.sum):
        return function
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
            case Call(np.sum, (Var() as x,), _) if stmt.adjoint_of is not None and is_real_array(x):
                return without_factors(stmt, x, facts, dims)
        return None

    return peephole(function, rule)


def without_factors(stmt: Stmt, x: Var, facts: Facts, dims: KnownDims) -> list[Stmt] | None:
    """Return a sum of `x` with the factors and divisors behind it that do not vary along its axes; None if `x` has none of them."""
    options, n, outer = dict(stmt.op.kwargs), len(x.type.dims), []
    if not options.keys() <= {"axis", "keepdims"} or not all(isinstance(v, Const) for v in options.values()):
        return None
    axis, keeps = (options.get(name, Const(None)).value for name in ("axis", "keepdims"))
    if keeps is not True and axis is not None:
        return None
    axes = range(n) if axis is None else [k % n for k in (axis if isinstance(axis, tuple) else (axis,))]

    def varies(v: Operand) -> bool:
        known = isinstance(v, Var) and isinstance(v.type, Array) and v.type.dims is not None and keeps is True
        return axes_of(v) != 0 and not (known and all(len(v.type.dims) < n - k or v.type.dims[k - n] == 1 for k in axes))

    def whole(a: Operand) -> bool:
        like = isinstance(a, Var) and is_real_array(a) and same_dtype(a.type.dtype, x.type.dtype) and len(a.type.dims) == n
        return like and all(dims.same(k, m, facts) for k, m in zip(a.type.dims, x.type.dims))

    while facts.uses[x] == 1 and facts.scopes.get(x) == facts.scope:
        match facts.op(x):
            case Call(fn, (a, v), ()) if fn in (MUL, DIV) and whole(a) and not varies(v):
                x, outer = a, [(fn, v, False), *outer]
            case Call(fn, (v, a), ()) if fn is MUL and whole(a) and not varies(v):
                x, outer = a, [(fn, v, True), *outer]
            case _:
                break
    if not outer:
        return None
    build = Builder().at(stmt)
    total = build.call(np.sum, x, name="total", **options)
    for fn, v, first in outer:
        total = build.call(fn, *((v, total) if first else (total, v)))
    *before, last = build.stmts
    return [*before, replace(stmt, op=last.op)]


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
            case Call(fn, (p, q), ()) if fn in (MUL, DIV):
                return self.of_product(fn, p, q, x, axis)
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

    def of_product(self, fn, p, q, x: Var, axis: int) -> Var | None:
        """Return the sum of a product or quotient whose second part does not vary along the axis: a number, or an array of later axes."""
        for a, v in ((p, q), (q, p)) if fn is MUL else ((p, q),):
            if isinstance(a, Var) and self.is_whole(a, x, axis) and axes_of(v) <= len(x.type.dims) - axis - 1:
                total = self.of(a, axis)
                return self.build.call(fn, *((total, v) if a is p else (v, total)))
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
