"""Puts a product, of which each iteration reads a row, into the array that the loop writes its results into.

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

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.analysis.loop_indices import Counted, Counting, is_int, offset
from sourcead.analysis.sizes import dims_in, known_dtype
from sourcead.ir.nodes import Atom, Block, Call, Const, Function, Index, Loop, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Sym
from sourcead.ir.walk import all_reads, definitions, map_blocks
from sourcead.passes.equality import same_dims
from sourcead.passes.peephole import with_body, with_stmts


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
        fits = same_dims(dims[1:], rows[1:]) and known_dtype(param) == known_dtype(product)
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
