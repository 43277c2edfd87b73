"""Gradients over shards: weak scaling from one worker process to two, beside one process here and JAX's gradient of all rows at once.

    python -m tests.benchmarks distributed

Each worker has as many rows, so that a step of two workers has twice the rows of a step of one. The time of a step contains sending
the parameters (0.8 MB) and the sum (0.8 MB). The least of all rounds is shown, as other processes only add to it.
"""

import argparse
import os
from collections.abc import Iterator

import numpy as np

from sourcead import value_and_grad
from sourcead.api.extending import leaves
from sourcead.distributed import grad_over
from sourcead.nn.activations import relu
from sourcead.nn.layers import dense
from sourcead.nn.losses import cross_entropy
from tests.benchmarks.report import Row, at_most, measure, reported, write_json
from tests.benchmarks.timing import interleaved_seconds

ROWS, SHARDS = 16_000, 4  # of a worker
ROUNDS = 5


@value_and_grad
def loss(p, images, labels):
    return cross_entropy(dense(relu(dense(images, *p[0])), *p[1]), labels)


def case(workers: int):
    """Parameters and shards for a number of workers."""
    rng = np.random.default_rng(0)
    sizes = (784, 256), (256, 10)
    p = tuple((rng.normal(size=s, scale=s[0] ** -0.5).astype(np.float32), np.zeros(s[1], np.float32)) for s in sizes)
    x = rng.normal(size=(workers * SHARDS, ROWS // SHARDS, 784)).astype(np.float32)
    y = rng.integers(0, 10, size=(workers * SHARDS, ROWS // SHARDS))
    return p, list(zip(x, y))


def in_jax(p, x, y):
    import jax
    import jax.numpy as jnp

    def loss_of(p, x, y):
        (w, b), (u, c) = p
        logits = jnp.maximum(x @ w + b, 0) @ u + c
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(y)), y])

    made = jax.jit(jax.value_and_grad(loss_of))
    data = jax.tree.map(jnp.asarray, (x, y))
    return lambda: jax.block_until_ready(made(p, *data))


def error(found, exact) -> float:
    """The largest error of a gradient, against its largest element."""
    parts = [(np.asarray(a, float), b) for (_, a), (_, b) in zip(leaves(found), leaves(exact), strict=True)]
    return max(float(np.max(np.abs(a - b))) for a, b in parts) / max(float(np.max(np.abs(b))) for _, b in parts)


def rows() -> Iterator[Row]:
    """The rows of gradients over shards."""
    from distributed import Client, LocalCluster

    tasks, grads = {}, {}
    p, shards = case(1)
    x, y = (np.concatenate(part) for part in zip(*shards))
    exact = loss(tuple((w.astype(float), b.astype(float)) for w, b in p), x.astype(float), y)[1]
    tasks["here"] = lambda: loss(p, x, y)
    try:
        tasks["jax"] = in_jax(p, x, y)
    except ImportError:
        pass
    clusters = [LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=":0") for n in (1, 2)]
    clients = [Client(cluster) for cluster in clusters]
    for n, client in zip((1, 2), clients):
        p, shards_n = case(n)
        total = grad_over(loss, shards_n, client, weights=[1 / (n * SHARDS)] * (n * SHARDS))
        tasks[f"{n} workers"] = lambda total=total, p=p: total(p)
    grads = {name: task() for name, task in tasks.items()}
    least = {name: min(seconds) for name, seconds in interleaved_seconds(tasks, ROUNDS).items()}
    for client, cluster in zip(clients, clusters):
        client.close()
        cluster.close()
    for name, seconds in least.items():
        yield reported(f"{name}: ms for {ROWS * (2 if name == '2 workers' else 1):,} rows", seconds * 1e3, "{:.0f}")
    yield reported("weak scaling: time of 1 worker / time of 2 with twice the rows", least["1 workers"] / least["2 workers"])
    yield reported("1 worker / this process", least["1 workers"] / least["here"])
    own = error(grads["1 workers"][1], exact)
    yield at_most("error over shards", own, 1e-5, "{:.1e}")
    yield at_most("error over shards / error at once", own / error(grads["here"][1], exact), 2.0)
    if "jax" in grads:
        others = [leaf for _, leaf in leaves(as_numpy(grads["jax"][1]))]
        yield reported("error over shards / error of JAX", own / error(others, exact))
    if hasattr(os, "getloadavg"):
        yield reported("load average of the machine", os.getloadavg()[0], "{:.1f}")


def as_numpy(tree):
    return tuple(tuple(np.asarray(leaf) for leaf in layer) for layer in tree)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m tests.benchmarks distributed", description=__doc__.splitlines()[0])
    made.add_argument("--json", metavar="FILE", help="write the figures to a file")
    return made


def run(options: argparse.Namespace) -> int:
    found = measure("gradients over shards", rows)
    if options.json:
        write_json(options.json, found)
    return 1 if any(row.ok is False for row in found) else 0
