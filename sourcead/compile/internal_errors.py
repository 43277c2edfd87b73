"""The errors that leave the compiler: mistakes of the user are of Python's class, what is unexpected says that the fault is in sourcead."""

import traceback
from types import TracebackType

from sourcead.errors import InternalError, SourceADError, UnsupportedSyntaxError
from sourcead.frontend.core import as_python_reports
from sourcead.ir.nodes import Stmt
from sourcead.passes.batching.blocks import Unbatchable
from sourcead.places.origin import LIBRARIES, Origin

ON_PURPOSE = (InternalError, Unbatchable, Warning, MemoryError)  # a warning is raised where the user's filters say so


class InternalErrors:
    """Raise `InternalError` from an unexpected exception of the compiler, which runs inside, but not from one of the user's code.

    A generator would do, if StopIteration, which an error may stand for, could leave one.

    Attributes:
        place: the file and line of the function that is compiled.
    """

    def __init__(self, place: str):
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, cls: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, SourceADError):
            raise as_python_reports(error) from None
        if not isinstance(error, Exception) or isinstance(error, ON_PURPOSE):
            return
        frames = [frame for frame, _ in traceback.walk_tb(trace)]
        if any(not frame.f_code.co_filename.startswith((*LIBRARIES, "<")) for frame in frames):
            return
        stmts = (value for frame in reversed(frames) for value in frame.f_locals.values() if isinstance(value, Stmt))
        found = getattr(error, "at", None) or next((s.origin for s in stmts if s.origin is not None), None)
        at = found if isinstance(found, Origin) else None
        if isinstance(error, RecursionError):
            why = "an expression, or calls or data, are nested more deeply here than Python's recursion limit lets the compiler follow"
            instead = "several statements, or `sys.setrecursionlimit(20_000)` before the call"
            raise UnsupportedSyntaxError(why if at else f"{self.place}: {why}", at, instead) from None
        what = f"an error in sourcead, not in your function: {type(error).__name__}: {error}"
        raise InternalError(what if at else f"{self.place}: {what}", at) from error
