"""The variables that a block reads, the last statement that reads each, and the variables whose memory the block would write."""

from collections.abc import Callable
from functools import cache

from sourcead.analysis.array_versions import queried
from sourcead.ir.nodes import Append, Block, Branch, Loop, Pop, Stmt, Update, Var
from sourcead.ir.types import Array, is_known_container
from sourcead.ir.walk import bound_vars

Live = Callable[[Var], bool]


class Reads:
    """The variables that blocks read for more than their shape or dtype, computed once for each block."""

    def __init__(self):
        self.of, self.free, self.last, self.written = map(cache, (self.of, self.free, self.last, self.written))

    def of(self, stmt: Stmt) -> set[Var]:
        """Return the outer variables that a statement reads, itself or inside its blocks."""
        own = stmt.op.reads if queried(stmt.op) is None else ()
        return set(own).union(*(self.free(b) for b in stmt.op.blocks)).difference(bound_vars(stmt.op))

    def free(self, block: Block) -> frozenset[Var]:
        """Return the variables that a block reads and does not define."""
        found: dict[Var, None] = {}
        for stmt in block.stmts:
            found.update(dict.fromkeys(self.of(stmt)))
        found.update((r, None) for r in block.results if isinstance(r, Var))
        return frozenset(found).difference(*(s.targets for s in block.stmts))

    def last(self, block: Block) -> dict[Var, int]:
        """Return the position of the last statement that reads each variable; for a result of the block, the number of its statements."""
        last = {v: k for k, stmt in enumerate(block.stmts) for v in self.of(stmt)}
        return last | {r: len(block.stmts) for r in block.results if isinstance(r, Var)}

    def written(self, block: Block) -> dict[Var, int]:
        """Return the variables whose memory the block would write: 1 for their own, 2 for that of their elements as well."""
        levels: dict[Var, int] = {}
        self._note_written(block, levels)
        return levels

    def _note_written(self, block: Block, levels: dict[Var, int]) -> None:
        def note(v, level):
            if isinstance(v, Var) and level > levels.get(v, 0):
                levels[v] = level

        for stmt in reversed(block.stmts):
            op, after = stmt.op, [levels.get(t, 0) for t in stmt.targets]
            match op:
                case Update(base):
                    level = written_level(op)
                    note(base, max(level, after[0]) if level else 0)
                case Append(base) | Pop(base):
                    note(base, max(2 if op.path else 1, after[0]))
                case Branch(_, then, orelse):
                    for arm in (then, orelse):
                        for result, level in zip(arm.results, after):
                            note(result, level)
                        self._note_written(arm, levels)
                case Loop(_, _, params, inits):
                    self._note_loop(op, levels, note)
                    for init, param, level in zip(inits, params, after):
                        note(init, max(level, levels.get(param, 0)))
                case _:
                    for inner in op.blocks:
                        for result, level in zip(inner.results, after):
                            note(result, level)
                        self._note_written(inner, levels)

    def _note_loop(self, op: Loop, levels: dict[Var, int], note) -> None:
        """Note the variables that a loop writes: a value yielded for a parameter that is written is written in the next iteration."""
        while True:
            before = [levels.get(p, 0) for p in op.params]
            self._note_written(op.body, levels)
            for param, result in zip(op.params, op.body.results):
                note(result, levels.get(param, 0))
            if before == [levels.get(p, 0) for p in op.params]:
                return


def written_level(op: Update) -> int:
    """Return what an update in place writes: 0 for nothing (it is a sum), 1 for the base's own memory, 2 for its elements' too."""
    t = op.base.type if isinstance(op.base, Var) else None
    if isinstance(t, Array):
        return 1
    if not op.path:
        return 2 if is_known_container(t) else 0
    return 1 if len(op.path) == 1 and op.mode == "set" else 2
