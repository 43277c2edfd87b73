"""Results of branches that are read only where the same branch took the other arm.

    y = if c: yield a else: yield b                        y = if c: yield a else: yield None
    z = if c: (use y; yield p) else: yield q       ->      z = if c: (use y; yield p) else: yield q

This is legal for an arm that is not taken whenever the result is read: whatever reads it is in a branch on the same condition, or hands
it on to a variable for which this holds.
"""

from dataclasses import replace

from sourcead.analysis.unassigned import NOTHING, Conditions, inside, is_possible, raises
from sourcead.ir.nodes import Atom, Block, Branch, Function, Stmt, Var
from sourcead.ir.walk import definitions, rewrite, with_body

NEVER: Conditions = frozenset({(NOTHING, True), (NOTHING, False)})  # the condition of a read that does not occur


def drop_unread_arms(function: Function) -> Function:
    """Return the function with None for the results of arms that nothing reads where that arm is taken."""
    made = definitions(function.body)
    reads = read_conditions(function.body, made)

    def change(stmt: Stmt) -> tuple[Stmt]:
        if not isinstance(stmt.op, Branch):
            return (stmt,)
        old, new = (stmt.op.then, stmt.op.orelse), []
        for arm, taken in inside(stmt.op, made):
            read = [is_possible(reads[v] | taken) if v in reads else True for v in stmt.targets]
            unchanged = all(read) or raises(arm)
            new.append(arm if unchanged else replace(arm, results=tuple(a if r else NOTHING for a, r in zip(arm.results, read))))
        return (stmt if new == [*old] else replace(stmt, op=replace(stmt.op, then=new[0], orelse=new[1])),)

    return with_body(function, rewrite(function.body, change))


def read_conditions(block: Block, made: dict[Var, Stmt]) -> dict[Var, Conditions]:
    """Return for each variable that is read the conditions of branches that hold wherever it is read; `made` are all definitions."""
    found: dict[Var, Conditions] = {}

    def read(atom: Atom, given: Conditions) -> None:
        if isinstance(atom, Var) and is_possible(given):
            found[atom] = found[atom] & given if atom in found else given

    def visit(block: Block, given: Conditions) -> None:
        """Record the reads of the statements, last first: what is handed on is read where its taker is."""
        for stmt in reversed(block.stmts):
            for atom in stmt.op.reads:
                read(atom, given)
            for inner, taken in inside(stmt.op, made):
                if not isinstance(stmt.op, Branch):
                    takers = [given] * len(inner.results)
                else:
                    takers = [found.get(v, NEVER) for v in (() if raises(inner) else stmt.targets)]
                for atom, taker in zip(inner.results, takers):
                    read(atom, taker | given | taken)
                visit(inner, given | taken)

    for atom in block.results:
        read(atom, Conditions())
    visit(block, Conditions())
    return found
