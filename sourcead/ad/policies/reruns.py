"""Reruns of a part of a loop in the reverse sweep, from a state that was saved on entry to that part.

What an iteration reads is not kept: the state is brought into scope, the statements run again, without their effects, and
their reverse follows, with every value in scope.  Values are immutable here, so an array that the loop writes in place is copied when
it becomes a state.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from sourcead import runtime
from sourcead.ad.residuals.code_regions import by_shape, is_metadata_read, shape_key, substituted
from sourcead.ad.residuals.loop_pair import LoopTask, number_at
from sourcead.ad.reverse.sweep import Sweep
from sourcead.analysis.array_versions import updates_in
from sourcead.analysis.builder import Builder
from sourcead.errors import UnsupportedSyntaxError
from sourcead.ir.dims import syms, with_dims
from sourcead.ir.nodes import Atom, Block, Call, Const, Effect, Function, Loop, Range, Stmt, Var, fresh
from sourcead.ir.types import INT, Array, ListT, Sym
from sourcead.ir.walk import copied, free_vars, map_blocks, rewrite, walk
from sourcead.passes.cleanup.dead_code import needed_variants, remove_dead

COUNTED = (Const(0), Const(0), Const(1))  # the range of a loop of which only the number of iterations counts


class Rerun:
    """Reruns a block of a loop in the reverse sweep before the reverse of that block.

    Attributes:
        task: the loop, and its reverse as the rules wrote it.
        again: the block, without its effects, and its reverse, over the loop variants on entry.
        plain: the loop without effects and without reverse, which computes the state of a later iteration.
        state: the variants that these depend on, by number.
        written: the numbers of the variants that are arrays written in place.
        notes: the notes for the user on the loops inside.
    """

    def __init__(self, task: LoopTask, block: Block, sweep: Sweep, known: dict[Var, Var] | None = None, own=()):
        """Write both sweeps of the block.

        Args:
            task: the loop.
            block, sweep: the block that runs again, and its reverse.
            known: values of the block -> what stands for them in its reverse, which are states of another iteration.
            own: variables that stand for the variants on entry.
        """
        known = known or {}
        self.task, self.stmt, self.op = task, task.stmt, task.op
        self.written = set(task.maker.chains.carried_by(task.stmt).values())
        self.again, gone = self.both_sweeps(block, sweep, known)
        body, lost = without_effects(self.op.body)
        body = rewrite(body, lambda s: [replace(s, op=replace(s.op, policy=None)) if isinstance(s.op, Loop) else s])
        self.plain = replace(task.stmt, op=replace(self.op, body=body, leave=None, policy=None))
        if isinstance(self.op.domain, Block):  # it runs again for as many iterations as it took
            self.plain = replace(self.plain, op=replace(self.plain.op, domain=Range(*COUNTED), index=Var("_", INT, True)))
        free = free_vars(self.again)
        stand = dict(zip(own or self.op.params, self.op.params))
        handed = [p for p, q in zip(self.op.params, self.op.body.results) if q in known and known[q] in free]
        put_back = [self.op.params[k] for k in task.restored().values()]
        self.state, seen = needed_variants(self.plain, [*handed, *(stand[v] for v in free if v in stand), *put_back])
        for v in [*(v for v in free if v in gone), *(v for v in seen if v in lost)]:
            raise UnsupportedSyntaxError(
                "this loop runs again in the reverse sweep, and what is computed here must run once only",
                at={**gone, **lost}[v].origin,
                instead='compute it before the loop, or let the loop save it: the policy "auto" or "store"',
            )

    def both_sweeps(self, block: Block, sweep: Sweep, known: dict[Var, Atom]) -> tuple[Block, dict[Var, Stmt]]:
        """Return a block and its reverse, and the variables removed with the effects of the block."""
        sweeps = self.task.maker.of_rerun(block, sweep)
        self.notes = sweeps.notes[::-1]
        again, gone = without_effects(Block(tuple(sweeps.forward), ()))
        stmts = (*again.stmts, *(self.asking_outside(substituted(s, known)) for s in sweeps.reverse))
        results = tuple(known.get(r, r) for r in sweeps.results)
        return remove_dead(Function("rerun", (), Block(stmts, results))).body, gone

    @property
    def params(self) -> list[Var]:
        """Return the loop variants that make up the state."""
        return [self.op.params[k] for k in self.state]

    @property
    def inits(self) -> dict[Var, Atom]:
        """Return the state on entry to the loop."""
        return {p: self.op.inits[k] for p, k in zip(self.params, self.state)}

    def anew(self) -> dict[Var, Var]:
        """Return variables for the state on entry to another iteration."""
        return dict(zip(self.params, anew(self.stmt, self.params)))

    @property
    def rebuilt(self) -> list[Var]:
        """Return the values of the body that are computed again."""
        found = {t for s in walk(self.op.body) for t in s.targets}
        return [t for s in walk(self.again) for t in s.targets if t in found]

    def asking_outside(self, stmt: Stmt) -> Stmt:
        """Return a statement of the reverse that reads shapes from values outside the loop where those have the same shape."""
        if stmt.op.blocks:
            return map_blocks(stmt, lambda b: Block(tuple(map(self.asking_outside, b.stmts)), b.results))
        env = {v: w for v in stmt.op.reads if is_metadata_read(v, stmt) and (w := self.outside.get(shape_key(v))) is not None}
        return substituted(stmt, env)

    @cached_property
    def outside(self) -> dict[tuple, Var]:
        """Return the arrays from outside the loop by shape and dtype."""
        free = (w for w in free_vars(self.op.body) if w not in self.op.params)
        return by_shape([*self.op.inits, *free, *self.stmt.targets], self.task.maker.numbers)

    # -- running again ---------------------------------------------------------------------------------------------------

    def advanced(self, build: Builder, state: dict[Var, Atom], index: Atom) -> dict[Var, Atom]:
        """Emit an iteration without its reverse and return the state after it."""
        results = tuple(self.op.body.results[k] for k in self.state)
        body = remove_dead(Function("rerun", (), Block(self.plain.op.body.stmts, results))).body
        made = copied(body, {**state, self.plain.op.index: index})
        build.stmts += made.stmts
        return dict(zip(self.params, made.results))

    def advance(self, build: Builder, domain: Range, state: dict[Var, Atom]) -> dict[Var, Atom]:
        """Emit the iterations of a range without their reverse and return the state after them."""
        params = self.anew()
        index = fresh(self.plain.op.index)
        with build.block() as stmts:
            after = self.advanced(build, params, index)
        loop = Loop(domain, index, tuple(params.values()), tuple(state.values()), Block(tuple(stmts), tuple(after.values())))
        outs = self.anew()
        build.add(Stmt(tuple(outs.values()), loop, self.stmt.origin))
        return outs

    def kept(self, build: Builder, p: Var, atom: Atom) -> Atom:
        """Return a value to be put on a list of states, copied if it is an array that is written in place."""
        k = self.op.params.index(p)
        if k not in self.written:
            return atom
        fn = np.copy if isinstance(p.type, Array) else runtime.copy
        find = self.task.maker.chains.find
        writes = [u for u in updates_in(self.stmt) if find(u.targets[0]) is find(p)]
        if isinstance(p.type, ListT) and all(len(u.op.path) == 1 for u in writes):
            fn = list.copy  # its items are replaced, not written
        return build.call(fn, atom, type=p.type, name=p.name)

    # -- places: iterations counted from 0 -----------------------------------------------------------------------------------

    def part(self, build: Builder, start: Atom, stop: Atom) -> Range:
        """Return the range of the indices of the iterations from place `start` up to place `stop`."""
        step = COUNTED[2] if isinstance(self.op.domain, Block) else self.op.domain.step
        return Range(self.index_at(build, start), self.index_at(build, stop), step)

    def index_at(self, build: Builder, place: Atom) -> Atom:
        """Return the index of the iteration at a place."""
        return place if isinstance(self.op.domain, Block) else number_at(build, self.op.domain, place)


def anew(stmt: Stmt, variables: Sequence[Var]) -> list[Var]:
    """Return variables like some loop variants for another iteration, with new dims where dims differ between iterations."""
    dims = set().union(*(syms(p.type) for p in stmt.op.params)) - set().union(*(syms(t.type) for t in stmt.targets))
    names = {dim: Sym(dim.least) for dim in dims}
    return [fresh(v, type=with_dims(v.type, names)) for v in variables]


def without_effects(block: Block) -> tuple[Block, dict[Var, Stmt]]:
    """Return the block without its effects, and the variables removed with them."""
    gone: dict[Var, Stmt] = {}

    def change(stmt: Stmt) -> tuple[Stmt, ...]:
        match stmt.op:
            case Effect() | Call(effect=True):
                gone.update(dict.fromkeys(stmt.targets, stmt))
                return ()
        return (stmt,)

    return rewrite(block, change), gone
