"""Prints how many milliseconds the first call of the recurrent network's gradient takes beyond a later one.

A second line tells the milliseconds in which the new text is compared with the user's function (`verify="value"`): how much longer
first calls take with it than without it, in turns, medians, once all imports are done.
"""

import argparse
import statistics
import time

import numpy as np

from examples import mnist_rnn
from sourcead import value_and_grad
from sourcead.compile.specialisation import SHARED


def seconds_of_a_call(arguments):
    start = time.perf_counter()
    mnist_rnn.loss(*arguments)
    return time.perf_counter() - start


def seconds_of_a_first_call(arguments, verify):
    """The time of a first call, with nothing that was generated before."""
    SHARED.clear()
    loss = value_and_grad(mnist_rnn.loss.primal, mnist_rnn.loss.wrt, verify=verify)
    start = time.perf_counter()
    loss(*arguments)
    return time.perf_counter() - start


def parser():
    """There are no options."""
    return argparse.ArgumentParser(prog="python -m tests.benchmarks first_call", description=__doc__.partition("\n")[0])


def run(options):
    """Prints both times."""
    rng = np.random.default_rng(0)
    images = rng.random((mnist_rnn.BATCH, mnist_rnn.STEPS * mnist_rnn.PIXELS), dtype=np.float32)
    labels = rng.integers(0, mnist_rnn.CLASSES, mnist_rnn.BATCH)
    arguments = (*mnist_rnn.initial_parameters(rng), mnist_rnn.as_steps(images), labels)
    images @ images.T  # starts NumPy's threads, which is none of our doing
    first = seconds_of_a_call(arguments)
    later = statistics.median(seconds_of_a_call(arguments) for _ in range(9))
    print(f"first call, beyond a later one:  {1000 * (first - later):.1f} ms")
    turns = [[seconds_of_a_first_call(arguments, verify) for verify in ("value", False)] for _ in range(9)]
    checked, unchecked = (statistics.median(times) for times in zip(*turns))
    print(f"comparison with the function:    {1000 * (checked - unchecked):.1f} ms")
    return 0


if __name__ == "__main__":
    run(None)
