"""A request to the pipeline, and the kinds of derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sourcead.ad.gradient import Form
from sourcead.backends.base import Engine
from sourcead.ir.types import Type


@dataclass(frozen=True)
class Kind:
    """A kind of derivative.

    Attributes:
        title: the beginning of the generated function's docstring.
        forward: whether it is computed in forward mode, so that the generated function takes tangents.
        compiles: whether engines other than NumPy run it.
    """

    title: str
    forward: bool = False
    compiles: bool = False


KINDS = {
    "grad": Kind("Gradient", compiles=True),
    "value_and_grad": Kind("Value and gradient", compiles=True),
    "vjp": Kind("Value and pullback"),
    "jvp": Kind("Value and tangent", forward=True, compiles=True),
    "tangent": Kind("Tangent", forward=True, compiles=True),
    "columns": Kind("Tangents, one for each direction,", forward=True),
}


@dataclass(frozen=True, eq=False)
class Request:
    """A function and a description of the derivative that is to be generated.

    Attributes:
        function: the user's function, or one that calls it.
        types: the types of its arguments.
        statics: the values of the arguments that are known while compiling.
        wrt: the names of the parameters that the derivative is taken with respect to.
        form: the kind of derivative, and what the generated function returns.
        checkpoint: the checkpoint policy of loops.
        engine: the engine that runs the text.
        place: the file and line of the user's function, for errors and docstrings.
    """

    function: Callable
    types: dict[str, Type]
    statics: dict[str, Any]
    wrt: tuple[str, ...]
    form: Form
    checkpoint: Any
    engine: Engine
    place: str
