"""Moves statements behind the last other reader of an operand, so that their results can take its memory.

    d_y = d_z * scale                  d_scale = sum(d_z * y)
    d_scale = sum(d_z * y)             d_y = d_z * scale          (the last reader of d_z)
    d_x = d_y / n                      d_x = d_y / n

A value that is printed inside another expression reads its operands there.  This is legal if the statement only computes its result,
nothing in between reads the result, and nothing in between writes memory that the statement reads.  It is not done across a statement that
binds the operand's name to another value.
"""

from collections.abc import Callable, Container, Iterator

from sourcead.emit.memory.sharing import AliasGroups, written_in_place
from sourcead.ir.nodes import Block, Stmt, Var
from sourcead.ir.types import rank
from sourcead.ir.walk import reads_inside, walk


def delayed(block: Block, candidates: Callable[[Stmt], list[Var]], nested: Container[Var], groups: AliasGroups) -> Block:
    """Return the block with statements moved.

    Args:
        block: a block whose updates are in place.
        candidates: returns the operands whose memory the result of a statement can take if nothing reads them later.
        nested: the values that are printed inside other expressions.
        groups: the variables that may share memory.
    """
    moved = [stmt for stmt in block.stmts if any(v not in block.results for v in candidates(stmt))]
    if not moved:
        return block
    stmts = list(block.stmts)
    places = {stmt: k for k, stmt in enumerate(stmts)}
    reading: dict[Var, list[Stmt]] = {}
    for stmt in stmts:
        for v in set(reads_inside(stmt.op)):
            reading.setdefault(v, []).append(stmt)

    def readers(v: Var) -> list[int]:
        return [places[stmt] for stmt in reading.get(v, ())] + ([len(stmts)] if v in block.results else [])

    def last_read(v: Var, axes: float) -> int:
        """Return where a value is read last, if values of fewer than so many axes are computed early, and others where they are read."""
        last = -1
        for i in readers(v):
            target = stmts[i].targets[0] if i < len(stmts) and len(stmts[i].targets) == 1 else None
            inside = target in nested and (size := rank(target.type)) is not None and size >= axes
            last = max(last, i, last_read(target, axes) if inside else i)
        return last

    for stmt in moved:
        operands = [v for v in candidates(stmt) if v not in block.results]
        k, first = places[stmt], min(readers(stmt.targets[0]), default=len(stmts))
        read = {groups.find(v) for v in stmt.op.reads}
        for operand, end in ((v, last_read(v, axes)) for v in operands for axes in (0, rank(v.type))):
            between = stmts[k + 1 : end + 1]
            kept = not any(groups.find(w) in read for s in between for w in _written(s))
            if k < end < first and kept and not _named_anew(operand, between, nested):
                stmts[k : end + 1] = [*stmts[k + 1 : end + 1], stmt]
                places.update((s, i) for i, s in enumerate(stmts[k : end + 1], k))
                break
    return block if all(a is b for a, b in zip(stmts, block.stmts)) else Block(tuple(stmts), block.results)


def _named_anew(v: Var, stmts: list[Stmt], nested: Container[Var]) -> bool:
    """Return whether a statement binds another value by the name of one: a text that reads the first value later needs two names."""
    return any(t.name == v.name and t.temp == v.temp and t not in nested for s in stmts for t in s.targets)


def _written(stmt: Stmt) -> Iterator[Var]:
    """Yield the variables whose memory a statement writes, itself or inside its blocks."""
    return (v for s in walk(Block((stmt,))) if isinstance(v := written_in_place(s.op), Var))
