"""InfoNCE: two views of each sample are encoded, normalised and told apart from those of the other samples."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w", "b")


def inputs(size, dtype):
    n, features, units = {"small": (4, 5, 3), "full": (256, 256, 64)}[size]
    rng = np.random.default_rng(0)
    x1 = normal(rng, dtype, n, features)
    return (
        normal(rng, dtype, features, units, scale=features**-0.5),
        normal(rng, dtype, units, scale=0.1),
        x1,
        x1 + normal(rng, dtype, n, features, scale=0.5),
        0.2,
    )


def encode(x, w, b):
    z = np.tanh(x @ w + b)
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def cross_entropy_of_diagonal(logits):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_probs = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(np.diag(log_probs))


def primal(w, b, x1, x2, temperature):
    logits = encode(x1, w, b) @ encode(x2, w, b).T / temperature
    return 0.5 * (cross_entropy_of_diagonal(logits) + cross_entropy_of_diagonal(logits.T))


def softmax(logits, axis):
    e = np.exp(logits - np.max(logits, axis=axis, keepdims=True))
    e /= np.sum(e, axis=axis, keepdims=True)
    return e


def by_hand(w, b, x1, x2, temperature):
    n = len(x1)
    x = np.concatenate([x1, x2])
    a = np.tanh(x @ w + b)
    norms = np.linalg.norm(a, axis=1, keepdims=True)
    z = a / norms
    logits = z[:n] @ z[n:].T
    logits /= temperature
    d_logits = softmax(logits, 1)
    d_logits += softmax(logits, 0)
    d_logits[np.arange(n), np.arange(n)] -= 2
    d_logits /= 2 * n * temperature
    d_z = np.concatenate([d_logits @ z[n:], d_logits.T @ z[:n]])
    d_z -= z * np.sum(d_z * z, axis=1, keepdims=True)
    d_z /= norms
    d_z *= 1 - a**2
    return x.T @ d_z, np.sum(d_z, axis=0)
