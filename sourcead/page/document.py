"""The page: the user's functions beside the generated text, what each statement became, loops, memory.

The page has one script, `page.js`, and its policy (`Content-Security-Policy`) runs no other: what comes from a program is text in it.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import groupby

from sourcead.ad.residuals.notes import amount
from sourcead.ir.types import Sym
from sourcead.page.drawing import loop_drawing, memory_plot
from sourcead.page.loops import LoopFacts, Value, kept_in, loops_of
from sourcead.page.markup import Markup, joined, tag
from sourcead.page.measured import Measured, net
from sourcead.page.relation import ROLES, Listing, Piece, Relation, kinds_of
from sourcead.places.origin import Origin, shown_place

HELP = "Point at a line, touch it, or go to it with Tab and the arrow keys: what comes from it is marked on the other side. \
Enter keeps the marks, Escape removes them."
TIMES = "The time of a line, and how often it ran, are those of one run, without the time of other lines that it calls and are shown."
NOTHING = "No generated line comes from it alone: it is not needed, or it was simplified away."
MEMORY = "The bytes that the generated text holds beside its arguments, over the lines that it runs. All plots have one vertical axis; a \
dashed line is where the reverse sweep begins."


@dataclass(frozen=True, eq=False)
class Shown:
    """What a page shows.

    Attributes:
        title: what was derived.
        facts: names and texts under the title, such as arguments and options.
        relation: the generated text, and the functions that it comes from.
        notes: what loops save, as sentences.
        numbers: the sizes of symbolic dims for the arguments.
        run: what was measured of the memory of the text that is shown, as of a file without a name.
        times: what was measured of the times of the function and of the text.
        policies: for checkpoint policies, what was measured of the memory, or why it was not.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    relation: Relation
    notes: tuple[str, ...] = ()
    numbers: Mapping[Sym, int] = field(default_factory=dict)
    run: Measured | None = None
    times: Measured | None = None
    policies: tuple[tuple[str, Measured | str], ...] = ()


def page(shown: Shown) -> str:
    """Return the page as HTML."""
    writer = _Writer(shown)
    script, style = _file("page.js"), _file("page.css")
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_digest(script)}'"
    head = joined(
        Markup('<meta charset="utf-8">'), Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        tag("title", shown.title), tag("style", Markup(style)),
    )  # fmt: skip
    body = tag("body", *writer.body(), tag("script", Markup(script)))
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>{body}</html>\n'


def fragment(text: str, notes: tuple[str, ...]) -> str:
    """Return a text in colours with notes under it, for a cell of a notebook."""
    lines = text.rstrip("\n").split("\n")
    coloured = [joined(*_tokens([Piece(c, kind, None) for c, kind in zip(line, kinds)])) for line, kinds in zip(lines, kinds_of(lines))]
    listed = tag("ul", *(tag("li", *_quoting(note)) for note in notes)) if notes else ""
    style = tag("style", Markup(_file("page.css").partition("/* page */")[0]))
    return tag("div", style, tag("pre", Markup("\n".join(coloured))), listed, class_="sourcead")


@cache
def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _tokens(pieces: list[Piece]) -> list[Markup]:
    """Return pieces as markup, neighbours of one kind together."""
    runs = [(kind, "".join(piece.text for piece in run)) for kind, run in groupby(pieces, lambda piece: piece.kind)]
    return [tag("span", text, class_=kind) if kind else joined(text) for kind, text in runs]


class _Writer:
    """Writes the parts of one page."""

    def __init__(self, shown: Shown):
        self.shown = shown
        self.relation = shown.relation
        self.became: dict[int, dict[str, list[int]]] = {}  # for each unit, the lines that have a role for it
        self.loops = loops_of(self.relation, shown.numbers, self.runs)
        self.text = self.generated()

    def runs(self, line: int) -> int | None:
        """Return how often a line of the text ran; None if that was not measured."""
        return None if self.shown.run is None else self.shown.run.runs.get(("", line), 0)

    def body(self) -> Iterator[Markup]:
        shown = self.shown
        facts = [joined(tag("dt", name), tag("dd", text)) for name, text in shown.facts]
        yield tag("header", tag("h1", shown.title), tag("button", "dark / light", id="theme", type="button"), tag("dl", *facts))
        used = {role for roles in self.became.values() for role in roles}
        marks = [tag("li", tag("b", mark, class_=role), f" {what}") for role, (mark, what) in ROLES.items() if role in used]
        legend = tag("ul", *marks, aria_label="what a generated line is to a statement of the function", class_="legend")
        yield tag("nav", tag("p", HELP), tag("p", TIMES) if shown.times is not None else "", legend)
        left = tag("section", *map(self.listing, self.relation.listings), class_="side", id="user", aria_label="the function")
        right = tag("section", self.text, class_="side", id="made", aria_label="the generated text")
        yield tag("main", left, right)
        yield tag("aside", *map(self.note, range(len(self.relation.units))), id="notes", aria_live="polite", hidden=True)
        if self.loops:
            yield tag("section", tag("h2", "Loops"), tag("div", *map(self.loop, self.loops), class_="loops"))
        if shown.policies:
            yield self.memory()
        if shown.notes:
            yield tag("section", tag("h2", "Notes"), tag("ul", *(tag("li", *_quoting(note)) for note in shown.notes)))

    # -- texts ------------------------------------------------------------------------------------------------------------

    def listing(self, listing: Listing) -> Markup:
        """Return a function of the user's."""
        rows = []
        for number, (line, kinds) in enumerate(zip(listing.lines, kinds_of(listing.lines)), listing.first):
            unit = listing.units.get(number)
            code = _row([Piece(c, kind, None) for c, kind in zip(line, kinds)], _tokens)
            known = {"data_unit": unit, "tabindex": -1} if unit is not None else {}
            rows.append(tag("li", tag("span", number, class_="no"), code, self.time(listing.file, number), **known))
        place = shown_place(Origin(listing.file, listing.first, 0, 0, 0, ""))
        return tag("div", tag("h2", f"{listing.name}, {place}"), tag("ol", *rows, class_="code"))

    def generated(self) -> Markup:
        """Return the generated text, and note what each unit became."""
        rows = []
        for number, pieces in enumerate(self.relation.pieces, 1):
            own = next((p.stmt for p in pieces if p.stmt is not None and p.text.strip()), None)
            role = None if own is None else self.relation.role(own, number)
            of = [] if own is None else self.relation.related(own)[0]
            more = f", +{len(of) - 1}" if of[1:] and own.saves else ""
            mark = joined(f"{ROLES[role][0]} {self.relation.units[of[0]][1]}", self.function_of(of[0]), more) if of else ""
            code = _row(pieces, lambda run, number=number: self.coloured(run, number))
            cells = [tag("span", number, class_="no"), tag("span", mark, class_=f"ref {role}"), code, self.time("", number)]
            rows.append(tag("li", *cells, tabindex=-1 if of else None))
        return tag("div", tag("h2", f"{self.relation.program.name}, generated"), tag("ol", *rows, class_="code"))

    def coloured(self, pieces: list[Piece], line: int) -> list[Markup]:
        """Return the pieces of a generated line, neighbours of the same units in one element that names these."""
        found = []
        for (role, units, around), run in groupby(pieces, lambda piece: self.relation.owned(piece, line)):
            text = _tokens(list(run))
            if not units:
                found += text
                continue
            for unit in (*units, *around):
                adjoint = role == "again" and unit != units[0]  # what it is computed for
                lines = self.became.setdefault(unit, {}).setdefault("adjoint" if adjoint else role, [])
                if line not in lines:
                    lines.append(line)
            found.append(tag("span", *text, class_=f"of {role}", data_of=_spaced(units), data_around=_spaced(around)))
        return found

    def function_of(self, unit: int) -> Markup | str:
        """Return " of `function`" if there are several functions."""
        return tag("small", f" of {self.relation.units[unit][0].name}") if len(self.relation.listings) > 1 else ""

    def time(self, file: str, line: int) -> Markup | str:
        """Return the time that a line took, and how often it ran."""
        times = self.shown.times
        if times is None:
            return ""
        count = times.runs.get((file, line))
        return tag("span", *((_seconds(net(times, (file, line))), tag("small", f", {count:,} ×")) if count else ()), class_="time")

    # -- what a statement became ------------------------------------------------------------------------------------------

    def note(self, unit: int) -> Markup:
        """Return the note on a unit: the lines that it became, and what they save."""
        listing, line = self.relation.units[unit]
        found = self.became.get(unit, {})
        values = [v for n in found.get("saves", ()) for v in kept_in(self.relation, n, self.shown.numbers, self.runs)]
        kept = {"saves": "".join(f"; {v.name}, {v.type}{v.size and ', '}{v.size}" for v in values)}
        rows = [
            tag("li", tag("b", mark, class_=role), f" {what}: {_lines(found[role])}{kept.get(role, '')}")
            for role, (mark, what) in ROLES.items() if role in found
        ]  # fmt: skip
        quoted = tag("code", listing.lines[line - listing.first].strip())
        title = tag("p", f"Line {line}", self.function_of(unit), ": ", quoted)
        return tag("div", title, tag("ul", *(rows or [tag("li", NOTHING)])), data_note=unit, hidden=True)

    # -- drawings ---------------------------------------------------------------------------------------------------------

    def loop(self, loop: LoopFacts) -> Markup:
        """Return the drawing of a loop, and the table of its values."""
        if loop.unit is None:
            title = f"line {loop.line} of the generated text"
        else:
            listing, line = self.relation.units[loop.unit]
            title = joined(f"line {line}", self.function_of(loop.unit), ": ", tag("code", listing.lines[line - listing.first].strip()))
        inside = f"inside of {loop.depth} other{'s' if loop.depth > 1 else ''}; " if loop.depth else ""
        count = "" if loop.runs is None else tag("p", f"{inside}{loop.runs:,} iterations{' in all' if loop.depth else ''}", class_="small")
        kinds = ("forward", "carries forward", loop.forward), ("saves", "keeps", loop.kept), ("adjoint", "carries back", loop.back)
        return tag("figure", tag("figcaption", title, count), loop_drawing(loop), tag("table", *(_values(*kind) for kind in kinds)))

    def memory(self) -> Markup:
        """Return the plots of memory, side by side."""
        done = [found for _, found in self.shown.policies if isinstance(found, Measured)]
        highest = max([found.peak for found in done], default=0) or 1
        plots = []
        for name, found in self.shown.policies:
            if isinstance(found, str):
                plots.append(tag("figure", tag("figcaption", tag("b", name), tag("p", found, class_="small"))))
                continue
            caption = tag("b", name), tag("p", f"{amount(found.peak)} at most, {found.lines:,} lines run", class_="small")
            plots.append(tag("figure", tag("figcaption", *caption), memory_plot(name, found, highest)))
        return tag("section", tag("h2", "Memory over the run, by checkpoint policy"), tag("p", MEMORY), tag("div", *plots, class_="plots"))


def _row(pieces: list[Piece], write) -> Markup:
    """Return a line of code; what is too long goes on in the next line, behind the same indentation."""
    text = "".join(piece.text for piece in pieces)
    indent = len(text) - len(text.lstrip(" "))
    rest, gone = [], indent
    for piece in pieces:
        cut = min(gone, len(piece.text))
        gone -= cut
        if piece.text[cut:]:
            rest.append(Piece(piece.text[cut:], piece.kind, piece.stmt))
    return tag("span", tag("span", " " * indent, class_="indent"), tag("code", *write(rest)), class_="line")


def _values(kind: str, what: str, values: list[Value]) -> Markup:
    """Return the rows of a table for values of one kind."""
    if not values:
        return tag("tr", tag("th", what, class_=kind), tag("td", "nothing", colspan=3))
    rows = [(v.name, v.type, v.size) for v in values]
    head = tag("th", what, rowspan=len(rows), class_=kind)
    return joined(*(tag("tr", "" if k else head, *(tag("td", cell) for cell in row)) for k, row in enumerate(rows)))


def _lines(numbers: list[int]) -> str:
    """Return the numbers of lines as text.

    Example:
        >>> _lines([3]), _lines([3, 4, 5, 9])
        ('line 3', 'lines 3–5, 9')
    """
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    shown = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
    return f"line{'s' if len(numbers) > 1 else ''} {shown}"


def _quoting(note: str) -> list[Markup | str]:
    """Return a note with what stands between backquotes as code."""
    return [tag("code", part) if k % 2 else part for k, part in enumerate(note.split("`"))]


def _spaced(units: list[int]) -> str | None:
    return " ".join(map(str, units)) or None


def _seconds(seconds: float) -> str:
    """Return a time in the unit that suits it.

    Example:
        >>> _seconds(0.0021), _seconds(3e-8)
        ('2.1 ms', '0.03 µs')
    """
    unit, size = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e-3)) if seconds >= s), ("µs", 1e-6))
    return f"{seconds / size:.2g} {unit}" if seconds / size < 100 else f"{seconds / size:.0f} {unit}"
