"""The table from functions to what computes the type of their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

HANDLERS: dict[Any, Callable] = {}


def infers(*functions):
    """Enters the decorated `handler(fn, args, kwargs) -> Type` for these functions."""

    def enter(handler):
        for function in functions:
            HANDLERS[function] = handler
        return handler

    return enter


def arrange(names: str, args: list, kwargs: dict) -> dict:
    """The operands by parameter name; `names` are the positional parameters in order. Raises TypeError if one is unknown."""
    order = names.split()
    if len(args) > len(order):
        raise TypeError("too many arguments")
    given = dict(zip(order, args))
    for name, arg in kwargs.items():
        if name in given:
            raise TypeError(f"{name} given twice")
        given[name] = arg
    return given


def only(given: dict, allowed: str) -> None:
    """Raises TypeError if an operand is given that is not among the allowed."""
    extra = set(given) - set(allowed.split())
    if extra:
        raise TypeError(f"nothing is known of the result with {', '.join(extra)}")
