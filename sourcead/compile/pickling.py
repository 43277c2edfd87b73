"""Pickle what a derivative is made of: by name where Python finds the function by its name, else by value, which other packages do."""

import copy
import importlib
import linecache
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from sourcead.errors import UnsupportedValueError
from sourcead.frontend.find_source import FILES, file_of, unwrap

BY_VALUE = ("cloudpickle", "dill")  # packages that pickle a function as code


class Pickled:
    """Base of derivatives, which are pickled by their name if they stand in a module, else as what they were made of.

    A subclass has `_made_of`, the arguments that make it anew, `_function`, what it is the derivative of, and `_user_function`, the
    plain function behind that.
    """

    _made_of: tuple
    _function: Any
    _user_function: types.FunctionType

    def __deepcopy__(self, memo):
        return self if _named(self) is self else type(self)(*copy.deepcopy(self._made_of, memo))

    def __copy__(self):
        return type(self)(*self._made_of)

    def __reduce__(self):
        if _named(self) is self:
            return self.__qualname__  # the decorated name
        user = self._user_function
        parts = type(self), self._made_of, _texts(file_of(user))
        if isinstance(self._function, Pickled) or unwrap(_named(user))[0] is user:
            return _made, parts
        what = f"a derivative of `{user.__qualname__}`, which the module `{user.__module__}` does not have under that name,"
        return reduced_by_value(_made, parts, what, "define the function with `def` outside of other functions, under a name of its own")


def with_text(derivative: Pickled) -> tuple[Callable, tuple]:
    """What `reducer_override` of a pickler that pickles functions as code returns for a derivative that it is to pickle in this way.

    The text of its file goes with it, for processes that do not have the file.
    """
    file = file_of(derivative._user_function)
    texts = _texts(file)
    return _made, (type(derivative), derivative._made_of, {**texts, file: texts.get(file) or linecache.getlines(file)})


def _named(function: Any) -> Any:
    """What stands in a function's module under its name; None if there is nothing."""
    found = sys.modules.get(function.__module__ or "")
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found


def _texts(file: str) -> dict[str, list[str]]:
    """The file of a function, or the cells of a notebook, for a function in one of them, of which another process finds no source."""
    if os.path.exists(file):
        return {file: []}
    cached = {name: entry for name, entry in linecache.cache.items() if len(entry) > 2 and entry[1] is None}
    return {name: entry[2] for name, entry in cached.items() if name == file or not name.startswith("<sourcead")}


def _made(kind: Callable, made_of: tuple, texts: dict[str, list[str]]) -> Any:
    for file, lines in texts.items():
        FILES[file] = None
        if lines:
            linecache.cache.setdefault(file, (sum(map(len, lines)), None, lines, file))
    return kind(*made_of)


def reduced_by_value(remade: Callable, parts: tuple, what: str, instead: str) -> tuple[Callable, tuple]:
    """What `__reduce__` returns for an object that `remade(*parts)` makes anew, whose parts Python does not pickle by itself.

    Raises:
        UnsupportedValueError: none of the packages that could is installed.
    """
    for name in BY_VALUE:
        try:
            package = importlib.import_module(name)
        except ImportError:
            continue
        return _remade, (package.loads, package.dumps((remade, parts)))
    raise UnsupportedValueError(f"{what} cannot be pickled", instead=f"{instead}, or install cloudpickle, which pickles functions as code")


def _remade(loads: Callable, pickled: bytes) -> Any:
    remade, parts = loads(pickled)
    return remade(*parts)
