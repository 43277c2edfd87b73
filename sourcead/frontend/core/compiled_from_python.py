"""Find what a class or function was compiled from, if mypyc compiled its module: the source lies beside the compiled file.

The source is run once more, as a module of Python that has no place in `sys.modules`. What is in it stands for what has the same name in
the compiled module, wherever a program that is differentiated names it; mypyc keeps the meaning of the Python that it compiles.
"""

import functools
import operator
import sys
import types
from pathlib import Path
from typing import Any


def in_source(value: Any) -> Any:
    """Return the class or function of Python that a class or function was compiled from by mypyc, and any other object itself."""
    if type(value) is tuple:
        return tuple(map(in_source, value))
    if not (isinstance(value, types.BuiltinFunctionType) or isinstance(value, type) and "__mypyc_attrs__" in vars(value)):
        return value
    file = getattr(sys.modules.get(value.__module__), "__file__", None)
    module = module_of_source(value.__module__, file) if file and not file.endswith(".py") else None
    try:
        return value if module is None else operator.attrgetter(value.__qualname__)(module)
    except AttributeError:
        return value


@functools.cache
def module_of_source(name: str, file: str) -> types.ModuleType | None:
    """Return a module as Python makes it of the source beside its compiled file, or None if mypyc did not compile it."""
    compiled = Path(file)
    source = compiled.with_name(f"{compiled.name.partition('.')[0]}.py")
    if not source.exists() or b"mypyc" not in compiled.read_bytes():
        return None
    made = types.ModuleType(name)
    made.__file__, made.__package__ = str(source), name.rpartition(".")[0]
    exec(compile(source.read_text(encoding="utf-8"), str(source), "exec", dont_inherit=True), vars(made))
    vars(made).update({key: in_source(value) for key, value in vars(made).items()})
    return made
