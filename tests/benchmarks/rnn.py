"""The recurrent network of `examples/mnist_rnn.py`: what the generated gradient reaches, takes and allocates.

    python -m tests.benchmarks rnn [--data FOLDER] [--json FILE]

"Hand-written" is `by_hand.recurrent.rnn_loss_and_gradients`; all engines run the same loop, SGD with mini-batches of 100.
"""

import argparse
import contextlib
import functools
import inspect
import io
import re
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

from examples import mnist_rnn
from sourcead.nn.data import load
from tests.benchmarks import calls, numba_cases, timing
from tests.benchmarks.by_hand import recurrent as by_hand
from tests.benchmarks.generated import function_in, statement_count
from tests.benchmarks.report import at_least, at_most, below, machine, measure, reported, write_json
from tests.benchmarks.workers import BY_HAND, GENERATED, JAX, REUSING, TORCH, Worker, epoch_of

ROOT = Path(__file__).resolve().parents[2]
SHARED_MNIST = ROOT.parent / "shared" / "data" / "mnist"
ARTICLE_GIGABYTES = {"as the article reports": 5.1, "Flux in the article": 14.5, "PyTorch in the article": 31.6}


def accuracy_rows(data, epochs=5):
    """Test accuracy with the example's own settings, mean of the seeds 0 to 2."""
    for optimizer, target in (("sgd", 0.92), ("adam", 0.96)):
        reached = []
        for seed in range(3):
            with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
                parameters, _, _ = mnist_rnn.train(data, optimizer, epochs, seed)
            reached.append(mnist_rnn.accuracy(parameters, mnist_rnn.as_steps(data.x_test), data.y_test))
        each = ", ".join(f"{one:.2%}" for one in reached)
        yield at_least(f"test accuracy, {optimizer}, {epochs} epochs ({each})", np.mean(reached), target, "{:.2%}")


def loss_rows(data, steps=200):
    """The loss of each step against PyTorch's: same starting values, same batches, float32."""
    from tests.benchmarks import torch_rnn  # here, because PyTorch may be missing; then only this row falls short

    rng = np.random.default_rng(0)
    ours = mnist_rnn.initial_parameters(rng)
    theirs = [p.copy() for p in ours]
    differences = []
    for _ in range(steps):
        rows = rng.integers(0, len(data.x_train), mnist_rnn.BATCH)
        xs, labels = mnist_rnn.as_steps(data.x_train[rows]), data.y_train[rows]
        our_loss, our_gradients = mnist_rnn.loss(*ours, xs, labels)
        their_loss, their_gradients = torch_rnn.loss_and_gradients(*theirs, xs, labels)
        mnist_rnn.sgd(ours, our_gradients, mnist_rnn.RATES["sgd"])
        mnist_rnn.sgd(theirs, their_gradients, mnist_rnn.RATES["sgd"])
        differences.append(abs(float(our_loss) - their_loss) / abs(their_loss))
    yield at_most(
        f"largest relative difference of the loss to PyTorch, {steps} steps", max(differences), 1e-4, "{:.1e}"
    )


def time_rows(data_spec, rounds=15):
    """The time of an epoch, generated against hand-written and against peers."""
    with contextlib.ExitStack() as stack:
        engines = {}
        for name in (GENERATED, BY_HAND, REUSING, TORCH, JAX):
            try:
                engines[name] = stack.enter_context(Worker(epoch_of, name, data_spec))
            except RuntimeError as error:
                if name not in (TORCH, JAX):
                    raise
                print(f"{name} is left out: {error}")
        seconds = timing.interleaved_seconds(engines, rounds)
    for name, each in seconds.items():
        yield reported(f"seconds per epoch, {name}", statistics.median(each), "{:.3f}")
    ratio = {name: timing.median_ratio(seconds[GENERATED], each) for name, each in seconds.items()}
    yield at_most("epoch time, generated / hand-written", ratio[BY_HAND], 1.15)
    yield reported("epoch time, generated / hand-written, buffers reused", ratio[REUSING])
    if TORCH in ratio:
        yield below("epoch time, generated / eager PyTorch", ratio[TORCH], 1.0)
    if JAX in ratio:
        yield reported("epoch time, generated / jax.jit", ratio[JAX])


def memory_rows(data_spec):
    """What an epoch allocates, freed or not; BLAS on one thread."""
    allocated = {}
    for name in (GENERATED, BY_HAND, REUSING, TORCH):
        try:
            with Worker(epoch_of, name, data_spec, threads=1) as worker:
                worker()  # what is made once, at the first call, is no part of an epoch
                allocated[name] = worker.bytes()
        except RuntimeError as error:
            if name != TORCH:
                raise
            print(f"{name} is left out: {error}")
    ours = allocated[GENERATED]
    yield at_most("bytes allocated in an epoch, generated / hand-written", ours / allocated[BY_HAND], 1.1)
    yield reported("bytes allocated, generated / hand-written, buffers reused", ours / allocated[REUSING])
    for name, count in allocated.items():
        yield reported(f"gigabytes allocated in 5 epochs, {name}", 5 * count / 1e9, "{:.1f}")
    for name, figure in ARTICLE_GIGABYTES.items():
        yield reported(f"gigabytes allocated in 5 epochs, {name}", figure, "{:.1f}")


def first_call_rows(rounds=5):
    """What the first call takes beyond a later one, in a fresh process whose imports are done."""
    command = [sys.executable, "-m", "tests.benchmarks.first_call"]
    runs = [subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT) for _ in range(rounds)]
    if failed := [run.stderr for run in runs if run.returncode]:
        raise RuntimeError(failed[0].strip().splitlines()[-1])
    whole, comparison = (statistics.median(found) for found in zip(*(map(float, re.findall(r"([-.0-9]+) ms", run.stdout)) for run in runs)))
    yield at_most("milliseconds of transformation and compilation at the first call", whole, 150, "{:.0f}")
    yield reported("of these, the comparison of the new text with the user's function", comparison, "{:.0f}")


def call_rows():
    """What a later call costs beyond the generated function itself."""
    yield at_most("microseconds of overhead per call, seven arrays", calls.seven_arrays() * 1e6, 5)
    yield at_most("microseconds of overhead per call, one float", calls.one_float() * 1e6, 1)


def statement_rows(data):
    """The length of the generated gradient."""
    parameters = mnist_rnn.initial_parameters(np.random.default_rng(0))
    mnist_rnn.loss(*parameters, mnist_rnn.as_steps(data.x_train[:100]), data.y_train[:100])
    ours = statement_count(mnist_rnn.loss.source)
    theirs = statement_count(inspect.getsource(by_hand.rnn_loss_and_gradients))
    yield at_most(f"statements, generated / hand-written ({ours} / {theirs})", ours / theirs, 1.5)


def numba_rows(name):
    """The largest relative difference between the generated text under `numba.njit` and under NumPy."""
    import numba

    gradient, arguments = numba_cases.cases()[name]
    expected = gradient(*arguments)
    plain = function_in(gradient.source)
    compiled = numba.njit(plain)
    worst = 0.0
    for found, wanted in [*zip(compiled(*arguments), expected), *zip(plain(*arguments), expected)]:
        worst = max(worst, float(np.max(np.abs(np.subtract(found, wanted))) / np.max(np.abs(wanted))))
    yield at_most(f"{name}: generated text under numba.njit, largest relative difference", worst, 1e-12, "{:.0e}")


def choose_data(spec):
    """The data to measure on: what was asked for, else MNIST beside the project, else what `auto` finds."""
    return spec or (str(SHARED_MNIST) if SHARED_MNIST.is_dir() else "auto")


def parser():
    """What the options mean."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks rnn", description=__doc__.partition("\n")[0])
    parser.add_argument("--data", metavar="auto|mnist|digits|FOLDER", help="default: the MNIST in ../shared, else auto")
    parser.add_argument("--json", metavar="FILE", help="keep the rows and the facts of the machine")
    return parser


def run(options):
    """Prints the table; returns 1 if a row falls short."""
    data = load(choose_data(options.data))
    spec = data.name  # what the workers load: never a download, whatever `auto` found
    print(*(f"{name}: {fact}" for name, fact in machine().items()), f"data: {data.note}", "", sep="\n")
    rows = [
        *measure("test accuracy", lambda: accuracy_rows(data)),
        *measure("loss against PyTorch", lambda: loss_rows(data)),
        *measure("epoch time", lambda: time_rows(spec)),
        *measure("memory", lambda: memory_rows(spec)),
        *measure("first call", first_call_rows),
        *measure("call overhead", call_rows),
        *measure("statements", lambda: statement_rows(data)),
        *(row for n in numba_cases.cases() for row in measure(f"{n} under numba", functools.partial(numba_rows, n))),
    ]
    if options.json:
        write_json(options.json, rows, data=data.note)
    short = sum(row.ok is False for row in rows)
    print(f"\n{short} of {sum(row.ok is not None for row in rows)} targets fall short")
    return 1 if short else 0
