"""Compare derivatives with numerical differentiation.

For the scalar s(x) = sum over the results of Re(cotangent * result), each element of x is moved by h in both directions:

    d_x = (8 (s(x + h) - s(x - h)) - (s(x + 2h) - s(x - 2h))) / 12h

(Fornberg 1988, table 1; the error is of order h^4). For complex x the imaginary part is moved too, and d_x = d_re - i d_im.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead.api.jacobians import unit_tangents, with_added, with_leaf, zero_of
from sourcead.api.transformations import vjp
from sourcead.compile.comparison import drawn, product, widened
from sourcead.compile.gradient import Gradient
from sourcead.compile.structures import conversion, leaves, map_leaves
from sourcead.compile.wrt import check_wrt
from sourcead.errors import ArgumentError, UnsupportedArgumentError
from sourcead.ir.records import deep_copy
from sourcead.language.progress import watched
from sourcead.language.tracebacks import folded

MODES = ("reverse", "forward")


class GradientMismatch(AssertionError):
    """The error that a derivative differs from the numerical one.

    Attributes:
        where: the element that differs most, such as `w[1, 2]`.
        derivative, numerical: the two derivatives with respect to that element.
        error: their difference, relative to the larger of the two.
    """

    def __init__(self, message: str, where: str = "", derivative: Any = None, numerical: Any = None, error: float = math.nan):
        super().__init__(message, where, derivative, numerical, error)
        self.message, self.where, self.derivative, self.numerical, self.error = self.args

    def __str__(self):
        return self.message


@folded
def check_grads(
    f: Callable,
    args: Sequence[Any],
    wrt: int | str | Sequence[int | str] = 0,
    order: int = 1,
    modes: Sequence[str] = MODES,
    eps: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Check the derivative of a function against numerical differentiation, and raise an error if they differ.

    Args:
        f: a deterministic function, whose result may have any shape and structure; it may itself be a gradient that `grad`
            returned. Each element of the arguments in wrt costs four calls of `f` (eight if it is complex).
        args: the arguments of `f`: numbers, arrays and structures of them. float32 arrays are moved in float64.
        wrt: as for `grad`.
        order: the highest order of derivative that is checked; 2 also checks the derivatives of the gradient.
        modes: a sequence of "reverse" and "forward"; forward mode takes one sweep for each element.
        eps: the step, relative to an element's size but absolute for elements below 1; None is 4e-4.
        rtol, atol: an element fails if its error exceeds `atol + rtol * max(size of the two)`; None chooses by dtype.

    Raises:
        GradientMismatch: the derivatives differ; the message names the element that differs most, both values, and the error.
        SourceADError: an error that taking the derivative raises.
        ArgumentError: `args` is not a tuple or list.
        UnsupportedArgumentError: a mode or an order is unknown, or an argument in wrt is not in `args`.

    Example:
        >>> import numpy as np
        >>> from sourcead import check_grads
        >>> check_grads(lambda x: np.sum(np.sin(x) * x), (np.array([0.5, 2.0]),))
    """
    if not isinstance(args, tuple | list):
        raise ArgumentError("check_grads takes the arguments as a tuple", instead="check_grads(f, (x,))")
    for mode in modes:
        if mode not in MODES:
            raise UnsupportedArgumentError(f"check_grads knows no mode {mode!r}", instead=f"modes={MODES!r}")
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise UnsupportedArgumentError(f"check_grads has the order {order!r}", instead="order=1, or 2 for second derivatives")
    args = tuple(args)
    gradient = Gradient(f, wrt)
    names = list(gradient.signature.parameters)[len(gradient._bound_args) :]
    positions = [names.index(n) for n in gradient.wrt if n in names[: len(args)]]
    if len(positions) != len(gradient.wrt):
        raise UnsupportedArgumentError(
            "check_grads needs the arguments in wrt among `args`", instead="pass them in `args`, by position"
        )
    for p in positions:
        check_wrt(args[p], names[p])
    convert = [conversion(a, p in positions) for p, a in enumerate(args)]
    args = tuple(a if f is None else f(a) for a, f in zip(args, convert))
    cotangent = _cotangent(f(*deep_copy(args)))
    check = _Check(f, args, positions, [names[p] for p in positions], [leaf for _, leaf in leaves(cotangent)], eps, rtol, atol)
    for mode in modes:
        if mode == "reverse":
            found = _reverse(f, args, wrt, gradient, cotangent)
            check.compare([found] if gradient._single else list(found))
        else:
            check.compare(check.forward(wrt), " in forward mode")
    if order > 1:
        check_grads(gradient, args, wrt, order - 1, modes, eps, rtol, atol)


def _cotangent(value: Any) -> Any:
    """Return a cotangent of a result: 1 for a real number, else random."""
    if isinstance(value, float | np.floating) or isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind == "f":
        return 1.0
    random = np.random.default_rng(0)
    return map_leaves(lambda leaf: drawn(leaf, random), value)


def _reverse(f: Callable, args: tuple, wrt: Any, gradient: Gradient, cotangent: Any) -> Any:
    """Return the cotangents of the arguments in wrt for a cotangent of the result, by reverse mode."""
    if isinstance(cotangent, float):
        return gradient(*deep_copy(args))
    _, pullback = vjp(f, *deep_copy(args), wrt=wrt)
    return pullback(deep_copy(cotangent))


@dataclass(frozen=True)
class _Check:
    """Compares derivatives of the sum over the results of Re(weight * result).

    Attributes:
        positions, names: of the arguments that the function is differentiated by.
        weights: for each number or array in the result, its cotangent.
        eps, rtol, atol: as for `check_grads`.
    """

    f: Callable
    args: tuple
    positions: list[int]
    names: list[str]
    weights: list
    eps: float | None
    rtol: float | None
    atol: float | None

    def forward(self, wrt: Any) -> list:
        """Return the derivatives by forward mode, one element at a time."""
        push = Gradient(self.f, wrt, kind="tangent")
        still = {t: map_leaves(zero_of, self.args[p]) for t, p in zip(push.directions, self.positions)}

        def along(name: str, unit: Any) -> float:
            return product(self.weights, push(*deep_copy(self.args), **{**still, name: unit}))

        def by_argument(name: str, x: Any) -> Any:
            found = []
            for (_, leaf), ones, turned in zip(leaves(x), unit_tangents(x), unit_tangents(x, 1j)):
                d = [along(name, unit) for unit in ones]
                if np.iscomplexobj(leaf):
                    d = [real - 1j * along(name, unit) for real, unit in zip(d, turned)]
                found.append(np.reshape(d, np.shape(leaf)))
            left = iter(found)
            return map_leaves(lambda _: next(left), x)

        return [by_argument(name, self.args[p]) for name, p in zip(push.directions, self.positions)]

    def compare(self, derivatives: list, mode: str = "") -> None:
        """Raise GradientMismatch if a derivative differs from the numerical one."""
        failures = [failure for p, name, d in zip(self.positions, self.names, derivatives) for failure in self.failures(p, name, d)]
        if not failures:
            return
        error, where, found, numerical = max(failures, key=lambda failure: failure[0])
        found, numerical = (v.real if not v.imag else v for v in (found, numerical))
        count = "1 element differs" if len(failures) == 1 else f"{len(failures)} elements differ, this one most"
        raise GradientMismatch(
            f"the derivative with respect to `{where}` is {found:.10g}{mode}, "
            f"and numerically {numerical:.10g} (relative error {error:.2g}; {count})",
            where, found, numerical, error,
        )  # fmt: skip

    def failures(self, position: int, name: str, derivative: Any) -> Iterator[tuple[float, str, complex, complex]]:
        """Yield for each element that differs the relative error, the element, and its two derivatives."""
        places, given = leaves(self.args[position], name), leaves(derivative, name)
        if [place for place, _ in places] != [place for place, _ in given]:
            raise GradientMismatch(
                f"the derivative with respect to `{name}` has another structure than `{name}`: {derivative!r}", name
            )
        for number, ((place, leaf), (_, d)) in enumerate(zip(places, given)):
            if np.shape(d) != np.shape(leaf):
                shapes = f"the shape {np.shape(d)}, and `{place}` has {np.shape(leaf)}"
                raise GradientMismatch(f"the derivative with respect to `{place}` has {shapes}", place, d)
            low = isinstance(leaf, np.ndarray | np.generic) and leaf.dtype.itemsize <= (8 if leaf.dtype.kind == "c" else 4)
            relative = (2e-3 if low else 1e-6) if self.rtol is None else self.rtol
            for index in watched(np.ndindex(np.shape(leaf)), f"elements of {place}", np.size(leaf)):
                numerical, noise = self.numerical(position, number, index, leaf)
                found = complex(np.asarray(d)[index])
                size = max(abs(found), abs(numerical))
                absolute = max(2e-4 if low else 1e-7, noise) if self.atol is None else self.atol
                error = abs(found - numerical)
                same = found == numerical or (math.isnan(found.real) and math.isnan(numerical.real))
                if not same and not error <= absolute + relative * size:
                    shown = place + (f"[{', '.join(map(str, index))}]" if index else "")
                    yield error / size if size and math.isfinite(error) else math.inf, shown, found, numerical

    def numerical(self, position: int, number: int, index: tuple, leaf: Any) -> tuple[complex, float]:
        """Return the numerical derivative with respect to one element of leaf `number`, and an estimate of its rounding error."""
        step = (self.eps or 4e-4) * max(abs(complex(np.asarray(leaf)[index])), 1.0)

        def at(by: complex) -> float:
            values = [map_leaves(widened, a) for a in deep_copy(self.args)]
            values[position] = with_leaf(values[position], number, lambda x: with_added(x, index, by))
            return product(self.weights, self.f(*values))

        parts, noise = [], 0.0
        for direction in (1.0, 1j) if np.iscomplexobj(leaf) else (1.0,):
            around = [at(k * step * direction) for k in (1, -1, 2, -2)]
            parts.append((8 * (around[0] - around[1]) - (around[2] - around[3])) / (12 * step))
            noise = max(noise, 10 * np.finfo(float).eps * max(map(abs, around)) / step)
        return complex(parts[0], -parts[1] if len(parts) > 1 else 0.0), noise if math.isfinite(noise) else 0.0
