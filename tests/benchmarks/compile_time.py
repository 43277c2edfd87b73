"""How long the compiler takes to write a gradient, against the number of statements of the function.

    python -m tests.benchmarks compile

Each shape is a family of programs: `shape(n)` is the body of a function of about n statements.  The arguments are a
number `x` and arrays `a` and `b`; what is timed is `lower`, all stages from the source to the text.
"""

import argparse
import gc
import linecache
import os
import textwrap
import time
from collections.abc import Callable, Iterator

import numpy as np

from sourcead import grad
from tests.benchmarks.report import Row, at_most, measure, write_json

SIZES = (125, 250, 500, 1000, 2000)
SECONDS = 10.0  # for 2,000 statements
GROWTH = 1.5  # of the time per statement, from 250 statements to 2,000
DEPTHS = range(1, 7)
DEEPER = 3.0  # the time at depth 6 over that at depth 3, for bodies of the same length

SHAPES: dict[str, Callable[[int], str]] = {}


def shape(function: Callable[[int], str]) -> Callable[[int], str]:
    SHAPES[function.__name__.replace("_", " ")] = function
    return function


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@shape
def straight_scalars(n):
    lines = ["v0 = x", "v1 = x * 2.0"]
    for k in range(2, n):
        forms = (f"np.sin(v{k - 1}) * v{k - 2}", f"v{k - 1} + 0.5 * v{k - 2}", f"v{k - 1} * v{k - 1} - 1.0")
        lines.append(f"v{k} = {forms[k % 3]}")
    return [*lines, f"return v{n - 1}"]


@shape
def straight_arrays(n):
    lines = ["u = a * x", "v = b"]
    for k in range(n - 2):
        forms = ("u = np.tanh(u * v + b)", "v = u * v - a", "u = u + v / (1.0 + u * u)", "v = np.where(u > v, u, v * b)")
        lines.append(forms[k % 4])
    return [*lines, "return np.sum(u * v)"]


@shape
def one_long_loop(n):
    body = []
    for k in range(n // 4):
        body += [f"p{k} = np.sin(s) * a[i]", f"q{k} = p{k} * s + {k}.0", f"r{k} = q{k} / (1.0 + p{k} * p{k})", f"s = s * 0.5 + r{k}"]
    return ["s = x", "for i in range(len(a)):", *indented(body), "return s"]


@shape
def long_loop_with_writes(n):
    body = []
    for k in range(n // 3):
        body += [f"t{k} = c[i] * a[i]", f"c[i + 1] = np.sin(t{k}) + c[i + 1] * t{k}", f"s = s + t{k} * c[i + 1]"]
    return ["s = x", "c = np.zeros(len(a) + 1)", "c[0] = x", "for i in range(len(a)):", *indented(body), "return s"]


@shape
def long_loop_of_arrays(n):
    body = []
    for k in range(n // 4):
        body += [f"p{k} = np.tanh(h * a + {k}.0)", f"q{k} = p{k} * h", f"r{k} = np.sum(q{k}) * b", f"h = h + r{k} - q{k}"]
    return ["h = a * x", "for i in range(len(a)):", *indented(body), "return np.sum(h)"]


@shape
def many_small_loops(n):
    lines = ["s = x"]
    for k in range(n // 3):
        lines += [f"for i{k} in range(len(a)):", f"    t{k} = np.sin(s) * a[i{k}]", f"    s = s + t{k}"]
    return [*lines, "return s"]


@shape
def many_branches(n):
    lines = ["s = x"]
    for k in range(n // 4):
        lines += [f"if s > {k}.0:", f"    s = np.sin(s) * x + {k}.0", "else:", f"    t{k} = s * 0.5", f"    s = t{k} * s"]
    return [*lines, "return s"]


@shape
def element_writes(n):
    lines = [f"c = np.zeros({n})", "c[0] = x"]
    for k in range(1, n):
        lines.append(f"c[{k}] = np.sin(c[{k - 1}]) * a[0]")
    return [*lines, "return np.sum(c)"]


@shape
def row_writes(n):
    lines = [f"c = np.zeros(({n}, 3))"]
    for k in range(n // 2):
        lines += [f"t{k} = a * {k}.0 + b", f"c[{k}] = t{k} * x"]
    return [*lines, "return np.sum(c * c)"]


@shape
def small_calls(n):
    lines = ["s = x", "t = x * 2.0"]
    for _ in range(n // 8):  # each call is inlined: 4 statements twice
        lines += ["s = helper(s, t)", "t = helper(t, s)"]
    return [*lines, "return s * t"]


HELPER = ["def helper(p, q):", "    u = np.sin(p) * q", "    if q is None:", "        return p", "    v = u * p + q",
          "    return v / (1.0 + u * u)"]  # fmt: skip


def nested(depth: int, kind: str = "loops", statements: int = 12) -> list[str]:
    """A nest with a few statements in the innermost body; each level also changes a variable of its own."""
    lines = [f"s = np.sin(s) * v{k % depth} + {k}.0" for k in range(statements)]
    lines += [f"v{k} = v{k} + s * {k}.5" for k in range(depth)]
    for level in reversed(range(depth)):
        if kind == "ifs" or kind == "mixed" and level % 2:
            head = f"if s > {level}.0:"
        else:
            head = f"for i{level} in range(len(a)):"
        lines = [f"v{level} = v{level} * 0.5", head, *indented([*lines, f"s = s + v{level}"])]
    return [*(f"v{k} = x" for k in range(depth)), "s = x", *lines, "return s"]


def function_of(lines: list[str]):
    """The function with this body."""
    text = "\n".join([*HELPER, "", "def f(x, a, b):", *indented(lines), ""])
    name = f"<program {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {"np": np, "__name__": "program"}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def seconds(lines: list[str], repeats: int = 1) -> float:
    """How long the compiler takes for the function with this body, at best."""
    best = float("inf")
    for _ in range(repeats):
        f = function_of(lines)
        gc.collect()
        start = time.process_time()
        grad(f).lower(0.5, np.ones(3), np.ones(3))
        best = min(best, time.process_time() - start)
    return best


def lengths(results: dict[str, dict[int, float]], sizes: tuple[int, ...]) -> Iterator[Row]:
    """The rows of the shapes: the time for the longest function, and how the time per statement grows."""
    for name, body in SHAPES.items():
        times = {n: seconds(body(n), repeats=3 if n <= 250 else 1) for n in sizes}
        results[name] = times
        longest, short = max(sizes), 250
        yield at_most(f"{name}, {longest} statements, seconds", times[longest], SECONDS)
        growth = (times[longest] / longest) / (times[short] / short)
        yield at_most(f"{name}, time per statement against {short} statements", growth, GROWTH)


def depths(results: dict[str, dict[int, float]]) -> Iterator[Row]:
    """The rows of nests: the time must not multiply with each level."""
    for kind in ("loops", "ifs", "mixed"):
        times = {depth: seconds(nested(depth, kind), repeats=2) for depth in DEPTHS}
        results[f"nested {kind}"] = times
        yield at_most(f"nested {kind}, depth 6 against depth 3", times[6] / times[3], DEEPER)


def write_page(folder: str, results: dict[str, dict[int, float]], nests: dict[str, dict[int, float]]) -> None:
    """Writes docs/compile-time.md and its plot."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2))
    for name, times in results.items():
        axes.plot(list(times), list(times.values()), marker="o", markersize=3, label=name)
    axes.set_xlabel("statements in the function")
    axes.set_ylabel("seconds to write its gradient")
    axes.legend(fontsize=7)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(os.path.join(folder, "compile_time.svg"), metadata={"Date": None})
    sizes = list(next(iter(results.values())))
    lines = [
        "# Compile time",
        "",
        "Written by `python -m tests.benchmarks compile`: processor seconds from the source of a function to the text of its gradient,",
        "all stages, against the number of statements of the function. The shapes are in `tests/benchmarks/compile_time.py`.",
        "",
        "![seconds against statements](compile_time.svg)",
        "",
        "| shape | " + " | ".join(map(str, sizes)) + " | per statement, ms |",
        "| --- |" + " --- |" * (len(sizes) + 1),
    ]
    for name, times in results.items():
        shown = " | ".join(f"{t:.2f}" for t in times.values())
        lines.append(f"| {name} | {shown} | {1000 * times[sizes[-1]] / sizes[-1]:.2f} |")
    lines += [
        "",
        "Nests of loops and branches, 12 statements in the innermost body, seconds by depth:",
        "",
        "| nest | " + " | ".join(map(str, DEPTHS)) + " |",
        "| --- |" + " --- |" * len(DEPTHS),
    ]
    lines += [f"| {name} | " + " | ".join(f"{t:.2f}" for t in times.values()) + " |" for name, times in nests.items()]
    with open(os.path.join(folder, "compile-time.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def parser() -> argparse.ArgumentParser:
    """What the options mean."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks compile", description=textwrap.dedent(__doc__))
    parser.add_argument("--json", help="a file to write the figures to")
    parser.add_argument("--docs", help="the folder to write the page and its plot to")
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Prints the table; returns 1 if a row falls short."""
    seconds(SHAPES["straight scalars"](50))  # the rules are read once
    results: dict[str, dict[int, float]] = {}
    nests: dict[str, dict[int, float]] = {}
    rows = measure("compile time against length", lambda: lengths(results, SIZES))
    rows += measure("compile time against depth", lambda: depths(nests))
    if chosen.json:
        write_json(chosen.json, rows)
    if chosen.docs:
        write_page(chosen.docs, results, nests)
    return 0 if all(row.ok is not False for row in rows) else 1
