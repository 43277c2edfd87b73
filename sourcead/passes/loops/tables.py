"""Makes a list or tuple of numbers that stand in the program once, before the loops that read its items.

    for i:  t = list(1, 2, 3);  ... t[i] ...          t = list(1, 2, 3);  for i:  ... t[i] ...
    t = list(1, 2, 3);  u = list(1, 2, 3)             t for u
    a = list(1, 2);  b = list(3, 4);  t = list(a, b)  likewise, a table of tables

This is legal where nothing but its items and its length is read: nobody writes it, and nobody can tell one such list from another.
"""

import functools

from sourcead.ir.nodes import Block, Build, Call, Closure, Function, Index, Loop, Slice, Stmt, Var
from sourcead.ir.records import is_made_of_numbers
from sourcead.ir.types import Scalar
from sourcead.ir.walk import count_reads, map_blocks, substitute, walk, with_body, with_stmts


def make_tables_once(function: Function) -> Function:
    """Return the function with each table before the loops around it."""
    tables = _tables(function.body)
    if not tables:
        return function
    rows = {item for _, stmt in _made(function.body, tables) for item in stmt.op.reads}
    same: dict[Var, Var] = {}

    def visit(block: Block, known: dict[str, Var], moved: list[Stmt] | None = None) -> Block:
        """Return the block without the tables that are `known`, and in a loop without others, which are added to `moved`."""
        stmts: list[Stmt] = []
        known = dict(known)  # what one arm of a branch makes is not known in the other

        def add(stmt: Stmt) -> None:
            table = stmt.targets[0]
            first = table if table in rows else known.setdefault(tables[table], table)
            if first is table:
                stmts.append(stmt)
            else:
                same[table] = first

        for stmt in block.stmts:
            if stmt.targets and stmt.targets[0] in tables:
                add(stmt) if moved is None else moved.append(stmt)
                continue
            inner = None if isinstance(stmt.op, Closure) else [] if moved is None and isinstance(stmt.op, Loop) else moved
            stmt = map_blocks(stmt, functools.partial(visit, known=known, moved=inner))
            for table in inner if moved is None and inner else ():
                add(table)
            stmts.append(stmt)
        return with_stmts(block, stmts)

    body = visit(function.body, {})
    return with_body(function, substitute(body, same))


def _tables(block: Block) -> dict[Var, str]:
    """Return the tables that may be moved, and what is in each."""
    contents: dict[Var, str] = {}
    for stmt in walk(block):
        if isinstance(stmt.op, Build) and (found := _content(stmt.op, contents)) is not None:
            contents[stmt.targets[0]] = found
    if not contents:
        return contents
    counts = count_reads(block)
    readers: dict[Var, list[Stmt]] = {}
    for stmt in walk(block):
        match stmt.op:
            case Index(Var() as base, key) if not isinstance(key, Slice | tuple):
                readers.setdefault(base, []).append(stmt)
            case Call(fn, (Var() as base,), ()) if fn is len:
                readers.setdefault(base, []).append(stmt)
            case Build(_, items) if stmt.targets[0] in contents:
                for item in (i for i in items if isinstance(i, Var)):
                    readers.setdefault(item, []).append(stmt)

    def only_items_are_read(v: Var) -> bool:
        """Tell whether nothing but items that are numbers, and lengths, is read of a table or a row of one."""
        of = readers.get(v, [])
        return len(of) == counts.get(v, 0) and all(map(is_fine, of))

    def is_fine(reader: Stmt) -> bool:
        (target,) = reader.targets
        if isinstance(reader.op, Build):
            return target in contents
        return isinstance(target.type, Scalar) or only_items_are_read(target)

    while refused := [v for v in contents if not only_items_are_read(v)]:
        for v in refused:
            del contents[v]
        for v in [v for v, stmt in _made(block, contents) if not set(stmt.op.reads) <= contents.keys()]:
            del contents[v]
    return contents


def _made(block: Block, tables: dict[Var, str]) -> list[tuple[Var, Stmt]]:
    return [(s.targets[0], s) for s in walk(block) if s.targets and s.targets[0] in tables]


def _content(op: Build, tables: dict[Var, str]) -> str | None:
    """Return what is in a list or tuple of numbers that stand in the program, or of tables; None for other containers."""
    if op.kind not in ("list", "tuple") or op.residual or not op.items:
        return None
    items = [tables.get(i) if isinstance(i, Var) else repr(i) if not i.live and is_made_of_numbers(i.value) else None for i in op.items]
    return None if None in items else f"{op.kind}{items}"
