"""Turns products in loops into one product before the loop.

It takes the products of a matrix with one row of an array in each iteration out of the loop.

    loop for t in range(0, n, 1):            zs = matmul(xs, transpose(w))
        x = xs[t]                            loop for t in range(0, n, 1):
        z = matmul(w, x)                         z = zs[t]

The same holds for batches, `xs[t] @ w` and `xs[:, t] @ w` of an array with three axes.  This is legal if `xs` and `w` do not depend on the
loop and the loop visits every row of `xs`; a product has no effect, so that it may be computed where the loop has no iterations.  It takes
the memory of all products.  The reverse sweep of one product is one product too (`fission.py`).
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.analysis.loop_indices import Counting, axis_of
from sourcead.analysis.sizes import Size, dims_in, least
from sourcead.ir.nodes import Atom, Block, Call, Const, Function, Index, Loop, Stmt, Var
from sourcead.ir.types import rank
from sourcead.ir.walk import bound_vars, definitions, has, map_blocks, rewrite, with_body, with_stmts
from sourcead.runtime.shapes import join_rows, split_rows

PRODUCTS = (operator.matmul, np.matmul, np.dot)


def hoist_products(function: Function, notes: list[str], build: Builder) -> Function:
    """Return the function with products in loops computed for all iterations before the loop.

    Add a line for each loop to `notes`; `build` learns the new variables.
    """
    if not has(function.body, Loop):
        return function
    return with_body(function, ProductHoisting(function, notes, build).block(function.body, list(function.params)))


class ProductHoisting:
    """Takes products out of the loops of one function."""

    def __init__(self, function: Function, notes: list[str], builder: Builder):
        self.notes, self.builder = notes, builder
        self.counting = Counting(definitions(function.body))

    def block(self, block: Block, scope: list[Var]) -> Block:
        """Return the block with products taken out of its loops; `scope` holds the variables that are defined around it."""
        stmts, before = [], list(scope)
        for stmt in block.stmts:
            around = [*before, *bound_vars(stmt.op)]
            stmt = map_blocks(stmt, lambda b, around=around: self.block(b, around))
            stmts += self.loop(stmt, before) if isinstance(stmt.op, Loop) else [stmt]
            before += stmt.targets
        return with_stmts(block, stmts)

    def loop(self, stmt: Stmt, scope: list[Var]) -> list[Stmt]:
        """Return the products that are taken out of a loop, followed by the loop."""
        loop: Loop = stmt.op
        counted = self.counting.of(loop)
        if counted is None or counted.first != 0:
            return [stmt]
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
                s = found
            body.append(s)
        if not hoisted:
            return [stmt]
        self.notes.append(f"products of all iterations before the loop: {', '.join(names)}")
        return [*hoisted, replace(stmt, op=replace(loop, body=Block(tuple(body), loop.body.results)))]

    def product(self, stmt: Stmt, index: Var, rows, here: dict[Var, Stmt], outside: set[Var]) -> Stmt | None:
        """Return the statement that reads a row of the hoisted product in place of a product, or None if it cannot be hoisted."""
        left, right = stmt.op.args
        for x, w, x_first in ((left, right, True), (right, left, False)):
            read = here[x].op if x in here else None
            if not isinstance(read, Index) or read.base not in outside:
                continue
            dims, axis = dims_in(read.base), axis_of(read.key, index)
            if dims is None or axis is None or len(dims) <= axis or dims[axis] != rows:
                continue
            matrix = self.invariant(w, here, outside)
            all_ = None if matrix is None else self.all_products(read.base, dims, axis, *matrix, x_first)
            if all_ is not None:
                return replace(stmt, op=Index(all_, index if len(dims_in(all_)) == 1 else read.key))
        return None

    def invariant(self, atom: Atom, here: dict[Var, Stmt], outside: set[Var]) -> tuple[Var, bool] | None:
        """Return the value from outside the loop that an atom is or transposes, and whether it transposes it, or None for other atoms."""
        if atom in outside:
            return atom, False
        x = self.counting.transposed(atom) if atom in here else None
        return (x, True) if x in outside and rank(x.type) == 2 else None

    def all_products(self, array: Var, dims: tuple, axis: int, w: Var, transposed: bool, x_first: bool) -> Var | None:
        """Return the product of an array with `w`, or with its transpose, from which an iteration takes its part along an axis."""
        build, axes = self.builder, rank(w.type)
        name = f"{array.name}_{(self.counting.transposed(w) or w).name}"

        def matrix(transposed: bool) -> Var:
            return build.call(np.transpose, w) if transposed and axes == 2 else w

        if len(dims) == 2 and axis == 0 and axes in (1, 2):
            return build.call(operator.matmul, array, matrix(transposed if x_first else not transposed), name=name)
        if len(dims) == 2 and axis == 1 and axes in (1, 2):
            return build.call(operator.matmul, matrix(not transposed if x_first else transposed), array, name=name)
        if len(dims) == 3 and axes == 2 and x_first and not array.type.scattered and all(least(n) > 0 for n in dims):
            rows = build.call(operator.matmul, build.call(join_rows, array, name="rows"), matrix(transposed))
            return build.call(split_rows, rows, array, name=name)
        return None


def expand_row_reshapes(function: Function) -> Function:
    """Return the function with `np.reshape` in place of `join_rows` and `split_rows`, whose adjoints need no values.

    y = join_rows(x);  z = split_rows(y, x)        y = reshape(x, (-1, d));  z = reshape(y, (m, n, d))        x: (m, n, d)

    This is always legal, because it is how the helpers are defined.
    """

    def change(stmt: Stmt) -> list[Stmt]:
        if not (isinstance(stmt.op, Call) and stmt.op.fn in (join_rows, split_rows)):
            return [stmt]
        build, x, like = Builder().at(stmt), stmt.op.args[0], stmt.op.args[-1]
        sizes = [Size(like, axis, n) for axis, n in enumerate(dims_in(like)[:-1])]
        leading = [Const(-1)] if stmt.op.fn is join_rows else [size.write(build) for size in sizes]
        shape = (*leading, Size(x, len(dims_in(x)) - 1, dims_in(x)[-1]).write(build))
        return [*build.stmts, replace(stmt, op=Call(np.reshape, (x, shape)))]

    return with_body(function, rewrite(function.body, change))
