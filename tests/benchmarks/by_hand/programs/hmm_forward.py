"""Log-likelihood of a hidden Markov model with discrete emissions, by the forward algorithm in logarithms."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("start", "moves", "emissions")


def inputs(size, dtype):
    steps, states, symbols = {"small": (4, 3, 5), "full": (300, 20, 30)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, states),
        normal(rng, dtype, states, states),
        normal(rng, dtype, states, symbols),
        rng.integers(0, symbols, steps),
    )


def logsumexp(a, axis, keepdims=False):
    top = np.max(a, axis=axis, keepdims=True)
    out = top + np.log(np.sum(np.exp(a - top), axis=axis, keepdims=True))
    return out if keepdims else np.squeeze(out, axis)


def primal(start, moves, emissions, observed):
    log_start = start - logsumexp(start, 0)
    log_moves = moves - logsumexp(moves, 1, keepdims=True)
    log_emissions = emissions - logsumexp(emissions, 1, keepdims=True)
    alpha = log_start + log_emissions[:, observed[0]]
    for symbol in observed[1:]:
        alpha = logsumexp(alpha[:, None] + log_moves, 0) + log_emissions[:, symbol]
    return logsumexp(alpha, 0)


def softmax(a):
    e = np.exp(a - np.max(a, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def by_hand(start, moves, emissions, observed):
    """The expected counts of Baum and Welch, with probabilities that are scaled at every step."""
    pi, A, B = softmax(start), softmax(moves), softmax(emissions)
    seen = B.T[observed]
    filtered, totals = np.empty_like(seen), np.empty(len(seen), seen.dtype)
    p = pi
    for t in range(len(seen)):
        p = seen[t] * (p if t == 0 else p @ A)
        totals[t] = np.sum(p)
        p /= totals[t]
        filtered[t] = p
    messages = np.empty_like(seen)  # what follows, given the state; with the emission of this step
    beta = np.ones_like(p)
    states = np.empty_like(seen)
    for t in reversed(range(len(seen))):
        states[t] = filtered[t] * beta
        messages[t] = seen[t] * beta / totals[t]
        beta = A @ messages[t]
    d_moves = filtered[:-1].T @ messages[1:] * A
    d_emissions = np.zeros_like(B)
    np.add.at(d_emissions.T, observed, states)
    d_moves -= A * np.sum(d_moves, axis=1, keepdims=True)
    d_emissions -= B * np.sum(d_emissions, axis=1, keepdims=True)
    return states[0] - pi, d_moves, d_emissions
