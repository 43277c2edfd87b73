"""`warnings.warn` as generated text calls it: a warning of the program names the user's line, also if its function was inlined."""

import sys
import types
import warnings
from typing import Any

from sourcead.language.tracebacks import ORIGINS, level_outside, place_of

REGISTRIES: dict[str, dict] = {}
"""For files that are no module's, such as cells of notebooks: the warnings that were shown, which Python keeps with the module."""


def warn(message: Any, category: type[Warning] | None = None, stacklevel: int = 1, source: Any = None, **options: Any) -> None:
    """Warn as `warnings.warn` does, at the place in the user's program that the caller's line was generated from."""
    frame = sys._getframe(1)
    entry = types.TracebackType(None, frame, frame.f_lasti, frame.f_lineno)
    at = place_of(entry, ORIGINS.get(frame.f_code.co_filename, dict)())
    places = [] if at is None else at.chain()[::-1]
    if not 0 < stacklevel <= len(places) or options:
        more = level_outside() - 1 if places else 1  # the frames between this one and the user's program
        return warnings.warn(message, category, more + max(stacklevel - len(places), 1), source, **options)
    kind = type(message) if isinstance(message, Warning) else category or UserWarning
    file, line = places[stacklevel - 1].file, places[stacklevel - 1].line
    module = namespace_of(file, frame)
    registry = REGISTRIES.setdefault(file, {}) if module is None else module.setdefault("__warningregistry__", {})
    return warnings.warn_explicit(message, kind, file, line, module and module.get("__name__"), registry, source=source)


def namespace_of(file: str, frame: types.FrameType | None) -> dict[str, Any] | None:
    """Return the globals of the code in a file, which is a module's or that of a frame around this one; None if they are not found."""
    for module in sys.modules.copy().values():
        if getattr(module, "__file__", None) == file:
            return vars(module)
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return None if frame is None else frame.f_globals
