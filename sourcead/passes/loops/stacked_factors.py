"""One loop of the reverse sweep whose sums of products are taken out of it: the stacks of their factors, and the sums (`fission.py`)."""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.loop_indices import Counted, Counting, axis_of, is_int, offset, same_count
from sourcead.analysis.sizes import Sizes, dims_in, dtype_option, known_dtype, least, rank
from sourcead.ir.nodes import (
    Append, Atom, Block, Build, Call, Const, Function, Index, Loop, Pop, Range, Slice, Stmt, Sub, Update, Var, fresh
)
from sourcead.ir.types import INT, Array, Sym
from sourcead.ir.walk import all_reads, definitions
from sourcead.passes.equality import same_dim


@dataclass(eq=False)
class Term:
    """One sum of a loop: the update that adds to it, and the factors whose product, or the one factor whose sum, it adds."""

    update: Stmt
    variant: int
    factors: tuple[Var, ...]
    axis: int = 0  # of the factors, that over which the product sums


@dataclass(eq=False)
class Size:
    """How large a dim is: the size of `var` along `axis`, or a number."""

    var: Var | None
    axis: int
    dim: int | Sym

    def write(self, build: Builder) -> Atom:
        if isinstance(self.dim, int):
            return Const(self.dim)
        return build.index(build.attr(self.var, "shape"), Const(self.axis))


class Known:
    """What is known of the function whose loops are split."""

    def __init__(self, function: Function, notes: list[str]):
        self.notes, self.done = notes, False
        self.uses = Counter(all_reads(function.body))
        self.made = definitions(function.body)
        self.counting = Counting(self.made)


@dataclass(eq=False)
class Held:
    """An array that holds the values of a factor: along an axis, that of iteration i at place i + offset."""

    array: Var
    axis: int
    offset: int


class OneLoop:
    """Splits one loop of a block."""

    def __init__(self, known: Known, stmt: Stmt, counted: Counted, stmts: list[Stmt], at: int, scope: list[Var]):
        self.known, self.stmt, self.counted, self.stmts, self.at, self.scope = (
            known,
            stmt,
            counted,
            list(stmts),
            at,
            scope,
        )
        self.before = self.builder()
        self.loop: Loop = self.backward(stmt.op)
        self.here = {t: s for s in self.loop.body.stmts for t in s.targets}
        self.index = self.loop.index
        self.axis = 0  # of the stacks of batches, that along which the iterations lie
        self.gone: set[Var] = set()  # loop variants that it loses
        self.variants: list[
            tuple[Var, Atom, Atom, Var]
        ] = []  # those that it gets: variant, value on entry, yielded, after the loop
        self.behind: dict[Stmt | None, list[Stmt]] = {}  # statements of the body, by the one that they stand behind
        self.instead: dict[Stmt, Stmt | None] = {}
        self.yields: dict[
            int, Var
        ] = {}  # by loop variant: what the body yields for it now, and what holds it after the loop
        self.leaves: dict[int, Var] = {}
        self.after = self.builder()

    def backward(self, loop: Loop) -> Loop:
        """The loop with an index that counts down, as the forward sweep is walked, if it has one that is not read."""
        if self.known.uses[loop.index] or is_int(loop.domain.step, -1):
            return loop
        last = self.before.call(operator.sub, self.count(self.before), Const(1))
        domain = Range(last, Const(self.counted.first - 1), Const(-1))
        return replace(loop, domain=domain, index=counting(loop.index))

    def builder(self) -> Builder:
        build = Builder()
        build.origin, build.adjoint_of = self.stmt.origin, self.stmt.adjoint_of
        return build

    def split(self, terms: list[Term]) -> list[Stmt]:
        """The statements of the block, the terms summed after the loop as far as shapes allow."""
        shapes = {v: self.factor_shape(v, t) for t in terms if len(t.factors) == 2 for v in t.factors}
        terms = [t for t in terms if all(shapes.get(v) for v in t.factors)]
        products = [t for t in terms if len(t.factors) == 2]
        stacked = dict.fromkeys(v for t in products for v in t.factors)
        terms = [t for t in terms if all(v in stacked for v in t.factors)]
        if not products:
            return self.stmts
        found = {v: self.in_array(v) for v in stacked}
        batches = all(rank(v) == 2 for v in stacked)
        self.axis = 1 if batches and any(f and f.axis for f in found.values()) or any(t.axis for t in terms) else 0
        stacks = {v: self.array(v, found[v]) if found[v] else self.stack(v, shapes[v]) for v in stacked}
        self.sum_up(terms, stacks, shapes)
        self.known.done = True
        names = ", ".join(dict.fromkeys(t.update.targets[0].name for t in products))
        self.known.notes.append(f"sums of products after the loop: {names}")
        return self.written()

    def written(self) -> list[Stmt]:
        """The statements of the block with the loop as it is now."""
        loop = self.loop
        stmts = list(self.behind.get(None, ()))
        for s in loop.body.stmts:
            new = self.instead.get(s, s)
            stmts += [*([] if new is None else [new]), *self.behind.get(s, ())]
        variants = [
            (p, loop.inits[k], self.yields.get(k, loop.body.results[k]), self.leaves.get(k, self.stmt.targets[k]))
            for k, p in enumerate(loop.params)
            if p not in self.gone
        ]
        params, inits, results, targets = zip(*variants, *self.variants) if variants or self.variants else ((),) * 4
        new = replace(loop, params=params, inits=inits, body=Block(tuple(stmts), results))
        at = self.stmts.index(self.stmt)
        new = replace(self.stmt, targets=targets, op=new)
        return [*self.stmts[:at], *self.before.stmts, new, *self.after.stmts, *self.stmts[at + 1 :]]

    # -- shapes ----------------------------------------------------------------------------------------------------------

    def factor_shape(self, v: Var, term: Term) -> tuple[Size, ...] | None:
        """How large a factor is along each axis, in terms of what is in scope; None if that may differ between iterations.

        A factor of a product that is added to an array without being broadcast is as long as an axis of that array.  Along the
        other axis of a batch, over which the product sums, both factors are equally long.
        """
        if known_dtype(v) is None or v not in self.here and v not in self.loop.params:
            return None
        held = self.in_array(v)
        if held is not None and rank(v) == 2 and held.array.type.scattered:
            return None
        sum_, k = self.loop.inits[term.variant], term.factors.index(v)
        like = self.known.counting.op(sum_)
        if isinstance(like, Call) and like.fn is np.zeros_like and isinstance(like.args[0], Var):
            sum_ = like.args[0]
        sizes = Sizes(self.scope)
        dim = dims_in(sum_)[k]
        kept = Size(*sizes.where_is(dim), dim) if sizes.knows(dim) else Size(sum_, k, dim)
        if rank(v) == 1:
            return (kept,)
        for dim in (dims_in(factor)[term.axis] for factor in term.factors):
            if sizes.knows(dim):
                batch = Size(*sizes.where.get(dim, (None, 0)), dim)
                return (kept, batch) if term.axis else (batch, kept)
        return None

    def in_array(self, v: Var) -> Held | None:
        """An array that holds the values of a factor in the end: each iteration reads its part, or writes it for good."""
        match self.here[v].op if v in self.here else None:
            case Index(Var() as array, key) if array in self.scope and rank(array) == rank(v) + 1:
                return self.held(array, key)
        for stmt in self.loop.body.stmts:
            match stmt.op:
                case Update(Var() as base, (Sub(key),), value, "set") if value is v and rank(base) == rank(v) + 1:
                    for k, version in enumerate(self.loop.body.results):
                        if known_dtype(base) == known_dtype(v) and self.stays(stmt, self.chain(k, version)):
                            held = self.held(self.stmt.targets[k], key)
                            return held if held is not None and fills(v, base, held.axis) else None
        return None

    def held(self, array: Var, key) -> Held | None:
        """Where an array has the part that a subscript takes, if it moves on by one in each iteration."""
        at = offset(key, self.index, self.known.made)
        if at is not None:
            return Held(array, 0, at) if at + self.counted.first >= 0 else None
        return Held(array, 1, 0) if axis_of(key, self.index) == 1 else None

    def chain(self, k: int, version: Atom) -> list[Stmt]:
        """The updates that make what the body yields for a loop variant, in order; none if it is made in another way."""
        found = []
        while version in self.here and isinstance(self.here[version].op, Update):
            found.append(self.here[version])
            version = self.here[version].op.base
        return found[::-1] if version is self.loop.params[k] else []

    def stays(self, stmt: Stmt, chain: list[Stmt]) -> bool:
        """Whether what an update sets is never changed again by the others of its array."""
        if stmt not in chain:
            return False
        keys = [s.op.path[0].key if len(s.op.path) == 1 and isinstance(s.op.path[0], Sub) else None for s in chain]
        own = keys[chain.index(stmt)]
        if len(chain) == 1:
            return True
        at = offset(own, self.index, self.known.made)
        others = [offset(key[0] if isinstance(key, tuple) else key, self.index, self.known.made) for key in keys]
        if at is None or None in others or min(others) + self.counted.first < 0:
            return False
        down = is_int(self.loop.domain.step, -1)
        return all(
            s is stmt or (other < at if down else other > at) or (other == at and k < chain.index(stmt))
            for k, (s, other) in enumerate(zip(chain, others))
        )

    def array(self, v: Var, held: Held) -> Var:
        """An array with the values of a factor along an axis, as a stack."""
        array, axis = held.array, self.axis_of(v)
        dim = dims_in(array)[held.axis]
        if held.axis != axis:
            array = self.after.call(np.swapaxes, array, Const(0), Const(1))
        first, rows = held.offset + self.counted.first, self.counted.rows
        if held.offset == 0 == first and same_dim(dim, rows):
            return array
        upper = self.counted.count
        size = self.counted.is_size(self.known.counting)
        if not size or held.offset < 0 and not self.counted.begins():
            upper = self.after.call(max, upper, Const(self.counted.first), type=INT)  # not from the end
        if held.offset and isinstance(dim, Sym) and dim.plus == (rows, held.offset):
            upper = None
        elif held.offset:
            upper = self.after.call(operator.add, upper, Const(held.offset))
        part = self.key(v, Slice(Const(first) if first else None, upper, None))
        return self.after.index(array, part, name=f"{array.name}_part")

    def axis_of(self, v: Var) -> int:
        """The axis of a factor's stack along which the iterations lie."""
        return self.axis if rank(v) == 2 else 0

    def key(self, v: Var, at: Atom | Slice):
        """The subscript of a part of a factor's stack."""
        return (Slice(None, None, None), at) if self.axis_of(v) else at

    def stack(self, v: Var, shape: tuple[Size, ...]) -> Var:
        """A new array of the values of a factor in all iterations."""
        return self.saved(v, shape) or self.put_away(v, shape)

    def put_away(self, v: Var, shape: tuple[Size, ...]) -> Var:
        """An array that each iteration writes the factor into."""
        stack = self.empty(v, shape, self.before)
        param, target = fresh(stack), fresh(stack)
        build = self.builder()
        if v in self.here:
            build.origin, build.adjoint_of = self.here[v].origin, self.here[v].adjoint_of
        new = build.update(param, (Sub(self.key(v, self.row(self.index, build))),), v)
        self.behind.setdefault(self.here.get(v), []).extend(build.stmts)
        self.variants.append((param, stack, new, target))
        return target

    def row(self, index: Var, build: Builder) -> Atom:
        """The row of a stack that belongs to an iteration."""
        return index if self.counted.first == 0 else build.call(operator.sub, index, Const(self.counted.first))

    def count(self, build: Builder) -> Atom:
        """The number of rows, asked again rather than given a name if it is that of an array."""
        match self.known.counting.op(self.counted.count):
            case Call(fn, (x,), ()) if fn is len and x in self.scope:
                return build.call(len, x)
        return self.counted.count

    def empty(self, v: Var, shape: tuple[Size, ...], build: Builder) -> Var:
        """A new array for the values of `v` in all iterations."""
        rows = self.count(build)
        if self.counted.first:
            rows = build.call(operator.sub, rows, Const(self.counted.first))
        if not (self.counted.is_size(self.known.counting) and self.counted.begins()):
            rows = build.call(max, rows, Const(0), type=INT)
        sizes = [size.write(build) for size in shape]
        sizes.insert(self.axis_of(v), rows)
        dims = [size.dim for size in shape]
        dims.insert(self.axis_of(v), self.counted.rows if self.counted.first == 0 else Sym(0))
        dtype = known_dtype(v)
        return build.call(
            np.empty, tuple(sizes), name=f"{v.name}s", type=Array(dtype, tuple(dims)), **dtype_option(dtype)
        )

    # -- what the forward sweep saved --------------------------------------------------------------------------------------

    def saved(self, v: Var, shape: tuple[Size, ...]) -> Var | None:
        """An array in place of the list from which each iteration takes the factor."""
        pop = self.here.get(v)
        if pop is None or not isinstance(pop.op, Pop) or not is_int(self.loop.domain.step, -1):
            return None
        if pop.op.path or pop.op.at is not None or pop.op.base not in self.loop.params:
            return None
        k, uses = self.loop.params.index(pop.op.base), self.known.uses
        rest, init = pop.targets[0], self.loop.inits[k]
        if (
            self.loop.body.results[k] is not rest
            or uses[rest] != 1
            or uses[pop.op.base] != 1
            or uses[self.stmt.targets[k]]
        ):
            return None
        made = next((s for s in self.stmts[: self.at] if init in s.targets), None)
        filled = None if made is None or uses[init] != 1 else self.filling(made, made.targets.index(init))
        if filled is None:
            return None
        build, append = filled
        at = self.stmts.index(build)
        scope = {*self.scope} - {t for s in self.stmts[at:] for t in s.targets}
        if not all(size.var is None or size.var in scope for size in shape):
            return None
        if isinstance(self.counted.count, Var) and self.counted.count not in scope:
            return None
        maker = Builder()
        maker.origin = build.origin
        stack = self.empty(v, shape, maker)
        loop, j = made.op, made.targets.index(init)
        if not uses[loop.index]:
            loop = replace(loop, index=counting(loop.index))
        param, new, result = fresh(stack), fresh(stack), fresh(stack)
        writer = self.builder()
        row = self.row(loop.index, writer)
        update = Update(param, (Sub(self.key(v, row)),), append.op.value)
        body = []
        for s in loop.body.stmts:
            body += [*writer.stmts, replace(s, targets=(new,), op=update)] if s is append else [s]
        loop = replace(
            loop,
            params=put(loop.params, j, param),
            inits=put(loop.inits, j, stack),
            body=Block(tuple(body), put(loop.body.results, j, new)),
        )
        forward = replace(made, targets=put(made.targets, j, result), op=loop)
        self.stmts = [t for s in self.stmts for t in (maker.stmts if s is build else [forward] if s is made else [s])]
        reader = self.builder()
        row = self.row(self.index, reader)
        self.instead[pop] = replace(pop, targets=(v,), op=Index(result, self.key(v, row)))
        self.behind.setdefault(None, []).extend(reader.stmts)
        self.gone.add(pop.op.base)
        return result

    def filling(self, made: Stmt, j: int) -> tuple[Stmt, Stmt] | None:
        """The statements that make and fill a list, if each iteration of a loop over the same indices puts one value on it."""
        loop, uses = made.op, self.known.uses
        if not isinstance(loop, Loop) or not isinstance(loop.domain, Range):
            return None
        counted = self.known.counting.of(loop)
        if counted is None or counted.first != self.counted.first or not same_count(counted.count, self.counted.count):
            return None
        if not is_int(loop.domain.step, 1):
            return None
        build = next((s for s in self.stmts if loop.inits[j] in s.targets), None)
        append = next((s for s in loop.body.stmts if loop.body.results[j] in s.targets), None)
        if (
            build is None
            or append is None
            or not isinstance(build.op, Build)
            or not build.op.residual
            or build.op.items
        ):
            return None
        match append.op:
            case Append(base, Var() as value, (), None) if (
                base is loop.params[j] and uses[base] == 1 and uses[append.targets[0]] == 1
            ):
                fits = known_dtype(value) is not None and uses[build.targets[0]] == 1
                return (build, append) if fits else None
        return None

    # -- sums ----------------------------------------------------------------------------------------------------------

    def sum_up(self, terms: list[Term], stacks: dict[Var, Var], shapes: dict[Var, tuple[Size, ...]]) -> None:
        """Takes the terms out of the loop and puts their sums behind it."""
        build, flat = self.after, {}

        def joined(v: Var, axis: int) -> Var:
            """The stack with iterations and batch as one axis, over which the product sums."""
            if rank(v) == 1:
                return stacks[v]
            if (v, axis) not in flat:
                kept = shapes[v][1 - axis].write(build)
                shape = (kept, Const(-1)) if axis else (Const(-1), kept)
                flat[v, axis] = build.call(np.reshape, stacks[v], shape, name=stacks[v].name)
            return flat[v, axis]

        for k in dict.fromkeys(t.variant for t in terms):
            mine = [t for t in terms if t.variant == k]
            target = self.stmt.targets[k]
            current = self.without(k, mine)
            for t in mine:
                factors = [joined(v, t.axis) for v in t.factors]
                if len(factors) == 2:
                    transposed = build.call(np.transpose, factors[t.axis])
                    op = Call(operator.matmul, (factors[0], transposed) if t.axis else (transposed, factors[1]))
                else:
                    op = Call(np.sum, tuple(factors), (("axis", Const(t.axis)),))
                first = t is mine[0] and current in self.loop.inits
                value = build.emit(op, atom_type(current), target.name if first else "product", temp=not first)
                new = target if t is mine[-1] else fresh(target)
                build.add(replace(t.update, targets=(new,), op=Update(current, (), value, "add")))
                current = new

    def without(self, k: int, terms: list[Term]) -> Atom:
        """Takes the updates of a sum out of the loop; returns what the loop leaves of it."""
        updates = {t.update for t in terms}
        version, chain = self.loop.body.results[k], []
        while version is not self.loop.params[k]:
            chain.append(self.here[version])
            version = self.here[version].op.base
        for update in updates:
            self.instead[update] = None
        if updates == set(chain):
            self.gone.add(self.loop.params[k])
            return self.loop.inits[k]
        for update in reversed(chain):  # in order of the body
            if update not in updates:
                self.instead[update] = replace(update, op=replace(update.op, base=version))
                version = update.targets[0]
        self.yields[k], self.leaves[k] = version, fresh(self.stmt.targets[k])
        return self.leaves[k]


def fills(v: Var, array: Var, axis: int) -> bool:
    """Whether a value is as large as the part of an array along an axis that it is written to, not broadcast."""
    dims = dims_in(array)
    part = (*dims[:axis], *dims[axis + 1 :])
    return all(m is n or m == n or least(m) > 1 and least(n) > 1 for m, n in zip(dims_in(v), part))


def counting(index: Var) -> Var:
    """An index that is read, in place of one that was not."""
    return fresh(index, name="i") if index.name == "_" else index


def put(items: tuple, k: int, item: object) -> tuple:
    """The tuple with another item at position k."""
    return (*items[:k], item, *items[k + 1 :])
