"""The properties of a call's arguments that a generated text depends on: the types of all and the values of some."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from sourcead.compile.argument_types import argument_type
from sourcead.compile.keys import coarse_key, is_static
from sourcead.compile.structures import conversion
from sourcead.compile.wrt import check_wrt
from sourcead.ir.types import Type, tangent_type


@dataclass(frozen=True, eq=False)
class Arguments:
    """The properties of a call's arguments that a generated text depends on.

    Attributes:
        key: the coarse key (`keys.py`).
        types: the type of each parameter.
        statics: the values of the parameters that are known while compiling.
        conversions: for some parameters, a function that converts the argument to what the generated function takes.
    """

    key: Any
    types: dict[str, Type]
    statics: dict[str, Any]
    conversions: dict[str, Callable]


def arguments_of(values: dict[str, Any], wrt: Collection[str], derived: Collection[str], directions: dict[str, str]) -> Arguments:
    """Return the properties of arguments that a generated text depends on.

    Args:
        values: the arguments by parameter.
        wrt: the parameters that the derivative is taken with respect to.
        derived: these, the parameters in wrt of the inner derivatives if a derivative is differentiated again, and tangents.
        directions: {parameter that is a tangent: parameter that it is the tangent of}.

    Raises:
        WrtError: an argument in wrt carries no derivative.
        UnsupportedValueError: an argument is an array of a library that sourcead does not support.
    """
    coarse, found, statics, conversions = [], {}, {}, {}
    for name, value in values.items():
        if name in wrt:
            argument_type(value, name)
            check_wrt(value, name)
        convert = conversion(value, name in derived)
        if convert is not None:
            conversions[name], value = convert, convert(value)
        if is_static(value):
            statics[name] = value
        found[name] = argument_type(value, name)
        coarse.append(coarse_key(value))
    for t, name in directions.items():
        found[t] = tangent_type(found[name])  # with the same dims
    return Arguments(tuple(coarse), found, statics, conversions)
