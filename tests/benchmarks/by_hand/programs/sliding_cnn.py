"""A convolution by sliding windows, relu, max pooling, a dense layer, cross entropy with whole numbers as labels."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tests.benchmarks.by_hand.drawn import normal

WRT = ("kernels", "bias", "dense", "offset")


def inputs(size, dtype):
    n, channels, count, side = {"small": (2, 2, 3, 6), "full": (32, 3, 16, 28)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, count, channels, 3, 3, scale=0.2),
        normal(rng, dtype, count, scale=0.1),
        normal(rng, dtype, count * (side // 2) ** 2, 10, scale=1 / side),
        normal(rng, dtype, 10, scale=0.1),
        normal(rng, dtype, n, channels, side, side),
        rng.integers(0, 10, n),
    )


def primal(kernels, bias, dense, offset, images, labels):
    n = images.shape[0]
    count, _, k, _ = kernels.shape
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = sliding_window_view(padded, (k, k), axis=(2, 3))
    maps = np.einsum("nchwij,ocij->nohw", windows, kernels, optimize=True) + bias[:, None, None]
    maps = np.maximum(maps, 0.0)
    h, w = maps.shape[2] // 2, maps.shape[3] // 2
    pooled = maps.reshape(n, count, h, 2, w, 2).max(axis=(3, 5))
    logits = pooled.reshape(n, -1) @ dense + offset
    logits = logits - logits.max(axis=1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(n), labels])


def by_hand(kernels, bias, dense, offset, images, labels):
    n, channels = images.shape[:2]
    count, _, k, _ = kernels.shape
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = sliding_window_view(padded, (k, k), axis=(2, 3))
    height, width = windows.shape[2:4]
    columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, channels * k * k)
    maps = columns @ kernels.reshape(count, -1).T
    maps += bias
    np.maximum(maps, 0.0, out=maps)
    blocks = maps.reshape(n, height // 2, 2, width // 2, 2, count)
    pooled = blocks.max(axis=(2, 4), keepdims=True)
    flat = pooled.reshape(n, -1, count).transpose(0, 2, 1).reshape(n, -1)
    p = flat @ dense + offset
    p -= p.max(axis=1, keepdims=True)
    np.exp(p, out=p)
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(n), labels] -= 1.0
    p /= n
    d_dense = flat.T @ p
    d_offset = p.sum(axis=0)
    d_pooled = (p @ dense.T).reshape(n, count, -1).transpose(0, 2, 1).reshape(pooled.shape)
    d_maps = (blocks == pooled) & (blocks > 0.0)
    d_maps = (d_maps * d_pooled).reshape(-1, count)
    d_kernels = (d_maps.T @ columns).reshape(kernels.shape)
    return d_kernels, d_maps.sum(axis=0), d_dense, d_offset
