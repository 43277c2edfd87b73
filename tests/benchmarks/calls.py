"""What a call of the object that `grad` returns costs beyond the generated function itself.

The functions do next to nothing, so that the overhead is not lost in the noise of the work; the arguments are those of
the recurrent network.
"""

import numpy as np

from examples import mnist_rnn
from sourcead import grad, value_and_grad
from tests.benchmarks.generated import function_in
from tests.benchmarks.timing import overhead_seconds


@value_and_grad(wrt=("bh", "bo"))
def of_seven_arrays(wx, wh, bh, wo, bo, xs, labels):
    return bh[0] * bo[0]


@grad
def of_one_float(x):
    return x * x


def seven_arrays():
    """Seconds per call with the seven arrays of the recurrent network."""
    rng = np.random.default_rng(0)
    images = rng.random((mnist_rnn.BATCH, mnist_rnn.STEPS * mnist_rnn.PIXELS), dtype=np.float32)
    labels = rng.integers(0, mnist_rnn.CLASSES, mnist_rnn.BATCH)
    a, b, c, d, e = mnist_rnn.initial_parameters(rng)
    xs = mnist_rnn.as_steps(images)
    of_seven_arrays(a, b, c, d, e, xs, labels)
    inner = function_in(of_seven_arrays.source)
    return overhead_seconds(
        lambda: of_seven_arrays(a, b, c, d, e, xs, labels), lambda: inner(a, b, c, d, e, xs, labels)
    )


def one_float():
    """Seconds per call with one float."""
    of_one_float(3.0)
    inner = function_in(of_one_float.source)
    return overhead_seconds(lambda: of_one_float(3.0), lambda: inner(3.0))
