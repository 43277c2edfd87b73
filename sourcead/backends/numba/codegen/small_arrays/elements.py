"""Operations on arrays of numbers that the text has in variables, as operations on these numbers.

    np.dot(x, y)        x0 * y0 + x1 * y1 + x2 * y2
    np.cross(x, y)[0]   x1 * y2 - x2 * y1

NumPy itself computes them, on arrays of objects: whatever it does with a `Number` becomes a statement.  An operation that looks at a
value (`if x > 0`, `float(x)`) raises an error, as its result would not be known.  So does one that does not apply to objects; the caller
then leaves the call as it is.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import Builder, atom_type
from sourcead.backends.numba.functions import chosen, nonzero
from sourcead.ir.nodes import Atom, Call, Const, Var
from sourcead.ir.types import Scalar, Type
from sourcead.primitives.arithmetic import BINARY, COMPARISONS
from sourcead.primitives.table import record_of

FLOAT = Scalar("float", np.dtype(np.float64))
BOOL = Scalar("bool", np.dtype(np.bool_))
OF_KIND = {"float": FLOAT, "bool": BOOL}


class Number:
    """A number of the text: arithmetic with it emits a statement."""

    __slots__ = ("atom", "build")
    __hash__ = None

    def __init__(self, atom: Atom, build: Builder):
        self.atom, self.build = atom, build

    def applied(self, fn: Callable, *args: "Number | float", type: Type = FLOAT) -> "Number":
        """Return the result of a function of numbers."""
        return Number(self.build.emit(Call(fn, tuple(map(atom_of, args))), type, "t"), self.build)

    def __add__(self, other):
        return self if _is_nothing(other) else self.applied(operator.add, self, other)

    def __radd__(self, other):
        return self if _is_nothing(other) else self.applied(operator.add, other, self)

    def __sub__(self, other):
        return self.applied(operator.sub, self, other)

    def __rsub__(self, other):
        return self.applied(operator.sub, other, self)

    def __mul__(self, other):
        return self.applied(operator.mul, self, other)

    def __rmul__(self, other):
        return self.applied(operator.mul, other, self)

    def __truediv__(self, other):
        return self.applied(operator.truediv, self, other)

    def __neg__(self):
        return self.applied(operator.neg, self)

    def conjugate(self):
        return self

    def __bool__(self):
        raise TypeError("the value of a number in the text is not known")

    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __float__ = __int__ = __index__ = lambda self, *others: bool(self)


def _is_nothing(x: Any) -> bool:
    """Return whether this is the integer 0, with which NumPy begins a sum of objects."""
    return type(x) is int and x == 0


def atom_of(x: Any) -> Atom:
    """Return the operand of the text for a number.

    Raises:
        TypeError: it is no number.
    """
    if isinstance(x, Number):
        return x.atom
    for kinds, kind in (((bool, np.bool_), bool), ((int, np.integer), int), ((float, np.floating), float)):
        if isinstance(x, kinds):
            return Const(kind(x))
    raise TypeError(x)


def element_of(x: Any, element: Type) -> Atom:
    """Return the operand of the text for a number as the element of an array.

    Raises:
        TypeError: it is no number, or of another kind.
    """
    atom = atom_of(x)
    if element == FLOAT and isinstance(atom, Const):
        return Const(float(atom.value))
    if element == FLOAT and atom_type(atom).kind != "float":
        return (x.applied(float, x) if atom_type(atom).kind == "int" else x.applied(chosen, x, 1.0, 0.0)).atom
    if (element == BOOL) != (atom_type(atom).kind == "bool"):
        raise TypeError(x)
    return atom


def array_of(atoms: np.ndarray, build: Builder) -> np.ndarray:
    """Return an array of numbers for an array of operands."""
    made = np.empty(atoms.shape, object)
    for at in np.ndindex(*atoms.shape):
        a = atoms[at]
        made[at] = a.value if isinstance(a, Const) and not a.live else Number(a, build)
    return made


def is_elementwise(fn: Any, count: int) -> bool:
    """Return whether a function of so many arrays works on elements that are float64 or truth values, and Numba has it for numbers."""
    known = isinstance(fn, np.ufunc) and getattr(np, fn.__name__, None) is fn or fn in (*BINARY, *COMPARISONS, operator.neg, np.where)
    return known and record_of(fn).is_elementwise(count)


def by_elements(fn: Callable, args: tuple, element: Type, build: Builder) -> np.ndarray:
    """Return what an elementwise function makes of arrays and numbers."""
    cast = np.broadcast(*(np.asarray(a, dtype=object) for a in args))
    made, fn = np.empty(cast.shape, object), chosen if fn is np.where else fn
    for at, operands in zip(np.ndindex(*cast.shape), cast):
        atoms = tuple(map(atom_of, operands))
        made[at] = Number(build.emit(Call(fn, atoms), element, "t"), build)
    return made


# ---- the functions that NumPy computes on arrays of objects ----

AS_THEY_ARE = (
    operator.matmul, np.matmul, np.dot, np.inner, np.outer, np.vdot, np.cross, np.linalg.cross, np.einsum, np.tensordot, np.kron,
    np.sum, np.cumsum, np.trace, np.diff, np.array, np.asarray, np.copy, np.ndarray.copy, np.reshape, np.ravel, np.ndarray.flatten,
    np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.broadcast_to, np.flip, np.roll, np.diag, np.diagonal, np.stack,
    np.concatenate, np.hstack, np.vstack, np.column_stack, np.append, np.tile, np.repeat, np.tril, np.triu, np.atleast_1d, np.atleast_2d,
    np.eye, np.identity, runtime.diagonal_cotangent, runtime.combine_short,
)  # fmt: skip
CREATING = {np.zeros: 0.0, np.zeros_like: 0.0, runtime.zeros_like: 0.0, np.empty: 0.0, np.empty_like: 0.0, np.ones: 1.0, np.ones_like: 1.0}


def unbroadcast(d: Any, x: Any) -> Any:
    """Return what `runtime.unbroadcast` does, for a number `x` too."""
    return runtime.unbroadcast(d, x) if isinstance(x, np.ndarray) else np.sum(d)


def mean(x: np.ndarray, axis: int | tuple | None = None, keepdims: bool = False) -> Any:
    total = np.sum(x, axis=axis, keepdims=keepdims)
    return total / (x.size / np.size(total))


def norm(x: np.ndarray) -> Number:
    total = np.sum(x * x)
    return total.applied(np.sqrt, total)


def extreme(ufunc: np.ufunc) -> Callable:
    """Return a function of an array that combines all its elements by a ufunc of two numbers."""

    def of(x: np.ndarray) -> Number:
        numbers = list(np.ravel(x))
        return functools.reduce(lambda a, b: next(n for n in numbers if isinstance(n, Number)).applied(ufunc, a, b), numbers)

    return of


def cofactors(a: np.ndarray) -> np.ndarray:
    """Return the cofactors of a matrix of 2 by 2; those of larger ones lose more digits than a factorisation."""
    (p, q), (r, s) = a
    return np.array([[s, -r], [-q, p]])


def determinant(a: np.ndarray) -> Number:
    (p, q), (r, s) = a
    return p * s - q * r


def divisor(a: np.ndarray) -> Number:
    """Return the determinant of a matrix that must have an inverse."""
    det = determinant(a)
    return det.applied(nonzero, det)


INSTEAD = {
    runtime.unbroadcast: unbroadcast, np.mean: mean, np.linalg.norm: norm, np.max: extreme(np.maximum), np.min: extreme(np.minimum),
    np.full: lambda shape, x, dtype=None: np.full(shape, x, object), np.ndarray.astype: lambda x, dtype: x,
    runtime.cofactors: cofactors, np.linalg.det: determinant, np.linalg.inv: lambda a: cofactors(a).T / divisor(a),
    np.linalg.solve: lambda a, b: cofactors(a).T @ b / divisor(a),
}  # fmt: skip


def rule_of(fn: Any) -> Callable | None:
    """Return the function of arrays of numbers that stands for a function; None if there is none."""
    return next((f for f in AS_THEY_ARE if f is fn), None) or next((rule for f, rule in INSTEAD.items() if f is fn), None)


def is_plain_number(t: Type) -> bool:
    """Return whether a number of this type leaves what is computed with float64 numbers float64."""
    return isinstance(t, Scalar) and t.kind in ("int", "float") and (t.dtype is None or t.dtype in (np.float64, np.int64))


def number_of(atom: Var | Const, build: Builder) -> Any:
    """Return a number of the text as a `Number`.

    Raises:
        TypeError: it is none.
    """
    if not is_plain_number(atom_type(atom)):
        raise TypeError(atom)
    return Number(atom, build)
