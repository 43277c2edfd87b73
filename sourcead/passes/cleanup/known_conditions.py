"""Use that a condition is known: inside a branch on it, after one of whose arms raises, and that of a loop which never runs.

    if c: pass else: raise ...                             if c: pass else: raise ...
    y = if c: yield a else: yield b                ->      y = a

    y = if c: yield a else: yield b                        y = if c: yield a else: yield None
    z = if c: (use y; yield p) else: yield q       ->      z = if c: (use y; yield p) else: yield q

    y = for i in range(0) with p = a: ... yield b  ->      y = a

The first is legal where control comes only if the condition has this value; the second for the results of an arm that is not taken
whenever they are read: whatever reads them is in a branch on the same condition, or hands them on to a variable for which this holds.
"""

from dataclasses import replace

from sourcead.analysis.conditions import NO_CONDITIONS, Conditions, Excluded, inside, is_possible, learned, raises
from sourcead.analysis.unassigned import NOTHING
from sourcead.ir.nodes import UNDEFINED, Atom, Block, Branch, Const, Function, Let, Loop, Range, Stmt, Var
from sourcead.ir.walk import definitions, has, map_blocks, with_body


def take_known_arms(function: Function) -> Function:
    """Return the function with the arm that is taken in place of each branch on a condition that is known there."""
    if not has(function.body, Branch, Loop):
        return function
    return with_body(function, decided(function.body, definitions(function.body), NO_CONDITIONS, NO_CONDITIONS, Excluded()))


def decided(block: Block, made: dict[Var, Stmt], given: Conditions, known: Conditions, excluded: Excluded) -> Block:
    """Return a block without branches on conditions that are known in it (`with_conditions`)."""
    stmts: list[Stmt] = []
    for stmt in block.stmts:
        before = len(excluded.found)
        blocks = [(b, given | taken, excluded.implied(known, taken)) for b, taken in inside(stmt.op, made, known)]
        reached = [(b, around, holding) for b, around, holding in blocks if is_possible(holding, known)]
        if len(reached) == 1 and isinstance(stmt.op, Branch):
            arm = decided(reached[0][0], made, *reached[0][1:], excluded)
            results = (NOTHING if a is UNDEFINED else a for a in arm.results)  # of an arm that raises
            stmts += (*arm.stmts, *(Stmt((v,), Let(a), stmt.origin) for v, a in zip(stmt.targets, results)))
        elif isinstance(stmt.op, Loop) and never_runs(stmt.op):
            stmts += (Stmt((v,), Let(a), stmt.origin, stmt.adjoint_of) for v, a in zip(stmt.targets, stmt.op.inits))
        else:
            new = iter([decided(b, made, around, holding, excluded) for b, around, holding in blocks])
            stmts.append(map_blocks(stmt, lambda _, new=new: next(new)))
        known = learned(stmt, given, known, excluded, before)
    return block if tuple(stmts) == block.stmts else Block(tuple(stmts), block.results)


def never_runs(loop: Loop) -> bool:
    """Return whether a loop surely runs no iteration, and what it leaves has a value."""
    match loop.domain:
        case Range(Const(start), Const(stop), Const(step)) if all(type(n) is int for n in (start, stop, step)) and step:
            return not range(start, stop, step) and UNDEFINED not in loop.inits
    return False


NEVER: Conditions = frozenset({(NOTHING, True), (NOTHING, False)})  # the condition of a read that does not occur


def drop_unread_arms(function: Function) -> Function:
    """Return the function with None for the results of arms that nothing reads where that arm is taken."""
    if not has(function.body, Branch):
        return function
    made = definitions(function.body)
    reads = read_conditions(function.body, made, NO_CONDITIONS, {v: NO_CONDITIONS for v in function.body.results if isinstance(v, Var)})
    return with_body(function, without_unread(function.body, made, NO_CONDITIONS, reads))


def without_unread(block: Block, made: dict[Var, Stmt], given: Conditions, reads: dict[Var, Conditions]) -> Block:
    """Return a block with None for the results of arms that are not read there; `reads` is what `read_conditions` found."""
    stmts: list[Stmt] = []
    for stmt in block.stmts:
        new: list[Block] = []
        for inner, taken in inside(stmt.op, made, given):
            new.append(without_unread(inner, made, given | taken, reads))
            if isinstance(stmt.op, Branch) and not raises(inner):
                read = [is_possible(reads.get(v, NO_CONDITIONS) | taken) for v in stmt.targets]
                if not all(read):
                    new[-1] = replace(new[-1], results=tuple(a if r else NOTHING for a, r in zip(inner.results, read)))
        blocks = iter(new)
        stmts.append(map_blocks(stmt, lambda _, blocks=blocks: next(blocks)))
    return block if tuple(stmts) == block.stmts else Block(tuple(stmts), block.results)


def read_conditions(block: Block, made: dict[Var, Stmt], given: Conditions, found: dict[Var, Conditions]) -> dict[Var, Conditions]:
    """Return `found`, with the conditions that hold wherever a variable is read in the block; `made` are all definitions.

    The statements are visited last first, because what is handed on is read where its taker is.
    """

    def read(atom: Atom, conditions: Conditions) -> None:
        if isinstance(atom, Var) and is_possible(conditions):
            found[atom] = found[atom] & conditions if atom in found else conditions

    for stmt in reversed(block.stmts):
        for atom in stmt.op.reads:
            read(atom, given)
        for inner, taken in inside(stmt.op, made, given):
            takers = [NO_CONDITIONS] * len(inner.results)
            if isinstance(stmt.op, Branch):
                takers = [] if raises(inner) else [found.get(v, NEVER) for v in stmt.targets]
            for atom, taker in zip(inner.results, takers):
                read(atom, taker | given | taken)
            read_conditions(inner, made, given | taken, found)
    return found
