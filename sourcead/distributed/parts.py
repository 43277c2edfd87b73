"""What a process computes of a sum over shards: the values and gradients of a block of shards, added in the order of the tree.

An error of the user's function is a result, too: a `Failure`, which the process that asked raises as the error that it was. What other
errors a task ends with are then of the machinery, such as a process that died.
"""

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead.compile.structures import map_leaves
from sourcead.distributed.sending import loaded, sendable
from sourcead.distributed.tree import tree_sum
from sourcead.errors import ArgumentError
from sourcead.runtime.structures import add


@dataclass(frozen=True)
class Share:
    """What one call asks of one shard: the weight of its value and gradient, and arguments that come before the shard's own."""

    weight: float = 1.0
    arguments: tuple = ()


@dataclass(frozen=True)
class Loader:
    """A function without arguments that returns a shard, on the worker."""

    load: Callable[[], Any]


@dataclass(frozen=True)
class Failure:
    """An error that a shard raised: the error itself, pickled, and its traceback as text."""

    position: int
    error: bytes
    text: str

    @classmethod
    def of(cls, position: int, error: Exception) -> "Failure":
        """Return the failure of a shard, with the traceback that the error has now."""
        return cls(position, sendable(error), "".join(traceback.format_exception(type(error), error, error.__traceback__)))

    def raised(self) -> BaseException:
        """Return the error, to be raised, with the traceback of the other process as its cause."""
        error = loaded(self.error)
        error.__cause__ = InAnotherProcess(f"shard {self.position}\n\n{self.text}")
        return error


class InAnotherProcess(Exception):
    """Shows, as the cause of an error, where it was raised."""


def kept(shards: Sequence[Any], first: int) -> tuple:
    """Return shards with what their loaders load, or with the failures of these."""

    def one(position: int, shard: Any) -> Any:
        if not isinstance(shard, Loader):
            return shard
        try:
            return shard.load()
        except Exception as error:
            return Failure.of(position, error)

    return tuple([one(first + k, shard) for k, shard in enumerate(shards)])


def part_of(function: Callable, common: tuple, shards: Sequence[Any], first: int, shares: Sequence[Share | None]) -> Any:
    """Return the sum of the values and gradients of neighbouring shards; None if no share asks for any.

    Args:
        function: returns the value and the gradient of a shard.
        common: its first arguments.
        shards: its last arguments, a tuple for each shard, or one argument that is no tuple; or the failure of its loader.
        first: the position of the first of them.
        shares: the weight of each, and the arguments in between; None leaves a shard out.

    Returns:
        `(value, gradient)`, or a `Failure`.
    """

    def term(position: int, shard: Any, share: Share | None) -> Any:
        if share is None or isinstance(shard, Failure):
            return None if share is None else shard
        own = shard if isinstance(shard, tuple) else (shard,)
        try:
            return scaled(checked_pair(function(*common, *share.arguments, *own)), share.weight)
        except Exception as error:
            return Failure.of(position, error)

    return tree_sum((term(first + k, *pair) for k, pair in enumerate(zip(shards, shares, strict=True))), added)


def added(a: Any, b: Any) -> Any:
    """Return the sum of two pairs of a value and a gradient; the first failure, if there is one; None is zero."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, Failure) or isinstance(b, Failure):
        return a if isinstance(a, Failure) else b
    return a[0] + b[0], add(a[1], b[1])


def scaled(pair: tuple, weight: float) -> tuple:
    """Return a value and a gradient, multiplied by a weight."""
    if weight == 1:
        return pair
    return pair[0] * weight, map_leaves(lambda d: d * weight, pair[1])


def checked_pair(result: Any) -> tuple[Any, Any]:
    """Return a value and a gradient as `value_and_grad` returns them; refuse anything else."""
    if isinstance(result, tuple) and len(result) == 2 and not isinstance(result[0], tuple | list | dict) and np.ndim(result[0]) == 0:
        return result
    raise ArgumentError("the function that is given does not return a value and a gradient", instead="`value_and_grad` of the loss")
