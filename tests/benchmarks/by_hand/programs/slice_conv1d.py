"""A one-dimensional convolutional network by slices: two layers, the second of stride two, then the mean over time."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("k1", "b1", "k2", "b2", "w")


def inputs(size, dtype):
    n, steps, c0, c1, c2, classes = {"small": (2, 11, 2, 3, 4, 3), "full": (32, 129, 4, 16, 32, 6)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, 5, c0, c1, scale=(5 * c0) ** -0.5),
        normal(rng, dtype, c1, scale=0.1),
        normal(rng, dtype, 3, c1, c2, scale=(3 * c1) ** -0.5),
        normal(rng, dtype, c2, scale=0.1),
        normal(rng, dtype, c2, classes, scale=c2**-0.5),
        normal(rng, dtype, n, steps, c0),
        rng.integers(0, classes, n),
    )


def conv(x, k, b, stride):
    steps = (x.shape[1] - k.shape[0]) // stride + 1
    y = b
    for i in range(k.shape[0]):
        y = y + x[:, i : i + stride * (steps - 1) + 1 : stride] @ k[i]
    return y


def primal(k1, b1, k2, b2, w, x, labels):
    h = np.maximum(conv(x, k1, b1, 1), 0)
    h = np.maximum(conv(h, k2, b2, 2), 0)
    logits = h.mean(axis=1) @ w
    top = logits.max(axis=1, keepdims=True)
    log_z = np.log(np.exp(logits - top).sum(axis=1)) + top[:, 0]
    return np.mean(log_z - logits[np.arange(len(x)), labels])


def parts(x, k, steps, stride):
    return [x[:, i : i + stride * (steps - 1) + 1 : stride] for i in range(len(k))]


def forward(x, k, b, stride):
    steps = (x.shape[1] - len(k)) // stride + 1
    y = np.empty((len(x), steps, k.shape[2]), x.dtype)
    y[:] = b
    for part, k_i in zip(parts(x, k, steps, stride), k):
        y += part @ k_i
    return np.maximum(y, 0, out=y)


def kernel_gradient(x, k, d_y, stride):
    d_flat = d_y.reshape(-1, k.shape[2])
    return np.stack([part.reshape(-1, k.shape[1]).T @ d_flat for part in parts(x, k, d_y.shape[1], stride)])


def by_hand(k1, b1, k2, b2, w, x, labels):
    n = len(x)
    h1 = forward(x, k1, b1, 1)
    h2 = forward(h1, k2, b2, 2)
    pooled = h2.mean(axis=1)
    logits = pooled @ w
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(n), labels] -= 1
    p /= n
    d_pooled = p @ w.T
    d_pooled /= h2.shape[1]
    d_2 = d_pooled[:, None] * (h2 > 0)
    d_1 = np.zeros_like(h1)
    for part, k_i in zip(parts(d_1, k2, d_2.shape[1], 2), k2):
        part += d_2 @ k_i.T
    d_1 *= h1 > 0
    return (
        kernel_gradient(x, k1, d_1, 1),
        d_1.sum(axis=(0, 1)),
        kernel_gradient(h1, k2, d_2, 2),
        d_2.sum(axis=(0, 1)),
        pooled.T @ p,
    )
