"""Where several columns at once would be wrong the columns come one after the other: subscripts, ranks, lists, numbers for arrays.

Parts of two columns have lengths that coincide with those of the arrays, so that a wrong broadcast would not fail.
"""

import numpy as np
import pytest

from sourcead import hessian, jacobian, jvp
from sourcead.api import jacobians

pytestmark = pytest.mark.sampled(3)

X = np.random.default_rng(0).normal(size=(3, 2, 4))
ROWS = np.array([0, 2])


def arrays_apart(x):
    return x[ROWS, ..., 0] * 2


def arrays_apart_twice(x):
    return np.sum(x[ROWS, ..., ROWS] * np.arange(2.0), axis=0)


def arrays_around_a_new_axis(x):
    return x[ROWS, None, :, 1] ** 2


def array_behind_an_ellipsis(x):
    return x[..., ROWS] ** 2


def mask_of_two_axes(x):
    return x[:, np.array([[True, False, True, False], [False, True, True, False]])] * x[0, 0, 0]


def tuple_as_a_subscript(x):
    total = np.zeros(2)
    for place in [(0, 1, 2), (1, 0, 3)]:
        total = total + x[place] * x[0, 0, :2]
    return total


def slice_as_a_subscript(x):
    total = np.zeros((2, 4))
    for part in (slice(0, 1), slice(1, 2)):
        total = total + x[part][0] ** 2
    return total


def value_of_higher_rank(x):
    y = np.zeros((3, 2))
    y[1] = np.reshape(x[0, 0, :2], (1, 2))
    return y * 2


def writes_apart(x):
    y = np.zeros((4, 3, 5))
    y[ROWS, ..., 1] = x[0, 0, :3]
    return y


def rank_from_a_number(x):
    return np.ascontiguousarray(np.sum(x)) * x


def number_before_arrays(x):
    total = 0.0
    for i in range(3):
        total = total + x[np.arange(2), np.array([0, 1])] * i * x[i, 0, 0]
    return total


def element_before_arrays(x):
    total, v = x[0, 0, 0], np.reshape(x, -1)
    for _ in range(3):
        total = total + v * total
    return total


def element_or_array(x):
    v = np.reshape(x, -1)
    for i in range(2):
        total = x[0, 0, 0] if i == 0 else v
    return total * v


def list_filled_before(x):
    held, total = [], np.zeros((2, 4))
    for i in range(3):
        held.append(np.ones((2, 4)) * i)
        longer = list(held)
        longer.append(x[i] ** 2)
        last, before = longer.pop(), longer.pop()
        total = total + last * before
    return total


def list_of_both(x):
    held, total = [], np.zeros((2, 4))
    for i in range(3):
        if i == 1:
            held.append(x[1] * x[0])
        else:
            held.append(np.ones((2, 4)))
    while held:
        total = total * 0.5 + held.pop()
    return total


def no_iterations(x):
    h = x[0]
    for i in range(x.shape[0] - 3):
        h = h * x[i]
    return h


def argument_is_written(x):
    x[0] *= 2
    x[1] += x[0]
    return x * x


FUNCTIONS = [f for f in list(globals().values()) if getattr(f, "__module__", "") == __name__]
SINGLE = {
    arrays_apart, arrays_apart_twice, arrays_around_a_new_axis, value_of_higher_rank, writes_apart, rank_from_a_number,
    number_before_arrays, element_or_array,
}  # fmt: skip


@pytest.mark.parametrize("columns", [32, 2])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_columns_are_right(f, columns, monkeypatch):
    monkeypatch.setattr(jacobians, "COLUMNS", columns)
    made = jacobian(f, mode="forward")
    got = made(X.copy())
    units = np.eye(X.size).reshape(X.size, *X.shape)
    expected = np.stack([jvp(f, (X.copy(),), (unit,))[1] for unit in units], axis=-1).reshape(got.shape)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)
    if f in SINGLE:
        assert "columns" not in made.source


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_hessians_are_right(f, monkeypatch):
    monkeypatch.setattr(jacobians, "COLUMNS", 2)

    def loss(x):
        return np.sum(f(x) ** 2)

    at_once, single = hessian(loss), hessian(loss)
    single._wide = None
    np.testing.assert_allclose(at_once(X.copy()), single(X.copy()), rtol=1e-12, atol=1e-13)


def made_by_the_class_of_arrays(x):
    rows, columns = x.shape
    y = np.ndarray((rows, columns), dtype=x.dtype)
    for k in range(columns):
        y[:, k] = x[:, k] ** 3
    return np.sum(y * x)


def test_an_array_made_by_its_class_has_a_hessian():
    x = np.arange(1.0, 7.0).reshape(2, 3)
    np.testing.assert_allclose(hessian(made_by_the_class_of_arrays)(x).reshape(6, 6), np.diag(12 * x.ravel() ** 2))
