"""Transposes of transposes and of products, also of stacks of matrices, and sums of sums, are one operation in adjoints."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp

rng = np.random.default_rng(0)
Q, K, W = rng.normal(size=(2, 9, 10)), rng.normal(size=(2, 9, 10)), rng.normal(size=(9, 9))


def attention(q, k, w):
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(10.0)
    return np.sum(np.exp(scores) @ k * q) + np.sum(scores**2)


def by_swapped_axes(q, k, w):
    return np.sum((q.swapaxes(-1, -2) @ (w @ k)) ** 3) + np.sum(np.swapaxes(k, 0, 1) ** 2 * np.moveaxis(q, 0, 1))


def heads_in_front(q, k, w):
    a, b = np.transpose(q, (1, 0, 2)), np.transpose(k, (1, 2, 0))
    return np.sum(np.tanh(a @ b) ** 2) + np.sum(np.transpose(np.transpose(a, (2, 0, 1)), (1, 2, 0)) ** 3)


def broadcast_matrices(q, k, w):
    return np.sum(np.sin((w.T @ q).transpose(0, 2, 1) @ w @ k))


def bias_of_images(q, k, w):
    images = q[:, None, :, :] * k[:, :, None, :]
    return np.sum(np.tanh(images + w[0][:, None, None]) ** 2)


PROGRAMS = [attention, by_swapped_axes, heads_in_front, broadcast_matrices, bias_of_images]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f):
    check_grads(f, (Q, K, W))
    d = rng.normal(size=Q.shape)
    difference = (grad(f)(Q + 1e-6 * d, K, W) - grad(f)(Q - 1e-6 * d, K, W)) / 2e-6
    assert np.allclose(hvp(f)(Q, K, W, d), difference, rtol=1e-4, atol=1e-5)
    for order in ("C", "F"):
        again = grad(f, wrt=("q", "k", "w"))(np.array(Q, order=order), np.array(K, order=order), np.array(W, order=order))
        assert all(np.allclose(a, b, rtol=1e-12) for a, b in zip(again, grad(f, wrt=("q", "k", "w"))(Q, K, W)))


def test_no_transpose_of_a_transpose():
    text = grad(attention, wrt=("q", "k")).lower(Q, K, W).text
    adjoint = "".join(line for line in text.split("# reverse")[1].splitlines() if "#" not in line)
    assert adjoint.count("transpose(") + adjoint.count("swapaxes(") <= 3, text


def test_one_sum_for_a_bias():
    text = grad(bias_of_images, wrt="w").lower(Q, K, W).text
    assert "np.sum(np.sum(" not in text, text
