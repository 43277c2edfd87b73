"""Functions by which a library tells the compiler facts about its functions besides rules (`sourcead.adjoint`, `sourcead.tangent`).

    @adjoint(relu, broadcasts=True)
    def _(y, x, d_y):
        return d_y * (y > 0)

    primitive(relu, like=np.negative)

A function with an adjoint rule needs nothing more to be differentiated. These facts make the generated text faster: the type of the
result decides what code later statements become, and a result in new memory may be written in place.
"""

from collections.abc import Callable
from typing import Any

from sourcead.compile.structures import leaves
from sourcead.ir.types import Array, NoneType, anydim
from sourcead.primitives.registry import adjoints, enter, linear, multilinear, tangents
from sourcead.primitives.result_types.elementwise import elementwise
from sourcead.primitives.result_types.operands import Arg, Impossible, array_type
from sourcead.runtime.broadcasting import unbroadcast

__all__ = ["adjoints", "checks", "leaves", "linear", "multilinear", "primitive", "tangents", "unbroadcast"]


def primitive(*functions: Callable, result: Callable | None = None, like: Callable | None = None) -> None:
    """State that functions return new arrays, and the type of these.

    Args:
        functions: functions with rules, whose results share no memory with an argument.
        result: a function of the same parameters that returns `(shape, dtype)` of the result, with None for an unknown size in
            the shape, or returns the argument that has the type of the result. It is given objects in place of the arguments that
            have only the attributes `shape` and `dtype`.
        like: a ufunc of the first arguments whose result has the same type.

    Example:
        >>> import numpy as np
        >>> from sourcead import adjoint, grad
        >>> def doubled(x):
        ...     return np.concatenate((x, x))
        >>> primitive(doubled, result=lambda x: ((None,), x.dtype))
        >>> @adjoint(doubled)
        ... def _(y, x, d_y):
        ...     return d_y[: len(x)] + d_y[len(x) :]
        >>> grad(lambda x: np.sum(doubled(x) ** 2))(np.array([1.0, 2.0]))
        array([4., 8.])
    """
    enter(*functions, memory="fresh")
    if like is not None:
        enter(*functions, result=lambda fn, args, kwargs: elementwise(like, args[: like.nin], {}))
    elif result is not None:
        enter(*functions, result=lambda fn, args, kwargs: type_from(result, args, kwargs))


def checks(*functions: Callable) -> None:
    """State that functions return nothing and raise an error for invalid arguments, so that the generated text keeps their calls."""
    enter(*functions, checks=True, constant=True)


class Outline:
    """An operand without its elements; reading a shape or dtype that is unknown ends the inference of the result's type."""

    def __init__(self, arg: Arg):
        self.type = arg.type

    @property
    def shape(self) -> tuple:
        return array_type(self.type).dims

    @property
    def dtype(self) -> Any:
        dtype = array_type(self.type).dtype
        if dtype is None:
            raise Impossible
        return dtype


def outline(arg: Arg) -> Outline | None:
    return None if isinstance(arg.type, NoneType) else Outline(arg)


def type_from(result: Callable, args: list, kwargs: dict):
    """Return the type that `result` gives for the operands of a call."""
    found = result(*map(outline, args), **{name: outline(arg) for name, arg in kwargs.items()})
    if isinstance(found, Outline):
        return found.type
    shape, dtype = found
    return Array(dtype, tuple(anydim() if size is None else size for size in shape))
