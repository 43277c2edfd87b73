"""Forms of calls that are composed of others, or whose rules have many arms: reverse, forward and second order."""

import numpy as np
import pytest

from sourcead import UnsupportedArgumentError, grad, hvp, jvp

pytestmark = pytest.mark.sampled(3)

WEIGHTS = np.random.default_rng(5).normal(size=400)


def weighted(y):
    return np.sum(y * WEIGHTS[: y.size].reshape(y.shape))


def pad_mean(x):
    return weighted(np.pad(x, 2, mode="mean"))


def pad_mean_len(x):
    return weighted(np.pad(x, ((1, 2), (0, 3)), mode="mean", stat_length=2))


def pad_max(x):
    return weighted(np.pad(x, 2, mode="maximum"))


def pad_min(x):
    return weighted(np.pad(x, 2, mode="minimum"))


def pad_median(x):
    return weighted(np.pad(x, 2, mode="median"))


def pad_ramp(x):
    return weighted(np.pad(x, 2, mode="linear_ramp"))


def pad_ramp_end(x):
    return weighted(np.pad(x, ((2, 3), (1, 0)), mode="linear_ramp", end_values=((1.0, 2.0), (3.0, 4.0))))


def pad_reflect(x):
    return weighted(np.pad(x, 2, mode="reflect"))


def pad_reflect_odd(x):
    return weighted(np.pad(x, 2, mode="reflect", reflect_type="odd"))


def pad_sym_odd(x):
    return weighted(np.pad(x, 2, mode="symmetric", reflect_type="odd"))


def pad_wrap(x):
    return weighted(np.pad(x, 5, mode="wrap"))


def pad_const(x):
    return weighted(np.pad(x, 2, constant_values=((1, 2), (3, 4))))


def ein3(x):
    return weighted(np.einsum("ij,kj,kl->il", x, x, x) ** 2)


def ein_diag(x):
    return weighted(np.einsum("ii->i", x[:3, :3]) ** 3)


def ein_list(x):
    return weighted(np.einsum(x, [0, 1], x, [2, 1], [0, 2]))


def ein_list_impl(x):
    return weighted(np.einsum(x, [0, 1], x, [2, 1]))


def ein_ell(x):
    return weighted(np.einsum("...j,kj->...k", x, x, optimize=True))


def pal(x):
    a = x * 2.0
    np.put_along_axis(a, np.argmax(x, axis=1)[:, None], 5.0 * x[:, :1], axis=1)
    return weighted(a)


def pal3(x):
    a = np.stack([x, x**2])
    np.put_along_axis(a, np.array([[[0, 1, 2]], [[2, 1, 0]]]), x[:1][None] * np.ones((2, 1, 1)), axis=1)
    return weighted(a)


def quant(x):
    return weighted(np.quantile(x, [0.2, 0.5, 0.9], axis=0))


def quant_flat(x):
    return weighted(np.quantile(x, np.array([[0.2, 0.5], [0.9, 0.1]])))


def quant_hazen(x):
    return weighted(np.quantile(x, 0.3, axis=1, method="hazen", keepdims=True))


def quant_lower(x):
    return weighted(np.quantile(x, 0.3, axis=1, method="lower"))


def quant_q(q):
    return weighted(np.quantile(np.arange(7.0) ** 2, q))


def perc(x):
    return weighted(np.percentile(x, [20, 70], axis=(0, 1)))


def quant_weibull(x):
    return weighted(np.quantile(x, [0.31, 0.77], axis=-1, method="weibull"))


def quant_unbiased(x):
    return weighted(np.quantile(x, 0.4, axis=0, method="median_unbiased", keepdims=True))


def quant_inverted(x):
    return weighted(np.quantile(x, [0.3, 0.9], axis=0, method="averaged_inverted_cdf"))


def quant_tuple_axes(x):
    return weighted(np.quantile(x[None], [0.3, 0.9], axis=(0, 2), method="hazen", keepdims=True))


def nan_percentiles(x):
    return weighted(np.nanpercentile(np.where(np.abs(x) < 0.1, np.nan, x), [20.0, 70.0], axis=0))


FUNCTIONS = [
    f for name, f in list(globals().items()) if getattr(f, "__module__", "") == __name__ and name != "weighted"
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_against_central_differences(f):
    rng = np.random.default_rng(0)
    x = np.array([0.2, 0.45, 0.8]) if f.__name__ == "quant_q" else rng.normal(size=(4, 3))
    direction = rng.normal(size=x.shape)
    expected = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = 1e-6
        expected[i] = (f(x + e) - f(x - e)) / 2e-6
    got = grad(f)(x)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)
    value, slope = jvp(f, (x,), (direction,))
    assert value == pytest.approx(f(x), rel=1e-12)
    assert slope == pytest.approx(np.sum(got * direction), rel=1e-10)
    curved = (grad(f)(x + 1e-5 * direction) - grad(f)(x - 1e-5 * direction)) / 2e-5
    np.testing.assert_allclose(hvp(f)(x, direction), curved, rtol=1e-5, atol=1e-6)


def full_svd(x):
    u, s, vt = np.linalg.svd(x)
    return np.sum(u) + np.sum(s)


def test_columns_that_are_not_determined_are_refused_while_it_runs():
    grad(full_svd)(np.random.default_rng(0).normal(size=(3, 3)))
    with pytest.raises(UnsupportedArgumentError, match="not determined"):
        grad(full_svd)(np.random.default_rng(0).normal(size=(4, 3)))
