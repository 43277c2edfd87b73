"""The experiment of the thesis, the Elman network of `examples/elman.py`: 20 layers, 50 series of length 25, float32.

    python -m tests.benchmarks elman [--dimensions 32,64] [--policies auto,states] [--docs FOLDER] [--json FILE]

Times a gradient against hand-written loops (`by_hand.recurrent.elman_loss_and_gradients`), PyTorch and JAX, each on two threads, and
the checkpoint policies against each other, with the memory that they take.
"""

import argparse
import contextlib
import functools
import importlib
import os
import statistics

import numpy as np

from examples import elman
from sourcead import value_and_grad
from sourcead.nn.memory import keep_freed_memory
from tests.benchmarks import timing
from tests.benchmarks.by_hand import recurrent as by_hand
from tests.benchmarks.report import at_most, below, machine, measure, reported, write_json
from tests.benchmarks.workers import Worker

LAYERS, STEPS, SERIES, THREADS = 20, 25, 50, 2
DIMENSIONS = (32, 64, 128, 256)
POLICIES = ("auto", "store", "states", "segments:5", "revolve:5", "recompute")
GENERATED, BY_HAND = "generated", "hand-written"
PEERS = {
    "torch.nn.RNN": ("tests.benchmarks.torch_elman", "module"),
    "eager PyTorch": ("tests.benchmarks.torch_elman", "loops"),
    "jax.jit": ("tests.benchmarks.jax_elman", "scans"),
}


def arguments(dimension, layers=LAYERS, dtype=np.float32):
    """The layers, the series and what comes next."""
    rng = np.random.default_rng(0)
    network = elman.initial_layers(rng, "elman", [dimension] * (layers + 1), dtype)
    xs, y = rng.normal(size=(STEPS, SERIES, dimension)), rng.normal(size=(SERIES, dimension))
    return network, xs.astype(dtype), y.astype(dtype)


def make(engine, dimension):
    """A function that computes the loss and its gradient once."""
    keep_freed_memory()
    given = arguments(dimension)
    if engine in PEERS:
        module, name = PEERS[engine]
        return getattr(importlib.import_module(module), name)(*given)
    if engine == BY_HAND:
        return lambda: by_hand.elman_loss_and_gradients(*given)
    gradient = value_and_grad(elman.elman_loss, checkpoint=elman.policy("auto" if engine == GENERATED else engine))
    return lambda: gradient(*given)


def seconds_of(engines, dimension, rounds, threads=THREADS):
    """The seconds of each engine, interleaved, and its peak memory if it is one of ours; what is not installed is left out."""
    with contextlib.ExitStack() as stack:
        workers = {}
        for name in engines:
            try:
                workers[name] = stack.enter_context(Worker(make, name, dimension, threads=threads))
            except RuntimeError as error:
                if name not in PEERS:
                    raise
                print(f"{name} is left out: {error}")
        seconds = timing.interleaved_seconds(workers, rounds, warm_up=2, rest=timing.SPINNING)
        return seconds, {name: worker.peak() for name, worker in workers.items() if name not in PEERS}


def engine_rows(dimension, rounds, results):
    """The generated gradient against the others."""
    seconds, _ = seconds_of((GENERATED, BY_HAND, *PEERS), dimension, rounds)
    results[dimension] = {name: statistics.median(each) for name, each in seconds.items()}
    for name, median in results[dimension].items():
        yield reported(f"d = {dimension}, milliseconds, {name}", 1e3 * median, "{:.1f}")
    ratio = {name: timing.median_ratio(seconds[GENERATED], each) for name, each in seconds.items()}
    yield at_most(f"d = {dimension}, generated / hand-written", ratio[BY_HAND], 1.0)
    for name, limit in (("torch.nn.RNN", 0.9), ("eager PyTorch", 0.5), ("jax.jit", 1.0)):
        if name in ratio:
            counts = name != "jax.jit" or dimension >= 64
            row = f"d = {dimension}, generated / {name}"
            yield below(row, ratio[name], limit) if counts else reported(row, ratio[name])


def policy_rows(policies, dimension, rounds, results, threads=THREADS):
    """The checkpoint policies: time and memory."""
    seconds, peaks = seconds_of(policies, dimension, rounds, threads)
    results[dimension] = {name: (statistics.median(seconds[name]), peaks[name]) for name in policies}
    for name, (median, peak) in results[dimension].items():
        yield reported(f"d = {dimension}, milliseconds, checkpoint {name}", 1e3 * median, "{:.1f}")
        yield reported(f"d = {dimension}, peak megabytes, checkpoint {name}", peak / 1e6, "{:.1f}")


def plot(path, engines, policies):
    """Draws times over dimensions for engines and policies, and the memory of the policies."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    for name in next(iter(engines.values()), ()):
        axes[0].plot(list(engines), [1e3 * row.get(name, np.nan) for row in engines.values()], marker="o", label=name)
    for name in next(iter(policies.values()), ()):
        for side, (part, unit) in zip(axes[1:], ((0, 1e3), (1, 1e-6))):
            side.plot(list(policies), [unit * row[name][part] for row in policies.values()], marker="o", label=name)
    titles = ("engines: milliseconds", "checkpoint policies: milliseconds", "checkpoint policies: peak megabytes")
    for side, title in zip(axes, titles):
        side.set_title(title, fontsize=10)
        side.set_xlabel("dimension of the input and of each layer")
        side.set_xscale("log", base=2)
        side.set_yscale("log")
        side.grid(alpha=0.3)
        if side.lines:
            side.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def table(head, rows):
    """A Markdown table."""
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *("| " + " | ".join(row) + " |" for row in rows), ""]


def write_page(folder, engines, policies):
    """Writes elman.md and its plot."""
    plot(os.path.join(folder, "elman.svg"), engines, policies)
    facts = machine()
    lines = [
        "# The Elman network",
        "",
        f"Written by `python -m tests.benchmarks elman --docs docs`: the loss of `examples/elman.py` and its gradient, {LAYERS} layers,",
        f"{SERIES} series of length {STEPS}, float32, {THREADS} threads, medians, interleaved",
        f"({facts['processor']}, NumPy {facts['numpy']}).",
        "",
        "![time and memory over the dimension](elman.svg)",
        "",
        "Milliseconds by dimension:",
        "",
    ]
    names = list(dict.fromkeys(name for row in engines.values() for name in row))
    lines += table(["d", *names], ([str(d), *(f"{1e3 * row[n]:.1f}" if n in row else "" for n in names)] for d, row in engines.items()))
    if policies:
        names = list(next(iter(policies.values())))
        lines += ["The checkpoint policies, milliseconds and peak megabytes:", ""]
        shown = ([str(d), *(f"{1e3 * row[n][0]:.1f}, {row[n][1] / 1e6:.1f}" for n in names)] for d, row in policies.items())
        lines += table(["d", *names], shown)
    with open(os.path.join(folder, "elman.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip() + "\n")


def parser():
    """What the options mean."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks elman", description=__doc__.partition("\n")[0])
    parser.add_argument("--dimensions", default=",".join(map(str, DIMENSIONS)), help="default: %(default)s")
    parser.add_argument("--policies", default=",".join(POLICIES), help="checkpoint policies; default: %(default)s")
    parser.add_argument("--rounds", type=int, default=15, help="how often each is timed; default: %(default)s")
    parser.add_argument("--docs", metavar="FOLDER", help="where to write elman.md and its plot")
    parser.add_argument("--plot", metavar="FILE.svg", help="draw times and memory over the dimensions")
    parser.add_argument("--json", metavar="FILE", help="keep the rows and the facts of the machine")
    return parser


def run(options):
    """Prints the table; returns 1 if a row falls short."""
    dimensions = [int(d) for d in options.dimensions.split(",")]
    policies = [name for name in options.policies.split(",") if elman.policy(name)] if options.policies else []
    print(*(f"{name}: {fact}" for name, fact in machine().items()), "", sep="\n")
    engine_results, policy_results, rows = {}, {}, []
    for d in dimensions:
        rows += measure(f"d = {d}", functools.partial(engine_rows, d, options.rounds, engine_results))
    for d in dimensions if policies else ():
        rows += measure(f"d = {d}, policies", functools.partial(policy_rows, policies, d, options.rounds, policy_results))
    if options.docs:
        write_page(options.docs, engine_results, policy_results)
    if options.plot:
        plot(options.plot, engine_results, policy_results)
    if options.json:
        write_json(options.json, rows)
    short = sum(row.ok is False for row in rows)
    print(f"\n{short} of {sum(row.ok is not None for row in rows)} targets fall short")
    return 1 if short else 0
