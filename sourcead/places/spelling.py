"""How messages write functions, counts and classes."""

import enum
import reprlib
import sys
import types
from typing import Any

from sourcead.places.origin import LIBRARIES


def spelled(function: Any) -> str:
    """How a user would write a function: `np.linalg.svd`, `math.gamma`, `scipy.special.wofz`, `scale`."""
    known = isinstance(function, types.FunctionType | types.BuiltinMethodType) or not hasattr(function, "__qualname__")
    name = getattr(function, "__name__" if known else "__qualname__", None) or repr(function)
    if "<locals>." in name:  # inside the function that made it
        return name.rpartition("<locals>.")[2]
    owner = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
    if isinstance(owner, type) and owner.__module__ != "builtins":  # a method
        return f"{spelled(owner)}.{function.__name__}"
    module = getattr(function, "__module__", None) or ("" if isinstance(function, types.MethodType) else "_")
    if module in ("", "builtins", "__main__"):
        return name
    if isinstance(function, types.FunctionType) and not function.__code__.co_filename.startswith(LIBRARIES):
        return name
    parts = module.split(".")
    homes = [".".join(parts[:k]) for k in range(1, len(parts) + 1)]  # the first package that has it is where users find it
    if module.startswith("_"):  # neither a ufunc nor what is written in C says where
        homes = ["numpy", *sorted((m for m in sys.modules if not m.startswith("_")), key=len)]
    if owner is not None and not isinstance(owner, type | types.ModuleType):  # a method that a module has as a function
        short = name.rpartition(".")[2]
        name = short if any(vars(sys.modules.get(home, types)).get(short) is function for home in homes) else name
    found = next((home for home in homes if vars(sys.modules.get(home, types)).get(name) is function), None)
    home = found or ("" if module == "_" else module)
    if home.partition(".")[0] == "numpy":
        home = ".".join(["np", *(part for part in home.split(".")[1:] if not part.startswith("_"))])
    return f"{home}.{name}" if home else name


def of_constant(value: Any) -> str:
    """Return how a user would write an option, as far as a line has place for it: `'mean'`, `True`, `np.tanh`."""
    if isinstance(value, tuple):
        return f"({', '.join(map(of_constant, value))})"
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, str | bytes | bool | None | types.EllipsisType):
        return reprlib.repr(value)
    return spelled(value) if hasattr(value, "__name__") else f"<{type(value).__name__}>"


def counted(count: int, what: str) -> str:
    """Return a count with its noun: "1 axis", "2 axes", "0 arguments"."""
    return f"{count} {what}" if count == 1 else f"{count} {what.removesuffix('is')}{'es' if what.endswith('is') else 's'}"


def of_class(x: Any) -> str:
    """Return the name of an object's class with its article: "an ndarray", "a list"; or "None"."""
    name = type(x).__name__
    return "None" if x is None else f"{'an' if name[:1].lower() in tuple('aeio') or name == 'ndarray' else 'a'} {name}"
