"""Turn generated text into a function, such that tracebacks and debuggers show its lines."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import linecache
import types
import weakref
from typing import Any

from sourcead.errors import BackendError

_counter = itertools.count(1)


class _Text:
    """A file name in `linecache`, for as long as a function made from it lives."""

    def __init__(self, file: str):
        weakref.finalize(self, linecache.cache.pop, file, None).atexit = False

    @classmethod
    def of(cls, file: str) -> _Text:
        text = _texts.get(file)
        if text is None:
            text = _texts[file] = cls(file)
        return text


_texts: weakref.WeakValueDictionary[str, _Text] = weakref.WeakValueDictionary()
_alive: weakref.WeakKeyDictionary[types.FunctionType, _Text] = weakref.WeakKeyDictionary()


def load(text: str, name: str, namespace: dict[str, Any]) -> types.FunctionType:
    """The function that a text defines.

    Args:
        text: Python source with a `def name(...)` at its top level.
        name: the name of the function.
        namespace: its globals; the definitions of the text are added to it.

    Returns:
        The function. Its text is known to `linecache` for as long as the function lives, so that tracebacks, `pdb`,
        `inspect.getsource` and sourcead itself find it.

    Example:
        >>> square = load("def square(x):\\n    return x * x\\n", "square", {})
        >>> square(3.0)
        9.0
    """
    return run(compiled(text, name), name, namespace)


def compiled(text: str, name: str) -> types.CodeType:
    """The code of a text, under a file name of its own that is known to `linecache`."""
    file = f"<sourcead {name} {next(_counter)}>"
    if not text.endswith("\n"):
        text += "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)  # no modification time: never purged
    return compile(text, file, "exec", dont_inherit=True)


def run(code: types.CodeType, name: str, namespace: dict[str, Any]) -> types.FunctionType:
    """The function that a compiled text defines, in a namespace."""
    exec(code, namespace)
    function = namespace[name]
    _alive[function] = _Text.of(code.co_filename)
    return function


OLDEST_NUMBA = (0, 62)


def import_numba() -> types.ModuleType:
    """Numba, or an error that says how to get it."""
    try:
        import numba
    except ImportError as error:
        raise BackendError(
            "the backend 'numba' needs Numba, which is not installed", instead='pip install "sourcead[numba]"'
        ) from error
    if tuple(map(int, numba.__version__.split(".")[:2])) < OLDEST_NUMBA:
        oldest = ".".join(map(str, OLDEST_NUMBA))
        raise BackendError(
            f"the backend 'numba' needs Numba {oldest} or later, and {numba.__version__} is installed",
            instead=f'pip install "numba>={oldest}"',
        )
    return numba


def let_numba_know() -> None:
    """Has Numba, where it is installed, take gradients for functions that compiled functions may call."""
    with contextlib.suppress(ImportError):
        import_numba()
        importlib.import_module("sourcead.backends.numba.overloads.gradients")
