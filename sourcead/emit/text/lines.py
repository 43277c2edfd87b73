"""Which statement of the user's program each line of a text comes from, for errors of engines that read the text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sourcead.ir.nodes import Origin, Stmt


def mark(nodes: list[ast.stmt], stmt: Stmt) -> list[ast.stmt]:
    """The printed statements of a statement, with what they come from."""
    for node in nodes:
        if not hasattr(node, "origin"):
            node.origin = stmt.adjoint_of or stmt.origin
    return nodes


def origins_by_line(function: ast.FunctionDef, text: str) -> dict[int, Origin]:
    """The user's statement that each line of a function's text comes from, as far as it is known.

    The text is parsed again: its statements are those of the tree that it was printed from, but for comments.
    """
    printed, read = list(_statements(function)), list(_statements(ast.parse(text).body[-1]))
    if len(printed) != len(read):
        return {}
    found = ((r.lineno, getattr(p, "origin", None)) for p, r in zip(printed, read))
    return {line: origin for line, origin in found if origin is not None}


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements inside a statement, in the order in which they stand."""
    for name in ("body", "orelse"):
        for child in getattr(node, name, ()):
            if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Name)):  # a comment
                yield child
                yield from _statements(child)
