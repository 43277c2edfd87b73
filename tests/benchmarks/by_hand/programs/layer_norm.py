"""Two dense layers with layer normalisation between them."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w1", "gain", "shift", "w2", "b2")


def inputs(size, dtype):
    n, features, hidden, classes = {"small": (5, 4, 6, 3), "full": (500, 200, 200, 10)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, features, hidden, scale=features**-0.5),
        1 + normal(rng, dtype, hidden, scale=0.1),
        normal(rng, dtype, hidden, scale=0.1),
        normal(rng, dtype, hidden, classes, scale=hidden**-0.5),
        normal(rng, dtype, classes, scale=0.1),
        normal(rng, dtype, n, features),
        rng.integers(0, classes, n),
    )


def layer_norm(x, gain, shift, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return gain * (x - mean) / np.sqrt(var + eps) + shift


def cross_entropy(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    totals = np.log(np.exp(shifted).sum(axis=1))
    return np.mean(totals - shifted[np.arange(len(labels)), labels])


def primal(w1, gain, shift, w2, b2, x, labels):
    h = np.maximum(layer_norm(x @ w1, gain, shift), 0)
    return cross_entropy(h @ w2 + b2, labels)


def by_hand(w1, gain, shift, w2, b2, x, labels):
    normed = x @ w1
    normed -= normed.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(np.mean(normed**2, axis=-1, keepdims=True) + 1e-5)
    normed /= deviation
    h = np.maximum(gain * normed + shift, 0)
    logits = h @ w2 + b2

    d_logits = np.exp(logits - logits.max(axis=1, keepdims=True))
    d_logits /= d_logits.sum(axis=1, keepdims=True)
    d_logits[np.arange(len(labels)), labels] -= 1
    d_logits /= len(labels)
    d_h = d_logits @ w2.T
    d_h *= h > 0
    d_gain = np.sum(d_h * normed, axis=0)
    d_shift = np.sum(d_h, axis=0)
    d_h *= gain
    d_h -= d_h.mean(axis=-1, keepdims=True) + normed * np.mean(d_h * normed, axis=-1, keepdims=True)
    d_h /= deviation
    return x.T @ d_h, d_gain, d_shift, h.T @ d_logits, d_logits.sum(axis=0)
