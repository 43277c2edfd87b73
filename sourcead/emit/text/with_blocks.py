"""Puts one `with` around all statements that run inside the same context managers."""

from __future__ import annotations

import ast

from sourcead.ir.nodes import Call, Stmt

Group = tuple[Stmt, list[ast.stmt]]


def in_contexts(printer, groups: list[Group]) -> list[Group]:
    """Return the printed statements of a block, with those that run inside a context (`Stmt.within`) under one `with`.

    Statements between two of them go inside as well, which is legal because the contexts do not change values.
    """
    groups = [g for g in groups if g[1]]
    depth = len(printer.within)
    out: list[Group] = []
    while groups:
        context = _context(groups[0][0], depth)
        if context is None:
            out.append(groups.pop(0))
            continue
        end = 1 + max(k for k, g in enumerate(groups) if _context(g[0], depth) is context and _sweep(g) == _sweep(groups[0]))
        inside, groups = groups[:end], groups[end:]
        outer, printer.within = printer.within, (*printer.within, context)
        body = printer.comments.annotated(in_contexts(printer, inside), at_top=False)
        printer.within = outer
        item = ast.withitem(printer.expressions.op(context), None)
        out.append((inside[0][0], [ast.With([item], body)]))
    return out


def _sweep(group: Group) -> bool:
    """Return whether a statement belongs to the reverse sweep."""
    return group[0].adjoint_of is not None


def _context(stmt: Stmt, depth: int) -> Call | None:
    """Return the outermost context of a statement that is not open yet."""
    return stmt.within[depth] if len(stmt.within) > depth else None
