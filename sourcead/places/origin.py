"""Places in the user's program, and how a message quotes them."""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
import sysconfig
import textwrap
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.dirname(__file__)) + os.sep
LIBRARIES = (HERE, *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")))  # the folders of what the user did not write


@dataclass(frozen=True)
class Origin:
    """Where in the user's program a statement came from."""

    file: str
    line: int
    col: int
    end_line: int
    end_col: int
    text: str  # the source of the statement, as the user wrote it, dedented
    caller: Origin | None = field(default=None, compare=False, repr=False)  # where the function around it is called
    part: Origin | None = field(default=None, compare=False, repr=False)  # the call in the statement that this is part of, for messages

    def chain(self) -> list[Origin]:
        """Return the places of the calls that lead here, outermost first, and last this place."""
        return [*(self.caller.chain() if self.caller is not None else ()), self]

    @property
    def users(self) -> Origin:
        """The innermost of these places that is in the user's program; this place if none is."""
        return next((at for at in reversed(self.chain()) if not at.file.startswith(LIBRARIES)), self)


def shown_path(file: str) -> str:
    """The path of a file, relative where it is below the working directory; bytes that are no text are question marks."""
    file = file.encode(errors="replace").decode()
    if file.startswith("<"):
        return file
    with contextlib.suppress(ValueError, OSError):  # another drive; a working directory that is gone
        file = file if (relative := os.path.relpath(file)).startswith(os.pardir) else relative
    return file


def shown_place(at: Origin) -> str:
    """The file and line of a place as a traceback names them: `model.py:3`, or `Cell In[2], line 3` in a notebook."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    name_of_cell = getattr(getattr(get_ipython(), "compile", None), "format_code_name", lambda file: None)
    if (cell := name_of_cell(at.file)) is not None:
        return f"{' '.join(cell)}, line {at.line}"
    return f"{shown_path(at.file)}:{at.line}"


MOST_CALLS = 8  # that a message names


def through(at: Origin) -> list[str]:
    """Return the line of a message that names the calls inside of packages that lead to a place."""
    calls = at.chain()
    places = list(dict.fromkeys(map(short_place, calls[calls.index(at.users) + 1 : -1])))
    if len(places) > MOST_CALLS:
        places[MOST_CALLS // 2 : -MOST_CALLS // 2] = ["..."]
    return [f"Called through {', '.join(places)}"] if places else []


def short_place(at: Origin) -> str:
    """Return a place in a package: the last folder, the file and the line."""
    return f"{os.sep.join(at.file.split(os.sep)[-2:])}:{at.line}"


def quoted_line(at: Origin) -> list[str]:
    """The line of the user's program and, under it, carets; what of it is known."""
    line = linecache.getline(at.file, at.line).rstrip("\n")
    shown = at.text.splitlines()
    if not line.strip() or (shown and not any(s.strip() and s.strip() in line or line.strip() in s for s in shown)):
        return ["    " + s for s in shown[:1]]  # the file is gone or has changed
    start = len(line.encode()[: at.col].decode(errors="replace"))  # the parser counts columns in UTF-8 bytes
    end = len(line.encode()[: at.end_col].decode(errors="replace")) if at.end_line == at.line else len(line.rstrip())
    indent = len(line) - len(line.lstrip())
    before = "".join(c if c == "\t" else " " for c in line[indent:start])
    return ["    " + line.strip(), "    " + before + "^" * max(end - start, 1)]


def labelled(label: str, hint: str) -> str:
    """`label: hint`, with a hint of several lines indented below."""
    if "\n" in hint:
        return f"{label}:\n{textwrap.indent(hint, '    ')}" if label else hint
    return f"{label}: {hint}" if label else hint
