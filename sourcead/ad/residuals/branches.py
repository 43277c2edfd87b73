"""Branches of either sweep that yield the state that their arms have changed.

    state: l -> l0

    if c: B1; l1 = l0 ++ [a]        l2 = if c: B1; l1 = l0 ++ [a] yielding l1
    else: B2                             else: B2 yielding l0                            state: l -> l2

The state is whatever is carried through the statements: the lists of saved values, the arrays that are put back, and, in code that
runs once, the values that the reverse sweep reads, which do not exist before the arm that defines them.
"""

from dataclasses import dataclass, replace

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Block, Branch, Stmt, Var, fresh


@dataclass(eq=False)
class Arm:
    """An arm of a branch as it was written: its statements, what it yields, and the state that it leaves."""

    stmts: list[Stmt]
    results: tuple[Atom, ...]
    state: dict


def joined(stmt: Stmt, cond: Atom, arms: tuple[Arm, Arm], state: dict, kind: str) -> Stmt:
    """Return `stmt` as a branch with these arms, which yields the part of `state` that either has changed, and update `state`.

    `kind`: that of the branch if its arms change nothing.
    """
    changed = [k for k in state if any(arm.state[k] is not state[k] for arm in arms)]
    versions = {k: (state[k], *(arm.state[k] for arm in arms)) for k in changed}
    outs = {k: fresh(next(v for v in found if isinstance(v, Var))) for k, found in versions.items()}
    blocks = (Block(tuple(arm.stmts), (*arm.results, *(arm.state[k] for k in changed))) for arm in arms)
    state.update(outs)
    return replace(stmt, targets=(*stmt.targets, *outs.values()), op=Branch(cond, *blocks, "if" if changed else kind))


def emit_branch(build: Builder, cond: Atom, then: Arm, orelse: Arm, state: dict) -> None:
    """Emit `if cond: then, else: orelse` and update `state`."""
    build.add(joined(Stmt((), Branch(cond, Block(()), Block(()))), cond, (then, orelse), state, "if"))


def emit_if(build: Builder, cond: Atom, stmts: list[Stmt], state: dict, changed: dict) -> None:
    """Emit `if cond: stmts`, which changes some of the state, and update `state`."""
    emit_branch(build, cond, Arm(stmts, (), {**state, **changed}), Arm([], (), dict(state)), state)
