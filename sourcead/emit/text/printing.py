"""Prints a tree as text with its comments, and finds the user's statement that each line of the text comes from."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from sourcead.ir.nodes import Origin, Stmt

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # astor mentions node classes that Python has deprecated
    import astor


def to_text(function: ast.FunctionDef, comments: dict[str, str]) -> str:
    """Return the source of a function, with comments in place of the statements that are names of markers."""
    module = ast.fix_missing_locations(ast.Module([function], []))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        source = astor.to_source(module, pretty_string=_quoted, pretty_source="".join)
    return re.sub(
        r"^( *)(__comment_\d+__)$",
        lambda m: comments[m[2]] and f"{m[1]}# {comments[m[2]]}",
        source.strip("\n") + "\n",
        flags=re.MULTILINE,
    )


def _quoted(string: str, _embedded, line: str, *_, **__) -> str:
    """Return a string in double quotes, or as a docstring if it is a statement."""
    if not line.strip():
        text = string.replace("\\", "\\\\").replace('"""', '\\"""')
        text = text.replace("\n", "\n" + line).replace(f"\n{line}\n", "\n\n")
        return f'"""{text}"""'
    text = repr(string)
    if text.startswith("'") and '"' not in text:
        return f'"{text[1:-1]}"'
    return text


def mark(nodes: list[ast.stmt], stmt: Stmt) -> list[ast.stmt]:
    """Return the printed nodes of a statement, marked with the user's statement that they come from."""
    for node in nodes:
        if not hasattr(node, "origin"):
            node.origin = stmt.adjoint_of or stmt.origin
    return nodes


def origins_by_line(function: ast.FunctionDef, text: str) -> dict[int, Origin]:
    """Return the user's statement that each line of the text of a function comes from, as far as it is known.

    The text is parsed again: its statements are those of the tree that it was printed from, without comments.
    """
    printed, read = list(_statements(function)), list(_statements(ast.parse(text).body[-1]))
    if len(printed) != len(read):
        return {}
    found = ((r.lineno, getattr(p, "origin", None)) for p, r in zip(printed, read))
    return {line: origin for line, origin in found if origin is not None}


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements inside a statement, in order."""
    for name in ("body", "orelse"):
        for child in getattr(node, name, ()):
            if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Name)):  # a comment
                yield child
                yield from _statements(child)
