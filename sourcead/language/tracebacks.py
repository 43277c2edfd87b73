"""Tracebacks as users read them: their own frames and those of generated text, without the frames of the compiler.

An error that leaves a public function, such as `grad(f)(x)`, has the user's frames, one of this package, and those of the code that ran,
where each frame of generated text follows one for the user's line that the text was generated from.  Notebooks and pytest hide the frame of
this package.  With the environment variable `SOURCEAD_TRACEBACK=full`, and for `InternalError`, all frames are shown.
"""

import ast
import functools
import itertools
import linecache
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from sourcead.errors import InternalError, SourceADError, VerificationError
from sourcead.places.origin import HERE, LIBRARIES, Origin

VARIABLE = "SOURCEAD_TRACEBACK"
SHOWN = HERE + "nn" + os.sep  # is written as users write their models
AROUND = ("<sourcead call of ", "<sourcead boundary of ")  # generated text around what is generated for the user's function

ORIGINS: dict[str, Callable[[], dict[Any, Origin]]] = {}
"""For a file name of generated text, a function that returns the user's statement that each line and each expression comes from."""

Public = TypeVar("Public", bound=Callable)


def folded(function: Public) -> Public:
    """Return a public function whose errors have no frames of this package but one."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if shows_all(error):
                raise
            __tracebackhide__ = True  # read by IPython and pytest
            raise short(error)  # SOURCEAD_TRACEBACK=full shows all frames

    return call


def shows_all(error: Exception) -> bool:
    """Return whether the traceback of an error keeps all its frames."""
    return isinstance(error, InternalError) or os.environ.get(VARIABLE) == "full"


def is_ours(file: str) -> bool:
    """Return whether a file belongs to this package or is generated text that only calls what was generated."""
    return file.startswith(AROUND) or file.startswith(HERE) and not file.startswith(SHOWN)


def level_outside() -> int:
    """Return the `stacklevel` with which `warnings.warn`, called by the caller of this function, names a line of the user's program."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and (is_ours(frame.f_code.co_filename) or frame.f_code.co_filename in ORIGINS):
        level, frame = level + 1, frame.f_back
    return level


def short(error: Exception) -> Exception:
    """Return the error without the frames of this package, and without the errors of the compiler that led to it."""
    raised_here = isinstance(error, SourceADError) and not isinstance(error, VerificationError)
    if raised_here:
        error.__cause__ = error.__context__ = None  # these hold what is compiled, which cannot be pickled
        error.__suppress_context__ = True
        error.at = error.at or innermost(error.__traceback__)
    elif error.__cause__ is not None:  # what generated text raised
        error.__cause__.__traceback__ = kept(error.__cause__.__traceback__, ())
    left = kept(error.__traceback__, LIBRARIES if raised_here else ())
    if left is None and "IPython" in sys.modules:
        error._render_traceback_ = rendered_in_ipython
    return error.with_traceback(left)


def rendered_in_ipython() -> list[str]:
    """Return the lines that IPython shows of the error being handled, without the last frame, which IPython does not hide itself."""
    error = sys.exc_info()[1] or sys.last_value  # `%tb` shows it again
    entries = [entry for entry in entries_of(error.__traceback__) if not is_ours(entry.tb_frame.f_code.co_filename)]
    shell = sys.modules["IPython"].get_ipython()
    return shell.InteractiveTB.structured_traceback(type(error), error, chained(entries))


def kept(tb: types.TracebackType | None, libraries: tuple[str, ...]) -> types.TracebackType | None:
    """Return a traceback without the frames of this package and `libraries`, and with the user's lines above those of generated text."""
    shown: list[types.TracebackType] = []
    for entry in entries_of(tb):
        file = entry.tb_frame.f_code.co_filename
        at = place_of(entry, ORIGINS.get(file, dict)())
        if at is not None and not (shown and "placed" in shown[-1].tb_frame.f_globals):  # else a function inside has shown the place
            shown += map(entry_at, at.chain())
        shown += [] if is_ours(file) or file.startswith(libraries) else [entry]
    return chained(shown)


def innermost(tb: types.TracebackType | None) -> Origin | None:
    """Return the user's line that the innermost line of generated text comes from, None if there is none."""
    files = (entry.tb_frame.f_code.co_filename for entry in entries_of(tb))
    places = [place_of(entry, ORIGINS[file]()) for entry, file in zip(entries_of(tb), files) if file in ORIGINS]
    return next((at for at in reversed(places) if at is not None), None)


def chained(entries: list[types.TracebackType]) -> types.TracebackType | None:
    """Return a traceback with copies of these entries."""
    made = None
    for entry in reversed(entries):
        made = types.TracebackType(made, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return made


def place_of(entry: types.TracebackType, origins: dict[Any, Origin]) -> Origin | None:
    """Return the user's statement that the expression of generated text comes from which raised an error, or else its line."""
    code = entry.tb_frame.f_code
    spans = getattr(code, "co_positions", tuple)() if origins else ()  # from Python 3.11 on
    span = next(itertools.islice(spans, max(entry.tb_lasti, 0) // 2, None), None)  # -1 in frames that Numba makes
    return origins.get(span) or origins.get(entry.tb_lineno)


def entries_of(tb: types.TracebackType | None) -> Iterator[types.TracebackType]:
    """Yield the entries of a traceback, outermost first."""
    while tb is not None:
        yield tb
        tb = tb.tb_next


def entry_at(at: Origin) -> types.TracebackType:
    """Return the entry of a traceback for a place of the user's program, by running a `raise` that is said to stand there."""
    try:
        exec(code_at(at), {"placed": Placed()})
    except Placed as placed:
        return list(entries_of(placed.__traceback__))[-1]
    raise AssertionError("a raise returned")


@functools.lru_cache(maxsize=256)
def code_at(at: Origin) -> types.CodeType:
    """Return the code of this `raise`."""
    module = ast.parse("raise placed")
    for node in ast.walk(module):
        node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = at.line, at.col, at.end_line, at.end_col
    return compile(module, at.file, "exec", dont_inherit=True).replace(co_name=function_at(at))


class Placed(Exception):
    """Raised to get a frame."""


def function_at(at: Origin) -> str:
    """Return the name of the function that a place of the user's program is in."""
    name = "<lambda>"
    try:
        tree = ast.parse("".join(linecache.getlines(at.file)))
    except SyntaxError:  # a notebook's magic commands
        return name
    for node in ast.walk(tree):  # outer functions first
        if isinstance(node, ast.FunctionDef | ast.Lambda) and node.lineno <= at.line <= (node.end_lineno or 0):
            name = getattr(node, "name", "<lambda>")
    return name
