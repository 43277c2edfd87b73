"""A linear classifier with softmax and cross entropy."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w", "b")


def inputs(size, dtype):
    n, features, classes = {"small": (6, 5, 3), "full": (1000, 784, 10)}[size]
    rng = np.random.default_rng(0)
    x = normal(rng, dtype, n, features)
    return normal(rng, dtype, features, classes, scale=0.1), np.zeros(classes, dtype), x, rng.integers(0, classes, n)


def primal(w, b, x, labels):
    logits = x @ w + b
    logits = logits - np.max(logits, axis=1, keepdims=True)
    log_probs = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.mean(log_probs[np.arange(len(labels)), labels])


def by_hand(w, b, x, labels):
    logits = x @ w + b
    d_logits = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    d_logits /= np.sum(d_logits, axis=1, keepdims=True)
    d_logits[np.arange(len(labels)), labels] -= 1
    d_logits /= len(labels)
    return x.T @ d_logits, np.sum(d_logits, axis=0)
