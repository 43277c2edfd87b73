"""The meaning of `vmap`: a loop over the members in Python, and the checks of its arguments.

    vmap(f)(xs)        np.stack([f(x) for x in xs])

The generated text is compared with this loop at its first call, on a few members.  Derivatives of what `vmap` returned are compared with
the whole of it.
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sourcead.compile.structures import is_leaf
from sourcead.errors import ArgumentError
from sourcead.frontend.find_source import Opaque
from sourcead.ir.records import is_record, map_value, parts_of
from sourcead.language.transformations import Mapped, member_of

CALLED = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial, type, Opaque, np.ufunc,
)  # fmt: skip
SAMPLE = 6  # the members on which a new text is compared with the loop


def keys_of(x: Any) -> list:
    """Return the keys, fields or places of the parts of a structure, in the order of `parts_of`."""
    if is_record(x):
        return [text[1:] for text, _ in parts_of(x)]
    return list(x) if isinstance(x, dict) else list(range(len(list(parts_of(x)))))


def with_axes(x: Any, axes: Any, where: str) -> list[tuple[str, Any, int | None]]:
    """Return the numbers and arrays in an argument, each with the expression for it and its axis of members.

    Raises:
        ArgumentError: `axes` is of another structure than `x`.
    """
    if is_leaf(x):
        if axes is not None and not is_axis(axes):
            raise ArgumentError(f"`{where}` is one array or number, and {axes!r} is given for its axes", instead="an integer, or None")
        return [(where, x, axes)]
    parts = list(parts_of(x))
    found = []
    for key, (text, part) in zip(keys_of(x), parts):
        found += with_axes(part, member_of(axes, key, len(parts)), where + text)
    return found


def is_axis(axes: Any) -> bool:
    return isinstance(axes, int | np.integer) and not isinstance(axes, bool)


def map_arrays(f: Callable[[Any, int], Any], x: Any, axes: Any, other: Callable[[Any], Any] = lambda leaf: leaf) -> Any:
    """Return a structure with `f(array, axis)` in place of each array that has an axis of members, and `other(leaf)` of other numbers."""
    if is_leaf(x):
        return other(x) if axes is None else f(x, axes)
    keys = iter(keys_of(x))
    count = len(list(parts_of(x)))
    return map_value(x, lambda part: map_arrays(f, part, member_of(axes, next(keys), count), other))


class MemberLoop(Opaque):
    """Calls a function for one member after the other, and stacks the results.

    Attributes:
        function: the user's function.
        in_axes, out_axes: as `vmap` was given them.
        own: the number of first arguments that are the same for all members, which are those of a method.
        checked: whether the arguments of a call were checked before.
    """

    def __init__(self, function: Callable, in_axes: Any, out_axes: Any, own: int = 0, checked: bool = False):
        self.function, self.in_axes, self.out_axes, self.own, self.checked = function, in_axes, out_axes, own, checked
        self.__name__ = getattr(function, "__name__", "f")
        self.__module__ = getattr(function, "__module__", __name__)

    def described(self, args: tuple) -> Mapped:
        function = self.function
        if not isinstance(function, CALLED):
            function = function.__call__  # of an object, which has the object as its first argument
        return Mapped("vmap", function, in_axes=self.in_axes, out_axes=self.out_axes, checked=self.checked, own=self.own)

    def axes(self, count: int, place: int | str) -> Any:
        """Return the axes for an argument of a call with `count` arguments by position."""
        if isinstance(place, str):
            return 0
        return None if place < self.own else member_of(self.in_axes, place - self.own, count - self.own)

    def count(self, args: tuple, kwargs: dict[str, Any], names: Iterable[str]) -> int:
        """Return the number of members; refuse arguments that have no axis of members, or another number of them.

        Raises:
            ArgumentError: there is no such axis, or the numbers differ.
        """
        positional = [*names][: len(args)]
        positional += [f"argument {k}" for k in range(len(positional), len(args))]
        if isinstance(self.in_axes, tuple | list) and len(self.in_axes) != len(args) - self.own:
            given = f"`{self.__name__}` is called with {len(args) - self.own} arguments by position"
            why = f"in_axes has {len(self.in_axes)} items, and {given}"
            raise ArgumentError(why, instead="one item for each of them; arguments that are given by name have axis 0")
        sizes: dict[str, int] = {}
        for place, (name, x) in enumerate([*zip(positional, args), *kwargs.items()]):
            for where, leaf, axis in with_axes(x, self.axes(len(args), place if place < len(args) else name), name):
                if axis is not None:
                    sizes[where] = length_of(leaf, axis, where)
        if not sizes:
            raise ArgumentError(f"no argument of `{self.__name__}` has an axis of members", instead="in_axes=0 for one of them, at least")
        if len(set(sizes.values())) > 1:
            shown = ", ".join(f"{size} in `{where}`" for where, size in sizes.items())
            raise ArgumentError(f"the arguments of `{self.__name__}` have other numbers of members: {shown}",
                                instead="None in in_axes for an argument that is the same for all members")
        return next(iter(sizes.values()))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (count := self.count(args, kwargs, ())):
            raise self.without_members()
        return self.stacked([self.function(*given, **named) for given, named in (self.member(args, kwargs, k) for k in range(count))])

    def without_members(self) -> ArgumentError:
        why = f"there are no members, and the shapes of what `{self.__name__}` returns are not known without one"
        return ArgumentError(why, instead="at least one member")

    def member(self, args: tuple, kwargs: dict[str, Any], k: int) -> tuple[tuple, dict[str, Any]]:
        """Return copies of the arguments of one member."""
        given = tuple(self.taken(x, self.axes(len(args), place), k) for place, x in enumerate(args))
        return given, {name: self.taken(x, 0, k) for name, x in kwargs.items()}

    def taken(self, x: Any, axes: Any, k: Any) -> Any:
        """Return one member, or some, of an argument, in memory of its own."""
        return map_arrays(lambda array, axis: np.take(array, k, axis), x, axes, copy.copy)

    def picked(self, values: dict[str, Any]) -> tuple[dict[str, Any], np.ndarray]:
        """Return the arguments of some members, and which these are."""
        by_place = list(values)
        axes = {name: self.axes(self.positional, k if k < self.positional else name) for k, name in enumerate(by_place)}
        mapped = (found for name in by_place for found in with_axes(values[name], axes[name], name))
        leaf, axis = next((leaf, axis) for _, leaf, axis in mapped if axis is not None)
        count = np.shape(leaf)[axis]
        some = np.unique(np.linspace(0, count - 1, SAMPLE).astype(int))
        return {name: self.taken(values[name], axes[name], some) for name in by_place}, some

    positional = 0  # the number of parameters of the function for which the text is generated

    def results_of(self, result: Any, some: np.ndarray) -> Any:
        """Return the results of some members."""
        return map_arrays(lambda array, axis: np.take(array, some, axis), result, self.out_axes)

    def stacked(self, results: list) -> Any:
        """Return the results of all members as one structure."""
        return self.joined(results, self.out_axes)

    def joined(self, results: list, axes: Any) -> Any:
        first = results[0]
        if is_leaf(first) or isinstance(first, bool | np.bool_):
            return first if axes is None else np.stack(results, axes)
        keys, parts = keys_of(first), [[part for _, part in parts_of(r)] for r in results]
        if len({len(p) for p in parts}) > 1:
            raise ArgumentError(f"the results of `{self.__name__}` have other structures for other members")
        columns = iter([self.joined(list(column), member_of(axes, key, len(keys))) for key, column in zip(keys, zip(*parts))])
        return map_value(first, lambda part: next(columns))


def length_of(leaf: Any, axis: int, where: str) -> int:
    """Return the number of members along an axis of an argument."""
    shape = np.shape(leaf)
    if not shape:
        instead = f"None in in_axes for `{where}`, if it is the same for all members"
        raise ArgumentError(f"`{where}` is a number, which has no axis of members", instead=instead)
    if not -len(shape) <= axis < len(shape):
        raise ArgumentError(f"the axis of members of `{where}` is {axis}, and its shape is {shape}", instead="an axis that it has")
    return shape[axis]
