"""A transformer block: layer norm, causal attention with two heads, residuals, an MLP with gelu; squared error."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w_qkv", "w_o", "w_1", "w_2", "gain_1", "gain_2")
HEADS = 2


def inputs(size, dtype):
    length, width = {"small": (5, 4), "full": (128, 64)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, width, 3 * width, scale=width**-0.5),
        normal(rng, dtype, width, width, scale=width**-0.5),
        normal(rng, dtype, width, 4 * width, scale=width**-0.5),
        normal(rng, dtype, 4 * width, width, scale=(4 * width) ** -0.5),
        1 + normal(rng, dtype, width, scale=0.1),
        1 + normal(rng, dtype, width, scale=0.1),
        normal(rng, dtype, length, width),
        normal(rng, dtype, length, width),
    )


def normed(x, gain):
    centred = x - x.mean(axis=-1, keepdims=True)
    return gain * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)


def gelu(x):
    return 0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def primal(w_qkv, w_o, w_1, w_2, gain_1, gain_2, x, y):
    length, width = x.shape
    size = width // HEADS
    q, k, v = np.split(normed(x, gain_1) @ w_qkv, 3, axis=1)
    q = q.reshape(length, HEADS, size).transpose(1, 0, 2)
    k = k.reshape(length, HEADS, size).transpose(1, 0, 2)
    v = v.reshape(length, HEADS, size).transpose(1, 0, 2)
    scores = q @ k.transpose(0, 2, 1) / size**0.5
    scores = np.where(np.tri(length, dtype=bool), scores, -1e9)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    heads = (weights @ v).transpose(1, 0, 2).reshape(length, width)
    x = x + heads @ w_o
    x = x + gelu(normed(x, gain_2) @ w_1) @ w_2
    return np.mean((x - y) ** 2)


def normalised(x):
    centred = x - x.mean(axis=-1, keepdims=True)
    scale = 1.0 / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    centred *= scale
    return centred, scale


def by_hand(w_qkv, w_o, w_1, w_2, gain_1, gain_2, x, y):
    length, width = x.shape
    size = width // HEADS
    x_hat, _ = normalised(x)
    n_1 = gain_1 * x_hat
    qkv = (n_1 @ w_qkv).reshape(length, 3, HEADS, size).transpose(1, 2, 0, 3)
    q, k, v = qkv
    scale = 1.0 / size**0.5
    scores = q @ k.transpose(0, 2, 1) * scale
    scores = np.where(np.tri(length, dtype=bool), scores, -1e9)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    heads = (weights @ v).transpose(1, 0, 2).reshape(length, width)
    x = x + heads @ w_o
    u_hat, u_scale = normalised(x)
    n_2 = gain_2 * u_hat
    a = n_2 @ w_1
    t = np.tanh(0.7978845608 * (a + 0.044715 * a**3))
    g = 0.5 * a * (1.0 + t)
    d_x = (x + g @ w_2 - y) * (2.0 / y.size)
    d_w_2 = g.T @ d_x
    slope = 0.5 * (1.0 + t + a * (1.0 - t**2) * (0.7978845608 * (1.0 + 3 * 0.044715 * a**2)))
    d_a = d_x @ w_2.T * slope
    d_w_1 = n_2.T @ d_a
    d_n = d_a @ w_1.T
    d_gain_2 = (d_n * u_hat).sum(axis=0)
    d_n *= gain_2
    inner = (d_n * u_hat).mean(axis=1, keepdims=True)
    d_x += u_scale * (d_n - d_n.mean(axis=1, keepdims=True) - u_hat * inner)
    d_w_o = heads.T @ d_x
    d_heads = (d_x @ w_o.T).reshape(length, HEADS, size).transpose(1, 0, 2)
    d_weights = d_heads @ v.transpose(0, 2, 1)
    d_weights -= (d_weights * weights).sum(axis=-1, keepdims=True)
    d_weights *= weights
    d_weights *= scale
    d_qkv = np.empty((length, 3, HEADS, size), x.dtype)
    d_qkv[:, 0] = (d_weights @ k).transpose(1, 0, 2)
    d_qkv[:, 1] = (d_weights.transpose(0, 2, 1) @ q).transpose(1, 0, 2)
    d_qkv[:, 2] = (weights.transpose(0, 2, 1) @ d_heads).transpose(1, 0, 2)
    d_qkv = d_qkv.reshape(length, 3 * width)
    d_w_qkv = n_1.T @ d_qkv
    d_gain_1 = (d_qkv @ w_qkv.T * x_hat).sum(axis=0)
    return d_w_qkv, d_w_o, d_w_1, d_w_2, d_gain_1, d_gain_2
