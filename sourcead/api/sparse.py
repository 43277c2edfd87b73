"""Sparse Jacobians and Hessians: columns without a common row are computed in one sweep, and each element is read from the sum.

    J = [a b . .]       columns 0 and 2 have colour 0, 1 and 3 colour 1
        [. c d .]       J @ (1, 0, 1, 0) = (a, d, e)
        [. . e f]       J @ (0, 1, 0, 1) = (b, c, f)

The pattern is found once for arguments of the same shapes (`compile/patterns.py`).  It is that of the point at which it was found, and
the program may take other branches at another, so each call has one more sweep, along a random vector: where the product of the matrix
with the vector is something else, the pattern is found anew.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead.api.jacobians import Jacobian
from sourcead.compile.gradient import Gradient
from sourcead.compile.patterns import rows_of
from sourcead.compile.pipeline import Options
from sourcead.compile.structures import leaves, map_leaves
from sourcead.errors import InternalError, UnsupportedArgumentError, UnsupportedValueError
from sourcead.language.progress import watched
from sourcead.language.tracebacks import folded
from sourcead.language.transformations import Described
from sourcead.sparsity.pattern import Pattern
from sourcead.sparsity.sweeps import Sweeps, seeds, sweeps_for, symmetric_sweeps

TOGETHER = 2**21  # the most elements of all tangents that are computed together
KEPT = 16  # the most patterns that are kept


@dataclass(eq=False)
class Known:
    """What is kept for arguments of some shapes.

    Attributes:
        pattern: the elements that may be other than zero, a `scipy.sparse.csr_array`.
        sweeps: the sweeps that compute them.
        value: a result of the function.
        exact: whether a product with a vector differs by rounding of its own terms alone; else, by that of terms that cancel.
    """

    pattern: Any
    sweeps: Sweeps
    value: Any
    exact: bool = True


class SparseJacobian(Jacobian):
    """The callable that `jacobian(f, sparse=True)` returns."""

    def __init__(self, f: Callable, wrt: Any = 0, mode: str = "auto", verify: str | bool | None = None):
        super().__init__(f, wrt, mode, verify)
        self._known: dict[Any, Known] = {}

    def described(self, args: tuple) -> Described:
        why = f"the sparse derivative of `{self.__name__}` is used inside a function that is differentiated"
        raise UnsupportedValueError(why, instead="`jacobian` or `hessian` without `sparse` there")

    @folded
    def __call__(self, *args, **kwargs):
        xs = self._points(args, kwargs)
        key = self._key(args, kwargs)
        if (known := self._known.get(key)) is not None:
            matrix, holds = self._computed(known, args, kwargs, xs)
            if holds:
                return self._in_blocks(matrix, known, xs)
        new = self._found(args, kwargs, xs, known)
        for sweeps, exact in self._ways(new):
            new.sweeps, new.exact = sweeps, exact
            matrix, holds = self._computed(new, args, kwargs, xs)
            if holds:
                break
        else:
            what = "an error in sourcead, not in your function: the sparse matrix times a vector is not the derivative along it"
            raise InternalError(f"{self._push._place}: {what}; without `sparse`, the matrix is right")
        while len(self._known) >= KEPT:
            self._known.pop(next(iter(self._known)))
        self._known[key] = new
        return self._in_blocks(matrix, new, xs)

    @folded
    def pattern(self, *args, **kwargs) -> Pattern:
        """Return the pattern for some arguments."""
        known = self._found(args, kwargs, self._points(args, kwargs), None)
        return Pattern(known.pattern, known.sweeps)

    def _key(self, args: tuple, kwargs: dict) -> tuple:
        return tuple((where, np.shape(leaf)) for where, leaf in leaves(self._pull._bound(args, kwargs)))

    def _found(self, args: tuple, kwargs: dict, xs: tuple, old: Known | None) -> Known:
        """Return the pattern at some arguments, with the elements of an older one, and the sweeps for it."""
        from scipy import sparse

        found = rows_of(self._pull, self._pull._bound(args, kwargs))
        if not leaves(found.value):
            self._assembled(found.value, xs, None)  # which refuses it
        shape = len(found.starts) - 1, sum(np.size(x) for _, x in leaves(xs))
        pattern = sparse.csr_array((np.ones(len(found.columns), bool), found.columns, found.starts), shape=shape)
        return Known(*self._planned(pattern if old is None else (pattern + old.pattern).tocsr()), found.value)

    def _ways(self, known: Known) -> Iterator[tuple[Sweeps, bool]]:
        """Iterate over the sweeps and the exactness to try: the pattern is that of this point, so what differs is rounding."""
        yield known.sweeps, True
        yield known.sweeps, False

    def _planned(self, pattern: Any) -> tuple[Any, Sweeps]:
        """Return the pattern that is computed, with its elements in order, and the sweeps for it."""
        pattern.sort_indices()
        return pattern, sweeps_for(pattern, self._mode)

    def _computed(self, known: Known, args: tuple, kwargs: dict, xs: tuple) -> tuple[Any, bool]:
        """Return the matrix, and whether its product with a random vector is what a sweep along the vector gives."""
        sweeps, (rows, columns) = known.sweeps, known.pattern.shape
        rng = np.random.default_rng(0)
        along, across = (rng.standard_normal(n).astype(np.float32).astype(float) for n in (columns, rows))
        reverse = sweeps.reverse + (not sweeps.forward)
        forward = sweeps.forward + bool(sweeps.forward)
        tangents = lambda first, count: with_last(seeds(sweeps.column_colours, first, count), first + count == forward, along)
        cotangents = lambda first, count: with_last(seeds(sweeps.row_colours, first, count), first + count > sweeps.reverse, across)
        by_forward = self._pushed(tangents, forward, args, kwargs, xs)
        by_reverse = self._pulled(cotangents, reverse, args, kwargs)
        data = sweeps.data(by_forward, by_reverse)
        matrix = type(known.pattern)((data, known.pattern.indices, known.pattern.indptr), shape=known.pattern.shape)
        scale = 0.0 if known.exact else scale_of(known.value) / (scale_of(xs) or 1.0)
        if sweeps.forward:
            return matrix, agree(matrix @ along, by_forward[-1], abs(matrix) @ abs(along), scale)
        return matrix, agree(matrix.T @ across, by_reverse[-1], abs(matrix).T @ abs(across), scale)

    def _pushed(self, tangents: Callable, count: int, args: tuple, kwargs: dict, xs: tuple) -> np.ndarray:
        """Return the tangents of the result along `count` tangents of the arguments, a row for each."""
        sizes = [np.size(x) for _, x in leaves(xs)]
        if not count:
            return np.empty((0, 0))
        together = max(1, min(count, TOGETHER // max(1, sum(sizes))))
        if together > 1 and self._wide is not None and all(isinstance(x, np.ndarray | float) and np.size(x) for x in xs):
            parts = []
            for first in range(0, count, together):
                now = min(together, count - first)
                part = self._along(args, kwargs, xs, tangents(first, now))
                if not isinstance(part, np.ndarray):
                    break
                parts.append(part.reshape(now, -1))
            else:
                self._last = self._wide
                return np.concatenate(parts)
        self._last, directions = self._push, self._push.directions

        def push(k: int) -> np.ndarray:
            return flat(self._push(*args, **kwargs, **dict(zip(directions, in_parts(tangents(k, 1)[0], xs)))))

        return np.stack([push(k) for k in watched(range(count), "forward sweeps")])

    def _pulled(self, cotangents: Callable, count: int, args: tuple, kwargs: dict) -> np.ndarray:
        """Return the cotangents of the arguments for `count` cotangents of the result, a row for each."""
        if not count:
            return np.empty((0, 0))
        value, pullback = self._pull(*args, **kwargs)
        if any(np.iscomplexobj(leaf) for _, leaf in leaves(value)):
            raise UnsupportedArgumentError("a complex result has no Jacobian in reverse mode", instead='mode="forward"')
        self._last = self._pull
        return np.stack([flat(pullback(in_parts(cotangents(k, 1)[0], value))) for k in watched(range(count), "reverse sweeps")])

    def _in_blocks(self, matrix: Any, known: Known, xs: tuple) -> Any:
        """Return the matrix, cut into those of each number or array of the result by each of the arguments."""
        rows, columns = (np.cumsum([0, *(np.size(leaf) for _, leaf in leaves(x))]).tolist() for x in (known.value, xs))

        def block(k: int, j: int, shape: tuple) -> Any:
            if len(rows) == len(columns) == 2:
                return matrix
            return matrix[rows[k] : rows[k + 1], columns[j] : columns[j + 1]]

        return self._assembled(known.value, xs, block)


class SparseHessian(SparseJacobian):
    """The callable that `hessian(f, sparse=True)` returns: the Jacobian of the gradient, which is taken as symmetric at first."""

    def __init__(self, f: Callable, wrt: Any = 0, verify: str | bool | None = None):
        gradient = Gradient(f, wrt, options=Options(verify=verify))
        super().__init__(gradient, gradient.wrt[0] if gradient._single else gradient.wrt, "forward", verify)
        self.primal, self._asked, self._options = f, wrt, (self._push._verify,)

    def _ways(self, known: Known) -> Iterator[tuple[Sweeps, bool]]:
        symmetric = known.sweeps
        yield symmetric, True
        plain = sweeps_for(known.pattern, self._mode)  # what `adjoint_of` or a rule of the user says need not be symmetric
        yield plain, True
        yield symmetric, False
        yield plain, False

    def _planned(self, pattern: Any) -> tuple[Any, Sweeps]:
        pattern = (pattern + pattern.T).tocsr()
        pattern.sort_indices()
        return pattern, symmetric_sweeps(pattern)


def with_last(found: np.ndarray, ends: bool, vector: np.ndarray) -> np.ndarray:
    """Return a matrix with a vector as its last row, if it ends the sweeps."""
    if ends:
        found[-1] = vector
    return found


def agree(found: np.ndarray, expected: np.ndarray, size: np.ndarray, scale: float) -> bool:
    """Return whether a product with a vector is what a sweep along it gives, but for rounding.

    Args:
        found: the product.
        expected: the result of the sweep.
        size: the sums of the sizes of the terms of the product.
        scale: the size of derivatives that cancel, of which rounding is left; if it is zero, none do.
    """
    finite = np.isfinite(found) & np.isfinite(expected) & np.isfinite(size)
    eps = np.finfo(expected.dtype).eps
    allowed = eps**0.25 * np.max(size, where=finite, initial=0.0) + eps**0.5 * scale if scale else eps**0.5 * size
    return bool(np.all(np.abs(found - expected)[finite] <= np.broadcast_to(allowed, size.shape)[finite]))


def scale_of(x: Any) -> float:
    """Return the size of the largest element of a structure that is finite."""
    found = np.abs(flat(x))
    return float(np.max(found, where=np.isfinite(found), initial=0.0))


def flat(x: Any) -> np.ndarray:
    """Return the elements of all numbers and arrays in a structure as one vector."""
    return np.concatenate([np.ravel(leaf) for _, leaf in leaves(x)] or [np.zeros(0)])


def in_parts(vector: np.ndarray, x: Any) -> Any:
    """Return a structure with the elements of a vector in place of those of its numbers and arrays."""
    place = itertools.count()
    starts = np.cumsum([0, *(np.size(leaf) for _, leaf in leaves(x))]).tolist()

    def own(leaf: Any) -> Any:
        k = next(place)
        found = vector[starts[k] : starts[k + 1]]
        if not isinstance(leaf, np.ndarray):
            return type(leaf)(found[0]) if isinstance(leaf, np.inexact) else float(found[0])
        return found.reshape(leaf.shape).astype(leaf.dtype if leaf.dtype.kind in "fc" else float)

    return map_leaves(own, x)
