"""Turn generated text into a function whose lines tracebacks and debuggers can show."""

from __future__ import annotations

import collections
import inspect
import itertools
import linecache
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from sourcead.language.placed_warnings import warn
from sourcead.language.tracebacks import ORIGINS
from sourcead.places.origin import Origin

_counter = itertools.count(1)


class _Text:
    """Keeps a text in `linecache`, and where its lines come from, as long as a function made from it lives, and until another is made.

    It is not removed at once, because functions may be freed at any time, also while `linecache` walks over what it keeps.
    """

    def __init__(self, file: str):
        weakref.finalize(self, _freed.append, file).atexit = False

    @classmethod
    def of(cls, file: str) -> _Text:
        text = _texts.get(file)
        if text is None:
            text = _texts[file] = cls(file)
        return text


_freed: collections.deque[str] = collections.deque()
_texts: weakref.WeakValueDictionary[str, _Text] = weakref.WeakValueDictionary()
_alive: weakref.WeakKeyDictionary[types.FunctionType, _Text] = weakref.WeakKeyDictionary()


def load(text: str, name: str, namespace: dict[str, Any]) -> types.FunctionType:
    """Return the function that a text defines.

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


def compiled(text: str, name: str, key: str | None = None, origins: Callable[[], dict[Any, Origin]] = dict) -> types.CodeType:
    """Return the code of a text, and register it in `linecache`, and the user's statements of its lines, under a unique file name.

    Args:
        text, name: as for `load`.
        key: identifies the text in every process, for code that a later one runs; None for a number.
        origins: returns the user's statement of each line and each expression.
    """
    file = f"<sourcead {name} {key or next(_counter)}>"
    _remove_freed()
    if not text.endswith("\n"):
        text += "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)  # no modification time: never purged
    ORIGINS[file] = origins
    return compile(text, file, "exec", dont_inherit=True)


def _remove_freed() -> None:
    """Remove the texts of which no function is left."""
    while _freed:
        file = _freed.popleft()
        if file not in _texts:
            linecache.cache.pop(file, None)
            ORIGINS.pop(file, None)


def run(code: types.CodeType, name: str, namespace: dict[str, Any]) -> types.FunctionType:
    """Run a compiled text in a namespace and return the function that it defines."""
    namespace.update({key: warn for key, value in namespace.items() if value is warnings.warn})
    exec(code, namespace)
    function = namespace[name]
    _alive[function] = _Text.of(code.co_filename)
    return function


class _Expression(str):
    """A text that stands for a value as whose `repr` it is shown."""

    __repr__ = str.__str__


def parameter_list(signature: inspect.Signature, default: str) -> str:
    """Return the parameter list of a `def`, in which `default.format(name)` is the expression of each default."""
    defaults = {p.name: p.empty if p.default is p.empty else _Expression(default.format(p.name)) for p in signature.parameters.values()}
    shown = [p.replace(annotation=p.empty, default=defaults[p.name]) for p in signature.parameters.values()]
    return str(inspect.Signature(shown))[1:-1]


def argument_list(signature: inspect.Signature) -> str:
    """Return the argument list of a call that passes all parameters on."""
    spelling = {"VAR_POSITIONAL": "*{0}", "VAR_KEYWORD": "**{0}", "KEYWORD_ONLY": "{0}={0}"}
    return ", ".join(spelling.get(p.kind.name, "{0}").format(p.name) for p in signature.parameters.values())
