"""The Gaussian mixture and the LSTM of `adbench` in JAX, as its users write them."""

import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp, multigammaln


def log_wishart_prior(diagonals, sums, below, gamma, m):
    k, d = diagonals.shape
    degrees = d + m + 1
    squares = jnp.sum(diagonals**2) + jnp.sum(below**2)
    constant = degrees * d * (jnp.log(gamma) - 0.5 * jnp.log(2)) - multigammaln(0.5 * degrees, d)
    return 0.5 * gamma**2 * squares - m * jnp.sum(sums) - k * constant


def gmm(alphas, means, icf, x, gamma, m):
    n, d = x.shape
    diagonals, below = jnp.exp(icf[:, :d]), icf[:, d:]
    sums = jnp.sum(icf[:, :d], axis=1)
    columns, rows = jnp.triu_indices(d, 1)
    lower = jnp.zeros((len(alphas), d, d)).at[:, rows, columns].set(below)
    centred = x[:, None, :] - means
    scaled = diagonals * centred + jnp.einsum("kij,nkj->nki", lower, centred)
    terms = alphas + sums - 0.5 * jnp.sum(scaled**2, axis=2)
    likelihood = jnp.sum(logsumexp(terms, axis=1)) - n * logsumexp(alphas) - 0.5 * n * d * jnp.log(2 * jnp.pi)
    return likelihood + log_wishart_prior(diagonals, sums, below, gamma, m)


def lstm_layer(weight, bias, hidden, cell, inputs):
    gates = jnp.concatenate((inputs, hidden, inputs, hidden)) * weight + bias
    forget, ingate, outgate, change = jnp.split(gates, 4)
    cell = cell * jax.nn.sigmoid(forget) + jax.nn.sigmoid(ingate) * jnp.tanh(change)
    return jax.nn.sigmoid(outgate) * jnp.tanh(cell), cell


def lstm(main_params, extra_params, state, sequence):
    layers = main_params.reshape(len(main_params) // 2, 2, -1)

    def step(state, pair):
        inputs, gold = pair
        x, new = inputs * extra_params[0], []
        for (weight, bias), (hidden, cell) in zip(layers, state):
            x, cell = lstm_layer(weight, bias, hidden, cell, x)
            new.append((x, cell))
        prediction = x * extra_params[1] + extra_params[2]
        normalised = prediction - jnp.log(jnp.sum(jnp.exp(prediction)) + 2)
        return new, jnp.sum(gold * normalised)

    pairs = [(state[i], state[i + 1]) for i in range(0, len(state), 2)]
    _, losses = jax.lax.scan(step, pairs, (sequence[:-1], sequence[1:]))
    return -jnp.sum(losses) / sequence[1:].size
