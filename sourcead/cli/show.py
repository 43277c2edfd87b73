"""Show a text on a terminal: with colours, with the user's lines beside it, and with the notes on its loops."""

import io
import linecache
import os
import shutil
from collections.abc import Callable
from typing import Any, TextIO

from sourcead.backends.base import Program

NARROW = 60  # columns, below which two texts do not stand beside each other
GAP = " │ "


def in_colours(stream: TextIO, asked: str = "auto") -> bool:
    """Return whether to write in colours: on a terminal, unless `--color` or the environment (`NO_COLOR`, `FORCE_COLOR`) says otherwise."""
    if asked != "auto":
        return asked == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty() and os.environ.get("TERM") != "dumb"


def coloured(text: str) -> str:
    """Return Python's text with colours for a terminal, as it is where Pygments is not installed."""
    try:
        from pygments import highlight
        from pygments.formatters import TerminalFormatter
        from pygments.lexers import PythonLexer
    except ImportError:
        return text
    found = io.StringIO()
    highlight(text, PythonLexer(stripnl=False, ensurenl=False), TerminalFormatter(), found)
    return found.getvalue()


def listing(program: Program, colours: bool) -> str:
    """Return the text of a program."""
    return coloured(program.text.rstrip("\n")) if colours else program.text.rstrip("\n")


def side_by_side(program: Program, colours: bool, width: int | None = None) -> str:
    """Return the text of a program with, left of each line, the user's line that it comes from.

    A line of the user's stands beside the first of the lines that come from it, and again where the text returns to it. What is longer than
    its half goes on in the next line; on a narrow terminal the user's lines stand above the others, marked with `>`.

    Args:
        program: what was generated.
        colours: whether to colour the text.
        width: the columns of the terminal; None asks it.
    """
    width = width or shutil.get_terminal_size((120, 24)).columns
    rows = _rows(program)
    longest = max([len(user) for user, _ in rows], default=0)
    left = min(longest, (width - len(GAP)) // 2)
    right = width - left - len(GAP)
    paint: Callable[[str], str] = coloured if colours else str
    if min(left, right) < NARROW // 2 and longest > left:
        return "\n".join([f"> {user}\n{paint(line)}" if user else paint(line) for user, line in rows])
    found = []
    for user, line in rows:
        mine, theirs = _wrapped(user, left), _wrapped(line, right)
        for k in range(max(len(mine), len(theirs))):
            a, b = (part[k] if k < len(part) else "" for part in (mine, theirs))
            space = " " * (left - len(a))
            found.append(f"{paint(a)}{space}{GAP}{paint(b)}".rstrip())
    return "\n".join(found)


def _rows(program: Program) -> list[tuple[str, str]]:
    """Return (the user's line, the generated line) in the order of the text; the first is empty where it is that of the line before."""
    origins, rows, last = program.origins(), [], None
    for number, line in enumerate(program.text.rstrip("\n").splitlines(), 1):
        at = origins.get(number)
        at = at if at is None else at.users
        user = ""
        if at is not None and (at.file, at.line) != last:
            source = linecache.getline(at.file, at.line).rstrip() or (at.text.splitlines() or [""])[0]
            user, last = f"{at.line:4} {source}", (at.file, at.line)
        rows.append((user, line))
    return rows


def _wrapped(line: str, width: int) -> list[str]:
    """Return a line in pieces of at most `width` columns; the later ones are indented a little more than the first."""
    indent = " " * min(len(line) - len(line.lstrip()) + 8, width // 2)
    pieces = [line[:width]]
    rest = line[width:]
    while rest:
        step = width - len(indent)
        pieces.append(indent + rest[:step])
        rest = rest[step:]
    return pieces


def notes_of(notes: tuple[str, ...]) -> str:
    """Return the notes on what loops save as the last lines of a listing."""
    if not notes:
        return "Notes: there are none on this text."
    return "\n".join(["Notes:", *(f"  {line}" for note in notes for line in note.splitlines())])


def table(rows: list[tuple[Any, ...]]) -> str:
    """Return rows of text in aligned columns."""
    widths = [max(len(str(row[k])) for row in rows if k < len(row)) for k in range(max(map(len, rows)))]
    return "\n".join("  ".join(str(cell).ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows)
