"""Variables that are unassigned on some paths: first assigned in a branch, in a loop, or by a `return` in one.

    before differentiation      y = if c: yield x else: yield undefined     ->      ... else: yield None
    after it                    y = if c: yield x else: yield None          ->      ... else: yield undefined

The reverse sweep may save such a variable, or read its shape, where it is unassigned; so the missing value is None while a
function is differentiated.  It becomes `UNDEFINED` again, which prints as no statement, if no statement that is reached where a
variable is None reads the variable.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from sourcead import runtime
from sourcead.analysis.conditions import Conditions, inside, is_possible, raises, with_conditions
from sourcead.analysis.connected import reachable
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Block, Branch, Build, Call, Const, Function, Let, Loop, Range, Stmt, Var, operand_atoms
)
from sourcead.ir.walk import bound_vars, definitions, map_blocks, walk

NOTHING = Const(None)


def with_nothing(block: Block) -> tuple[Block, dict[Var, Conditions]]:
    """Return the block with None in place of each `UNDEFINED`, and the variables that may be None."""
    if not any(r is UNDEFINED for r in _handed_on(block)):
        return block, {}
    block = _replaced(block, lambda atom: NOTHING if atom is UNDEFINED else atom)
    return block, may_be_none(block)


def without_nothing(function: Function) -> Function:
    """Return the function with `UNDEFINED` in place of each None, if no read that is reached sees one."""
    holders = may_be_none(function.body)
    if not holders and not any(r is NOTHING for r in _handed_on(function.body)):
        return function
    if _is_looked_at(function.body, holders):
        return function
    return replace(function, body=_replaced(function.body, lambda atom: UNDEFINED if atom is NOTHING else atom))


def links(stmt: Stmt):
    """Yield pairs of a variable that a statement binds and an atom whose value it may get."""
    match stmt.op:
        case Branch(_, then, orelse):
            for arm in (then, orelse):
                if not raises(arm):
                    yield from zip(stmt.targets, arm.results)
        case Loop(_, _, params, inits, body):
            yield from zip(params, inits)
            yield from zip(params, body.results)
            yield from zip(stmt.targets, params)
        case Let(value):
            yield stmt.targets[0], value


def _handed_on(block: Block):
    """Yield the atoms whose values are bound to results of branches or variants of loops."""
    for stmt in walk(block):
        for _, atom in links(stmt):
            yield atom


def may_be_none(block: Block, *missing: Const) -> dict[Var, Conditions]:
    """Return the variables that may be None, or what else is said to be `missing`.

    Each comes with conditions of branches that have these values whenever it is, as far as they are known:

        y = if c: yield x else: yield None      ->      y: c is false
    """
    missing = missing or (NOTHING,)
    made = definitions(block)
    found: dict[Var, Conditions] = {}

    def hand_on(var: Var, atom: Atom, given: Conditions, bound: set[Var] | frozenset = frozenset()) -> None:
        known = given if atom in missing else found[atom] | given if atom in found else None
        if known is not None and is_possible(known):
            known = frozenset((c, value) for c, value in known if c not in bound)
            found[var] = found[var] & known if var in found else known

    before = None
    while found != before:
        before = dict(found)
        for stmt, given in with_conditions(block, made):
            match stmt.op:
                case Branch():
                    for arm, taken in inside(stmt.op, made, given):
                        for var, atom in zip(stmt.targets, () if raises(arm) else arm.results):
                            hand_on(var, atom, given | taken)
                case Loop(body=body):
                    bound = {v for s in (stmt, *walk(body)) for v in (*s.targets, *bound_vars(s.op))}  # other values in each iteration
                    after = dict(zip(stmt.targets, body.results)) if runs_at_least_once(stmt) else {}  # what the last iteration leaves
                    for var, atom in links(stmt):
                        hand_on(var, after.get(var, atom), given, bound)
                case _:
                    for var, atom in links(stmt):
                        hand_on(var, atom, given)
    return found


def runs_at_least_once(stmt: Stmt) -> bool:
    """Return whether a statement is a loop over a range that is known not to be empty."""
    match stmt.op:
        case Loop(Range(Const(start), Const(stop), Const(step))) if all(type(n) is int for n in (start, stop, step)):
            return len(range(start, stop, step)) > 0
    return False


def moved_unassigned(block: Block, is_moved: Callable[[Var, Atom], bool]) -> set[Var]:
    """Return the variables that must be None where they are `UNDEFINED`, because their value is moved to another variable there.

    `is_moved(target, source)` tells whether the text moves a value that is handed on.
    """
    holders = may_be_none(block, UNDEFINED)
    if not holders:
        return set()
    sources: dict[Var, list[Atom]] = defaultdict(list)
    for stmt in walk(block):
        for var, atom in links(stmt):
            if atom in holders:
                sources[var].append(atom)
    return reachable([a for var, atoms in sources.items() for a in atoms if is_moved(var, a)], lambda var: sources.get(var, ()))


def _is_looked_at(block: Block, holders: dict[Var, Conditions]) -> bool:
    """Return whether a statement reads one of the holders at a point where the holder may be None."""
    tuples: dict[Atom, tuple[Atom, ...]] = {}
    for stmt, given in with_conditions(block, definitions(block)):
        match stmt.op:
            case Build("tuple", items):
                tuples[stmt.targets[0]] = tuple(a for item in items for a in operand_atoms(item))
                continue
            case Append(_, value):
                atoms = [part for a in operand_atoms(value) for part in tuples.get(a, (a,))]
            case Call(runtime.zeros_if_assigned, (x,), ()):
                atoms = [x]
            case _:
                continue
        if any(a is NOTHING or a in holders and is_possible(holders[a] | given) for a in atoms):
            return True
    return False


def _replaced(block: Block, f) -> Block:
    """Return the block with `f(atom)` in place of each atom that a branch or loop hands on to a variable."""

    def visit(b: Block) -> Block:
        return Block(tuple(map_blocks(change(s), visit) for s in b.stmts), b.results if raises(b) else tuple(map(f, b.results)))

    def change(stmt: Stmt) -> Stmt:
        return replace(stmt, op=replace(stmt.op, inits=tuple(map(f, stmt.op.inits)))) if isinstance(stmt.op, Loop) else stmt

    return visit(block)
