"""Residuals: values of the forward sweep that are made available to the reverse sweep, which reads them.

Outside loops they are still in scope.  A branch yields the values of an arm that the arm's reverse reads.  In a loop, of
the values that the reverse of an iteration reads

- some are saved: the forward sweep appends them to a list, the reverse sweep takes them off again;
- the others are rebuilt from those, at the place where the reverse sweep first reads them.

A minimum cut of the body decides which (`plan.py`).  A loop variant is saved on entry; its value on leaving an iteration is the value
on entry to the next, so the reverse loop carries it backward instead of saving it too.

Arrays that are written in place are not saved.  If the reverse of a loop reads such an array, the forward sweep saves what
each write overwrites, and the reverse sweep puts it back when it passes the write:

    forward     old = a[i]; olds.append(old); a[i] = v
    reverse     a[i] = olds.pop()
"""

from dataclasses import dataclass

from sourcead.ad.policies.choose import checkpointed_loop
from sourcead.ad.residuals.branches import Arm, joined
from sourcead.ad.residuals.code_regions import LoopPair, defined_inside, is_metadata_read, substituted
from sourcead.ad.residuals.costs import TYPICAL, is_cheap, size
from sourcead.ad.residuals.loop_pair import LoopTask
from sourcead.ad.residuals.minimum_cut import INFINITE, minimum_node_cut
from sourcead.ad.residuals.notes import LoopNote
from sourcead.ad.residuals.plan import LoopPlan
from sourcead.ad.residuals.save_in_loop import write_loop
from sourcead.ad.reverse.sweep import ReverseLoop, Sweep, reverse_ops, stmt_reads
from sourcead.analysis.array_versions import Chains, updates_in
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.overwrites import Nest
from sourcead.ir.nodes import UNDEFINED, Atom, Block, Branch, Index, Loop, Policy, Stmt, Var
from sourcead.ir.walk import free_vars, walk

AUTO = Policy("auto")


@dataclass(frozen=True)
class Sweeps:
    """The statements of both sweeps of a block, in which every value that the reverse sweep reads is available.

    Attributes:
        forward, reverse: the statements.
        results: what the reverse sweep yields.
        notes: notes for the user on what each loop saves, rebuilds and puts back.
    """

    forward: list[Stmt]
    reverse: list[Stmt]
    results: tuple[Atom, ...]
    notes: list[LoopNote]


def both_sweeps(block: Block, sweep: Sweep, numbers: set[Var], policy: Policy = AUTO, compiled: bool = False) -> Sweeps:
    """Return both sweeps of a block, given its reverse as the rules wrote it.

    Args:
        numbers: variables that are arrays by type and may be numbers.
        policy: the checkpoint policy of the loops that have none of their own.
        compiled: whether the text is compiled, which decides what it takes to compute a value again.
    """
    return SweepMaker(Chains(block), numbers | starting_as_numbers(block, numbers), policy, compiled).sweeps(block, sweep)


def starting_as_numbers(block: Block, numbers: set[Var]) -> set[Var]:
    """Return the initial values of the loop variants that may be numbers, which may be numbers too."""
    loops = (s.op for s in walk(block) if isinstance(s.op, Loop))
    return {a for op in loops for p, a in zip(op.params, op.inits) if p in numbers and isinstance(a, Var)}


class SweepMaker:
    """Writes both sweeps of blocks and loops.

    Attributes:
        chains: the versions of each array that is written in place.
        numbers, policy, compiled: those of `both_sweeps`.
        notes: the notes for the user, those on inner loops first.
        nest: the outermost loop around what is being written.
    """

    def __init__(self, chains: Chains, numbers: set[Var], policy: Policy, compiled: bool = False):
        self.chains, self.numbers, self.policy, self.compiled = chains, numbers, policy, compiled
        self.notes: list[LoopNote] = []
        self.nest: Nest | None = None

    def of_rerun(self, block: Block, sweep: Sweep) -> Sweeps:
        """Return both sweeps of a block that runs again in the reverse sweep."""
        return SweepMaker(Chains(block), self.numbers, self.policy, self.compiled).sweeps(block, sweep)

    # -- code that runs once -----------------------------------------------------------------------------------------

    def sweeps(self, block: Block, sweep: Sweep) -> Sweeps:
        """Return both sweeps of a block outside loops, where the values that its reverse reads are in scope."""
        found = reverse_ops(sweep)
        forward: list[Stmt] = []
        replaced: dict[Stmt, tuple[list[Stmt], dict[Var, Atom]]] = {}
        for stmt in block.stmts:
            raw = found.get(stmt)
            if raw is None:
                forward.append(stmt)
            elif isinstance(raw.op, ReverseLoop):
                self.nest = Nest(stmt, self.chains)
                pair = self.loop(stmt, raw, set())
                forward += [*pair.before, pair.forward]
                put_back = {pair.entry[c]: v for c, v in pair.restored.items() if isinstance(pair.entry[c], Var)}
                replaced[raw] = pair.reverse, put_back
            else:
                new, reverse = self.branch(stmt, raw)
                forward.append(new)
                replaced[raw] = [reverse], {}
        reverse_stmts: list[Stmt] = []
        env: dict[Var, Atom] = {}
        for raw in sweep.stmts():
            stmts, restored = replaced.get(raw, ([raw], {}))
            reverse_stmts += [substituted(s, env) for s in stmts]
            env.update(restored)
        return Sweeps(forward, reverse_stmts, tuple(env.get(r, r) for r in sweep.results), self.notes[::-1])

    def branch(self, stmt: Stmt, raw: Stmt) -> tuple[Stmt, Stmt]:
        """Return a branch outside loops and its reverse, in which each arm yields the values of its own that its reverse reads."""
        op: Branch = stmt.op
        arms = [self.sweeps(block, sweep) for block, sweep in ((op.then, raw.op.then), (op.orelse, raw.op.orelse))]
        exports = []
        for arm in arms:
            local = {t for s in arm.forward for t in s.targets}
            exports.append([v for v in free_vars(Block(tuple(arm.reverse), arm.results)) if v in local])
        outside: dict[Var, Atom] = dict.fromkeys((*exports[0], *exports[1]), UNDEFINED)
        ends = [
            Arm(arm.forward, block.results, {**outside, **{v: v for v in own}})
            for arm, block, own in zip(arms, (op.then, op.orelse), exports)
        ]  # fmt: skip
        new = joined(stmt, op.cond, tuple(ends), outside, op.kind)
        reverse = [
            Arm([substituted(s, outside) for s in arm.reverse], tuple(outside.get(r, r) for r in arm.results), {}) for arm in arms
        ]  # fmt: skip
        return new, joined(raw, op.cond, tuple(reverse), {}, "if")

    # -- which arrays are restored --------------------------------------------------------------------------------------

    def undone_chains(self, stmt: Stmt, raw: Stmt) -> set[Var]:
        """Return the arrays whose writes in this loop the reverse sweep must undo, because it reads them as they were.

        If it takes no more memory, the parts of an array that are read, or what is computed of them, are saved instead of the parts that
        are overwritten.
        """
        carried = self.chains.carried_by(stmt)
        if not carried:
            return set()
        definitions = defined_inside(stmt)
        undone: set[Var] = set()
        reads: dict[Var, set[Var]] = {}
        wanted = [v for v, reader in stmt_reads(raw) if v in definitions and not is_metadata_read(v, reader)]
        todo, edges = [*wanted], []
        seen: set[Var] = set()
        while todo:
            v = todo.pop()
            if v in seen:
                continue
            seen.add(v)
            chain = self.chains.find(v)
            if chain in carried:
                if not self.names_its_parts(chain, stmt):
                    undone.add(chain)
                continue
            definition = definitions[v]
            if definition is None or not is_cheap(definition.op) or self.nest.read_back(v) is not None:
                continue
            if isinstance(definition.op, Index) and self.chains.find(definition.op.base) in carried:
                if self.nest.finished(definition) is None:
                    reads.setdefault(self.chains.find(definition.op.base), set()).add(v)
                continue
            inputs = [a for a in definition.op.reads if a in definitions]
            edges += [(a, v) for a in inputs]
            todo.extend(inputs)
        amounts = {v: size(v.type) * self.times(d) if (d := definitions[v]) is not None else INFINITE for v in seen} if reads else {}
        for chain, values in reads.items():
            written = [u for u in updates_in(stmt) if self.chains.find(u.targets[0]) is chain]
            saved = sum(amounts[v] for v in minimum_node_cut(amounts, edges, dict.fromkeys(values, INFINITE), set(wanted)))
            overwritten = sum(size(atom_type(Builder().part(u.op.base, u.op.path))) * self.times(u) for u in written)
            if saved > overwritten:
                undone.add(chain)
        return undone

    def names_its_parts(self, chain: Var, stmt: Stmt) -> bool:
        """Return whether a loop writes parts of an array that the array itself names, which then cannot tell what is put back where.

        In `going[going] = f(y)` the mask is another one afterwards.
        """
        updates = [u.op for u in updates_in(stmt) if self.chains.find(u.targets[0]) is chain]
        return any(sum(self.chains.find(a) is chain for a in op.reads if a is not op.value) > 1 for op in updates)

    def times(self, stmt: Stmt) -> float:
        """Estimate how often a statement runs during one run of the outermost loop, from the number of loops around it."""
        return TYPICAL ** len(self.nest.places[stmt].loops)

    def depth(self, loop: Stmt) -> int:
        """Return the number of loops in which the body of a loop stands, with the loop itself."""
        return 1 + len(self.nest.places[loop].loops) if loop in self.nest.places else 1

    # -- loops ----------------------------------------------------------------------------------------------------------

    def loop(self, stmt: Stmt, raw: Stmt, undone: set[Var]) -> LoopPair:
        """Return a loop and its reverse, with what passes between them; `undone`: chains that the loop around it puts back."""
        policy = stmt.op.policy or self.policy
        task = LoopTask(self, stmt, raw, undone | self.undone_chains(stmt, raw))
        if policy.name not in ("auto", "store"):
            return checkpointed_loop(task, policy)
        return write_loop(LoopPlan(task, saves_all=policy.name == "store"))
