"""The benchmark of examples/mnist_lstm.py; see `networks`."""

import functools

from tests.benchmarks import networks

parser = functools.partial(networks.parser, "lstm")
run = functools.partial(networks.run, "lstm")
