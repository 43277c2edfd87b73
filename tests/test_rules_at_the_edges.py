"""Rules where arguments are unusual: empty, of another number of axes, or in a form that NumPy takes too."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from sourcead import grad
from tests.semantics import judged_in_all_modes

X = np.array([1.0, 2.5, 3.0])


def triangle_of_a_vector(x):
    d = np.zeros(3)
    for n in range(3):
        d[n] += np.median(x) * n
    return np.triu(d, 1).var() + np.sum(np.tril(x, -1) ** 2)


def triangle_of_a_written_vector(x):
    d = x.copy()
    d[0] = x[1]
    return np.sum(np.triu(d) ** 2)


def column_sums_written(x):
    a = np.einsum("...i->...", x.reshape(3, 1)) + np.einsum("i,i->i", x, x)
    b = np.einsum("i,i->i", x, x)
    b[0] = a[1]
    a -= a.max()
    return np.sum(a * x) * np.sum(b * x)


def two_results_of_each(x):
    p, q = np.vectorize(lambda t: (t, t * t))(x)
    return np.sum(p * q) + np.sum(np.vectorize(lambda t: (t, 1 if t > 2 else 2))(x)[1] * x)


def odd_pads(x):
    """Return what pads in odd reflection contribute: short ones, ones that are longer than the array, and those of one element."""
    total = 0.0
    for mode in ("reflect", "symmetric"):
        for values, width in ((x, (1, 2)), (x, (11, 5)), (x[:2], 6), (x[:1], 2)):
            total += np.sum(np.pad(values, width, mode=mode, reflect_type="odd") ** 2)
    return total


def rows_with_an_axis_more(x):
    a = np.ones((3, 3))
    a[:] = np.stack([(x,)])
    b = np.ones((3, 3))
    b[1:] = x[None, None] * x
    return np.sum(a**2) + np.sum(b**2)


CASES = {
    "one axis transposed": lambda x: np.sum(np.transpose(x, 0) ** 2) + np.sum(x.transpose(-1) ** 3),
    "minimum of nothing": lambda x: np.sum(x) * np.min(x[x > 9], initial=0.9),
    "maximum of some": lambda x: np.max(x[x > 2], initial=0.1) * x[0],
    "maximum and an initial value": lambda x: np.max(x, initial=x[0] * 9) * x[0],
    "triangle of a vector": triangle_of_a_vector,
    "triangle of a written vector": triangle_of_a_written_vector,
    "odd pads": odd_pads,
    "an empty array repeated": lambda x: np.sum(np.resize(x[x > 9], 3)) + np.sum(x * x),
    "split at places that descend": lambda x: np.sum(np.split(x, [2, 1])[2] ** 2) * np.split(x, [2, 1])[0][1],
    "split at places from both ends": lambda x: np.sum(np.hsplit(x.reshape(1, 3), [2, -2])[2] ** 2),
    "an item of what is split": lambda x: np.sin(np.split(x, [1])[1][1]) * x[0],
    "polynomials in one point": lambda x: np.sum(np.polyval(np.outer(x, x), x[1]) * x),
    "polynomials in a point each": lambda x: np.sum(np.polyval(np.outer(x, x), x) * x),
    "a list beside an array of unknown shape": lambda x: np.sum((sliding_window_view(np.broadcast_to(x, (len(x),)), 2) @ [1.0, -1.0]) ** 2),
    "rows with an axis more": rows_with_an_axis_more,
    "two results of each": two_results_of_each,
    "a sum by letters, written": column_sums_written,
    "the area under one integer": lambda x: np.linalg.norm(np.trapezoid((1,), x.reshape(3, 1))) + x[0],
}


@pytest.mark.parametrize("f", CASES.values(), ids=CASES)
def test_rule_at_its_edge(f):
    assert judged_in_all_modes(f, X) == "right"


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (3, 2), (0,), (2, 0, 3)])
def test_lists_of_an_array_without_elements_have_a_gradient_of_its_shape(shape):
    def f(a):
        return sum(np.sum(part) for part in a.tolist()) + np.sum(a)

    for _ in range(2):
        np.testing.assert_array_equal(grad(f)(np.zeros(shape)), np.full(shape, 2.0), strict=True)
