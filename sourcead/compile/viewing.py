"""The page of a derivative for the arguments of a call, with what running it takes, and how a notebook shows a derivative."""

import dataclasses
import math
import os
import reprlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead.analysis.sizes_at_call import sizes_in
from sourcead.compile.comparison import drawn
from sourcead.compile.structures import leaves, map_leaves
from sourcead.errors import SourceADError
from sourcead.files.whole import write
from sourcead.ir.records import deep_copy
from sourcead.language.checkpoint_policies import Auto, Revolve, Segments
from sourcead.language.tracebacks import ORIGINS
from sourcead.page.document import Shown, fragment, page
from sourcead.page.loops import loops_of
from sourcead.page.markup import tag
from sourcead.page.measured import Measured, measured
from sourcead.page.relation import Relation
from sourcead.places.origin import Origin, shown_place
from sourcead.places.spelling import of_class

HEIGHT = 640  # pixels of a page in a cell
PARTS = 6  # of an argument that are told
MOST_LINES = 200_000  # of a run that is repeated under other checkpoint policies
TRIES = 3  # of a run whose times are measured, of which the fastest counts


@dataclass(frozen=True)
class Page:
    """A page as HTML, which a notebook shows in its cell."""

    html: str = dataclasses.field(repr=False)

    def _repr_html_(self) -> str:
        return tag("iframe", srcdoc=self.html, width="100%", height=HEIGHT, title="the gradient", style="border: 0")

    def save(self, path: str | os.PathLike) -> None:
        """Write the page as a file."""
        write(path, self.html.encode(errors="replace"), private=False)


class Run:
    """A call of a derivative that can be repeated, with a call of its pullback if it returns one."""

    def __init__(self, made: Any, args: tuple, kwargs: dict[str, Any]):
        self.made, self.args, self.kwargs = made, args, kwargs
        result, random = made(*args, **kwargs), np.random.default_rng(0)  # generates and verifies the text, which is not measured
        self.pulls_back = getattr(made, "_kind", None) == "vjp"
        self.cotangent = map_leaves(lambda leaf: drawn(leaf, random), result[0]) if self.pulls_back else None

    def __call__(self) -> None:
        result = self.made(*self.args, **self.kwargs)
        if self.pulls_back:
            result[1](self.cotangent)

    def memory(self, reverse: frozenset[int]) -> Measured:
        """Return what was measured of the memory."""
        return _of_text(measured(self, ORIGINS.__contains__, True, reverse))

    def times(self, files: set[str]) -> Measured:
        """Return what was measured of the times of the text, and of the user's function, whose lines are in some files."""
        bound = {**self.made._bound(self.args, self.kwargs)}
        user = _inner(self.made)

        def function() -> Callable[[], Any]:
            own = user._takes.bind_partial()
            own.arguments.update(deep_copy({name: bound[name] for name in user._takes.parameters if name in bound}))
            return lambda: user._function(*own.args, **own.kwargs)

        first, second = (
            min((measured(call(), watches, False) for _ in range(TRIES)), key=lambda found: sum(found.seconds.values()))
            for call, watches in ((function, files.__contains__), (lambda: self, ORIGINS.__contains__))
        )
        second = _of_text(second)
        return Measured(first.runs | second.runs, first.seconds | second.seconds)

    def under_other_policies(self, iterations: int) -> Iterator[tuple[str, Measured | str]]:
        """Yield the names of other policies with what was measured of them, or why they are refused."""
        function, asked, kind, options = self.made._made_of
        root = max(round(math.sqrt(iterations)), 2)
        for policy in [p for p in (Auto(), "store", "states", Segments(root), Revolve(root)) if p != options.checkpoint]:
            other = type(self.made)(function, asked, kind, dataclasses.replace(options, checkpoint=policy))
            try:
                program = other._latest(*self.args, **self.kwargs).built.plain
                yield _spelled(policy), Run(other, self.args, self.kwargs).memory(Relation(program, self.made._user_function).reverse)
            except SourceADError as error:
                yield _spelled(policy), f"refused: {error.reason}"


def page_of(made: Any, args: tuple, kwargs: dict[str, Any], profile: bool = False, policies: bool = True) -> Page:
    """Return the page of a derivative.

    Args:
        made: the derivative.
        args, kwargs: arguments as for a call of it, which is called to measure memory; without any, nothing is measured.
        profile: whether to measure the time of each line.
        policies: whether to measure the memory under other checkpoint policies as well.
    """
    run = Run(made, args, kwargs) if args or kwargs else None
    built, inner = made._latest(*args, **kwargs).built, _inner(made)
    given = {} if run is None else made._bound(args, kwargs)
    relation = Relation(built.program or built.plain, inner._user_function)
    numbers = {n: size for f in (relation.program.ir, built.notes.forward) if f is not None for n, size in sizes_in(f, given).items()}
    facts = [("function", shown_place(Origin(relation.listings[0].file, inner._user_function.__code__.co_firstlineno, 0, 0, 0, "")))]
    facts += [(name, _told(value)) for name, value in given.items()]
    engine = "NumPy" if built.program is None else "Numba, whose compiled lines are not measured"
    facts += [("checkpoint policy", _spelled(inner._checkpoint)), ("engine", engine)]
    title = repr(made)[1:-1]
    shown = Shown(title[0].upper() + title[1:], tuple(facts), relation, built.notes.shown(given), numbers)
    if run is None or built.program is not None:
        return Page(page(shown))
    found = run.memory(relation.reverse)
    measurements = [(f"{_spelled(inner._checkpoint)}, as above", found)]
    loops = [loop.runs for loop in loops_of(relation, numbers, lambda line: found.runs.get(("", line), 0))]
    if policies and loops and made is inner and relation.reverse:
        others = found.lines <= MOST_LINES and run.under_other_policies(max(loops))
        measurements += others or [("other policies", f"not run, since these are more than {MOST_LINES:,} lines")]
    times = run.times({listing.file for listing in relation.listings}) if profile else None
    return Page(page(dataclasses.replace(shown, run=found, times=times, policies=tuple(measurements))))


def in_cell(made: Any) -> str | None:
    """Return the text of a derivative and its notes as HTML; None, so that a notebook shows the object as text, if there is none yet."""
    try:
        built = made._latest().built
    except SourceADError:
        return None
    return fragment(built.plain.text, built.notes.shown({}))


def _of_text(found: Measured) -> Measured:
    """Return what was measured of generated text under the file name "", since a text that is generated anew is another file."""
    runs, seconds = ({("", line): value for (_, line), value in table.items()} for table in (found.runs, found.seconds))
    return dataclasses.replace(found, runs=runs, seconds=seconds)


def _inner(made: Any) -> Any:
    """Return the derivative that is called: that of a product with a Hessian, else itself."""
    return getattr(made, "_product", made)


def _told(value: Any) -> str:
    """Return what an argument is: a number itself, of an array its dtype and shape, of others also those of their first parts."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    if isinstance(value, bool | int | float | complex | str | np.number | None):
        return reprlib.repr(value)
    parts = [_told(leaf) for _, leaf in leaves(value)]
    return f"{of_class(value)}{' of ' if parts else ''}{', '.join(parts[:PARTS])}{', ...' if len(parts) > PARTS else ''}"


def _spelled(policy: Any) -> str:
    """Return a checkpoint policy as a user writes it."""
    if isinstance(policy, str) or policy == Auto():
        return policy if isinstance(policy, str) else "auto"
    return f"{type(policy).__name__}({dataclasses.astuple(policy)[0]!r})"
