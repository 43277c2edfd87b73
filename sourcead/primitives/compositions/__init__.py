"""Functions that are other functions, and are written out with them where a derivative may pass through a call.

    @composed(np.corrcoef)
    def corrcoef(x, y=None, rowvar=True):
        c = np.cov(x, y, rowvar)
        ...

The parameters are those of the primal; what the primal takes beyond them is refused.  `given` names options: the composition then
stands for the calls that give one of them, and the others keep their rule.  A method of ufuncs, `np.hypot.reduce`, has one
composition for all ufuncs, which takes the ufunc first; so have their calls with some options.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sourcead.primitives.registry import add_to


@dataclass(frozen=True)
class Composition:
    """A function in terms of others.

    `given` are the options that ask for it, empty for all calls; `active` those arguments which ask for it where they carry
    a derivative, and `words` the texts among the arguments that do, though the function has a rule.
    """

    function: Callable
    given: frozenset[str]
    active: frozenset[str] = frozenset()
    first: tuple = ()  # what it takes before the call's arguments
    writes: bool = False  # it writes into an argument
    words: frozenset[str] = frozenset()


class Refused(Exception):
    """Raised while a composition is written out: this call has no derivative, and why."""


OF_UFUNCS: dict[str, list[Composition]] = {}
"""The compositions of the methods of all ufuncs, by name; of their calls, under `__call__`."""


def composed(*functions, given: str = "", active: str = "", writes: bool = False, words: str = ""):
    """Enters the decorated function as what these functions are, where a call gives one of the options (any call if none)."""

    def enter(composition):
        entry = Composition(composition, frozenset(given.split()), frozenset(active.split()), writes=writes, words=frozenset(words.split()))
        for function in functions:
            add_to(function, "compositions", entry)
        return composition

    return enter


def composed_method(name: str, given: str = "", writes: bool = False):
    """Enters the decorated function as the method `name` of every ufunc without a rule for it."""

    def enter(composition):
        OF_UFUNCS.setdefault(name, []).append(Composition(composition, frozenset(given.split()), writes=writes))
        return composition

    return enter


def refuse(reason: str):
    """In a composition: there is no derivative of such a call."""
    raise NotImplementedError(reason)


def number_kind(x):
    """In a composition: 'bool', 'int', 'float' or 'complex', by the type of an argument; '' where it is not known."""
    return {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}.get(np.asarray(x).dtype.kind, "")


@cache
def defaults_of(function) -> dict[str, Any]:
    """The primal's own defaults, as far as Python knows them: an option that says its default says nothing."""
    ufunc = function if isinstance(function, np.ufunc) else None
    if ufunc is not None:
        return {"out": None, "where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True, "signature": None}
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {"dtype": None, "out": None, "where": True, "initial": np._NoValue, "keepdims": False}
    return {p.name: p.default for p in parameters if p.default is not p.empty}


@cache
def parameters_of(function) -> tuple[str, ...]:
    """The names of a primal's positional parameters, as far as Python knows them."""
    if isinstance(function, np.ufunc):
        return ()
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return METHODSOF_UFUNCS.get(getattr(function, "__name__", ""), ())
    return tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


METHODSOF_UFUNCS = {
    "reduce": ("array", "axis", "dtype", "out", "keepdims", "initial", "where"),
    "accumulate": ("array", "axis", "dtype", "out"),
    "reduceat": ("array", "indices", "axis", "dtype", "out"),
}
