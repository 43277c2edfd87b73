"""`jacobian` and `hessian`: one sweep for each column (forward mode) or for each row (reverse mode), several together where they can.

    column (k, j)     d y_k / d x_j = tangent of y_k for the unit tangent of x_j
    row (k, j)        d y_k / d x_j = cotangent of x_j for the unit cotangent of y_k
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead.api.transformations import vjp
from sourcead.api.vmap import Vmapped
from sourcead.compile.generated import documentation
from sourcead.compile.gradient import Gradient
from sourcead.compile.pipeline import Options
from sourcead.compile.structures import leaves, map_leaves
from sourcead.errors import NoRuleError, SourceADError, UnsupportedArgumentError, UnsupportedValueError
from sourcead.frontend.find_source import Opaque
from sourcead.language.progress import watched
from sourcead.language.tracebacks import folded
from sourcead.language.transformations import Described
from sourcead.passes.batching.calls import Unbatchable
from sourcead.places.spelling import of_class

MODES = ("auto", "forward", "reverse")
AT_ONCE = 2**20  # the most elements of an argument, times columns, that are computed together
ELEMENTS = 2**17  # the most elements of an array that a pullback keeps, times rows, that are computed together: they stay in the cache
FEWEST = 4  # the fewest rows that are computed together, since the text computes the value once more
COLUMNS = 32  # the most columns that are computed together: enough to share the cost of calls, few enough to stay in the cache


class Jacobian(Opaque):
    """The callable that `jacobian` returns.

    Attributes:
        primal: the user's function.
        wrt: the names of the parameters that the function is differentiated with respect to.
        source: the generated text of one sweep, as of the last call.
    """

    def __init__(
        self, f: Callable, wrt: int | str | Sequence[int | str] = 0, mode: str = "auto", verify: str | bool | None = None
    ):
        options = Options(backend="numpy", verify=verify)
        self._push, self._pull = (Gradient(f, wrt, kind=kind, options=options) for kind in ("tangent", "vjp"))
        if not isinstance(mode, str) or mode not in MODES:
            given = repr(mode) if isinstance(mode, str) else f"that is {of_class(mode)}"
            raise UnsupportedArgumentError(f"there is no mode {given}", instead=" or ".join(f"mode={m!r}" for m in MODES))
        functools.update_wrapper(self, self._push)
        self.primal, self.wrt, self._mode, self._asked, self._options = f, self._push.wrt, mode, wrt, (mode, self._push._verify)
        self._wide: Gradient | None = Gradient(f, wrt, kind="columns", options=options)  # several columns at once; None if the text cannot
        self._stack: Any = ...  # several rows at once, made when it is needed; None if the text cannot
        self._last = self._pull if mode == "reverse" else self._push
        self.__doc__ = documentation(self, type(self).__name__, self._push._user_function)

    def __repr__(self):
        return f"<{type(self).__name__} of {self.__name__} with respect to {', '.join(self.wrt)}>"

    def described(self, args: tuple) -> Described:
        return Described(type(self).__name__.lower(), self.primal, self._asked)

    def __reduce__(self):
        return type(self), (self.primal, self._asked, *self._options)

    @property
    def source(self) -> str:
        return self._last.source

    @folded
    def __call__(self, *args, **kwargs):
        xs = self._points(args, kwargs)
        mode, value, pullback = self._mode, None, None
        count = sum(np.size(leaf) for _, leaf in leaves(xs))
        if mode != "forward" or not count:
            try:
                value, pullback = self._pull(*args, **kwargs)
            except NoRuleError:
                if mode == "reverse":
                    raise
                mode = "forward"
        if mode == "auto":
            rows = [leaf for _, leaf in leaves(value)]
            mode = "forward" if count <= sum(map(np.size, rows)) or any(map(np.iscomplexobj, rows)) else "reverse"
        if mode == "reverse":
            self._last = self._pull
            if any(np.iscomplexobj(leaf) for _, leaf in leaves(value)):
                raise UnsupportedArgumentError("a complex result has no Jacobian in reverse mode", instead='mode="forward"')
            if (whole := self._rows_at_once(args, kwargs, xs, (value, pullback))) is not None:
                self._last = self._stack
                return whole
            rows = [[_leaves_of(pullback(unit)) for unit in watched(units, "rows of the Jacobian")] for units in unit_tangents(value)]
            return self._assembled(value, xs, lambda k, j, shape: _stacked([row[j] for row in rows[k]], 0, shape))
        if (whole := self._at_once(args, kwargs, xs)) is not None:
            self._last = self._wide
            return whole
        self._last = self._push
        directions = self._push.directions
        columns = [
            [self._push(*args, **kwargs, **dict(zip(directions, unit))) for unit in watched(units, "columns of the Jacobian")]
            for units in unit_tangents(xs)
        ]
        if value is None:
            value = next(column for of_leaf in columns for column in of_leaf)
        found = [[_leaves_of(column) for column in of_leaf] for of_leaf in columns]
        return self._assembled(value, xs, lambda k, j, shape: _stacked([column[k] for column in found[j]], -1, shape))

    def _points(self, args: tuple, kwargs: dict) -> tuple:
        """Return the arguments in wrt; refuse complex ones."""
        given = self._pull._bound(args, kwargs)
        for name in self.wrt:
            for place, leaf in leaves(given[name], name):
                if np.iscomplexobj(leaf):
                    raise UnsupportedArgumentError(
                        f"the derivative with respect to the complex argument `{place}` is not one array of numbers",
                        instead="`jvp` or `vjp`, or take the real and the imaginary part as two arguments",
                    )
        return tuple(given[name] for name in self.wrt)

    def _at_once(self, args: tuple, kwargs: dict, xs: tuple) -> Any:
        """Return the Jacobian from columns that are computed together, None if the text cannot take several directions."""
        if self._wide is None or not all(isinstance(x, np.ndarray | float) and np.size(x) for x in xs):
            return None
        sizes = [np.size(x) for x in xs]
        starts, count = np.cumsum([0, *sizes]), sum(sizes)
        together = max(1, min(COLUMNS, AT_ONCE // max(sizes)))
        parts = []
        for first in watched(range(0, count, together), "columns of the Jacobian"):
            part = self._along(args, kwargs, xs, np.eye(min(together, count - first), count, first))
            if self._wide is None:
                return None
            parts.append(part)
        columns = [np.moveaxis(np.concatenate(found), 0, -1) for found in zip(*map(_leaves_of, parts))]

        def block(k: int, j: int, shape: tuple) -> Any:
            own = columns[k][..., starts[j] : starts[j + 1]]
            return own.reshape(own.shape[:-1] + np.shape(xs[j]))[()]

        return self._assembled(parts[0], xs, block)

    def _rows_at_once(self, args: tuple, kwargs: dict, xs: tuple, pulled: tuple) -> Any:
        """Return the Jacobian from rows that are computed together, None if the text would be a loop over them, or little is gained."""
        value, pullback = pulled
        if self._stack is None or not isinstance(value, np.ndarray):
            return None
        together = min(COLUMNS, ELEMENTS // max(1, value.size, *map(np.size, _leaves_of(xs)), *map(np.size, held_by(pullback))))
        if min(value.size, together) < FEWEST:
            return None
        given = self._pull._bound(args, kwargs)
        if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in self._pull.signature.parameters.values()):
            return None
        units = np.eye(value.size, dtype=value.dtype).reshape(-1, *value.shape)
        try:
            if self._stack is ...:
                self._stack = stack_of_rows(self.primal, self.wrt if not self._push._single else self.wrt[0], self._options[1], len(given))
                if self._stack.lower(units[:together], *given.values()).notes:  # a loop over the rows
                    self._stack = None
                    return None
            parts = [
                _leaves_of(self._stack(units[k : k + together], *given.values()))
                for k in watched(range(0, value.size, together), "rows of the Jacobian")
            ]
        except SourceADError:
            self._stack = None
            return None
        rows = [np.concatenate(found) for found in zip(*parts)]
        return self._assembled(value, xs, lambda k, j, shape: rows[j].reshape(shape))

    def _along(self, args: tuple, kwargs: dict, xs: tuple, tangents: np.ndarray) -> Any:
        """Return the tangents of the result along several tangents of all arguments in wrt, the rows of a matrix.

        If the text cannot take several, `_wide` is None afterwards.
        """
        starts = np.cumsum([0, *map(np.size, xs)])
        directions = [
            tangents[:, a:b].reshape(len(tangents), *np.shape(x)).astype(np.asarray(x).dtype) for x, a, b in zip(xs, starts, starts[1:])
        ]
        try:
            return self._wide(*args, **kwargs, **dict(zip(self._wide.directions, directions)))
        except Unbatchable:
            self._wide = None

    def _assembled(self, value: Any, xs: tuple, block: Callable) -> Any:
        """Return the blocks `block(k, j, shape)` of the Jacobian in the structure of the value, and inside it that of the arguments."""
        if not leaves(value):
            why = f"`{self._pull.__name__}` returns {of_class(value)}, which has no numbers that have a derivative"
            raise UnsupportedValueError(why, instead="return a number, an array, or a structure of them")
        rows = iter(range(sum(1 for _ in leaves(value))))

        def row(y):
            k, columns = next(rows), iter(range(sum(1 for _ in leaves(xs))))
            blocks = map_leaves(lambda x: block(k, next(columns), np.shape(y) + np.shape(x)), xs)
            return blocks[0] if self._push._single else blocks

        return map_leaves(row, value)


class Hessian(Jacobian):
    """The callable that `hessian` returns: the Jacobian of the gradient, in forward mode."""

    def __init__(self, f: Callable, wrt: int | str | Sequence[int | str] = 0, verify: str | bool | None = None):
        gradient = Gradient(f, wrt, options=Options(verify=verify))
        super().__init__(gradient, gradient.wrt[0] if gradient._single else gradient.wrt, "forward", verify)
        self.primal, self._asked, self._options = f, wrt, (self._push._verify,)


def stack_of_rows(f: Callable, wrt: Any, verify: Any, count: int) -> Vmapped:
    """Return what computes the cotangents of the arguments `wrt` of `f` for each of several cotangents of its result."""

    def rows(d_y, *args):
        return vjp(f, *args, wrt=wrt)[1](d_y)

    return Vmapped(rows, (0, *[None] * count), options=Options(verify=verify))


def held_by(pullback: Callable) -> list[np.ndarray]:
    """Return the arrays that a pullback keeps."""
    cells = getattr(pullback, "__closure__", None) or ()
    return [leaf for cell in cells for leaf in [cell.cell_contents] if isinstance(leaf, np.ndarray)]


def _stacked(parts: list, axis: int, shape: tuple) -> np.ndarray:
    """Return a block of the Jacobian from the parts of its rows (along axis 0) or columns (along axis -1)."""
    return np.stack(parts, axis).reshape(shape)[()] if parts else np.zeros(shape)


def _leaves_of(x: Any) -> list:
    return [leaf for _, leaf in leaves(x)]


def zero_of(leaf: Any) -> Any:
    """Return the zero tangent of a number or an array."""
    if isinstance(leaf, np.ndarray):
        return np.zeros(leaf.shape, leaf.dtype if leaf.dtype.kind in "fc" else float)
    if isinstance(leaf, np.inexact):
        return leaf.dtype.type(0)
    return 0j if isinstance(leaf, complex) else 0.0


def with_leaf(x: Any, number: int, change: Callable[[Any], Any]) -> Any:
    """Return a structure with `change(leaf)` in place of the number or array `leaf` that is counted `number` in it."""
    count = itertools.count()
    return map_leaves(lambda leaf: change(leaf) if next(count) == number else leaf, x)


def with_added(leaf: Any, index: tuple, value: complex) -> Any:
    """Return a number, or a copy of an array, with `value` added to the element at `index`."""
    if isinstance(leaf, np.ndarray):
        leaf = leaf.copy()
        leaf[index] += value
        return leaf
    return type(leaf)(leaf + value) if isinstance(leaf, np.generic) else leaf + value


@dataclass(frozen=True)
class UnitTangents:
    """The unit tangents of a structure at one number or array in it: zeros, but `unit` at one element."""

    zeros: Any
    number: int
    shape: tuple[int, ...]
    unit: complex

    def __len__(self):
        return math.prod(self.shape)

    def __iter__(self) -> Iterator[Any]:
        for index in np.ndindex(self.shape):
            yield with_leaf(self.zeros, self.number, lambda zero, index=index: with_added(zero, index, self.unit))


def unit_tangents(x: Any, unit: complex = 1) -> list[UnitTangents]:
    """Return the unit tangents of each number or array in a structure."""
    zeros = map_leaves(zero_of, x)
    return [UnitTangents(zeros, number, np.shape(leaf), unit) for number, leaf in enumerate(_leaves_of(x))]
