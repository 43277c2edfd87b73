"""A conditional random field over sequences: scores of tags from features, and of tags that follow each other."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w", "transitions")


def inputs(size, dtype):
    n, steps, features, tags = {"small": (2, 4, 3, 3), "full": (16, 40, 50, 12)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, features, tags, scale=features**-0.5),
        normal(rng, dtype, tags, tags),
        normal(rng, dtype, n, steps, features),
        rng.integers(0, tags, (n, steps)),
    )


def logsumexp(a, axis):
    top = np.max(a, axis=axis, keepdims=True)
    return np.log(np.sum(np.exp(a - top), axis=axis)) + np.squeeze(top, axis=axis)


def primal(w, transitions, x, tags):
    n, steps, _ = x.shape
    scores = x @ w
    rows = np.arange(n)
    gold = scores[rows, 0, tags[:, 0]]
    alpha = scores[:, 0]
    for t in range(1, steps):
        gold = gold + scores[rows, t, tags[:, t]] + transitions[tags[:, t - 1], tags[:, t]]
        alpha = logsumexp(alpha[:, :, None] + transitions, 1) + scores[:, t]
    return np.mean(logsumexp(alpha, 1) - gold)


def by_hand(w, transitions, x, tags):
    """Marginals of tags and of pairs by forward and backward messages, less what is there."""
    n, steps, features = x.shape
    scores = x @ w
    factors = np.exp(scores - np.max(scores, axis=2, keepdims=True))
    steps_factors = np.exp(transitions - np.max(transitions))
    alphas = np.empty_like(factors)
    totals = np.empty((steps, n, 1), x.dtype)
    for t in range(steps):
        alpha = factors[:, t].copy()
        if t > 0:
            alpha *= alphas[:, t - 1] @ steps_factors
        totals[t] = np.sum(alpha, axis=1, keepdims=True)
        alphas[:, t] = alpha / totals[t]
    d_scores = np.empty_like(factors)
    messages = np.empty_like(factors)
    beta = np.ones_like(alpha)
    for t in reversed(range(steps)):
        d_scores[:, t] = alphas[:, t] * beta
        messages[:, t] = factors[:, t] * beta / totals[t]
        beta = messages[:, t] @ steps_factors.T
    kinds = len(transitions)
    d_transitions = alphas[:, :-1].reshape(-1, kinds).T @ messages[:, 1:].reshape(-1, kinds)
    d_transitions *= steps_factors
    np.subtract.at(d_transitions, (tags[:, :-1], tags[:, 1:]), 1)
    d_scores[np.arange(n)[:, None], np.arange(steps), tags] -= 1
    d_transitions /= n
    d_scores /= n
    return x.reshape(-1, features).T @ d_scores.reshape(-1, kinds), d_transitions
