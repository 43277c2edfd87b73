"""The plan of what a loop saves: a minimum cut between the body and the values that the reverse of an iteration reads.

A value that the reverse reads is restored (a version of an array whose writes are undone), read again from a finished array,
rebuilt from others, or saved.  What is neither rebuilt nor still in scope has one of these places (`Storage`):

    a value that is saved                   hs = []; loop: hs.append(h)             reverse: h = hs.pop()
    a value on leaving an iteration         the value on entry to the next          the reverse loop carries it backward
    an array that is written in place       olds.append(a[i]); a[i] = v             a[i] = olds.pop()

The lists are `Build` ops with `residual`; the passes and engines that keep them in another form find them by
`analysis/residual_stacks.py`.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator
from functools import cache, cached_property

from sourcead.ad.residuals.code_regions import (
    Definition, Region, by_shape, inputs_first, is_metadata_read, makes_zeros, reads, region_of, shape_key
)
from sourcead.ad.residuals.costs import TYPICAL, is_cheap, size
from sourcead.ad.residuals.loop_pair import LoopTask
from sourcead.ad.residuals.minimum_cut import minimum_node_cut
from sourcead.ad.residuals.recomputation import NEVER, Prices
from sourcead.ad.residuals.storage import Storage
from sourcead.ad.reverse.sweep import ReverseBranch, ReverseLoop, Sweep, plain_reads, reverse_ops
from sourcead.analysis.array_versions import updates_in
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.sizes import Size, Sizes, dims_in, known_dtype
from sourcead.ir.nodes import Atom, Attr, Block, Branch, Call, Index, Let, Loop, Op, Stmt, Sub, Update, Var
from sourcead.ir.types import BOOL, INT, Array, dims_of, rank
from sourcead.ir.walk import free_vars
from sourcead.passes.equality import same
from sourcead.primitives.table import record_of

LIST = 1.0  # cost of one more list, in numbers saved
PART = 0.9  # of a part of an array, where its size is not known
IN_ARM = 0.5  # of a value in an arm of a branch, which is not saved in each iteration
BYTE = 0.125  # of a truth value
SHARED = 0.001  # cost of a value that another list holds anyway


class LoopPlan:
    """Decides what a loop saves, given its reverse.

    Attributes:
        task: the loop and its reverse as the rules wrote it.
        carried: the chains of arrays that the reverse of this loop puts back, with the numbers of their variants.
        saves_all: whether all is saved that is not fixed in the loop: the policy "store".
        body, regions: the loop's body as a region, and all regions.
        definitions: where each variable of the body is defined.
        overwritten: what updates that are undone overwrite, which must be saved.
        kept: versions of restored arrays that are saved like other values.
        numbers_in: how many numbers values hold by the estimates of what they are computed from.
    """

    def __init__(self, task: LoopTask, saves_all: bool = False):
        self.task, self.saves_all = task, saves_all
        self.maker, self.chains, self.undone = task.maker, task.maker.chains, task.undone
        self.stmt, self.op = task.stmt, task.op
        self.prices = Prices(task.maker.compiled, task.maker.depth(task.stmt))
        self.carried = task.restored()
        self.numbers_in: dict[Var, float] = {}
        self.regions: list[Region] = []
        self.definitions: dict[Var, Definition] = {}
        self.overwritten: set[Var] = set()
        self.kept: set[Var] = set()
        self.body = self.region(self.op.body, task.raw.op.sweep, None, 0)
        for p in self.op.params:
            self.definitions[p] = Definition(self.body, -1, None)
        self.reread, self.writes_in, self.versions_at = map(cache, (self.reread, self.writes_in, self.versions_at))

    def storage(self) -> Storage:
        """Return the plan of where the loop keeps the values that the reverse of an iteration reads."""
        saved = self.choose(self.collect_reads())
        op, flag = self.op, self.leaving_flag()
        left = {q: p for p, q in zip(op.params, op.body.results) if isinstance(q, Var)}
        carried = {q: p for q, p in left.items() if q is not p and {p, q} <= set(saved)}
        listed = [v for v in saved if v not in carried and v is not flag]
        overwritten = {old: update.targets[0] for r in self.regions for update, old in reversed(r.olds.items())}
        return Storage(listed, carried, flag if flag in saved else None, self.carried, overwritten)

    # -- the body as regions -----------------------------------------------------------------------------------------

    def region(self, block: Block, sweep: Sweep, parent: Region | None, at: int) -> Region:
        """Return a block with its reverse; nested loops are written first."""
        region = region_of(block, sweep, parent, at)
        self.regions.append(region)
        found = reverse_ops(sweep)
        for k, stmt in enumerate(block.stmts):
            self.definitions.update((t, Definition(region, k, stmt)) for t in stmt.targets)
            self.estimate(stmt)
            raw = found.get(stmt) or self.bare_reverse(stmt)
            if raw is not None and stmt not in found:
                region.groups[stmt] = (*region.groups.get(stmt, ()), raw)
            if raw is not None and isinstance(raw.op, ReverseLoop):
                pair = region.loops[stmt] = self.maker.loop(stmt, raw, self.undone)
                for s in (*pair.before, pair.forward):
                    self.definitions.update((t, Definition(region, k, s)) for t in s.targets)
            elif raw is not None:
                arms = (stmt.op.then, raw.op.then), (stmt.op.orelse, raw.op.orelse)
                region.arms[stmt] = tuple(self.region(b, s, region, k) for b, s in arms)
            if isinstance(stmt.op, Update) and self.chains.find(stmt.targets[0]) in self.carried:
                self.plan_undo(region, k, stmt)
        return region

    def estimate(self, stmt: Stmt) -> None:
        """Estimate how many numbers the result of an elementwise call holds: no more than each operand that is not broadcast."""
        match stmt:
            case Stmt((t,), Call(fn, args)) if isinstance(t.type, Array) and record_of(fn).is_elementwise(len(args)):
                kinds = [(a, known) for a in args if isinstance(known := atom_type(a), Array) and rank(known) == rank(t.type)]
                same = [(a, known) for a, known in kinds if known.dims is not None and 1 not in known.dims]
                self.numbers_in[t] = min([size(t.type), *(self.numbers_in.get(a) or size(known) for a, known in same)])

    def bare_reverse(self, stmt: Stmt) -> Stmt | None:
        """Return an empty reverse for a loop or branch that has no adjoint, but writes an array that must be restored."""
        if not isinstance(stmt.op, (Loop, Branch)):
            return None
        if not any(self.chains.find(u.targets[0]) in self.carried for u in updates_in(stmt)):
            return None
        empty = Sweep((), ())
        op = ReverseLoop(stmt, (), (), empty) if isinstance(stmt.op, Loop) else ReverseBranch(stmt, empty, empty)
        return Stmt((), op, stmt.origin, stmt.origin)

    def plan_undo(self, region: Region, at: int, stmt: Stmt) -> None:
        """Add the statements that read what an update overwrites, unless the program has just read the same."""
        op: Update = stmt.op
        if len(op.path) == 1 and isinstance(op.path[0], Sub):
            for s in region.part_reads.get(op.base, ()):
                if region.position[s] < at and same(s.op.key, op.path[0].key):
                    region.olds[stmt] = s.targets[0]
                    self.overwritten.add(s.targets[0])
                    return
        build = Builder()
        build.origin = stmt.origin
        old = build.part(op.base, op.path) if op.path else build.emit(Let(op.base), op.base.type, op.base.name)
        region.olds[stmt] = old
        self.overwritten.add(old)
        region.old_reads[stmt] = build.stmts
        for s in build.stmts:
            for t in s.targets:
                self.definitions[t] = Definition(region, at, s)

    # -- what the reverse reads ----------------------------------------------------------------------------------------

    def read_by(self, stmt: Stmt, saved: Collection[Var] = ()) -> Iterator[Atom]:
        """Yield the values that a statement of the reverse reads, if the values in `saved` are available anyway."""
        for v in plain_reads(stmt):
            match self.asked_instead(v, stmt, saved):
                case None:
                    yield v
                case Var() as other:
                    yield other
                case sizes:
                    yield from (size.var for size in sizes if size.var is not None)

    def asked_instead(self, v: Var, stmt: Stmt, saved: Collection[Var] = ()) -> Var | list[Size] | None:
        """Return a replacement for `v` in a statement that reads only its shape, or None if the statement reads `v` itself.

        The replacement is another array of the same shape and dtype, or arrays that are as large along an axis (`measured_by`).
        """
        if v in saved or not is_metadata_read(v, stmt):
            return None
        return self.of_same_shape(v) or (self.measured_by(v) if makes_zeros(stmt) else None)

    def of_same_shape(self, v: Var) -> Var | None:
        """Return a value from outside the loop that surely has the shape and dtype of `v`."""
        if v not in self.definitions or self.restored(v):
            return None
        return self.outer.get(shape_key(v))

    @cached_property
    def outer(self) -> dict[tuple, Var]:
        """Return the arrays from outside the loop by shape and dtype."""
        return by_shape(self.around(), self.maker.numbers)

    def measured_by(self, v: Var) -> list[Size] | None:
        """Return the size of an array along each axis, or None if it is not known.

        The other arrays are in scope anyway, or are parts of values that do not change in the loop.
        """
        if v not in self.definitions or self.restored(v) or known_dtype(v) is None or v in self.maker.numbers:
            return None
        found = list(map(self.sizes.size, dims_in(v) or ()))
        return None if None in found else found or None

    @cached_property
    def sizes(self) -> Sizes:
        """Return the sizes of the arrays in scope, and of the parts of values that do not change in the loop."""
        fixed = (w for w, d in self.definitions.items() if d.stmt is not None and dims_in(w) and self.is_fixed(w))
        around = (w for w in (*self.around(), *fixed) if isinstance(w, Var))
        return Sizes(w for w in around if dims_in(w) and w not in self.maker.numbers)

    def around(self) -> Iterator[Atom]:
        """Yield the values in scope outside the outermost loop, which no loop has to save, then those outside this loop."""
        outermost = self.maker.nest.stmt
        yield from (w for w in free_vars(outermost.op.body) if w not in outermost.op.params)
        yield from outermost.targets  # a dim that differs between iterations has another name after the loop
        yield from outermost.op.inits
        yield from (w for w in free_vars(self.op.body) if w not in self.op.params)

    def collect_reads(self) -> dict[Var, int]:
        """Return the values of the body that its reverse reads, each with the latest position in its own region at which it does."""
        latest: dict[Var, int] = {}
        for v, region, at in reads(self.body, self.read_by):
            if v in self.definitions:
                latest[v] = max(latest.get(v, -1), self.lifted(region, at, self.definitions[v].region))
        return latest

    def lifted(self, region: Region, at: int, outer: Region) -> int:
        """Return the position in a region that a position in a region nested in it has."""
        while region is not outer and region is not None:
            region, at = region.parent, region.at
        return at

    # -- what to save ----------------------------------------------------------------------------------------------------

    def choose(self, latest: dict[Var, int]) -> list[Var]:
        """Return the values to save, in order of definition, if the reverse reads values at these latest positions."""
        wanted = [v for v in latest if not self.restored(v)]
        nodes: dict[Var, float] = {}
        edges: list[tuple[Var, Var]] = []
        todo = list(wanted)
        while todo:
            v = todo.pop()
            if v in nodes:
                continue
            definition = self.definitions[v]
            nodes[v] = LIST + (BYTE if v.type == BOOL else self.numbers_in.get(v) or size(v.type))
            if definition.stmt is not None and isinstance(definition.stmt.op, Index):
                whole = size(atom_type(definition.stmt.op.base))  # a part is smaller than the whole
                known = size(v.type) < whole or all(isinstance(n, int) for n in dims_of(v.type) or ())
                nodes[v] = LIST + (size(v.type) if known else PART * whole)
            if definition.region is not self.body:
                nodes[v] *= IN_ARM
            if not self.can_rebuild(v, definition):
                continue
            for a in self.inputs(v):
                edges.append((a, v))
                todo.append(a)
        users: dict[Var, list[Var]] = {}
        for a, v in edges:
            users.setdefault(a, []).append(v)
        valid = self.valid_reads(nodes, users, latest)
        works = {v: self.work_again(v, self.definitions[v]) if valid.get(v, True) else NEVER for v in nodes}
        sources = {v: work for v, work in works.items() if work}
        for p, q in zip(self.op.params, self.op.body.results):
            if q in nodes and p in latest and works.get(p) is NEVER and (q in sources or self.takes_work(q)):
                nodes[q] = SHARED
                sources[q] = NEVER
        edges = [(a, v) for a, v in edges if sources.get(v) is not NEVER]
        if self.leaving_flag() in nodes:
            nodes[self.leaving_flag()] = SHARED
        if not wanted:
            return []
        cut = minimum_node_cut(nodes, edges, sources, wanted)
        rank = {v: k for k, v in enumerate(self.definitions)}
        return sorted(cut, key=rank.__getitem__)

    def leaving_flag(self) -> Var | None:
        """Return the value that an iteration yields for the variant that ends the loop, if the body defines it."""
        if self.op.leave is None:
            return None
        flag = self.op.body.results[self.op.params.index(self.op.leave)]
        return flag if isinstance(flag, Var) and flag in self.definitions else None

    def restored(self, v: object) -> bool:
        """Return whether a variable is a version of an array that the reverse sweep restores."""
        return self.chains.find(v) in self.carried and v not in self.kept

    def can_rebuild(self, v: Var, definition: Definition) -> bool:
        """Return whether a value may be computed again."""
        return self.work_again(v, definition) is not NEVER

    def work_again(self, v: Var, definition: Definition) -> float:
        """Return the price of computing a value again.

        An array that is put back must be read before it is; a loop with such arrays computes again only what is cheap.
        """
        stmt = definition.stmt
        if v in self.overwritten:
            return NEVER
        if self.reread(v) is not None:
            return 0.0
        if stmt is None or len(stmt.targets) != 1 or self.saves_all and not self.is_fixed(v) or self.reads_lost_version(v, stmt):
            return NEVER
        work = self.prices.of(stmt.op, v.type)
        return work if not work or not self.carried else NEVER

    def reads_lost_version(self, v: Var, stmt: Stmt) -> bool:
        """Return whether a value is a part of an array that a loop around this one overwrites and does not put back.

        What is read is saved then, if that is less than the whole array, which the loop around would otherwise save in each iteration.
        """
        op, nest = stmt.op, self.maker.nest
        if not isinstance(op, Index) or op.base in self.definitions or stmt not in nest.places:
            return False
        chain, around = self.chains.find(op.base), nest.around.get(op.base, ())
        if chain is None or chain in self.undone or not any(chain in self.chains.carried_by(loop) for loop in around):
            return False
        times = TYPICAL ** (len(nest.places[stmt].loops) - len(around))
        return times * size(v.type) < size(atom_type(op.base))

    def takes_work(self, v: Var) -> bool:
        """Return whether to compute a value again is more than to read it or to take a view."""
        op = self.rebuilding(v)
        return isinstance(op, Call) and record_of(op.fn).view is None

    def is_fixed(self, v: Var) -> bool:
        """Return whether a value is a subscript or a part of what does not change in the loop, or a number that counts."""
        for a in inputs_first(v, lambda a: self.inputs(a) if self.definitions[a].stmt is not None else ()):
            stmt = self.definitions[a].stmt
            if stmt is None or not (isinstance(stmt.op, (Index, Attr, Let)) or atom_type(a) == INT and is_cheap(stmt.op)):
                return False
        return True

    def reread(self, v: Var) -> Index | None:
        """Return the op that reads a value from a finished array in which it is never overwritten, or None if there is none."""
        definition = self.definitions[v].stmt
        nest = self.maker.nest
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
        """Return the op that computes a value again."""
        return self.reread(v) or self.definitions[v].stmt.op

    def inputs(self, v: Var) -> Iterator[Var]:
        """Yield the values of the body that must be available to rebuild a value."""
        for a in self.rebuilding(v).reads:
            if a in self.definitions and not self.restored(a):
                yield a

    def valid_reads(self, nodes, users, latest) -> dict[Var, bool]:
        """Return, for values that read a restored array, whether it has the right version wherever they are rebuilt."""
        needed: dict[Var, int] = {}

        def last(v: Var) -> int:
            if v not in needed:
                for w in inputs_first(v, lambda w: [u for u in users.get(w, ()) if u not in needed]):
                    home = self.definitions[w].region
                    by_users = [self.lifted(self.definitions[u].region, needed.get(u, -1), home) for u in users.get(w, ())]
                    needed[w] = max(latest.get(w, -1), *by_users, -1)
            return needed[v]

        valid = {}
        for v in nodes:
            definition = self.definitions[v]
            if definition.stmt is None:
                continue
            arrays = filter(self.restored, self.rebuilding(v).reads)
            bases = [a for a in arrays if not is_metadata_read(a, definition.stmt)]
            if bases:
                valid[v] = all(last(v) <= self.last_valid(definition, a) for a in bases)
        return valid

    def last_valid(self, definition: Definition, version: Var) -> int:
        """Return the last position, in the region of a definition, at which the array is as it was when it was read.

        The reverse of an update puts the array back before it reads anything; the reverse of a loop or branch does so inside it.
        """
        stmts = definition.region.block.stmts
        positions = self.writes_in(definition.region).get(self.chains.find(version), [])
        following = bisect_left(positions, definition.at)
        if following == len(positions):
            return len(stmts)
        k = positions[following]
        return k if isinstance(stmts[k].op, Update) else k - 1

    def writes_in(self, region: Region) -> dict[Var, list[int]]:
        """Return, for each array, the positions of the statements of a region that write it, themselves or inside."""
        found: dict[Var, list[int]] = {}
        for k, stmt in enumerate(region.block.stmts):
            for chain in {self.chains.find(u.targets[0]): None for u in updates_in(stmt)}:
                found.setdefault(chain, []).append(k)
        return found

    def versions_at(self, region: Region) -> list[dict[Var, Var]]:
        """Return, for each position of a region, the versions of the restored arrays before the statement there."""
        if region.parent is None:
            now = {chain: self.op.params[k] for chain, k in self.carried.items()}
        else:
            now = self.versions_at(region.parent)[region.at]
        found = [now]
        for stmt in region.block.stmts:
            changed = {chain: t for t in stmt.targets if (chain := self.chains.find(t)) in self.carried}
            now = {**now, **changed} if changed else now
            found.append(now)
        return found
