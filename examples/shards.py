"""Trains a network on shards of handwritten digits, here and on worker processes of which one is killed, and compares the two.

The gradient of each shard is computed by a worker that keeps the shard, and the gradients are summed in an order that the shards fix:
the losses of all runs have the same bits. When a worker is killed, the others do its work.

    python examples/shards.py --workers 2 --plot shards.png
"""

import argparse
import logging
import os
import signal
import time
from typing import NamedTuple

import numpy as np

from sourcead import value_and_grad
from sourcead.distributed import grad_over
from sourcead.nn.activations import relu
from sourcead.nn.data import load
from sourcead.nn.initialisers import he_normal
from sourcead.nn.layers import Dense, dense
from sourcead.nn.losses import cross_entropy
from sourcead.nn.optimisers import State, adam


class Network(NamedTuple):
    hidden: Dense
    out: Dense


@value_and_grad
def loss(p: Network, images: np.ndarray, labels: np.ndarray) -> float:
    return cross_entropy(dense(relu(dense(images, *p.hidden)), *p.out), labels)


def trained(shards: list, steps: int, client=None, kill_at: int | None = None):
    """Gives the parameters, and the loss and the seconds of each step; kills a worker in the middle of one step."""
    rng = np.random.default_rng(0)
    p = Network(Dense(he_normal(rng, 784, 256), np.zeros(256, np.float32)), Dense(he_normal(rng, 256, 10), np.zeros(10, np.float32)))
    rows = [len(labels) for _, labels in shards]
    state, losses, seconds = State(), [], []
    with grad_over(loss, shards, client, weights=[n / sum(rows) for n in rows]) as total:
        for step in range(steps):
            if step == kill_at:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            start = time.perf_counter()
            value, gradient = total(p)
            seconds.append(time.perf_counter() - start)
            adam(p, gradient, state, rate=0.002)
            losses.append(float(value))
    return p, losses, seconds


def draw(path: str, runs: dict, kill_at: int) -> None:
    """Draws the losses and the seconds of the steps of each run."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for (name, (losses, seconds)), style in zip(runs.items(), ("-", "--", ":")):
        left.plot(range(1, len(losses) + 1), losses, style, lw=4 if style == "-" else 2, label=name)
        right.plot(range(1, len(seconds) + 1), seconds, style, marker="o", ms=3, label=name)
    left.set(xlabel="step", ylabel="loss", title="loss: the same bits in each run")
    right.set(xlabel="step", ylabel="seconds", yscale="log", title="seconds of a step")
    for axes in (left, right):
        axes.axvline(kill_at + 1, color="gray", lw=1)
        axes.annotate("a worker is killed", (kill_at + 1, 0.96), xycoords=("data", "axes fraction"), ha="right", va="top", rotation=90)
        axes.grid(alpha=0.3)
        axes.legend(loc="center right")
    figure.savefig(path, dpi=120)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="auto", help="auto, mnist, digits or a folder, as for mnist_rnn.py")
    parser.add_argument("--workers", type=int, default=2, help="worker processes (default: 2)")
    parser.add_argument("--shards", type=int, default=8, help="shards of the data (default: 8)")
    parser.add_argument("--steps", type=int, default=40, help="steps, each over all the data (default: 40)")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of the losses and the seconds of each step")
    options = parser.parse_args(argv)
    from distributed import Client, LocalCluster

    data = load(options.data)
    print(data.note)
    shards = list(zip(np.array_split(data.x_train, options.shards), np.array_split(data.y_train, options.shards)))
    kill_at = options.steps // 2
    p, losses, seconds = trained(shards, options.steps)
    runs = {"this process": (losses, seconds)}
    cluster = LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL)
    with cluster, Client(cluster) as client:
        q, others, its_seconds = trained(shards, options.steps, client, kill_at)
    runs[f"{options.workers} workers, one killed"] = others, its_seconds
    equal = losses == others and all(np.array_equal(a, b) for a, b in zip([*p.hidden, *p.out], [*q.hidden, *q.out]))
    print(f"loss {losses[0]:.3f} to {losses[-1]:.4f}; the runs are {'equal bit for bit' if equal else 'DIFFERENT'}")
    for name, (_, times) in runs.items():
        print(f"{name}: {np.median(times) * 1e3:.0f} ms a step, {max(times):.1f} s the longest")
    if options.plot:
        draw(options.plot, runs, kill_at)
    return equal


if __name__ == "__main__":
    raise SystemExit(0 if main() else 1)
