"""Second-order array combinators, which take arrays and return arrays.

Called as plain Python functions they run the loops of their docstrings. Inside a differentiated function they are compiled
(`frontend/builtins/combinators.py`): a `map` whose body can take whole arrays becomes one call of it, `reduce` and `scan` with `+`,
`*`, `min`, `max` and `logaddexp` become calls of NumPy, other associative operators a tree of whole-array steps, and the rest loops.
"""

import builtins
import contextlib
import contextvars
import operator
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sourcead.errors import ArgumentError

SUMS = (operator.add, np.add)
PRODUCTS = (operator.mul, np.multiply)
LEAST = (builtins.min, np.minimum)
LARGEST = (builtins.max, np.maximum)
KNOWN = (*SUMS, *PRODUCTS, *LEAST, *LARGEST, np.logaddexp, operator.matmul, np.matmul)
TOLERANCE = {np.dtype(np.float16): 0.05, np.dtype(np.float32): 1e-3}

_checked: weakref.WeakSet[Callable] = weakref.WeakSet()
_told = contextvars.ContextVar("_told", default=False)


class NotAssociativeWarning(UserWarning):
    """An operator of `reduce` or `scan` is not associative."""


def map(f: Callable, *xs: Any) -> Any:
    """Return the results of `f` for each element: each number of a vector, or each row of a matrix.

    Args:
        f: a function of as many arguments as there are arrays, returning a number or an array of one shape, or a tuple of them.
        xs: arrays of one length along their first axis, which must not be 0; a tuple of such arrays is an argument that is a
            tuple of their elements.

    Returns:
        The results stacked along a new first axis; a tuple of arrays where `f` returns tuples.

    Raises:
        ValueError: there is no array, an array is empty, or their lengths differ.

    Example:
        >>> import sourcead
        >>> sourcead.map(lambda a, b: a * b + 1, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
        array([4., 9.])
    """
    if swapped := data_first("map", f, *xs):
        raise ArgumentError(*swapped)
    lengths = {len(x) for argument in xs for x in (argument if isinstance(argument, tuple) else (argument,))}
    if len(lengths) != 1 or lengths == {0}:
        raise ValueError(f"map takes arrays of one length, which is not 0; it was given lengths {sorted(lengths)}")
    columns = [list(zip(*x)) if isinstance(x, tuple) else x for x in xs]
    return stacked([f(*elements) for elements in zip(*columns)])


def reduce(op: Callable, xs: Any, initial: Any) -> Any:
    """Return `op(... op(op(initial, xs[0]), xs[1]) ..., xs[n - 1])` for an associative `op`.

    Args:
        op: an associative function of two values of one type, such as `np.add` or a product of matrices; it may read other
            variables. With tuples, `op((a, b), (c, d))` returns a tuple.
        xs: an array, whose elements along the first axis are combined; or a tuple of arrays of one length.
        initial: the first left operand, and the result if `xs` is empty.

    Returns:
        The combined value.

    Warns:
        NotAssociativeWarning: the first three elements of `xs` show that `op` is not associative.

    Example:
        >>> import sourcead
        >>> sourcead.reduce(np.add, np.array([1.0, 2.0, 3.0]), 0.0)
        np.float64(6.0)
    """
    if swapped := data_first("reduce", op, xs, initial):
        raise ArgumentError(*swapped)
    elements = list(zip(*xs)) if isinstance(xs, tuple) else list(xs)
    warn_unless_associative(op, elements[:3])
    total = initial
    for x in elements:
        total = op(total, x)
    return total


def scan(op: Callable, xs: Any, initial: Any) -> Any:
    """Return the results of `reduce` over the first element, over the first two, and so on, for an associative `op`.

    Args:
        op, xs, initial: as for `reduce`.

    Returns:
        An array of the length of `xs`; a tuple of arrays if `xs` is one.

    Warns:
        NotAssociativeWarning: as `reduce`.

    Example:
        >>> import sourcead
        >>> sourcead.scan(np.multiply, np.array([1.0, 2.0, 3.0]), 2.0)
        array([ 2.,  4., 12.])
        >>> affine = lambda f, g: (f[0] * g[0], g[0] * f[1] + g[1])       # x -> a x + b, one after the other
        >>> sourcead.scan(affine, (np.array([2.0, 3.0]), np.array([1.0, 1.0])), (1.0, 0.0))
        (array([2., 6.]), array([1., 4.]))
    """
    if swapped := data_first("scan", op, xs, initial):
        raise ArgumentError(*swapped)
    elements = list(zip(*xs)) if isinstance(xs, tuple) else list(xs)
    if not elements:
        return tuple(x[:0] for x in xs) if isinstance(xs, tuple) else xs[:0]
    warn_unless_associative(op, elements[:3])
    found, total = [], initial
    for x in elements:
        total = op(total, x)
        found.append(total)
    return stacked(found)


def data_first(name: str, f: Any, *others: Any, is_function: Callable = callable) -> tuple[str, None, str] | None:
    """Return why a call is refused whose function stands behind its data, and what to write instead; None if it comes first."""
    if is_function(f) or not any(builtins.map(is_function, others)):
        return None
    return f"`{name}` takes the function first and then the data", None, f"{name}(f, {'xs' if name == 'map' else 'xs, initial'})"


def stacked(results: list) -> Any:
    """Stack results along a new first axis, each part of a tuple by itself."""
    if isinstance(results[0], tuple):
        return tuple(stacked(list(part)) for part in zip(*results))
    return np.stack(results)


def warn_unless_associative(op: Callable, values: list) -> None:
    """Warn if three values show that an operator is not associative; each operator is tested once."""
    if _told.get() or len(values) < 3 or any(op is known for known in KNOWN):
        return
    try:
        if op in _checked:
            return
        _checked.add(op)
    except TypeError:  # without a weak reference it is tested each time
        pass
    a, b, c = values
    if not is_same(op(op(a, b), c), op(a, op(b, c))):
        warn_of(a, b, c)


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Do not warn of operators that are not associative: the same call warned of them when it was compiled."""
    token = _told.set(True)
    try:
        yield
    finally:
        _told.reset(token)


def warn_of(a: Any, b: Any, c: Any, at: Any = None) -> None:
    """Warn that an operator is not associative; `at` is where the user's program uses it."""
    message = f"the operator is not associative: op(op(a, b), c) and op(a, op(b, c)) differ for a = {a}, b = {b}, c = {c}"
    if at is None:
        warnings.warn(message, NotAssociativeWarning, stacklevel=4)
    else:
        warnings.warn_explicit(message, NotAssociativeWarning, at.file, at.line)


def is_same(x: Any, y: Any) -> bool:
    """Return whether two results agree up to rounding."""
    if isinstance(x, tuple):
        return isinstance(y, tuple) and len(x) == len(y) and all(builtins.map(is_same, x, y))
    x, y = np.asarray(x), np.asarray(y)
    if x.shape != y.shape:
        return False
    rough = TOLERANCE.get(x.dtype, 1e-8)
    return bool(np.allclose(x, y, rtol=rough, atol=rough * max(1.0, float(np.max(np.abs(x), initial=0.0))), equal_nan=True))


# ---- the compiled forms: whole-array steps, for operators that take batches ----


def together(f: Callable, *xs: Any) -> Any:
    """Apply `map` to arrays that are known to have equal lengths."""
    return map(f, *xs)


def reduced_by_halves(op: Callable, xs: tuple, initial: tuple) -> tuple:
    """Compute `reduce` of a tuple of arrays as a tree: combine neighbours until one element is left."""
    while len(xs[0]) > 1:
        half = len(xs[0]) // 2
        pairs = together(op, tuple([x[0 : 2 * half : 2] for x in xs]), tuple([x[1 : 2 * half : 2] for x in xs]))
        xs = tuple([np.concatenate([pairs[k], x[2 * half :]]) for k, x in enumerate(xs)])
    return op(initial, tuple([x[0] for x in xs])) if len(xs[0]) > 0 else initial


def scanned_by_doubling(op: Callable, xs: tuple, initial: tuple) -> tuple:
    """Compute `scan` of a tuple of arrays as W. Hillis and G. Steele do (Data parallel algorithms, 1986).

    After step k, each element combines 2^k elements.
    """
    reach = 1
    while reach < len(xs[0]):
        pairs = together(op, tuple([x[:-reach] for x in xs]), tuple([x[reach:] for x in xs]))
        xs = tuple([np.concatenate([x[:reach], pairs[k]]) for k, x in enumerate(xs)])
        reach *= 2
    return together(lambda x: op(initial, x), xs)


def of_one_array(compute: Callable, op: Callable, xs: Any, initial: Any) -> Any:
    """Compute for an array what `compute` does for a tuple of arrays."""
    return compute(lambda a, b: (op(a[0], b[0]),), (xs,), (initial,))[0]
