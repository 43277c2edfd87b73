"""The text of a piece of source, for messages and comments."""

from __future__ import annotations

import io
import tokenize


def segment(lines: list[str], line: int, col: int, end_line: int, end_col: int) -> str:
    """The text between two positions, columns counted in UTF-8 bytes as the parser does."""
    if end_line == line:
        return lines[line - 1].encode()[col:end_col].decode()
    first = lines[line - 1].encode()[col:].decode()
    last = lines[end_line - 1].encode()[:end_col].decode()
    return "".join([first, *lines[line : end_line - 1], last])


def dedented(text: str, col: int) -> str:
    """The text with up to `col` blanks taken off each line but the first."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(line[min(col, len(line) - len(line.lstrip())) :] for line in rest)])


def without_comments(header: str) -> str:
    """The text up to its last token that is not a comment."""
    end = 0, 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(header).readline):
            if token.string.strip() and token.type != tokenize.COMMENT:
                end = token.end
    except (tokenize.TokenError, IndentationError, SyntaxError):  # the body is missing
        pass
    lines = header.splitlines(True)[: end[0]]
    return "".join([*lines[:-1], lines[-1][: end[1]]]) if lines else header.rstrip()
