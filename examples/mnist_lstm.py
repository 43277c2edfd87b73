"""Trains an LSTM network on MNIST with the gradient that sourcead generates.

An image is read row by row, 28 steps of 28 pixels; 64 units; a dense layer to the 10 digits.

    python examples/mnist_lstm.py                         # the data set from the cache, the network, or scikit-learn
    python examples/mnist_lstm.py --data FOLDER --plot training.png --show-gradient
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sourcead import value_and_grad
from sourcead.nn.initialisers import glorot_uniform
from sourcead.nn.layers import Dense, dense
from sourcead.nn.losses import cross_entropy
from sourcead.nn.recurrent import Recurrent, lstm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a script, too
from examples import digits  # noqa: E402

ROWS, UNITS = 28, 64


class Reader(NamedTuple):
    lstm: Recurrent
    out: Dense


def logits(p, xs):
    """Gives the logits of a batch; `xs` has shape (rows, batch, pixels)."""
    return dense(lstm(xs, *p.lstm, last=True), *p.out)


@value_and_grad
def loss(p, xs, labels):
    """Gives the mean cross-entropy of a batch."""
    return cross_entropy(logits(p, xs), labels)


def initial_parameters(rng: np.random.Generator) -> Reader:
    """Gives Glorot uniform weights, gate by gate, and zero biases."""
    w = np.hstack([glorot_uniform(rng, ROWS, UNITS) for _ in range(4)])
    u = np.hstack([glorot_uniform(rng, UNITS, UNITS) for _ in range(4)])
    layer = Recurrent(w, u, np.zeros(4 * UNITS, np.float32))
    return Reader(layer, Dense(glorot_uniform(rng, UNITS, 10), np.zeros(10, np.float32)))


def as_rows(images: np.ndarray) -> np.ndarray:
    """Gives images of shape (batch, 784) as sequences of shape (28, batch, 28): a view."""
    return images.reshape(-1, ROWS, 28).swapaxes(0, 1)


MODEL = digits.Model(loss, logits, initial_parameters, as_rows, {"adam": 0.001, "momentum": 0.01, "sgd": 0.1})


def main(arguments: list[str] | None = None) -> int:
    return digits.main("mnist_lstm", __doc__, MODEL, arguments)


if __name__ == "__main__":
    sys.exit(main())
