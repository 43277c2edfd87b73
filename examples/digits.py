"""The common part of the examples on MNIST: options, training by `sourcead.nn.training.fit`, the report, and plots."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sourcead import FileError
from sourcead.nn.checkpoints import CheckpointError
from sourcead.nn.data import DataError, Dataset, load
from sourcead.nn.optimisers import adam, sgd
from sourcead.nn.training import History, fit

BATCH = 100
OPTIMIZERS = {"sgd": (sgd, {}), "momentum": (sgd, {"momentum": 0.9}), "adam": (adam, {})}


class Model(NamedTuple):
    """A network that classifies digits.

    loss: `value_and_grad` of a loss of the parameters, a batch of inputs and their labels.
    logits: the output of the network for a batch of inputs.
    initial: draws the starting values from a generator.
    prepare: turns a batch of images of shape (batch, 784) into the input of the network.
    rates: the learning rate for each optimizer.
    """

    loss: Callable
    logits: Callable
    initial: Callable[[np.random.Generator], Any]
    prepare: Callable[[np.ndarray], np.ndarray]
    rates: dict[str, float]


def accuracy(model: Model, parameters: Any, images: np.ndarray, labels: np.ndarray, at_once: int = 1000) -> float:
    """Gives the share of the images that are classified correctly."""
    right = 0
    for start in range(0, len(images), at_once):
        rows = slice(start, start + at_once)
        found = np.argmax(model.logits(parameters, model.prepare(images[rows])), axis=1)
        right += int(np.sum(found == labels[rows]))
    return right / len(images)


def train(
    model: Model, data: Dataset, optimizer: str = "adam", epochs: int = 5, seed: int = 0, checkpoint: str | None = None,
    progress: bool = True,
) -> tuple[Any, History]:  # fmt: skip
    """Trains from scratch or from the checkpoint, and gives the parameters and the history."""
    rng = np.random.default_rng(seed)
    parameters = model.initial(rng)
    update, options = OPTIMIZERS[optimizer]
    history = fit(
        model.loss, parameters, (data.x_train, data.y_train), epochs=epochs, batch=BATCH, update=update,
        rate=model.rates[optimizer], rng=rng,
        evaluate=lambda p: {"test accuracy": accuracy(model, p, data.x_test, data.y_test)}, checkpoint=checkpoint,
        prepare=lambda images, labels: (model.prepare(images), labels), progress=progress, **options,
    )  # fmt: skip
    return parameters, history


def parser(description: str, optimizers: list[str], epochs: int = 5) -> argparse.ArgumentParser:
    """Gives the options of these examples; the first optimizer is the default."""
    found = argparse.ArgumentParser(description=description.partition("\n")[0])
    found.add_argument("--data", default="auto", metavar="auto|mnist|digits|FOLDER", help="default: auto")
    found.add_argument("--epochs", type=int, default=epochs, help=f"default: {epochs}")
    found.add_argument("--optimizer", choices=optimizers, default=optimizers[0], help=f"default: {optimizers[0]}")
    found.add_argument("--seed", type=int, default=0, help="of the starting values and the batches; default: 0")
    found.add_argument("--plot", metavar="FILE.png", help="draw the loss and the accuracy")
    found.add_argument("--show-gradient", action="store_true", help="print the gradient that was generated")
    found.add_argument("--checkpoint", metavar="FILE.npz", help="write the run after each epoch; continue from it if it exists")
    return found


def parse(found: argparse.ArgumentParser, arguments: list[str] | None) -> argparse.Namespace:
    """Reads the options of the command line."""
    options = found.parse_args(arguments)
    if options.epochs < 1:
        found.error("--epochs: at least 1")
    for name in ("plot", "picture", "checkpoint"):
        folder = Path(getattr(options, name, None) or ".").parent
        if not folder.is_dir():
            found.error(f"--{name}: there is no folder {folder}")
    return options


def load_or_tell(name: str, spec: str) -> Dataset | None:
    """Loads the data; if that fails, prints why and gives None."""
    try:
        data = load(spec)
    except DataError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return None
    print(f"data: {data.note}")
    print(f"{len(data.x_train):,} images to train on, {len(data.x_test):,} to test with")
    return data


def main(name: str, description: str, model: Model, arguments: list[str] | None) -> int:
    """Runs an example from the command line."""
    options = parse(parser(description, list(model.rates)), arguments)
    data = load_or_tell(name, options.data)
    if data is None:
        return 1
    try:
        parameters, history = train(model, data, options.optimizer, options.epochs, options.seed, options.checkpoint)
    except (CheckpointError, FileError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    if options.show_gradient:
        print(model.loss.source)
    if options.plot:
        history.plot(options.plot)
    print(f"test accuracy {accuracy(model, parameters, data.x_test, data.y_test):.2%}")
    print(f"{np.median(history.seconds):.2f} seconds per epoch")
    return 0


if __name__ == "__main__":
    sys.exit("this is the common part of the examples on MNIST, and no example: run one of them, such as mnist_rnn.py")
