"""Trains Elman, GRU and LSTM networks to predict a series, with the gradients that sourcead generates.

A network is a list of layers. Each takes the output of the layer below and its own state of the step before. The output of the last
layer after the last input is the prediction of the next one. The loss is the mean squared error. The functions take one series or a
batch: `xs` has the shape (steps, columns) or (steps, batch, columns).

    python examples/elman.py                                  # a random walk in place of prices
    python examples/elman.py --csv prices.csv --columns open,close --model lstm
    python examples/elman.py --layers 2 --checkpoint states --plot training.png --show-gradient
"""

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sourcead import Revolve, Segments, value_and_grad
from sourcead.nn.data import minibatches
from sourcead.nn.initialisers import glorot_uniform
from sourcead.nn.memory import keep_freed_memory
from sourcead.nn.optimisers import adam, adam_state
from sourcead.nn.threads import advise_on_threads

STEPS, UNITS, LAYERS, BATCH = 25, 16, 2, 50
RATE = 0.003
TEST_SHARE = 0.2


# The layers


class Elman(NamedTuple):
    """The weights of the input `w`, those of the state `u`, and the bias `b` (J. L. Elman, Finding structure in time, 1990)."""

    w: np.ndarray
    u: np.ndarray
    b: np.ndarray


class GRU(NamedTuple):
    """A layer that keeps a share of its state (K. Cho et al., 2014): weights and bias of the reset, the update, the candidate.

    The state enters the candidate as r * (un h + cn), as in cuDNN and PyTorch.
    """

    wr: np.ndarray
    ur: np.ndarray
    br: np.ndarray
    wz: np.ndarray
    uz: np.ndarray
    bz: np.ndarray
    wn: np.ndarray
    un: np.ndarray
    bn: np.ndarray
    cn: np.ndarray


class LSTM(NamedTuple):
    """A layer with a memory (S. Hochreiter and J. Schmidhuber, 1997): weights and bias of the gates in, forget, out, of the cell."""

    wi: np.ndarray
    ui: np.ndarray
    bi: np.ndarray
    wf: np.ndarray
    uf: np.ndarray
    bf: np.ndarray
    wg: np.ndarray
    ug: np.ndarray
    bg: np.ndarray
    wo: np.ndarray
    uo: np.ndarray
    bo: np.ndarray


def matvec(w, x):
    """Gives the matrix `w` times the vector `x`, or times each row of a batch."""
    return x @ w.T


def affine(w, u, b, x, h):
    """Gives the sum of the contributions of the input, the state and the bias."""
    return matvec(w, x) + matvec(u, h) + b


def sigmoid(z):
    """Gives the logistic function, computed by tanh, which does not overflow."""
    return 0.5 + 0.5 * np.tanh(0.5 * z)


def elman_layer(layer, x, h):
    """Gives the output of an Elman layer, which is its next state."""
    return np.tanh(affine(layer.w, layer.u, layer.b, x, h))


def gru_layer(layer, x, h):
    """Gives the output of a GRU layer, which is its next state."""
    r = sigmoid(affine(layer.wr, layer.ur, layer.br, x, h))
    z = sigmoid(affine(layer.wz, layer.uz, layer.bz, x, h))
    n = np.tanh(matvec(layer.wn, x) + layer.bn + r * (matvec(layer.un, h) + layer.cn))
    return (1 - z) * n + z * h


def lstm_layer(layer, x, h, c):
    """Gives the output of an LSTM layer, and its next memory."""
    i = sigmoid(affine(layer.wi, layer.ui, layer.bi, x, h))
    f = sigmoid(affine(layer.wf, layer.uf, layer.bf, x, h))
    g = np.tanh(affine(layer.wg, layer.ug, layer.bg, x, h))
    o = sigmoid(affine(layer.wo, layer.uo, layer.bo, x, h))
    c = f * c + i * g
    return o * np.tanh(c), c


# The networks


def zero_states(biases, xs):
    """Gives a state of zeros for each layer, one per series of a batch."""
    return [np.zeros(xs.shape[1:-1] + b.shape, xs.dtype) for b in biases]


def predict_elman(layers, xs):
    """Gives the last layer's output after the last input."""
    hs = zero_states([layer.b for layer in layers], xs)
    for x in xs:
        states = []
        for layer, h in zip(layers, hs):
            x = elman_layer(layer, x, h)
            states.append(x)
        hs = states
    return hs[-1]


def predict_gru(layers, xs):
    """Gives the last layer's output after the last input."""
    hs = zero_states([layer.bn for layer in layers], xs)
    for x in xs:
        states = []
        for layer, h in zip(layers, hs):
            x = gru_layer(layer, x, h)
            states.append(x)
        hs = states
    return hs[-1]


def predict_lstm(layers, xs):
    """Gives the last layer's output after the last input."""
    hs = zero_states([layer.bi for layer in layers], xs)
    cs = zero_states([layer.bi for layer in layers], xs)
    for x in xs:
        states, memories = [], []
        for layer, h, c in zip(layers, hs, cs):
            x, c = lstm_layer(layer, x, h, c)
            states.append(x)
            memories.append(c)
        hs, cs = states, memories
    return hs[-1]


def mean_squared_error(prediction, y):
    return np.mean((prediction - y) ** 2)


def elman_loss(layers, xs, y):
    """Gives the mean squared error of the Elman network's prediction of `y` from the inputs `xs`."""
    return mean_squared_error(predict_elman(layers, xs), y)


def gru_loss(layers, xs, y):
    """Gives the mean squared error of the GRU network's prediction of `y` from the inputs `xs`."""
    return mean_squared_error(predict_gru(layers, xs), y)


def lstm_loss(layers, xs, y):
    """Gives the mean squared error of the LSTM network's prediction of `y` from the inputs `xs`."""
    return mean_squared_error(predict_lstm(layers, xs), y)


class Model(NamedTuple):
    """A kind of network: its layer, how many triples (w, u, b) a layer has, its prediction and its loss."""

    layer: type
    gates: int
    predict: Callable
    loss: Callable


MODELS = {
    "elman": Model(Elman, 1, predict_elman, elman_loss),
    "gru": Model(GRU, 3, predict_gru, gru_loss),
    "lstm": Model(LSTM, 4, predict_lstm, lstm_loss),
}


def initial_layers(rng: np.random.Generator, model: str, sizes: list[int], dtype: type = np.float32) -> list:
    """Gives layers with Glorot uniform weights and zero biases; `sizes` is the size of the input, then that of each output."""
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        parts = []
        for _ in range(MODELS[model].gates):
            w, u = (glorot_uniform(rng, n, outputs, dtype).T.copy() for n in (inputs, outputs))
            parts += [w, u, np.zeros(outputs, dtype)]
        if model == "gru":
            parts.append(np.zeros(outputs, dtype))
        layers.append(MODELS[model].layer(*parts))
    return layers


def arrays_of(layers: list) -> list[np.ndarray]:
    """Gives all parameters (or all gradients), layer by layer."""
    return [array for layer in layers for array in layer]


# The data


def random_walk(days: int = 1500, columns: int = 4, seed: int = 0) -> np.ndarray:
    """Gives artificial prices of shape (days, columns): geometric random walks whose daily changes have momentum."""
    rng = np.random.default_rng(seed)
    shocks = rng.normal(0.0002, 0.01, (days, columns))
    changes = np.zeros_like(shocks)
    for day in range(1, days):
        changes[day] = 0.6 * changes[day - 1] + shocks[day]
    return 100 * np.exp(np.cumsum(changes, axis=0))


class SeriesError(Exception):
    """A file does not hold the wanted series; the message names the line or column and what is wrong with it."""


def read_csv(path: str, columns: list[str] | None = None) -> np.ndarray:
    """Reads columns of a CSV file with a header, of shape (rows, columns).

    Args:
        path: the file.
        columns: the names of the columns; None takes all columns that hold a positive number in each row.

    Raises:
        SeriesError: the file cannot be read, lacks a column, or holds something that is not a positive number.
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            header, *rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SeriesError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    except ValueError:
        raise SeriesError(f"{path}: the file is empty") from None
    if ragged := [k for k, row in enumerate(rows, start=2) if len(row) != len(header)]:
        raise SeriesError(f"{path}: row {ragged[0]} does not have the {len(header)} columns of the header")
    if missing := [name for name in columns or () if name not in header]:
        raise SeriesError(f"{path}: no column {missing[0]!r}; there are {', '.join(header)}")
    found = {}
    for name in columns or header:
        texts = [row[header.index(name)] for row in rows]
        wrong = [k for k, text in enumerate(texts, start=2) if not is_price(text)]
        if wrong and columns:
            raise SeriesError(f"{path}: row {wrong[0]}: {texts[wrong[0] - 2]!r} in column {name!r} is no positive number")
        if not wrong:
            found[name] = [float(text) for text in texts]
    if not found or not rows:
        raise SeriesError(f"{path}: no column holds prices")
    return np.array(list(found.values())).T


def is_price(text: str) -> bool:
    """Tells whether a text is a positive number."""
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False


class Windows(NamedTuple):
    """Windows of daily changes, `xs` of shape (windows, steps, columns), and the change of the day after each, `ys`."""

    xs: np.ndarray
    ys: np.ndarray


def windows(prices: np.ndarray, steps: int) -> tuple[Windows, Windows]:
    """Gives the windows to train on and to test with: daily changes of the logarithm, divided by three standard deviations.

    The last days are for the test; the standard deviation is that of the days before.
    """
    changes = np.diff(np.log(prices), axis=0)
    count = len(changes) - steps
    split = count - max(1, int(TEST_SHARE * count))
    if split < 1:
        raise SeriesError(f"{len(prices)} prices are too few for windows of {steps} steps; at least {steps + 3} are needed")
    spread = np.std(changes[: split + steps], axis=0)
    scaled = (changes / (3 * np.where(spread > 0, spread, 1))).astype(np.float32)
    xs = np.lib.stride_tricks.sliding_window_view(scaled, steps, axis=0)[:count].swapaxes(1, 2)
    ys = scaled[steps:]
    return Windows(xs[:split], ys[:split]), Windows(xs[split:], ys[split:])


# Training


def train_epoch(loss_and_gradient: Callable, layers: list, update: Callable, data: Windows, rng) -> Iterator[float]:
    """Passes over the windows once and yields the loss of each batch."""
    for xs, ys in minibatches(rng, BATCH, *data):
        value, gradient = loss_and_gradient(layers, xs.swapaxes(0, 1), ys)
        update(arrays_of(gradient))
        yield float(value)


def train(
    data: Windows, model: str = "elman", layers: int = LAYERS, units: int = UNITS, epochs: int = 20, seed: int = 0,
    checkpoint: Any = "auto", report: Callable = lambda epoch, value: None,
) -> tuple[list, list[float], Callable]:  # fmt: skip
    """Trains a network from scratch, with Adam.

    Args:
        data: what to train on.
        model: "elman", "gru" or "lstm".
        layers: how many; the last one has an output for each column.
        units: the size of the other layers.
        epochs: passes over the data.
        seed: of the starting values and of the order of the windows.
        checkpoint: what the loops save for the reverse sweep, as for `sourcead.grad`.
        report: is told the number of each epoch and its mean loss.

    Returns:
        The layers, the mean loss of each epoch, and the function that gave the loss and its gradient.
    """
    keep_freed_memory()
    advise_on_threads(BATCH * units * max(units, data.xs.shape[-1]))
    rng = np.random.default_rng(seed)
    columns = data.xs.shape[-1]
    network = initial_layers(rng, model, [columns, *[units] * (layers - 1), columns])
    loss_and_gradient = value_and_grad(MODELS[model].loss, checkpoint=checkpoint)
    parameters = arrays_of(network)
    state = adam_state(parameters)
    losses = []
    for epoch in range(epochs):
        values = train_epoch(loss_and_gradient, network, lambda g: adam(parameters, g, state, RATE), data, rng)
        losses.append(float(np.mean(list(values))))
        report(epoch + 1, losses[-1])
    return network, losses, loss_and_gradient


def error_of(model: str, layers: list, data: Windows) -> float:
    """Gives the mean squared error of the predictions."""
    prediction = MODELS[model].predict(layers, data.xs.swapaxes(0, 1))
    return float(mean_squared_error(prediction, data.ys))


# What is shown


def plot(losses: list[float], model: str, layers: list, data: Windows, path: str) -> None:
    """Draws the loss over the epochs, and the last days of the test with their predictions."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (upper, lower) = plt.subplots(2, 1, figsize=(7, 6), layout="constrained")
    upper.plot(range(1, len(losses) + 1), losses, color="tab:blue")
    upper.set_xlabel("epochs")
    upper.set_ylabel("mean squared error")
    last = Windows(data.xs[-60:], data.ys[-60:])
    lower.plot(last.ys[:, 0], color="tab:grey", label="change")
    lower.plot(MODELS[model].predict(layers, last.xs.swapaxes(0, 1))[:, 0], color="tab:green", label="foretold")
    lower.set_xlabel("last days of the test, first column")
    lower.legend()
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def policy(text: str) -> Any:
    """A checkpoint policy as it is written on the command line: a name, `segments:5` or `revolve:3`."""
    name, _, number = text.partition(":")
    if name in ("segments", "revolve") and number.isdigit() and int(number) > 0:
        return {"segments": Segments, "revolve": Revolve}[name](int(number))
    if text in ("auto", "states", "store", "recompute"):
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is not auto, states, store, recompute, segments:N or revolve:N")


def positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not at least 1")
    return int(text)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--csv", metavar="FILE", help="prices, a row per day, with a header; default: a made-up random walk")
    parser.add_argument("--columns", metavar="A,B", help="columns of the file; default: all that hold positive numbers")
    parser.add_argument("--model", choices=MODELS, default="elman", help="default: elman")
    parser.add_argument("--layers", type=positive, default=LAYERS, help=f"default: {LAYERS}")
    parser.add_argument("--units", type=positive, default=UNITS, help=f"of all layers but the last; default: {UNITS}")
    parser.add_argument("--steps", type=positive, default=STEPS, help=f"days that are looked at; default: {STEPS}")
    parser.add_argument("--epochs", type=positive, default=20, help="default: 20")
    parser.add_argument("--seed", type=int, default=0, help="of the starting values and the batches; default: 0")
    parser.add_argument("--checkpoint", type=policy, default="auto", metavar="auto|states|store|recompute|segments:N|revolve:N",
                        help="what the loops save for the reverse sweep; default: auto")  # fmt: skip
    parser.add_argument("--plot", metavar="FILE.png", help="draw the loss over the epochs, and predictions")
    parser.add_argument("--show-gradient", action="store_true", help="print the gradient that was generated")
    options = parser.parse_args(arguments)
    if options.columns and not options.csv:
        parser.error("--columns: only with --csv")
    if not (folder := Path(options.plot or ".").parent).is_dir():
        parser.error(f"--plot: there is no folder {folder}")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    try:
        prices = read_csv(options.csv, options.columns and options.columns.split(",")) if options.csv else random_walk()
        to_train, to_test = windows(prices, options.steps)
    except SeriesError as error:
        print(f"elman: {error}", file=sys.stderr)
        return 1
    print(f"{options.csv or 'a made-up random walk'}: {len(prices):,} days, {prices.shape[1]} columns")
    print(f"{len(to_train.xs):,} windows to train on, {len(to_test.xs):,} to test with")
    start = time.perf_counter()
    layers, losses, loss_and_gradient = train(
        to_train, options.model, options.layers, options.units, options.epochs, options.seed, options.checkpoint,
        lambda epoch, value: print(f"epoch {epoch}/{options.epochs}: loss {value:.5f}"),
    )  # fmt: skip
    seconds = time.perf_counter() - start
    if options.show_gradient:
        print(loss_and_gradient.source)
    if options.plot:
        plot(losses, options.model, layers, to_test, options.plot)
    error, guess = error_of(options.model, layers, to_test), float(np.mean(to_test.ys**2))
    print(f"test error {error:.5f}, {error / guess:.0%} of what guessing no change gives")
    print(f"{seconds / options.epochs:.2f} seconds per epoch")
    return 0


if __name__ == "__main__":
    sys.exit(main())
