"""Random loops over one array that is read and written by subscripts of the loop indices.

What such a loop may read again from the finished array, what it must save, and what it must put back is the subject of
`sourcead/analysis/overwrites.py` and `sourcead/ad/residuals.py`; these programs try to find a case in which they are wrong.
"""

import importlib.util
import random
from pathlib import Path

import numpy as np

SIZE = 24


def program_text(seed: int) -> str:
    """A function `program(x, p, n, k0)` of an array, a number and two integers."""
    r = random.Random(seed)
    axes = 2 if r.random() < 0.35 else 1
    shape, block = ("(24, 24)", "[:6, :6]") if axes == 2 else ("(24,)", "[:6]")
    lines = ["import numpy as np", "", "", "def program(x, p, n, k0):", f"    a = np.zeros({shape}) + 0.3 * p"]
    lines += [f"    a{block} = x", "    s = 0.0"]
    indices: list[str] = []
    depth = r.randint(1, 3)
    for d in range(depth):
        indices.append("ijk"[d])
        pad = "    " * (d + 1)
        lines.append(f"{pad}for {indices[-1]} in {_range(r, indices[:-1])}:")
        for _ in range(r.randint(1, 3) if d == depth - 1 else r.randint(0, 2)):
            lines.append(f"{pad}    {_statement(r, indices, axes)}")
        if lines[-1].endswith(":") and d == depth - 1:
            lines.append(f"{pad}    {_statement(r, indices, axes)}")
    for d in range(depth - 1, 0, -1):
        if r.random() < 0.5:
            lines.append("    " * (d + 1) + _statement(r, indices[:d], axes))
    return "\n".join([*lines, "    return np.sum(a * a) + s", ""])


def _range(r: random.Random, outer: list[str]) -> str:
    choices = [
        f"range({r.randint(0, 3)}, n)", "range(n)", f"range(n, {r.randint(-1, 2)}, -1)", "range(0, n, 2)",
        f"range({r.randint(0, 2)}, n)",
    ]  # fmt: skip
    inner = [f"range({v})" for v in outer] + [f"range({v} + 1, n)" for v in outer] + [f"range({v} - 1, -1, -1)" for v in outer]
    return r.choice(choices + inner)


def _element_index(r: random.Random, indices: list[str]) -> str:
    v, c = r.choice(indices), r.randint(-2, 3)
    shifted = f"{v} + {c}" if c > 0 else f"{v} - {-c}" if c < 0 else v
    return r.choice([shifted] * 6 + [str(r.randint(0, 5)), f"2 * {v}", f"-{v} - 1", f"n - 1 - {v}", f"{v} + k0"])


def _slice_index(r: random.Random, indices: list[str]) -> str:
    v = r.choice(indices)
    return r.choice([f":{v}", f"{v}:", f"{v} + 1:", f":{v} + 1", f"{v}:{v} + 2", ":"])


def _element(r: random.Random, indices: list[str], axes: int) -> str:
    return f"a[{', '.join(_element_index(r, indices) for _ in range(axes))}]"


def _operand(r: random.Random, indices: list[str], axes: int) -> str:
    if r.random() < 0.8:
        return _element(r, indices, axes)
    parts = [_slice_index(r, indices), *(_element_index(r, indices) for _ in range(axes - 1))]
    r.shuffle(parts)
    return f"np.sum(a[{', '.join(parts)}])"


def _statement(r: random.Random, indices: list[str], axes: int) -> str:
    def e():
        return _operand(r, indices, axes)

    value = r.choice([
        lambda: f"np.sin({e()} + p) * {e()}", lambda: f"0.5 * {e()} + np.tanh({e()})", lambda: f"{e()} * p",
        lambda: f"np.cos({e()})", lambda: f"0.3 * {e()} + 0.1 * s", lambda: f"{e()} / (2 + {e()} ** 2)",
    ])()  # fmt: skip
    target = _element(r, indices, axes)
    k = r.random()
    if k < 0.55:
        return f"{target} = {value}"
    if k < 0.65:
        return f"{target} += 0.3 * {value}"
    if k < 0.72:
        return f"{target} *= 0.5 + 0.1 * {value}"
    if k < 0.8 and axes == 1:
        return f"a[{_slice_index(r, indices)}] = 0.4 * {value}"
    if k < 0.84:
        return "a = a * 0.9"
    return f"s = 0.5 * s + 0.1 * {value}"


def judge(seed: int, folder: Path) -> str:
    """'right', 'refused', or 'unjudged' (the program raises or is not smooth); anything else says what is wrong."""
    from sourcead import SourceADError, grad

    path = Path(folder) / f"recurrence_{seed}.py"
    path.write_text(program_text(seed))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rng = np.random.default_rng(seed)
    x, p = rng.normal(size=(6,) * (2 if "24, 24" in path.read_text() else 1)), 0.7
    direction, along_p = rng.normal(size=x.shape), 0.3

    def value(t):
        return module.program(x + t * direction, p + t * along_p, 5, 1)

    def slope(h):
        return (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h)

    with np.errstate(all="ignore"):
        try:
            at, numeric, again = value(0.0), slope(1e-5), slope(3e-6)
        except IndexError:
            return "unjudged"
        if not np.isfinite(at) or abs(at) > 1e8 or not abs(numeric - again) <= 1e-7 * max(1, abs(numeric)):
            return "unjudged"
        try:
            d_x, d_p = grad(module.program, wrt=(0, 1))(x, p, 5, 1)
        except SourceADError:
            return "refused"
    found = np.sum(d_x * direction) + d_p * along_p
    if abs(found - numeric) > 1e-6 * max(1, abs(numeric), abs(at)):
        return f"wrong: seed {seed} gives {found}, central differences {numeric}\n{path.read_text()}"
    return "right"
