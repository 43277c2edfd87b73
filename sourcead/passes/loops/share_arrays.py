"""What an iteration reads once and then replaces by its result shares the array of the results.

    zs = xs @ w.T                                hs[1:] = xs @ w.T
    for t in range(n):                           for t in range(n):
        hs[t + 1] = np.tanh(zs[t] + hs[t] @ u)       hs[t + 1] = np.tanh(hs[t + 1] + hs[t] @ u)

It saves the memory of an array, and in the reverse sweep that of its cotangent: the one of `hs` at t + 1 makes place for the one of
what stood there before.
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.analysis.sizes import dims_in, known_dtype
from sourcead.ir.nodes import Atom, Block, Call, Const, Function, Index, Loop, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Sym
from sourcead.ir.walk import all_reads, definitions, map_blocks, op_blocks, op_reads
from sourcead.passes.cleanup.loop_indices import Counted, Counting, offset
from sourcead.passes.equality import same_dims


def share_arrays(function: Function, build: Builder, products: set[Var]) -> Function:
    """The function with each of `products`, arrays that a loop takes row by row, put where the loop writes its results.

    `build` knows the function's variables, and learns of the new ones.
    """
    return replace(function, body=Sharing(function, build, products).block(function.body)) if products else function


class Sharing:
    """Lets arrays of one function share memory."""

    def __init__(self, function: Function, builder: Builder, products: set[Var]):
        self.builder, self.products = builder, products
        self.uses = Counter(all_reads(function.body))
        self.made = definitions(function.body)
        self.counting = Counting(self.made)

    def block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            stmt = map_blocks(stmt, self.block)
            if isinstance(stmt.op, Loop):
                stmts += self.loop(stmt, {t for s in stmts for t in s.targets})
            else:
                stmts.append(stmt)
        return Block(tuple(stmts), block.results)

    def loop(self, stmt: Stmt, here: set[Var]) -> list[Stmt]:
        """A loop after what must stand before it, if it can take a product from the array of its results."""
        counted = self.counting.of(stmt.op)
        for k, s in enumerate(stmt.op.body.stmts if counted is not None and counted.first == 0 else ()):
            if (
                isinstance(s.op, Index)
                and s.op.base in self.products & here
                and s.op.key is stmt.op.index
                and self.uses[s.op.base] == 1
            ):
                for j in range(len(stmt.op.params)):
                    written = self.written(stmt.op, j, k, s.op.base, counted)
                    if written is not None and self.is_own(stmt.op.inits[j], here):
                        return self.shared(stmt, j, s, written, counted)
        return [stmt]

    def is_own(self, array: Var, here: set[Var]) -> bool:
        """Whether an array was made in this block and nothing has been put into it but single rows."""
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
        """c, if each iteration sets row i + c of a variant after it has read row i of the product, and reads only rows before.

        Rows 0 to c - 1 are those that were set before the loop.
        """
        param, result = loop.params[j], loop.body.results[j]
        update = next((s for s in loop.body.stmts if result in s.targets), None)
        if (
            update is None
            or not isinstance(update.op, Update)
            or update.op.base is not param
            or update.op.mode != "set"
        ):
            return None
        dims, rows = dims_in(param), dims_in(product)
        if len(update.op.path) != 1 or not isinstance(update.op.path[0], Sub) or dims is None or rows is None:
            return None
        c = offset(update.op.path[0].key, loop.index, self.made)
        fits = same_dims(dims[1:], rows[1:]) and known_dtype(param) == known_dtype(product)
        if c is None or c < 0 or not fits or loop.body.stmts.index(update) < at:
            return None
        for s in loop.body.stmts:
            if any(param in all_reads(b) for b in op_blocks(s.op)):
                return None
            if param not in op_reads(s.op) or s is update:
                continue
            read = offset(s.op.key, loop.index, self.made) if isinstance(s.op, Index) and s.op.base is param else None
            if read is None or not 0 <= read < c:
                return None
        return c if self.uses[result] == 1 else None

    def shared(self, stmt: Stmt, j: int, read: Stmt, c: int, counted: Counted) -> list[Stmt]:
        """The product put into the array, and the loop that takes it from there."""
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
        """Whether an array is known to end with the row that the last iteration writes."""
        if isinstance(dim, Sym):
            return dim.plus == (counted.rows, c) if c else dim is counted.rows
        return isinstance(counted.rows, int) and dim == counted.rows + c

    def end(self, counted: Counted, c: int) -> Atom:
        """The place behind the row that the last iteration writes."""
        return self.builder.call(operator.add, counted.count, Const(c)) if c else counted.count
