"""Recurrent layers: a cell, which makes one step, and its unrolled form, which walks along a sequence.

    rnn    h' = tanh(x w + h u + b)                                           (Elman, 1990)
    lstm   i, f, o = sigmoid(...), g = tanh(...) of x w + h u + b
           c' = f c + i g,  h' = o tanh(c')                                    (Hochreiter and Schmidhuber, 1997)
    gru    r, z = sigmoid(...) of x w + h u + b,  n = tanh(x w + b + r (h u + bn))
           h' = (1 - z) n + z h                                                (Cho et al., 2014, as in cuDNN and PyTorch)

The weights of the gates lie side by side in one matrix, those with a sigmoid first, so that a step needs two products. The unrolled
forms multiply the whole sequence by `w` in one product.
"""

from typing import NamedTuple

import numpy as np

from sourcead.nn.activations import sigmoid
from sourcead.nn.shapes import check_recurrent


class Recurrent(NamedTuple):
    """The weights of the input (inputs, gates * units), those of the state (units, gates * units), and the bias (gates * units,).

    One gate for `rnn`; i, f, o and g for `lstm`; r, z and n for `gru`.
    """

    w: np.ndarray
    u: np.ndarray
    b: np.ndarray


class Gated(NamedTuple):
    """The parameters of `gru`: those of `Recurrent`, and the bias `bn` of the state's part of n, of shape (units,)."""

    w: np.ndarray
    u: np.ndarray
    b: np.ndarray
    bn: np.ndarray


def rnn_cell(x, h, w, u, b):
    """Return the next state of an Elman layer, of shape (batch, units), from the input (batch, inputs) and the state `h`.

    Example:
        >>> rnn_cell(np.ones((1, 2)), np.zeros((1, 1)), np.ones((2, 1)), np.ones((1, 1)), np.zeros(1)).round(4)
        array([[0.964]])
    """
    check_recurrent("rnn", 1, x, w, u, b, h)
    return rnn_step(x @ w + b, h, u)


def lstm_cell(x, h, c, w, u, b):
    """Return the next output and memory of an LSTM layer, each of shape (batch, units).

    Example:
        >>> h, c = lstm_cell(np.ones((1, 2)), np.zeros((1, 1)), np.ones((1, 1)), np.zeros((2, 4)), np.zeros((1, 4)), np.zeros(4))
        >>> h.round(4), c
        (array([[0.2311]]), array([[0.5]]))
    """
    check_recurrent("lstm", 4, x, w, u, b, h, c)
    return lstm_step(np.reshape(x @ w + b, (x.shape[0], 4, u.shape[0])), h, c, u)


def gru_cell(x, h, w, u, b, bn):
    """Return the next state of a GRU layer, of shape (batch, units).

    Example:
        >>> gru_cell(np.ones((1, 2)), np.ones((1, 1)), np.zeros((2, 3)), np.zeros((1, 3)), np.zeros(3), np.zeros(1))
        array([[0.5]])
    """
    check_recurrent("gru", 3, x, w, u, b, h)
    z = np.reshape(x @ w + b, (x.shape[0], 3, u.shape[0]))
    return gru_step(z[:, :2], z[:, 2], h, u, bn)


def rnn_step(z, h, u):
    """Return the next state from the input's contribution `z`."""
    return np.tanh(z + h @ u)


def lstm_step(z, h, c, u):
    """Return the next output and memory from the input's contribution `z`, of shape (batch, 4, units)."""
    z = z + np.reshape(h @ u, z.shape)
    gates = sigmoid(z[:, :3])
    c = gates[:, 1] * c + gates[:, 0] * np.tanh(z[:, 3])
    return gates[:, 2] * np.tanh(c), c


def gru_step(z_gates, z_candidate, h, u, bn):
    """Return the next state from the input's contributions to the gates, of shape (batch, 2, units), and to the candidate."""
    s = np.reshape(h @ u, (h.shape[0], 3, h.shape[1]))
    gates = sigmoid(z_gates + s[:, :2])
    candidate = np.tanh(z_candidate + gates[:, 0] * (s[:, 2] + bn))
    return candidate + gates[:, 1] * (h - candidate)


def rnn(xs, w, u, b, h=None, last=False):
    """Walk an Elman layer along a sequence.

    Args:
        xs: of shape (steps, batch, inputs).
        w, u, b: the parameters, as `Recurrent` holds them.
        h: the first state, of shape (batch, units); None is zeros.
        last: give the last state alone.

    Returns:
        The states after each step, of shape (steps, batch, units), or the last one, of shape (batch, units).

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> rnn(np.ones((3, 5, 2)), np.ones((2, 4)), np.ones((4, 4)), np.zeros(4)).shape
        (3, 5, 4)
    """
    check_recurrent("rnn", 1, xs, w, u, b, h)
    zs = inputs_at_once(xs, w, b, 1, u.shape[0])
    h = np.zeros((xs.shape[1], u.shape[0]), zs.dtype) if h is None else h
    hs = None if last else np.empty((xs.shape[0], xs.shape[1], u.shape[0]), zs.dtype)
    for t in range(xs.shape[0]):
        h = rnn_step(zs[t], h, u)
        if not last:
            hs[t] = h
    return h if last else hs


def lstm(xs, w, u, b, h=None, c=None, last=False):
    """Walk an LSTM layer along a sequence; arguments, result and errors are those of `rnn`, and `c` is the first memory.

    Example:
        >>> lstm(np.ones((3, 5, 2)), np.ones((2, 16)), np.ones((4, 16)), np.zeros(16)).shape
        (3, 5, 4)
    """
    check_recurrent("lstm", 4, xs, w, u, b, h, c)
    zs = inputs_at_once(xs, w, b, 4, u.shape[0])
    h = np.zeros((xs.shape[1], u.shape[0]), zs.dtype) if h is None else h
    c = np.zeros((xs.shape[1], u.shape[0]), zs.dtype) if c is None else c
    hs = None if last else np.empty((xs.shape[0], xs.shape[1], u.shape[0]), zs.dtype)
    for t in range(xs.shape[0]):
        h, c = lstm_step(zs[t], h, c, u)
        if not last:
            hs[t] = h
    return h if last else hs


def gru(xs, w, u, b, bn, h=None, last=False):
    """Walk a GRU layer along a sequence; arguments, result and errors are those of `rnn`, and `Gated` holds the parameters.

    Example:
        >>> gru(np.ones((3, 5, 2)), np.ones((2, 12)), np.ones((4, 12)), np.zeros(12), np.zeros(4)).shape
        (3, 5, 4)
    """
    check_recurrent("gru", 3, xs, w, u, b, h)
    zs = inputs_at_once(xs, w, b, 3, u.shape[0])
    h = np.zeros((xs.shape[1], u.shape[0]), zs.dtype) if h is None else h
    hs = None if last else np.empty((xs.shape[0], xs.shape[1], u.shape[0]), zs.dtype)
    for t in range(xs.shape[0]):
        h = gru_step(zs[t, :, :2], zs[t, :, 2], h, u, bn)
        if not last:
            hs[t] = h
    return h if last else hs


def inputs_at_once(xs, w, b, gates, units):
    """Return the inputs' contributions at all steps, of shape (steps, batch, gates, units), or (steps, batch, units) for one gate."""
    rows = np.reshape(xs, (-1, xs.shape[2])) @ w + b
    if gates == 1:
        return np.reshape(rows, (xs.shape[0], xs.shape[1], units))
    return np.reshape(rows, (xs.shape[0], xs.shape[1], gates, units))
