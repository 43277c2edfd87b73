"""From `FILE:FUNCTION` or `PACKAGE.MODULE:FUNCTION` to the function.

    model.py:loss               the function `loss` of a file
    model.py:Network.loss       a method of a class, whose first argument is an object of it
    package.module:loss         of a module that Python can import from the current folder, or that is installed
"""

import difflib
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from sourcead.places.origin import HERE, LIBRARIES, shown_path


class CommandError(Exception):
    """A command that cannot be carried out as it was given; the message says why, and what to write instead."""


def resolved(target: str) -> tuple[Callable, ModuleType]:
    """Return the function that a target names, and its module, which is imported.

    Raises:
        CommandError: there is no such file, module or function.
    """
    where, colon, name = target.rpartition(":")
    if not colon or not where or not name:
        raise CommandError(f"{target!r} names no function; write FILE.py:FUNCTION or PACKAGE.MODULE:FUNCTION")
    module = _of_file(where) if where.endswith(".py") else _of_name(where)
    return _member(module, name, where), module


def is_method(function: Callable) -> bool:
    """Return whether a function stands in a class, so that its first argument is an object."""
    inside, _, name = getattr(function, "__qualname__", "").rpartition(".")
    owner: Any = sys.modules.get(getattr(function, "__module__", None))
    for part in inside.split("."):
        owner = getattr(owner, part, None)
    return isinstance(owner, type) and inspect.getattr_static(owner, name, None) is function


def _of_file(path: str) -> ModuleType:
    """Return the module of a file, run as an import runs it: what stands under `if __name__ == "__main__"` does not.

    A file of a package is imported by its dotted name, so that relative imports work.
    """
    file = Path(path).resolve()
    if not file.is_file():
        raise CommandError(f"there is no file {path}")
    folder, name = file.parent, file.stem
    while (folder / "__init__.py").is_file():
        folder, name = folder.parent, f"{folder.name}.{name}"
    sys.path.insert(0, str(folder))  # as `python FILE.py` does
    if name not in sys.modules:
        return _run(lambda: importlib.import_module(name), path)
    if getattr(sys.modules[name], "__file__", None) == str(file):
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(f"{name} of {path}", file)  # another module, such as one of Python's, has the name
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    _run(lambda: spec.loader.exec_module(module), path)
    return module


def _of_name(name: str) -> ModuleType:
    """Return the module of a name, imported from the current folder or from what is installed."""
    sys.path.insert(0, os.getcwd())
    return _run(lambda: importlib.import_module(name), name)


def _run(imported: Callable[[], Any], what: str) -> Any:
    """Import a module; its errors become a `CommandError` that keeps them as its cause."""
    try:
        return imported()
    except (Exception, SystemExit) as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith((HERE, "<"))]
        users = [f for f in frames if not f.filename.startswith(LIBRARIES)]
        at = f" ({shown_path(users[-1].filename)}:{users[-1].lineno})" if users and not isinstance(error, SyntaxError) else ""
        raise CommandError(f"{what} cannot be imported: {type(error).__name__}: {error}{at}") from error


def _member(module: ModuleType, name: str, where: str) -> Callable:
    """Return the function of a module, or of a class in it, with a dotted name."""
    found: Any = module
    for k, part in enumerate(name.split(".")):
        if not hasattr(found, part):
            inside = where if k == 0 else ".".join(name.split(".")[:k])
            callables = [n for n, v in vars(found).items() if callable(v) and not n.startswith("_")] if hasattr(found, "__dict__") else []
            close = difflib.get_close_matches(part, callables) or sorted(callables)[:8]
            raise CommandError(f"{inside} has no {part!r}" + (f"; it has {', '.join(close)}" if close else ""))
        found = getattr(found, part)
    if not callable(found):
        raise CommandError(f"{where}:{name} is no function, but of the class {type(found).__name__}")
    return found
