"""Trains a convolutional network on MNIST with the gradient that sourcead generates.

A 3 x 3 convolution to 6 channels, relu, a pool; another to 16, relu, a pool; dense layers from 400 to 84 to the 10 digits.

    python examples/mnist_cnn.py                          # the data set from the cache, the network, or scikit-learn
    python examples/mnist_cnn.py --data FOLDER --optimizer momentum --epochs 3 --plot training.png --show-gradient
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sourcead import value_and_grad
from sourcead.nn.activations import relu
from sourcead.nn.convolution import conv2d
from sourcead.nn.initialisers import glorot_uniform
from sourcead.nn.layers import Conv2d, Dense, dense, flatten
from sourcead.nn.losses import cross_entropy
from sourcead.nn.pooling import max_pool2d

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a script, too
from examples import digits  # noqa: E402


class CNN(NamedTuple):
    conv1: Conv2d
    conv2: Conv2d
    hidden: Dense
    out: Dense


def logits(p, images):
    """Gives the logits of a batch of images of shape (batch, 1, 28, 28)."""
    h = max_pool2d(relu(conv2d(images, *p.conv1)), 2)
    h = max_pool2d(relu(conv2d(h, *p.conv2)), 2)
    h = relu(dense(flatten(h), *p.hidden))
    return dense(h, *p.out)


@value_and_grad
def loss(p, images, labels):
    """Gives the mean cross-entropy of a batch."""
    return cross_entropy(logits(p, images), labels)


def initial_parameters(rng: np.random.Generator) -> CNN:
    """Gives Glorot uniform weights and zero biases."""
    return CNN(
        Conv2d(glorot_uniform(rng, 1, 6, kernel=(3, 3)), np.zeros(6, np.float32)),
        Conv2d(glorot_uniform(rng, 6, 16, kernel=(3, 3)), np.zeros(16, np.float32)),
        Dense(glorot_uniform(rng, 400, 84), np.zeros(84, np.float32)),
        Dense(glorot_uniform(rng, 84, 10), np.zeros(10, np.float32)),
    )


def as_images(rows: np.ndarray) -> np.ndarray:
    """Gives rows of 784 pixels as images of one channel: a view."""
    return rows.reshape(-1, 1, 28, 28)


MODEL = digits.Model(loss, logits, initial_parameters, as_images, {"adam": 0.001, "momentum": 0.01, "sgd": 0.01})


def main(arguments: list[str] | None = None) -> int:
    return digits.main("mnist_cnn", __doc__, MODEL, arguments)


if __name__ == "__main__":
    sys.exit(main())
