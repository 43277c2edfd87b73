"""The networks of `examples/mnist_*.py`: accuracy, time and memory beside hand-written gradients and eager PyTorch.

    python -m tests.benchmarks cnn mlp autoencoder lstm gru [--data FOLDER] [--rounds N] [--json FILE]

All engines train with Adam, from the same weights on the same batches of 100, in a process each. "Hand-written" is
`by_hand.mnist`; the convolutional network's is im2col.
"""

import argparse
import contextlib
import functools
import importlib
import statistics
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from examples import digits, mnist_autoencoder
from sourcead.nn.data import load, minibatches
from sourcead.nn.memory import keep_freed_memory
from sourcead.nn.optimisers import State, adam, arrays_of
from tests.benchmarks import timing
from tests.benchmarks.by_hand import mnist as by_hand_mnist
from tests.benchmarks.report import at_least, at_most, below, machine, measure, reported, write_json
from tests.benchmarks.rnn import choose_data
from tests.benchmarks.workers import BY_HAND, GENERATED, TORCH, Worker

RATE = 0.001
FUSED = "PyTorch's own layer"


class Network(NamedTuple):
    """What trains: the loss and its gradient of the parameters and a batch, the starting values, and how a batch is prepared."""

    loss: Callable
    initial: Callable[[np.random.Generator], Any]
    prepare: Callable
    torch_prepare: Callable
    labelled: bool = True


def network(name: str) -> Network:
    """The network of this name, from its example."""
    if name == "autoencoder":
        return Network(mnist_autoencoder.cost_of_weights, mnist_autoencoder.initial_parameters, same, same, labelled=False)
    model = importlib.import_module(f"examples.mnist_{name}").MODEL
    prepares = {"cnn": lambda x: x.reshape(-1, 1, 28, 28), "mlp": same}
    return Network(model.loss, model.initial, model.prepare, prepares.get(name, lambda x: x.reshape(-1, 28, 28).transpose(0, 1)))


def same(images):
    return images


def arrays(name, data):
    return (data.x_train, data.y_train) if network(name).labelled else (data.x_train,)


def epoch_of(name, engine, data_spec):
    """A function that trains one epoch, going on where the last call ended; its attribute `parameters` are what it trains."""
    keep_freed_memory()
    net, data = network(name), load(data_spec)
    rng = np.random.default_rng(0)
    parameters = net.initial(rng)
    rows = arrays(name, data)
    if engine in (TORCH, FUSED):
        peer = importlib.import_module("tests.benchmarks.torch_mnist")
        order = functools.partial(rng.permutation, len(rows[0]))
        run, theirs = peer.epoch(name, rows, arrays_of(parameters), order, net.torch_prepare, RATE, digits.BATCH, engine == FUSED)
        run.parameters = theirs
        return run
    loss = net.loss if engine == GENERATED else getattr(by_hand_mnist, name)
    targets, state = arrays_of(parameters), State()

    def run():
        for images, *labels in minibatches(rng, digits.BATCH, *rows):
            _, gradients = loss(parameters, net.prepare(images), *labels)
            adam(targets, arrays_of(gradients), state, RATE)

    run.parameters = targets
    return run


def gradient_rows(name, data):
    """The gradients against PyTorch's and the hand-written ones, in float64 on a batch."""
    from tests.benchmarks import torch_mnist

    net = network(name)
    rng = np.random.default_rng(1)
    start = arrays_of(net.initial(rng))
    start = [a + 0.05 * rng.normal(size=a.shape) for a in start]
    parameters = rebuilt(net.initial(rng), iter(start))
    images, *labels = (a[:7] for a in arrays(name, data))
    inputs = net.prepare(images.astype(float))
    _, ours = net.loss(parameters, inputs, *labels)
    _, theirs = torch_mnist.loss_and_gradients(name, start, np.ascontiguousarray(inputs), *labels)
    _, by_hand = getattr(by_hand_mnist, name)(parameters, inputs, *labels)
    for what, others in (("PyTorch", theirs), ("hand-written", by_hand)):
        worst = max(np.max(np.abs(a - b)) / np.max(np.abs(b)) for a, b in zip(arrays_of(ours), others, strict=True))
        yield at_most(f"largest relative difference of a gradient to {what}, float64", worst, 1e-9, "{:.0e}")


def rebuilt(structure, leaves):
    """The nested named tuples with other arrays."""
    return next(leaves) if isinstance(structure, np.ndarray) else type(structure)(*(rebuilt(part, leaves) for part in structure))


ACCURACY = {
    "cnn": (("adam", 5, 0.982), ("sgd", 5, 0.955), ("momentum", 3, 0.973)), "mlp": (("adam", 5, 0.95),),
    "lstm": (("adam", 5, 0.965),), "gru": (("adam", 5, 0.965),),
}  # fmt: skip


def accuracy_rows(name, data):
    """The test accuracy with the example's own settings, from seed 0."""
    model = importlib.import_module(f"examples.mnist_{name}").MODEL
    for optimizer, epochs, target in ACCURACY[name]:
        parameters, _ = digits.train(model, data, optimizer, epochs, progress=False)
        reached = digits.accuracy(model, parameters, data.x_test, data.y_test)
        yield at_least(f"test accuracy, {optimizer} {model.rates[optimizer]}, {epochs} epochs", reached, target, "{:.2%}")


def error_rows(data, spec, epochs=2):
    """The autoencoder's test error after the same batches from the same weights as PyTorch's."""
    errors = {}
    for engine in (GENERATED, TORCH):
        run = epoch_of("autoencoder", engine, spec)
        for _ in range(epochs):
            run()
        found = [p if isinstance(p, np.ndarray) else p.detach().numpy() for p in run.parameters]
        errors[engine] = mnist_autoencoder.mean_error(mnist_autoencoder.Weights(*found), data.x_test)
        yield reported(f"test error per image after {epochs} epochs, {engine}", errors[engine], "{:.3f}")
    yield at_most("difference of the test error to PyTorch's", abs(errors[GENERATED] / errors[TORCH] - 1), 0.01, "{:.2%}")


def time_rows(name, spec, rounds):
    """The time of an epoch."""
    peers = (TORCH, FUSED) if name in ("lstm", "gru") else (TORCH,)
    with contextlib.ExitStack() as stack:
        engines = {}
        for engine in (GENERATED, BY_HAND, *peers):
            try:
                engines[engine] = stack.enter_context(Worker(epoch_of, name, engine, spec))
            except RuntimeError as error:
                if engine not in peers:
                    raise
                print(f"{engine} is left out: {error}")
        seconds = timing.interleaved_seconds(engines, rounds)
    for engine, each in seconds.items():
        yield reported(f"seconds per epoch, {engine}", statistics.median(each), "{:.3f}")
    ratio = {engine: timing.median_ratio(seconds[GENERATED], each) for engine, each in seconds.items()}
    yield reported("epoch time, generated / hand-written", ratio[BY_HAND])
    if TORCH in ratio:
        limit = {"cnn": 1.5, "mlp": 0.8, "autoencoder": 0.9, "lstm": 0.8, "gru": 0.8}[name]
        yield (at_most if name == "cnn" else below)("epoch time, generated / eager PyTorch", ratio[TORCH], limit)
    if FUSED in ratio:
        yield reported(f"epoch time, generated / {FUSED}", ratio[FUSED])


def memory_rows(name, spec):
    """What an epoch allocates, freed or not; BLAS on one thread."""
    allocated = {}
    for engine in (GENERATED, BY_HAND, TORCH):
        try:
            with Worker(epoch_of, name, engine, spec, threads=1) as worker:
                worker()  # what is made once, at the first call, is no part of an epoch
                allocated[engine] = worker.bytes()
        except RuntimeError as error:
            if engine != TORCH:
                raise
            print(f"{engine} is left out: {error}")
    against = "im2col by hand" if name == "cnn" else "hand-written"
    ratio = allocated[GENERATED] / allocated[BY_HAND]
    yield at_most(f"bytes allocated in an epoch, generated / {against}", ratio, 0.7 if name == "cnn" else 1.1)
    for engine, count in allocated.items():
        yield reported(f"gigabytes allocated in an epoch, {engine}", count / 1e9, "{:.2f}")


def parser(name: str) -> argparse.ArgumentParser:
    """What the options of one of these benchmarks mean."""
    found = argparse.ArgumentParser(prog=f"python -m tests.benchmarks {name}", description=__doc__.partition("\n")[0])
    found.add_argument("--data", metavar="auto|mnist|digits|FOLDER", help="default: the MNIST in ../shared, else auto")
    found.add_argument("--rounds", type=int, default=7, help="epochs that are timed; default: 7")
    found.add_argument("--json", metavar="FILE", help="keep the rows and the facts of the machine")
    return found


def run(name: str, options: argparse.Namespace) -> int:
    """Prints the table; returns 1 if a row falls short."""
    data = load(choose_data(options.data))
    spec = data.name  # what the workers load: never a download, whatever `auto` found
    print(*(f"{fact}: {value}" for fact, value in machine().items()), f"data: {data.note}", "", sep="\n")
    reached = (lambda: error_rows(data, spec)) if name == "autoencoder" else (lambda: accuracy_rows(name, data))
    rows = [
        *measure("gradients", lambda: gradient_rows(name, data)),
        *measure("test accuracy or error", reached),
        *measure("epoch time", lambda: time_rows(name, spec, options.rounds)),
        *measure("memory", lambda: memory_rows(name, spec)),
    ]
    if options.json:
        write_json(options.json, rows, data=data.note)
    short = sum(row.ok is False for row in rows)
    print(f"\n{short} of {sum(row.ok is not None for row in rows)} targets fall short")
    return 1 if short else 0
