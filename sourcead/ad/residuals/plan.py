"""What a loop saves: which values the reverse of an iteration reads, and the minimum cut between those and the body.

A value that the reverse reads is restored (a version of an array whose writes are undone), read again from a finished array,
rebuilt from others, or saved.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from sourcead.ad.residuals.costs import is_cheap, size
from sourcead.ad.residuals.loop_parts import (
    Definition, Part, inputs_first, is_metadata_read, makes_zeros, read_part, reverse_ops, same_operand
)
from sourcead.ad.residuals.minimum_cut import minimum_node_cut
from sourcead.ad.reverse.sweep import ReverseBranch, ReverseLoop, Sweep, plain_reads
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.sizes import Sizes, dims_in, known_dtype
from sourcead.analysis.versions import updates_in
from sourcead.ir.nodes import Atom, Attr, Block, Branch, Index, Let, Loop, Op, Stmt, Sub, Update, Var, operand_atoms
from sourcead.ir.types import INT, Array, Sym
from sourcead.ir.walk import free_vars, has_effect, op_reads

LIST = 1.0  # cost of one more list, in numbers saved
PART = 0.9  # of a part of an array, where its size is not known
SHARED = 0.001  # cost of a value that another list holds anyway


class LoopPlan:
    """Decides what a loop saves; `loops.py` then writes it and its reverse."""

    def __init__(self, settler, stmt: Stmt, raw: Stmt, undone: set[Var], saves_all: bool = False):
        self.saves_all = saves_all  # the policy "store"
        self.settler, self.chains = settler, settler.chains
        self.stmt, self.raw, self.op = stmt, raw, stmt.op
        self.carried = {c: k for c, k in self.chains.carried_by(stmt).items() if c in undone}
        self.undone = undone
        self.definitions: dict[Var, Definition] = {}
        self.overwritten: set[Var] = set()  # what updates that are undone overwrite: it must be saved
        self.body = self.part(self.op.body, raw.op.sweep, None, 0)
        for p in self.op.params:
            self.definitions[p] = Definition(self.body, -1, None)
        self.sizes: Sizes | None = None  # see `measured_by`
        self.outer: dict | None = None  # arrays from outside the loop, by dims and dtype
        self.rereads: dict[Var, Index | None] = {}  # see `reread`
        self.writes: dict[Part, dict[Var, list[int]]] = {}  # see `writes_in`
        self.reads: dict[Var, int] = {}  # variable -> latest position, in its own part, at which the reverse reads it
        self.collect_reads(self.body)
        self.saved = self.choose()

    # -- the body as parts -------------------------------------------------------------------------------------------

    def part(self, block: Block, sweep: Sweep, parent: Part | None, at: int) -> Part:
        """A block with its reverse; nested loops are settled first."""
        groups: dict[Stmt, tuple[Stmt, ...]] = {}
        head: list[Stmt] = []
        tail: list[Stmt] = []
        for forward, stmts in sweep.steps:
            if forward is not None:
                groups[forward] = stmts
            elif groups:
                tail.extend(stmts)
            else:
                head.extend(stmts)
        part = Part(block, tuple(head), groups, tuple(tail), sweep.results, parent, at)
        found = reverse_ops(sweep)
        for k, stmt in enumerate(block.stmts):
            for t in stmt.targets:
                self.definitions[t] = Definition(part, k, stmt)
            raw = found.get(stmt) or self.bare_reverse(stmt)
            if raw is not None and stmt not in found:
                groups[stmt] = (*groups.get(stmt, ()), raw)
            if raw is not None and isinstance(raw.op, ReverseLoop):
                own = self.settler.undone_chains(stmt, raw) | self.undone
                settled = self.settler.loop(stmt, raw, own)
                part.loops[stmt] = settled
                for s in (*settled.before, settled.forward):
                    for t in s.targets:
                        self.definitions[t] = Definition(part, k, s)
            elif raw is not None:
                part.arms[stmt] = tuple(
                    self.part(b, s, part, k) for b, s in ((stmt.op.then, raw.op.then), (stmt.op.orelse, raw.op.orelse))
                )
            if isinstance(stmt.op, Update) and self.chains.find(stmt.targets[0]) in self.carried:
                self.plan_undo(part, k, stmt)
        return part

    def bare_reverse(self, stmt: Stmt) -> Stmt | None:
        """The reverse of a loop or branch that has no adjoint, but writes an array that must be restored."""
        if not isinstance(stmt.op, (Loop, Branch)):
            return None
        if not any(self.chains.find(u.targets[0]) in self.carried for u in updates_in(stmt)):
            return None
        empty = Sweep((), ())
        op = ReverseLoop(stmt, (), (), empty) if isinstance(stmt.op, Loop) else ReverseBranch(stmt, empty, empty)
        return Stmt((), op, stmt.origin, stmt.origin)

    def plan_undo(self, part: Part, at: int, stmt: Stmt) -> None:
        """Reads what an update overwrites, unless the program has just read the same."""
        op: Update = stmt.op
        if len(op.path) == 1 and isinstance(op.path[0], Sub):
            for s in part.part_reads.get(op.base, ()):
                if part.position[s] < at and same_operand(s.op.key, op.path[0].key):
                    part.olds[stmt] = s.targets[0]
                    self.overwritten.add(s.targets[0])
                    return
        build = Builder()
        build.origin = stmt.origin
        old = read_part(build, op.base, op.path) if op.path else build.emit(Let(op.base), op.base.type, op.base.name)
        part.olds[stmt] = old
        self.overwritten.add(old)
        part.old_reads[stmt] = build.stmts
        for s in build.stmts:
            for t in s.targets:
                self.definitions[t] = Definition(part, at, s)

    # -- what the reverse reads ----------------------------------------------------------------------------------------

    def collect_reads(self, part: Part) -> None:
        """Notes every value of the body that the reverse of this part reads."""
        position = part.position
        for stmts, at in [(part.head, len(position)), (part.tail, -1)] + [(g, position[s]) for s, g in part.groups.items()]:
            for stmt in stmts:
                if isinstance(stmt.op, ReverseBranch):
                    forward = stmt.op.forward
                    self.note(forward.op.cond, part, at)
                    for arm in part.arms[forward]:
                        self.collect_reads(arm)
                elif isinstance(stmt.op, ReverseLoop):
                    settled = part.loops[stmt.op.forward]
                    for v in free_vars(Block(tuple(settled.reverse))):
                        self.note(v, part, at)
                else:
                    for v in plain_reads(stmt):
                        if is_metadata_read(v, stmt) and self.asked_instead(v) is not None:
                            continue
                        measured = self.measured_by(v) if is_metadata_read(v, stmt) and makes_zeros(stmt) else None
                        for w in [v] if measured is None else [w for w, _ in measured if w is not None]:
                            self.note(w, part, at)
        for result in part.results:
            self.note(result, part, -1)
        for update, old in part.olds.items():
            at = position[update]
            self.note(old, part, at)
            for step in update.op.path:
                for operand in (step.key,) if isinstance(step, Sub) else (*step.args, *(v for _, v in step.kwargs)):
                    for a in operand_atoms(operand):
                        self.note(a, part, at + 1)  # before the array is put back

    def asked_instead(self, v: Var) -> Var | None:
        """A value from outside the loop that surely has the shape and dtype of `v`, to be asked in its place."""
        if v not in self.definitions or self.restored(v) or not isinstance(v.type, Array) or v.type.dims is None:
            return None
        if self.outer is None:
            self.outer = {}
            for w in self.around():
                if isinstance(w, Var) and isinstance(w.type, Array) and w.type.dims is not None and w not in self.settler.numbers:
                    self.outer.setdefault((w.type.dims, str(w.type.dtype)), w)
        return self.outer.get((v.type.dims, str(v.type.dtype)))

    def measured_by(self, v: Var) -> list[tuple[Var | None, int]] | None:
        """How large an array is along each axis: as large as another along an axis, or a number; None if that is not known.

        The others are in scope anyway, or parts of what does not change in the loop.
        """
        if v not in self.definitions or self.restored(v) or known_dtype(v) is None or v in self.settler.numbers:
            return None
        if self.sizes is None:
            fixed = (w for w, d in self.definitions.items() if d.stmt is not None and dims_in(w) and self.is_fixed(w))
            arrays = (w for w in (*self.around(), *fixed) if isinstance(w, Var) and dims_in(w) and w not in self.settler.numbers)
            self.sizes = Sizes(arrays)
        return [self.sizes.where_is(n) for n in dims_in(v)] if all(map(self.sizes.knows, dims_in(v) or (Sym(),))) else None

    def around(self) -> Iterator[Atom]:
        """What is in scope outside the outermost loop, which no loop has to save; then outside this one."""
        outermost = self.settler.nest.stmt
        yield from (w for w in free_vars(outermost.op.body) if w not in outermost.op.params)
        yield from outermost.targets  # a dim that differs between iterations has another name after the loop
        yield from outermost.op.inits
        yield from (w for w in free_vars(self.op.body) if w not in self.op.params)

    def note(self, v: object, part: Part, at: int) -> None:
        """The reverse of `part` reads `v` when it passes position `at`."""
        definition = self.definitions.get(v)
        if definition is None:
            return
        while part is not definition.part:
            part, at = part.parent, part.at
        self.reads[v] = max(self.reads.get(v, -1), at)

    # -- what to save ----------------------------------------------------------------------------------------------------

    def choose(self) -> list[Var]:
        """The values to save, in order of definition."""
        wanted = [v for v in self.reads if not self.restored(v)]
        nodes: dict[Var, float] = {}
        edges: list[tuple[Var, Var]] = []
        latest = dict(self.reads)
        todo = list(wanted)
        order: list[Var] = []
        while todo:
            v = todo.pop()
            if v in nodes:
                continue
            definition = self.definitions[v]
            nodes[v] = LIST + size(v.type)
            if definition.stmt is not None and isinstance(definition.stmt.op, Index):
                nodes[v] = LIST + PART * min(size(v.type), size(atom_type(definition.stmt.op.base)))  # a part is smaller than the whole
            order.append(v)
            if not self.can_rebuild(v, definition):
                continue
            for a in self.inputs(v):
                edges.append((a, v))
                todo.append(a)
        users: dict[Var, list[Var]] = {}
        for a, v in edges:
            users.setdefault(a, []).append(v)
        valid = self.valid_reads(nodes, users, latest)
        sources = {v: None for v in nodes if not self.can_rebuild(v, self.definitions[v]) or not valid.get(v, True)}
        edges = [(a, v) for a, v in edges if v not in sources]
        for p, q in zip(self.op.params, self.op.body.results):
            if q in nodes and p in self.reads and p in sources and q in sources:
                nodes[q] = SHARED
        if self.leaving_flag() in nodes:
            nodes[self.leaving_flag()] = SHARED
        if not wanted:
            return []
        cut = minimum_node_cut(nodes, edges, sources, wanted)
        rank = {v: k for k, v in enumerate(self.definitions)}
        return sorted(cut, key=rank.__getitem__)

    def leaving_flag(self) -> Var | None:
        """What an iteration yields for the variant that ends the loop."""
        if self.op.leave is None:
            return None
        flag = self.op.body.results[self.op.params.index(self.op.leave)]
        return flag if isinstance(flag, Var) and flag in self.definitions else None

    def restored(self, v: object) -> bool:
        """Whether a variable is a version of an array that the reverse sweep restores."""
        return self.chains.find(v) in self.carried

    def can_rebuild(self, v: Var, definition: Definition) -> bool:
        stmt = definition.stmt
        if v in self.overwritten:
            return False
        if self.reread(v) is not None:
            return True
        if self.saves_all and not self.is_fixed(v):
            return False
        return stmt is not None and len(stmt.targets) == 1 and is_cheap(stmt.op) and not has_effect(stmt.op)

    def is_fixed(self, v: Var) -> bool:
        """Whether a value is a subscript or a part of what does not change in the loop, or a number that counts."""
        for a in inputs_first(v, lambda a: self.inputs(a) if self.definitions[a].stmt is not None else ()):
            stmt = self.definitions[a].stmt
            if stmt is None or not (isinstance(stmt.op, (Index, Attr, Let)) or atom_type(a) == INT and is_cheap(stmt.op)):
                return False
        return True

    def reread(self, v: Var) -> Index | None:
        """The read of a value from a finished array, where it stands unharmed."""
        if v not in self.rereads:
            self.rereads[v] = self._reread(v)
        return self.rereads[v]

    def _reread(self, v: Var) -> Index | None:
        definition = self.definitions[v].stmt
        nest = self.settler.nest
        if definition is None or v in self.overwritten or definition not in nest.places:
            return None
        if isinstance(definition.op, Index):
            array = nest.finished(definition)
            found = None if array is None else Index(array, definition.op.key)
        else:
            found = nest.read_back(v) if len(definition.targets) == 1 else None
        if found is None or self.chains.find(found.base) in self.undone or found.base in self.definitions:
            return None
        return found

    def rebuilding(self, v: Var) -> Op:
        """The op that computes a value again."""
        return self.reread(v) or self.definitions[v].stmt.op

    def inputs(self, v: Var) -> Iterator[Var]:
        """What must be available to rebuild a value, of the values of the body."""
        for a in op_reads(self.rebuilding(v)):
            if a in self.definitions and not self.restored(a):
                yield a

    def valid_reads(self, nodes, users, latest) -> dict[Var, bool]:
        """For values that read an array that is restored: whether it has the right version wherever they are rebuilt."""
        needed: dict[Var, int] = {}

        def last(v: Var) -> int:
            if v not in needed:
                for w in inputs_first(v, lambda w: [u for u in users.get(w, ()) if u not in needed]):
                    needed[w] = max([latest.get(w, -1), *(lifted(u, w) for u in users.get(w, ()))])
            return needed[v]

        def lifted(user: Var, v: Var) -> int:
            """Where a user is needed last, in the part of what it uses."""
            at, part, target = needed.get(user, -1), self.definitions[user].part, self.definitions[v].part
            while part is not target and part is not None:
                part, at = part.parent, part.at
            return at

        valid = {}
        for v in nodes:
            definition = self.definitions[v]
            if definition.stmt is None:
                continue
            bases = [a for a in op_reads(self.rebuilding(v)) if self.restored(a) and not is_metadata_read(a, definition.stmt)]
            if bases:
                valid[v] = all(last(v) <= self.last_valid(definition, a) for a in bases)
        return valid

    def last_valid(self, definition: Definition, version: Var) -> int:
        """The last position, in the part of the definition, at which the array is as it was when it was read.

        The reverse of an update puts the array back before anything else, that of a loop or branch only inside.
        """
        stmts = definition.part.block.stmts
        positions = self.writes_in(definition.part).get(self.chains.find(version), [])
        following = bisect_left(positions, definition.at)
        if following == len(positions):
            return len(stmts)
        k = positions[following]
        return k if isinstance(stmts[k].op, Update) else k - 1

    def writes_in(self, part: Part) -> dict[Var, list[int]]:
        """For each array, the positions of the statements of a part that write it, themselves or inside."""
        if part not in self.writes:
            found = self.writes[part] = {}
            for k, stmt in enumerate(part.block.stmts):
                for chain in {self.chains.find(u.targets[0]): None for u in updates_in(stmt)}:
                    found.setdefault(chain, []).append(k)
        return self.writes[part]

    def versions(self, part: Part) -> list[dict[Var, Var]]:
        """For each position of a part, the versions of the restored arrays before the statement there."""
        if part.versions is None:
            if part.parent is None:
                now = {chain: self.op.params[k] for chain, k in self.carried.items()}
            else:
                now = self.versions(part.parent)[part.at]
            part.versions = [now]
            for stmt in part.block.stmts:
                changed = {chain: t for t in stmt.targets if (chain := self.chains.find(t)) in self.carried}
                now = {**now, **changed} if changed else now
                part.versions.append(now)
        return part.versions
