"""Cotangents of running extremes and products take one pass, those of half spectra are half spectra."""

import numpy as np
import pytest

from sourcead import check_grads, grad, runtime


@pytest.mark.parametrize("accumulate", [np.maximum.accumulate, np.minimum.accumulate])
@pytest.mark.parametrize("axis", [0, 1])
def test_each_element_of_a_running_extreme_leaves_half_of_a_tie_to_those_before_it(accumulate, axis):
    def one_by_one(d_y, y, x):
        d_x, d = np.zeros_like(d_y), d_y.copy()
        for j in reversed(range(1, len(x))):
            share = np.where(x[j] == y[j - 1], 0.5, x[j] == y[j])
            d_x[j] = d[j] * share
            d[j - 1] += d[j] * (1 - share)
        d_x[0] = d[0]
        return d_x

    rng = np.random.default_rng(0)
    x, d_y = rng.integers(-2, 3, (12, 12)).astype(float), rng.normal(size=(12, 12))
    x[5, 7] = np.nan
    y = accumulate(x, axis)
    expected = one_by_one(*(np.moveaxis(z, axis, 0) for z in (d_y, y, x)))
    np.testing.assert_allclose(runtime.running_winner_cotangent(d_y, y, x, axis), np.moveaxis(expected, 0, axis), atol=1e-14)


@pytest.mark.parametrize("x", [[1.5, -2.0, 0.5, 3.0], [1.5, 0.0, 0.5, 0.0], [1e-200, 1e-200, 2.0, 3.0], [1e200, 1e200, 0.5, 2.0]])
def test_a_running_product_has_a_cotangent_where_it_cannot_be_divided_by(x):
    x, d_y = np.array(x), np.array([1.0, 2.0, -1.0, 0.5])
    with np.errstate(over="ignore", invalid="ignore"):
        found = runtime.cumprod_cotangent(d_y, x, 0)
        expected = [sum(d_y[i] * np.prod(np.delete(x[: i + 1], j)) for i in range(j, 4)) for j in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("size", [8, 9])
@pytest.mark.parametrize("n", [None, 5, 8, 12])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_a_filter_of_a_half_spectrum(size, n, norm):
    def f(x, w):
        spectrum = np.fft.rfft(x, n, 0, norm)
        filtered = np.fft.irfft(spectrum * (w + 0.5j) + spectrum**2, n, 0, norm)
        return np.sum(filtered**3) + np.sum(np.abs(spectrum) ** 2) + np.sum(np.fft.irfft(spectrum[:3], 9, 0) ** 2)

    rng = np.random.default_rng(size)
    check_grads(f, (rng.normal(size=(size, 2)), 0.7), wrt=(0, 1))


def test_a_filter_asks_for_no_shapes_and_for_no_whole_spectrum():
    def f(x, cutoff):
        n = x.shape[1]
        response = np.exp(-cutoff * np.fft.rfftfreq(n))
        return np.sum(np.fft.irfft(np.fft.rfft(x, axis=1) * response, n=n, axis=1) ** 4)

    rng = np.random.default_rng(0)
    text = grad(f, wrt=(0, 1)).lower(rng.normal(size=(10, 16)), 0.3).text
    assert "unbroadcast" not in text and "fit_axis" not in text and "fft.fft" not in text and "fft.ifft" not in text
    check_grads(f, (rng.normal(size=(10, 17)), 0.3), wrt=(0, 1))
