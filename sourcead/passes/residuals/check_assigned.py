"""Raise what Python raises where a name is read that may be unassigned, if the text would go on with something else.

    t = c[0]                       c may hold None      ->      if c is None: raise UnboundLocalError(...)
                                                                t = c[0]

    c = loop (c0 = undefined):     for Numba            ->      c, b = loop (c0 = undefined, b0 = False):
        ...; yield c1                                               ...; yield c1, True
    t = c[0]                                                    if not b: raise UnboundLocalError(...)
                                                                t = c[0]

Where `UNDEFINED` prints as no statement, Python itself raises the error.  Compiled code would read what happens to be in memory, and has
None for arrays alone: there a variant says whether the name is assigned.  This is legal everywhere, as it only adds statements that raise.
"""

import operator
from collections.abc import Callable
from dataclasses import replace

from sourcead import runtime
from sourcead.analysis.conditions import Conditions, inside, is_possible, with_conditions
from sourcead.analysis.connected import reachable
from sourcead.analysis.unassigned import NOTHING, links, may_be_none
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Block, Branch, Build, Call, Const, Effect, Function, Let, Loop, Stmt, Var
)
from sourcead.ir.types import BOOL, UNKNOWN
from sourcead.ir.walk import definitions, map_blocks, rewrite, walk, with_body

Checked = frozenset[Var]


def check_assigned(function: Function, lists: bool) -> Function:
    """Return the function with a check before each first read of a variable that may be unassigned.

    Args:
        function: a derivative.
        lists: whether a variable can hold None; if not, variants of loops say what is assigned.
    """
    holders = may_be_none(function.body, *((NOTHING,) if lists else (NOTHING, UNDEFINED)))
    made = definitions(function.body)
    returned = {a for a in function.body.results if a in holders}
    read = returned.union(*(unassigned_reads(stmt, given, holders) for stmt, given in with_conditions(function.body, made)))
    if not read:
        return function
    body, condition = function.body, holds_none
    if not lists:
        flags = flags_of(body, read, holders)
        body = with_flags(body, flags)

        def condition(v: Var) -> tuple[list[Stmt], Atom]:
            return [], flags[v]

    body, checked = checked_block(body, holders, made, frozenset(), condition)
    stmts = [s for v in sorted(returned - checked, key=lambda v: v.id) for s in check(v, condition, None)]
    return with_body(function, replace(body, stmts=(*body.stmts, *stmts)))


def unassigned_reads(stmt: Stmt, given: Conditions, holders: dict[Var, Conditions]) -> set[Var]:
    """Return the variables that a statement needs and that may be unassigned under the conditions of the branches that it is in."""
    return {v for v in reads_for_good(stmt) & holders.keys() if is_possible(holders[v] | given)}


def reads_for_good(stmt: Stmt) -> set[Var]:
    """Return the variables whose values a statement of the forward sweep needs; saving or handing on a value does not need it."""
    match stmt.op:
        case _ if stmt.adjoint_of is not None:
            return set()
        case Let() | Append() | Build("tuple") | Call(runtime.zeros_if_assigned | runtime.unbroadcast):
            return set()  # the cotangent of what is not assigned is 0.0, also in its own shape
        case Loop(domain, _, _, _, body):
            return set() if isinstance(domain, Block) else set(stmt.op.reads) - set(stmt.op.inits) - set(body.results)
        case Branch(cond):
            return {cond} if isinstance(cond, Var) else set()
    return set(stmt.op.reads)


def holds_none(v: Var) -> tuple[list[Stmt], Atom]:
    """Return the statements that compute whether a variable is assigned, and the variable that tells it."""
    found = Var(f"{v.name}_assigned", BOOL, True)
    return [Stmt((found,), Call(operator.is_not, (v, Const(None))))], found


def check(v: Var, condition: Callable, reader: Stmt | None) -> list[Stmt]:
    """Return the statements that raise an error unless a variable is assigned, which belong to the place of the statement that reads it."""
    origin, within = (reader.origin, reader.within) if reader else (None, ())
    before, is_assigned = condition(v)
    error, why = Var("error", UNKNOWN, True), f"local variable {v.name!r} has no value"
    raised = (Stmt((error,), Call(UnboundLocalError, (Const(why),)), origin), Stmt((), Effect("raise", (error,)), origin))
    stmts = (*before, Stmt((), Branch(is_assigned, Block(()), Block(raised))))
    return [replace(s, origin=origin, within=within) for s in stmts]


def checked_block(
    block: Block, holders: dict[Var, Conditions], made: dict[Var, Stmt], checked: Checked, condition: Callable,
    given: Conditions = frozenset(),
) -> tuple[Block, Checked]:
    """Return the block with a check before each first read of a variable that may be unassigned there, and what is checked at its end."""
    stmts: list[Stmt] = []
    for stmt in block.stmts:
        for v in sorted(unassigned_reads(stmt, given, holders) - checked, key=lambda v: v.id):
            stmts += check(v, condition, stmt)
            checked |= {v}
        blocks = iter([checked_block(b, holders, made, checked, condition, given | taken)[0] for b, taken in inside(stmt.op, made, given)])
        stmts.append(map_blocks(stmt, lambda _, after=blocks: next(after)))
    return Block(tuple(stmts), block.results), checked


# ---- variables that say what is assigned ----


def flags_of(block: Block, read: set[Var], holders: dict[Var, Conditions]) -> dict[Var, Var]:
    """Return a variable for each of the variables in `read`, and for those whose values they may get, that says whether it is assigned."""
    sources: dict[Var, list[Var]] = {}
    for stmt in walk(block):
        for target, atom in links(stmt):
            if atom in holders:
                sources.setdefault(target, []).append(atom)
        if isinstance(stmt.op, Loop):  # a loop has a result for each variant
            for p, target in zip(stmt.op.params, stmt.targets):
                sources.setdefault(p, []).append(target)
    needed = sorted(reachable(read, lambda v: sources.get(v, ())), key=lambda v: v.id)
    return {v: Var(f"{v.name}_assigned", BOOL, True) for v in needed}


def with_flags(block: Block, flags: dict[Var, Var]) -> Block:
    """Return the block with the variables that say what is assigned."""

    def flag(atom: Atom) -> Atom:
        return Const(False) if atom is UNDEFINED or atom is NOTHING else flags.get(atom, Const(True))

    def change(stmt: Stmt) -> list[Stmt]:
        op = stmt.op
        match op:
            case Let(value) if stmt.targets[0] in flags:
                return [stmt, replace(stmt, targets=(flags[stmt.targets[0]],), op=Let(flag(value)))]
            case Branch(_, then, orelse):
                at = [k for k, v in enumerate(stmt.targets) if v in flags]
                then, orelse = (replace(arm, results=(*arm.results, *(flag(arm.results[k]) for k in at))) for arm in (then, orelse))
                return [replace(stmt, targets=with_flags_of(stmt.targets, at, flags), op=replace(op, then=then, orelse=orelse))]
            case Loop(_, _, params, inits, body):
                at = [k for k, v in enumerate(params) if v in flags]
                results = (*body.results, *(flag(body.results[k]) for k in at))
                made = replace(
                    op, params=with_flags_of(params, at, flags), inits=(*inits, *(flag(inits[k]) for k in at)),
                    body=replace(body, results=results),
                )  # fmt: skip
                return [replace(stmt, targets=with_flags_of(stmt.targets, at, flags), op=made)]
        return [stmt]

    return rewrite(block, change)


def with_flags_of(variables: tuple[Var, ...], at: list[int], flags: dict[Var, Var]) -> tuple[Var, ...]:
    """Return the variables, and behind them the flags of those at the positions `at`."""
    return (*variables, *(flags[variables[k]] for k in at))
