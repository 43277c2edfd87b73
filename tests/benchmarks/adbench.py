"""The Gaussian mixture and the LSTM of ADBench, as their definitions say them, in plain NumPy.

F. Srajer, Z. Kukelova, A. Fitzgibbon: A benchmark of selected algorithmic differentiation tools on some problems in computer
vision and machine learning, Optimization Methods and Software 33 (2018); https://github.com/microsoft/ADBench.
"""

import numpy as np
from scipy.special import multigammaln


def log_sum_exp(x, axis):
    """log(sum(exp(x))) over an axis, without overflow."""
    largest = np.max(x, axis=axis, keepdims=True)
    return np.log(np.sum(np.exp(x - largest), axis=axis)) + np.squeeze(largest, axis=axis)


def log_wishart_prior(diagonals, sums, below, gamma, m):
    """The logarithm of the Wishart prior of all inverse covariances Q Q^T."""
    k, d = diagonals.shape
    degrees = d + m + 1
    squares = np.sum(diagonals**2) + np.sum(below**2)
    constant = degrees * d * (np.log(gamma) - 0.5 * np.log(2)) - multigammaln(0.5 * degrees, d)
    return 0.5 * gamma**2 * squares - m * np.sum(sums) - k * constant


def gmm(alphas, means, icf, x, gamma, m):
    """The logarithm of the posterior of a mixture of K Gaussians in d dimensions, given n points.

    Args:
        alphas: (K,), logarithms of the weights up to a constant.
        means: (K, d).
        icf: (K, d (d + 1) / 2); each row has the logarithms of the diagonal of Q, then what is below it, column by column.
        x: (n, d).
        gamma, m: of the Wishart prior.
    """
    n, d = x.shape
    diagonals, below = np.exp(icf[:, :d]), icf[:, d:]
    sums = np.sum(icf[:, :d], axis=1)
    columns, rows = np.triu_indices(d, 1)
    lower = np.zeros((len(alphas), d, d))
    lower[:, rows, columns] = below
    centred = x[:, np.newaxis, :] - means
    scaled = diagonals * centred + np.einsum("kij,nkj->nki", lower, centred)
    terms = alphas + sums - 0.5 * np.sum(scaled**2, axis=2)
    likelihood = np.sum(log_sum_exp(terms, axis=1)) - n * log_sum_exp(alphas, axis=0) - 0.5 * n * d * np.log(2 * np.pi)
    return likelihood + log_wishart_prior(diagonals, sums, below, gamma, m)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_layer(weight, bias, hidden, cell, inputs):
    """The next hidden state and cell of one layer; the weights of ADBench's LSTM are applied element by element."""
    size = len(hidden)
    gates = np.concatenate((inputs, hidden, inputs, hidden)) * weight + bias
    forget = sigmoid(gates[:size])
    ingate = sigmoid(gates[size : 2 * size])
    outgate = sigmoid(gates[2 * size : 3 * size])
    change = np.tanh(gates[3 * size :])
    cell = cell * forget + ingate * change
    return outgate * np.tanh(cell), cell


def lstm(main_params, extra_params, state, sequence):
    """The loss of a network of l LSTM layers that predicts each character of a text from those before.

    Args:
        main_params: (2 l, 4 b), weights and biases of the layers in turns.
        extra_params: (3, b), the weights of the input, and the weights and biases of the output.
        state: (2 l, b), hidden states and cells at the beginning in turns.
        sequence: (c, b), the text, one row a character.
    """
    state = state.copy()
    total, count = 0.0, 0
    for t in range(len(sequence) - 1):
        x = sequence[t] * extra_params[0]
        for i in range(0, len(state), 2):
            state[i], state[i + 1] = lstm_layer(main_params[i], main_params[i + 1], state[i], state[i + 1], x)
            x = state[i]
        prediction = x * extra_params[1] + extra_params[2]
        normalised = prediction - np.log(np.sum(np.exp(prediction)) + 2)
        gold = sequence[t + 1]
        total += np.sum(gold * normalised)
        count += len(gold)
    return -total / count


def gmm_arguments(n=1000, d=10, k=25, seed=0):
    """Parameters and points at random."""
    rng = np.random.default_rng(seed)
    icf = rng.normal(size=(k, d * (d + 1) // 2))
    return rng.normal(size=k), rng.uniform(size=(k, d)), icf, rng.normal(size=(n, d)), 1.0, 0


def lstm_arguments(layers=2, characters=1024, size=14, seed=0):
    """Parameters at random, and a text whose characters are rows of bits."""
    rng = np.random.default_rng(seed)
    shapes = (2 * layers, 4 * size), (3, size), (2 * layers, size)
    sequence = rng.integers(0, 2, (characters, size)).astype(float)
    return (*(rng.uniform(-1, 1, shape) for shape in shapes), sequence)
