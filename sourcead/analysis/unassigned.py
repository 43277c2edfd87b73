"""Variables that hold nothing yet on some paths: first assigned in a branch, in a loop, or by a `return` in one.

The reverse sweep may save such a variable, or ask for its shape, where it holds nothing.  So before differentiation the
missing value becomes None; what then nobody looks at becomes `UNDEFINED` again, which prints as no statement at all.
"""

from __future__ import annotations

from dataclasses import replace

from sourcead import runtime
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Block, Branch, Build, Call, Const, Effect, Function, Let, Loop, Op, Stmt, Var,
    operand_atoms
)
from sourcead.ir.walk import map_op, op_blocks, walk

NOTHING = Const(None)


def with_nothing(block: Block) -> tuple[Block, set[Var]]:
    """The block with None for each `UNDEFINED`, and the variables that may hold it."""
    if not any(r is UNDEFINED for r in _handed_on(block)):
        return block, set()
    block = _replaced(block, lambda atom: NOTHING if atom is UNDEFINED else atom)
    return block, _holders(block)


def without_nothing(function: Function) -> Function:
    """The function with `UNDEFINED` again where only reads that are never reached, or none, see the None."""
    holders = _holders(function.body)
    if not holders and not any(r is NOTHING for r in _handed_on(function.body)):
        return function
    if _is_looked_at(function.body, holders):
        return function
    return replace(function, body=_replaced(function.body, lambda atom: UNDEFINED if atom is NOTHING else atom))


def _links(stmt: Stmt):
    """Pairs of a variable that a statement with blocks binds, and an atom that it may take over."""
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


def raises(block: Block) -> bool:
    """Whether control never reaches the end of a block."""
    match block.stmts[-1].op if block.stmts else None:
        case Effect("raise"):
            return True
        case Branch(_, then, orelse):
            return raises(then) and raises(orelse)
    return False


def _handed_on(block: Block):
    for stmt in walk(block):
        for _, atom in _links(stmt):
            yield atom


def _holders(block: Block) -> set[Var]:
    """The variables that may hold nothing."""
    takers: dict[Atom, list[Var]] = {}
    todo: list[Atom] = []
    for stmt in walk(block):
        for var, atom in _links(stmt):
            takers.setdefault(atom, []).append(var)
            if atom is NOTHING:
                todo.append(atom)
    found: set[Var] = set()
    while todo:
        for var in takers.get(todo.pop(), ()):
            if var not in found:
                found.add(var)
                todo.append(var)
    return found


def _is_looked_at(block: Block, holders: set[Var]) -> bool:
    """Whether a statement that is also reached where they hold nothing reads one of the holders."""
    tuples: dict[Atom, tuple[Atom, ...]] = {}
    for stmt in walk(block):
        match stmt.op:
            case Build("tuple", items):
                tuples[stmt.targets[0]] = tuple(a for item in items for a in operand_atoms(item))
            case Append(_, value):
                atoms = [part for a in operand_atoms(value) for part in tuples.get(a, (a,))]
                if any(a in holders or a is NOTHING for a in atoms):
                    return True
            case Call(fn, (x,), ()) if fn is runtime.zeros_if_assigned:
                if x in holders or x is NOTHING:
                    return True
    return False


def _replaced(block: Block, f) -> Block:
    """The block with atoms replaced where values are handed on."""

    def visit(b: Block) -> Block:
        stmts = tuple(replace(s, op=op(s.op)) if op_blocks(s.op) else s for s in b.stmts)
        return Block(stmts, b.results if raises(b) else tuple(map(f, b.results)))

    def op(o: Op) -> Op:
        if isinstance(o, Loop):
            o = replace(o, inits=tuple(map(f, o.inits)))
        return map_op(o, lambda a: a, visit)

    return visit(block)
