"""Residuals: making the values of the forward sweep available to the reverse sweep.

Outside loops they are still in scope.  In a loop, of the values that the reverse of an iteration reads

- some are saved: the forward sweep appends them to a list, the reverse sweep takes them off again;
- the others are rebuilt from those, at the place where the reverse sweep first reads them.

A minimum cut of the body decides which (`mincut.py`, `costs.py`).  A loop variant is saved on entry; its value on leaving
an iteration is the value on entry of the one after, so the reverse loop carries it backward instead of saving it too.

Arrays that are written in place are not saved.  If the reverse of a loop reads such an array, the forward sweep saves what
each write overwrites, and the reverse sweep puts it back when it passes the write:

    forward     old = a[i]; olds.append(old); a[i] = v
    reverse     a[i] = olds.pop()
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from sourcead.ad.costs import is_cheap, size
from sourcead.ad.mincut import minimum_node_cut
from sourcead.ad.sweep import ReverseBranch, ReverseLoop, Sweep, stmt_reads
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.chains import Chains, updates_in
from sourcead.analysis.overwrites import Nest
from sourcead.ir.nodes import (
    UNDEFINED,
    Append,
    Atom,
    Attr,
    Block,
    Branch,
    Build,
    Call,
    Const,
    Index,
    Let,
    Loop,
    Op,
    Pop,
    Range,
    Slice,
    Stmt,
    Sub,
    Update,
    Var,
    View,
    free_vars,
    fresh,
    has_effect,
    map_op,
    map_operand,
    op_blocks,
    op_reads,
    operand_atoms,
)
from sourcead.ir.types import INT, Array, ListT, Scalar, is_array

METADATA = ("shape", "size", "ndim", "dtype")
SHARED = 0.001  # cost of a value that another list holds anyway


def settle(block: Block, sweep: Sweep) -> tuple[list[Stmt], list[Stmt], tuple[Atom, ...], list[str]]:
    """The statements of the forward sweep, those of the reverse sweep, and its results, all values available.

    Last come notes for people: what each loop saves, rebuilds and puts back.
    """
    settler = Settler(Chains(block))
    forward, reverse, results = settler.straight(block, sweep)
    return forward, reverse, results, settler.notes[::-1]


@dataclass(eq=False)
class SettledLoop:
    """A loop with its reverse: statements before it, the loop, its reverse, and the arrays that the reverse restores."""

    before: list[Stmt]
    forward: Stmt
    reverse: list[Stmt]
    restored: dict[Var, Var]  # chain -> its version on entry, put back
    entry: dict[Var, Atom]  # chain -> the variable of that version


class Settler:
    def __init__(self, chains: Chains):
        self.chains = chains
        self.notes: list[str] = []
        self.nest: Nest | None = None  # the outermost loop being settled

    # -- code that runs once -----------------------------------------------------------------------------------------

    def straight(self, block: Block, sweep: Sweep) -> tuple[list[Stmt], list[Stmt], tuple[Atom, ...]]:
        """A block outside loops: what its reverse reads is in scope."""
        found = reverse_ops(sweep)
        forward: list[Stmt] = []
        replaced: dict[Stmt, tuple[list[Stmt], dict]] = {}
        for stmt in block.stmts:
            raw = found.get(stmt)
            if raw is None:
                forward.append(stmt)
            elif isinstance(raw.op, ReverseLoop):
                self.nest = Nest(stmt, self.chains)
                undone = self.undone_chains(stmt, raw)
                settled = self.loop(stmt, raw, undone)
                forward += [*settled.before, settled.forward]
                replaced[raw] = settled.reverse, {
                    settled.entry[c]: v for c, v in settled.restored.items() if isinstance(settled.entry[c], Var)
                }
            else:
                new, reverse = self.straight_branch(stmt, raw)
                forward.append(new)
                replaced[raw] = [reverse], {}
        reverse_stmts: list[Stmt] = []
        env: dict[Var, Atom] = {}
        for raw in sweep.stmts():
            stmts, restored = replaced.get(raw, ([raw], {}))
            reverse_stmts += [substituted(s, env) for s in stmts]
            env.update(restored)
        return forward, reverse_stmts, tuple(env.get(r, r) for r in sweep.results)

    def straight_branch(self, stmt: Stmt, raw: Stmt) -> tuple[Stmt, Stmt]:
        """A branch outside loops: what the reverse of an arm reads of the arm, the arm yields."""
        op: Branch = stmt.op
        arms, exports, reverse_blocks = [], [], []
        for block, sweep in ((op.then, raw.op.then), (op.orelse, raw.op.orelse)):
            forward, reverse, results = self.straight(block, sweep)
            local = {t for s in forward for t in s.targets}
            reads = dict.fromkeys(v for v in free_vars(Block(tuple(reverse), results)) if v in local)
            outside = {v: fresh(v) for v in reads}
            arms.append(forward)
            exports.append(outside)
            reverse_blocks.append(Block(
                tuple(substituted(s, outside) for s in reverse), tuple(outside.get(r, r) for r in results)
            ))  # fmt: skip
        then, orelse = exports
        new = Branch(
            op.cond,
            Block(tuple(arms[0]), (*op.then.results, *then, *[UNDEFINED] * len(orelse))),
            Block(tuple(arms[1]), (*op.orelse.results, *[UNDEFINED] * len(then), *orelse)),
            op.kind,
        )
        targets = (*stmt.targets, *then.values(), *orelse.values())
        return replace(stmt, targets=targets, op=new), replace(raw, op=Branch(op.cond, *reverse_blocks))

    # -- which arrays are restored --------------------------------------------------------------------------------------

    def undone_chains(self, stmt: Stmt, raw: Stmt) -> set[Var]:
        """The arrays whose writes in this loop the reverse sweep must undo, because it reads them as they were."""
        carried = self.carried_inside(stmt)
        if not carried:
            return set()
        definitions = defined_inside(stmt)
        undone: set[Var] = set()
        reads: dict[Var, set[Var]] = {}
        todo = [v for v, reader in stmt_reads(raw) if v in definitions and not is_metadata_read(v, reader)]
        seen: set[Var] = set()
        while todo:
            v = todo.pop()
            if v in seen:
                continue
            seen.add(v)
            chain = self.chains.find(v)
            if chain in carried:
                undone.add(chain)
                continue
            definition = definitions[v]
            if definition is None or not is_cheap(definition.op) or self.nest.read_back(v) is not None:
                continue
            if isinstance(definition.op, Index) and self.chains.find(definition.op.base) in carried:
                if self.nest.finished(definition) is None:
                    reads.setdefault(self.chains.find(definition.op.base), set()).add(v)
                continue
            todo.extend(a for a in op_reads(definition.op) if a in definitions)
        for chain, values in reads.items():
            written = [u for u in updates_in(stmt) if self.chains.find(u.targets[0]) is chain]
            if sum(size(v.type) for v in values) > sum(map(written_size, written)):
                undone.add(chain)
        return undone

    def carried_inside(self, stmt: Stmt) -> set[Var]:
        """The chains that this loop carries."""
        return set(self.chains.carried_by(stmt))

    # -- loops ----------------------------------------------------------------------------------------------------------

    def loop(self, stmt: Stmt, raw: Stmt, undone: set[Var]) -> SettledLoop:
        """A loop and its reverse, with what passes between them."""
        return LoopPlan(self, stmt, raw, undone).settled()


def reverse_ops(sweep: Sweep) -> dict[Stmt, Stmt]:
    """For each loop and branch that has a reverse in the sweep, the statement of its reverse."""
    return {s.op.forward: s for s in sweep.stmts() if isinstance(s.op, (ReverseLoop, ReverseBranch))}


def defined_inside(stmt: Stmt) -> dict[Var, Stmt | None]:
    """The variables defined inside a statement's blocks, with their statements (None for variants and indices)."""
    found: dict[Var, Stmt | None] = {}

    def visit(op: Op) -> None:
        if isinstance(op, Loop):
            found.update(dict.fromkeys(op.params))
        for block in op_blocks(op):
            for s in block.stmts:
                found.update(dict.fromkeys(s.targets, s))
                visit(s.op)

    visit(stmt.op)
    return found


def is_metadata_read(v: Var, reader: Stmt | None) -> bool:
    """Whether a statement reads only shape or dtype of a variable."""
    if reader is None:
        return False
    match reader.op:
        case Attr(base, name):
            return base is v and name in METADATA
        case Call(fn, (x,), ()) if fn in (np.zeros_like, len):
            return x is v and is_array(v.type)
    return False


def written_size(update: Stmt) -> float:
    """About how many numbers an update overwrites."""
    return size(part_type(update))


def part_type(update: Stmt):
    """The type of the part that an update overwrites."""
    build = Builder()
    return atom_type(read_part(build, update.op.base, update.op.path))


def read_part(build: Builder, base: Atom, path: tuple) -> Atom:
    """Emits the read of the part of an array at a path."""
    for step in path:
        if isinstance(step, Sub):
            base = build.index(base, step.key)
        else:
            base = build.call(step.fn, base, *step.args, **dict(step.kwargs))
    return base


def described(t) -> str:
    """A type as people say it."""
    match t:
        case Scalar(kind):
            return kind
        case Array(dtype, dims):
            rank = "" if dims is None else f", {len(dims)} {'axis' if len(dims) == 1 else 'axes'}"
            return f"array{'' if dtype is None else f' of {dtype}'}{rank}"
        case ListT(item):
            return f"list of {described(item)}"
    return "value"


def substituted(stmt: Stmt, env: dict[Var, Atom]) -> Stmt:
    """The statement with variables replaced throughout."""
    if not env:
        return stmt

    def f(atom):
        return env.get(atom, atom)

    def visit(block: Block) -> Block:
        return Block(
            tuple(replace(s, op=map_op(s.op, f, visit)) for s in block.stmts), tuple(map_operand(r, f) for r in block.results)
        )

    return replace(stmt, op=map_op(stmt.op, f, visit))


# -- one loop --------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Part:
    """A block of a loop's body, not inside a nested loop: the body itself or an arm of a branch in it."""

    block: Block
    head: tuple[Stmt, ...]  # what its reverse does first, belonging to no statement
    groups: dict[Stmt, tuple[Stmt, ...]]  # the adjoint of each statement
    tail: tuple[Stmt, ...]
    results: tuple[Atom, ...]
    parent: Part | None = None
    at: int = 0  # position of the branch in the parent
    arms: dict[Stmt, tuple[Part, Part]] = field(default_factory=dict)
    loops: dict[Stmt, SettledLoop] = field(default_factory=dict)
    olds: dict[Stmt, Var] = field(default_factory=dict)  # what an update that is undone overwrites
    old_reads: dict[Stmt, list[Stmt]] = field(default_factory=dict)  # statements that read it
    versions: list[dict[Var, Var]] | None = None  # see LoopPlan.versions

    def positions(self) -> dict[Stmt, int]:
        return {s: k for k, s in enumerate(self.block.stmts)}


@dataclass(eq=False)
class Definition:
    """Where a variable of the forward body is defined: in which part, by which statement (None for a variant)."""

    part: Part
    at: int
    stmt: Stmt | None


class LoopPlan:
    """Decides what a loop saves, and writes it and its reverse."""

    def __init__(self, settler: Settler, stmt: Stmt, raw: Stmt, undone: set[Var]):
        self.settler, self.chains = settler, settler.chains
        self.stmt, self.raw, self.op = stmt, raw, stmt.op
        self.carried = {c: k for c, k in self.chains.carried_by(stmt).items() if c in undone}
        self.undone = undone
        self.definitions: dict[Var, Definition] = {}
        self.overwritten: set[Var] = set()  # what updates that are undone overwrite: it must be saved
        self.body = self.part(self.op.body, raw.op.sweep, None, 0)
        for p in self.op.params:
            self.definitions[p] = Definition(self.body, -1, None)
        self.outer: dict | None = None  # arrays from outside the loop, by dims and dtype
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
            for s in part.block.stmts[:at]:
                if isinstance(s.op, Index) and s.op.base is op.base and same_operand(s.op.key, op.path[0].key):
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
        positions = part.positions()
        for stmts, at in [(part.head, len(positions)), (part.tail, -1)] + [(g, positions[s]) for s, g in part.groups.items()]:
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
                    for v in op_reads(stmt.op):
                        if is_metadata_read(v, stmt) and self.asked_instead(v) is not None:
                            continue
                        self.note(v, part, at)
        for result in part.results:
            self.note(result, part, -1)
        for update, old in part.olds.items():
            at = positions[update]
            self.note(old, part, at)
            for step in update.op.path:
                for operand in (step.key,) if isinstance(step, Sub) else (*step.args, *(v for _, v in step.kwargs)):
                    for a in operand_atoms(operand):
                        self.note(a, part, at)

    def asked_instead(self, v: Var) -> Var | None:
        """A value from outside the loop that surely has the shape and dtype of `v`, to be asked in its place."""
        if v not in self.definitions or self.restored(v) or not isinstance(v.type, Array) or v.type.dims is None:
            return None
        if self.outer is None:
            self.outer = {}
            for w in free_vars(self.op.body):
                if isinstance(w.type, Array) and w.type.dims is not None and w not in self.op.params:
                    self.outer.setdefault((w.type.dims, str(w.type.dtype)), w)
        return self.outer.get((v.type.dims, str(v.type.dtype)))

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
        sources: list[Var] = []
        latest = dict(self.reads)
        todo = list(wanted)
        order: list[Var] = []
        while todo:
            v = todo.pop()
            if v in nodes:
                continue
            nodes[v] = size(v.type)
            order.append(v)
            definition = self.definitions[v]
            if not self.can_rebuild(v, definition):
                continue
            for a in self.inputs(v):
                edges.append((a, v))
                todo.append(a)
        users: dict[Var, list[Var]] = {}
        for a, v in edges:
            users.setdefault(a, []).append(v)
        valid = self.valid_reads(nodes, users, latest)
        for v in nodes:
            definition = self.definitions[v]
            if not self.can_rebuild(v, definition) or v in valid and not valid[v]:
                sources.append(v)
                edges = [e for e in edges if e[1] is not v]
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
        return stmt is not None and len(stmt.targets) == 1 and is_cheap(stmt.op) and not has_effect(stmt.op)

    def reread(self, v: Var) -> Index | None:
        """The read of a value from a finished array, where it stands unharmed."""
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
                needed[v] = latest.get(v, -1)
                for u in users.get(v, ()):
                    at, part, target = last(u), self.definitions[u].part, self.definitions[v].part
                    while part is not target and part is not None:
                        part, at = part.parent, part.at
                    needed[v] = max(needed[v], at)
            return needed[v]

        valid = {}
        for v in nodes:
            definition = self.definitions[v]
            if definition.stmt is None:
                continue
            bases = [a for a in op_reads(self.rebuilding(v)) if self.restored(a)]
            if bases:
                valid[v] = all(last(v) <= self.last_valid(definition, a) for a in bases)
        return valid

    def last_valid(self, definition: Definition, version: Var) -> int:
        """The last position, in the part of the definition, at which the array is as it was when it was read.

        The reverse of an update puts the array back before anything else, that of a loop or branch only inside.
        """
        chain = self.chains.find(version)
        stmts = definition.part.block.stmts
        for k in range(definition.at, len(stmts)):
            if any(self.chains.find(u.targets[0]) is chain for u in updates_in(stmts[k])):
                return k if isinstance(stmts[k].op, Update) else k - 1
        return len(stmts)

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

    # -- writing it ----------------------------------------------------------------------------------------------------

    def settled(self) -> SettledLoop:
        op = self.op
        exits = {q: k for k, q in enumerate(op.body.results) if isinstance(q, Var)}
        saved = set(self.saved)
        shared = {
            q: op.params[k] for q, k in exits.items() if q in saved and op.params[k] in saved and q is not op.params[k]
        }  # the value on leaving, which the reverse loop carries
        flag = self.leaving_flag()
        listed = [v for v in self.saved if v not in shared and v is not flag]
        lists = {v: Var(f"{v.name}s", ListT(v.type), v.temp) for v in listed}
        before = [Stmt((lists[v],), Build("list", ()), self.stmt.origin) for v in listed]

        # forward
        count = None if isinstance(op.domain, Range) and op.leave is None else Var("n", INT, True)
        variants = {v: fresh(lists[v]) for v in listed}
        state = dict(variants)
        stmts = self.forward_part(self.body, state)
        params = [*op.params, *variants.values()]
        inits = [*op.inits, *lists.values()]
        yields = [*op.body.results, *(state[v] for v in listed)]
        outs = {v: fresh(lists[v]) for v in listed}
        targets = [*self.stmt.targets, *outs.values()]
        if count is not None:
            inside, more, total = fresh(count), fresh(count), fresh(count)
            stmts.insert(0, Stmt((more,), Call(operator.add, (inside, Const(1)))))
            params.append(inside)
            inits.append(Const(0))
            yields.append(more)
            targets.append(total)
        forward = replace(
            self.stmt, targets=tuple(targets),
            op=replace(op, params=tuple(params), inits=tuple(inits), body=Block(tuple(stmts), tuple(yields))),
        )  # fmt: skip

        # reverse
        setup = Builder()
        setup.origin = setup.adjoint_of = self.stmt.origin
        if count is None:
            domain = reversed_range(setup, op.domain)
            index = fresh(op.index)
        elif isinstance(op.domain, Range):
            domain = reversed_range(setup, begun_range(setup, op.domain, total))
            index = fresh(op.index)
        else:
            domain, index = Range(Const(0), total, Const(1)), Var("_", INT, True)
        writer = Writer(self, lists={v: fresh(lists[v]) for v in listed})
        if op.index is not None:
            writer.env[op.index] = index
        carried_params, carried_inits, ends = [], [], []
        for q, p in shared.items():
            exit_ = fresh(q, name=p.name)
            writer.env[q] = exit_
            carried_params.append(exit_)
            carried_inits.append(self.stmt.targets[exits[q]])
            ends.append(lambda w, p=p: w.value(p, self.body))
        if flag in saved:  # true in the last iteration at most
            left = fresh(flag, name=op.leave.name, temp=op.leave.temp)
            writer.env[flag] = left
            carried_params.append(left)
            carried_inits.append(self.stmt.targets[exits[flag]])
            ends.append(lambda w: Const(False))
        for chain, k in self.carried.items():
            now = fresh(op.params[k])
            writer.now[chain] = now
            carried_params.append(now)
            carried_inits.append(self.stmt.targets[k])
            ends.append(lambda w, chain=chain: w.now[chain])
        list_params = list(writer.lists.values())
        results = writer.part(self.body)
        carried_yields = [end(writer) for end in ends]
        writer.drain(self.body)
        raw = self.raw
        if count is not None and index not in free_vars(Block(tuple(writer.stmts), (*results, *carried_yields))):
            setup.stmts, domain = [], Range(Const(0), total, Const(1))
        reverse_op = Loop(
            domain, index,
            (*raw.op.params, *carried_params, *list_params),
            (*raw.op.inits, *carried_inits, *outs.values()),
            Block(tuple(writer.stmts), (*results, *carried_yields, *writer.lists.values())),
        )  # fmt: skip
        carried_targets = [fresh(p) for p in carried_params]
        reverse_targets = (*raw.targets, *carried_targets, *(fresh(p) for p in list_params))
        reverse = [*setup.stmts, replace(raw, targets=reverse_targets, op=reverse_op)]
        self.settler.notes.append(self.note_for_people(listed, shared, writer.rebuilt))
        restored = dict(zip(self.carried, carried_targets[len(carried_targets) - len(self.carried) :]))
        entry = {c: op.inits[k] for c, k in self.carried.items()}
        return SettledLoop(before, forward, reverse, restored, entry)

    def note_for_people(self, listed: list[Var], shared: dict[Var, Var], rebuilt: list[Var]) -> str:
        """What this loop saves, in words."""
        origin = self.stmt.origin
        where = f"line {origin.line}, `{origin.text.splitlines()[0].strip()}`" if origin else "a loop"
        olds = {self.overwritten_array(v): v for v in listed if v in self.overwritten}
        parts = []
        kept = [f"{v.name} ({described(v.type)})" for v in listed if v not in self.overwritten]
        kept += [f"what is overwritten of {name} ({described(v.type)})" for name, v in olds.items()]
        parts.append("saves in each iteration " + ", ".join(kept) if kept else "saves nothing")
        carried = sorted({p.name for p in shared.values()})
        if carried:
            parts.append(f"carries {', '.join(carried)} backward, whose value on leaving an iteration is that on entering the next")
        if self.carried:
            parts.append(f"puts back {', '.join(self.op.params[k].name for k in self.carried.values())} as it was")
        names = list(dict.fromkeys(v.name for v in rebuilt if not v.temp))
        if names:
            parts.append(f"rebuilds {', '.join(names)}")
        return f"{where}: " + "; ".join(parts)

    def overwritten_array(self, old: Var) -> str:
        """The name of the array of which a saved value is what an update overwrites."""
        todo = [self.body]
        while todo:
            part = todo.pop()
            for update, v in part.olds.items():
                if v is old:
                    return update.targets[0].name
            todo += [arm for arms in part.arms.values() for arm in arms]
        return old.name

    def forward_part(self, part: Part, state: dict[Var, Var]) -> list[Stmt]:
        """The statements of a part with what it saves; `state`: the current version of each list."""
        stmts: list[Stmt] = []

        def save(variables) -> None:
            for v in variables:
                if v in state and self.definitions[v].part is part:
                    new = fresh(state[v])
                    stmts.append(Stmt((new,), Append(state[v], v), stmts[-1].origin if stmts else self.stmt.origin))
                    state[v] = new

        if part is self.body:
            save(self.op.params)
        for stmt in part.block.stmts:
            if stmt in part.old_reads:
                for s in part.old_reads[stmt]:
                    stmts.append(s)
                    save(s.targets)
            if stmt in part.loops:
                settled = part.loops[stmt]
                for s in (*settled.before, settled.forward):
                    stmts.append(s)
                    save(s.targets)
                continue
            if stmt in part.arms:
                stmt = self.forward_branch(stmt, part.arms[stmt], state)
            stmts.append(stmt)
            save(stmt.targets)
        return stmts

    def forward_branch(self, stmt: Stmt, arms: tuple[Part, Part], state: dict[Var, Var]) -> Stmt:
        """A branch whose arms may save."""
        blocks, ends = [], []
        for arm in arms:
            inner = dict(state)
            blocks.append(self.forward_part(arm, inner))
            ends.append(inner)
        changed = [v for v in state if any(end[v] is not state[v] for end in ends)]
        outs = {v: fresh(state[v]) for v in changed}
        op = Branch(
            stmt.op.cond,
            *(
                Block(tuple(b), (*old.results, *(end[v] for v in changed)))
                for b, end, old in zip(blocks, ends, (stmt.op.then, stmt.op.orelse))
            ),
            stmt.op.kind,
        )
        state.update(outs)
        return replace(stmt, targets=(*stmt.targets, *outs.values()), op=op)


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
        if not isinstance(v, Var) or v in self.env:
            return self.env.get(v, v)
        plan = self.plan
        definition = plan.definitions.get(v)
        if definition is None:
            return v
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
        stmt = definition.stmt
        new = fresh(v)
        op = map_op(plan.rebuilding(v), lambda a: self.value(a, part))
        self.stmts.append(Stmt((new,), op, stmt.origin, adjoint_of, stmt.within))
        self.env[v] = new
        self.rebuilt.append(v)
        return new

    def write(self, stmt: Stmt, part: Part) -> None:
        """Writes a statement of the sweep, after what it reads."""
        self.mark = (stmt.origin, stmt.adjoint_of)
        env = {}
        for v in free_vars(Block((stmt,))):
            other = self.plan.asked_instead(v) if is_metadata_read(v, stmt) and v not in self.env else None
            env[v] = other or self.value(v, part, is_metadata_read(v, stmt))
        self.stmts.append(substituted(stmt, {v: a for v, a in env.items() if a is not v}))

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
        found: dict[Var, None] = {}

        def note(v) -> None:
            definition = self.plan.definitions.get(v)
            if definition is None or v in found:
                return
            if definition.part is not arm and not inside(definition.part, arm):
                if not self.plan.restored(v):
                    found[v] = None
            elif v not in self.lists and self.plan.can_rebuild(v, definition):
                for a in op_reads(self.plan.rebuilding(v)):
                    note(a)

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
                    for v in op_reads(stmt.op):
                        if not (is_metadata_read(v, stmt) and self.plan.asked_instead(v) is not None):
                            note(v)
            for r in p.results:
                note(r)
            for update, old in p.olds.items():
                note(old)
                for step in update.op.path:
                    for operand in (step.key,) if isinstance(step, Sub) else (*step.args, *(v for _, v in step.kwargs)):
                        for a in operand_atoms(operand):
                            note(a)

        visit(arm)
        return list(found)


def inside(part: Part | None, ancestor: Part) -> bool:
    """Whether a part is nested in another."""
    while part is not None:
        if part is ancestor:
            return True
        part = part.parent
    return False


def same_operand(a, b) -> bool:
    """Whether two operands surely have the same value."""
    match a, b:
        case tuple(), tuple():
            return len(a) == len(b) and all(map(same_operand, a, b))
        case Slice(l1, u1, s1), Slice(l2, u2, s2):
            return same_operand(l1, l2) and same_operand(u1, u2) and same_operand(s1, s2)
        case Const(v, None, False), Const(w, None, False):
            return type(v) is type(w) and v == w
    return a is b


def begun_range(build: Builder, domain: Range, count: Var) -> Range:
    """The first `count` numbers of a range."""
    stop = count
    if is_literal(domain.step, -1):
        return Range(domain.start, build.call(operator.sub, domain.start, stop, type=INT), domain.step)
    if not is_literal(domain.step, 1):
        stop = build.call(operator.mul, stop, domain.step, type=INT)
    if not is_literal(domain.start, 0):
        stop = build.call(operator.add, domain.start, stop, type=INT)
    return Range(domain.start, stop, domain.step)


def is_literal(atom: Atom, number: int) -> bool:
    return isinstance(atom, Const) and type(atom.value) is int and atom.value == number and not atom.live


def reversed_range(build: Builder, domain: Range) -> Range:
    """The same numbers, last first."""
    start, stop, step = domain.start, domain.stop, domain.step

    def number(atom):
        return atom.value if isinstance(atom, Const) and type(atom.value) is int and not atom.live else None

    def shifted(atom, by: int):
        if number(atom) is not None:
            return Const(number(atom) + by)
        return build.call(operator.add if by > 0 else operator.sub, atom, Const(abs(by)), type=INT)

    s = number(step)
    if s in (1, -1):
        return Range(shifted(stop, -s), shifted(start, -s), Const(-s))
    length = build.call(len, build.call(range, start, stop, step), type=INT, name="n")
    offset = build.call(operator.mul, shifted(length, -1), step, type=INT)
    last = build.call(operator.add, start, offset, type=INT)
    before = build.call(operator.sub, start, step, type=INT)
    return Range(last, before, build.call(operator.neg, step, type=INT) if s is None else Const(-s))
