"""Compare derivatives with numerical differentiation.

For the scalar s(x) = sum over the results of Re(cotangent * result), each element of x is moved by h in both directions:

    d_x = (8 (s(x + h) - s(x - h)) - (s(x + 2h) - s(x - 2h))) / 12h

(Fornberg 1988, table 1; the error is of order h^4). For complex x the imaginary part is moved too, and d_x = d_re - i d_im.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sourcead.api.jacobians import zero_of
from sourcead.api.transformations import vjp
from sourcead.compile.gradient import Gradient
from sourcead.compile.structures import conversion, leaves, map_leaves
from sourcead.compile.wrt import check_wrt
from sourcead.errors import UnsupportedArgumentError

MODES = ("reverse", "forward")


class GradientMismatch(AssertionError):
    """The error that a derivative differs from the numerical one.

    Attributes:
        where: the element that differs most, such as `w[1, 2]`.
        derivative, numerical: the two derivatives with respect to that element.
        error: their difference, relative to the larger of the two.
    """

    def __init__(
        self, message: str, where: str = "", derivative: Any = None, numerical: Any = None, error: float = math.nan
    ):
        super().__init__(message, where, derivative, numerical, error)
        self.message, self.where, self.derivative, self.numerical, self.error = (
            message,
            where,
            derivative,
            numerical,
            error,
        )

    def __str__(self):
        return self.message


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
        UnsupportedArgumentError: a mode or an order is unknown, or an argument in wrt is not in `args`.

    Example:
        >>> import numpy as np
        >>> from sourcead import check_grads
        >>> check_grads(lambda x: np.sum(np.sin(x) * x), (np.array([0.5, 2.0]),))
    """
    for mode in modes:
        if mode not in MODES:
            raise UnsupportedArgumentError(f"check_grads knows no mode {mode!r}", instead=f"modes={MODES!r}")
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise UnsupportedArgumentError(
            f"check_grads has the order {order!r}", instead="order=1, or 2 for second derivatives"
        )
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
    args = tuple((conversion(a, p in positions) or _same)(a) for p, a in enumerate(args))
    value = f(*_copied(args))
    cotangent = _cotangent(value)
    for mode in modes:
        if mode == "reverse":
            found = _reverse(f, args, wrt, gradient, cotangent)
            derivatives = [found] if gradient._single else list(found)
        else:
            derivatives = _forward(f, args, positions, wrt, cotangent)
        _compare(f, args, positions, [names[p] for p in positions], cotangent, derivatives, eps, rtol, atol, mode)
    if order > 1:
        check_grads(gradient, args, wrt, order - 1, modes, eps, rtol, atol)


def _is_real_number(value: Any) -> bool:
    return isinstance(value, float | np.floating) or (
        isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind == "f"
    )


def _cotangent(value: Any) -> Any:
    """Return a cotangent of a result: 1 for a real number, else random."""
    if _is_real_number(value):
        return 1.0
    random = np.random.default_rng(0)

    def drawn(leaf):
        if isinstance(leaf, np.ndarray):
            real = random.standard_normal(leaf.shape)
            if leaf.dtype.kind not in "fc":
                return np.zeros(leaf.shape)
            return (real + 1j * random.standard_normal(leaf.shape) if leaf.dtype.kind == "c" else real).astype(
                leaf.dtype
            )
        if isinstance(leaf, complex | np.complexfloating):
            return complex(*random.standard_normal(2))
        return float(random.standard_normal()) if isinstance(leaf, float | np.floating) else 0.0

    return map_leaves(drawn, value)


def _reverse(f: Callable, args: tuple, wrt: Any, gradient: Gradient, cotangent: Any) -> Any:
    """Return the cotangents of the arguments in wrt for a cotangent of the result, by reverse mode."""
    if isinstance(cotangent, float):
        return gradient(*_copied(args))
    _, pullback = vjp(f, *_copied(args), wrt=wrt)
    return pullback(_copied(cotangent))


def _forward(f: Callable, args: tuple, positions: list[int], wrt: Any, cotangent: Any) -> list:
    """Return the same cotangents by forward mode, one element at a time: the product of `cotangent` and the result's tangent."""
    push = Gradient(f, wrt, kind="tangent")
    weights = [leaf for _, leaf in leaves(cotangent)]
    still = {t: map_leaves(zero_of, args[p]) for t, p in zip(push.directions, positions)}

    def along(name: str, number: int, index: tuple, step: complex) -> float:
        moved = dict(still)
        moved[name] = _with_element(still[name], number, index, step)
        tangent = [leaf for _, leaf in leaves(push(*_copied(args), **moved))]
        return math.fsum(float(np.sum(np.real(np.multiply(w, t)))) for w, t in zip(weights, tangent))

    derivatives = []
    for name, position in zip(push.directions, positions):
        found = []
        for number, (_, leaf) in enumerate(leaves(args[position])):
            complex_ = np.iscomplexobj(leaf)
            d = np.zeros(np.shape(leaf), complex if complex_ else float)
            for index in np.ndindex(np.shape(leaf)):
                d[index] = along(name, number, index, 1.0)
                if complex_:
                    d[index] -= 1j * along(name, number, index, 1j)
            found.append(d)
        left = iter(found)
        derivatives.append(map_leaves(lambda _, left=left: next(left), args[position]))
    return derivatives


def _with_element(zeros: Any, number: int, index: tuple, value: complex) -> Any:
    """Return a structure of zeros with `value` in the element `index` of its leaf `number`."""
    count = -1

    def place(leaf):
        nonlocal count
        count += 1
        if count != number:
            return leaf
        if not isinstance(leaf, np.ndarray):
            return type(leaf)(value)
        leaf = leaf.copy()
        leaf[index] = value
        return leaf

    return map_leaves(place, zeros)


def _same(x: Any) -> Any:
    return x


def _copied(x: Any) -> Any:
    return copy.deepcopy(x)


def _compare(f, args, positions, names, cotangent, derivatives, eps, rtol, atol, mode) -> None:
    """Raise GradientMismatch if a derivative differs from the numerical one."""
    weights = [leaf for _, leaf in leaves(cotangent)]

    def objective(values) -> float:
        result = f(*values)
        parts = [leaf for _, leaf in leaves(result)]
        return math.fsum(
            float(np.sum(np.real(np.multiply(w, np.asarray(p, dtype=_wide(p)))))) for w, p in zip(weights, parts)
        )

    failures = []
    for position, name, derivative in zip(positions, names, derivatives):
        places = list(leaves(args[position], name))
        given = list(leaves(derivative, name))
        if [place for place, _ in places] != [place for place, _ in given]:
            raise GradientMismatch(
                f"the derivative with respect to `{name}` has another structure than `{name}`: {derivative!r}", name
            )
        for number, ((place, leaf), (_, d)) in enumerate(zip(places, given)):
            if np.shape(d) != np.shape(leaf):
                raise GradientMismatch(
                    f"the derivative with respect to `{place}` has the shape {np.shape(d)}, "
                    f"and `{place}` has {np.shape(leaf)}",
                    place,
                    d,
                )
            for index in np.ndindex(np.shape(leaf)):
                numerical, noise = _numerical(objective, args, position, number, index, leaf, eps)
                found = complex(np.asarray(d)[index])
                low = isinstance(leaf, np.ndarray | np.generic) and leaf.dtype.itemsize <= (
                    8 if leaf.dtype.kind == "c" else 4
                )
                size = max(abs(found), abs(numerical))
                relative = (2e-3 if low else 1e-6) if rtol is None else rtol
                absolute = max(2e-4 if low else 1e-7, noise) if atol is None else atol
                error = abs(found - numerical)
                same = found == numerical or (math.isnan(found.real) and math.isnan(numerical.real))
                if not same and not error <= absolute + relative * size:
                    shown = place + (f"[{', '.join(map(str, index))}]" if index else "")
                    failures.append(
                        (error / size if size and math.isfinite(error) else math.inf, shown, found, numerical)
                    )
    if failures:
        error, where, found, numerical = max(failures, key=lambda failure: failure[0])
        found, numerical = (v.real if not v.imag else v for v in (found, numerical))
        count = "1 element differs" if len(failures) == 1 else f"{len(failures)} elements differ, this one most"
        raise GradientMismatch(
            f"the derivative with respect to `{where}` is {found:.10g}{' in forward mode' if mode == 'forward' else ''}, "
            f"and numerically {numerical:.10g} (relative error {error:.2g}; {count})",
            where, found, numerical, error,
        )  # fmt: skip


def _numerical(objective, args, position, number, index, leaf, eps) -> tuple[complex, float]:
    """Return the numerical derivative with respect to one element, and an estimate of its rounding error."""
    center = complex(np.asarray(leaf)[index])
    step = (eps or 4e-4) * max(abs(center), 1.0)
    parts, noise = [], 0.0
    for direction in (1.0, 1j) if isinstance(leaf, complex | np.complexfloating) or np.iscomplexobj(leaf) else (1.0,):
        around = [objective(_moved(args, position, number, index, k * step * direction)) for k in (1, -1, 2, -2)]
        parts.append((8 * (around[0] - around[1]) - (around[2] - around[3])) / (12 * step))
        noise = max(noise, 10 * np.finfo(float).eps * max(map(abs, around)) / step)
    return complex(parts[0], -parts[1] if len(parts) > 1 else 0.0), noise if math.isfinite(noise) else 0.0


def _moved(args: tuple, position: int, number: int, index: tuple, by: complex) -> tuple:
    """Return the arguments in double precision, one element of one of them moved by `by`."""
    count = -1

    def move(leaf):
        nonlocal count
        count += 1
        if isinstance(leaf, np.ndarray):
            leaf = leaf.astype(_wide(leaf))
            if count == number:
                leaf[index] += by if leaf.dtype.kind == "c" else by.real
            return leaf
        if count != number:
            return leaf
        return type(leaf)(leaf + by) if isinstance(leaf, complex) else float(leaf) + by.real

    values = [map_leaves(widened, a) for a in _copied(args)]
    values[position] = map_leaves(move, values[position])
    return tuple(values)


def widened(leaf: Any) -> Any:
    """Return a number or array, converted to double precision if it is inexact."""
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc":
        return leaf.astype(_wide(leaf), copy=False)
    if isinstance(leaf, np.inexact):
        return complex(leaf) if leaf.dtype.kind == "c" else float(leaf)
    return leaf


def _wide(x: Any) -> np.dtype:
    kind = np.asarray(x).dtype
    return {"f": np.dtype(float), "c": np.dtype(complex)}.get(kind.kind, kind)
