"""The benchmark of examples/mnist_cnn.py; see `networks`."""

import functools

from tests.benchmarks import networks

parser = functools.partial(networks.parser, "cnn")
run = functools.partial(networks.run, "cnn")
