"""The pattern of a sparse Jacobian or Hessian, as people look at it."""

from typing import Any

import numpy as np

from sourcead.sparsity.sweeps import Sweeps

WIDE = 60  # the most characters of a line of the picture
HIGH = 30
SHADES = ".░▒▓█"


class Pattern:
    """Which elements of a Jacobian or Hessian may be other than zero, and the sweeps that compute them.

    Attributes:
        matrix: the elements, a `scipy.sparse.csr_array` of booleans: a row for each element of the result, a column for each of the
            arguments in wrt, in C order.
        column_colours: the colour of each column; columns of one colour are computed in one forward sweep. -1: in none.
        row_colours: the colour of each row; rows of one colour are computed in one reverse sweep. -1: in none.
    """

    def __init__(self, matrix: Any, sweeps: Sweeps):
        self.matrix, self.column_colours, self.row_colours = matrix, sweeps.column_colours, sweeps.row_colours
        self._of_element = sweeps.sweep + sweeps.forward * sweeps.by_reverse
        self._counts = {"forward": sweeps.forward, "reverse": sweeps.reverse}

    @property
    def sweeps(self) -> int:
        """The number of sweeps."""
        return sum(self._counts.values())

    def __repr__(self):
        rows, columns = self.matrix.shape
        kinds = " and ".join(f"{count:,} {kind}" for kind, count in self._counts.items() if count) or "none"
        elements, sweeps = (f"{n:,} {noun}{'s' * (n != 1)}" for n, noun in ((self.matrix.nnz, "element"), (self.sweeps, "sweep")))
        return f"{rows:,} by {columns:,}, {elements}, {sweeps}: {kinds}"

    def __str__(self):
        """Return a picture: a character for each element, or for a part of the matrix the share of its elements."""
        return "\n".join([repr(self), *("".join(SHADES[k] for k in line) for line in self._shades())])

    def _shades(self) -> np.ndarray:
        rows, columns = self.matrix.shape
        high, wide = min(rows, HIGH if rows > WIDE else WIDE), min(columns, WIDE)
        if not rows or not columns:
            return np.zeros((0, 0), int)
        found = self.matrix.tocoo()
        count = np.zeros((high, wide))
        np.add.at(count, (found.coords[0] * high // rows, found.coords[1] * wide // columns), 1)
        area = np.outer(np.bincount(np.arange(rows) * high // rows), np.bincount(np.arange(columns) * wide // columns))
        return np.ceil(count / area * (len(SHADES) - 1)).astype(int)

    def plot(self, ax: Any = None) -> Any:
        """Draw the elements, each in the colour of the sweep that computes it, and return Matplotlib's axes.

        Raises:
            ModuleNotFoundError: Matplotlib is not installed.
        """
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.figure().gca()
        found = self.matrix.tocoo()
        rows, columns = found.coords
        side = 250 / max(*self.matrix.shape, 1)  # of an element, in points
        ax.scatter(columns, rows, c=self._of_element, cmap="tab20", marker="s", s=np.clip(side**2, 0.1, 60), linewidths=0)
        ax.set(xlim=(-0.5, self.matrix.shape[1] - 0.5), ylim=(self.matrix.shape[0] - 0.5, -0.5), aspect="equal", title=repr(self))
        ax.set(xlabel="elements of the arguments", ylabel="elements of the result")
        return ax
