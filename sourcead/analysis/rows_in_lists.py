"""Whether parts of arrays that were appended to lists keep their values while the arrays are written elsewhere.

    for t in range(n):
        hs[t + 1] = f(hs[t])
        outs.append(hs[t + 1])          a view of a row that no later iteration writes

If so, the list can be treated as holding copies of the rows at the time they were appended.
"""

from __future__ import annotations

from collections.abc import Iterator

from sourcead.analysis.array_versions import Chains
from sourcead.analysis.overwrites import Nest
from sourcead.ir.nodes import Append, Block, Build, Call, Function, Index, Let, Loop, Stmt, Update, Var
from sourcead.ir.types import Array, Unknown
from sourcead.ir.walk import op_blocks


def parts_stay(function: Function) -> bool:
    """Return whether no part of an array that is appended to a list is overwritten afterwards."""
    chains = Chains(function.body)
    places: list[tuple[Stmt, tuple[Stmt, ...]]] = list(_places(function.body, ()))
    definitions = {t: (stmt, loops) for stmt, loops in places for t in stmt.targets}
    order = {stmt: k for k, (stmt, _) in enumerate(places)}
    nests: dict[Stmt, Nest] = {}

    def stays(read: Stmt, loops: tuple[Stmt, ...]) -> bool:
        chain = chains.find(read.op.base)
        if chain is None:
            return True
        around = next((loop for loop in loops if chain in chains.carried_by(loop)), None)
        if around is not None:
            nest = nests.setdefault(around, Nest(around, chains))
            if nest.finished(read) is None:
                return False
        after = order[around if around is not None else read]
        return not any(
            isinstance(stmt.op, Update) and chains.find(stmt.targets[0]) is chain and order[stmt] > after and around not in outer
            for stmt, outer in places
        )

    def is_kept(value: object) -> bool:
        if not isinstance(value, Var) or not isinstance(value.type, (Array, Unknown)):
            return True
        stmt, loops = definitions.get(value, (None, ()))
        match stmt and stmt.op:
            case Let(inner):
                return is_kept(inner)
            case Index():
                return stays(stmt, loops)
            case Call() | Build():
                return True
        return False

    return all(is_kept(stmt.op.value) for stmt, _ in places if isinstance(stmt.op, Append))


def _places(block: Block, loops: tuple[Stmt, ...]) -> Iterator[tuple[Stmt, tuple[Stmt, ...]]]:
    """Yield all statements in the order of the text, each with the loops around it."""
    for stmt in block.stmts:
        yield stmt, loops
        inner = (*loops, stmt) if isinstance(stmt.op, Loop) else loops
        for part in op_blocks(stmt.op):
            yield from _places(part, inner)
