"""What `np.r_` and `np.c_` join: matrices, lists, numbers, ranges, and a text in front that names the axis."""

import numpy as np
import pytest

from sourcead import UnsupportedSyntaxError, grad, value_and_grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([[1.0, 2.5, 3.0], [0.5, -1.0, 2.0]])

CASES = {
    "matrices": lambda x: np.r_[x, x**2],
    "matrix and list of rows": lambda x: np.r_[np.c_[x, [x[0, 0], 2.0]], [[0, 0, 0, 1]]],
    "vector and list": lambda x: np.r_[[0, 0, 0], -x[0]],
    "list of numbers": lambda x: np.r_[[x[0, 0], 1.0], (x[0, 1], 3)],
    "one list": lambda x: np.r_[[x[0, 0], x[1, 1]]],
    "one matrix": lambda x: np.c_[x] * np.r_[x],
    "one vector as a column": lambda x: np.c_[x[0]],
    "two numbers as a row": lambda x: np.c_[x[0, 0], x[1, 1]],
    "columns of vectors": lambda x: np.c_[x[0], x[1], 1:4, 0:1:3j],
    "columns and a matrix": lambda x: np.c_[x, x[:, 0], np.ones((2, 2))],
    "columns of three axes": lambda x: np.c_[x[:, :, None], x[:, :, None] * x[0, 0]],
    "a matrix in three axes": lambda x: np.c_[np.ones((1, 3, 2)), x.T[None]],
    "three axes": lambda x: np.r_[x[None], 2 * x[None]],
    "a number and ranges": lambda x: np.r_[x[0, 0], 0:3, -1:1:4j, 5:1:-2, 0.5, x[1]],
    "integers and numbers": lambda x: np.r_[np.arange(3), x[0, 0], 2],
    "bounds of a range of points": lambda x: np.r_[x[0, 0] : x[0, 2] : 4j] ** 2,
    "rows": lambda x: np.r_["0,2", x[0], x[1], [1, 2, 3]],
    "rows and a matrix": lambda x: np.r_["0,2", x[0], x],
    "columns by a text": lambda x: np.r_["1,2,0", x[0], 0:3],
    "along the last axis": lambda x: np.r_["-1", x, x**2],
    "along axis one": lambda x: np.r_["1", x, [[1, 2, 3], [4, 5, 6]]],
    "least number of axes and a number": lambda x: np.r_["0,3", x[0, 0], 2.0],
    "axes in front and behind": lambda x: np.r_["0,3,1", x[0], x[1]],
    "axes counted from the end": lambda x: np.r_["1,3,-2", x[0], 0:3],
    "a grid": lambda x: np.mgrid[x[0, 0] : 4.7, x[1, 0] : 2.8 : 0.5],
    "a grid of points": lambda x: np.mgrid[x[0, 0] : 5 : 5j] * np.mgrid[0:2:5j],
    "columns with an axis": lambda x: np.c_["0", x[0], x[1]],
}


@pytest.mark.parametrize("joined", CASES.values(), ids=CASES)
def test_derivative_of_brackets(joined):
    def f(x):
        y = joined(x)
        return np.sum(np.sin(y) * np.cos(np.arange(y.size)).reshape(y.shape)) * y.shape[0]

    assert judged_in_all_modes(f, X) == "right"
    assert value_and_grad(f)(X)[0] == f(X)


def test_part_under_another_name_in_a_helper_and_a_loop():
    def framed(m, row):
        return np.r_[m, [row]]

    def f(x):
        parts = [x]
        for k in range(2):
            parts.append(framed(parts[-1], [k, x[0, k], 1.0]))
        last = parts[-1]
        last[0, 0] *= 2.0
        return np.sum(last**3) + np.sum(x**2)

    assert judged_in_all_modes(f, X) == "right"


def test_numbers_keep_the_precision_of_arrays():
    def f(x):
        return np.sum(np.r_[x, x**2] ** 2)

    x = X.astype(np.float32)
    assert grad(f)(x).dtype == np.float32
    with pytest.raises(UnsupportedSyntaxError, match="a subscript whose derivative is not known"):
        grad(lambda x: np.sum(np.r_[x[0], 0.5] ** 2))(x)


@pytest.mark.parametrize("text", ["r", "c", "0,2,5"])
def test_text_that_makes_a_matrix_or_an_error_is_refused(text):
    with pytest.raises(UnsupportedSyntaxError, match="a subscript whose derivative is not known"):
        grad(lambda x: np.sum(np.r_[text, x[0]]))(X)
