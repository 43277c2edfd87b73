"""The benchmark of examples/mnist_gru.py; see `networks`."""

import functools

from tests.benchmarks import networks

parser = functools.partial(networks.parser, "gru")
run = functools.partial(networks.run, "gru")
