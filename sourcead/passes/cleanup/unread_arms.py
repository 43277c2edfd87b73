"""Results of branches that are read only where the same branch took the other arm.

    y = if c: yield a else: yield b                        y = if c: yield a else: yield None
    z = if c: (use y; yield p) else: yield q       ->      z = if c: (use y; yield p) else: yield q

This is legal for an arm that is not taken whenever the result is read: whatever reads it is in a branch on the same condition, or hands
it on to a variable for which this holds.
"""

from dataclasses import replace

from sourcead.analysis.unassigned import NOTHING, Conditions, is_possible, raises
from sourcead.ir.nodes import Atom, Block, Branch, Function, Stmt, Var
from sourcead.ir.walk import rewrite, with_body


def drop_unread_arms(function: Function) -> Function:
    """Return the function with None for the results of arms that nothing reads where that arm is taken."""
    reads = read_conditions(function.body)

    def change(stmt: Stmt) -> tuple[Stmt]:
        if not isinstance(stmt.op, Branch):
            return (stmt,)

        def arm(block: Block, value: bool) -> Block:
            if raises(block):
                return block
            taken = {(stmt.op.cond, value)}
            kept = tuple(a if is_possible(reads.get(v, Conditions()) | taken) else NOTHING for v, a in zip(stmt.targets, block.results))
            return block if kept == block.results else replace(block, results=kept)

        then, orelse = arm(stmt.op.then, True), arm(stmt.op.orelse, False)
        unchanged = then is stmt.op.then and orelse is stmt.op.orelse
        return (stmt if unchanged else replace(stmt, op=replace(stmt.op, then=then, orelse=orelse)),)

    return with_body(function, rewrite(function.body, change))


def read_conditions(block: Block) -> dict[Var, Conditions]:
    """Return for each variable that is read the conditions of branches that have these values wherever it is read."""
    found: dict[Var, Conditions] = {}

    def read(atom: Atom, given: Conditions) -> None:
        if isinstance(atom, Var) and is_possible(given):
            found[atom] = found[atom] & given if atom in found else given

    def visit(block: Block, given: Conditions) -> None:
        """Record the reads of the statements, last first: what is handed on is read where its taker is."""
        for stmt in reversed(block.stmts):
            for atom in stmt.op.reads:
                read(atom, given)
            if not isinstance(stmt.op, Branch):
                for inner in stmt.op.blocks:
                    for atom in inner.results:
                        read(atom, given)
                    visit(inner, given)
                continue
            for inner, value in ((stmt.op.then, True), (stmt.op.orelse, False)):
                here = given | {(stmt.op.cond, value)}
                for target, atom in zip(stmt.targets, () if raises(inner) else inner.results):
                    if target in found:
                        read(atom, found[target] | here)
                visit(inner, here)

    for atom in block.results:
        read(atom, Conditions())
    visit(block, Conditions())
    return found
