"""Causal self-attention with one head."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("wq", "wk", "wv", "wo")


def inputs(size, dtype):
    n, length, units = {"small": (2, 3, 4), "full": (8, 64, 64)}[size]
    rng = np.random.default_rng(0)
    weights = [normal(rng, dtype, units, units, scale=units**-0.5) for _ in range(4)]
    return *weights, normal(rng, dtype, n, length, units), normal(rng, dtype, n, length, units)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def primal(wq, wk, wv, wo, x, y):
    length = x.shape[1]
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = q @ k.transpose(0, 2, 1) / q.shape[-1] ** 0.5
    future = np.triu(np.ones((length, length), dtype=bool), 1)
    scores = np.where(future, -1e9, scores)
    out = softmax(scores) @ v @ wo
    return np.mean((out - y) ** 2)


def by_hand(wq, wk, wv, wo, x, y):
    n, length, units = x.shape
    scale = units**-0.5
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = q @ k.transpose(0, 2, 1)
    scores *= scale
    scores[:, np.triu(np.ones((length, length), dtype=bool), 1)] = -1e9
    weights = softmax(scores)
    mixed = weights @ v
    d_out = mixed @ wo - y
    d_out *= 2 / y.size
    d_mixed = d_out @ wo.T
    d_v = weights.transpose(0, 2, 1) @ d_mixed
    d_scores = d_mixed @ v.transpose(0, 2, 1)
    d_scores -= np.sum(d_scores * weights, axis=-1, keepdims=True)
    d_scores *= weights
    d_scores *= scale
    d_q = d_scores @ k
    d_k = d_scores.transpose(0, 2, 1) @ q
    rows = x.reshape(-1, units).T
    return (
        rows @ d_q.reshape(-1, units),
        rows @ d_k.reshape(-1, units),
        rows @ d_v.reshape(-1, units),
        mixed.reshape(-1, units).T @ d_out.reshape(-1, units),
    )
