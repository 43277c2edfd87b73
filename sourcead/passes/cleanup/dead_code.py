"""Dead code elimination: statements, loop variants and results of branches on which no result and no effect depends.

    y = sin(x);  return x                                              return x
    r, s = loop (p = a, q = b) ...: ...; yield p1, q1;  return r       r = loop (p = a) ...: ...; yield p1;  return r

This is legal for whatever the results of the function and its effects do not reach when they are followed backward.  Results of branches
and loop variants are followed one by one, so that a variant on which only itself depends is removed, and a list that is never read.
"""

import copy
from collections.abc import Iterable, Sequence

from sourcead.analysis.connected import reachable
from sourcead.ir.nodes import (
    AdjointBlock, Atom, Block, Branch, Call, Closure, Effect, Function, Loop, Stmt, Var, operand_atoms
)
from sourcead.ir.walk import bound_vars, handed_on, map_blocks, with_body, with_results, with_stmts


def remove_dead(function: Function) -> Function:
    """Return the function without statements, loop variants and branch results that nothing depends on."""
    needs = _Needs(function.body)
    live = reachable([*needs.effects, *function.body.results], needs.of)
    return with_body(function, _kept(function.body, live))


def needed_variants(loop: Stmt, variables: Iterable[Var]) -> tuple[list[int], set[Var]]:
    """Return the numbers of the loop variants that `variables` of the body depend on in any iteration, and all such variables."""
    needs = _Needs(Block((loop,), ()))
    live = reachable([*needs.effects, *variables], needs.of)
    return [k for k, target in enumerate(loop.targets) if target in live], live


class _Needs:
    """The statements and variables that each statement and variable of a block depends on.

    Attributes:
        parents: the statement whose block holds a statement.
        makers: for a variable, the statement that binds it, with all that a branch or loop hands on to it.
        effects: the effects; those inside a nested function, which happen only if it is called, are `deferred`, by the function.
    """

    def __init__(self, block: Block):
        self.parents: dict[Stmt, Stmt | None] = {}
        self.makers: dict[Var, tuple[Stmt | Atom, ...]] = {}
        self.effects: list[Stmt] = []
        self.deferred: dict[Stmt, list[Stmt]] = {}
        self.survey(block, None, self.effects)

    def survey(self, block: Block, parent: Stmt | None, effects: list[Stmt]) -> None:
        """Record which statement binds each variable, and the effects."""
        for stmt in block.stmts:
            self.parents[stmt] = parent
            for target in stmt.targets:
                self.makers[target] = (stmt,)
            if isinstance(stmt.op, Call) and not stmt.op.effect:
                continue
            self.makers.update(dict.fromkeys(bound_vars(stmt.op), (stmt,)))
            for group in handed_on(stmt):
                self.makers.update((v, (stmt, *group)) for v in group[: 2 if isinstance(stmt.op, Loop) else 1])
            inside = self.deferred.setdefault(stmt, []) if isinstance(stmt.op, Closure) else effects
            for inner in stmt.op.blocks:
                self.survey(inner, stmt, inside)
            if isinstance(stmt.op, Effect) or isinstance(stmt.op, Call) and stmt.op.effect and stmt.op.fn is not copy.copy:
                effects.append(stmt)  # a copy of an object from outside keeps its place, but only what is read of it counts

    def of(self, one: Stmt | Atom) -> Sequence[Stmt | Atom]:
        """Return what a live statement or variable makes live directly: for a statement, what it reads outside its blocks."""
        if not isinstance(one, Stmt):
            return self.makers.get(one, ())
        parent = self.parents[one]
        around = () if parent is None else (parent,)
        match one.op:
            case Loop(domain, _, _, _, _, leave, policy):
                of_domain = domain.results if isinstance(domain, Block) else operand_atoms(domain)
                return *around, *of_domain, *operand_atoms(policy), *operand_atoms(leave)
            case Closure(_, body) | AdjointBlock(_, _, body):
                return *around, *one.op.reads, *body.results, *self.deferred.get(one, ())
        return *around, *one.op.reads


def _kept(block: Block, live: set[Stmt | Atom]) -> Block:
    """Return the block with its live statements, without their dead results."""
    return with_stmts(block, [_trimmed(s, live) for s in block.stmts if s in live])


def _trimmed(stmt: Stmt, live: set[Stmt | Atom]) -> Stmt:
    """Return a live statement without its dead results and without the dead statements in its blocks."""
    if not stmt.op.blocks:
        return stmt
    stmt = map_blocks(stmt, lambda block: _kept(block, live))
    trims = isinstance(stmt.op, (Branch, Loop))
    return with_results(stmt, [k for k, target in enumerate(stmt.targets) if target in live]) if trims else stmt
