"""The benchmark of examples/mnist_mlp.py; see `networks`."""

import functools

from tests.benchmarks import networks

parser = functools.partial(networks.parser, "mlp")
run = functools.partial(networks.run, "mlp")
