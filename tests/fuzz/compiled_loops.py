"""Random loops and slice statements over several arrays: the text that Numba compiles against that for NumPy.

    python -m tests.fuzz.compiled_loops --examples 1000 --seed 0

The compiled text is Python; the interpreter runs it here, which is quick, and finds what `sourcead/backends/numba/loops/` does wrong in
reordering.  With `--numba`, Numba compiles it.
"""

import argparse
import collections
import importlib.util
import random
import sys
import tempfile
from pathlib import Path

import numpy as np

ARRAYS = "abc"


def program_text(seed: int) -> str:
    """A function `program(x, y, p, n, m)` of two arrays, a number and two integers."""
    r, axes = random.Random(seed), axes_of(seed)
    lines = ["import numpy as np", "", "", "def program(x, y, p, n, m):"]
    lines += ["    a = x.copy()", "    b = y.copy()", "    c = x * y", "    s = 0.0"]
    outer: list[str] = []
    pad = "    "
    for v in "tuv"[: r.randint(0, axes)]:
        kind = r.choice(["range(m)", "range(1, n - 1)", "range(n - 2, 0, -1)", "range(2)"])
        lines.append(f"{pad}for {v} in {kind}:")
        pad += "    "
        outer.append(v)
        if r.random() < 0.3:
            lines.append(pad + _statement(r, outer, axes))
    for _ in range(r.randint(1, 3)):
        if r.random() < 0.35:
            lines += [pad + _slices(r, outer, axes) for _ in range(r.randint(1, 3))]
            continue
        start, end = r.randint(0, 2), r.choice(["n", "n - 1", "n - 2", "m"] + outer)
        backward = r.random() < 0.4
        lines.append(f"{pad}for i in range({end} - 1, {start - 1}, -1):" if backward else f"{pad}for i in range({start}, {end}):")
        for _ in range(r.randint(1, 4)):
            lines.append(f"{pad}    {_statement(r, [*outer, 'i'], axes)}")
        if r.random() < 0.2:
            lines.append(f"{pad}    s += {_element(r, [*outer, 'i'], axes)} * p")
    return "\n".join([*lines, "    return np.sum(a * a) + np.sum(b * np.cos(c)) + s", ""])


def axes_of(seed: int) -> int:
    """How many axes the arrays of a program have."""
    return 2 if seed % 5 < 2 else 1


def _subscript(r: random.Random, indices: list[str]) -> str:
    if not indices:
        return str(r.randint(0, 4))
    v, c = r.choice([indices[-1]] * 3 + indices), r.choice([-1, 0, 0, 0, 1, 1, 2, -2])
    shifted = f"{v} + {c}" if c > 0 else f"{v} - {-c}" if c < 0 else v
    return r.choice([shifted] * 8 + [str(r.randint(0, 4)), f"n - 1 - {v}", f"2 * {v}", "-1"])


def _element(r: random.Random, indices: list[str], axes: int) -> str:
    return f"{r.choice(ARRAYS)}[{', '.join(_subscript(r, indices) for _ in range(axes))}]"


def _value(r: random.Random, e) -> str:
    return r.choice([
        lambda: f"0.3 * {e()} + 0.2 * {e()}", lambda: f"{e()} * p", lambda: f"{e()} * {e()}", lambda: f"{e()} / (2 + {e()} * {e()})",
        lambda: f"np.sin({e()}) * p", lambda: f"0.3 * ({e()} + {e()} + {e()})", lambda: f"{e()} - 0.1 * {e()} * ({e()} - {e()})",
        lambda: f"({e()} if {e()} > 0 else 0.5 * {e()})", lambda: "0.25", lambda: f"max({e()}, {e()})",
    ])()  # fmt: skip


def _statement(r: random.Random, indices: list[str], axes: int) -> str:
    target, value = _element(r, indices, axes), _value(r, lambda: _element(r, indices, axes))
    return r.choice([f"{target} = {value}"] * 4 + [f"{target} += {value}", f"{target} -= {value}", f"s += {value}", f"{target} *= 0.5"])


RANGES = (  # parts of an axis with the same number of elements
    ("1:-1", ":-2", "2:", "1:-1"), (":-1", "1:", ":-1", "1:"), ("1:", ":-1", "1:", ":-1"), (":", "::-1", ":", ":"), ("::2", "::2"),
)  # fmt: skip


def _slices(r: random.Random, outer: list[str], axes: int) -> str:
    """A statement on parts of arrays, or on whole ones."""
    ranges = [r.choice(RANGES) for _ in range(axes)]
    fixed = r.random() < 0.3 and axes == 2

    def part(target=False) -> str:
        keys = [choice[0] if target else r.choice(choice) for choice in ranges]
        if fixed:
            keys[0] = _subscript(r, outer)
        return f"{r.choice(ARRAYS)}[{', '.join(keys)}]"

    value = r.choice([
        lambda: f"0.3 * {part()} + 0.2 * {part()}", lambda: f"{part()} * p", lambda: f"{part()} * {part()}",
        lambda: f"np.sin({part()})", lambda: f"0.3 * ({part()} + {part()} + {part()})", lambda: "0.25",
        lambda: f"{part()} / (2 + {part()} * {part()})", lambda: f"np.maximum({part()}, {part()})",
        lambda: f"np.where({part()} > 0, {part()}, 0.5)",
    ])()  # fmt: skip
    return r.choice([f"{part(True)} = {value}"] * 3 + [f"{part(True)} += {value}", f"{part(True)} -= {value}", f"{part(True)} *= 0.5"])


def load(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def judge(seed: int, folder: Path, by_numba: bool = False) -> str:
    """'equal', 'refused' or 'unjudged' (the program raises); anything else says what is wrong."""
    from sourcead import SourceADError, grad, runtime
    from sourcead.backends.numba import functions as helpers

    path = Path(folder) / f"loops_{seed}.py"
    path.write_text(program_text(seed))
    program = load(path)
    rng = np.random.default_rng(seed)
    shape, n = ((17, 16), 8) if seed % 3 else ((7, 6), 3)
    shape = shape[: axes_of(seed)]
    args = rng.normal(size=shape), rng.normal(size=shape), 0.7, n, 3
    with np.errstate(all="ignore"):
        try:
            program(*args)
        except (IndexError, ValueError):
            return "unjudged"
        try:
            expected = grad(program, wrt=(0, 1, 2))(*args)
            compiled = grad(program, wrt=(0, 1, 2), backend="numba")
            if by_numba:
                got = compiled(*args)
            else:
                stand_ins = (*helpers.ARRAY_UFUNCS.values(), *helpers.ARRAY_REDUCTIONS.values())
                namespace = {**vars(runtime), **vars(helpers), **{f.__name__: f for f in stand_ins}}
                exec(compiled.lower(*args).compiled_text, namespace)
                got = namespace["program_grad"](*args)
        except SourceADError:
            return "refused"
    for a, b in zip(got, expected):
        scale = np.abs(b).max() if np.isfinite(b).all() else 1.0
        if np.isfinite(b).all() and not np.allclose(a, b, rtol=0, atol=1e-12 * max(scale, 1e-3)):
            return f"wrong: seed {seed} gives\n{a}\nin place of\n{b}\n{path.read_text()}\n{compiled.lower(*args).compiled_text}"
    return "equal"


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.compiled_loops", description=__doc__)
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--numba", action="store_true")
    options = parser.parse_args()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.examples):
            try:
                found = judge(seed, Path(folder), options.numba)
            except Exception as error:
                found = f"internal: seed {seed}: {type(error).__name__}: {error}\n{program_text(seed)}"
            counts[found.partition(":")[0]] += 1
            if ":" in found:
                print(found, flush=True)
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    return int(any(what in counts for what in ("wrong", "internal")))


if __name__ == "__main__":
    sys.exit(main())
