"""The reverse sweep before its residuals are settled.

`reverse.py` writes it as if every value of the forward sweep were still at hand.  `residuals.py` then makes the values
available that it reads, and turns `ReverseLoop` and `ReverseBranch` into plain ops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sourcead.ir.nodes import Atom, Block, Op, Stmt, Var
from sourcead.ir.walk import free_vars, op_blocks, op_reads


@dataclass(frozen=True, eq=False)
class Sweep:
    """The reverse of a block: for each of its statements, last first, the statements of its adjoint.

    `results` are what the reverse of the block yields.  Statements with `forward` None belong to none.
    """

    steps: tuple[tuple[Stmt | None, tuple[Stmt, ...]], ...]
    results: tuple[Atom, ...]

    def stmts(self) -> Iterator[Stmt]:
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
    """The reverse of a branch."""

    forward: Stmt
    then: Sweep
    orelse: Sweep


def sweep_reads(sweep: Sweep) -> Iterator[tuple[Var, Stmt]]:
    """Every variable read in a sweep, with the statement that reads it, nested ones included."""
    for stmt in sweep.stmts():
        yield from stmt_reads(stmt)
    for result in sweep.results:
        if isinstance(result, Var):
            yield result, None


def stmt_reads(stmt: Stmt) -> Iterator[tuple[Var, Stmt]]:
    """Every variable read by a statement of a sweep, nested ones included."""
    match stmt.op:
        case ReverseLoop(_, _, inits, sweep):
            yield from ((a, stmt) for a in inits if isinstance(a, Var))
            yield from sweep_reads(sweep)
        case ReverseBranch(_, then, orelse):
            yield from sweep_reads(then)
            yield from sweep_reads(orelse)
        case _:
            yield from ((v, stmt) for v in plain_reads(stmt))


def plain_reads(stmt: Stmt) -> Iterable[Var]:
    """The variables of other blocks that a statement reads which is no reverse of a loop or branch."""
    return free_vars(Block((stmt,))) if op_blocks(stmt.op) else op_reads(stmt.op)
