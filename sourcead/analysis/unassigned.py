"""Variables that are unassigned on some paths: first assigned in a branch, in a loop, or by a `return` in one.

    before differentiation      y = if c: yield x else: yield undefined     ->      ... else: yield None
    after it                    y = if c: yield x else: yield None          ->      ... else: yield undefined

The reverse sweep may save such a variable, or read its shape, where it is unassigned; so the missing value is None while a
function is differentiated.  It becomes `UNDEFINED` again, which prints as no statement, if no statement that is reached where a
variable is None reads the variable.
"""

import functools
from collections import defaultdict
from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from typing import Any

from sourcead import runtime
from sourcead.analysis.conditions import (
    NO_CONDITIONS, Conditions, Ways, either, inside, is_possible, known_truth, raises, with_conditions
)
from sourcead.analysis.connected import reachable
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Block, Branch, Build, Call, Const, Function, Index, Let, Loop, Pop, Range, Stmt, Var,
    operand_atoms
)
from sourcead.ir.types import ListT, TupleT, Unknown
from sourcead.ir.walk import bound_vars, definitions, map_blocks, walk

NOTHING = Const(None)  # what a variable is that is not assigned; a None that the program itself assigns is another


def with_nothing(block: Block) -> tuple[Block, dict[Var, Ways]]:
    """Return the block with None in place of each `UNDEFINED`, and the variables that may be None."""
    if not any(r is UNDEFINED or r is NOTHING for r in _handed_on(block)):  # a derivative that is differentiated again has either
        return block, {}
    block = _replaced(block, lambda atom: NOTHING if atom is UNDEFINED else atom)
    return block, may_be_none(block, is_none)


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


def is_none(atom: Atom) -> bool:
    """Return whether an atom is None, be it that of the program or that of a variable that is not assigned."""
    return isinstance(atom, Const) and atom.value is None


def may_be_none(block: Block, is_missing: Callable[[Atom], bool] = lambda atom: atom is NOTHING) -> dict[Var, Ways]:
    """Return the variables that may be unassigned, or may be what `is_missing` tells.

    Each comes with the ways in which that happens, as far as the conditions of branches tell:

        y = if c: yield x else: yield None                          ->      y: c is false
        y = if c: yield None elif d: yield None else: yield x       ->      y: c is true; or c is false and d is true
    """
    if not any(is_missing(atom) for atom in _handed_on(block)):
        return {}
    steps = list(_steps(block, definitions(block)))
    bound_to: dict[Var, list[int]] = defaultdict(list)
    for k, (_, atom, _, _) in enumerate(steps):
        if isinstance(atom, Var):
            bound_to[atom].append(k)
    found: dict[Var, Ways] = {}
    todo = dict.fromkeys(k for k, (_, atom, _, _) in enumerate(steps) if is_missing(atom))
    while todo:
        k = next(iter(todo))
        del todo[k]
        var, atom, given, after = steps[k]
        ways = {NO_CONDITIONS} if is_missing(atom) else found[atom]
        known = frozenset(after(way | given) for way in ways if is_possible(way | given))
        before = found.get(var, frozenset())
        if known and (now := either(before, known)) != before:
            found[var] = now
            todo.update(dict.fromkeys(bound_to[var]))
    return found


def _steps(block: Block, made: dict[Var, Stmt]) -> Iterator[tuple[Var, Atom, Conditions, Callable[[Conditions], Conditions]]]:
    """Yield each variable that is bound to another value, that value, what holds there, and what that tells of it afterwards."""
    for stmt, given in with_conditions(block, made):
        match stmt.op:
            case Branch():
                for arm, taken in inside(stmt.op, made, given):
                    for var, atom in zip(stmt.targets, () if raises(arm) else arm.results):
                        yield var, atom, given | taken, as_before
            case Loop(_, _, params, inits, body):
                bound = {v for s in (stmt, *walk(body)) for v in (*s.targets, *bound_vars(s.op))}  # other values in each iteration
                last = body.results if runs_at_least_once(stmt) else params
                for vars, atoms in ((params, inits), (params, body.results), (stmt.targets, last)):
                    after = functools.partial(after_step, vars=vars, atoms=atoms, bound=bound, made=made)
                    for var, atom in zip(vars, atoms):
                        yield var, atom, given, after
            case _:
                for var, atom in links(stmt):
                    yield var, atom, given, as_before


def as_before(way: Conditions) -> Conditions:
    """Return the conditions that hold after a statement that changes none."""
    return way


def after_step(
    way: Conditions, vars: tuple[Var, ...], atoms: tuple[Atom, ...], bound: Container[Var], made: dict[Var, Stmt]
) -> Conditions:
    """Return what the conditions that hold before a step of a loop tell after it, when the variables are the atoms.

    This is how a flag tells whether a variable is assigned, as after `for v in x: if v > 0: found, first = True, v; break`.

    Args:
        way: the conditions.
        vars: the variants of the loop, or its results.
        atoms: their initial values, or what an iteration yields.
        bound: what is bound in the loop, and has other values in each iteration.
        made: the definitions of all variables.
    """
    kept = {(c, value) for c, value in way if c not in bound}
    for var, atom in zip(vars, atoms):
        truth = known_truth(atom, made, way)
        kept |= set() if truth is None else {(var, truth)}
    return frozenset(kept)


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
    holders = may_be_none(block, lambda atom: atom is UNDEFINED)
    if not holders:
        return set()
    sources: dict[Var, list[Atom]] = defaultdict(list)
    for var, atom, given, _ in _steps(block, definitions(block)):
        if any(is_possible(way | given) for way in holders.get(atom, ())):
            sources[var].append(atom)
    return reachable([a for var, atoms in sources.items() for a in atoms if is_moved(var, a)], lambda var: sources.get(var, ()))


def with_saved(block: Block, holders: Container[Var]) -> set[Var]:
    """Return the holders, and the variables that get their values by way of lists of residuals and of tuples in them."""
    following: dict[Any, list] = defaultdict(list)  # of a variable, of None, and of a place in the tuples of one length
    for stmt in walk(block):
        for var, atom in links(stmt):
            following[atom].append(var)
        match stmt.op:
            case Index(Var(type=TupleT(items)), Const(k)):
                following[len(items), k] += stmt.targets
            case Append() | Pop() | Build() | Index(Var(type=ListT() | Unknown())):
                for atom in stmt.op.reads:
                    following[atom] += stmt.targets
        if isinstance(stmt.op, Build) and stmt.op.kind == "tuple":
            for k, item in enumerate(stmt.op.items):
                following[item].append((len(stmt.op.items), k))
    return {v for v in reachable([*holders, NOTHING], lambda node: following.get(node, ())) if isinstance(v, Var)}


def _is_looked_at(block: Block, holders: dict[Var, Ways]) -> bool:
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
        if any(a is NOTHING or any(is_possible(way | given) for way in holders.get(a, ())) for a in atoms):
            return True
    return False


def _replaced(block: Block, f) -> Block:
    """Return the block with `f(atom)` in place of each atom that a branch or loop hands on to a variable."""

    def visit(b: Block) -> Block:
        return Block(tuple(map_blocks(change(s), visit) for s in b.stmts), b.results if raises(b) else tuple(map(f, b.results)))

    def change(stmt: Stmt) -> Stmt:
        return replace(stmt, op=replace(stmt.op, inits=tuple(map(f, stmt.op.inits)))) if isinstance(stmt.op, Loop) else stmt

    return visit(block)
