"""Arrays that are made, walked through or reshaped by columns: `order="F"` by position and by name, with writes on both sides."""

import numpy as np
import pytest

from tests.semantics import judged, judged_in_all_modes

M = np.array([[0.5, 1.5, -0.4], [2.5, -1.2, 0.8]])
WEIGHTS = np.cos(np.arange(6.0) * 1.7)
TABLE = WEIGHTS.reshape(2, 3) ** 2


def transposed_and_walked_by_columns(m):
    return m.T.ravel(order="F") @ WEIGHTS


def transposed_under_a_name(m):
    turned = np.transpose(m)
    flat = np.ravel(turned, order="F")
    return flat @ WEIGHTS


def reshaped_by_columns(m):
    return (m * 2).T.reshape(-1, order="F") @ WEIGHTS


def transposed_in_a_function(m):
    def flat(a):
        return np.reshape(a, -1, order="F")

    return flat(m.T) @ WEIGHTS


def order_from_a_name(m):
    total = 0.0
    for order in ("F", "C"):
        total = total * 2 + m.T.ravel(order) @ WEIGHTS
    return total


@pytest.mark.parametrize("f", [
    transposed_and_walked_by_columns, transposed_under_a_name, reshaped_by_columns, transposed_in_a_function, order_from_a_name,
])  # fmt: skip
def test_the_elements_of_a_transposed_matrix_by_columns(f):
    assert judged_in_all_modes(f, M) == "right"


def array_written_after(walk):
    def f(m):
        o = m * 2
        w = walk(o)
        o[0, 1] = 5 * m[0, 0]
        return np.sum(o * TABLE) + np.reshape(w, -1) @ WEIGHTS

    return f


def walk_written_after(walk):
    def f(m):
        o = m * 2
        w = walk(o)
        w[1] = 5 * m[0, 0]
        return np.sum(o * TABLE) + np.reshape(w, -1) @ WEIGHTS

    return f


WALKS = {
    "a copy by columns": lambda o: np.ravel(o, "F"),
    "a copy by columns, of reshape": lambda o: np.reshape(o, -1, "F"),
    "a view by columns of the transposed": lambda o: np.ravel(o.T, "F"),
    "the same, by name": lambda o: o.T.ravel(order="F"),
    "the same, of reshape": lambda o: o.T.reshape(-1, order="F"),
    "a matrix by columns, then by rows": lambda o: np.reshape(o, (3, 2), "F").ravel(),
    "an array in order F, then by rows": lambda o: (np.zeros((2, 3), float, "F") + o).ravel(),
    "a copy in order F, then by columns": lambda o: o.copy("F").ravel("F"),
}


@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
@pytest.mark.parametrize("written", [array_written_after, walk_written_after])
def test_what_is_walked_by_columns_is_the_view_or_copy_that_numpy_makes(written, walk):
    judged(written(walk), M)  # right or refused: a view that is not known to be one is not written


def matrix_by_columns_written(m):
    o = np.reshape(m.ravel() * 2, (2, 3), "F")
    by_rows = o.ravel()  # a copy
    o[0, 1] = 5 * m[0, 0]
    return np.sum(o * TABLE) + by_rows @ WEIGHTS


def array_in_order_f_written(m):
    o = np.empty((2, 3), float, "F")
    o[:] = m
    by_rows = o.reshape(-1)  # a copy
    by_rows[1] = 5 * m[0, 0]
    return np.sum(o * TABLE) + by_rows @ WEIGHTS


@pytest.mark.parametrize("f", [matrix_by_columns_written, array_in_order_f_written])
def test_an_array_made_by_columns(f):
    judged(f, M)


def transposed_vectorized(m):
    v = np.vectorize(lambda a: a * 2)(m.T)
    by_rows = v.T.ravel()  # a view
    by_rows[0] = 5 * m[0, 1]
    return np.sum(v * TABLE.T) + by_rows @ WEIGHTS


def elements_vectorized(m):
    o = np.outer(m[0], m[1])
    v = np.vectorize(lambda a: a * a)(o)
    by_rows = v.ravel()
    by_rows[0] = 5 * m[0, 1]
    return np.sum(v) + np.sum(by_rows**2)


@pytest.mark.parametrize("f, verdict", [(transposed_vectorized, "refused"), (elements_vectorized, "right")])
def test_what_vectorize_gives_lies_as_its_arguments_do(f, verdict):
    assert judged_in_all_modes(f, M) == verdict
