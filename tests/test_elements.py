"""`np.vectorize`, `np.ndenumerate`, `np.fromiter`."""

import numpy as np
import pytest

from sourcead import SourceADError, check_grads, grad

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


def rounded_by_numpy(x):
    return np.sum(np.vectorize(lambda v: v**2 if v > 0.14 else 0)(x))


def test_first_result_decides_the_dtype():
    np.testing.assert_array_equal(grad(rounded_by_numpy)(np.array([0.2, 0.1])), [0.4, 0])
    with pytest.raises(SourceADError, match="takes the dtype of its first result"):
        grad(rounded_by_numpy)(np.array([0.1, 0.2]))


def of_rows(x):
    return np.sum(np.vectorize(np.sum, signature="(n)->()")(x))


def test_signatures_are_refused():
    with pytest.raises(SourceADError, match="more than a function and one type"):
        grad(of_rows)(np.ones((2, 3)))
