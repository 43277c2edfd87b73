"""Gradients, pullbacks and products with the Hessian have the structure, the shape and the dtype of the argument."""

import copy
import math

import numpy as np
import pytest

from sourcead import hvp, value_and_grad, vjp
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

F32 = np.float32


def problems(d, x, where="x"):
    """What differs in form between the gradient `d` and the argument `x`."""
    if isinstance(x, dict):
        if list(d) != list(x):
            return [f"{where}: keys {list(d)}"]
        return [p for k in x for p in problems(d[k], x[k], f"{where}[{k!r}]")]
    if isinstance(x, (list, tuple)):
        if type(d) is not type(x) or len(d) != len(x):
            return [f"{where}: {type(d).__name__}"]
        return [p for i, (a, b) in enumerate(zip(d, x)) for p in problems(a, b, f"{where}[{i}]")]
    if isinstance(x, np.ndarray):
        same = isinstance(d, np.ndarray) and (d.shape, d.dtype) == (x.shape, x.dtype)
    elif isinstance(x, np.float32):
        same = type(d) is np.float32
    else:
        same = isinstance(d, float)
    return [] if same else [f"{where}: {type(d).__name__} {getattr(d, 'dtype', '')} {np.shape(d)}"]


def sum_of_math(x):
    return math.fsum(x) ** 2


def summed_in_a_loop(x):
    total = 0.0
    for v in x:
        total = total + np.sum(v) * 2
    return total


def summed_by_a_generator(x):
    return sum(np.sum(q) for q in x) + np.sum(x[0])


def pairs_of_neighbours(x):
    return sum(np.sum(a * b) for a, b in zip(x, x[1:]))


def only_one_is_read(x):
    return np.sum(x[0] * 1.0)


def chosen_by_value(x):
    y = x[0] if np.sum(x[0]) > 0 else x[-1]
    return np.sum(y**2)


def in_a_callee(x):
    def f(a, *b):
        return np.sum(a * 2) + sum(np.sum(c) for c in b)

    return f(*x)


def largest(x):
    return max(x) * 2


def in_a_while_loop(x):
    i, total = 0, 0.0
    while i < len(x):
        total = total + np.sum(x[i]) ** 2
        i += 1
    return total


V = np.array([1.0, 2.0])
NUMBERS = [[1.0, 2.0], (1.0, 2.0), [F32(1), F32(2)], (F32(1), F32(2)), [1.0, F32(2)], V, V.astype(F32)]
ARRAYS = [[V, V * 2], (V, V + 1), [V.astype(F32), V.astype(F32)], (V.astype(F32), V), [np.array(1.0), np.array(2.0)]]
SEQUENCES = [
    (f, x)
    for f in (
        sum_of_math, summed_in_a_loop, summed_by_a_generator, pairs_of_neighbours, only_one_is_read, chosen_by_value, in_a_callee,
        largest, in_a_while_loop,
    )
    for x in [*NUMBERS, *([] if f in (sum_of_math, largest) else ARRAYS)]
    if f is not pairs_of_neighbours or x is not V
]  # fmt: skip


def array_on_one_path(x):
    n = 3
    if n > 1:
        x = np.array([x, x])
    return np.sum(np.asarray(x) * 1.0)


def scaled_in_a_loop(x):
    for _ in range(3):
        x = x * 1.5
    return np.sum(x)


def written_into_an_array(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x * i
    return y.sum()


SCALARS = [(f, x) for f in (array_on_one_path, scaled_in_a_loop, written_into_an_array) for x in (1.0, F32(1), np.array(1.0))]


def key_added_in_a_loop(x):
    for _ in range(1):
        x.update(b=x["a"] * 1.0)
    return np.sum(x["b"] ** 2)


def values_of_a_dict(x):
    return sum(np.sum(v) for v in x.values())


NAMED = {"a": 1.0, "b": 2.0}, {"a": V, "b": V + 1}, {"b": V.astype(F32), "a": V}
DICTS = [(f, x) for f in (key_added_in_a_loop, values_of_a_dict) for x in NAMED]


@pytest.mark.parametrize(("f", "x"), [*SEQUENCES, *SCALARS, *DICTS], ids=lambda v: getattr(v, "__name__", None))
def test_form(f, x):
    _, gradient = value_and_grad(f, verify=False)(copy.deepcopy(x))
    _, pullback = vjp(f, copy.deepcopy(x), wrt=0, verify=False)
    product = hvp(f, verify=False)(copy.deepcopy(x), copy.deepcopy(x))
    assert [problems(d, x) for d in (gradient, pullback(1.0), product)] == [[], [], []]


def test_number_that_may_become_an_array():
    def f(y, n):
        if n > 1:
            y = np.array([y, y])
        return np.sum(np.asarray(y) * 1.0)

    for n, slope in ((1, 1.0), (2, 2.0)):
        _, gradient = value_and_grad(f, verify=False)(0.3, n)
        assert type(gradient) is float and gradient == slope


def sum_of_an_item(x):
    items = [math.fsum(x), 2]
    items.pop()
    return sum((items[-1],)) * x[0]


def sum_of_repeated(x):
    items = [q * 1.0 for q in x]
    return math.fsum(np.repeat(items, 2)) ** 2


def clip_with_bounds_crossed(x):
    return np.sum(np.clip(x, 0.5, 0.3 * x)) + np.sum(np.clip(0.25, x, 0.29)) + np.sum(np.clip(0.25, 0.45, x) * x)


def clip_between_variables(x):
    return np.sum(np.clip(x, x[0] * 2, x[1] * 1.2) ** 2)


def array_is_not_copied(x):
    y = np.array(x, copy=None)
    np.add(y, 2, out=y)
    return x.sum() * x[0] + (y is x)


def array_is_copied(x):
    y = np.array(x, copy=True)
    x[0] *= 3
    return (x * y).sum()


def astype_is_not_copied(x):
    y = x.astype(float, copy=False)
    x /= 2
    return (y * x).sum()


def astype_written(x):
    for i in range(2):
        y = x.astype("float64", copy=False)
        y[i] *= 3
    return (x * x).sum()


def astype_in_a_callee(x):
    def same(v):
        return v.astype(np.float64, copy=False)

    same(x)[0] = 5
    return (x * x).sum()


def astype_of_another_dtype(x):
    y = x.astype(complex, copy=False)
    x[0] *= 3
    return np.sum(x * np.real(y))


def asarray_with_dtype(x):
    y = np.asarray(x, dtype=float)
    x[0] = 2 * x[1]
    return np.sum(y * y)


def array_of_a_list(x):
    y = np.array([x, x], copy=None)
    x[0] = 2
    return np.sum(y * y)


PROGRAMS = [
    sum_of_an_item, sum_of_repeated, clip_with_bounds_crossed, clip_between_variables, array_is_not_copied, array_is_copied,
    astype_is_not_copied, astype_written, astype_in_a_callee, astype_of_another_dtype, asarray_with_dtype, array_of_a_list,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f):
    assert judged_in_all_modes(f, np.array([0.1, 0.3, 0.5])) == "right"
