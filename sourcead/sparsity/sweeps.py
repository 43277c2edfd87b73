"""The sweeps that compute a sparse matrix, and where each of its elements stands in their results.

    forward     J @ t, the sum of the columns of one colour: element (i, j) is at place i of the sweep of the colour of column j
    reverse     c @ J, the sum of the rows of one colour: element (i, j) is at place j of the sweep of the colour of row i

A few dense rows cost a forward sweep for each of their elements, and one reverse sweep each; the same holds for dense columns with the
modes exchanged.  So the densest are taken out, as many as make the cost least, and are computed in the other mode.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead.sparsity.colouring import distance_2, star

REVERSE = 2  # what a reverse sweep costs, in forward sweeps


@dataclass(frozen=True, eq=False)
class Sweeps:
    """The sweeps for a pattern.

    Attributes:
        column_colours: the colour of each column, from 0 on, -1 if no forward sweep computes it.
        row_colours: the colour of each row, -1 if no reverse sweep computes it.
        by_reverse: for each element of the pattern, in the order of its `indices`, whether a reverse sweep computes it.
        sweep: for each element, the number of that forward or reverse sweep.
        place: for each element, its place in the result of that sweep.
    """

    column_colours: np.ndarray
    row_colours: np.ndarray
    by_reverse: np.ndarray
    sweep: np.ndarray
    place: np.ndarray

    @property
    def forward(self) -> int:
        """The number of forward sweeps."""
        return int(self.column_colours.max(initial=-1)) + 1

    @property
    def reverse(self) -> int:
        """The number of reverse sweeps."""
        return int(self.row_colours.max(initial=-1)) + 1

    @property
    def cost(self) -> int:
        """What the sweeps cost, in forward sweeps."""
        return self.forward + REVERSE * self.reverse

    def data(self, forward: np.ndarray, reverse: np.ndarray) -> np.ndarray:
        """Return the elements of the matrix from the results of the sweeps, a row for each."""
        made = [table for table in (forward, reverse) if table.size]
        found = np.empty(len(self.sweep), np.result_type(*made) if made else float)
        for table, which in ((forward, ~self.by_reverse), (reverse, self.by_reverse)):
            if which.any():
                found[which] = table[self.sweep[which], self.place[which]]
        return found


def seeds(colours: np.ndarray, first: int, count: int) -> np.ndarray:
    """Return the tangents or cotangents of the colours from `first` on, a row for each: ones where the colour is."""
    return (colours[None, :] == np.arange(first, first + count)[:, None]).astype(float)


def sweeps_for(pattern: Any, mode: str) -> Sweeps:
    """Return the sweeps that cost least for a `scipy.sparse.csr_array`: those of a mode, or with "auto" of the better, or of both."""
    columns, rows = np.diff(pattern.tocsc().indptr), np.diff(pattern.indptr)
    if mode != "auto":
        return by_columns(pattern, rows < 0) if mode == "forward" else by_rows(pattern, columns < 0)
    best = by_columns(pattern, rows < 0)
    if REVERSE * columns.max(initial=0) < best.cost:
        best = cheaper(best, by_rows(pattern, columns < 0))
    best = without_dense(best, rows, REVERSE, 1, lambda taken: by_columns(pattern, taken))
    return without_dense(best, columns, 1, REVERSE, lambda taken: by_rows(pattern, taken))


def cheaper(a: Sweeps, b: Sweeps) -> Sweeps:
    return b if b.cost < a.cost else a


def without_dense(best: Sweeps, degrees: np.ndarray, cost: int, cost_of_others: int, made: Callable) -> Sweeps:
    """Return better sweeps in which the densest rows or columns are taken out, if there are any.

    Each that is taken out costs at most `cost`, and the densest of the others `cost_of_others` for each of its elements at least.
    """
    order, count = np.argsort(-degrees, kind="stable"), 1
    while count < len(order) and cost_of_others * degrees[order[count]] + cost < best.cost:
        taken = np.zeros(len(degrees), bool)
        taken[order[:count]] = True
        best = cheaper(best, made(taken))
        count *= 2
    return best


def by_columns(pattern: Any, taken: np.ndarray) -> Sweeps:
    """Return forward sweeps for all rows but those that are `taken`, for which there are reverse sweeps."""
    rows, columns = places(pattern)
    inside = taken[rows]
    column_colours = distance_2(part(pattern, ~inside))
    row_colours = distance_2(part(pattern, inside).T.tocsr()) if inside.any() else np.full(pattern.shape[0], -1)
    return combined(column_colours, row_colours, inside, rows, columns)


def by_rows(pattern: Any, taken: np.ndarray) -> Sweeps:
    """Return reverse sweeps for all columns but those that are `taken`, for which there are forward sweeps."""
    rows, columns = places(pattern)
    inside = taken[columns]
    row_colours = distance_2(part(pattern, ~inside).T.tocsr())
    column_colours = distance_2(part(pattern, inside)) if inside.any() else np.full(pattern.shape[1], -1)
    return combined(column_colours, row_colours, ~inside, rows, columns)


def combined(column_colours: np.ndarray, row_colours: np.ndarray, by_reverse: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Sweeps:
    sweep = np.where(by_reverse, row_colours[rows], column_colours[columns])
    return Sweeps(column_colours, row_colours, by_reverse, sweep, np.where(by_reverse, columns, rows))


def symmetric_sweeps(pattern: Any) -> Sweeps:
    """Return forward sweeps for a symmetric pattern, in which an element may be read at its mirror image."""
    rows, columns = places(pattern)
    colours = star(pattern)
    sweep, count = colours[columns], int(colours.max(initial=-1)) + 1
    _, group, sizes = np.unique(rows * count + sweep, return_inverse=True, return_counts=True)
    alone = sizes[group] == 1  # the only element of its row with this colour
    none = np.zeros(len(rows), bool)
    sweep, place = np.where(alone, sweep, colours[rows]), np.where(alone, rows, columns)
    return Sweeps(colours, np.full(pattern.shape[0], -1), none, sweep, place)


def places(pattern: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the column of each element of a pattern."""
    return np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr)), pattern.indices.astype(np.int64)


def part(pattern: Any, which: np.ndarray) -> Any:
    """Return the pattern with some of its elements."""
    starts = np.concatenate(([0], np.cumsum(which)))[pattern.indptr]
    return type(pattern)((pattern.data[which], pattern.indices[which], starts), shape=pattern.shape)
