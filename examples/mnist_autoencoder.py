"""Trains an autoencoder on MNIST: 784 pixels to 300 to 100 numbers and back to 784 pixels, each layer with a sigmoid.

The cost is the squared error of an image, summed over its pixels. `wrt` names the weights, so that no gradient of `input` is computed.

    python examples/mnist_autoencoder.py --plot training.png --picture digits.png
    python examples/mnist_autoencoder.py --per-sample --epochs 1          # one image at a time, SGD at a rate of 0.02
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sourcead import FileError, hvp, value_and_grad
from sourcead.nn.activations import sigmoid
from sourcead.nn.checkpoints import CheckpointError
from sourcead.nn.initialisers import glorot_uniform
from sourcead.nn.training import fit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a script, too
from examples import digits  # noqa: E402

PIXELS, HIDDEN, CODE = 784, 300, 100
RATES = {"adam": 0.001, "sgd": 0.02}
WEIGHTS = ("we1", "b1", "we2", "b2", "wd", "bd")


class Weights(NamedTuple):
    we1: np.ndarray
    b1: np.ndarray
    we2: np.ndarray
    b2: np.ndarray
    wd: np.ndarray
    bd: np.ndarray


def reconstruction(we1, b1, we2, b2, wd, bd, input):
    """Gives the reconstruction of images of shape (784,) or (batch, 784)."""
    code = sigmoid(sigmoid(input @ we1 + b1) @ we2 + b2)
    return sigmoid(code @ wd + bd)


def error(we1, b1, we2, b2, wd, bd, input):
    """Gives the squared error of an image, or its mean over a batch."""
    return np.mean(np.sum((reconstruction(we1, b1, we2, b2, wd, bd, input) - input) ** 2, axis=-1))


cost = value_and_grad(error, wrt=WEIGHTS)  # everything but `input`
bend = hvp(error, wrt="wd")  # the second derivative by the last weights, times a direction


def initial_parameters(rng: np.random.Generator) -> Weights:
    """Gives Glorot uniform weights and zero biases."""
    parts = []
    for inputs, outputs in ((PIXELS, HIDDEN), (HIDDEN, CODE), (CODE, PIXELS)):
        parts += [glorot_uniform(rng, inputs, outputs), np.zeros(outputs, np.float32)]
    return Weights(*parts)


def cost_of_weights(weights: Weights, images: np.ndarray):
    """Gives the cost and its gradient in the order of the weights, as `fit` takes them."""
    return cost(*weights, images)


def curvature(weights: Weights, images: np.ndarray) -> float:
    """Gives the curvature of the cost along its gradient by the last weights: v H v / v v."""
    v = cost(*weights, images)[1][WEIGHTS.index("wd")]
    return float(np.vdot(v, bend(*weights, images, v)) / np.vdot(v, v))


def mean_error(weights: Weights, images: np.ndarray, at_once: int = 1000) -> float:
    """Gives the mean error of images, computed for a few at a time."""
    parts = [images[k : k + at_once] for k in range(0, len(images), at_once)]
    return sum(len(part) * float(error(*weights, part)) for part in parts) / len(images)


def picture(weights: Weights, images: np.ndarray, path: str) -> None:
    """Draws images, and under each its reconstruction."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    out = reconstruction(*weights, images)
    figure, rows = plt.subplots(2, len(images), figsize=(len(images), 2.2), layout="constrained", squeeze=False)
    for column, pair in enumerate(zip(images, out)):
        for row, pixels in zip(rows[:, column], pair):
            row.imshow(pixels.reshape(28, 28), cmap="gray", vmin=0, vmax=1)
            row.axis("off")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> int:
    parser = digits.parser(__doc__, list(RATES))
    parser.add_argument("--per-sample", action="store_true", help="one image at a time, by SGD at a rate of 0.02")
    parser.add_argument("--picture", metavar="FILE.png", help="draw test images and under each what comes out")
    options = digits.parse(parser, arguments)
    data = digits.load_or_tell("mnist_autoencoder", options.data)
    if data is None:
        return 1
    optimizer, batch = ("sgd", 1) if options.per_sample else (options.optimizer, digits.BATCH)
    rng = np.random.default_rng(options.seed)
    weights = initial_parameters(rng)
    try:
        history = fit(
            cost_of_weights, weights, (data.x_train,), epochs=options.epochs, batch=batch, update=digits.OPTIMIZERS[optimizer][0],
            rate=RATES[optimizer], rng=rng, evaluate=lambda w: {"test error": mean_error(w, data.x_test)}, checkpoint=options.checkpoint,
        )  # fmt: skip
    except (CheckpointError, FileError) as error:
        print(f"mnist_autoencoder: {error}", file=sys.stderr)
        return 1
    if options.show_gradient:
        print(cost.source)
    if options.plot:
        history.plot(options.plot)
    if options.picture:
        picture(weights, data.x_test[:10], options.picture)
    print(f"test error {mean_error(weights, data.x_test):.3f} per image")
    print(f"curvature along the gradient of the last weights {curvature(weights, data.x_test[: digits.BATCH]):.3g}")
    print(f"{np.median(history.seconds):.2f} seconds per epoch")
    return 0


if __name__ == "__main__":
    sys.exit(main())
