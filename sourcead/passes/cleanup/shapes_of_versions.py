"""Moves queries of a shape or dtype from one version of an array to another, because all versions have the same.

    query_first_versions:      a1 = a0 with [i] = v;  s = a1.shape        s = a0.shape
    query_current_versions:    a1 = a0 with [i] = v;  s = a0.shape        s = a1.shape

This is legal because a write changes neither shape nor dtype.  With the first, what a loop reads of the shape of an array that it writes
does not depend on the iteration.  The second comes before the text is written, so that no query keeps an old version of an array alive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sourcead.analysis.array_versions import Chains
from sourcead.analysis.queries import queried, query_of
from sourcead.ir.nodes import Atom, Block, Function, Loop, Stmt, Update, Var
from sourcead.ir.types import Array
from sourcead.ir.walk import bound_vars, map_blocks, rewrite, walk
from sourcead.passes.peephole import with_body, with_stmts


def query_first_versions(function: Function) -> Function:
    """Return the function with each query of a shape or dtype moved to the first version of the array."""
    chains = Chains(function.body)
    before: dict[Var, Atom] = {}  # the version that a version was made from
    for stmt in walk(function.body):
        match stmt.op:
            case Update(base) if isinstance(stmt.targets[0].type, Array):
                before[stmt.targets[0]] = base
            case Loop(_, _, params, inits):
                for k in chains.carried_by(stmt).values():
                    if isinstance(params[k].type, Array):
                        before[params[k]] = before[stmt.targets[k]] = inits[k]

    def first(var: Atom) -> Atom:
        while var in before:
            var = before[var]
        return var

    return with_body(function, rewrite(function.body, lambda stmt: [put_to(stmt, first)]))


def query_current_versions(function: Function) -> Function:
    """Return the function with each query of a shape or dtype moved to the version of the array that is current there."""
    chains = Chains(function.body)

    def by_chain(variables) -> dict[Var, Var]:
        return {chains.find(v): v for v in variables if chains.find(v) is not None}

    def visit(block: Block, current: dict[Var, Var]) -> Block:
        stmts = []
        for old in block.stmts:
            stmt = put_to(old, lambda var: current.get(chains.find(var), var))
            inside = {**current, **by_chain(bound_vars(stmt.op))}
            stmts.append(map_blocks(stmt, lambda b, inside=inside: visit(b, dict(inside))))
            current.update(by_chain(stmt.targets))
        return with_stmts(block, stmts)

    return with_body(function, visit(function.body, by_chain(function.params)))


def put_to(stmt: Stmt, version: Callable[[Atom], Atom]) -> Stmt:
    """Return the statement with its query put to `version(array)` if that is known to be an array, else the statement unchanged."""
    array = queried(stmt.op)
    other = None if array is None else version(array)
    is_array = isinstance(other, Var) and isinstance(other.type, Array) and other is not array
    return replace(stmt, op=query_of(stmt.op, other)) if is_array else stmt
