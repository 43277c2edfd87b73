"""What a generated text depends on in the arguments of a call: their types, and the values of some."""

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
    """What a text depends on in the arguments of a call.

    Attributes:
        key: the coarse key.
        types: the types by parameter.
        statics: the values that are known while compiling.
        conversions: what some arguments must pass through before the generated function takes them.
    """

    key: Any
    types: dict[str, Type]
    statics: dict[str, Any]
    conversions: dict[str, Callable]


def arguments_of(values: dict[str, Any], wrt: Collection[str], derived: Collection[str], directions: dict[str, str]) -> Arguments:
    """Return what a text depends on in arguments.

    Args:
        values: the arguments by parameter.
        wrt: the parameters that the derivative is taken with respect to.
        derived: these, those of the derivatives that it is the derivative of, and tangents.
        directions: {parameter that is a tangent: parameter that it is the tangent of}.

    Raises:
        WrtError: an argument in wrt carries no derivative.
        UnsupportedValueError: one is an array of a library that sourcead does not know.
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
        found[t] = tangent_type(found[name])  # the same dims
    return Arguments(tuple(coarse), found, statics, conversions)
