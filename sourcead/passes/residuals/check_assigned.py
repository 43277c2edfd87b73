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
from dataclasses import replace

from sourcead import runtime
from sourcead.analysis.conditions import Conditions, Ways, is_possible, with_conditions
from sourcead.analysis.connected import reachable
from sourcead.analysis.unassigned import NOTHING, is_none, links, may_be_none
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Block, Branch, Build, Call, Const, Effect, Function, Let, Loop, Stmt, Var
)
from sourcead.ir.types import BOOL, UNKNOWN
from sourcead.ir.walk import definitions, map_blocks, rewrite, walk, with_body
from sourcead.runtime import checkpoint_schedules as schedules

Flags = dict[Var, Var]  # for a variable, the one that says whether it is assigned
Reads = dict[Stmt, set[Var]]  # what each statement reads that may be unassigned there


def check_assigned(function: Function, lists: bool) -> Function:
    """Return the function with a check before each first read of a variable that may be unassigned.

    Args:
        function: a derivative.
        lists: whether a variable can hold None; if not, variants of loops say what is assigned.
    """
    holders = may_be_none(function.body, lambda atom: atom is NOTHING or not lists and atom is UNDEFINED)
    assigned = may_be_none(function.body, lambda atom: atom is not NOTHING and is_none(atom)) if lists and holders else ()
    holders = {v: given for v, given in holders.items() if v not in assigned}
    if not holders:
        return function
    end = Stmt((), Effect("return", function.body.results))
    body = replace(function.body, stmts=(*function.body.stmts, end))
    reads = {stmt: unassigned_reads(stmt, given, holders) for stmt, given in with_conditions(body, definitions(body))}
    read = set().union(*reads.values())
    if not read:
        return function
    flags = {} if lists else flags_of(function.body, read, holders)
    body = checked_block(body, reads, frozenset(), flags)[0]
    body = replace(body, stmts=body.stmts[:-1])
    return with_body(function, body if lists else with_flags(body, flags))


def unassigned_reads(stmt: Stmt, given: Conditions, holders: dict[Var, Ways]) -> set[Var]:
    """Return the variables that a statement needs and that may be unassigned under the conditions of the branches that it is in.

    What differentiation named itself is assigned wherever the adjoint of a statement reads it.
    """
    reads = {v for v in reads_for_good(stmt) & holders.keys() if any(is_possible(way | given) for way in holders[v])}
    return reads if stmt.adjoint_of is None else {v for v in reads if not v.temp}


def reads_for_good(stmt: Stmt) -> set[Var]:
    """Return the variables whose values a statement needs; saving or handing on a value does not need it."""
    match stmt.op:
        case Let() | Append() | Build("tuple") | Call(runtime.zeros_if_assigned | runtime.unbroadcast | schedules.snapshots_within):
            return set()  # the cotangent of what is not assigned is 0.0, also in its own shape, and it takes no memory
        case Loop(domain, _, _, _, body):
            return set() if isinstance(domain, Block) else set(stmt.op.reads) - set(stmt.op.inits) - set(body.results)
        case Branch(cond):
            return {cond} if isinstance(cond, Var) else set()
    return set(stmt.op.reads)


def check(v: Var, reader: Stmt, flags: Flags) -> list[Stmt]:
    """Return the statements that raise an error unless a variable is assigned, which belong to the place of the statement that reads it."""
    is_assigned = flags.get(v) or Var(f"{v.name}_assigned", BOOL, True)
    asked = [] if v in flags else [Stmt((is_assigned,), Call(operator.is_not, (v, NOTHING)))]
    error, why = Var("error", UNKNOWN, True), f"local variable {v.name!r} has no value"
    raised = (Stmt((error,), Call(UnboundLocalError, (Const(why),)), reader.origin), Stmt((), Effect("raise", (error,)), reader.origin))
    stmts = (*asked, Stmt((), Branch(is_assigned, Block(()), Block(raised))))
    return [replace(s, origin=reader.origin, within=reader.within) for s in stmts]


def checked_block(block: Block, reads: Reads, checked: frozenset[Var], flags: Flags) -> tuple[Block, frozenset[Var]]:
    """Return the block with a check before each first of the `reads` of what may be unassigned, and what is checked at its end."""
    stmts: list[Stmt] = []
    for stmt in block.stmts:
        for v in sorted(reads[stmt] - checked, key=lambda v: v.id):
            stmts += check(v, stmt, flags)
            checked |= {v}
        stmts.append(map_blocks(stmt, lambda b, known=checked: checked_block(b, reads, known, flags)[0]))
    return Block(tuple(stmts), block.results), checked


# ---- variables that say what is assigned ----


def flags_of(block: Block, read: set[Var], holders: dict[Var, Ways]) -> Flags:
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


def with_flags(block: Block, flags: Flags) -> Block:
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


def with_flags_of(variables: tuple[Var, ...], at: list[int], flags: Flags) -> tuple[Var, ...]:
    """Return the variables, and behind them the flags of those at the positions `at`."""
    return (*variables, *(flags[variables[k]] for k in at))
