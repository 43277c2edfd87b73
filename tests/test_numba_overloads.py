"""What sourcead adds to Numba gives what the Python functions give."""

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from sourcead import runtime  # noqa: E402
from sourcead.backends.numba import compile as compiling  # noqa: E402, F401  (registers what is tested)
from sourcead.backends.numba.functions import add_at, apart, reserved, subtract_at  # noqa: E402

pytestmark = pytest.mark.compiled

X = np.arange(12.0).reshape(3, 4) - 5
V = np.array([1.0, -2.0, 0.0, 3.0])
PLACES = np.array([0, 2, 2])
F = V.astype(np.float32)


def equal(a, b):
    if isinstance(b, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            equal(x, y)
    else:
        np.testing.assert_array_equal(a, b)
        assert np.asarray(a).dtype == np.asarray(b).dtype


CASES = {
    "zeros like an array": (runtime.zeros_like, (X,)),
    "zeros like float32": (runtime.zeros_like, (F,)),
    "zeros like integers": (runtime.zeros_like, (PLACES,)),
    "zeros like a number": (runtime.zeros_like, (2.0,)),
    "zeros like an integer": (runtime.zeros_like, (2,)),
    "zeros like a tuple": (runtime.zeros_like, ((X, 1.0, V),)),
    "zeros like texts and numbers": (runtime.zeros_like, ((2.0, ("a", None), V),)),
    "zeros of what is assigned": (runtime.zeros_if_assigned, (V,)),
    "absolute values": (abs, (X,)),
    "absolute values of integers": (abs, (PLACES - 1,)),
    "absolute values of a slice": (abs, (X[::-1, 1:],)),
    "absolute value of a number": (abs, (-2.5,)),
    "number of an array without axes": (float, (np.array(2.5),)),
    "number of integers without axes": (float, (np.array(3),)),
    "number as a float": (float, (3,)),
    "copy": (runtime.copy, ((X, 1.0, V),)),
    "add arrays": (runtime.add, (X, X)),
    "add tuples": (runtime.add, ((X, 1.0), (X, 2.0))),
    "add nothing": (runtime.add, (None, X)),
    "to nothing": (runtime.add, (X, None)),
    "unbroadcast to the same shape": (runtime.unbroadcast, (X, X)),
    "unbroadcast rows": (runtime.unbroadcast, (X, V)),
    "unbroadcast columns": (runtime.unbroadcast, (X, X[:, :1])),
    "unbroadcast a number": (runtime.unbroadcast, (2.5, X)),
    "unbroadcast to a number": (runtime.unbroadcast, (X, 2.5)),
    "unbroadcast a number to a number": (runtime.unbroadcast, (2, 2.5)),
    "unbroadcast to float32": (runtime.unbroadcast, (X, F)),
    "unbroadcast what is smaller": (runtime.unbroadcast, (V, X)),
    "parts of vectors put together": (runtime.split_like, (np.arange(9.0), (V, F.astype(float)[:1], V), 0)),
    "parts of vectors without an axis": (runtime.split_like, (np.arange(8.0), (V, V))),
    "like a tuple": (runtime.like_sequence, (V[:2], (1.0, 2.0))),
    "lower exponent": (runtime.lower_exponent, (2.0, 3.0)),
    "lower exponent at zero": (runtime.lower_exponent, (0.0, V)),
    "lower exponents": (runtime.lower_exponent, (V, V)),
    "lower exponents of a number": (runtime.lower_exponent, (V, 0.0)),
    "divide": (runtime.divide_or_zero, (3.0, 2.0)),
    "divide by zero": (runtime.divide_or_zero, (3.0, 0.0)),
    "bounds": (runtime.slice_bounds, (5, -2, None)),
    "bounds beyond": (runtime.slice_bounds, (5, 3, 9)),
    "bounds in the wrong order": (runtime.slice_bounds, (5, 4, -4)),
    "bounds before": (runtime.slice_bounds, (5, None, -9)),
    "stop": (runtime.stop_gradient, (V,)),
    "seed": (runtime.seed, (2.0,)),
    "room": (reserved, (V, 4, 0)),
}


@pytest.mark.parametrize("name", CASES)
def test_functions_of_the_runtime(name):
    f, args = CASES[name]
    equal(numba.njit(error_model="numpy")(lambda *a: f(*a))(*args), f(*args))


def test_lists():
    def lists(x):
        items = [v * v for v in x]
        best = runtime.best_place(items, True), runtime.best_place(items, False)
        return (
            runtime.zeros_like(items), runtime.copy(items), runtime.add(items, items), best,
            runtime.sorted_order(items, reverse=True), runtime.sorted_order(items), runtime.like_sequence(x, items),
        )  # fmt: skip

    x = np.array([2.0, -1.0, 3.0, -2.0, -3.0, 1.0])  # with ties
    equal(numba.njit(lists)(x), lists(x))


def test_room_is_made_and_what_was_there_stays():
    made = numba.njit(lambda stack: reserved(stack, 3, 9))(V)
    assert len(made) >= 12
    np.testing.assert_array_equal(made[:3], V[:3])


SUBSCRIPTS = {
    "lists": lambda x, i: x[[0, 2]],
    "lists and numbers": lambda x, i: x[[0, 2], 1],
    "several arrays": lambda x, i: x[i, i],
    "an array and a slice": lambda x, i: x[1:, i],
    "arrays apart": lambda x, i: x.reshape(1, 3, 4)[:, i, i],
    "a mask": lambda x, i: x[x > 0],
    "a mask and a slice": lambda x, i: x[x[:, 0] > -2, 1:],
    "a range": lambda x, i: x[range(3), i],
    "a slice backwards": lambda x, i: x[i, ::-1],
    "two axes of places": lambda x, i: x[np.array([[0, 1], [2, 0]])],
}


@pytest.mark.parametrize("name", SUBSCRIPTS)
def test_subscripts_are_read(name):
    equal(numba.njit(SUBSCRIPTS[name])(X, PLACES), SUBSCRIPTS[name](X, PLACES))


def written_lists(x, i):
    x[[0, 2]] = 7.0


def written_arrays(x, i):
    x[i, i] = np.array([1.0, 2.0, 3.0])


def written_mask(x, i):
    x[x > 0] = -1.0


def added_rows(x, i):
    add_at(x, i, 2.0)


def added_places(x, i):
    add_at(x, (i, i), np.array([1.0, 2.0, 3.0]))


def added_to_vector(x, i):
    add_at(x[0], i, np.array([1.0, 2.0, 3.0]))


def added_one(x, i):
    add_at(x[0], i, 2.5)


def added_first(x, i):
    add_at(x[0], i, np.array([2.5]))


def added_to_all(x, i):
    add_at(x, ..., 1.0)


def subtracted(x, i):
    subtract_at(x, (i, slice(1, None)), 1.5)


def added_apart(x, i):
    x[::-1] += apart(x, x)


def added_from_elsewhere(x, i):
    x[1:] += apart(x[:-1], x)


@pytest.mark.parametrize(
    "write",
    [
        written_lists, written_arrays, written_mask, added_rows, added_places, added_to_vector, added_one, added_first,
        added_to_all, subtracted, added_apart, added_from_elsewhere,
    ],
)  # fmt: skip
def test_subscripts_are_written(write):
    got, expected = X.copy(), X.copy()
    numba.njit(write)(got, PLACES)
    write(expected, PLACES)
    equal(got, expected)


def test_values_that_do_not_fit_their_places_are_an_error():
    with pytest.raises(ValueError):
        numba.njit(added_to_vector)(X.copy(), np.array([0, 1]))


def test_what_is_apart_is_not_copied():
    def shares(a, b):
        kept = apart(a, b)
        kept[0] = 9.0
        return a[0]

    f, a = numba.njit(shares), np.zeros(6)
    assert f(np.zeros(3), np.zeros(3)) == 9.0
    assert f(a[:4], a[3:]) == 0.0
    assert f(a[:3], a[3:]) == 9.0
