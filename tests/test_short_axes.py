"""Reductions over axes of few elements are computed slice by slice, where NumPy would be slow."""

import numpy as np
import pytest

from sourcead import check_grads, grad, value_and_grad
from sourcead.runtime import combine_short, reduce_short

rng = np.random.default_rng(0)
REDUCTIONS = {np.sum: np.add, np.mean: np.add, np.prod: np.multiply, np.max: np.maximum, np.min: np.minimum}


def text(f, *args, **options):
    return grad(f, **options).lower(*args).text


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 20])
@pytest.mark.parametrize("axis", [-1, 2])
def test_sums_along_a_short_last_axis(size, axis):
    def distances(x, y):
        return np.sum(np.exp(-np.sum((x[:, None, :] - y) ** 2, axis=axis)))

    x, y = rng.standard_normal((9, size)), rng.standard_normal((10, size))
    assert ("reduce_short" in text(distances, x, y)) is (2 <= size < 8)
    assert "reduce_short" not in text(distances, x, y, readable=True)
    check_grads(distances, (x, y))
    np.testing.assert_allclose(value_and_grad(distances)(x, y)[0], distances(x, y))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("shape, axis", [((9, 10, 3), 2), ((9, 2, 10, 2), (1, 3)), ((20, 3, 2), (-1, -2)), ((20, 4), (1,))])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_reductions_over_short_axes(reduction, keepdims, shape, axis, dtype):
    def reduced(x):
        return np.sum(np.sin(reduction(x, axis=axis, keepdims=keepdims)))

    x = rng.standard_normal(shape).astype(dtype)
    by_slices, at_once = value_and_grad(reduced), value_and_grad(reduced, readable=True)
    assert "reduce_short" in by_slices.lower(x).text
    for a, b in zip(by_slices(x), at_once(x)):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-12 if dtype is np.float64 else 1e-5, atol=1e-6)


def test_helpers_are_reductions_of_ufuncs():
    for x in (rng.standard_normal((5, 2, 3, 4)), np.full((4, 2, 3, 2), np.nan)):
        for ufunc in set(REDUCTIONS.values()):
            for axis in (1, -1, (1, 3), (1, 2, 3)):
                for keepdims in (False, True):
                    expected = ufunc.reduce(x, axis, keepdims=keepdims)
                    np.testing.assert_allclose(reduce_short(ufunc, x, axis, keepdims), expected, rtol=1e-13)


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_combined_slice_by_slice(order):
    x, y = np.asarray(rng.standard_normal((5, 2, 4, 3)), order=order), rng.standard_normal((5, 4))
    for out in (None, np.empty_like(x)):
        np.testing.assert_array_equal(combine_short(np.multiply, x, y, (1, 3), out), x * y[:, None, :, None])
    y = x[:, 1, :, 2].copy()
    found = combine_short(np.equal, x, y, (1, -1))
    assert found.dtype == bool and (found.strides[0] == 1) is (order == "F")
    np.testing.assert_array_equal(found, x == y[:, None, :, None])
    combine_short(np.multiply, x, y, (1, 3), out=x)
    np.testing.assert_array_equal(x[:, 1, :, 2], y * y)


def test_reductions_over_other_axes_stay():
    def reduced(x, y, z):
        return np.sum(np.max(x, axis=0)) + np.sum(np.max(y, axis=(1, 2))) + np.max(z) + np.sum(np.max(z, axis=(0, 1)))

    assert "reduce_short" not in text(reduced, rng.normal(size=(2, 50)), rng.normal(size=(9, 7, 7)), rng.normal(size=(9, 9, 3)))


def test_ties_of_maxima_over_short_axes_share():
    def pooled(x):
        return np.sum(np.max(x.reshape(6, 2, 6, 2), axis=(1, 3)) ** 2)

    x = rng.integers(0, 3, (12, 12)).astype(float)
    assert "combine_short(np.multiply, " in text(pooled, x)
    assert np.array_equal(grad(pooled)(np.asfortranarray(x)), grad(pooled)(x))
    np.testing.assert_allclose(grad(pooled)(x), grad(pooled, readable=True)(x))
    assert np.allclose(grad(pooled)(np.ones((12, 12))), 0.5)


def test_results_have_memory_of_their_own():
    def weighted(w, x):
        sums = np.sum(x, axis=1)
        sums[0] = w[0]
        return np.sum(w * sums)

    w, x = rng.standard_normal(30), rng.standard_normal((30, 3))
    assert ".copy()" not in text(weighted, w, x)
    check_grads(weighted, (w, x))


def test_sums_of_integers_and_truth_values_stay():
    def counted(x):
        return np.sum(np.sum(x > 0, axis=-1) * np.sum(x, axis=-1))

    x = rng.standard_normal((30, 3))
    assert "np.sum(x > 0, axis=-1)" in text(counted, x)
    check_grads(counted, (x,))
