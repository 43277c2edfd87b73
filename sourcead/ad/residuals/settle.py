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

from dataclasses import replace

from sourcead.ad.policies.choose import checkpointed_loop
from sourcead.ad.residuals.costs import TYPICAL, is_cheap, size
from sourcead.ad.residuals.loop_parts import (
    SettledLoop, defined_inside, is_metadata_read, reverse_ops, substituted, written_size
)
from sourcead.ad.residuals.notes import LoopNote
from sourcead.ad.residuals.plan import LoopPlan
from sourcead.ad.reverse.loop import settle_loop
from sourcead.ad.reverse.sweep import ReverseLoop, Sweep, stmt_reads
from sourcead.analysis.overwrites import Nest
from sourcead.analysis.versions import Chains, updates_in
from sourcead.ir.nodes import UNDEFINED, Atom, Block, Branch, Index, Loop, Policy, Stmt, Var, fresh
from sourcead.ir.walk import free_vars, op_reads, walk

AUTO = Policy("auto")


def settle(
    block: Block, sweep: Sweep, numbers: set[Var], policy: Policy = AUTO
) -> tuple[list[Stmt], list[Stmt], tuple[Atom, ...], list[LoopNote]]:
    """The statements of the forward sweep, those of the reverse sweep, and its results, all values available.

    Last come notes for people: what each loop saves, rebuilds and puts back.  `numbers`: arrays by type that may be numbers.
    `policy` is that of the loops that have none of their own.
    """
    settler = Settler(Chains(block), numbers | starting_as_numbers(block, numbers), policy)
    forward, reverse, results = settler.straight(block, sweep)
    return forward, reverse, results, settler.notes[::-1]


def starting_as_numbers(block: Block, numbers: set[Var]) -> set[Var]:
    """What loop variants that may be numbers are on entry: of their type, and numbers."""
    loops = (s.op for s in walk(block) if isinstance(s.op, Loop))
    return {a for op in loops for p, a in zip(op.params, op.inits) if p in numbers and isinstance(a, Var)}


class Settler:
    def __init__(self, chains: Chains, numbers: set[Var], policy: Policy):
        self.chains, self.numbers, self.policy = chains, numbers, policy
        self.notes: list[LoopNote] = []
        self.nest: Nest | None = None  # the outermost loop being settled

    def anew(self, block: Block) -> Settler:
        """A settler for a block that runs by itself."""
        return Settler(Chains(block), self.numbers, AUTO if self.policy.name == "budget" else self.policy)

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
            "if" if then or orelse else op.kind,
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
            saved = sum(size(v.type) * self.times(definitions[v]) for v in values)
            if saved > sum(written_size(u) * self.times(u) for u in written):
                undone.add(chain)
        return undone

    def times(self, stmt: Stmt) -> float:
        """About how often a statement runs while the outermost loop does: more, the more loops are around it."""
        return TYPICAL ** len(self.nest.places[stmt].loops)

    def carried_inside(self, stmt: Stmt) -> set[Var]:
        """The chains that this loop carries."""
        return set(self.chains.carried_by(stmt))

    # -- loops ----------------------------------------------------------------------------------------------------------

    def loop(self, stmt: Stmt, raw: Stmt, undone: set[Var]) -> SettledLoop:
        """A loop and its reverse, with what passes between them."""
        policy = stmt.op.policy or self.policy
        if policy.name not in ("auto", "store"):
            return checkpointed_loop(self, stmt, raw, undone, policy)
        return settle_loop(LoopPlan(self, stmt, raw, undone, saves_all=policy.name == "store"))
