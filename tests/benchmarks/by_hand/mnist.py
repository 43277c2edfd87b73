"""Gradients of the networks of `examples/mnist_*.py` as one writes them by hand, plain; each returns the loss and the gradients."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def sigmoid(x):
    return 0.5 * np.tanh(0.5 * x) + 0.5


def softmax_cross_entropy(logits, labels):
    """The loss, and its gradient by the logits."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    powers = np.exp(shifted)
    totals = powers.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    value = np.mean(np.log(totals[:, 0]) - shifted[rows, labels])
    powers /= totals
    powers[rows, labels] -= 1
    powers /= len(labels)
    return value, powers


# The convolutional network: im2col, as textbooks have it


def columns_of(x, size):
    """The patches of images (batch, channels, height, width), one row each."""
    windows = sliding_window_view(x, (size, size), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, x.shape[1] * size * size)


def convolve(x, w, b):
    columns = columns_of(x, w.shape[2])
    y = columns @ w.reshape(len(w), -1).T + b
    side = x.shape[2] - w.shape[2] + 1
    return y.reshape(len(x), side, side, len(w)).transpose(0, 3, 1, 2), columns


def convolve_back(d, columns, w):
    """The gradients of the kernels and the bias, and the rows of that of the patches."""
    rows = d.transpose(0, 2, 3, 1).reshape(-1, len(w))
    return rows, (rows.T @ columns).reshape(w.shape), rows.sum(axis=0)


def images_back(rows, w, shape):
    """The gradient of the images, from that of the patches."""
    count, channels, height, width = shape
    size = w.shape[2]
    high, wide = height - size + 1, width - size + 1
    patches = (rows @ w.reshape(len(w), -1)).reshape(count, high, wide, channels, size, size)
    d_x = np.zeros(shape, rows.dtype)
    for i in range(size):
        for j in range(size):
            d_x[:, :, i : i + high, j : j + wide] += patches[:, :, :, :, i, j].transpose(0, 3, 1, 2)
    return d_x


def pool(x):
    high, wide = x.shape[2] // 2, x.shape[3] // 2
    blocks = x[:, :, : 2 * high, : 2 * wide].reshape(*x.shape[:2], high, 2, wide, 2)
    return blocks.max(axis=(3, 5)), blocks


def pool_back(d, y, blocks, shape):
    d_x = np.zeros(shape, d.dtype)
    high, wide = y.shape[2:]
    hit = blocks == y[:, :, :, None, :, None]
    taken = hit[:, :, :, 0, :, 0].copy()  # of equal pixels the first takes all, as in PyTorch
    for i, j in ((0, 1), (1, 0), (1, 1)):
        hit[:, :, :, i, :, j] &= ~taken
        taken |= hit[:, :, :, i, :, j]
    d_blocks = hit * d[:, :, :, None, :, None]
    d_x[:, :, : 2 * high, : 2 * wide] = d_blocks.reshape(*shape[:2], 2 * high, 2 * wide)
    return d_x


def cnn(p, images, labels):
    (w1, b1), (w2, b2), (w3, b3), (w4, b4) = p
    z1, columns1 = convolve(images, w1, b1)
    h1 = np.maximum(z1, 0)
    p1, blocks1 = pool(h1)
    z2, columns2 = convolve(p1, w2, b2)
    h2 = np.maximum(z2, 0)
    p2, blocks2 = pool(h2)
    flat = p2.reshape(len(images), -1)
    h3 = np.maximum(flat @ w3 + b3, 0)
    value, d4 = softmax_cross_entropy(h3 @ w4 + b4, labels)
    d3 = d4 @ w4.T * (h3 > 0)
    d2 = pool_back((d3 @ w3.T).reshape(p2.shape), p2, blocks2, h2.shape) * (z2 > 0)
    rows2, d_w2, d_b2 = convolve_back(d2, columns2, w2)
    d1 = pool_back(images_back(rows2, w2, p1.shape), p1, blocks1, h1.shape) * (z1 > 0)
    _, d_w1, d_b1 = convolve_back(d1, columns1, w1)
    return value, [d_w1, d_b1, d_w2, d_b2, flat.T @ d3, d3.sum(axis=0), h3.T @ d4, d4.sum(axis=0)]


# Dense networks


def mlp(p, images, labels):
    (w1, b1), (w2, b2) = p
    h = np.maximum(images @ w1 + b1, 0)
    value, d2 = softmax_cross_entropy(h @ w2 + b2, labels)
    d1 = d2 @ w2.T * (h > 0)
    return value, [images.T @ d1, d1.sum(axis=0), h.T @ d2, d2.sum(axis=0)]


def autoencoder(p, images):
    we1, b1, we2, b2, wd, bd = p
    h = sigmoid(images @ we1 + b1)
    code = sigmoid(h @ we2 + b2)
    out = sigmoid(code @ wd + bd)
    error = out - images
    d3 = 2 / len(images) * error * out * (1 - out)
    d2 = d3 @ wd.T * code * (1 - code)
    d1 = d2 @ we2.T * h * (1 - h)
    value = np.mean(np.sum(error * error, axis=1))
    return value, [images.T @ d1, d1.sum(axis=0), h.T @ d2, d2.sum(axis=0), code.T @ d3, d3.sum(axis=0)]


# Recurrent networks


def lstm(p, xs, labels):
    (w, u, b), (wo, bo) = p
    steps, count, _ = xs.shape
    n = len(u)
    rows = xs.reshape(steps * count, -1)
    zs = (rows @ w + b).reshape(steps, count, 4 * n)
    h = c = np.zeros((count, n), xs.dtype)
    saved = []
    for z in zs:
        z = z + h @ u
        gates = sigmoid(z[:, : 3 * n])
        g = np.tanh(z[:, 3 * n :])
        before = (h, c)
        c = gates[:, n : 2 * n] * c + gates[:, :n] * g
        t = np.tanh(c)
        h = gates[:, 2 * n :] * t
        saved.append((*before, gates, g, t))
    value, d_logits = softmax_cross_entropy(h @ wo + bo, labels)
    d_h, d_c = d_logits @ wo.T, np.zeros_like(c)
    d_wo, d_bo, d_u = h.T @ d_logits, d_logits.sum(axis=0), np.zeros_like(u)
    d_zs = np.empty_like(zs)
    for d_z, (h, c, gates, g, t) in zip(d_zs[::-1], saved[::-1]):
        i, f, o = gates[:, :n], gates[:, n : 2 * n], gates[:, 2 * n :]
        d_c = d_c + d_h * o * (1 - t * t)
        d_z[:, :n] = d_c * g
        d_z[:, n : 2 * n] = d_c * c
        d_z[:, 2 * n : 3 * n] = d_h * t
        d_z[:, : 3 * n] *= gates * (1 - gates)
        d_z[:, 3 * n :] = d_c * i * (1 - g * g)
        d_c = d_c * f
        d_h = d_z @ u.T
        d_u += h.T @ d_z
    d_rows = d_zs.reshape(steps * count, -1)
    return value, [rows.T @ d_rows, d_u, d_rows.sum(axis=0), d_wo, d_bo]


def gru(p, xs, labels):
    (w, u, b, bn), (wo, bo) = p
    steps, count, _ = xs.shape
    n = len(u)
    rows = xs.reshape(steps * count, -1)
    zs = (rows @ w + b).reshape(steps, count, 3 * n)
    h = np.zeros((count, n), xs.dtype)
    saved = []
    for z in zs:
        s = h @ u
        gates = sigmoid(z[:, : 2 * n] + s[:, : 2 * n])
        inner = s[:, 2 * n :] + bn
        candidate = np.tanh(z[:, 2 * n :] + gates[:, :n] * inner)
        saved.append((h, gates, inner, candidate))
        h = candidate + gates[:, n:] * (h - candidate)
    value, d_logits = softmax_cross_entropy(h @ wo + bo, labels)
    d_h = d_logits @ wo.T
    d_wo, d_bo, d_u, d_bn = h.T @ d_logits, d_logits.sum(axis=0), np.zeros_like(u), np.zeros_like(bn)
    d_zs, d_s = np.empty_like(zs), np.empty_like(zs[0])
    for d_z, (h, gates, inner, candidate) in zip(d_zs[::-1], saved[::-1]):
        keep = gates[:, n:]
        d_candidate = d_h * (1 - keep) * (1 - candidate * candidate)
        d_z[:, :n] = d_candidate * inner
        d_z[:, n : 2 * n] = d_h * (h - candidate)
        d_z[:, : 2 * n] *= gates * (1 - gates)
        d_z[:, 2 * n :] = d_candidate
        d_s[:, : 2 * n] = d_z[:, : 2 * n]
        d_s[:, 2 * n :] = d_candidate * gates[:, :n]
        d_bn += d_s[:, 2 * n :].sum(axis=0)
        d_h = d_h * keep + d_s @ u.T
        d_u += h.T @ d_s
    d_rows = d_zs.reshape(steps * count, -1)
    return value, [rows.T @ d_rows, d_u, d_rows.sum(axis=0), d_bn, d_wo, d_bo]
