"""What second derivatives and Jacobians cost: products with Hessians against gradients, Jacobians against sweeps, the import.

    python -m tests.benchmarks derivatives

A product with a Hessian and the gradient of the same function take turns; the table has the median of the ratios of their times.
The sweeps of a Jacobian are the calls of the tangent or of the pullback, and one call that finds the size of the result. Columns
that are computed at once count as one sweep each; their time is compared with that of as many single columns.
"""

import argparse
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator

import numpy as np

from sourcead import grad, hessian, hvp, jacobian
from sourcead.compile.gradient import Gradient
from tests.benchmarks import batches, small_jacobians, sparse
from tests.benchmarks.report import Row, at_most, measure, reported, write_json
from tests.benchmarks.timing import interleaved_seconds, median_ratio

ROUNDS = 15
PRODUCT = 4.0  # gradients that a product with the Hessian costs
IMPORT = 0.25  # seconds beyond NumPy's own

FUNCTIONS: dict[str, Callable] = {}


def program(make: Callable) -> Callable:
    FUNCTIONS[make.__name__.replace("_", " ")] = make
    return make


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@program
def rosenbrock_10000():
    def f(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    return f, (rng().normal(size=10_000),)


@program
def rosenbrock_element_loop():
    def f(x):
        total = 0.0
        for i in range(len(x) - 1):
            total += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
        return total

    return f, (rng().normal(size=300),)


@program
def logistic_regression():
    def f(w, x, labels):
        scores = x @ w
        return np.mean(np.logaddexp(0, scores) - labels * scores)

    x = rng().normal(size=(2000, 50))
    return f, (rng().normal(size=50), x, (x[:, 0] > 0).astype(float))


@program
def gaussian_process():
    def f(scales, x, y):
        signal, length, noise = np.exp(scales)
        gaps = x[:, None] - x[None, :]
        kernel = signal**2 * np.exp(-(gaps**2) / (2 * length**2)) + noise**2 * np.eye(len(x))
        factor = np.linalg.cholesky(kernel)
        whitened = np.linalg.solve(factor, y)
        return 0.5 * np.sum(whitened**2) + np.sum(np.log(np.diag(factor)))

    x = np.sort(rng().uniform(-3, 3, 150))
    return f, (np.log(np.array([1.0, 1.0, 0.5])), x, np.sin(x))


@program
def small_network():
    def f(w, v, x, y):
        return np.mean((np.tanh(x @ w) @ v - y) ** 2)

    x = rng().normal(size=(200, 10))
    return f, (rng().normal(size=(10, 16)), rng().normal(size=16), x, x[:, 0])


@program
def deep_network():
    def f(ws, x, y):
        h = x
        for w in ws:
            h = np.tanh(h @ w)
        return np.mean((h - y) ** 2)

    x = rng().normal(size=(200, 64))
    return f, (rng().normal(size=(6, 64, 64)) / 8, x, x)


@program
def elman_loop():
    def f(u, w, b, xs):
        h = np.zeros(len(b))
        for x in xs:
            h = np.tanh(w @ x + u @ h + b)
        return np.sum(h * h)

    g = rng()
    return f, (g.normal(size=(64, 64)) / 8, g.normal(size=(64, 32)) / 8, g.normal(size=64), g.normal(size=(50, 32)))


@program
def stencil():
    def f(u):
        for _ in range(20):
            u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
        return np.sum(u**2)

    return f, (rng().normal(size=5000) / 40,)


@program
def element_recurrence():
    def f(x, a):
        y = np.zeros(len(x))
        for i in range(1, len(x)):
            y[i] = np.sin(y[i - 1]) * a + x[i] * x[i - 1]
        return np.sum(y)

    return f, (rng().normal(size=500), 0.7)


def products() -> Iterator[Row]:
    """The rows of products with Hessians."""
    for name, make in FUNCTIONS.items():
        f, args = make()
        gradient, product = grad(f), hvp(f)
        v = rng().normal(size=np.shape(args[0]))
        tasks = {"gradient": lambda g=gradient, a=args: g(*a), "product": lambda p=product, a=args, v=v: p(*a, v)}
        times = interleaved_seconds(tasks, ROUNDS, 2)
        yield at_most(f"{name}: product with the Hessian / gradient", median_ratio(times["product"], times["gradient"]), PRODUCT)


def wide(x):
    return np.array([np.sum(np.sin(x)), np.sum(x * x), np.prod(np.cos(x))])


def tall(x):
    return np.tanh(np.outer(np.arange(1.0, 101.0), x)) @ x


def square(x):
    return np.cumsum(np.sin(x)) * x[::-1]


def elementwise(x):
    return np.sin(x) * np.exp(-x) + np.sum(x)


def jacobians() -> Iterator[Row]:
    """The rows of Jacobians."""
    for f, n in ((wide, 200), (tall, 5), (square, 60), (elementwise, 200)):
        x = rng().normal(size=n)
        m, sweeps = np.size(f(x)), 0
        made = jacobian(f)
        counted = {"sweeps": 0}
        original = Gradient.__call__

        def counting(self, *args, counted=counted, original=original, **kwargs):
            result = original(self, *args, **kwargs)
            if self._kind == "vjp":  # the sweep that tells the size; then one for each row
                value, pullback = result
                counted["sweeps"] += 1

                def pull(d_y, counted=counted, pullback=pullback):
                    counted["sweeps"] += 1
                    return pullback(d_y)

                return value, pull
            counted["sweeps"] += len(result) if self._kind == "columns" else 1
            return result

        Gradient.__call__ = counting
        try:
            made(x)
        finally:
            Gradient.__call__ = original
        sweeps = counted["sweeps"]
        yield at_most(f"Jacobian of {f.__name__}, {n} to {m}: sweeps", sweeps, min(n, m) + 1, "{:.0f}")
    for name in ("small network", "rosenbrock element loop", "elementwise"):
        f, args = FUNCTIONS[name]() if name in FUNCTIONS else (lambda x: np.sum(elementwise(x) ** 2), (rng().normal(size=200),))
        at_once, single = hessian(f), hessian(f)
        single._wide = None
        times = interleaved_seconds({"once": lambda h=at_once, a=args: h(*a), "each": lambda h=single, a=args: h(*a)}, 5, 1)
        shown = f"Hessian of {name}: columns at once / one after the other"
        yield reported(shown, median_ratio(times["once"], times["each"]))


def imports() -> Iterator[Row]:
    """The row of the import: what a process takes beyond one that imports NumPy."""

    def run(code):
        return lambda: subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ})

    times = interleaved_seconds({"numpy": run("import numpy"), "sourcead": run("import sourcead")}, 9, 1)
    beyond = sorted(a - b for a, b in zip(times["sourcead"], times["numpy"]))[4]
    yield at_most("import sourcead, seconds beyond NumPy", beyond, IMPORT)


def write_page(folder: str, rows: list[Row]) -> None:
    """Writes docs/derivatives.md."""
    lines = ["# What derivatives cost", "", "Written by `python -m tests.benchmarks derivatives`.", ""]
    lines += [" ".join(part.split()) for part in __doc__.split("\n\n")[2:]]
    lines += ["", "| what | measured | target |", "| --- | --- | --- |"]
    lines += [f"| {row.what} | {row.shown} | {row.target} |" for row in rows]
    with open(os.path.join(folder, "derivatives.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def parser() -> argparse.ArgumentParser:
    """What the options mean."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks derivatives", description=textwrap.dedent(__doc__))
    parser.add_argument("--json", help="a file to write the figures to")
    parser.add_argument("--docs", help="the folder to write the page to")
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Prints the table; returns 1 if a row falls short."""
    rows = measure("products with Hessians", products)
    rows += measure("Jacobians", jacobians)
    rows += measure("small functions", small_jacobians.rows)
    rows += measure("sparse matrices", sparse.rows)
    rows += measure("batches", batches.rows)
    rows += measure("import", imports)
    if chosen.json:
        write_json(chosen.json, rows)
    if chosen.docs:
        write_page(chosen.docs, rows)
    return 0 if all(row.ok is not False for row in rows) else 1
