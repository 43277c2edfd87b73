"""Writing the reverse of one iteration: what it reads is taken from lists, rebuilt or put back just before it is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sourcead.ad.residuals.loop_parts import Part, inputs_first, inside, is_metadata_read, makes_zeros, substituted
from sourcead.ad.residuals.plan import LoopPlan
from sourcead.ad.reverse.sweep import ReverseBranch, ReverseLoop, plain_reads
from sourcead.analysis.builder import Builder
from sourcead.analysis.sizes import dtype_option, known_dtype
from sourcead.ir.nodes import Atom, Block, Branch, Call, Const, Pop, Stmt, Sub, Update, Var, View, fresh, operand_atoms
from sourcead.ir.walk import free_vars, map_op, map_operand, op_reads


class Writer:
    """Writes the reverse of one iteration.

    Attributes:
        stmts: what is written so far.
        env: what stands in the reverse sweep for a value of the forward body.
        lists: the current version of each list of saved values.
        now: the current version of each array that is restored.
        standing: the version of the forward sweep that it is.
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

    def value(self, v: Atom, part: Part, asking: bool = False) -> Atom:
        """The value in the reverse sweep, written if need be; `asking`: for no more than its shape."""
        if not self.is_missing(v):
            return self.env.get(v, v)
        for a in inputs_first(v, lambda a: filter(self.is_missing, self.rebuilt_from(a))):
            if a is v or self.plan.chains.find(a) not in self.now:
                result = self.make_available(a, part, asking)
        return result

    def is_missing(self, v: Atom) -> bool:
        """Whether a value of the forward body is not at hand yet."""
        return isinstance(v, Var) and v not in self.env and v in self.plan.definitions

    def rebuilt_from(self, v: Var) -> Iterable[Var]:
        """What a value is rebuilt from; nothing if it is on a list, or an array that is put back."""
        return () if v in self.lists or self.plan.chains.find(v) in self.now else op_reads(self.plan.rebuilding(v))

    def make_available(self, v: Var, part: Part, asking: bool) -> Atom:
        """A value of the forward body, all that it is rebuilt from being at hand."""
        plan = self.plan
        chain = plan.chains.find(v)
        if chain in self.now:
            if v is not self.standing[chain] and not asking:
                raise AssertionError(f"{v!r} is read in the reverse sweep where the array is {self.standing[chain]!r}")
            return self.now[chain]
        origin, adjoint_of = self.mark
        if v in self.lists:
            rest, item = fresh(self.lists[v]), fresh(v)
            self.stmts.append(Stmt((rest, item), Pop(self.lists[v]), origin, adjoint_of))
            self.lists[v], self.env[v] = rest, item
            return item
        stmt = plan.definitions[v].stmt
        new = fresh(v)
        op = map_op(plan.rebuilding(v), lambda a: self.value(a, part, isinstance(a, Var) and is_metadata_read(a, stmt)))
        self.stmts.append(Stmt((new,), op, stmt.origin, adjoint_of, stmt.within))
        self.env[v] = new
        self.rebuilt.append(v)
        return new

    def write(self, stmt: Stmt, part: Part) -> None:
        """Writes a statement of the sweep, after what it reads."""
        self.mark = (stmt.origin, stmt.adjoint_of)
        env = {}
        if makes_zeros(stmt) and self.is_missing(stmt.op.args[0]) and self.asked_instead(stmt.op.args[0], stmt) is None:
            stmt = self.with_measures(stmt, part)
        for v in free_vars(Block((stmt,))):
            other = self.asked_instead(v, stmt) if v not in self.env else None
            env[v] = other or self.value(v, part, is_metadata_read(v, stmt))
        self.stmts.append(substituted(stmt, {v: a for v, a in env.items() if a is not v}))

    def with_measures(self, stmt: Stmt, part: Part) -> Stmt:
        """Zeros like an array that is not at hand, their shape asked of other arrays."""
        v = stmt.op.args[0]
        measured = None if v in self.lists else self.plan.measured_by(v)
        if measured is None:
            return stmt
        build = Builder()
        build.origin, build.adjoint_of = self.mark
        sizes = []
        for w, axis in measured:
            sizes.append(Const(axis) if w is None else build.index(build.attr(self.value(w, part, True), "shape"), Const(axis)))
        self.stmts += build.stmts
        shape = sizes[0] if len(sizes) == 1 else tuple(sizes)
        return replace(stmt, op=Call(np.zeros, (shape,), tuple(dtype_option(known_dtype(v)).items())))

    def asked_instead(self, v: Var, stmt: Stmt) -> Var | None:
        """What a statement that asks a value for its shape asks in its place, unless it is saved anyway."""
        return self.plan.asked_instead(v) if is_metadata_read(v, stmt) and v not in self.lists else None

    def part(self, part: Part) -> tuple[Atom, ...]:
        """Writes the reverse of a part; returns what it yields."""
        self.stand(part, len(part.block.stmts))
        for stmt in part.head:
            self.write(stmt, part)
        for at, forward in reversed(list(enumerate(part.block.stmts))):
            self.mark = (forward.origin, forward.origin)
            if forward in part.olds:
                self.undo(forward, part)
                self.stand(part, at)
            for stmt in part.groups.get(forward, ()):
                if isinstance(stmt.op, ReverseLoop):
                    self.nested_loop(stmt, part)
                    self.stand(part, at)
                elif isinstance(stmt.op, ReverseBranch):
                    self.branch(stmt, part)
                    self.stand(part, at)
                else:
                    self.write(stmt, part)
            self.stand(part, at)
        for stmt in part.tail:
            self.write(stmt, part)
        return tuple(self.value(r, part) for r in part.results)

    def stand(self, part: Part, at: int) -> None:
        """The arrays are now as they were before the statement at this position."""
        self.standing = self.plan.versions(part)[at]

    def drain(self, part: Part) -> None:
        """Takes off the lists what the reverse of this part did not need after all."""
        for v in list(self.lists):
            if self.plan.definitions[v].part is part and v not in self.env:
                self.value(v, part)

    def undo(self, forward: Stmt, part: Part) -> None:
        """Puts back what an update overwrote."""
        op: Update = forward.op
        chain = self.plan.chains.find(forward.targets[0])
        old = part.olds[forward]
        value = self.value(old, part)
        path = tuple(
            Sub(map_operand(s.key, lambda a: self.value(a, part)))
            if isinstance(s, Sub)
            else View(s.fn, tuple(map_operand(a, lambda a: self.value(a, part)) for a in s.args),
                      tuple((k, map_operand(a, lambda a: self.value(a, part))) for k, a in s.kwargs))
            for s in op.path
        )  # fmt: skip
        before = self.now[chain]
        new = fresh(op.base) if isinstance(op.base, Var) else fresh(forward.targets[0])
        self.stmts.append(Stmt((new,), Update(before, path, value, "set"), forward.origin, forward.origin))
        self.now[chain] = new

    def nested_loop(self, stmt: Stmt, part: Part) -> None:
        settled = part.loops[stmt.op.forward]
        for s in settled.reverse:
            self.write(s, part)
        for chain, version in settled.restored.items():
            if chain in self.now:
                self.now[chain] = version

    def branch(self, stmt: Stmt, part: Part) -> None:
        """The reverse of a branch: what its arms take from lists and put back into arrays flows out of it."""
        forward = stmt.op.forward
        arms = part.arms[forward]
        cond = self.value(forward.op.cond, part)
        for arm in arms:
            for v in self.outer_reads(arm, part):
                self.value(v, part)
        blocks = []
        writers = []
        for arm in arms:
            inner = Writer(self.plan, dict(self.lists), dict(self.env), dict(self.now))
            results = inner.part(arm)
            inner.drain(arm)
            blocks.append((inner.stmts, results))
            writers.append(inner)
        self.rebuilt += [v for w in writers for v in w.rebuilt]
        lists = [v for v in self.lists if any(w.lists[v] is not self.lists[v] for w in writers)]
        chains = [c for c in self.now if any(w.now[c] is not self.now[c] for w in writers)]
        list_outs = {v: fresh(self.lists[v]) for v in lists}
        chain_outs = {c: fresh(self.now[c]) for c in chains}
        op = Branch(cond, *(
            Block(tuple(stmts), (*results, *(w.lists[v] for v in lists), *(w.now[c] for c in chains)))
            for (stmts, results), w in zip(blocks, writers)
        ))  # fmt: skip
        self.stmts.append(replace(stmt, targets=(*stmt.targets, *list_outs.values(), *chain_outs.values()), op=op))
        self.lists.update(list_outs)
        self.now.update(chain_outs)

    def outer_reads(self, arm: Part, part: Part) -> list[Var]:
        """The saved or rebuilt values of `part` and around it that the reverse of an arm reads."""
        found: list[Var] = []
        seen: set[Atom] = set()

        def inputs(v) -> Iterable[Var]:
            definition = self.plan.definitions.get(v)
            rebuilt = definition is not None and inside(definition.part, arm) and v not in self.lists
            return op_reads(self.plan.rebuilding(v)) if rebuilt and self.plan.can_rebuild(v, definition) else ()

        def note(v) -> None:
            if v in seen:
                return
            for a in inputs_first(v, lambda a: (b for b in inputs(a) if b not in seen)):
                seen.add(a)
                definition = self.plan.definitions.get(a)
                if definition is not None and not inside(definition.part, arm) and not self.plan.restored(a):
                    found.append(a)

        def visit(p: Part) -> None:
            for stmt in [*p.head, *p.tail, *(s for g in p.groups.values() for s in g)]:
                if isinstance(stmt.op, ReverseLoop):
                    for s in p.loops[stmt.op.forward].reverse:
                        for v in free_vars(Block((s,))):
                            note(v)
                elif isinstance(stmt.op, ReverseBranch):
                    note(stmt.op.forward.op.cond)
                    for a in p.arms[stmt.op.forward]:
                        visit(a)
                else:
                    for v in plain_reads(stmt):
                        if self.asked_instead(v, stmt) is None:
                            measured = self.plan.measured_by(v) if makes_zeros(stmt) and v not in self.lists else None
                            for w in [v] if measured is None else [w for w, _ in measured if w is not None]:
                                note(w)
            for r in p.results:
                note(r)
            for update, old in p.olds.items():
                note(old)
                for step in update.op.path:
                    for operand in (step.key,) if isinstance(step, Sub) else (*step.args, *(v for _, v in step.kwargs)):
                        for a in operand_atoms(operand):
                            note(a)

        visit(arm)
        return found
