"""Relates the lines of a user's functions to the text that was generated from them, by the statements of the IR that it was printed from.

A *unit* is a statement of the user's, or the head of a compound one.  A *piece* is a part of a generated line that comes from one statement
of the IR, which knows the unit that it comes from (`Stmt.origin`), that whose adjoint it is part of (`Stmt.adjoint_of`), and whether it
saves a residual (`Stmt.saves`).  Nothing is read from comments.
"""

import ast
import inspect
import io
import keyword
import linecache
import textwrap
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from types import FunctionType

from sourcead.backends.base import Program
from sourcead.frontend.find_source import file_of
from sourcead.ir.nodes import Append, Build, Stmt, Update, Var
from sourcead.ir.walk import definitions
from sourcead.places.origin import LIBRARIES, Origin

ROLES = {  # what a piece is to a unit: the mark beside its line, and what the mark means
    "forward": ("→", "forward sweep"),
    "saves": ("■", "saved for the reverse sweep"),
    "again": ("↻", "forward value, computed in the reverse sweep"),
    "adjoint": ("←", "adjoint"),
}


@dataclass(frozen=True)
class Piece:
    """A part of a generated line: its text, the kind of its token, and the statement that it comes from."""

    text: str
    kind: str
    stmt: Stmt | None


@dataclass
class Listing:
    """A function of the user's: its lines, from the line number `first` on, and the unit of each, by line number."""

    name: str
    file: str
    first: int
    lines: list[str]
    units: dict[int, int] = field(default_factory=dict)


@dataclass(eq=False)
class Relation:
    """The user's functions and the generated text.

    Attributes:
        program: the generated text.
        listings: the user's function, and those that it calls.
        units: for each unit, its listing and its first line.
        pieces: for each line of the generated text, its pieces.
        reverse: the lines of the generated text that are in a reverse sweep.
    """

    program: Program
    function: FunctionType
    listings: list[Listing] = field(default_factory=list)
    units: list[tuple[Listing, int]] = field(default_factory=list)

    def __post_init__(self):
        self.statements = self.program.statements()
        self._made = definitions(self.program.ir.body)
        code = self.function.__code__
        self._list(file_of(self.function), code.co_firstlineno, code.co_firstlineno)
        for stmt in self.statements.values():
            for at in filter(None, (stmt.origin, stmt.adjoint_of)):
                for place in at.chain():
                    if self.unit_at(place) is None and not place.file.startswith(LIBRARIES):
                        self._list(place.file, place.line, place.end_line)
        self.reverse = frozenset(self._lines_of_reverse())
        self._related = {}

    # -- the user's side --------------------------------------------------------------------------------------------------

    def _list(self, file: str, line: int, end: int) -> None:
        """Add the function around a line, or the lines alone where the file cannot be read as Python."""
        lines = [text.rstrip("\n") for text in linecache.getlines(file)]
        try:
            tree = ast.parse("\n".join(lines))
        except (SyntaxError, ValueError):  # a cell with magic commands
            tree = ast.Module([], [])
        around = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Lambda) and _first(n) <= line <= n.end_lineno]
        node = max(around, key=_first, default=None)
        first, last, name = (_first(node), node.end_lineno, getattr(node, "name", "lambda")) if node else (line, end, "")
        if node is None and file == file_of(self.function):
            found, first = inspect.getsourcelines(self.function) if lines else ([], line)
            last, name = first + len(found) - 1, self.function.__name__
        shown = textwrap.dedent("\n".join(lines[first - 1 : last])).split("\n")
        listing = Listing(name, file, first, shown)
        inside = ast.walk(node) if node else ()
        statements = [n for n in inside if isinstance(n, ast.stmt | ast.match_case | ast.ExceptHandler) and not _is_text(n)]
        spans = sorted({(_first(n), _last(n)) for n in statements} or {(n, n) for n in range(first, last + 1)})
        for start, stop in spans:  # a statement inside another comes after it
            listing.units.update(dict.fromkeys(range(start, stop + 1), len(self.units)))
            self.units.append((listing, start))
        self.listings.append(listing)

    def unit_at(self, place: Origin) -> int | None:
        """Return the unit of a place of the user's program, None if it is in no function that is shown."""
        return next((u for a in self.listings if a.file == place.file and (u := a.units.get(place.line)) is not None), None)

    # -- the generated side -----------------------------------------------------------------------------------------------

    def role(self, stmt: Stmt, line: int) -> str:
        """Return what a statement that is printed in a line is to the unit that it comes from."""
        if stmt.saves or isinstance(stmt.op, Build) and stmt.op.residual:
            return "saves"
        if stmt.adjoint_of is not None and (stmt.origin is None or stmt.origin == stmt.adjoint_of):
            return "adjoint"
        return "again" if line in self.reverse else "forward"

    def _lines_of_reverse(self) -> Iterator[int]:
        """Yield the lines of reverse sweeps: in each function those of pullbacks, and all from the first adjoint on."""
        for function in ast.parse(self.program.text).body:
            begun = False
            for node in function.body:
                lines = range(node.lineno, node.end_lineno + 1)
                first = next((self.statements[n] for n in lines if n in self.statements), None)
                begun = begun or not isinstance(node, ast.FunctionDef) and first is not None and first.adjoint_of is not None
                yield from lines if begun or isinstance(node, ast.FunctionDef) else ()

    def related(self, stmt: Stmt) -> tuple[list[int], list[int]]:
        """Return the units that a statement comes from, saves or belongs to, and those of the calls around them."""
        if id(stmt) not in self._related:
            places = [stmt.origin, stmt.adjoint_of]
            if stmt.saves and isinstance(stmt.op, Append | Update):  # values of several statements may be saved together
                places = [self._made[v].place for v in self.saved(stmt) if v in self._made] + places
            chains = [[u for at in reversed(place.chain()) if (u := self.unit_at(at)) is not None] for place in filter(None, places)]
            own = list(dict.fromkeys(unit for chain in chains for unit in chain[:1]))
            self._related[id(stmt)] = own, list({unit: 0 for chain in chains for unit in chain[1:] if unit not in own})
        return self._related[id(stmt)]

    def owned(self, piece: Piece, line: int) -> tuple[str, list[int], list[int]]:
        """Return the role of a piece, its units, and those of the calls around them."""
        return ("", [], []) if piece.stmt is None else (self.role(piece.stmt, line), *self.related(piece.stmt))

    @staticmethod
    def saved(stmt: Stmt) -> list[Var]:
        """Return the variables that a statement saves."""
        value = getattr(stmt.op, "value", ())
        return [v for v in (value if isinstance(value, tuple) else (value,)) if isinstance(v, Var)]

    @cached_property
    def pieces(self) -> list[list[Piece]]:
        """Return the pieces of each line of the generated text."""
        lines = self.program.text.rstrip("\n").split("\n")
        made: list[list[Stmt | None]] = [[None] * len(line) for line in lines]
        for span, stmt in self.statements.items():  # an expression inside another comes after it
            first, last, begin, end = (span, span, 0, None) if isinstance(span, int) else span
            for n in range(first, last + 1):
                line = lines[n - 1]
                start = _column(line, begin) if n == first else 0
                stop = _column(line, end) if n == last else len(line)
                made[n - 1][start:stop] = [stmt] * (stop - start)
        found = []
        for line, kinds, statements in zip(lines, kinds_of(lines), made):
            keys = groupby(range(len(line)), lambda k, kinds=kinds, statements=statements: (kinds[k], id(statements[k])))
            runs = [list(run) for _, run in keys]
            found.append([Piece(line[run[0] : run[-1] + 1], kinds[run[0]], statements[run[0]]) for run in runs])
        return found


def _is_text(node: ast.AST) -> bool:
    """Return whether a statement is a docstring or another text."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _first(node: ast.AST) -> int:
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]) if hasattr(node, "lineno") else node.pattern.lineno


def _last(node: ast.AST) -> int:
    """Return the last line of a statement, or of the head of one that has others inside."""
    inside = getattr(node, "body", None)
    return max(_first(node), _first(inside[0]) - 1) if inside else node.end_lineno


def _column(line: str, offset: int | None) -> int:
    """Return the column of an offset in bytes, as the parser counts."""
    return len(line) if offset is None else len(line.encode()[:offset].decode(errors="replace"))


def kinds_of(lines: list[str]) -> list[list[str]]:
    """Return the kind of the token at each column of each line of Python: "key", "str", "num", "note" or nothing.

    Example:
        >>> kinds_of(["if 1:", "    # a"])
        [['key', 'key', '', 'num', ''], ['', '', '', '', 'note', 'note', 'note']]
    """
    found = [[""] * len(line) for line in lines]
    for kind, (first, begin), (last, end) in _tokens(lines):
        for n in range(first, last + 1):
            start, stop = begin if n == first else 0, end if n == last else len(lines[n - 1])
            found[n - 1][start:stop] = [kind] * (stop - start)
    return found


def _tokens(lines: list[str]) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    """Yield the kind and the ends of each token that has one."""
    kinds = {tokenize.STRING: "str", tokenize.NUMBER: "num", tokenize.COMMENT: "note"}
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            kind = kinds.get(token.type, "str" if tokenize.tok_name[token.type].startswith("FSTRING") else "")
            if kind or token.type == tokenize.NAME and keyword.iskeyword(token.string):
                yield kind or "key", token.start, token.end
    except (tokenize.TokenError, SyntaxError):  # a part of a statement: what was found so far
        return
