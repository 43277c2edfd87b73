"""Makes the results of a function writable and lets them share memory with no argument, no global and no other result.

    return x        x: a parameter        result = copy(x);  return result
"""

from collections.abc import Iterable
from dataclasses import replace

from sourcead.analysis.builder import operand_type
from sourcead.emit.memory.memory_regions import FOREIGN, copy_call, has_twice
from sourcead.ir.nodes import Atom, Block, Build, Stmt, Var, fresh
from sourcead.ir.walk import count_reads


def owned_results(walk, block: Block, out: list[Stmt]) -> tuple[Atom, ...]:
    """Return the results, with copies in place of those that share memory, and append the copies to `out`."""
    counts = count_reads(block)
    displays = {s.targets[0]: s for s in out if isinstance(s.op, Build) and counts.get(s.targets[0]) == 1}
    given: set[int] = set()
    _note_closures(walk, block.results, given)
    edits: dict[Stmt, list[Stmt]] = {}
    copies: list[Stmt] = []
    results = tuple(_owned(walk, r, given, displays, edits, copies) for r in block.results)
    out[:] = [*(new for s in out for new in edits.get(s, (s,))), *copies]
    return results


def _note_closures(walk, atoms: Iterable[Atom], given: set[int]) -> None:
    """Add to `given` the memory that closures read, which must not be returned beside them."""
    for atom in atoms:
        if atom in walk.closures:
            given |= walk.of(atom).all


def _owned(walk, atom: Atom, given: set[int], displays: dict[Var, Stmt], edits: dict[Stmt, list[Stmt]], copies: list[Stmt]) -> Atom:
    """Return the atom, or a variable that may be returned in its place.

    `copies` gains the statement that binds this; `edits` the statements that replace the display of a tuple, list or dict.
    """
    if atom in walk.closures:
        return atom
    if atom in displays:
        display = displays[atom]
        _note_closures(walk, display.op.items, given)
        before: list[Stmt] = []
        items = tuple(_owned(walk, i, given, displays, edits, before) for i in display.op.items)
        if before:
            edits[display] = [*before, replace(display, op=replace(display.op, items=items))]
        return atom
    memory = walk.of(atom)
    t = operand_type(atom)
    if FOREIGN not in memory.all and not memory.all & given and not has_twice(memory, t):
        given |= memory.all
        return atom
    copy = fresh(atom, temp=True) if isinstance(atom, Var) else Var("result", t, temp=True)
    copies.append(Stmt((copy,), walk.filled.get(atom) or copy_call(atom, t, 2)))
    return copy
