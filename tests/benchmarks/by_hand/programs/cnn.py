"""A small convolutional network: two convolutions by windows and tensordot, and a dense layer."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tests.benchmarks.by_hand.drawn import normal

WRT = ("k1", "b1", "k2", "b2", "w", "b")


def inputs(size, dtype):
    n, side, c1, c2, classes = {"small": (2, 6, 2, 3, 3), "full": (16, 20, 8, 16, 10)}[size]
    rng = np.random.default_rng(0)
    flat = (side - 4) ** 2 * c2
    return (
        normal(rng, dtype, c1, 1, 3, 3, scale=0.3),
        normal(rng, dtype, c1, scale=0.1),
        normal(rng, dtype, c2, c1, 3, 3, scale=0.1),
        normal(rng, dtype, c2, scale=0.1),
        normal(rng, dtype, flat, classes, scale=flat**-0.5),
        normal(rng, dtype, classes, scale=0.1),
        normal(rng, dtype, n, side, side, 1),
        rng.integers(0, classes, n),
    )


def conv(x, k, b):
    """Of images (n, height, width, channels), with kernels (out, channels, 3, 3)."""
    windows = sliding_window_view(x, (3, 3), axis=(1, 2))
    return np.tensordot(windows, k, axes=((3, 4, 5), (1, 2, 3))) + b


def primal(k1, b1, k2, b2, w, b, x, labels):
    h = np.maximum(conv(x, k1, b1), 0)
    h = np.maximum(conv(h, k2, b2), 0)
    logits = h.reshape(len(x), -1) @ w + b
    logits = logits - logits.max(axis=1, keepdims=True)
    log_probs = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.mean(log_probs[np.arange(len(x)), labels])


def conv_kernel_gradient(x, d_y):
    windows = sliding_window_view(x, (3, 3), axis=(1, 2))
    return np.tensordot(d_y, windows, axes=((0, 1, 2), (0, 1, 2)))


def conv_input_gradient(x, k, d_y):
    d_x = np.zeros_like(x)
    _, high, wide, _ = d_y.shape
    for i in range(3):
        for j in range(3):
            d_x[:, i : i + high, j : j + wide] += d_y @ k[:, :, i, j]
    return d_x


def by_hand(k1, b1, k2, b2, w, b, x, labels):
    n = len(x)
    h1 = np.maximum(conv(x, k1, b1), 0)
    h2 = np.maximum(conv(h1, k2, b2), 0)
    flat = h2.reshape(n, -1)
    logits = flat @ w + b
    d_logits = np.exp(logits - logits.max(axis=1, keepdims=True))
    d_logits /= d_logits.sum(axis=1, keepdims=True)
    d_logits[np.arange(n), labels] -= 1
    d_logits /= n
    d_h2 = (d_logits @ w.T).reshape(h2.shape)
    d_h2 *= h2 > 0
    d_h1 = conv_input_gradient(h1, k2, d_h2)
    d_h1 *= h1 > 0
    return (
        conv_kernel_gradient(x, d_h1),
        d_h1.sum(axis=(0, 1, 2)),
        conv_kernel_gradient(h1, d_h2),
        d_h2.sum(axis=(0, 1, 2)),
        flat.T @ d_logits,
        d_logits.sum(axis=0),
    )
