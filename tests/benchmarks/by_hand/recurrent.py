"""Gradients as an expert writes them in NumPy: what the generated ones are measured against.

Other forms of the recurrent network's gradient were timed and are no faster at its sizes: every temporary reused in
place, and the four products with the pixels made one (its copies cost more than the calls it saves).
"""

import numpy as np


def rnn_loss_and_gradients(wx, wh, bh, wo, bo, xs, labels):
    """The value and the gradients of `loss` in `examples/mnist_rnn.py`."""
    h = np.zeros((xs.shape[1], bh.shape[0]), xs.dtype)
    hs = [h]
    for x in xs:
        h = np.tanh(x @ wx + h @ wh + bh)
        hs.append(h)
    logits = h @ wo + bo
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    exps = np.exp(shifted)
    totals = np.sum(exps, axis=1)
    rows = np.arange(len(labels))
    value = np.mean(np.log(totals) - shifted[rows, labels])

    d_logits = exps / totals[:, np.newaxis]
    d_logits[rows, labels] -= 1
    d_logits /= len(labels)
    d_wo = h.T @ d_logits
    d_bo = np.sum(d_logits, axis=0)
    d_h = d_logits @ wo.T
    d_wx = np.zeros_like(wx)
    d_wh = np.zeros_like(wh)
    d_bh = np.zeros_like(bh)
    for t in reversed(range(len(xs))):
        d_z = d_h * (1 - hs[t + 1] ** 2)
        d_wx += xs[t].T @ d_z
        d_wh += hs[t].T @ d_z
        d_bh += np.sum(d_z, axis=0)
        d_h = d_z @ wh.T
    return value, (d_wx, d_wh, d_bh, d_wo, d_bo)


def rnn_loss_and_gradients_reusing_buffers(wx, wh, bh, wo, bo, xs, labels):
    """The same, with every temporary that can be reused reused: the fewest bytes, at the price of more statements."""
    h = np.zeros((xs.shape[1], bh.shape[0]), xs.dtype)
    hs = [h]
    for x in xs:
        z = x @ wx
        z += h @ wh
        z += bh
        h = np.tanh(z, out=z)
        hs.append(h)
    scores = h @ wo
    scores += bo
    scores -= np.max(scores, axis=1, keepdims=True)
    rows = np.arange(len(labels))
    chosen = scores[rows, labels]
    np.exp(scores, out=scores)
    totals = np.sum(scores, axis=1)
    value = np.mean(np.log(totals) - chosen)

    scores /= totals[:, np.newaxis]
    scores[rows, labels] -= 1
    scores /= len(labels)
    d_wo = h.T @ scores
    d_bo = np.sum(scores, axis=0)
    d_z = scores @ wo.T
    d_wx = np.zeros_like(wx)
    d_wh = np.zeros_like(wh)
    d_bh = np.zeros_like(bh)
    for t in reversed(range(len(xs))):
        h = hs.pop()
        np.square(h, out=h)
        np.subtract(1, h, out=h)
        d_z *= h
        d_wx += xs[t].T @ d_z
        d_wh += hs[-1].T @ d_z
        d_bh += np.sum(d_z, axis=0)
        d_z = d_z @ wh.T
    return value, (d_wx, d_wh, d_bh, d_wo, d_bo)


def elman_loss_and_gradients(layers, xs, y):
    """The value and the gradient of `elman_loss` in `examples/elman.py`, of a batch: a list of (d_w, d_u, d_b)."""
    hs = [np.zeros((xs.shape[1], len(b)), xs.dtype) for _, _, b in layers]
    states = [hs]
    for x in xs:
        hs = []
        for (w, u, b), h in zip(layers, states[-1]):
            x = np.tanh(x @ w.T + h @ u.T + b)
            hs.append(x)
        states.append(hs)
    difference = hs[-1] - y
    value = np.mean(difference**2)

    gradients = [(np.zeros_like(w), np.zeros_like(u), np.zeros_like(b)) for w, u, b in layers]
    d_hs = [np.zeros_like(h) for h in hs]
    d_hs[-1] += 2 / y.size * difference
    for t in reversed(range(len(xs))):
        for k in reversed(range(len(layers))):
            w, u, _ = layers[k]
            d_w, d_u, d_b = gradients[k]
            h = states[t + 1][k]
            d_z = d_hs[k] * (1 - h * h)
            d_w += d_z.T @ (states[t + 1][k - 1] if k else xs[t])
            d_u += d_z.T @ states[t][k]
            d_b += np.sum(d_z, axis=0)
            d_hs[k] = d_z @ u
            if k:
                d_hs[k - 1] += d_z @ w
    return value, gradients
