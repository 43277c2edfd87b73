"""Sums products of arrays in one call, without the array of the products.

    y = sum(mul(a, b))                      y = matmul(a, b)                             of vectors
    y = sum(mul(a, b))                      y = einsum("ij,ij->", a, b)
    y = sum(mul(a, b), axis=0)              y = einsum("ij,ij->j", a, b)
    y = sum(mul(a, b), 1, keepdims=True)    y = einsum("ij,ij->i", a, b)[:, None]

This takes a tenth to two thirds of the time.  It is legal in adjoints, and in the program's own statements if neither the value that is
returned nor a condition depends on the sum, for real arrays of one shape and dtype, none of which may be a
number at times, if nothing else reads the product.  The result differs by rounding: `einsum` adds up one by one, so that sums along the
last axis, which NumPy adds pairwise, stay as they are in single precision.  So do sums over axes of few elements (`short_axes.py`).  It is
for the text of NumPy alone.
"""

import operator
from collections.abc import Iterable

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.analysis.numbers_or_arrays import may_be_numbers
from sourcead.analysis.sizes import dims_in, fills, known_dtype
from sourcead.ir.nodes import (
    Atom, Block, Branch, Call, Closure, Const, Function, Index, Loop, Op, Slice, Stmt, Var, operand_atoms
)
from sourcead.ir.walk import bound_vars, calls, definitions, reads_inside, walk, with_op
from sourcead.passes.cleanup.dead_code import remove_dead
from sourcead.passes.cleanup.literal_factors import is_spent
from sourcead.passes.peephole import Facts, peephole

LETTERS = "ijklmn"
FEW = 6  # elements along an axis that are added faster slice by slice


def sum_products_at_once(function: Function) -> Function:
    """Return the function without products that are computed only to be added up."""
    if not calls(function.body, np.sum):
        return function

    numbers, exact = may_be_numbers(function), values_returned(function)

    def rule(stmt: Stmt, facts: Facts) -> list[Stmt] | None:
        match stmt.op:
            case Call(np.sum, (Var() as x,) | (Var() as x, Const()), _) if stmt.targets[0] not in exact and is_spent(x, facts):
                factors, made = () if stmt.within else _factors(facts.op(x)), facts.definitions.get(x)
                if factors and not made.within and all(isinstance(a, Var) and a not in numbers for a in factors):
                    return _summed(stmt, x, *factors)
        return None

    new = peephole(function, rule)
    return function if new is function else remove_dead(new)


def values_returned(function: Function) -> set[Var]:
    """Return what the results that the user's statements compute depend on, and the conditions: it has to stay as it is to the bit."""
    made = definitions(function.body)
    todo = [r for r in function.body.results if isinstance(r, Var) and (r not in made or made[r].adjoint_of is None)]
    for stmt in walk(function.body):
        match stmt.op:
            case Branch(cond) if isinstance(cond, Var):
                todo.append(cond)
            case Loop(domain, leave=leave):
                todo += domain.reads if isinstance(domain, Block) else [v for v in operand_atoms(domain) if isinstance(v, Var)]
                todo += [leave] if leave is not None else []
            case Closure(_, body):
                todo += body.reads
    found: set[Var] = set()
    around = {v: stmt for stmt in walk(function.body) for v in bound_vars(stmt.op)}
    while todo:
        v = todo.pop()
        stmt = made.get(v) or around.get(v)
        if v not in found and stmt is not None:
            found.add(v)
            todo += [a for a in _computed_of(v, stmt) if isinstance(a, Var)]
    return found


def _computed_of(v: Var, stmt: Stmt) -> Iterable[Atom]:
    """Return what a variable that a statement defines or binds depends on, apart from conditions."""
    match stmt.op:
        case Branch(_, then, orelse):
            k = stmt.targets.index(v)
            return then.results[k], orelse.results[k]
        case Loop(domain, index, params, inits, body):
            if v is index:
                return () if isinstance(domain, Block) else operand_atoms(domain)
            k = (stmt.targets if v in stmt.targets else params).index(v)
            return inits[k], body.results[k]
    return reads_inside(stmt.op)


def _factors(op: Op | None) -> tuple[Atom, ...]:
    match op:
        case Call(operator.mul | np.multiply, (a, b), ()):
            return a, b
        case Call(operator.pow, (a, Const(int() as two, live=False)), ()) if two == 2:
            return a, a
    return ()


def _summed(stmt: Stmt, x: Var, a: Var, b: Var) -> list[Stmt] | None:
    """Return the statement that adds up the products of two arrays in one call, or None if that is illegal or no better."""
    options = dict(zip(("axis",), stmt.op.args[1:])) | dict(stmt.op.kwargs)
    dims, dtype = dims_in(x), known_dtype(x)
    axis, keeps = options.pop("axis", Const(None)), options.pop("keepdims", Const(False))
    if options or not dims or len(dims) > len(LETTERS) or not isinstance(axis, Const) or not isinstance(keeps, Const):
        return None
    if dtype not in (np.dtype(np.float64), np.dtype(np.float32)) or dims_in(stmt.targets[0]) and known_dtype(stmt.targets[0]) != dtype:
        return None
    if not all(dims_in(v) and fills(dims_in(v), dims) and known_dtype(v) == dtype for v in (a, b)):
        return None
    given = axis.value if isinstance(axis.value, tuple) else range(len(dims)) if axis.value is None else (axis.value,)
    if not all(type(k) is int and -len(dims) <= k < len(dims) for k in given):
        return None
    gone, last = {k % len(dims) for k in given}, len(dims) - 1
    if len(dims) == 1 and not keeps.value:
        return [with_op(stmt, Call(operator.matmul, (a, b)))]
    if dtype != np.dtype(np.float64) and last in gone or any(isinstance(dims[k], int) and dims[k] < FEW for k in {*gone, last}):
        return None
    letters = LETTERS[: len(dims)]
    kept = "".join(c for k, c in enumerate(letters) if k not in gone)
    call = Call(np.einsum, (Const(f"{letters},{letters}->{kept}"), a, b))
    if not keeps.value:
        return [with_op(stmt, call)]
    if not kept:
        return None
    build = Builder().at(stmt)
    total = build.emit(call, name="total")
    whole, new = Slice(None, None, None), Const(None)
    key = (Const(...), new) if gone == {last} and last > 1 else tuple(new if k in gone else whole for k in range(len(dims)))
    while key[-1] is whole:
        key = key[:-1]
    return [*build.stmts, with_op(stmt, Index(total, key if len(key) > 1 else new))]
