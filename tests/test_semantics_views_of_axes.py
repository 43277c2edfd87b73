"""Which functions that change the order of axes, or take arrays apart, give views and which copies, as far as types tell."""

import numpy as np
import pytest

from sourcead import AliasError, grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(2)

X = np.array([[1.3, 2.1, -0.7], [0.4, 0.9, 1.7]])


def matrix_transposed(x):
    y = x * 1.0
    t = y.mT
    y[0] = x[1] ** 2
    t[1] *= 3.0
    return np.sum(t**2) + y[0, 1]


def matrix_transposed_by_name(x):
    y = np.stack([x, x * x])
    t = np.linalg.matrix_transpose(y)
    t[0, 1] = x[1, :2]
    return np.sum(y**2) * t[1, 2, 0]


def axes_exchanged_by_einsum(x):
    y = x * 1.0
    t = np.einsum("ij->ji", y)
    t *= x[0, 0]
    return np.sum(y**2)


def axes_rotated_by_einsum(x):
    y = np.stack([x, x * x])
    t = np.einsum("kij -> jki", y)
    y[0] *= 2.0
    t[1, 1] = x[:, 0]
    return np.sum(t**2) + np.sum(y**3)


def axes_kept_by_einsum(x):
    y = x * 1.0
    t = np.einsum(y, [0, 1], [0, 1]).ravel()
    t[0] = x[-1, -1] ** 2
    return np.sum(y**2)


def array_that_is_copied(x):
    y = x * 1.0
    t = np.asarray(y, copy=True)
    u = np.asanyarray(y, dtype=float, copy=True)
    y[0] = 1.0
    t[1] *= x[0]
    return np.sum(t**2) + np.sum(u * y)


def array_that_is_not_copied(x):
    y = x * 1.0
    t = np.asarray(y, copy=None)
    y[0] = x[1]
    t[1] *= x[0]
    return np.sum(t**2) + np.sum(y)


def rows_taken_apart(x):
    y = x * 1.0
    a, b = np.unstack(y)
    y[0] = x[1] ** 2
    b[1] = x[0, 0]
    return np.sum(a * b) + np.sum(y**2)


def columns_taken_apart(x):
    y = x * 1.0
    columns = np.unstack(y, axis=-1)
    columns[-1][:] = columns[0] * columns[1]
    return np.sum(y**3)


def numbers_taken_apart(x):
    y = x[0] * x[1]
    a, b, c = np.unstack(y)
    y[0] = 5.0
    return a * b + c * y[0]


def flat_copy_of_a_transposed_array(x):
    y = x * 1.0
    copies = y.T.ravel(), y.swapaxes(0, 1).ravel(), np.moveaxis(y, 0, 1).reshape(-1), y.mT.ravel(), np.transpose(y, (1, 0)).ravel()
    for k, t in enumerate(copies):
        t[0] = x[-1, -1] * k
    return sum(np.sum(t**2) for t in copies) + np.sum(y**3)


def flat_copy_of_more_axes(x):
    y = np.outer(x, x).reshape(2, 3, 6)
    t = y.transpose(1, 0, 2).ravel()
    t[1] = x[0, 0]
    return np.sum(t * np.arange(36.0)) + np.sum(y**2)


def flat_view_of_axes_in_their_order(x):
    y = x * 1.0
    t, u = np.transpose(y, (0, 1)).ravel(), np.swapaxes(y, 1, 1).reshape(-1)
    t[0] = x[-1, -1] ** 2
    u[1] *= x[0, 0]
    return np.sum(y**2)


def flat_view_past_an_axis_of_length_one(x):
    y = np.expand_dims(x * 1.0, 1)
    t = y.transpose(1, 0, 2).ravel()
    t[0] = x[-1, -1] ** 2
    return np.sum(y**3)


def flat_copies_by_columns(x):
    y = x * 1.0
    copies = y.ravel(order="F"), y.reshape(-1, order="F"), y.reshape((3, 2), order="F"), np.ravel(y, "F")
    for k, t in enumerate(copies):
        t[0] = x[-1, -1] * k
    return sum(np.sum(t**2) for t in copies) + np.sum(y**3)


def flat_copies_of_parts(x):
    y = x * 1.0
    copies = y[:, ::-1].ravel(), y[:, 1:].reshape(-1), y[::-1, ::-1].ravel(), np.flipud(y).ravel()
    copies = *copies, y[:, 0].ravel(), y.T[1:].reshape(4, 1)
    for k, t in enumerate(copies):
        t[0] = x[-1, -1] * k
    return sum(np.sum(t**2) for t in copies) + np.sum(y**3)


def row_flattened_by_columns(x):
    y = x * 1.0
    t = y[0].ravel(order="F")
    t[1] = x[1, 1] ** 2
    return np.sum(y**3)


PROGRAMS = [value for value in list(globals().values()) if getattr(value, "__module__", None) == __name__]


@pytest.mark.parametrize("f", [f for f in PROGRAMS if hasattr(np, "unstack") or not f.__name__.endswith("taken_apart")])
def test_views_and_copies(f):
    assert judged_in_all_modes(f, X) == "right"


@pytest.mark.parametrize("f", [flat_view_past_an_axis_of_length_one, flat_copy_of_a_transposed_array])
def test_axes_of_many_sizes(f):
    assert judged_in_all_modes(f, np.linspace(-1.0, 2.0, 108).reshape(12, 9)) == "right"
    assert judged_in_all_modes(f, np.linspace(-1.0, 2.0, 12).reshape(12, 1)) == "right"


@pytest.mark.parametrize("f", [
    lambda y: y[::-1, ::-1].reshape(-1), lambda y: y[:, 1:2].reshape(-1), lambda y: y.T.ravel(order="F"), lambda y: y.T.reshape(-1, 2),
])
def test_what_is_a_view_where_a_copy_might_be_expected_is_not_taken_for_one(f):
    def program(x):
        y = x * 1.0
        t = f(y)
        t[0] = 5.0
        return np.sum(t**2) + np.sum(y**3)

    judged_in_all_modes(program, X)


def test_columns_whose_number_is_not_known_may_be_one():
    def f(x):
        n = 0
        while n < x[0, 0]:
            n += 1
        y = x[:, :n] * 1.0
        t = y.T.ravel()
        t[0] = 3.0
        return np.sum(t**2) + np.sum(y**2)

    with pytest.raises(AliasError):
        grad(f)(X)
