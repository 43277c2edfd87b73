"""Compositions: functions that are written in terms of others if a derivative may pass through a call of them.

    composed({np.logspace: lambda start, stop, num=50, endpoint=True, base=10.0: base ** np.linspace(start, stop, num, endpoint)})

    @composed(np.corrcoef)
    def corrcoef(x, y=None, rowvar=True):
        c = np.cov(x, y, rowvar)
        ...

The parameters are those of the primal; a call with an argument that the composition does not take is refused.  A composition
with `given` stands only for the calls that give one of these options; the others keep their rule.  A method of ufuncs, as in
`np.hypot.reduce`, has one composition for all ufuncs, which takes the ufunc first; so have calls of ufuncs with some options.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from sourcead.primitives.registry import add_to
from sourcead.primitives.rule import signature_of


@dataclass(frozen=True)
class Composition:
    """A function in terms of others.

    Attributes:
        function: the Python function that is inlined in place of a call.
        given: the options of which a call must give one to be replaced; all calls are if this is empty.
        active: calls through one of these arguments of which a derivative passes are replaced too, though the function has a rule.
        first: the arguments that it takes before those of the call.
        writes: whether it writes into an argument.
        words: calls with one of these texts as an argument are replaced too, though the function has a rule.
        always: calls are replaced even if no derivative passes through an argument: one may pass through the result when it is called.
    """

    function: Callable
    given: frozenset[str]
    active: frozenset[str] = frozenset()
    first: tuple = ()
    writes: bool = False
    words: frozenset[str] = frozenset()
    always: bool = False


COMPOSED: set[Callable] = set()
"""The functions that are compositions."""

OF_UFUNCS: dict[str, list[Composition]] = {}
"""The compositions of the methods of all ufuncs, by name, with those of their calls under `__call__`."""


def composed(*functions, given: str = "", active: str = "", writes: bool = False, words: str = "", always: bool = False):
    """Enter the decorated function as the composition that stands for calls of these functions.

    Args:
        functions: the functions; or one table, from a function (or several in a tuple) to a lambda, and nothing is decorated.
        given, active, words: options, arguments and texts, separated by blanks; see `Composition`.
        writes: whether the functions write into an argument.
        always: whether calls are replaced even if no derivative passes through an argument, as of a class whose objects are called.
    """

    def enter(composition, functions=functions):
        options = {"writes": writes, "words": frozenset(words.split())}
        entry = Composition(composition, frozenset(given.split()), frozenset(active.split()), **options)
        COMPOSED.add(composition)
        for function in functions:
            called = isinstance(function, type) and any("__call__" in vars(base) for base in function.__mro__)
            entry = replace(entry, always=always or called)
            add_to(function, "compositions", entry)
        return composition

    if isinstance(functions[0], dict):
        for key, composition in functions[0].items():
            enter(composition, key if isinstance(key, tuple) else (key,))
    return enter


def composed_method(name: str, given: str = "", writes: bool = False):
    """Enter the decorated function as the composition of the method `name` of every ufunc that has no rule for it."""

    def enter(composition):
        OF_UFUNCS.setdefault(name, []).append(Composition(composition, frozenset(given.split()), writes=writes))
        return composition

    return enter


def refuse(reason: str):
    """Refuse, inside a composition, the call that has no derivative."""
    raise NotImplementedError(reason)


def number_kind(x):
    """Return, inside a composition, the kind of an argument: 'bool', 'int', 'float' or 'complex', or '' if it is not known."""
    return {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}.get(np.asarray(x).dtype.kind, "")


def known_length(x):
    """Return, inside a composition, the length of an array of one axis if it is a number in the text, else 0."""
    return 0


@cache
def defaults_of(function) -> dict[str, Any]:
    """Return the defaults of a primal's parameters, as far as Python knows them."""
    if isinstance(function, np.ufunc):
        return {"out": None, "where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True, "signature": None}
    known = None if is_method_of_ufunc(function) else signature_of(function)
    if known is None:
        return {"dtype": None, "out": None, "where": True, "initial": np._NoValue, "keepdims": False}
    return {p.name: p.default for p in known if p.default is not p.empty}


@cache
def parameters_of(function) -> tuple[str, ...]:
    """Return the names of a primal's positional parameters; a function in C may tell them in its docstring alone."""
    if is_method_of_ufunc(function):
        return METHODS_OF_UFUNCS[function.__name__]
    known = () if isinstance(function, np.ufunc) else signature_of(function)
    if known is None:
        told = re.match(r"\w+\((.*?)(?:\n\s*\n|$)", (getattr(function, "__doc__", None) or "").lstrip(), re.S)
        text = re.sub(r"\(\w+, \w+, \.\.\.\)", "arrays", told[1]) if told else ""  # `concatenate((a1, a2, ...), axis=0, out=None)`
        by_position = re.sub(r"[\[\]]", "", re.match(r"[^*)]*", text)[0])  # `where(condition, [x, y], /)`
        return tuple(re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", by_position))
    return tuple(p.name for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


def is_method_of_ufunc(function) -> bool:
    """Return whether a function is a method of a ufunc whose signature in Python lacks some of its options."""
    return isinstance(getattr(function, "__self__", None), np.ufunc) and function.__name__ in METHODS_OF_UFUNCS


METHODS_OF_UFUNCS = {
    "reduce": ("array", "axis", "dtype", "out", "keepdims", "initial", "where"),
    "accumulate": ("array", "axis", "dtype", "out"),
    "reduceat": ("array", "indices", "axis", "dtype", "out"),
}
