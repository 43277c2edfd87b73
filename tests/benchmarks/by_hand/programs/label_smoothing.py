"""Cross-entropy with smoothed labels, and class weights."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w", "b")


def inputs(size, dtype):
    n, features, classes = {"small": (6, 4, 3), "full": (2000, 50, 40)}[size]
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2, classes).astype(dtype)
    return (
        normal(rng, dtype, features, classes), normal(rng, dtype, classes), normal(rng, dtype, n, features),
        rng.integers(0, classes, n), weights, dtype(0.1),
    )  # fmt: skip


def primal(w, b, x, labels, weights, smoothing):
    logits = x @ w + b
    m = np.max(logits, axis=1, keepdims=True)
    log_probs = logits - m - np.log(np.sum(np.exp(logits - m), axis=1, keepdims=True))
    targets = (1 - smoothing) * np.eye(w.shape[1], dtype=w.dtype)[labels] + smoothing / w.shape[1]
    losses = -np.sum(targets * log_probs, axis=1)
    return np.sum(weights[labels] * losses) / np.sum(weights[labels])


def by_hand(w, b, x, labels, weights, smoothing):
    n, classes = len(x), w.shape[1]
    logits = x @ w + b
    logits -= np.max(logits, axis=1, keepdims=True)
    p = np.exp(logits)
    p /= np.sum(p, axis=1, keepdims=True)
    p -= smoothing / classes
    p[np.arange(n), labels] -= 1 - smoothing
    shares = weights[labels]
    shares /= np.sum(shares)
    p *= shares[:, None]
    return x.T @ p, np.sum(p, axis=0)
