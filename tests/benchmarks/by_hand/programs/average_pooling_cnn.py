"""A convolution by shifted slices, average pooling by a reshape, and a dense layer."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("kernel", "bias", "w")


def inputs(size, dtype):
    n, side, channels, outputs = {"small": (2, 6, 3, 2), "full": (32, 26, 8, 10)}[size]
    rng = np.random.default_rng(0)
    flat = ((side - 2) // 2) ** 2 * channels
    return (
        normal(rng, dtype, 3, 3, channels, scale=0.3),
        normal(rng, dtype, channels, scale=0.1),
        normal(rng, dtype, flat, outputs, scale=flat**-0.5),
        normal(rng, dtype, n, side, side),
        normal(rng, dtype, n, outputs),
    )


def primal(kernel, bias, w, images, y):
    n, height, width = images.shape
    high, wide = height - 2, width - 2
    z = np.zeros((n, high, wide, len(bias)), images.dtype)
    for i in range(3):
        for j in range(3):
            z += images[:, i : i + high, j : j + wide, None] * kernel[i, j]
    h = np.tanh(z + bias)
    pooled = h.reshape(n, high // 2, 2, wide // 2, 2, len(bias)).mean(axis=(2, 4))
    return np.mean((pooled.reshape(n, -1) @ w - y) ** 2)


def by_hand(kernel, bias, w, images, y):
    n, height, width = images.shape
    high, wide, channels = height - 2, width - 2, len(bias)
    z = np.zeros((n, high, wide, channels), images.dtype)
    for i in range(3):
        for j in range(3):
            z += images[:, i : i + high, j : j + wide, None] * kernel[i, j]
    z += bias
    h = np.tanh(z)
    blocks = h.reshape(n, high // 2, 2, wide // 2, 2, channels)
    pooled = blocks.mean(axis=(2, 4)).reshape(n, -1)
    d_y = pooled @ w - y
    d_y *= 2 / y.size
    d_pooled = (d_y @ w.T).reshape(n, high // 2, 1, wide // 2, 1, channels) / 4
    d_z = (d_pooled * (1 - blocks**2)).reshape(h.shape)
    d_kernel = np.empty_like(kernel)
    for i in range(3):
        for j in range(3):
            d_kernel[i, j] = images[:, i : i + high, j : j + wide].reshape(-1) @ d_z.reshape(-1, channels)
    return d_kernel, d_z.sum(axis=(0, 1, 2)), pooled.T @ d_y
