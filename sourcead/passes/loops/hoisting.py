"""Products of a matrix with one row of an array in each iteration become one product before the loop.

    for t in range(n):                       zs = xs @ w.T
        z = w @ xs[t]                        for t in range(n):
                                                 z = zs[t]

Also for batches: `xs[t] @ w` and `xs[:, t] @ w` of an array with three axes.  Done where the loop visits every row, in what is then
differentiated in reverse mode, whose sums of products are one product as well (`fission.py`).
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.analysis.sizes import dims_in, least
from sourcead.ir.nodes import Atom, Block, Call, Const, Function, Index, Loop, Stmt, Var
from sourcead.ir.walk import bound_vars, definitions, map_op, op_blocks, walk
from sourcead.passes.cleanup.loop_indices import Counting
from sourcead.passes.residuals.remove_overwritten_zeros import axis_of
from sourcead.runtime.shapes import join_rows, split_rows

PRODUCTS = (operator.matmul, np.matmul, np.dot)


def hoist_products(function: Function, notes: list[str], build: Builder, products: set[Var]) -> Function:
    """The function with products of all iterations before the loop.

    Adds these products to `products` and a line for each loop to `notes`; `build` learns of the new variables.
    """
    hoisting = Hoisting(function, notes, build, products)
    body = hoisting.block(function.body, list(function.params))
    return replace(function, body=body) if products else function


class Hoisting:
    """Takes products out of the loops of one function."""

    def __init__(self, function: Function, notes: list[str], builder: Builder, products: set[Var]):
        self.notes, self.builder, self.products = notes, builder, products
        self.counting = Counting(definitions(function.body))

    def block(self, block: Block, scope: list[Var]) -> Block:
        """The block with products taken out of its loops; `scope`: what is defined around it."""
        stmts, before = [], list(scope)
        for stmt in block.stmts:
            if op_blocks(stmt.op):
                around = [*before, *bound_vars(stmt.op)]
                stmt = replace(stmt, op=map_op(stmt.op, lambda a: a, lambda b, around=around: self.block(b, around)))
            if isinstance(stmt.op, Loop):
                hoisted, stmt = self.loop(stmt, before)
                stmts += hoisted
            stmts.append(stmt)
            before += stmt.targets
        return Block(tuple(stmts), block.results)

    def loop(self, stmt: Stmt, scope: list[Var]) -> tuple[list[Stmt], Stmt]:
        """What stands before a loop now, and the loop."""
        loop: Loop = stmt.op
        counted = self.counting.of(loop)
        if counted is None or counted.first != 0:
            return [], stmt
        outside = set(scope)
        here = {t: s for s in loop.body.stmts for t in s.targets}
        hoisted, body, names = [], [], []
        for s in loop.body.stmts:
            found = None
            if isinstance(s.op, Call) and s.op.fn in PRODUCTS and len(s.op.args) == 2 and not s.op.kwargs:
                with self.builder.block() as made:
                    self.builder.origin, self.builder.within = s.origin, s.within
                    found = self.product(s, loop.index, counted.rows, here, outside)
            if found is not None:
                hoisted += made
                names.append(found.op.base.name)
                self.products.add(found.op.base)
                s = found
            body.append(s)
        if not hoisted:
            return [], stmt
        self.notes.append(f"products of all iterations before the loop: {', '.join(names)}")
        return hoisted, replace(stmt, op=replace(loop, body=Block(tuple(body), loop.body.results)))

    def product(self, stmt: Stmt, index: Var, rows, here: dict[Var, Stmt], outside: set[Var]) -> Stmt | None:
        """The statement that reads its row of the product of all; None if there is no such."""
        left, right = stmt.op.args
        for x, w, x_first in ((left, right, True), (right, left, False)):
            read = here[x].op if x in here else None
            if not isinstance(read, Index) or read.base not in outside:
                continue
            dims, axis = dims_in(read.base), axis_of(read.key, index)
            if dims is None or axis is None or len(dims) <= axis or dims[axis] is not rows and dims[axis] != rows:
                continue
            matrix = self.invariant(w, here, outside)
            all_ = None if matrix is None else self.all_products(read.base, dims, axis, *matrix, x_first)
            if all_ is not None:
                return replace(stmt, op=Index(all_, index if len(dims_in(all_)) == 1 else read.key))
        return None

    def invariant(self, atom: Atom, here: dict[Var, Stmt], outside: set[Var]) -> tuple[Var, bool] | None:
        """A value from outside the loop, and whether the atom is its transpose."""
        if atom in outside:
            return atom, False
        match here[atom].op if atom in here else None:
            case Call(np.transpose, (Var() as a,), ()) if (
                a in outside and dims_in(a) is not None and len(dims_in(a)) == 2
            ):
                return a, True
        return None

    def all_products(self, array: Var, dims: tuple, axis: int, w: Var, transposed: bool, x_first: bool) -> Var | None:
        """The products of all parts of an array along an axis with `w`, or with its transpose."""
        build, rank = self.builder, len(dims_in(w) or ())
        origin = self.counting.op(w)
        matrix_name = origin.args[0].name if isinstance(origin, Call) and origin.fn is np.transpose else w.name
        name = f"{array.name}_{matrix_name}"

        def matrix(transposed: bool) -> Var:
            return build.call(np.transpose, w) if transposed and rank == 2 else w

        if len(dims) == 2 and axis == 0 and rank in (1, 2):
            return build.call(operator.matmul, array, matrix(transposed if x_first else not transposed), name=name)
        if len(dims) == 2 and axis == 1 and rank in (1, 2):
            return build.call(operator.matmul, matrix(not transposed if x_first else transposed), array, name=name)
        if len(dims) == 3 and rank == 2 and x_first and not array.type.scattered and all(least(n) > 0 for n in dims):
            rows = build.call(operator.matmul, build.call(join_rows, array, name="rows"), matrix(transposed))
            return build.call(split_rows, rows, array, name=name)
        return None


def expand_row_reshapes(function: Function) -> Function:
    """The function with `join_rows` and `split_rows`, whose adjoints need no values, written as `np.reshape`."""
    if not any(isinstance(s.op, Call) and s.op.fn in (join_rows, split_rows) for s in walk(function.body)):
        return function
    build = Builder()

    def visit(block: Block) -> Block:
        with build.block() as stmts:
            for stmt in block.stmts:
                op = map_op(stmt.op, lambda a: a, visit) if op_blocks(stmt.op) else stmt.op
                build.origin, build.adjoint_of, build.within = stmt.origin, stmt.adjoint_of, stmt.within
                if isinstance(op, Call) and op.fn is join_rows:
                    op = Call(np.reshape, (op.args[0], (Const(-1), size_along(build, op.args[0], -1))))
                elif isinstance(op, Call) and op.fn is split_rows:
                    rows, like = op.args
                    leading = [size_along(build, like, axis) for axis in range(len(dims_in(like)) - 1)]
                    op = Call(np.reshape, (rows, (*leading, size_along(build, rows, -1))))
                build.stmts.append(stmt if op is stmt.op else replace(stmt, op=op))
        return Block(tuple(stmts), block.results)

    return replace(function, body=visit(function.body))


def size_along(build: Builder, array: Atom, axis: int) -> Atom:
    """The size of an array along an axis."""
    dim = dims_in(array)[axis]
    return (
        Const(dim)
        if isinstance(dim, int)
        else build.index(build.attr(array, "shape"), Const(axis % len(dims_in(array))))
    )
