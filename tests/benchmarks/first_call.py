"""Prints how many milliseconds the first call of the recurrent network's gradient takes beyond a later one."""

import statistics
import time

import numpy as np

from examples import mnist_rnn


def seconds_of_a_call(arguments):
    start = time.perf_counter()
    mnist_rnn.loss(*arguments)
    return time.perf_counter() - start


def main():
    rng = np.random.default_rng(0)
    images = rng.random((mnist_rnn.BATCH, mnist_rnn.STEPS * mnist_rnn.PIXELS), dtype=np.float32)
    labels = rng.integers(0, mnist_rnn.CLASSES, mnist_rnn.BATCH)
    arguments = (*mnist_rnn.initial_parameters(rng), mnist_rnn.as_steps(images), labels)
    images @ images.T  # starts NumPy's threads, which is none of our doing
    first = seconds_of_a_call(arguments)
    later = statistics.median(seconds_of_a_call(arguments) for _ in range(9))
    print(1000 * (first - later))


if __name__ == "__main__":
    main()
