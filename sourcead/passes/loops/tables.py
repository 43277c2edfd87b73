"""Makes a list or tuple of constants once, before the loops that read its items.

    for i:  t = list(1, 2, 3);  ... t[i] ...          t = list(1, 2, 3);  for i:  ... t[i] ...
    t = list(1, 2, 3);  u = list(1, 2, 3)             t for u

This is legal where nothing but its items and its length is read: nobody writes it, and nobody can tell one such list from another.
"""

import functools
from collections import Counter

from sourcead.ir.nodes import Block, Build, Call, Closure, Const, Function, Index, Loop, Stmt, Var
from sourcead.ir.records import is_made_of_numbers
from sourcead.ir.walk import count_reads, map_blocks, substitute, walk, with_body, with_stmts


def make_tables_once(function: Function) -> Function:
    """Return the function with each list or tuple of constants before the loops around it."""
    made = {s.targets[0] for s in walk(function.body) if is_table(s)}
    if not made:
        return function
    counts, reads = count_reads(function.body), Counter(map(_read_of, walk(function.body)))
    tables = {v for v in made if counts[v] == reads[v]}
    same: dict[Var, Var] = {}

    def visit(block: Block, known: dict[str, Var], moved: list[Stmt] | None = None) -> Block:
        """Return the block without the tables that are `known`, and in a loop without others, which are added to `moved`."""
        stmts: list[Stmt] = []

        def add(stmt: Stmt) -> None:
            key = f"{stmt.op.kind} {stmt.op.items}"
            if key in known:
                same[stmt.targets[0]] = known[key]
            else:
                known[key] = stmt.targets[0]
                stmts.append(stmt)

        for stmt in block.stmts:
            if stmt.targets and stmt.targets[0] in tables:
                add(stmt) if moved is None else moved.append(stmt)
                continue
            inner = None if isinstance(stmt.op, Closure) else [] if moved is None and isinstance(stmt.op, Loop) else moved
            stmt = map_blocks(stmt, functools.partial(visit, known=dict(known), moved=inner))
            for table in inner if moved is None and inner else ():
                add(table)
            stmts.append(stmt)
        return with_stmts(block, stmts)

    body = visit(function.body, {})
    return with_body(function, substitute(body, same))


def is_table(stmt: Stmt) -> bool:
    """Tell whether a statement makes a list or tuple of numbers that stand in the program."""
    op = stmt.op
    return isinstance(op, Build) and op.kind in ("list", "tuple") and bool(op.items) and not op.residual and all(
        isinstance(item, Const) and not item.live and is_made_of_numbers(item.value) for item in op.items
    )


def _read_of(stmt: Stmt) -> Var | None:
    """Return the variable of which a statement reads an item or the length."""
    match stmt.op:
        case Index(Var() as base):
            return base
        case Call(fn, (Var() as base,), ()) if fn is len:
            return base
    return None
