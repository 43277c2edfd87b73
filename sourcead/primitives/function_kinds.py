"""Facts that follow from the kind and the module of a function: ufuncs, operators, random draws, functions of NumPy and of math.

These facts hold for a function unless a family enters others.
"""

import inspect
import operator
import random
import sys
from typing import Any

import numpy as np

from sourcead.runtime import is_helper

UFUNC = {"memory": "fresh", "order": "keeps", "examples": True}
UFUNC_METHODS = ("accumulate", "outer", "reduce", "reduceat")
NUMBER_TYPE = {"memory": "shared", "pure": True, "examples": True, "numba": "native"}
MATH = {"memory": "fresh", "pure": True, "examples": True, "numba": "native"}
MATH_WITHOUT_NUMBA = frozenset("cbrt comb dist factorial fmod fsum isclose isqrt lcm modf perm prod remainder ulp".split())
METHOD_OF_PYTHON = {"numba": "native"}
OPERATOR = {"memory": "operands", "pure": True, "examples": True, "order": "keeps"}
NOT_PURE_OPERATORS = {"attrgetter", "call", "delitem", "itemgetter", "length_hint", "methodcaller", "setitem"}
NOT_IN_PLACE = {"inv", "invert", "is_", "is_not", "index", "indexOf"}
DRAW = {"memory": "fresh", "effect": True}
MODULES_WITH_EFFECTS = ("numpy.random.", "numpy.testing.", "random.", "secrets.")
NOT_BY_EXAMPLE = (
    "numpy.lib._npyio", "numpy.lib.scimath", "numpy.lib._scimath", "numpy.ctypeslib", "numpy.ma", "numpy.lib.stride_tricks",
    "numpy.lib._stride_tricks", "numpy.f2py", "numpy.rec", "numpy.matlib", "numpy.char", "numpy.strings",
)  # fmt: skip
PURE_MODULES = ("numpy", "numpy.linalg", "numpy.fft")
GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


def facts_of_kind(function) -> dict[str, Any]:
    """Return the facts about a function that follow from its kind and its module."""
    owner = getattr(function, "__self__", None)
    if isinstance(function, np.ufunc):
        elementwise = function.signature is None and function.nout == 1
        results = {types[-1] for types in function.types if types[0] not in "?O"}
        return {**UFUNC, "elementwise": elementwise, "boolean": results == {"?"}, "pure": is_public(function)}
    if isinstance(owner, np.ufunc):
        return {"pure": is_public(owner) and function.__name__ in UFUNC_METHODS, "examples": function.__name__ in UFUNC_METHODS[:3]}
    if isinstance(owner, GENERATORS):
        return DRAW
    if isinstance(function, type) and issubclass(function, (np.generic, BaseException)):
        return NUMBER_TYPE if issubclass(function, np.generic) else {"numba": "native", "constant": True}
    if getattr(function, "__objclass__", None) in (list, dict):
        return METHOD_OF_PYTHON
    if getattr(function, "__objclass__", None) in (str, tuple):  # which cannot change
        return {**METHOD_OF_PYTHON, "pure": True}
    if getattr(function, "__objclass__", None) in (int, float):
        return {"pure": True, "numba": "interpreted"}
    if getattr(function, "__objclass__", None) is np.ndarray:
        return {"memory": "shared"}
    where = home(function)
    if f"{where}.".startswith(MODULES_WITH_EFFECTS):
        return {"memory": "shared", "effect": True}
    if where == "math":
        return {**MATH, "numba": "interpreted"} if function.__name__ in MATH_WITHOUT_NUMBA else MATH
    if where in ("operator", "_operator"):
        return operator_facts(function.__name__)
    if where.partition(".")[0] == "numpy":
        plain = hasattr(function, "__name__") and not isinstance(function, type)  # `np.test` has no name
        return {"memory": "shared", "pure": plain and where in PURE_MODULES, "examples": plain and not where.startswith(NOT_BY_EXAMPLE)}
    if is_helper(function):
        return {"memory": "shared", "examples": True}
    if where.startswith("scipy.special"):
        return {"examples": True}
    return {}


def operator_facts(name: str) -> dict[str, Any]:
    """Return the facts about the function of `operator` with this name."""
    in_place = name.startswith("i") and name not in NOT_IN_PLACE
    memory = "shared" if name in ("getitem", "itemgetter", "attrgetter") else "foreign" if in_place else "operands"
    pure = name not in NOT_PURE_OPERATORS and not (name.startswith("i") and name[1:] in {*operator.__all__, "and", "or"})
    return {**OPERATOR, "memory": memory, "pure": pure, "examples": name not in NOT_PURE_OPERATORS}


def is_public(ufunc: np.ufunc) -> bool:
    """Return whether a ufunc is one of NumPy's or SciPy's own."""
    return getattr(np, ufunc.__name__, None) is ufunc or home(ufunc) == "scipy.special"


LIBRARIES = ("numpy", "math", "operator", "scipy", "cmath", "_operator")


def in_library(module: str) -> bool:
    """Return whether a module is part of one of the libraries whose functions are known by their records."""
    return module.partition(".")[0] in LIBRARIES


def home(function) -> str:
    """Return the name of the module that a function, a method descriptor or a ufunc's method belongs to."""
    module = getattr(function, "__module__", None)
    if isinstance(module, str):
        written_in = function.__globals__.get("__name__") if hasattr(function, "__wrapped__") and hasattr(function, "__globals__") else None
        return written_in if in_library(module) and written_in and not in_library(written_in) else module  # as of `@wraps(np.sin)`
    if isinstance(function, np.ufunc):
        special = sys.modules.get("scipy.special")
        found = special is not None and getattr(special, function.__name__, None) is function
        return "scipy.special" if found else "numpy"
    owner = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
    if owner is None or inspect.ismodule(owner):
        return getattr(owner, "__name__", "")
    if isinstance(owner, np.ufunc):
        return home(owner)
    cls = owner if isinstance(owner, type) else type(owner)
    return WITHOUT_MODULE.get(cls.__name__, "") or getattr(cls, "__module__", "")


WITHOUT_MODULE = {"SuperLU": "scipy.sparse.linalg"}
"""Compiled classes that do not tell their module."""
