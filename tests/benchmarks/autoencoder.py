"""The benchmark of examples/mnist_autoencoder.py; see `networks`."""

import functools

from tests.benchmarks import networks

parser = functools.partial(networks.parser, "autoencoder")
run = functools.partial(networks.run, "autoencoder")
