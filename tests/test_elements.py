"""`np.vectorize`, `np.ndenumerate`, `np.fromiter`."""

import numpy as np
import pytest

from sourcead import SourceADError, check_grads, grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(2)

rng = np.random.default_rng(0)


@np.vectorize
def bent(v):
    return v**2 if v > 0 else -v


scaled = np.vectorize(lambda a, b: a * b + 1, otypes=[float])


def made_inside(x, k):
    @np.vectorize
    def wave(v, k):
        return np.sin(v) * k

    return np.sum(wave(x, k) * np.arange(5)) + wave(x[0], x[1])


def enumerated(a):
    total = 0.0
    for (i, j), v in np.ndenumerate(a):
        total = 0.5 * total + v**2 * (i + 2 * j)
    for (k,), v in np.ndenumerate(a[0]):
        total += v * k
    return total + np.prod(np.fromiter((2 * v for v in a[0]), dtype=float))


@pytest.mark.parametrize(
    "f, shapes",
    [
        (lambda x: np.sum(bent(x) * np.arange(6).reshape(2, 3)), [(2, 3)]),
        (lambda x, y: np.sum(scaled(x, y) ** 2), [(2, 3), (3,)]),
        (made_inside, [(5,), ()]),
        (enumerated, [(2, 3)]),
    ],
)
def test_element_by_element(f, shapes):
    args = tuple(rng.normal(size=s) for s in shapes)
    check_grads(f, args, wrt=tuple(range(len(args))))


def product_and_wave(a, b):
    return a * b, np.sin(a)


both = np.vectorize(product_and_wave)


def several_results(x):
    u, v = np.vectorize(product_and_wave)(x, 2.0)
    return np.sum(u * v)


def results_of_rows_and_columns(x):
    r = both(x[:, None], x)
    return np.sum(r[0] * r[1]) + both(x[0], 2.0)[1]


@pytest.mark.parametrize("f", [several_results, results_of_rows_and_columns])
def test_several_results(f):
    assert judged_in_all_modes(f, np.array([0.3, 0.5, 1.2])) == "right"


def test_first_of_several_results_decides_the_dtype():
    with pytest.raises(SourceADError, match="takes the dtype of its first result"):
        grad(lambda x: np.sum(np.vectorize(lambda v: (v, 0 if v < 0.4 else v))(x)[1]))(np.array([0.1, 0.5]))


def rounded_by_numpy(x):
    return np.sum(np.vectorize(lambda v: v**2 if v > 0.14 else 0)(x))


def test_first_result_decides_the_dtype():
    np.testing.assert_array_equal(grad(rounded_by_numpy)(np.array([0.2, 0.1])), [0.4, 0])
    with pytest.raises(SourceADError, match="takes the dtype of its first result"):
        grad(rounded_by_numpy)(np.array([0.1, 0.2]))


def of_rows(x):
    return np.sum(np.vectorize(np.sum, signature="(n)->()")(x))


of_two_types = np.vectorize(lambda v: (v, 2 * v), otypes="di")


@pytest.mark.parametrize("f", [of_rows, lambda x: np.sum(of_two_types(x)[0])])
def test_signatures_are_refused(f):
    with pytest.raises(SourceADError, match="more than a function and one type"):
        grad(f)(np.ones((2, 3)))
