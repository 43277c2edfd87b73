"""Overloads of the functions of `sourcead.runtime` and of `functions.py`, and of subscripts, each with the meaning in Python."""

import operator
from collections.abc import Callable

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from sourcead import runtime
from sourcead.backends.numba import calls_to_python as interpreted
from sourcead.backends.numba.calls_to_python import dtype_of
from sourcead.backends.numba.codegen.explicit_types import MAKERS
from sourcead.backends.numba.functions import (
    CHECKED, Unequal, add_at, alike, apart, as_many, begin, chosen, disjoint, nonzero, reserved, subtract_at, with_room
)
from sourcead.backends.numba.public_toolchain import load


@overload(apart)
def _apart(v, a):
    if not isinstance(v, types.Array):
        return lambda v, a: v

    def copy_if_shared(v, a):
        if v.size == 0 or a.size == 0:
            return v
        low, high = extent(v)
        below, above = extent(a)
        return v if high <= below or above <= low else v.copy()

    return copy_if_shared


@register_jitable
def extent(x):
    """Return the addresses between which the elements of an array lie."""
    low = np.int64(x.ctypes.data)
    high = low + x.itemsize
    for n, step in zip(x.shape, x.strides):
        if step < 0:
            low += (n - 1) * step
        else:
            high += (n - 1) * step
    return low, high


HINTS = runtime.stop_gradient, runtime.found_by_search, runtime.root_of, runtime.first_root_of, runtime.last_derivative

for function in (*CHECKED, as_many, begin, nonzero, *MAKERS, reserved, *HINTS, with_room):
    register_jitable(function)


@overload(alike)
def _alike(*vectors):
    tests = "".join(f"    if len(vectors[{k}]) != n:\n        raise Unequal\n" for k in range(1, len(vectors)))
    return load(f"def alike(*vectors):\n    n = len(vectors[0])\n{tests}    return n\n", "alike", {"Unequal": Unequal})


@overload(disjoint)
def _disjoint(n, *starts):
    pairs = [(a, b) for b in range(len(starts)) for a in range(b)]
    tests = "".join(f"    if 0 < abs(starts[{a}] - starts[{b}]) < n:\n        raise Unequal\n" for a, b in pairs)
    return load(f"def disjoint(n, *starts):\n{tests}    return n\n", "disjoint", {"Unequal": Unequal})


# ---- cotangents ----


@overload(runtime.zeros_like)
def _zeros_like(x):
    match x:
        case types.Array() if isinstance(x.dtype, types.Float | types.Complex):
            return lambda x: np.zeros_like(x)
        case types.Array():
            return lambda x: np.zeros(x.shape)
        case types.List() | types.UniTuple() | types.Tuple():
            return of_each(runtime.zeros_like, "x", x)
        case types.Complex():
            return lambda x: x * 0
        case types.Float() if x.bitwidth == 32:
            return lambda x: np.float32(0)
        case types.Number() | types.Boolean():
            return lambda x: 0.0
        case types.UnicodeType() | types.NoneType():
            return lambda x: None
        case types.Optional():  # None has no cotangent, but the cotangent of an optional array must be an array
            return lambda x: runtime.zeros_if_assigned(x)
    return None


@overload(runtime.zeros_if_assigned)
def _zeros_if_assigned(x):
    if not isinstance(x, types.Optional):
        return lambda x: runtime.zeros_like(x)
    if isinstance(x.type, types.Array):
        shape, dtype = (1,) * x.type.ndim, x.type.dtype if isinstance(x.type.dtype, types.Float | types.Complex) else types.float64

        def zeros_or_one_zero(x):
            """Return zeros like an array, or one zero that broadcasts if the array is not assigned yet."""
            return np.zeros(shape, dtype) if x is None else np.zeros(x.shape, dtype)

        return zeros_or_one_zero
    if isinstance(x.type, types.Number):
        return lambda x: 0.0
    return None


@overload(runtime.copy)
def _copy(x):
    match x:
        case types.Array():
            return lambda x: x.copy()
        case types.List() | types.UniTuple() | types.Tuple():
            return of_each(runtime.copy, "x", x)
        case types.Number() | types.Boolean() | types.UnicodeType() | types.NoneType():
            return lambda x: x
    return None


def of_each(function: Callable, parameters: str, container: types.Type) -> Callable:
    """Return a function of lists, or of tuples, that applies `function` to the items at each place; the last is of the type `container`."""
    call = f"f({', '.join(f'{p}[{{0}}]' for p in parameters)})"
    if isinstance(container, types.List):
        items = f"[{call.format('i')} for i in range(len({parameters[-1]}))]"
    else:
        items = "(" + "".join(f"{call.format(k)}, " for k in range(len(container))) + ")"
    return load(f"def each({', '.join(parameters)}):\n    return {items}\n", "each", {"f": function})


@overload(runtime.add)
def _add(a, b):
    if isinstance(a, types.NoneType):
        return lambda a, b: b
    if isinstance(b, types.NoneType):
        return lambda a, b: a
    if isinstance(a, types.List) and isinstance(b, types.List):
        return of_each(runtime.add, "ab", b)
    if isinstance(a, types.BaseTuple) and isinstance(b, types.BaseTuple) and len(a) == len(b):
        return of_each(runtime.add, "ab", b)
    if isinstance(a, types.Array | types.Number) and isinstance(b, types.Array | types.Number):
        return lambda a, b: a + b
    return None


@overload(runtime.without)
def _without(d, key):
    if not isinstance(d, types.DictType):
        return None

    def without(d, key):
        rest = d.copy()
        del rest[key]
        return rest

    return without


@overload(runtime.unbroadcast)
def _unbroadcast(d, x):
    match d, x:
        case types.Array() | types.Number(), types.Number() | types.Boolean():
            if isinstance(x, types.Complex) or isinstance(getattr(d, "dtype", d), types.Complex):
                return None
            to = np.float32 if x is types.float32 else np.float64
            return (lambda d, x: to(d.sum())) if isinstance(d, types.Array) else lambda d, x: to(d)
        case types.Number(), types.Array() if not isinstance(d, types.Complex):
            return lambda d, x: np.full(x.shape, d, x.dtype)
        case types.Array(), types.Array() if isinstance(x.dtype, types.Float) and isinstance(d.dtype, types.Float):
            made = types.Array(x.dtype, x.ndim, "C")
            summed = interpreted.call(lambda d, x: np.ascontiguousarray(runtime.unbroadcast(d, x)), ["d", "x"], [d, x], made)
            if d.ndim != x.ndim or d.dtype != x.dtype:
                return summed
            summed = register_jitable(summed)
            return lambda d, x: d if d.shape == x.shape else summed(d, x)
    return None


@overload(runtime.split_like)
def _split_like(d_y, arrays, axis=0):
    """Return the cotangents of concatenated vectors, which are consecutive views."""
    if not (isinstance(arrays, types.BaseTuple) and isinstance(d_y, types.Array) and all(isinstance(a, types.Array) for a in arrays)):
        return None
    if any(a.ndim != 1 or a.dtype != d_y.dtype for a in arrays) or d_y.ndim != 1 or not isinstance(axis, int | types.Integer):
        return None
    lines = ["def split(d_y, arrays, axis=0):", "    end_0 = 0"]
    lines += [f"    end_{k + 1} = end_{k} + len(arrays[{k}])" for k in range(len(arrays))]
    lines.append(f"    return ({''.join(f'd_y[end_{k}:end_{k + 1}], ' for k in range(len(arrays)))})")
    return load("\n".join(lines) + "\n", "split", {})


@overload(runtime.like_sequence)
def _like_sequence(d, x):
    if isinstance(x, types.List | types.BaseTuple):
        return of_each(runtime.like_sequence, "dx", x)
    return lambda d, x: runtime.unbroadcast(d, x)


@overload(runtime.seed)
def _seed(y):
    number = isinstance(y, types.Float | types.Integer) or isinstance(y, types.Array) and y.ndim == 0 and y.dtype == types.float64
    return (lambda y: 1.0) if number else None


@overload(abs)
def _abs(x):
    return (lambda x: np.abs(x)) if isinstance(x, types.Array) else None


@overload(chosen)
def _chosen(condition, a, b):
    if all(isinstance(t, types.Number | types.Boolean) for t in (condition, a, b)):
        return lambda condition, a, b: a if condition else b
    return lambda condition, a, b: np.where(condition, a, b)


@overload(operator.iadd)
def _added_to(x, y):
    number = isinstance(x, types.Number) and isinstance(y, types.Array) and y.ndim == 0
    return (lambda x, y: x + y[()]) if number else None


@overload(float)
def _float(x):
    return (lambda x: float(x[()])) if isinstance(x, types.Array) and x.ndim == 0 else None


# ---- elementwise ----


@overload(runtime.lower_exponent)
def _lower_exponent(b, a):
    floats = isinstance(getattr(a, "dtype", a), types.Float) and isinstance(getattr(b, "dtype", b), types.Float | types.Integer)
    if not floats or isinstance(b, types.Array) and not isinstance(b.dtype, types.Float):
        return None
    if isinstance(b, types.Number) and isinstance(a, types.Number):
        return lambda b, a: 1.0 if b == 0 and a == 0 else b - 1.0
    one = dtype_of(getattr(b, "dtype", None) or a.dtype).type(1)
    if isinstance(b, types.Integer):  # an array of integers, as of NumPy's own numbers
        return lambda b, a: np.where((a == 0) & (b == 0), np.full(a.shape, 1), np.full(a.shape, b - 1))
    if isinstance(b, types.Number):
        return lambda b, a: np.where((a == 0) & (b == 0), np.full(a.shape, one), np.full(a.shape, b * one - one))
    return lambda b, a: np.where((b == 0) & (a == 0), one, b * one - one)


@overload(runtime.divide_or_zero)
def _divide_or_zero(x, y):
    if isinstance(x, types.Number) and isinstance(y, types.Number):
        return lambda x, y: 0.0 if y == 0 else x / y
    return None


@overload(runtime.sigmoid)
def _sigmoid(x):
    return (lambda x: 1 / (1 + np.exp(-x)) if x >= 0 else np.exp(x) / (1 + np.exp(x))) if isinstance(x, types.Number) else None


# ---- lists ----


@overload(runtime.sorted_order)
def _sorted_order(keys, reverse=False):
    if not (isinstance(keys, types.List) and isinstance(keys.dtype, types.Number)):
        return None

    def order(keys, reverse=False):
        """Return the order by insertion sort, which is stable."""
        places = [0 for _ in range(0)]
        for i in range(len(keys)):
            k = len(places)
            while k > 0 and (keys[places[k - 1]] < keys[i] if reverse else keys[i] < keys[places[k - 1]]):
                k -= 1
            places.insert(k, i)
        return places

    return order


@overload(runtime.best_place)
def _best_place(keys, largest):
    if not (isinstance(keys, types.List) and isinstance(keys.dtype, types.Number)):
        return None

    def place(keys, largest):
        best = 0
        for i in range(1, len(keys)):
            if (keys[i] > keys[best]) if largest else (keys[i] < keys[best]):
                best = i
        return best

    return place


@overload(runtime.slice_bounds)
def _slice_bounds(n, lower, upper):
    def bounds(n, lower, upper):
        start = end(n, 0 if lower is None else lower)
        return start, max(start, end(n, n if upper is None else upper))

    return bounds


@register_jitable
def end(n, k):
    """Return the position where a slice of n items begins or ends if its bound is written as `k`."""
    return min(max(k + n if k < 0 else k, 0), n)


# ---- subscripts that Numba does not support: lists of integers, several integer arrays, masks beside other keys; and `np.add.at` ----


def is_fancy(key: types.Type) -> bool:
    """Return whether a subscript is one that Numba does not support for arrays."""
    items = list(key) if isinstance(key, types.BaseTuple) else [key]
    arrays = [i for i in items if isinstance(i, types.Array) and i.ndim]
    lists = [i for i in items if isinstance(i, types.List)]
    ranges = any(isinstance(i, types.RangeType) for i in items)
    if lists and not all(isinstance(i.dtype, types.Integer | types.Boolean) for i in lists):
        return False
    masks = any(a.dtype == types.boolean for a in arrays)
    return bool(lists) or ranges or len(arrays) > 1 or masks and (len(items) > 1 or arrays[0].ndim > 1)


@overload(operator.getitem, target="cpu")  # takes precedence over Numba's own, which are for any target
def _getitem(x, key):
    if not (isinstance(x, types.Array) and is_fancy(key)):
        return None
    part = interpreted.example(x)[interpreted.example(key)]
    made = types.Array(x.dtype, part.ndim, "C")
    return interpreted.call(lambda x, key: np.ascontiguousarray(x[key]), ["x", "key"], [x, key], made)


@overload(operator.getitem, target="cpu")
def _getitem_of_a_range(x, key):
    if not (isinstance(x, types.RangeType) and isinstance(key, types.Integer)):
        return None

    def member(x, key):
        place = key + len(x) if key < 0 else key
        if not 0 <= place < len(x):
            raise IndexError("range object index out of range")
        return x.start + place * x.step

    return member


@overload(operator.setitem, target="cpu")
def _setitem(x, key, value):
    if not (isinstance(x, types.Array) and is_fancy(key)):
        return None
    return interpreted.call(operator.setitem, ["x", "key", "value"], [x, key, value], None)


def overload_at(function: Callable, at: Callable, plus: Callable) -> None:
    """Register the overload of `function(x, key, value)`, which is `x[key] = plus(x[key], value)`, and `at` where indices may repeat."""

    def in_place(x, key, value):
        x[key] = plus(x[key], value)

    def to_each(x, key, value):
        for k in range(len(key)):
            x[key[k]] = plus(x[key[k]], value)

    def to_places(x, key, value):
        if len(value) != len(key) and len(value) != 1:
            raise ValueError("the values do not fit the places that they are added to")
        step = len(value) != 1
        for k in range(len(key)):
            x[key[k]] = plus(x[key[k]], value[k * step])

    @overload(function)
    def choose(x, key, value):
        if is_row(x, key, value):
            return to_each
        if is_row(x, key, getattr(value, "dtype", None)) and value.ndim == 1:
            return to_places
        return interpreted.call(at if may_repeat(key) else in_place, ["x", "key", "value"], [x, key, value], None)


overload_at(add_at, np.add.at, operator.iadd)
overload_at(subtract_at, np.subtract.at, operator.isub)


def may_repeat(key: types.Type) -> bool:
    """Return whether a subscript may select an element twice."""
    items = key if isinstance(key, types.BaseTuple) else [key]
    return any(isinstance(i, types.Array | types.List | types.RangeType) for i in items)


def is_row(x: types.Type, key: types.Type, value: types.Type) -> bool:
    """Return whether a number is added to the elements of a vector that an integer vector selects."""
    return (
        isinstance(x, types.Array)
        and x.ndim == 1
        and isinstance(key, types.Array)
        and key.ndim == 1
        and isinstance(key.dtype, types.Integer)
        and isinstance(value, types.Number)
    )
