"""The programs of the table, each with its arguments and with where its twins for other libraries are."""

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from examples import elman, mnist_autoencoder, mnist_rnn
from sourcead.nn.optimisers import arrays_of
from tests.benchmarks import adbench, loop_kernels

LOOPS, ADBENCH, NETWORKS = "loops over elements", "ADBench", "networks"
IN_PLACE = {
    "jacobi 1d", "jacobi 2d", "seidel 2d", "burgers", "matrix product", "triangular solve", "cholesky", "lu", "tridiagonal",
    "time warping", "gravity", "hidden markov",
}  # fmt: skip
SHORTER, TINY = 20, 12


class Program(NamedTuple):
    """A function of which gradients are compared.

    Attributes:
        function, wrt, args: the function for NumPy, what it is differentiated by, and what it takes.
        twin_args, at: what its twins take, and which of that is differentiated: arrays, numbers, or lists of such.
        twins: where there is another form of it: "torch" and the like -> module of this folder and name.
    """

    name: str
    group: str
    function: Callable
    wrt: tuple[str, ...]
    args: tuple
    twin_args: tuple
    at: tuple[int, ...]
    twins: dict[str, tuple[str, str]]

    @property
    def hand_args(self) -> tuple:
        """What the gradient written by hand takes."""
        return self.twin_args if self.name == "autoencoder" else self.args

    def twin(self, library: str) -> Callable | None:
        """The function for another library."""
        if library not in self.twins:
            return None
        module, name = self.twins[library]
        return getattr(importlib.import_module(f"tests.benchmarks.{module}"), name, None)


def programs(tiny: bool = False) -> dict[str, Program]:
    """All of them by name; the tiny ones have a few elements each, to compare results."""
    made = [*objectives(tiny), *loops(tiny), *networks(tiny)]
    return {program.name: program for program in made}


def positions(function: Callable, wrt: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(function.__code__.co_varnames.index(name) for name in wrt)


def loops(tiny: bool):
    for name, (function, wrt, args) in loop_kernels.kernels().items():
        args = tuple(map(cut, args)) if tiny else args
        called = function.__name__
        twins = {
            "jax": ("jax_kernels", called),
            "jax loops": ("jax_loops", called),
            "by hand": ("by_hand.loops", called),
        }
        yield Program(name, LOOPS, function, wrt, args, args, positions(function, wrt), twins)


def cut(argument):
    """An argument of few elements: counts and axes of at most `TINY`."""
    if isinstance(argument, np.ndarray):
        return np.ascontiguousarray(argument[tuple(slice(TINY) for _ in argument.shape)])
    return min(argument, TINY) if isinstance(argument, int) else argument


def shorter(program: Program) -> Program:
    """A recurrence with a part of its steps, for libraries that take seconds."""

    def part(argument):
        if isinstance(argument, np.ndarray) and len(argument) >= 10 * SHORTER:
            return argument[: len(argument) // SHORTER]
        return argument // SHORTER if isinstance(argument, int) and argument >= 10 * SHORTER else argument

    args = tuple(map(part, program.args))
    return program._replace(args=args, twin_args=args)


def objectives(tiny: bool):
    sizes = (
        {"gmm": {"n": 20, "d": 3, "k": 4}, "lstm": {"characters": 6, "size": 5}} if tiny else {"gmm": {}, "lstm": {}}
    )
    for name, wrt in (("gmm", ("alphas", "means", "icf")), ("lstm", ("main_params", "extra_params"))):
        function, args = getattr(adbench, name), getattr(adbench, f"{name}_arguments")(**sizes[name])
        twins = {
            key: (module, name)
            for key, module in (("torch", "torch_adbench"), ("jax", "jax_adbench"), ("by hand", "by_hand.adbench"))
        }
        title = {"gmm": "Gaussian mixture", "lstm": "LSTM of ADBench"}[name]
        yield Program(title, ADBENCH, function, wrt, args, args, positions(function, wrt), twins)


def networks(tiny: bool):
    """A batch of random images or series each, in float32."""
    rng, batch = np.random.default_rng(0), 5 if tiny else 100
    images, labels = rng.random((batch, 784), dtype=np.float32), rng.integers(0, 10, batch)
    parameters = mnist_rnn.initial_parameters(rng)
    args = (*parameters, mnist_rnn.as_steps(images), labels)
    rnn = mnist_rnn.loss.primal
    twins = {
        "torch": ("torch_rnn", "loss"),
        "jax": ("jax_rnn", "loss"),
        "by hand": ("by_hand.recurrent", "rnn_loss_and_gradients"),
    }
    wrt = tuple(rnn.__code__.co_varnames[: len(parameters)])
    yield Program("RNN on MNIST", NETWORKS, rnn, wrt, args, args, tuple(range(len(wrt))), twins)
    yield autoencoder(rng, images)
    for name in ("mlp", "cnn", "lstm", "gru"):
        model = importlib.import_module(f"examples.mnist_{name}").MODEL
        start = model.initial(rng)
        args = (start, np.ascontiguousarray(model.prepare(images)), labels)
        twins = {"torch": ("torch_mnist", name), "jax": ("jax_mnist", name), "by hand": ("by_hand.mnist", name)}
        function = model.loss.primal
        wrt = function.__code__.co_varnames[:1]
        yield Program(
            f"{name.upper()} on MNIST", NETWORKS, function, wrt, args, (arrays_of(start), *args[1:]), (0,), twins
        )
    yield elman_network(rng, tiny)


def autoencoder(rng: np.random.Generator, images: np.ndarray) -> Program:
    weights = mnist_autoencoder.initial_parameters(rng)
    twins = {
        key: (module, "autoencoder")
        for key, module in (("torch", "torch_mnist"), ("jax", "jax_mnist"), ("by hand", "by_hand.mnist"))
    }
    function = mnist_autoencoder.cost.primal
    return Program(
        "autoencoder",
        NETWORKS,
        function,
        tuple(mnist_autoencoder.WEIGHTS),
        (*weights, images),
        (list(weights), images),
        (0,),
        twins,
    )


def elman_network(rng: np.random.Generator, tiny: bool) -> Program:
    layers, steps, series, units = (2, 3, 4, 9) if tiny else (20, 25, 50, 32)
    stack = elman.initial_layers(rng, "elman", [units] * (layers + 1), np.float32)
    xs, y = (
        rng.normal(size=(steps, series, units)).astype(np.float32),
        rng.normal(size=(series, units)).astype(np.float32),
    )
    twins = {
        "torch": ("torch_elman", "loss"), "jax": ("jax_elman", "loss_of_layers"),
        "by hand": ("by_hand.recurrent", "elman_loss_and_gradients"),
    }  # fmt: skip
    name = f"Elman, {layers} layers"
    return Program(
        name, NETWORKS, elman.elman_loss, ("layers",), (stack, xs, y), (list(map(list, stack)), xs, y), (0,), twins
    )


def numbers(structure: Any) -> list[np.ndarray]:
    """The arrays and numbers of a result of nested tuples and lists, of whatever library, as NumPy arrays."""
    if isinstance(structure, (tuple, list)):
        return [a for part in structure for a in numbers(part)]
    return [np.asarray(structure.detach() if hasattr(structure, "detach") else structure)]
