"""`np.einsum` of two arrays becomes a product of matrices, which BLAS computes; `einsum` itself adds up element by element.

    y = einsum("ij,kj->ik", a, b)          y = matmul(a, transpose(b))
    y = einsum("bik,bkj->bij", a, b)       y = matmul(a, b)
    y = einsum("nti,ntj->ij", a, b)        y = tensordot(a, b, axes=((0, 1), (0, 1)))

This is legal if both operands are arrays of one floating point dtype, each letter stands in an operand once, no letter is summed over in
one operand alone, and axes that are summed over are known to be equally long.  Letters of both operands that are kept stack the products.
Products of small matrices stay, because BLAS gains nothing there.  The result differs by rounding, as the order of sums does.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Call, Const, Function, Op, Stmt, Var
from sourcead.ir.types import SMALL, Array, Sym, same_dtype
from sourcead.passes.cleanup.equal_dims import KnownDims, not_one
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
    if not summed or (letters.stacked or not (of_a and of_b)) and max(map(len, (of_a, of_b, summed))) > 1:
        return False
    if letters.stacked and not (of_a and of_b):
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
    if letters.of_a:
        return letters.a[0] in letters.summed
    return bool(letters.of_b) and letters.b[0] in letters.of_b


def multiplied(build: Builder, letters: Letters, a: Var, b: Var) -> tuple[Atom, str]:
    """Return the product of the operands and the letters of its axes in order."""
    of_a, of_b, summed, stacked = letters.of_a, letters.of_b, letters.summed, letters.stacked
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
