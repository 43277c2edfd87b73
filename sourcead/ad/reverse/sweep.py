"""The reverse sweep as the rules write it, as if every value of the forward sweep were still available.

`ad/residuals/` then makes the values available that it reads, and turns `ReverseLoop` and `ReverseBranch` into loops and branches.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sourcead.ir.nodes import Atom, Block, Op, Stmt, Var
from sourcead.ir.walk import free_vars


@dataclass(frozen=True, eq=False)
class Sweep:
    """The reverse of a block.

    Attributes:
        steps: for each statement of the block, last first, the statements of its adjoint; None where they belong to no statement.
        results: what the reverse of the block yields.
    """

    steps: tuple[tuple[Stmt | None, tuple[Stmt, ...]], ...]
    results: tuple[Atom, ...]

    def stmts(self) -> Iterator[Stmt]:
        """Yield the statements in order."""
        for _, stmts in self.steps:
            yield from stmts


@dataclass(frozen=True, eq=False)
class ReverseLoop(Op):
    """The reverse of a loop: carries cotangents (`params`, from `inits`) backward through its iterations."""

    forward: Stmt
    params: tuple[Var, ...]
    inits: tuple[Atom, ...]
    sweep: Sweep


@dataclass(frozen=True, eq=False)
class ReverseBranch(Op):
    """The reverse of a branch, as the rules write it."""

    forward: Stmt
    then: Sweep
    orelse: Sweep


def reverse_ops(sweep: Sweep) -> dict[Stmt, Stmt]:
    """Return, for each loop and branch that has a reverse in the sweep, the statement of its reverse."""
    return {s.op.forward: s for s in sweep.stmts() if isinstance(s.op, (ReverseLoop, ReverseBranch))}


def stmt_reads(stmt: Stmt) -> Iterator[tuple[Var, Stmt]]:
    """Yield every variable that a statement of a sweep and those inside it read, with the statement that reads it."""
    match stmt.op:
        case ReverseLoop(_, _, inits, sweep):
            own, sweeps = inits, (sweep,)
        case ReverseBranch(_, then, orelse):
            own, sweeps = (), (then, orelse)
        case _:
            own, sweeps = plain_reads(stmt), ()
    yield from ((v, stmt) for v in own if isinstance(v, Var))
    for sweep in sweeps:
        for inner in sweep.stmts():
            yield from stmt_reads(inner)
        yield from ((v, None) for v in sweep.results if isinstance(v, Var))


def plain_reads(stmt: Stmt) -> Iterable[Var]:
    """Return the variables from other blocks that a statement reads, if it is not the reverse of a loop or branch."""
    return free_vars(Block((stmt,))) if stmt.op.blocks else stmt.op.reads
