"""Turns the sums of products over the iterations of a reverse loop into one product after the loop.

    r, s = loop (u = u0, b = b0, l = l0) for t ...:      zs1 = loop (zs = zs0) for t ...:
        l1, h = pop l                                        zs2 = zs with [t] = z;  yield zs2
        u1 = u with all += outer(z, h)                   r = u0 with all += matmul(transpose(zs1), hs)
        b1 = b with all += z;  yield u1, b1, l1          s = b0 with all += sum(zs1, axis=0)

The factors of all iterations are stacked, a row for each, or a row for each sample of a batch (`d_u += d_z.T @ h`).  A factor `xs[t]` lies
in a stack already; what the forward sweep saved on a list is saved in an array instead.  This is legal if nothing else in the loop reads
the sums, what is added to them is not broadcast, and the shapes of the factors are known to be the same in each iteration and can be
computed before the loop.  It takes the memory of the stacks, so it is not done under a policy that saves memory.  The result differs by
rounding, as the order of sums does.
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.affine import number
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.loop_indices import Counted
from sourcead.analysis.sizes import Size, dims_in, empty_stack, fills, known_dtype
from sourcead.ir.nodes import (
    Atom, Block, Call, Const, Function, Index, Loop, Pop, Range, Slice, Stmt, Sub, Update, Var, fresh
)
from sourcead.ir.sizes import Sym, plus
from sourcead.ir.types import INT, SMALL, rank, same_dtype
from sourcead.ir.walk import bound_vars, has, map_blocks, with_body, with_stmts
from sourcead.passes.equality import same
from sourcead.passes.loops.factor_arrays import FactorArray, FactorArrays, FunctionFacts, Term, chain_of


def sum_after_loops(function: Function, notes: list[str]) -> Function:
    """Return the function with sums of products taken out of the loops of its reverse sweep, and add a line to `notes` for each loop."""
    if not has(function.body, Loop):
        return function
    return with_body(function, LoopFission(FunctionFacts(function, notes)).block(function.body, list(function.params)))


class LoopFission:
    """Splits the loops of one function."""

    def __init__(self, facts: FunctionFacts):
        self.facts = facts

    def block(self, block: Block, scope: list[Var]) -> Block:
        """Return the block with its loops split; `scope` holds the variables that are defined around it."""
        stmts, inner = [], list(scope)
        for stmt in block.stmts:
            around = [*inner, *bound_vars(stmt.op)]
            stmts.append(map_blocks(stmt, lambda b, around=around: self.block(b, around)))
            inner += stmt.targets
        for stmt in [s for s in stmts if s.adjoint_of is not None and isinstance(s.op, Loop)]:
            stmts = self.split(stmt, stmts, scope)
        return with_stmts(block, stmts)

    def split(self, stmt: Stmt, stmts: list[Stmt], scope: list[Var]) -> list[Stmt]:
        """Return the statements of a block with one of its loops split if that is legal and useful."""
        counted = self.facts.counting.of(stmt.op)
        if counted is None:
            return stmts
        terms = self.terms(stmt.op)
        if not any(len(t.factors) == 2 for t in terms):
            return stmts
        before = [*scope, *(t for s in stmts[: stmts.index(stmt)] for t in s.targets)]
        return SplitLoop(self.facts, stmt, counted, stmts, before).split(terms)

    # -- sums of a loop -------------------------------------------------------------------------------------------------

    def terms(self, loop: Loop) -> list[Term]:
        """Return the sums that can be computed after a loop: sums of products, and of rows that are stacked for a product anyway."""
        found = []
        here = {t: s for s in loop.body.stmts for t in s.targets}
        for k, result in enumerate(loop.body.results):
            chain = chain_of(loop, k, here)
            if all(s.op.mode == "add" and self.facts.uses[s.op.base] == 1 for s in chain) and self.facts.uses[result] == 1:
                plain = (s for s in reversed(chain) if not s.op.path and isinstance(s.op.value, Var))
                found += filter(None, (self.term(s, k, here) for s in plain))
        stacked = {f for t in found if len(t.factors) == 2 for f in t.factors}
        return [t for t in found if len(t.factors) == 2 or t.factors[0] in stacked]

    def term(self, update: Stmt, k: int, here: dict[Var, Stmt]) -> Term | None:
        """Return the term that an update adds to a sum, or None if it cannot be computed after the loop."""
        sum_, value = update.op.base, update.op.value
        dims, stmt = dims_in(value), here.get(value)
        whole = dims is not None and dims_in(sum_) is not None and fills(dims, dims_in(sum_))
        if not whole or not same_dtype(atom_type(sum_).dtype, value.type.dtype):
            return None
        op = stmt.op if stmt is not None and self.facts.uses[value] == 1 else None
        match op:
            case Call(np.outer, (Var() as a, Var() as b), ()) if rank(a.type) == rank(b.type) == 1:
                return Term(update, k, (a, b))
            case Call(operator.matmul | np.matmul | np.dot, (Var() as a, Var() as b), ()) if rank(a.type) == rank(b.type) == 2:
                of_a, of_b = (self.facts.counting.transposed(v) if v in here else None for v in (a, b))
                if of_a is not None:
                    return Term(update, k, (of_a, b))
                return None if of_b is None else Term(update, k, (a, of_b), axis=1)
            case Call(np.sum, (Var() as a,), (("axis", Const(axis)),)) if rank(a.type) == 2 and axis in (0, 1):
                return Term(update, k, (a,), axis)
        return Term(update, k, (value,)) if len(dims) == 1 else None


class SplitLoop(FactorArrays):
    """Splits one loop of a block.

    Attributes:
        stmts: the statements of the block.
        before, after: build the statements that are to stand before and behind the loop.
        axis: the axis of the stacks of batches along which the iterations lie.
        gone: the loop variants that are removed from the loop.
        variants: the new loop variants, each with its value on entry, what the body yields for it, and its value on leaving.
        behind: new statements of the body, by the statement that they follow; under None, those that come before all others.
        instead: the statement that takes the place of a statement of the body, or None if that is removed.
        yields, leaves: by the number of a loop variant, what the body now yields for it, and what holds it after the loop.
    """

    def __init__(self, facts: FunctionFacts, stmt: Stmt, counted: Counted, stmts: list[Stmt], scope: list[Var]):
        super().__init__(facts, stmt, counted, scope)
        self.stmts = list(stmts)
        self.before, self.after = Builder().at(stmt), Builder().at(stmt)
        self.loop = self.backward(stmt.op)
        self.index = self.loop.index
        self.axis = 0
        self.gone: set[Var] = set()
        self.variants: list[tuple[Var, Atom, Atom, Var]] = []
        self.behind: dict[Stmt | None, list[Stmt]] = {}
        self.instead: dict[Stmt, Stmt | None] = {}
        self.yields: dict[int, Var] = {}
        self.leaves: dict[int, Var] = {}

    def backward(self, loop: Loop) -> Loop:
        """Return the loop with an index that counts down, as the reverse sweep does, if its index is not read."""
        if self.facts.uses[loop.index] or number(loop.domain.step) == -1:
            return loop
        last = self.before.call(operator.sub, self.counted.write_count(self.before, self.facts.counting), Const(1))
        domain = Range(last, Const(self.counted.first - 1), Const(-1))
        return replace(loop, domain=domain, index=counting(loop.index))

    def split(self, terms: list[Term]) -> list[Stmt]:
        """Return the statements of the block, with the terms summed after the loop as far as the shapes allow."""
        shapes = {v: self.shape_of(v, t) for t in terms if len(t.factors) == 2 for v in t.factors}
        terms = [t for t in terms if all(shapes.get(v) for v in t.factors)]
        products = [t for t in terms if len(t.factors) == 2 and self.pays(t, shapes)]
        stacked = dict.fromkeys(v for t in products for v in t.factors)
        terms = [t for t in terms if t in products or len(t.factors) == 1 and t.factors[0] in stacked]
        if not products:
            return self.stmts
        found = {v: self.find(v) for v in stacked}
        batches = all(rank(v.type) == 2 for v in stacked)
        self.axis = 1 if batches and any(f and f.axis for f in found.values()) or any(t.axis for t in terms) else 0
        stacks = {v: self.array(v, found[v]) if found[v] else self.stack(v, shapes[v]) for v in stacked}
        self.sum_up(terms, stacks, shapes)
        names = ", ".join(dict.fromkeys(t.update.targets[0].name for t in products))
        self.facts.notes.append(f"sums of products after the loop: {names}")
        return self.written()

    def pays(self, term: Term, shapes: dict[Var, tuple[Size, ...]]) -> bool:
        """Return whether one product after the loop is worth what it takes.

        A product of vectors, or of few rows, writes a matrix in each iteration, which takes longer than to put the factors away.
        A product of matrices does not, nor one of small matrices: it stays in the loop, unless its factors lie in arrays anyway.
        """
        few = [[isinstance(n, int) and n < SMALL for n in dims_in(v)] for v in term.factors if rank(v.type) == 2]
        pays = all(of[term.axis] for of in few) and not (few and all(map(all, few)))
        return pays or all(self.find(v) or self.saving(v, shapes[v]) for v in term.factors)

    def written(self) -> list[Stmt]:
        """Return the statements of the block with the split loop."""
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

    # -- stacks ----------------------------------------------------------------------------------------------------------

    def array(self, v: Var, held: FactorArray) -> Var:
        """Return the stack of a factor whose values an array holds along an axis."""
        array, axis = held.array, self.axis_of(v)
        dim = dims_in(array)[held.axis]
        if held.axis != axis:
            array = self.after.call(np.swapaxes, array, Const(0), Const(1))
        first, rows = held.offset + self.counted.first, self.counted.rows
        if held.offset == 0 == first and dim == rows:
            return array
        upper = self.counted.count
        size = self.counted.is_size(self.facts.counting)
        if not size or held.offset < 0 and not self.counted.begins():
            upper = self.after.call(max, upper, Const(self.counted.first), type=INT)  # not from the end
        if held.offset and dim == plus(rows, held.offset):
            upper = None
        elif held.offset:
            upper = self.after.call(operator.add, upper, Const(held.offset))
        part = self.key(v, Slice(Const(first) if first else None, upper, None))
        return self.after.index(array, part, name=f"{array.name}_part")

    def axis_of(self, v: Var) -> int:
        """Return the axis of a factor's stack along which the iterations lie."""
        return self.axis if rank(v.type) == 2 else 0

    def key(self, v: Var, at: Atom | Slice):
        """Return the subscript of a part of a factor's stack."""
        return (Slice(None, None, None), at) if self.axis_of(v) else at

    def stack(self, v: Var, shape: tuple[Size, ...]) -> Var:
        """Return a new array of the values of a factor in all iterations."""
        return self.saved(v, shape) or self.put_away(v, shape)

    def put_away(self, v: Var, shape: tuple[Size, ...]) -> Var:
        """Return an array that each iteration writes the factor into."""
        stack = self.empty(v, shape, self.before)
        param, target = fresh(stack), fresh(stack)
        build = Builder().at(self.stmt)
        if v in self.here:
            build.origin, build.adjoint_of = self.here[v].origin, self.here[v].adjoint_of
        new = build.update(param, (Sub(self.key(v, self.row(self.index, build))),), v)
        self.behind.setdefault(self.here.get(v), []).extend(build.stmts)
        self.variants.append((param, stack, new, target))
        return target

    def row(self, index: Var, build: Builder) -> Atom:
        """Return the row of a stack that belongs to the iteration of an index."""
        return index if self.counted.first == 0 else build.call(operator.sub, index, Const(self.counted.first))

    def empty(self, v: Var, shape: tuple[Size, ...], build: Builder) -> Var:
        """Return a new array for the values of `v` in all iterations."""
        rows = self.counted.write_number(build, self.facts.counting), self.counted.rows if self.counted.first == 0 else Sym(0)
        return empty_stack(build, v, shape, rows, self.axis_of(v))

    # -- values that the forward sweep saved --------------------------------------------------------------------------------------

    def saving(self, v: Var, shape: tuple[Size, ...]) -> tuple[Stmt, Stmt, Stmt] | None:
        """Return what makes and fills the list of residuals from which each iteration pops a factor, if an array can take its place.

        The statements build the list, run the loop that fills it, and append to it there.
        """
        pop = self.here.get(v)
        stack = self.facts.stacks.get(pop.op.base) if pop is not None and isinstance(pop.op, Pop) else None
        if stack is None or not stack.is_simple or number(self.loop.domain.step) != -1:
            return None
        build, append = stack.builds[0].stmt, stack.pushes[0].stmt
        made = next((s for s in self.stmts[: self.stmts.index(self.stmt)] if self.fills(s, append)), None)
        if made is None or build not in self.stmts or not isinstance(append.op.value, Var) or known_dtype(append.op.value) is None:
            return None
        at = self.stmts.index(build)
        scope = {*self.scope} - {t for s in self.stmts[at:] for t in s.targets}
        if not all(size.var is None or size.var in scope for size in shape):
            return None
        if isinstance(self.counted.count, Var) and self.counted.count not in scope:
            return None
        return build, made, append

    def saved(self, v: Var, shape: tuple[Size, ...]) -> Var | None:
        """Return an array in place of the list of residuals from which each iteration pops the factor, or None without such a list."""
        saving = self.saving(v, shape)
        if saving is None:
            return None
        (build, made, append), pop = saving, self.here[v]
        j = made.op.inits.index(build.targets[0])
        maker = Builder()
        maker.origin = build.origin
        stack = self.empty(v, shape, maker)
        made_here = [*maker.stmts[:-1], replace(maker.stmts[-1], saves=True)]
        loop = made.op
        if not self.facts.uses[loop.index]:
            loop = replace(loop, index=counting(loop.index))
        param, new, result = fresh(stack), fresh(stack), fresh(stack)
        writer = Builder().at(self.stmt)
        row = self.row(loop.index, writer)
        update = Update(param, (Sub(self.key(v, row)),), append.op.value)
        body = []
        for s in loop.body.stmts:
            body += [*writer.stmts, replace(s, targets=(new,), op=update)] if s is append else [s]
        body = Block(tuple(body), put(loop.body.results, j, new))
        loop = replace(loop, params=put(loop.params, j, param), inits=put(loop.inits, j, stack), body=body)
        forward = replace(made, targets=put(made.targets, j, result), op=loop)
        self.stmts = [t for s in self.stmts for t in (made_here if s is build else [forward] if s is made else [s])]
        reader = Builder().at(self.stmt)
        row = self.row(self.index, reader)
        self.instead[pop] = replace(pop, targets=(v,), op=Index(result, self.key(v, row)))
        self.behind.setdefault(None, []).extend(reader.stmts)
        self.gone.add(pop.op.base)
        return result

    def fills(self, stmt: Stmt, append: Stmt) -> bool:
        """Return whether a statement is a loop that runs the append once for each of the same indices, upward."""
        counted = self.facts.counting.of(stmt.op) if isinstance(stmt.op, Loop) and append in stmt.op.body.stmts else None
        alike = counted is not None and counted.first == self.counted.first and same(counted.count, self.counted.count)
        return alike and number(stmt.op.domain.step) == 1

    # -- sums ----------------------------------------------------------------------------------------------------------

    def sum_up(self, terms: list[Term], stacks: dict[Var, Var], shapes: dict[Var, tuple[Size, ...]]) -> None:
        """Take the terms out of the loop and emit their sums after it."""
        build, flat = self.after, {}

        def joined(v: Var, axis: int) -> Var:
            """Return the stack with iterations and batch joined to one axis, over which the product sums."""
            if rank(v.type) == 1:
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
                value = build.emit(op, atom_type(current), target.name if first else "product")
                new = target if t is mine[-1] else fresh(target)
                build.add(replace(t.update, targets=(new,), op=Update(current, (), value, "add")))
                current = new

    def without(self, k: int, terms: list[Term]) -> Atom:
        """Take the updates of a sum out of the loop, and return the sum of the updates that stay."""
        updates = {t.update for t in terms}
        chain, version = chain_of(self.loop, k, self.here), self.loop.params[k]
        for update in updates:
            self.instead[update] = None
        if updates == set(chain):
            self.gone.add(self.loop.params[k])
            return self.loop.inits[k]
        for update in chain:
            if update not in updates:
                self.instead[update] = replace(update, op=replace(update.op, base=version))
                version = update.targets[0]
        self.yields[k], self.leaves[k] = version, fresh(self.stmt.targets[k])
        return self.leaves[k]


def counting(index: Var) -> Var:
    """Return the index, renamed if its name is `_`, so that it can be read."""
    return fresh(index, name="i") if index.name == "_" else index


def put(items: tuple, k: int, item: object) -> tuple:
    """Return the tuple with another item at position k."""
    return (*items[:k], item, *items[k + 1 :])
