"""Windows that `as_strided` shows of an array, with multiples of the array's own strides."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from sourcead import SourceADError, UnsupportedSyntaxError, grad, value_and_grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(2)

X = np.random.default_rng(0).normal(size=(5, 4))


def rows_of_windows(x):
    line = x[0] * 2
    windows = as_strided(line, (2, 3), line.strides + line.strides)
    return np.sum(windows**2 * np.array([1.0, 2.0, 3.0]))


def patches(x):
    k, s = 2, 1
    down, across = x.strides
    shape = ((x.shape[0] - k) // s + 1, (x.shape[1] - k) // s + 1, k, k)
    windows = np.lib.stride_tricks.as_strided(x, shape=shape, strides=(down * s, s * across, down, across), writeable=False)
    return np.sum(np.max(windows, axis=(2, 3))) + np.einsum("hwij,ij->", windows, np.arange(4.0).reshape(2, 2))


def of_another_layout(x):
    turned = np.transpose(x**2)
    return np.sum(as_strided(turned, (2, 5), [2 * turned.strides[0], turned.strides[1]]) * np.arange(10.0).reshape(2, 5))


def of_a_view(x):
    part = x[1:, ::2]
    return np.sum(as_strided(part, (2, 2), (part.strides[0] * 2, part.strides[1])) ** 3)


def repeated_by_no_stride(x):
    column = x[:, 1]
    return np.sum(as_strided(column, (3, 5), (0, column.strides[0])) * np.arange(15.0).reshape(3, 5) * column)


class Pool:
    def __init__(self, size):
        self.size = size

    def forward(self, x):
        n, c, h, w = x.shape
        s = x.strides
        out = (h // self.size, w // self.size)
        self.cache = as_strided(x, (n, c, *out, self.size, self.size), (*s[:2], s[2] * self.size, s[3] * self.size, *s[2:]))
        return self.cache.mean(axis=(4, 5))


def padded_in_a_class(x):
    images = np.pad(np.reshape(x, (1, 1, 5, 4)), [(0, 0), (0, 0), (0, 1), (0, 0)])
    pool = Pool(2)
    return np.sum(pool.forward(images) ** 2) + np.sum(pool.cache[0, 0, 1])


PROGRAMS = [rows_of_windows, patches, of_another_layout, of_a_view, repeated_by_no_stride, padded_in_a_class]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_windows(f):
    assert judged_in_all_modes(f, X) == "right"


@pytest.mark.compiled
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_windows_with_numba(f):
    np.testing.assert_allclose(grad(f, backend="numba")(X), grad(f)(X), rtol=1e-12)


def test_arguments_of_any_layout():
    for x in (np.asfortranarray(X), X[::-1], np.repeat(X, 2, axis=1)[:, ::2]):
        assert np.allclose(grad(patches)(x), grad(patches)(X[::-1].copy() if np.array_equal(x, X[::-1]) else X))


def written_while_it_is_seen(x):
    y = x[0].copy()
    windows = as_strided(y, (2, 3), y.strides * 2)
    y[1] = x[1, 1] ** 2
    return np.sum(windows**2)


def written_through_it(x):
    y = x[0].copy()
    as_strided(y, (2, 2), (2 * y.strides[0], y.strides[0]))[0] = x[1, :2]
    return np.sum(y**2)


@pytest.mark.parametrize("f", [written_while_it_is_seen, written_through_it], ids=lambda f: f.__name__)
def test_writes_are_right_or_refused(f):
    try:
        value, d_x = value_and_grad(f)(X)
    except SourceADError:
        return
    assert value == pytest.approx(f(X))


@pytest.mark.parametrize("f", [
    lambda x: np.sum(x) * x.strides[0],
    lambda x: np.sum(as_strided(x[0], (2, 2), (16, 8))),
    lambda x: np.sum(as_strided(x, (3,), (x.strides[0] + x.strides[1],))),
    lambda x: np.sum(x) if x.strides[0] > 8 else x[0, 0],
])  # fmt: skip
def test_other_uses_of_strides_are_refused(f):
    with pytest.raises(UnsupportedSyntaxError, match="stride"):
        grad(f)(X)
