"""A bidirectional Elman network that tags each element of a sequence, with cross entropy."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("forward", "backward", "w_out", "b_out")


def inputs(size, dtype):
    steps, features, hidden, classes = {"small": (7, 3, 4, 5), "full": (400, 32, 64, 20)}[size]
    rng = np.random.default_rng(0)
    forward, backward = (
        (
            normal(rng, dtype, hidden, features, scale=features**-0.5),
            normal(rng, dtype, hidden, hidden, scale=hidden**-0.5),
            normal(rng, dtype, hidden, scale=0.1),
        )
        for _ in range(2)
    )
    w_out, b_out = normal(rng, dtype, 2 * hidden, classes, scale=(2 * hidden) ** -0.5), normal(rng, dtype, classes, scale=0.1)
    return forward, backward, w_out, b_out, normal(rng, dtype, steps, features), rng.integers(0, classes, steps)


def run(p, xs):
    w_x, w_h, b = p
    h = np.zeros(w_h.shape[0], xs.dtype)
    hs = []
    for x in xs:
        h = np.tanh(w_x @ x + w_h @ h + b)
        hs.append(h)
    return np.stack(hs)


def primal(forward, backward, w_out, b_out, xs, tags):
    left = run(forward, xs)
    right = run(backward, xs[::-1])[::-1]
    logits = np.concatenate([left, right], axis=1) @ w_out + b_out
    top = logits.max(axis=1, keepdims=True)
    log_z = top[:, 0] + np.log(np.exp(logits - top).sum(axis=1))
    return np.mean(log_z - logits[np.arange(len(tags)), tags])


def run_gradient(p, xs, hs, d_hs):
    w_x, w_h, b = p
    d_a = np.empty_like(hs)
    d_h = np.zeros(w_h.shape[0], xs.dtype)
    for t in reversed(range(len(xs))):
        d_a[t] = (d_h + d_hs[t]) * (1.0 - hs[t] ** 2)
        d_h = d_a[t] @ w_h
    return d_a.T @ xs, d_a[1:].T @ hs[:-1], d_a.sum(axis=0)


def by_hand(forward, backward, w_out, b_out, xs, tags):
    n = forward[1].shape[0]
    reversed_xs = xs[::-1]
    left, right = run(forward, xs), run(backward, reversed_xs)
    states = np.concatenate([left, right[::-1]], axis=1)
    logits = states @ w_out + b_out
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(tags)), tags] -= 1.0
    p /= len(tags)
    d_states = p @ w_out.T
    d_forward = run_gradient(forward, xs, left, d_states[:, :n])
    d_backward = run_gradient(backward, reversed_xs, right, d_states[::-1, n:])
    return d_forward, d_backward, states.T @ p, p.sum(axis=0)
