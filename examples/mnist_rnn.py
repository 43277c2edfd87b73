"""Trains a recurrent network on MNIST with the gradient that sourcead generates.

An image is read as four steps of 196 pixels (seven rows each); 64 tanh units; a dense layer to the 10 digits.

    python examples/mnist_rnn.py                          # the data set from the cache, the network, or scikit-learn
    python examples/mnist_rnn.py --data FOLDER            # the four IDX files of MNIST, gzip-compressed or plain
    python examples/mnist_rnn.py --optimizer adam --plot training.png --show-gradient
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from sourcead import value_and_grad
from sourcead.nn.data import DataError, Dataset, load, minibatches
from sourcead.nn.initialisers import glorot_uniform
from sourcead.nn.memory import keep_freed_memory
from sourcead.nn.optimisers import adam, adam_state, sgd
from sourcead.nn.threads import advise_on_threads

STEPS, PIXELS, UNITS, CLASSES = 4, 196, 64, 10
BATCH = 100
RATES = {"sgd": 0.015, "adam": 0.001}
REPORT_EVERY = 10


# The model


@value_and_grad(wrt=("wx", "wh", "bh", "wo", "bo"))
def loss(wx, wh, bh, wo, bo, xs, labels):
    """Gives the mean cross-entropy of a batch; `xs` has shape (steps, batch, pixels)."""
    h = np.zeros((xs.shape[1], bh.shape[0]), xs.dtype)
    for x in xs:
        h = np.tanh(x @ wx + h @ wh + bh)
    logits = h @ wo + bo
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_total = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_total - shifted[np.arange(len(labels)), labels])


def predict(parameters: list[np.ndarray], xs: np.ndarray) -> np.ndarray:
    """Gives the most probable digit of each image of a batch."""
    wx, wh, bh, wo, bo = parameters
    h = np.zeros((xs.shape[1], len(bh)), xs.dtype)
    for x in xs:
        h = np.tanh(x @ wx + h @ wh + bh)
    return np.argmax(h @ wo + bo, axis=1)


def accuracy(parameters: list[np.ndarray], xs: np.ndarray, labels: np.ndarray) -> float:
    """Gives the share of a batch that is classified correctly."""
    return float(np.mean(predict(parameters, xs) == labels))


def initial_parameters(rng: np.random.Generator) -> list[np.ndarray]:
    """Gives Glorot uniform weights and zero biases, in the order that `loss` takes them."""
    return [
        glorot_uniform(rng, PIXELS, UNITS),
        glorot_uniform(rng, UNITS, UNITS),
        np.zeros(UNITS, np.float32),
        glorot_uniform(rng, UNITS, CLASSES),
        np.zeros(CLASSES, np.float32),
    ]


def as_steps(images: np.ndarray) -> np.ndarray:
    """Gives images of shape (batch, 784) as a sequence of shape (4, batch, 196): a view."""
    return images.reshape(len(images), STEPS, PIXELS).swapaxes(0, 1)


# Training


def updater(optimizer: str, parameters: list[np.ndarray]) -> Callable:
    """Gives a function of the gradients that makes one step of `sgd` or `adam`, in place."""
    rate = RATES[optimizer]
    if optimizer == "sgd":
        return lambda gradients: sgd(parameters, gradients, rate)
    state = adam_state(parameters)
    return lambda gradients: adam(parameters, gradients, state, rate)


def train_epoch(
    loss_and_gradients: Callable,
    parameters: list[np.ndarray],
    update: Callable,
    data: Dataset,
    rng: np.random.Generator,
) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """Passes over the training images once, and after each batch yields its loss, its images as steps, and its labels."""
    for images, labels in minibatches(rng, BATCH, data.x_train, data.y_train):
        xs = as_steps(images)
        value, gradients = loss_and_gradients(*parameters, xs, labels)
        update(gradients)
        yield value, xs, labels


def train(
    data: Dataset, optimizer: str = "sgd", epochs: int = 5, seed: int = 0, loss_and_gradients: Callable = loss
) -> tuple[list, list, list]:
    """Trains from scratch.

    Args:
        data: What to train on and what to test with.
        optimizer: `"sgd"` or `"adam"`.
        epochs: Passes over the training images.
        seed: Of the starting values and of the order of the images.
        loss_and_gradients: A function with the signature of `loss` that gives the loss and the five gradients.

    Returns:
        The parameters, the history (one row of batch number, loss, accuracy per report), and the seconds of each epoch.
    """
    keep_freed_memory()
    advise_on_threads(BATCH * PIXELS * UNITS)
    rng = np.random.default_rng(seed)
    parameters = initial_parameters(rng)
    update = updater(optimizer, parameters)
    batches = -(-len(data.x_train) // BATCH)
    history, seconds = [], []
    for epoch in range(epochs):
        start = time.perf_counter()
        with Progress(f"epoch {epoch + 1}/{epochs}", batches) as progress:
            for batch, (value, xs, labels) in enumerate(
                train_epoch(loss_and_gradients, parameters, update, data, rng), start=1
            ):
                if batch % REPORT_EVERY == 0 or batch == batches:
                    right = accuracy(parameters, xs, labels)
                    history.append((epoch * batches + batch, float(value), right))
                    progress.show(batch, float(value), right)
        seconds.append(time.perf_counter() - start)
    return parameters, history, seconds


class Progress:
    """A progress bar with loss and accuracy of the last batch; one line per epoch where tqdm is not installed."""

    def __init__(self, title: str, batches: int):
        self.title, self.start, self.line = title, time.perf_counter(), ""
        try:
            from tqdm import tqdm
        except ImportError:
            self.bar = None
        else:
            self.bar = tqdm(total=batches, desc=title, unit="batch")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()
        else:
            print(f"{self.title}: {self.line}, {time.perf_counter() - self.start:.2f} s")

    def show(self, batch: int, value: float, right: float):
        self.line = f"loss {value:.3f}, accuracy {right:.0%}"
        if self.bar is not None:
            self.bar.set_postfix_str(self.line, refresh=False)
            self.bar.update(batch - self.bar.n)


# What is shown


def plot(history: list[tuple[int, float, float]], path: str):
    """Draws the loss and the accuracy over the batches."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    batches, losses, rights = zip(*history)
    figure, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
    for axes, values, label, colour in ((upper, losses, "loss", "tab:blue"), (lower, rights, "accuracy", "tab:green")):
        axes.plot(batches, values, color=colour, alpha=0.3, linewidth=0.8)
        axes.plot(batches, running_mean(values), color=colour)
        axes.set_ylabel(f"{label} of the batch")
        axes.grid(alpha=0.3)
    lower.set_xlabel("batches")
    lower.set_ylim(0, 1)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def running_mean(values: tuple[float, ...], reach: int = 5) -> np.ndarray:
    """Gives the mean of the values up to `reach` places before and after each place."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    starts, ends = np.maximum(0, places - reach), np.minimum(len(values), places + reach + 1)
    return (sums[ends] - sums[starts]) / (ends - starts)


def peak_megabytes() -> float | None:
    """Gives the most memory this process has held, or None where the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", default="auto", metavar="auto|mnist|digits|FOLDER", help="default: auto")
    parser.add_argument("--epochs", type=int, default=5, help="default: 5")
    parser.add_argument("--optimizer", choices=sorted(RATES, reverse=True), default="sgd", help="default: sgd")
    parser.add_argument("--seed", type=int, default=0, help="of the starting values and the batches; default: 0")
    parser.add_argument("--plot", metavar="FILE.png", help="draw loss and accuracy over the batches")
    parser.add_argument("--show-gradient", action="store_true", help="print the gradient that was generated")
    options = parser.parse_args(arguments)
    if options.epochs < 1:
        parser.error("--epochs: at least 1")
    if not (folder := Path(options.plot or ".").parent).is_dir():
        parser.error(f"--plot: there is no folder {folder}")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    try:
        data = load(options.data)
    except DataError as error:
        print(f"mnist_rnn: {error}", file=sys.stderr)
        return 1
    print(f"data: {data.note}")
    print(f"{len(data.x_train):,} images to train on, {len(data.x_test):,} to test with")
    parameters, history, seconds = train(data, options.optimizer, options.epochs, options.seed)
    if options.show_gradient:
        print(loss.source)
    if options.plot:
        plot(history, options.plot)
    print(f"test accuracy {accuracy(parameters, as_steps(data.x_test), data.y_test):.2%}")
    print(f"{np.median(seconds):.2f} seconds per epoch")
    if peak := peak_megabytes():
        print(f"{peak:.0f} MB peak memory")
    return 0


if __name__ == "__main__":
    sys.exit(main())
