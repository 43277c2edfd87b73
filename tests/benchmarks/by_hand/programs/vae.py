"""The loss of a variational autoencoder with Bernoulli pixels, for noise that was drawn before."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w1", "b1", "wm", "bm", "wv", "bv", "w2", "b2", "w3", "b3")


def inputs(size, dtype):
    n, pixels, hidden, latent = {"small": (4, 5, 4, 2), "full": (100, 400, 128, 16)}[size]
    rng = np.random.default_rng(0)
    layers = ((pixels, hidden), (hidden, latent), (hidden, latent), (latent, hidden), (hidden, pixels))
    parameters = []
    for before, after in layers:
        parameters += [normal(rng, dtype, before, after, scale=before**-0.5), normal(rng, dtype, after, scale=0.1)]
    return *parameters, rng.random((n, pixels)).astype(dtype), normal(rng, dtype, n, latent)


def primal(w1, b1, wm, bm, wv, bv, w2, b2, w3, b3, x, noise):
    h = np.tanh(x @ w1 + b1)
    mean = h @ wm + bm
    log_var = h @ wv + bv
    z = mean + np.exp(0.5 * log_var) * noise
    logits = np.tanh(z @ w2 + b2) @ w3 + b3
    reconstruction = np.sum(np.logaddexp(0, logits) - x * logits)
    kl = -0.5 * np.sum(1 + log_var - mean**2 - np.exp(log_var))
    return (reconstruction + kl) / len(x)


def by_hand(w1, b1, wm, bm, wv, bv, w2, b2, w3, b3, x, noise):
    n = len(x)
    h = np.tanh(x @ w1 + b1)
    mean = h @ wm + bm
    deviation = np.exp(0.5 * (h @ wv + bv))
    z = mean + deviation * noise
    g = np.tanh(z @ w2 + b2)

    d_logits = 1 / (1 + np.exp(-(g @ w3 + b3)))
    d_logits -= x
    d_logits /= n
    d_g = d_logits @ w3.T
    d_g *= 1 - g**2
    d_mean = d_g @ w2.T
    d_log_var = 0.5 * (d_mean * noise * deviation + (deviation**2 - 1) / n)
    d_mean += mean / n
    d_h = d_mean @ wm.T
    d_h += d_log_var @ wv.T
    d_h *= 1 - h**2
    return (
        x.T @ d_h, np.sum(d_h, axis=0),
        h.T @ d_mean, np.sum(d_mean, axis=0),
        h.T @ d_log_var, np.sum(d_log_var, axis=0),
        z.T @ d_g, np.sum(d_g, axis=0),
        g.T @ d_logits, np.sum(d_logits, axis=0),
    )  # fmt: skip
