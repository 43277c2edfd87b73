"""The helpers that generated text calls."""

# ruff: noqa: E501  (tables of cases)

import inspect

import numpy as np
import pytest

from sourcead import runtime


@pytest.mark.parametrize("shapes", [((3, 4), (4,)), ((3, 4), (3, 1)), ((3, 4), ()), ((2, 3, 4), (1, 4)), ((3,), (3,)), ((0, 4), (4,)),
                                    ((), ()), ((1, 3), (3,))], ids=str)  # fmt: skip
def test_unbroadcast_is_the_transpose_of_broadcasting(shapes):
    big, small = shapes
    rng = np.random.default_rng(0)
    d, x = rng.normal(size=big), rng.normal(size=small)
    summed = runtime.unbroadcast(d, x)
    assert summed.shape == small
    assert np.sum(summed * x) == pytest.approx(np.sum(d * np.broadcast_to(x, big)))


def test_unbroadcast_keeps_the_kind_of_number():
    assert type(runtime.unbroadcast(np.ones(3), 2.0)) is float
    assert type(runtime.unbroadcast(np.float64(3), 2)) is float
    assert runtime.unbroadcast(np.ones(3), np.float32(2)).dtype == np.float32
    assert runtime.unbroadcast(np.ones((2, 3)), np.ones(3, "f4")).dtype == np.float32
    assert runtime.unbroadcast(np.ones(3) * 1j, np.ones(3)).dtype == np.float64
    assert type(runtime.unbroadcast(np.ones(3), 1j)) is complex
    assert runtime.unbroadcast(1.0, np.ones((2, 3))).shape == (2, 3)
    assert runtime.unbroadcast(np.ones((2, 3)), [1.0, 2.0, 3.0]) == [2.0, 2.0, 2.0]


def test_copy_shares_nothing():
    x = {"w": [np.ones(2), (np.zeros(1), 3.0)]}
    y = runtime.copy(x)
    y["w"][0][0] = 5
    y["w"][1][0][0] = 5
    assert x["w"][0][0] == 1 and x["w"][1][0][0] == 0


def test_zeros_like_has_the_structure():
    zero = runtime.zeros_like({"w": np.ones((2, 1), "f4"), "b": (1.0, 3), "l": [np.arange(2), None, np.float32(2), 2j]})
    assert zero["w"].dtype == np.float32 and zero["w"].shape == (2, 1)
    assert zero["b"] == (0.0, 0.0) and zero["l"][1] is None
    assert zero["l"][0].dtype == float and zero["l"][2].dtype == np.float32 and zero["l"][3] == 0j


def test_add_follows_the_structure():
    total = runtime.add({"w": np.ones(2), "b": (1.0, None)}, {"w": np.ones(2), "b": (2.0, 3.0)})
    assert total["b"] == (3.0, 3.0) and (total["w"] == 2).all()
    assert runtime.add(None, 2.0) == 2.0


def test_scatter_counts_each_repetition():
    x = np.zeros((3, 2), "f4")
    d = runtime.scatter(np.ones((3, 2), "f4"), np.array([0, 0, 2]), x)
    assert d.dtype == np.float32
    np.testing.assert_array_equal(d, [[2, 2], [0, 0], [1, 1]])
    np.testing.assert_array_equal(runtime.scatter(1.0, (1, 1), x), [[0, 0], [0, 1], [0, 0]])
    np.testing.assert_array_equal(
        runtime.scatter(np.ones((2, 3)), (slice(None), [0, 0, 1]), np.zeros((2, 2))), [[2, 1], [2, 1]]
    )
    assert runtime.scatter(2.0, 1, [0.0, 1.0]) == [0.0, 2.0]
    assert runtime.scatter(2.0, "w", {"w": 1.0, "u": 1.0}) == {"w": 2.0, "u": 0.0}
    assert runtime.scatter(2.0, 1, (0.0, 1.0)) == (0.0, 2.0)


@pytest.mark.parametrize("key", [np.array([0, 1, 0]), ([0, 1, 0], [1, 1, 1]), (slice(None), [1, 1]), np.array([[0, 0], [2, 0]]), slice(1, 3),
                                 np.array([True, False, True])], ids=str)  # fmt: skip
def test_only_the_last_write_has_a_cotangent(key):
    rng = np.random.default_rng(0)
    a, d_a = np.zeros((3, 2)), rng.normal(size=(3, 2))
    v, direction = rng.normal(size=a[key].shape), rng.normal(size=a[key].shape)

    def written(v):
        out = a.copy()
        out[key] = v
        return np.sum(out * d_a)

    assert np.sum(runtime.assigned_cotangent(d_a, key, v) * direction) == pytest.approx(
        written(v + direction) - written(v)
    )
    assert runtime.assigned_cotangent(d_a, key, 1.0) == pytest.approx(written(np.ones(a[key].shape)) - written(0.0))


def test_power_helpers():
    assert runtime.lower_exponent(2, 0.0) == 1 and runtime.lower_exponent(0, 0.0) == 1 and runtime.lower_exponent(0.5, 0.0) == -0.5
    assert runtime.lower_exponent(0, 2.0) == -1
    np.testing.assert_array_equal(runtime.lower_exponent(np.array([0.0, 1.0, 3.0]), np.zeros(3)), [1, 0, 2])
    np.testing.assert_array_equal(runtime.lower_exponent(np.zeros(2), np.array([0.0, 2.0])), [1, -1])
    assert runtime.lower_exponent(np.ones(2, "f4"), np.ones(2, "f4")).dtype == np.float32
    assert runtime.lower_exponent(0, np.ones(2, "f4")).dtype == np.float32
    assert runtime.log_or_zero(0.0) == 0
    np.testing.assert_allclose(runtime.log_or_zero(np.array([0.0, np.e])), [0, 1])


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (-1, 0, 1)], ids=str)
def test_product_of_others(axis):
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    np.testing.assert_allclose(runtime.product_of_others(x, axis), np.prod(x, axis, keepdims=True) / x)
    assert runtime.product_of_others(np.zeros((0, 3)), 0).shape == (0, 3)


def test_every_helper_reads_only_numpy_and_its_siblings():
    helpers = {name: f for name, f in vars(runtime).items() if inspect.isfunction(f)}
    assert all(f.__doc__ for f in helpers.values())
    allowed = set(helpers) | {"own_attribute", "own_attributes", "slots_of", "np", "UnsupportedArgumentError", "NonScalarError", "RuleError"} | set(dir(__builtins__)) | set(vars(__import__("builtins")))
    for f in helpers.values():
        for name in inspect.getclosurevars(f).globals:
            assert name in allowed, (f, name)
