"""Turns products in loops into one product before the loop, and lets it share the memory of the results of the loop.

`hoist_products` takes the products of a matrix with one row of an array in each iteration out of the loop.

    loop for t in range(0, n, 1):            zs = matmul(xs, transpose(w))
        x = xs[t]                            loop for t in range(0, n, 1):
        z = matmul(w, x)                         z = zs[t]

The same holds for batches, `xs[t] @ w` and `xs[:, t] @ w` of an array with three axes.  This is legal if `xs` and `w` do not depend on the
loop and the loop visits every row of `xs`; a product has no effect, so that it may be computed where the loop has no iterations.  It takes
the memory of all products.  The reverse sweep of one product is one product too (`fission.py`).

`share_arrays` puts such a product, of which each iteration reads a row, into the array that the loop writes its results into.

    zs = matmul(xs, w)                               h1 = h0 with [1:] = matmul(xs, w)
    loop (h = h0) for t in range(0, n, 1):           loop (h = h1) for t in range(0, n, 1):
        z = zs[t]                                        z = h[t + 1]
        y = f(z, h[t])                                   y = f(z, h[t])
        h2 = h with [t + 1] = y;  yield h2               h2 = h with [t + 1] = y;  yield h2

It saves the memory of an array, and in the reverse sweep that of its cotangent.  This is legal if nothing else reads the product, the rows
have the same shape and dtype, the loop counts upward, reads row `t` of the product before it sets row `t + c` of the array, and reads only
rows of the array that it, or something before the loop, has set already: `t + k` with 0 <= k < c.  The array must be new, and rows must
have been put into it one by one.
"""

import operator
from collections import Counter
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.analysis.loop_indices import Counted, Counting, axis_of, is_int, offset
from sourcead.analysis.sizes import Size, dims_in, known_dtype, least, rank
from sourcead.ir.nodes import Atom, Block, Call, Const, Function, Index, Loop, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Sym
from sourcead.ir.walk import all_reads, bound_vars, definitions, map_blocks, rewrite
from sourcead.passes.peephole import with_body, with_stmts
from sourcead.runtime.shapes import join_rows, split_rows

PRODUCTS = (operator.matmul, np.matmul, np.dot)


def hoist_products(function: Function, notes: list[str], build: Builder, products: set[Var]) -> Function:
    """Return the function with products in loops computed for all iterations before the loop.

    Add these products to `products` and a line for each loop to `notes`; `build` learns the new variables.
    """
    return with_body(function, ProductHoisting(function, notes, build, products).block(function.body, list(function.params)))


class ProductHoisting:
    """Takes products out of the loops of one function."""

    def __init__(self, function: Function, notes: list[str], builder: Builder, products: set[Var]):
        self.notes, self.builder, self.products = notes, builder, products
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
                self.products.add(found.op.base)
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
        return (x, True) if x in outside and rank(x) == 2 else None

    def all_products(self, array: Var, dims: tuple, axis: int, w: Var, transposed: bool, x_first: bool) -> Var | None:
        """Return the product of an array with `w`, or with its transpose, from which an iteration takes its part along an axis."""
        build, axes = self.builder, rank(w)
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


# ---- sharing of memory ----


def share_arrays(function: Function, build: Builder, products: set[Var]) -> Function:
    """Return the function with the `products` that a loop reads row by row stored in the array of the loop's results.

    `build` knows the function's variables and learns of the new ones.
    """
    return with_body(function, ProductSharing(function, build, products).block(function.body)) if products else function


class ProductSharing:
    """Puts products of one function into the arrays that loops write their results into."""

    def __init__(self, function: Function, builder: Builder, products: set[Var]):
        self.builder, self.products = builder, products
        self.uses = Counter(all_reads(function.body))
        self.made = definitions(function.body)
        self.counting = Counting(self.made)

    def block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            stmt = map_blocks(stmt, self.block)
            stmts += self.loop(stmt, {t for s in stmts for t in s.targets}) if isinstance(stmt.op, Loop) else [stmt]
        return with_stmts(block, stmts)

    def loop(self, stmt: Stmt, here: set[Var]) -> list[Stmt]:
        """Return a loop that reads a product from the array of its results if possible, after the statements that it needs."""
        counted = self.counting.of(stmt.op)
        upward = counted is not None and counted.first == 0 and is_int(stmt.op.domain.step, 1)
        for k, s in enumerate(stmt.op.body.stmts if upward else ()):
            is_row = isinstance(s.op, Index) and s.op.base in self.products & here and s.op.key is stmt.op.index
            if is_row and self.uses[s.op.base] == 1:
                for j in range(len(stmt.op.params)):
                    written = self.written(stmt.op, j, k, s.op.base, counted)
                    if written is not None and self.is_own(stmt.op.inits[j], here):
                        return self.shared(stmt, j, s, written, counted)
        return [stmt]

    def is_own(self, array: Var, here: set[Var]) -> bool:
        """Return whether an array was made in this block and only single rows were put into it."""
        while array in here and self.uses[array] == 1:
            match self.made[array].op:
                case Call(np.empty):
                    return True
                case Update(Var() as base, (Sub(Const()),), _, "set"):
                    array = base
                case _:
                    return False
        return False

    def written(self, loop: Loop, j: int, at: int, product: Var, counted: Counted) -> int | None:
        """Return `c` if each iteration sets row i + c of a variant after row i of the product is read, and reads only rows before it.

        Rows 0 to c - 1 are those that were set before the loop.
        """
        param, result = loop.params[j], loop.body.results[j]
        update = next((s for s in loop.body.stmts if result in s.targets), None)
        if update is None or not isinstance(update.op, Update) or update.op.base is not param or update.op.mode != "set":
            return None
        dims, rows = dims_in(param), dims_in(product)
        if len(update.op.path) != 1 or not isinstance(update.op.path[0], Sub) or dims is None or rows is None:
            return None
        c = offset(update.op.path[0].key, loop.index, self.made)
        fits = dims[1:] == rows[1:] and known_dtype(param) == known_dtype(product)
        if c is None or c < 0 or not fits or loop.body.stmts.index(update) < at:
            return None
        for s in loop.body.stmts:
            if any(param in all_reads(b) for b in s.op.blocks):
                return None
            if param not in s.op.reads or s is update:
                continue
            read = offset(s.op.key, loop.index, self.made) if isinstance(s.op, Index) and s.op.base is param else None
            if read is None or not 0 <= read < c:
                return None
        return c if self.uses[result] == 1 else None

    def shared(self, stmt: Stmt, j: int, read: Stmt, c: int, counted: Counted) -> list[Stmt]:
        """Return the update that puts the product into the array, and the loop that reads the product from there."""
        loop, build = stmt.op, self.builder
        build.origin, build.within = stmt.origin, stmt.within
        with build.block() as before:
            upper = None if self.ends(dims_in(loop.inits[j])[0], counted, c) else self.end(counted, c)
            part = Slice(Const(c) if c else None, upper, None)
            init = build.update(loop.inits[j], (Sub(part),), read.op.base)
        with build.block() as inside:
            key = build.call(operator.add, loop.index, Const(c)) if c else loop.index
        stmts = [
            t
            for s in loop.body.stmts
            for t in ([*inside, replace(read, op=Index(loop.params[j], key))] if s is read else [s])
        ]
        inits = (*loop.inits[:j], init, *loop.inits[j + 1 :])
        return [*before, replace(stmt, op=replace(loop, inits=inits, body=Block(tuple(stmts), loop.body.results)))]

    def ends(self, dim: int | Sym, counted: Counted, c: int) -> bool:
        """Return whether an array is known to end with the row that the last iteration writes."""
        if isinstance(dim, Sym):
            return dim.plus == (counted.rows, c) if c else dim is counted.rows
        return isinstance(counted.rows, int) and dim == counted.rows + c

    def end(self, counted: Counted, c: int) -> Atom:
        """Return the index behind the row that the last iteration writes."""
        return self.builder.call(operator.add, counted.count, Const(c)) if c else counted.count
