"""Finds the flags of loops that only decide where `break` stands (`early_exits.py` prints it)."""

from sourcead.ir.nodes import Atom, Block, Branch, Const, Loop, Stmt, Var
from sourcead.ir.walk import walk


def decides(stmt: Stmt, flag: Atom) -> bool:
    """Return whether a statement at the end of a block is a branch in whose arms the value of the flag is known."""
    return isinstance(stmt.op, Branch) and (flag is stmt.op.cond or flag in stmt.targets)


def unprinted_results(function_body: Block, counts: dict[Var, int]) -> set[tuple[Block, int]]:
    """Return the results of blocks that are flags and only decide where `break` stands, so that nothing prints their values."""
    found: set[tuple[Block, int]] = set()

    def decide(block: Block, k: int) -> None:
        flag = block.results[k]
        if isinstance(flag, Const) or not block.stmts or getattr(block.stmts[-1].op, "kind", None) != "if":
            return
        last = block.stmts[-1]
        if not decides(last, flag) or flag is not last.op.cond and counts.get(flag) != 1:
            return
        found.add((block, k))
        if flag is not last.op.cond:
            for arm in (last.op.then, last.op.orelse):
                decide(arm, last.targets.index(flag))

    for stmt in walk(function_body):
        op = stmt.op
        if isinstance(op, Loop) and op.leave is not None:
            k = op.params.index(op.leave)
            if not counts.get(op.leave) and not counts.get(stmt.targets[k]):
                decide(op.body, k)
    return found


def printed_results(block: Block, unprinted: set[tuple[Block, int]]) -> tuple[Atom | None, ...]:
    """Return the results of a block, with None for those whose values are not printed."""
    return tuple(None if (block, k) in unprinted else r for k, r in enumerate(block.results))
