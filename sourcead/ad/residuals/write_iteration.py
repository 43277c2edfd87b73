"""The reverse of one iteration, in which every value that it reads is available.

Just before a value of the forward body is first read, it is taken from its list, or rebuilt from values that are, or is an array that
has been put back as it was:

    forward     old = a0[i]; olds = olds ++ [old]; a1 = a0 with [i] = v
    reverse     olds, old = pop olds; a0 = a1 with [i] = old
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sourcead.ad.residuals.branches import Arm, joined
from sourcead.ad.residuals.code_regions import Region, inputs_first, is_metadata_read, reads, substituted
from sourcead.ad.residuals.plan import LoopPlan
from sourcead.ad.reverse.sweep import ReverseBranch, ReverseLoop, plain_reads
from sourcead.analysis.builder import Builder
from sourcead.analysis.sizes import Size, dtype_option, known_dtype
from sourcead.ir.nodes import Atom, Call, Pop, Stmt, Update, Var, fresh
from sourcead.ir.walk import map_op


class WrongVersion(Exception):
    """Raised if a version of a restored array is read where the array holds another version."""

    def __init__(self, version: Var):
        self.version = version


class IterationWriter:
    """Writes the reverse of one iteration.

    Attributes:
        stmts: what is written so far.
        env: what stands in the reverse sweep for a value of the forward body.
        lists: the current version of each list of saved values.
        now: the current version of each array that is restored, by chain.
        standing: the version of the forward sweep that it is.
        rebuilt: the values that are computed again.
        mark: the origin of the statement being written, and that of the statement it is the adjoint of.
    """

    def __init__(self, plan: LoopPlan, lists: dict[Var, Var], env=None, now=None):
        self.plan = plan
        self.stmts: list[Stmt] = []
        self.env: dict[Var, Atom] = {} if env is None else env
        self.lists = lists
        self.now: dict[Var, Atom] = {} if now is None else now
        self.standing: dict[Var, Var] = {}
        self.rebuilt: list[Var] = []
        self.mark = (None, None)

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, v: Atom, shape_only: bool = False) -> Atom:
        """Return the value in the reverse sweep, after writing it if needed; with `shape_only`, only its shape is read."""
        if not self.is_missing(v):
            return self.env.get(v, v)
        for a in inputs_first(v, lambda a: filter(self.is_missing, self.rebuilt_from(a))):
            if a is v or not self.plan.restored(a):
                result = self.make_available(a, shape_only)
        return result

    def is_missing(self, v: Atom) -> bool:
        """Return whether a value of the forward body is not available yet."""
        return isinstance(v, Var) and v not in self.env and v in self.plan.definitions

    def rebuilt_from(self, v: Var) -> Iterable[Var]:
        """Return what a value is rebuilt from; nothing if it is on a list, or an array that is put back."""
        return () if v in self.lists or self.plan.restored(v) else self.plan.rebuilding(v).reads

    def make_available(self, v: Var, shape_only: bool) -> Atom:
        """Write and return a value of the forward body, given that all values that it is rebuilt from are available."""
        plan = self.plan
        if plan.restored(v):
            chain = plan.chains.find(v)
            if v is not self.standing[chain] and not shape_only:
                raise WrongVersion(v)
            return self.now[chain]
        origin, adjoint_of = self.mark
        if v in self.lists:
            rest, item = fresh(self.lists[v]), fresh(v)
            self.stmts.append(Stmt((rest, item), Pop(self.lists[v]), origin, adjoint_of))
            self.lists[v], self.env[v] = rest, item
            return item
        stmt = plan.definitions[v].stmt
        new = fresh(v)
        op = map_op(plan.rebuilding(v), lambda a: self.value(a, isinstance(a, Var) and is_metadata_read(a, stmt)))
        self.stmts.append(Stmt((new,), op, stmt.origin, adjoint_of, stmt.within))
        self.env[v] = new
        self.rebuilt.append(v)
        return new

    def write(self, stmt: Stmt) -> None:
        """Write a statement of the sweep, after the values that it reads."""
        self.mark = (stmt.origin, stmt.adjoint_of)
        env: dict[Var, Atom] = {}
        for v in plain_reads(stmt):
            match self.plan.asked_instead(v, stmt, self.lists) if self.is_missing(v) else None:
                case None:
                    env[v] = self.value(v, is_metadata_read(v, stmt))
                case Var() as other:
                    env[v] = other
                case sizes:
                    stmt = self.zeros_of(stmt, v, sizes)
        self.stmts.append(substituted(stmt, {v: a for v, a in env.items() if a is not v}))

    def zeros_of(self, stmt: Stmt, v: Var, sizes: list[Size]) -> Stmt:
        """Return a statement that makes zeros like `v`, which is not available, of the sizes that other arrays have."""
        build = Builder()
        build.origin, build.adjoint_of = self.mark
        dims = [replace(size, var=size.var and self.value(size.var, True)).write(build) for size in sizes]
        self.stmts += build.stmts
        shape = dims[0] if len(dims) == 1 else tuple(dims)
        return replace(stmt, op=Call(np.zeros, (shape,), tuple(dtype_option(known_dtype(v)).items())))

    # -- regions -------------------------------------------------------------------------------------------------------

    def region(self, region: Region) -> tuple[Atom, ...]:
        """Write the reverse of a region; return what it yields."""
        self.stand(region, len(region.block.stmts))
        for stmt in region.head:
            self.write(stmt)
        for at, forward in reversed(list(enumerate(region.block.stmts))):
            self.mark = (forward.origin, forward.origin)
            if forward in region.olds:
                self.undo(forward, region)
                self.stand(region, at)
            for stmt in region.groups.get(forward, ()):
                if isinstance(stmt.op, ReverseLoop):
                    self.nested_loop(stmt, region)
                    self.stand(region, at)
                elif isinstance(stmt.op, ReverseBranch):
                    self.branch(stmt, region)
                    self.stand(region, at)
                else:
                    self.write(stmt)
            self.stand(region, at)
        for stmt in region.tail:
            self.write(stmt)
        return tuple(map(self.value, region.results))

    def stand(self, region: Region, at: int) -> None:
        """Note that the restored arrays are now as they were before the statement at this position."""
        self.standing = self.plan.versions_at(region)[at]

    def drain(self, region: Region) -> None:
        """Pop the saved values of this region that its reverse did not read."""
        for v in list(self.lists):
            if self.plan.definitions[v].region is region and v not in self.env:
                self.value(v)

    def undo(self, forward: Stmt, region: Region) -> None:
        """Put back what an update overwrote."""
        op: Update = forward.op
        chain = self.plan.chains.find(forward.targets[0])
        old = self.value(region.olds[forward])
        path = map_op(replace(op, value=None), lambda a: a if a is op.base else self.value(a)).path
        put_back = fresh(op.base) if isinstance(op.base, Var) else fresh(forward.targets[0])
        self.stmts.append(Stmt((put_back,), Update(self.now[chain], path, old, "set"), forward.origin, forward.origin))
        self.now[chain] = put_back

    def nested_loop(self, stmt: Stmt, region: Region) -> None:
        """Write the reverse of a loop inside, with the arrays that it puts back."""
        pair = region.loops[stmt.op.forward]
        for s in pair.reverse:
            self.write(s)
        self.now.update({chain: version for chain, version in pair.restored.items() if chain in self.now})

    def branch(self, stmt: Stmt, region: Region) -> None:
        """Write the reverse of a branch: what its arms take from lists and put back into arrays flows out of it."""
        forward = stmt.op.forward
        cond = self.value(forward.op.cond)
        for arm in region.arms[forward]:
            for v in self.outer_reads(arm):
                self.value(v)
        arms = []
        for arm in region.arms[forward]:
            inner = IterationWriter(self.plan, dict(self.lists), dict(self.env), dict(self.now))
            results = inner.region(arm)
            inner.drain(arm)
            self.rebuilt += inner.rebuilt
            arms.append(Arm(inner.stmts, results, {("list", v): x for v, x in inner.lists.items()} | inner.now))
        state = {("list", v): x for v, x in self.lists.items()} | self.now
        self.stmts.append(joined(stmt, cond, tuple(arms), state, "if"))
        self.lists.update((v, state["list", v]) for v in self.lists)
        self.now.update((chain, state[chain]) for chain in self.now)

    def outer_reads(self, arm: Region) -> list[Var]:
        """Return the values from outside an arm of a branch that its reverse reads, or rebuilds others from."""
        found: list[Var] = []
        seen: set[Atom] = set()

        def inputs(v: Atom) -> Iterable[Var]:
            definition = self.plan.definitions.get(v)
            rebuilt = definition is not None and definition.region.is_inside(arm) and v not in self.lists
            return self.plan.rebuilding(v).reads if rebuilt and self.plan.can_rebuild(v, definition) else ()

        for v, _, _ in reads(arm, lambda stmt: self.plan.read_by(stmt, self.lists)):
            if v in seen:
                continue
            for a in inputs_first(v, lambda a: (b for b in inputs(a) if b not in seen)):
                seen.add(a)
                definition = self.plan.definitions.get(a)
                if definition is not None and not definition.region.is_inside(arm) and not self.plan.restored(a):
                    found.append(a)
        return found
