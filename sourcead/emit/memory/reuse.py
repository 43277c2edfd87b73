"""Lets results take the memory of arrays that nothing reads any more.

    d_total = d_h * (1 - h * h)        d_h *= 1 - h * h              `into` is the position of `d_h` among the arguments
    d_rows = np.empty_like(rows)       d_rows = rows

This is legal where

    the function made the old array, which fills its memory (a part of a larger array would keep that) and has the shape and dtype of the
    new one,
    no variable that is still to be read, nor another operand, shares its memory, and
    no code outside of the function, such as one that prints or keeps it, has seen it.

It is done where the text does not grow: of arrays that have names, not of those inside expressions, which NumPy writes in place itself.
Only a value that is smaller than the array and waits for its place in a later expression is computed before the array is overwritten.
It follows `in_place_or_copy.py`, whose walk it repeats, and must find every update in place already.
"""

import operator
from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from sourcead.analysis.array_versions import queried
from sourcead.analysis.builder import operand_type
from sourcead.analysis.liveness import Live, Reads
from sourcead.analysis.numbers_as_arrays import numbers_as_arrays
from sourcead.emit.memory.delayed import delayed
from sourcead.emit.memory.in_place_or_copy import MemoryAssignment
from sourcead.emit.memory.memory_regions import FOREIGN
from sourcead.emit.memory.sharing import call_sharing, written_in_place
from sourcead.emit.text.calls_in_place import augments, is_large, shares_name, writer
from sourcead.emit.text.nesting import Nesting
from sourcead.ir.nodes import Atom, Block, Call, Function, Let, Loop, Op, Stmt, Update, Var, fresh
from sourcead.ir.sizes_of_call import not_one
from sourcead.ir.types import Array, Scalar, rank, same_dtype
from sourcead.ir.walk import count_reads, definitions, has_effect, map_atoms, map_op, walk, with_body
from sourcead.passes.cleanup.shape_queries import put_to
from sourcead.primitives.table import record_of

MAKERS = {operator.matmul, np.matmul, np.einsum, np.tensordot, np.dot}  # of new arrays by much work, not element by element
SMALLEST = 256  # arrays that are known to have fewer elements stay as they are: the call costs more than their memory


def reuse_memory(function: Function) -> Function:
    """Return the function with results in the memory of arrays that nothing reads any more; its updates are in place already."""
    if not any(_may_take_memory(stmt) for stmt in walk(function.body)):
        return function
    reuse = _Reuse(function)
    result = reuse.function(function, own_results=True)
    if reuse.copied_again or not (reuse.reused or reuse.taken_over):
        return function
    return with_body(result, map_atoms(result.body, lambda a: reuse.taken_over.get(a, a), lambda v: reuse.taken_over.get(v, v)))


def _may_take_memory(stmt: Stmt) -> bool:
    """Return whether the result of a statement is an array for which memory can be given."""
    match stmt:
        case Stmt((target,), Call(fn, args, kwargs)) if isinstance(target.type, Array) and target.type.dims and not kwargs:
            dtype, dims = target.type.dtype, target.type.dims
            if dtype is None or dtype.kind not in "fc" or all(isinstance(n, int) for n in dims) and prod(dims) < SMALLEST:
                return False
            return fn is np.empty_like or writer(stmt.op) is not None and record_of(fn).is_elementwise(len(args))
    return False


class _Reuse(MemoryAssignment):
    """The walk that decides which results take the memory of old arrays.

    Attributes:
        numbers: the variables that may be numbers although their types are those of arrays.
        nested: the values that are printed inside of expressions.
        current: for arrays whose memory and name were taken, the results that have them, and their new versions.
        here: the variables that the current block defines.
        groups: which variables may share memory.
        waiting: for each such group, the nested values of the current block that read it, with the positions of their definition and
            of their last reader.
        ordered: the blocks with their statements in another order.
        stmts: the statements of the current block.
        last: the position of the last statement of the block that reads each variable.
        taken_over: the variables whose names others have, with new variables for them.
        given: the names of the user's variables.
        in_loop: whether the current block is inside of a loop.
        renamed: the values that were taken out of the statements which they stood in, with new variables for them.
        at: the position of the current statement in its block.
        reused: whether any memory was taken.
        copied_again: whether the walk found that an update needs a copy.
    """

    def __init__(self, function: Function):
        super().__init__(Reads(), set(), last_attempt=True)
        nesting = Nesting(function)
        self.numbers = numbers_as_arrays(function)
        self.nested, self.groups = nesting.result, nesting.groups
        self.counts = count_reads(function.body)
        self.params = {s.op.body: s.op.params for s in walk(function.body) if isinstance(s.op, Loop)}
        self.current: dict[Var, Var] = {}
        self.here: set[Var] = set()
        self.waiting: dict[Var, list[tuple[int, int, Var]]] = {}
        self.positions: dict[Stmt, int] = {}
        self.at = 0
        self.ordered: dict[Block, Block] = {}
        self.stmts: tuple[Stmt, ...] = ()
        self.last: dict[Var, int] = {}
        self.renamed: dict[Var, Var] = {}
        self.in_loop = False
        self.taken_over: dict[Var, Var] = {}
        self.given = {v.name for v in (*function.params, *definitions(function.body)) if not v.temp}
        self.reused = self.copied_again = False

    # ---- the walk ----

    def block(self, block: Block, live_out: Live, yields: list | None = None, own_results: bool = False):
        outer = self.current, self.here, self.waiting, self.positions, self.stmts, self.last, self.in_loop
        self.current, self.here = dict(self.current), {*self.params.get(block, ())}
        loop = block in self.params
        self.in_loop = self.in_loop or loop
        self.stmts, self.last = block.stmts, self.reads.last(block)
        block = self.in_order(block)
        self.positions = {stmt: k for k, stmt in enumerate(block.stmts)}
        self.waiting, self.stmts, self.last = {}, block.stmts, self.reads.last(block)
        for k, stmt in enumerate(block.stmts):
            for t in stmt.targets:
                if t in self.nested:
                    for leaf in self.leaves(stmt.op):
                        self.waiting.setdefault(self.groups.find(leaf), []).append((k, self.last.get(t, k), t))
        stmts, results = super().block(block, live_out, yields, own_results)
        if loop:
            stmts = self.with_variants_last(stmts, results)
        self.current, self.here, self.waiting, self.positions, self.stmts, self.last, self.in_loop = outer
        return stmts, results

    def in_order(self, block: Block) -> Block:
        """Return the block with its statements in the order in which more operands are read for the last time."""
        if block not in self.ordered:
            made = {t for s in block.stmts for t in s.targets if isinstance(s.op, (Call, Update))}

            def candidates(stmt: Stmt) -> list[Var]:
                if not self.names_result(stmt) or stmt.within:
                    return []
                (target,), args = stmt.targets, enumerate(stmt.op.args)
                return [v for k, v in args if v in made and fits(v, target) and shares_name(replace(stmt.op, into=k), target)]

            readers = {} if self.in_loop else {stmt: self.reader(stmt) for stmt in block.stmts}
            inside = {stmt: reader for stmt, reader in readers.items() if reader is not None and self.stands_inside(stmt, reader)}
            stmts = [stmt for stmt in block.stmts if stmt not in inside]
            for stmt, reader in inside.items():
                stmts.insert(stmts.index(reader), replace(stmt, adjoint_of=reader.adjoint_of))
            self.ordered[block] = delayed(Block(tuple(stmts), block.results), candidates, self.nested, self.groups)
        return self.ordered[block]

    def names_result(self, stmt: Stmt) -> bool:
        """Return whether the result of a statement is an array that has a name and for which memory can be given."""
        return _may_take_memory(stmt) and stmt.targets[0] not in self.nested and stmt.targets[0] in self.counts

    def with_variants_last(self, stmts: tuple[Stmt, ...], results: tuple[Atom, ...]) -> tuple[Stmt, ...]:
        """Return the statements of a loop's body with what the next iteration alone reads at its end, where it can take a name over.

            y = f(d_h);  z = g(d_h);  yield y            z = g(d_h);  y = f(d_h);  yield y
        """
        for result in results:
            k = next((k for k, s in enumerate(stmts) if s.targets == (result,)), None)
            if k is None or self.counts[result] > 1 or result in self.nested:
                continue
            moved, after = stmts[k], stmts[k + 1 :]
            if not isinstance(moved.op, Call) or has_effect(moved.op) or moved.op.into is not None:
                continue
            read = {r for v in moved.op.reads for r in self.of(v).all}
            takes_over = set(moved.op.reads).intersection(self.current.values())
            again = any(v in s.op.reads for s in after for v in takes_over)
            if again and not any(s.op.blocks or self.of(written_in_place(s.op)).all & read for s in after):
                stmts = (*stmts[:k], *after, moved)
        return stmts

    def statement(self, stmt: Stmt, live: Live, dying: list[Var], out: list[Stmt]) -> None:
        self.at = self.positions[stmt]
        if not self.renamed.keys().isdisjoint(stmt.op.reads):
            stmt = replace(stmt, op=map_op(stmt.op, lambda a: self.renamed.get(a, a)))
        mine = [self.renamed.get(v, v) for v in dying]
        super().statement(put_to(stmt, self.version), live, mine, out)
        self.kill(*mine)
        self.here.update(stmt.targets)
        self.follow(stmt)

    def follow(self, stmt: Stmt) -> None:
        """Note the new versions of arrays in memory that was taken."""
        match stmt.op:
            case Update(base):
                pairs = [(base, stmt.targets[0])]
            case Loop(_, _, _, inits):
                pairs = list(zip(inits, stmt.targets))
            case _:
                return
        taken = set(self.current.values())
        self.current.update((a, b) for a, b in pairs if a in taken and isinstance(a.type, Array) and a.type == b.type)

    def simple(self, stmt: Stmt, op: Op, dying: list[Var], out: list[Stmt]) -> None:
        self.note_escapes(op)
        self.renamed.pop(stmt.targets[0] if stmt.targets else None, None)
        taken = self.taken(stmt, dying) or self.taken_apart(stmt, dying)
        if taken is None:
            self.take_name(stmt)
            super().simple(stmt, op, dying, out)
            return
        old, new, target = taken
        self.reused = True
        out.append(replace(stmt, op=new, targets=(target,)))
        self.kill(*dying)
        self.bind(target, self.memory[old])
        self.here.add(target)
        if isinstance(new, Call) and shares_name(new, target):
            self.current[old] = target

    def copy(self, *args):
        self.copied_again = True
        return super().copy(*args)

    def version(self, var: Var) -> Var:
        """Return the variable that has the memory of an array now."""
        while var in self.current:
            var = self.current[var]
        return var

    def note_escapes(self, op: Op) -> None:
        """Note that code outside of the function may keep the operands of a call, which are not to be overwritten then."""
        if isinstance(op, Call) and (has_effect(op) or call_sharing(op) == "foreign"):
            for holder in self.sharers(r for v in op.reads for r in self.of(v).all):
                self.memory[holder] = replace(self.memory[holder], whole=False)

    def leaves(self, op: Op) -> set[Var]:
        """Return the variables that are read where an op is printed inside an expression, and the nested ones between."""
        if queried(op) is not None:
            return set()
        found = set(op.reads)
        for v in op.reads:
            if v in self.nested:
                found |= self.leaves(self.nested[v])
        return found

    # ---- decisions ----

    def taken(self, stmt: Stmt, dying: list[Var]) -> tuple[Var, Op, Var] | None:
        """Return the array whose memory the result of a statement takes, the op that takes it, and the result; None if there is none."""
        if not self.names_result(stmt):
            return None
        op, target = stmt.op, stmt.targets[0]
        if op.fn is np.empty_like:
            (old,) = op.args
            free = isinstance(old, Var) and old not in self.nested and self.is_free(old, target, {}) and not self.late(old)
            return (old, Let(old), target) if free else None
        for old, new in self.offers(stmt, dying):
            late = self.late(old)
            if not late or shares_name(new, target) and all(_is_smaller(v, old) for v in late):
                return old, new, target
        return None

    def offers(self, stmt: Stmt, dying: list[Var]) -> Iterator[tuple[Var, Call]]:
        """Yield the operands whose memory the result of an elementwise call may take, each with the call that takes it."""
        op, (target,) = stmt.op, stmt.targets
        if all(isinstance(operand_type(a), (Array, Scalar)) for a in op.args):
            for k, old in enumerate(op.args):
                inside = old in self.nested
                if old in dying and self.is_free(old, target, {old: None}) and (not inside or self.is_broadcast_to(stmt, old)):
                    yield old, replace(op, into=k)

    def is_broadcast_to(self, stmt: Stmt, old: Var) -> bool:
        """Return whether a statement adds something smaller to a new array that stands inside of it, for which NumPy asks for memory.

            y = x @ w + b               y = x @ w;  y += b
        """
        made, op, (target,) = self.nested[old], stmt.op, stmt.targets
        new = isinstance(made, Call) and made.fn in MAKERS and self.counts[old] == 1 and target not in self.nested
        smaller = all(a is old or isinstance(operand_type(a), Array) and not fits(a, target) for a in op.args)
        alone = not self.in_loop and not stmt.within and is_large(target.type) and target not in self.nested
        return new and smaller and alone and augments(replace(op, into=op.args.index(old)))

    def taken_apart(self, stmt: Stmt, dying: list[Var]) -> tuple[Var, Op, Var] | None:
        """Return what `taken` returns for a large value that stands inside another statement, if it is better computed before that.

            d_a -= d_y * exp            exp *= d_y;  d_a -= exp
            d_a = reshape(d_y * exp)    exp *= d_y;  d_a = reshape(exp)
            d_a = c * (y - z)           d_a = np.subtract(y, z, out=y);  d_a *= c
            e = np.exp(y - m)           y -= m;  e = np.exp(y, out=y)
        """
        target, reader = stmt.targets[0] if stmt.targets else None, self.reader(stmt)
        if reader is None or self.in_loop or not self.stands_inside(stmt, reader):
            return None
        keeps_name = isinstance(reader.op, Update) and reader.op.value is target or self.applies(reader, target) or views(reader.op, target)
        if any(v in self.nested and fits(v, target) for v in stmt.op.args):
            return None  # NumPy writes the result of an expression into the memory of that operand
        for old, new in self.offers(stmt, dying):
            if self.late(old) or not keeps_name and not self.goes_on(target, reader):
                continue
            named = fresh(target, name=old.name if keeps_name else reader.targets[0].name)
            if not keeps_name or shares_name(new, named):
                self.renamed[target] = named
                return old, new, named
        return None

    def take_name(self, stmt: Stmt) -> None:
        """Let a cotangent without a name of the user's take that of a cotangent that it is computed from and that nothing reads any more.

            d_total = d_h * (z > 0) + c         d_h = d_h * (z > 0) + c
        """
        target = stmt.targets[0] if stmt.targets else None
        if self.in_loop or not self.is_nameless(target) or target in self.nested or target not in self.counts:
            return
        for old in self.elementwise_leaves(stmt.op):
            dead = old in self.here and self.last.get(old, self.at) <= self.at and not self.late(old)
            if dead and old.name.startswith("d_") and fits(old, target):
                self.taken_over[target] = fresh(target, name=self.taken_over.get(old, old).name)
                return

    def elementwise_leaves(self, op: Op) -> Iterator[Var]:
        """Yield the named variables that an elementwise expression reads."""
        if isinstance(op, Call) and record_of(op.fn).is_elementwise(len(op.args)):
            for v in op.reads:
                yield from self.elementwise_leaves(self.nested[v]) if v in self.nested else (v,)

    def is_nameless(self, v: Var | None) -> bool:
        """Return whether a variable is the cotangent of no variable of the user's."""
        return v is not None and v.temp and v.name.startswith("d_") and v.name.removeprefix("d_") not in self.given and is_large(v.type)

    def reader(self, stmt: Stmt) -> Stmt | None:
        """Return the statement of the same block that reads the nested value of a statement, None if it is not nested or read elsewhere."""
        at = self.last.get(stmt.targets[0]) if stmt.targets and stmt.targets[0] in self.nested else None
        reader = self.stmts[at] if at is not None and at < len(self.stmts) else None
        return reader if reader is not None and stmt.targets[0] in reader.op.reads else None

    def stands_inside(self, stmt: Stmt, reader: Stmt) -> bool:
        """Return whether a large value is an operand of a statement of the reverse sweep, or what a function is applied to."""
        large = _may_take_memory(stmt) and is_large(stmt.targets[0].type) and self.counts[stmt.targets[0]] == 1
        alone = reader.adjoint_of is not None or self.applies(reader, stmt.targets[0])
        return large and not stmt.within and alone and not any(t in self.nested for t in reader.targets)

    def applies(self, reader: Stmt, value: Var) -> bool:
        """Return whether a statement applies a function such as `np.exp` to a value, for whose result NumPy always asks for memory."""
        op = reader.op
        return self.names_result(reader) and isinstance(op.fn, np.ufunc) and op.args == (value,) and fits(value, reader.targets[0])

    def goes_on(self, value: Var, reader: Stmt) -> bool:
        """Return whether the result of a reader can be written into the memory of a value, and of no other operand."""
        if not self.names_result(reader) or not fits(value, reader.targets[0]):
            return False
        others = [a for a in reader.op.args if a is not value and a not in self.nested and fits(a, reader.targets[0])]
        return not others and value in reader.op.args and augments(replace(reader.op, into=reader.op.args.index(value)))

    def is_free(self, old: Var, target: Var, holders: dict[Var, None]) -> bool:
        """Return whether a result may take the memory of an array that only `holders` hold."""
        memory = self.of(old)
        mine = bool(memory.own) and memory.whole and FOREIGN not in memory.all and self.sharers(memory.all) == holders
        return fits(old, target) and mine and old in self.here and old not in self.numbers

    def late(self, old: Var) -> list[Var]:
        """Return the values that read an array, or what may share its memory, and wait for their place in later expressions."""
        return [v for first, last, v in self.waiting.get(self.groups.find(old), ()) if first < self.at < last]


def fits(old: Atom, target: Var) -> bool:
    """Return whether an operand of an elementwise call is an array of the shape and dtype of the result.

    A dim that is not 1 is that of the result, since the operands are broadcast.
    """
    a, b = operand_type(old), target.type
    if not (isinstance(old, Var) and isinstance(a, Array) and same_dtype(a.dtype, b.dtype) and rank(a) == rank(b) is not None):
        return False
    return all(m is n or m == n or not_one(m) for m, n in zip(a.dims, b.dims))


def views(op: Op, value: Var) -> bool:
    """Return whether an op is the value in another shape or order of axes, which is a view of it if the order of its memory allows that."""
    return isinstance(op, Call) and op.args[:1] == (value,) and op.fn in (np.reshape, np.transpose)


def _is_smaller(v: Var, array: Var) -> bool:
    axes = rank(v.type)
    return axes is not None and axes < rank(array.type)
