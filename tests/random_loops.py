"""Random loops over elements, whose iterations meet in all ways: `python -m tests.random_loops --seed 0 --count 300`.

The gradient for `Numba(parallel=True)` runs in the interpreter, its parallel loops in another order, and must equal that of NumPy.
"""

import argparse
import linecache
import random
from unittest import mock

import numpy as np

from sourcead import Numba, grad
from sourcead.backends.numba.codegen.parallel import work
from sourcead.errors import SourceADError
from tests.harness import quietly
from tests.harness_numba import largest_difference
from tests.shuffled_loops import shuffled

N = 6
PLACES = (
    "i", "i", "i + 1", "i + 2", "2 * i", "2 * i + 1", "N + 5 - i", "at[i]", "k", "k + 1", "0", "3 * i + j", "i + j", "j", "i - 1", "-i",
    "i % 3",
)  # fmt: skip
ROWS = ("i, j", "j, i", "i, 0", "0, j", "i + 1, j", "at[i], j", "i, i", "j, j", "i, at[j]")
HEAD = """def f(x, at):
    a, b, m = np.zeros(30), np.ones(30), np.ones((10, 10))
    s, t, k = 0.0, 1.0, 2
    a[3:9] += x[:6]
"""


def drawn(seed):
    """The source of a random function `f(x, at)`."""
    draw = random.Random(seed)
    lines, depth = [], 2

    def put(text):
        lines.append("    " * depth + text)

    def place(inner):
        return draw.choice([p for p in PLACES if inner or "j" not in p])

    def value(inner):
        a = draw.choice(["a", "b", "x"])
        terms = [f"{a}[{place(inner)}]", f"x[{place(inner)}]", "0.5", "s", "t", "np.sin(x[i])"]
        if inner:
            terms += [f"m[{draw.choice(ROWS)}]"]
        return draw.choice(["{} * {}", "{} + 0.1 * {}", "{}"]).format(draw.choice(terms), draw.choice(terms))

    def statement(inner):
        nonlocal depth
        kind = draw.randrange(9)
        if kind < 3:
            put(f"{draw.choice('ab')}[{place(inner)}] {draw.choice(['=', '+=', '+=', '-='])} {value(inner)}")
        elif kind == 3 and inner:
            put(f"m[{draw.choice(ROWS)}] {draw.choice(['=', '+='])} {value(inner)}")
        elif kind == 4:
            put(f"s {draw.choice(['+=', '+=', '-=', '*=', '='])} {value(inner)}")
        elif kind == 5:
            put(f"k {draw.choice(['+= 1', '+= 2', '-= 1', '= i'])}")
        elif kind == 6:
            put(f"t = {value(inner)}")
        elif kind == 7:
            put(f"if x[i] {draw.choice('<>')} 0.2:")
            depth += 1
            statement(inner)
            depth -= 1
        else:
            put(f"{draw.choice('ab')}[{place(inner)}] += {value(inner)}")

    for _ in range(draw.choice([1, 2])):
        depth = 1
        bounds = draw.choice(["N", "N", "1, N", "N - 1, -1, -1", "0, N, 2"])
        put(f"for i in range({bounds}):")
        depth = 2
        for _ in range(draw.randint(1, 3)):
            statement(False)
        if draw.random() < 0.5:
            put(f"for j in range({draw.choice(['3', 'N', 'i', 'i + 1', '1, 3'])}):")
            depth = 3
            for _ in range(draw.randint(1, 2)):
                statement(True)
    body = "\n".join(lines)
    return HEAD + body + "\n    return np.sum(a * np.arange(30)) + np.sum(b ** 2) + np.sum(m ** 2) + s + t + k * s\n"


def judged(seed):
    """"equal", "refused" or what is wrong, and how many loops ran in parts."""
    source, namespace, found = drawn(seed), {"np": np, "N": N}, []
    file = f"<random loops {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), namespace)
    rng = np.random.default_rng(seed)
    x, at = rng.uniform(-1, 1, 30), rng.integers(0, 8, 30)
    try:
        with quietly(), np.errstate(all="ignore"):
            expected = grad(namespace["f"], verify=False)(x, at)
    except (SourceADError, IndexError):
        return "refused", 0
    with quietly(), np.errstate(all="ignore"), mock.patch.object(work, "LEAST", 0), shuffled(seed, found=found):
        got = grad(namespace["f"], backend=Numba(cache=False, parallel=True), verify=False)(x, at)
    difference = largest_difference(got, expected)
    return ("equal" if difference <= 100 or not np.isfinite(expected).all() else f"off by {difference:.3g}"), len(set(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=300)
    options = parser.parse_args()
    counts, loops = {}, 0
    for seed in range(options.seed, options.seed + options.count):
        verdict, parts = judged(seed)
        loops += parts
        kind = verdict if verdict in ("equal", "refused") else "wrong"
        counts[kind] = counts.get(kind, 0) + 1
        if kind == "wrong":
            print(seed, verdict, drawn(seed), sep="\n", flush=True)
    print(counts, f"{loops} loops ran in parts")
    return "wrong" in counts


if __name__ == "__main__":
    raise SystemExit(main())
