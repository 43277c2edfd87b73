"""Trains a network with one hidden layer of 32 on MNIST with the gradient that sourcead generates.

    python examples/mnist_mlp.py                          # the data set from the cache, the network, or scikit-learn
    python examples/mnist_mlp.py --data FOLDER --optimizer sgd --plot training.png --show-gradient
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sourcead import value_and_grad
from sourcead.nn.activations import relu
from sourcead.nn.initialisers import glorot_uniform
from sourcead.nn.layers import Dense, dense
from sourcead.nn.losses import cross_entropy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a script, too
from examples import digits  # noqa: E402

HIDDEN = 32


class MLP(NamedTuple):
    hidden: Dense
    out: Dense


def logits(p, images):
    """Gives the logits of a batch of images of shape (batch, 784)."""
    return dense(relu(dense(images, *p.hidden)), *p.out)


@value_and_grad
def loss(p, images, labels):
    """Gives the mean cross-entropy of a batch."""
    return cross_entropy(logits(p, images), labels)


def initial_parameters(rng: np.random.Generator) -> MLP:
    """Gives Glorot uniform weights and zero biases."""
    return MLP(
        Dense(glorot_uniform(rng, 784, HIDDEN), np.zeros(HIDDEN, np.float32)),
        Dense(glorot_uniform(rng, HIDDEN, 10), np.zeros(10, np.float32)),
    )


MODEL = digits.Model(loss, logits, initial_parameters, lambda images: images, {"adam": 0.001, "momentum": 0.01, "sgd": 0.1})


def main(arguments: list[str] | None = None) -> int:
    return digits.main("mnist_mlp", __doc__, MODEL, arguments)


if __name__ == "__main__":
    sys.exit(main())
