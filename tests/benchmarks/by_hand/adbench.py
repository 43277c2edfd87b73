"""The gradients of `adbench` as an expert writes them: the mixture in NumPy, the LSTM for Numba."""

import math

import numba
import numpy as np


def gmm(alphas, means, icf, x, gamma, m):
    """The gradient with respect to alphas, means and icf; the points lie along the second axis, below each Gaussian."""
    n, d = x.shape
    diagonals, below = np.exp(icf[:, :d]), icf[:, d:]
    columns, rows = np.triu_indices(d, 1)
    lower = np.zeros((len(alphas), d, d))
    lower[:, rows, columns] = below
    centred = x - means[:, np.newaxis, :]
    scaled = centred @ lower.transpose(0, 2, 1)
    scaled += diagonals[:, np.newaxis, :] * centred
    terms = (alphas + np.sum(icf[:, :d], axis=1))[:, np.newaxis] - 0.5 * np.einsum("kni,kni->kn", scaled, scaled)
    shares = np.exp(terms - np.max(terms, axis=0))
    shares /= np.sum(shares, axis=0)
    weights = np.exp(alphas - np.max(alphas))

    counts = np.sum(shares, axis=1)
    scaled *= -shares[:, :, np.newaxis]
    d_centred = scaled @ lower
    d_centred += scaled * diagonals[:, np.newaxis, :]
    d_lower = scaled.transpose(0, 2, 1) @ centred
    d_icf = np.empty_like(icf)
    d_icf[:, d:] = d_lower[:, rows, columns] + gamma**2 * below
    d_icf[:, :d] = (np.einsum("kni,kni->ki", scaled, centred) + gamma**2 * diagonals) * diagonals
    d_icf[:, :d] += (counts - m)[:, np.newaxis]
    return counts - n / np.sum(weights) * weights, -np.sum(d_centred, axis=1), d_icf


@numba.njit(error_model="numpy")
def lstm(main_params, extra_params, state, sequence):
    """The gradient with respect to main_params and extra_params."""
    steps, size, layers = len(sequence) - 1, state.shape[1], len(state) // 2
    saved = np.empty(
        (steps, layers, 8, size)
    )  # input, hidden, cell, forget, ingate, outgate, change, tanh of the next cell
    last, outputs = state.copy(), np.empty((steps, 2, size))
    for t in range(steps):
        for k in range(layers):
            w, b, kept = main_params[2 * k], main_params[2 * k + 1], saved[t, k]
            for j in range(size):
                x = last[2 * k - 2, j] if k else sequence[t, j] * extra_params[0, j]
                h, c = last[2 * k, j], last[2 * k + 1, j]
                f = 1 / (1 + math.exp(-(x * w[j] + b[j])))
                i = 1 / (1 + math.exp(-(h * w[size + j] + b[size + j])))
                o = 1 / (1 + math.exp(-(x * w[2 * size + j] + b[2 * size + j])))
                g = math.tanh(h * w[3 * size + j] + b[3 * size + j])
                kept[0, j], kept[1, j], kept[2, j], kept[3, j], kept[4, j], kept[5, j], kept[6, j] = x, h, c, f, i, o, g
                c = c * f + i * g
                kept[7, j] = math.tanh(c)
                last[2 * k, j], last[2 * k + 1, j] = o * kept[7, j], c
        total = 2.0
        for j in range(size):
            outputs[t, 0, j] = last[2 * layers - 2, j]
            outputs[t, 1, j] = math.exp(outputs[t, 0, j] * extra_params[1, j] + extra_params[2, j])
            total += outputs[t, 1, j]
        for j in range(size):
            outputs[t, 1, j] /= total

    d_main, d_extra, d_state = np.zeros_like(main_params), np.zeros_like(extra_params), np.zeros_like(state)
    d_x, scale = np.empty(size), -1 / (steps * size)
    for t in range(steps - 1, -1, -1):
        gold, chosen = sequence[t + 1], 0.0
        for j in range(size):
            chosen += gold[j]
        for j in range(size):
            d = scale * (gold[j] - chosen * outputs[t, 1, j])
            d_extra[1, j] += d * outputs[t, 0, j]
            d_extra[2, j] += d
            d_x[j] = d * extra_params[1, j]
        for k in range(layers - 1, -1, -1):
            w, d_w, d_b, kept = main_params[2 * k], d_main[2 * k], d_main[2 * k + 1], saved[t, k]
            for j in range(size):
                x, h, c, f, i, o, g, tanh_c = (
                    kept[0, j],
                    kept[1, j],
                    kept[2, j],
                    kept[3, j],
                    kept[4, j],
                    kept[5, j],
                    kept[6, j],
                    kept[7, j],
                )
                d_h = d_state[2 * k, j] + d_x[j]
                d_c = d_state[2 * k + 1, j] + d_h * o * (1 - tanh_c * tanh_c)
                z_f, z_i = d_c * c * f * (1 - f), d_c * g * i * (1 - i)
                z_o, z_g = d_h * tanh_c * o * (1 - o), d_c * i * (1 - g * g)
                d_b[j] += z_f
                d_b[size + j] += z_i
                d_b[2 * size + j] += z_o
                d_b[3 * size + j] += z_g
                d_w[j] += z_f * x
                d_w[size + j] += z_i * h
                d_w[2 * size + j] += z_o * x
                d_w[3 * size + j] += z_g * h
                d_x[j] = z_f * w[j] + z_o * w[2 * size + j]
                d_state[2 * k, j] = z_i * w[size + j] + z_g * w[3 * size + j]
                d_state[2 * k + 1, j] = d_c * f
        for j in range(size):
            d_extra[0, j] += d_x[j] * sequence[t, j]
    return d_main, d_extra
