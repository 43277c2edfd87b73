"""Sliding windows and `np.tensordot` with lists and tuples of axes, against Python and differences, and the texts that come of them."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from sourcead import grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.random.default_rng(0).normal(size=(2, 6, 6))
W = np.random.default_rng(1).normal(size=(3, 3))


def of_two_axes(x):
    windows = sliding_window_view(x, (2, 3), (0, 2))
    return np.sum(np.einsum("abcij,ij->abc", windows, np.arange(6.0).reshape(2, 3)) ** 2)


def of_all_axes(x):
    return np.sum(np.cos(sliding_window_view(x, [2, 2, 1])) * 2)


def of_one_axis(x):
    return np.sum(sliding_window_view(x[0, 0], 3) ** 3) + np.sum(sliding_window_view(x, window_shape=2, axis=-1).mean(axis=-1) ** 3)


def of_an_axis_twice(x):
    return np.sum(np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(1, 1)) ** 3)


def of_sizes_that_are_computed(x):
    n = W.shape[0]
    return np.sum(np.tensordot(sliding_window_view(x, (n, n), axis=(1, 2)), W, axes=2) ** 2)


def of_an_unknown_size(x):
    n = int(abs(x[0, 0, 0]) * 0 + 2.5)
    return np.sum(sliding_window_view(x, n, axis=1) ** 2)


def of_a_window_of_windows(x):
    return np.sum(sliding_window_view(sliding_window_view(x[0], 3, axis=0), 2, axis=1) ** 2)


def maximum_of_windows(x):
    pooled = sliding_window_view(x, (2, 2), axis=(1, 2))[:, ::2, ::2].max(axis=(3, 4))
    return np.sum(pooled**2)


def axes_in_lists(x):
    a = np.tensordot(x, x, axes=([1, 0], [1, 0]))
    b = np.tensordot(x, x, axes=[[0, 2], [0, 2]])
    return np.sum(a**2) + np.sum(b**3)


def axes_in_tuples(x):
    c = np.tensordot(x, np.ones((6, 2, 3)) * x[0, 0, 0], axes=((2, 0), (0, 1)))
    d = np.tensordot(x, x[0], axes=((1, 2), (0, 1)))
    return np.sum(c * c[::-1]) + np.sum(d**2)


def axes_in_numbers(x):
    return np.sum(np.tensordot(x, x, 0) ** 2) + np.sum(np.tensordot(x, x[0], 1) ** 2) + np.sum(np.tensordot(x, x[0, 0], [[-1], [0]]) ** 2)


def list_that_is_changed(x):
    axes = [[1], [1]]
    a = np.tensordot(x, x, axes)
    axes[0][0] = 2
    return np.sum(a**2) + np.sum(np.tensordot(x, x, axes) ** 3)


def list_that_depends_on_the_run(x):
    axes = [1, 2]
    if x[0, 0, 0] > 0:
        axes[0] = 2
    return np.sum(np.tensordot(x, x, axes) ** 3)


def other_options_in_lists(x):
    y = np.transpose(x, [2, 0, 1]) * np.ones([6, 2, 6])
    z = np.moveaxis(y, [0, 1], [1, 0]).reshape([2, 36])
    return np.sum(np.tile(np.flip(z, axis=[0, 1]), [1, 2]) ** 3 * np.arange(72.0)) + np.sum(np.roll(z, [1, 2], axis=[0, 1]) * z)


WINDOWS = [of_two_axes, of_all_axes, of_one_axis, of_an_axis_twice, of_sizes_that_are_computed, of_an_unknown_size, of_a_window_of_windows]
AXES = [axes_in_lists, axes_in_tuples, axes_in_numbers, list_that_is_changed, list_that_depends_on_the_run, other_options_in_lists]


@pytest.mark.parametrize("f", [*WINDOWS, maximum_of_windows, *AXES])
def test_windows_and_axes_are_right_in_all_modes(f):
    assert judged_in_all_modes(f, X) == "right"


def convolution(x, w):
    return np.sum(np.tanh(np.tensordot(sliding_window_view(x, (3, 3), axis=(1, 2)), w, axes=([3, 4], [0, 1]))))


def test_a_convolution_is_read_as_by_hand():
    text = grad(convolution, wrt=("x", "w")).lower(X, W).text
    assert not any(name in text for name in ("unbroadcast", "asarray", "gather", "tensordot_", "items"))
    assert text.count("np.tensordot(") == 3
    assert ".copy()" not in text
