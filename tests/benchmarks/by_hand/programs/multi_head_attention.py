"""Attention with several heads, a residual connection, and a classifier of the mean over the sequence."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("p",)


def inputs(size, dtype):
    n, length, units, classes, heads = {"small": (2, 3, 4, 3, 2), "full": (16, 48, 64, 10, 4)}[size]
    rng = np.random.default_rng(0)
    p = {name: normal(rng, dtype, units, units, scale=units**-0.5) for name in ("wq", "wk", "wv", "wo")}
    p["wc"] = normal(rng, dtype, units, classes, scale=units**-0.5)
    p["bc"] = normal(rng, dtype, classes, scale=0.1)
    return p, normal(rng, dtype, n, length, units), rng.integers(0, classes, n), heads


def split_heads(x, heads):
    n, length, units = x.shape
    return x.reshape(n, length, heads, units // heads).transpose(0, 2, 1, 3)


def merge_heads(x):
    n, heads, length, depth = x.shape
    return x.transpose(0, 2, 1, 3).reshape(n, length, heads * depth)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def primal(p, x, labels, heads):
    q = split_heads(x @ p["wq"], heads)
    k = split_heads(x @ p["wk"], heads)
    v = split_heads(x @ p["wv"], heads)
    weights = softmax(q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5)
    h = x + merge_heads(weights @ v) @ p["wo"]
    logits = h.mean(axis=1) @ p["wc"] + p["bc"]
    probs = softmax(logits)
    return -np.mean(np.log(probs[np.arange(len(labels)), labels]))


def by_hand(p, x, labels, heads):
    n, length, units = x.shape
    scale = (units // heads) ** -0.5
    q = split_heads(x @ p["wq"], heads)
    k = split_heads(x @ p["wk"], heads)
    v = split_heads(x @ p["wv"], heads)
    weights = softmax(q @ k.swapaxes(-1, -2) * scale)
    mixed = merge_heads(weights @ v)
    h = x + mixed @ p["wo"]
    pooled = h.mean(axis=1)

    d_logits = softmax(pooled @ p["wc"] + p["bc"])
    d_logits[np.arange(n), labels] -= 1
    d_logits /= n
    d_pooled = d_logits @ p["wc"].T / length  # the gradient of every row of h
    d_mixed = split_heads(np.repeat((d_pooled @ p["wo"].T)[:, None], length, axis=1), heads)
    d_v = weights.swapaxes(-1, -2) @ d_mixed
    d_scores = d_mixed @ v.swapaxes(-1, -2)
    d_scores -= (d_scores * weights).sum(axis=-1, keepdims=True)
    d_scores *= weights
    d_scores *= scale
    d_q = d_scores @ k
    d_k = d_scores.swapaxes(-1, -2) @ q
    rows = x.reshape(-1, units).T
    return {
        "wq": rows @ merge_heads(d_q).reshape(-1, units),
        "wk": rows @ merge_heads(d_k).reshape(-1, units),
        "wv": rows @ merge_heads(d_v).reshape(-1, units),
        "wo": mixed.sum(axis=1).T @ d_pooled,
        "wc": pooled.T @ d_logits,
        "bc": d_logits.sum(axis=0),
    }
