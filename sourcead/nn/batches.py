"""The value and the gradient of the loss of a batch: at once, or summed over the parts of the data that its rows lie in.

A part of the data stays with the worker that computes with it. A step sends the parameters, and to each part the numbers of its rows in
the batch. If the loss is a mean over the rows, its gradient is that of the parts weighted by their shares of the rows,

    d mean(batch) = sum over parts of (rows of the part / rows of the batch) d mean(part),

and if it is a sum, the plain sum. Which of them it is, if any, the first batch tells: batch normalisation is neither, nor is a
mean over something else than the rows.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sourcead.api.extending import leaves
from sourcead.distributed.gradients import place_of, total
from sourcead.distributed.parts import Share, checked_pair, scaled
from sourcead.errors import ArgumentError
from sourcead.nn.memory import keep_freed_memory

DIVISIONS = 8
ROUNDING = 2000  # times the precision of the numbers: how far a batch and the sum of its parts may differ
MOST = 0.01  # of the size of the parts


def all_rows(*rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the rows of a batch as they are."""
    return rows


class OnBatches:
    """The value and gradient of a loss for rows of arrays, by one call.

    Args:
        loss_and_gradient: returns both for the parameters and the prepared rows.
        prepare: a function from the arrays of some rows to what the loss takes.
        arrays: the data.
    """

    def __init__(self, loss_and_gradient: Callable, prepare: Callable, arrays: Sequence[np.ndarray]):
        self.function, self.arrays = OnRows(loss_and_gradient, prepare), arrays

    def __call__(self, parameters: Any, rows: np.ndarray) -> tuple[Any, Any]:
        return checked_pair(self.function(parameters, rows, *self.arrays))


class OnRows:
    """The same as a function that is sent to workers."""

    def __init__(self, loss_and_gradient: Callable, prepare: Callable):
        self.loss_and_gradient, self.prepare = loss_and_gradient, prepare

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        keep_freed_memory()

    def __call__(self, parameters: Any, rows: np.ndarray, *arrays: np.ndarray) -> Any:
        return self.loss_and_gradient(parameters, *self.prepare(*(array[rows] for array in arrays)))


class OverShards:
    """The value and gradient of a loss for rows of arrays, summed over parts of the data by the workers of a client.

    Args:
        loss_and_gradient, prepare, arrays: as for `OnBatches`.
        shards: the number of parts.
        client: as for `sourcead.distributed.grad_over`.
    """

    def __init__(self, loss_and_gradient: Callable, prepare: Callable, arrays: Sequence[np.ndarray], shards: int, client: Any):
        count = len(arrays[0])
        self.ends = [count * k // min(shards, count) for k in range(min(shards, count) + 1)]
        self.whole = OnBatches(loss_and_gradient, prepare, arrays)
        parts = [tuple(array[a:b] for array in arrays) for a, b in zip(self.ends, self.ends[1:])]
        self.place = place_of(client, self.whole.function, parts)
        self.is_mean: bool | None = None

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __call__(self, parameters: Any, rows: np.ndarray) -> tuple[Any, Any]:
        owner = np.searchsorted(self.ends, rows, side="right") - 1
        own = [rows[owner == k] for k in range(len(self))]
        if self.is_mean is None:
            self.is_mean = self.tried(parameters, rows, [part for part in own if len(part)])
        weights = [1.0 if self.is_mean is False else len(part) / len(rows) for part in own]
        shares = [Share(w, (part - self.ends[k],)) if len(part) else None for k, (w, part) in enumerate(zip(weights, own))]
        return total(self.place, (parameters,), shares, None)

    def tried(self, parameters: Any, rows: np.ndarray, parts: Sequence[np.ndarray]) -> bool | None:
        """Return whether the loss is the mean over the rows of a batch, or else the sum; None if both are the same for this batch.

        Raises:
            ArgumentError: it is neither.
        """
        whole = self.whole(parameters, rows)
        found = [self.whole(parameters, part) for part in parts]
        is_mean = is_sum(whole, [scaled(pair, len(part) / len(rows)) for pair, part in zip(found, parts)])
        is_total = is_sum(whole, found)
        if is_mean or is_total:
            return None if is_mean and is_total else is_mean
        what = "the loss of a batch is neither the mean nor the sum of the losses of its parts, or its gradient is not"
        instead = "a loss that is a mean or a sum over the rows, the same in each call; or train without client and shards"
        raise ArgumentError(what, instead=instead)


def is_sum(whole: tuple, parts: Sequence[tuple]) -> bool:
    """Return whether a value and a gradient are the sums of those of the parts, to rounding; what is not finite is taken to be."""
    columns = [[part[0] for part in (whole, *parts)], *zip(*([leaf for _, leaf in leaves(part[1])] for part in (whole, *parts)))]
    for expected, *terms in columns:
        size = sum(np.abs(term) for term in terms)
        precision = np.finfo(np.result_type(expected, np.float32) if np.asarray(expected).dtype.kind in "fc" else float).eps
        allowed = min(ROUNDING * precision, MOST) * float(np.max(size, initial=0.0))
        away = float(np.max(np.abs(sum(terms) - expected), initial=0.0))
        if math.isfinite(away) and away > allowed:
            return False
    return True
