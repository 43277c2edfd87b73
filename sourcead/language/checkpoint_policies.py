"""Checkpoint policies: what loops save for the reverse sweep.

| policy | saves | rebuilds |
| --- | --- | --- |
| `"auto"` | what a minimum cut of the body chooses | cheap values: subscripts, views, arithmetic |
| `"store"` | every value that the reverse sweep reads | nothing |
| `"states"` | the loop variants at each entry | the rest of the body |
| `Segments(every)` | the loop variants every so many iterations | a segment at a time |
| `Revolve(snapshots)` | at most that many states, placed by the binomial schedule | as the schedule says |
| `"recompute"` | the state on entry | each iteration, from the start |
| `Auto(budget)` | as many states as fit into the memory | as the binomial schedule says |

A policy holds for every loop of a function (`grad(f, checkpoint=...)`) or for one (`for t in checkpoint(range(n), ...)`).
"""

import difflib
import operator
import re
import types
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sourcead.errors import UnsupportedArgumentError
from sourcead.language.tracebacks import folded

NAMES = ("auto", "store", "states", "recompute")
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


class SavingPolicy:
    """Base class of the policies that have a number."""


@dataclass(frozen=True)
class Segments(SavingPolicy):
    """Saves the loop variants every `every` iterations; the reverse sweep runs one segment again at a time.

    It holds n / every states and what `every` iterations save in memory, and runs each iteration twice.

    Raises:
        UnsupportedArgumentError: `every` is not a positive integer.

    Example:
        >>> from sourcead import Segments, grad
        >>> def power(x, n):
        ...     y = 1.0
        ...     for _ in range(n):
        ...         y = y * x
        ...     return y
        >>> grad(power, checkpoint=Segments(10))(1.0, 50)
        50.0
    """

    every: int

    @folded
    def __post_init__(self):
        object.__setattr__(self, "every", positive(self.every, "Segments", "iterations"))


@dataclass(frozen=True)
class Revolve(SavingPolicy):
    """Saves at most `snapshots` states at a time, placed by the binomial schedule of Griewank and Walther.

    With s snapshots, n iterations and the least r for which C(s + r, s) >= n, an iteration is run again at most r times and
    r n - C(s + r, s + 1) times in all, which is the least that is possible (A. Griewank and A. Walther, Algorithm 799, ACM
    TOMS 26, 2000). The state of the current iteration comes on top of the snapshots.

    Raises:
        UnsupportedArgumentError: `snapshots` is not a positive integer.

    Example:
        >>> from sourcead import Revolve, grad
        >>> def power(x, n):
        ...     y = 1.0
        ...     for _ in range(n):
        ...         y = y * x
        ...     return y
        >>> grad(power, checkpoint=Revolve(3))(1.0, 50)
        50.0
    """

    snapshots: int

    @folded
    def __post_init__(self):
        object.__setattr__(self, "snapshots", positive(self.snapshots, "Revolve", "snapshots"))


@dataclass(frozen=True)
class Auto(SavingPolicy):
    """Saves what a minimum cut chooses or, given a budget, as many states as fit into it, placed as by `Revolve`.

    A state is measured when a loop is entered. `budget` is a number of bytes or a text such as "200MB", "1.5 GB", "64KiB".

    Raises:
        UnsupportedArgumentError: the budget is not a positive amount of memory; in a call, it is below one state.

    Example:
        >>> from sourcead import Auto
        >>> Auto("200MB").budget
        200000000
    """

    budget: int | str | None = None

    @folded
    def __post_init__(self):
        if self.budget is not None:
            object.__setattr__(self, "budget", bytes_of(self.budget))


def positive(number: Any, name: str, what: str) -> int:
    """Return the number as an int, or raise an error if it is not a positive integer."""
    try:
        found = None if isinstance(number, bool) else operator.index(number)
    except TypeError:
        found = None
    if found is None or found < 1:
        raise UnsupportedArgumentError(
            f"{name}({number!r}): the number of {what} must be a positive integer", instead=f"{name}(10)"
        )
    return found


def bytes_of(budget: Any) -> int:
    """Return the bytes of a budget given as a number or a text."""
    found = None
    if isinstance(budget, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:([kmgt]i?)b?|b|bytes)\s*", budget.lower())
        found = match and float(match[1]) * UNITS[match[2] or ""]
    elif isinstance(budget, int | float) and not isinstance(budget, bool):
        found = budget
    if found is None or not 1 <= found < float("inf"):
        raise UnsupportedArgumentError(
            f"a budget of {budget!r} is not an amount of memory", instead='budget="200MB", or a number of bytes'
        )
    return int(found)


def policy_of(given: Any, budget: Any = None) -> Any:
    """Return the policy that was given, an `Auto` for "auto"; raise an error if there is no such policy."""
    if isinstance(given, str) and given in NAMES:
        given = Auto() if given == "auto" else given
    if budget is not None:
        if not isinstance(given, Auto):
            raise UnsupportedArgumentError(
                f"a budget chooses what to save, and so does checkpoint={given!r}", instead='checkpoint="auto" with a budget'
            )
        return Auto(budget)
    if isinstance(given, str) and given in NAMES or isinstance(given, SavingPolicy):
        return given
    raise UnsupportedArgumentError(f"there is no checkpoint policy {getattr(given, '__name__', repr(given))}", instead=meant(given))


def meant(given: Any) -> str:
    """Return what a user who gave no policy may have meant, or all policies."""
    for cls in (Segments, Revolve):
        if given is cls:
            return f"{cls.__name__}(10)"
        if isinstance(given, str) and (found := re.fullmatch(rf"{cls.__name__}\W*(\d*)\W*", given, re.IGNORECASE)):
            return f"{cls.__name__}({found[1] or 10})"
    near = difflib.get_close_matches(given, NAMES, 1) if isinstance(given, str) else ()
    return f'"{near[0]}"' if near else '"auto", "store", "states", "recompute", Segments(every) or Revolve(snapshots)'


def refuse_policy_first(iterable: Any) -> None:
    """Refuse a policy or a function that stands where the iterable of a loop belongs."""
    if isinstance(iterable, types.FunctionType | types.MethodType):
        named = iterable.__name__ if iterable.__name__.isidentifier() else "f"
        instead = f"`grad({named}, checkpoint=...)` for all its loops, or `for t in checkpoint(range(n), ...):` for one in it"
        raise UnsupportedArgumentError(f"`checkpoint` takes the iterable of a loop, and is given the function `{named}`", instead=instead)
    if isinstance(iterable, SavingPolicy):
        (number,) = vars(iterable).values()
        instead = f"checkpoint(range(n), {type(iterable).__name__}({number!r}))"
        raise UnsupportedArgumentError("`checkpoint` takes the iterable first and then the policy", instead=instead)


@folded
def checkpoint(iterable: Iterable, policy: Any = "auto", *, budget: int | str | None = None) -> Iterable:
    """Return the iterable; a differentiated loop over it saves by the given policy.

    In a function that is differentiated, `for t in checkpoint(range(n), Revolve(8)):` overrides `checkpoint=` of `grad`.

    Args:
        iterable: the iterable of the loop.
        policy: "auto", "store", "states", "recompute", `Segments(every)`, `Revolve(snapshots)` or `Auto(budget)`.
        budget: the memory that "auto" may fill with states, in bytes or as a text such as "200MB".

    Returns:
        `iterable`.

    Raises:
        UnsupportedArgumentError: there is no such policy.

    Example:
        >>> from sourcead import Revolve, checkpoint, grad
        >>> @grad
        ... def power(x, n):
        ...     y = 1.0
        ...     for _ in checkpoint(range(n), Revolve(3)):
        ...         y = y * x
        ...     return y
        >>> power(1.0, 50)
        50.0
    """
    refuse_policy_first(iterable)
    policy_of(policy, budget)
    return iterable
