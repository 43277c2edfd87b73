"""Tell which functions belong to a library, which have a derivative rule, and which of Python's an object of Numba stands for."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from sourcead.primitives import table
from sourcead.runtime import is_helper


def has_rule(fn: Any) -> bool:
    """Tell whether a function has a derivative rule, or is known to have no derivative."""
    return table.has_rule(fn) or table.no_derivative(fn)


LIBRARIES = ("numpy", "math", "operator", "scipy", "cmath", "_operator")


PLAIN_BUILTINS = frozenset({abs, pow, round, divmod, format, repr, ascii, ord, chr, bin, hex, all, any, sorted, callable, type, hash})


def is_library(fn: Any) -> bool:
    """Tell whether a function belongs to a library: its source is not looked up, and a missing rule is an error."""
    if is_helper(fn):
        return True
    owner = getattr(fn, "__objclass__", None) or getattr(fn, "__self__", None)
    module = getattr(fn, "__module__", None) or getattr(owner, "__module__", None) or ""
    if isinstance(fn, np.ufunc) or isinstance(getattr(fn, "__self__", None), np.ufunc):
        return True
    if isinstance(fn, type) and issubclass(fn, (np.generic, int, float, complex, bool, str)):
        return True
    if module == "builtins":
        return fn in PLAIN_BUILTINS
    return module.split(".")[0] in LIBRARIES and not isinstance(fn, type)


def is_library_module(module: types.ModuleType) -> bool:
    """Tell whether a module belongs to a library."""
    return module.__name__.split(".")[0] in LIBRARIES


def in_python(fn: Any) -> Any:
    """Return the Python equivalent of an object of Numba, such as `prange`, in interpreted code; return any other object itself.

    Numba need not be installed: its objects are recognised by the module that defines them.
    """
    module, name = getattr(fn, "__module__", None), getattr(fn, "__name__", None)
    if isinstance(module, str) and module.startswith("numba.") and isinstance(name, str):
        made = isinstance(getattr(fn, "__self__", None), type)  # typed.List.empty_list(float64), typed.Dict.empty(...)
        return IN_PYTHON.get((module, name, made), fn)
    return fn


IN_PYTHON = {  # the module of an object of Numba, its name, and whether it is a method of a class
    ("numba.misc.special", "prange", False): range,
    ("numba.misc.special", "literal_unroll", False): lambda container: container,
    ("numba.typed.typedlist", "List", False): list,
    ("numba.typed.typedlist", "empty_list", True): lambda item_type=None, allocated=0: [],
    ("numba.typed.typeddict", "Dict", False): dict,
    ("numba.typed.typeddict", "empty", True): lambda key_type=None, value_type=None, n_keys=0: {},
}
