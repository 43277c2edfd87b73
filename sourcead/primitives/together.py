"""Forms of functions for all members of a batch, as Python functions that take the place of a call (`vmap`).

    @together(np.roll)
    def _(a, shift, axis=None):
        return np.roll(a, shift, behind(axis, a.ndim - 1))           a: (n, ...), the arrays of all n members

The parameters are those of the function.  Those in `along`, by default the first one, have the axis of the members in front; the others are
the same for all members.  A form is lowered like a derivative rule, and a condition in it must be decided by types.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sourcead.primitives.registry import add_to
from sourcead.primitives.rule import Arguments, form_from


@dataclass(frozen=True, eq=False)
class Form:
    """A form of a function.

    Attributes:
        primal: the function.
        function: the Python function that takes the place of a call.
        along: the names of the parameters with an axis of members; all others are the same for all members.
    """

    primal: Any
    function: Callable
    along: frozenset[str]

    @cached_property
    def arguments(self) -> Arguments:
        return form_from(self.primal, self.function)


def together(*functions, along: str = ""):
    """Enter the decorated function as a form of some functions; `along` has names between blanks."""

    def entered(form: Callable) -> Callable:
        first = form.__code__.co_varnames[0]
        for function in functions:
            add_to(function, "batched", Form(function, form, frozenset(along.split() or [first])))
        return form

    return entered


def behind(axis, rank):
    """Return the number of an axis, or those of some, once the axis of the members is in front; all of them for None."""
    if axis is None:
        return (1, 2, 3, 4, 5, 6, 7, 8)[:rank]
    if isinstance(axis, tuple):
        return tuple([k % rank + 1 for k in axis])
    return axis % rank + 1


def flat(a):
    """Return the array of each member as a vector."""
    return a if a.ndim == 2 else np.reshape(a, (len(a), -1))
