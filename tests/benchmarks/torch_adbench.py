"""The Gaussian mixture and the LSTM of `adbench` in PyTorch, as its users write them."""

import math

import torch


def log_wishart_prior(diagonals, sums, below, gamma, m):
    k, d = diagonals.shape
    degrees = d + m + 1
    squares = torch.sum(diagonals**2) + torch.sum(below**2)
    constant = degrees * d * (math.log(gamma) - 0.5 * math.log(2)) - torch.special.multigammaln(
        torch.tensor(0.5 * degrees), d
    )
    return 0.5 * gamma**2 * squares - m * torch.sum(sums) - k * constant


def gmm(alphas, means, icf, x, gamma, m):
    n, d = x.shape
    diagonals, below = torch.exp(icf[:, :d]), icf[:, d:]
    sums = torch.sum(icf[:, :d], dim=1)
    columns, rows = torch.triu_indices(d, d, 1)
    lower = torch.zeros((len(alphas), d, d), dtype=x.dtype)
    lower[:, rows, columns] = below
    centred = x[:, None, :] - means
    scaled = diagonals * centred + torch.einsum("kij,nkj->nki", lower, centred)
    terms = alphas + sums - 0.5 * torch.sum(scaled**2, dim=2)
    likelihood = (
        torch.sum(torch.logsumexp(terms, 1)) - n * torch.logsumexp(alphas, 0) - 0.5 * n * d * math.log(2 * math.pi)
    )
    return likelihood + log_wishart_prior(diagonals, sums, below, gamma, m)


def lstm_layer(weight, bias, hidden, cell, inputs):
    forget, ingate, outgate, change = (torch.cat((inputs, hidden, inputs, hidden)) * weight + bias).chunk(4)
    cell = cell * torch.sigmoid(forget) + torch.sigmoid(ingate) * torch.tanh(change)
    return torch.sigmoid(outgate) * torch.tanh(cell), cell


def lstm(main_params, extra_params, state, sequence):
    state, total = list(state), 0.0
    for inputs, gold in zip(sequence[:-1], sequence[1:]):
        x = inputs * extra_params[0]
        for i in range(0, len(state), 2):
            x, state[i + 1] = lstm_layer(main_params[i], main_params[i + 1], state[i], state[i + 1], x)
            state[i] = x
        prediction = x * extra_params[1] + extra_params[2]
        total = total + torch.sum(gold * (prediction - torch.log(torch.sum(torch.exp(prediction)) + 2)))
    return -total / sequence[1:].numel()
