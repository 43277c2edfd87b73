"""Random loops of matrix products, as recurrent networks are written.

The passes that take products out of loops (`hoisting.py`, `interchange.py`, `reuse.py`, `stacked.py`, `filled.py`) are the subject;
these programs try to find a loop that they take apart and should not.  What they find is compared with the gradient under the policy
"store", which leaves loops as they are, and with central differences.
"""

import importlib.util
import random
from pathlib import Path

import numpy as np

SIDE, SERIES = 9, 8
LOOPS = (
    "for t in range(len(xs)):", "for t in range(1, len(xs)):", "for t in range(len(xs) - 1, -1, -1):", "for t in range(len(xs) - 1):",
    "for t, x in enumerate(xs):", "for t in range(0, len(xs), 2):", "for t in range(n):", "for t in range(n - 1):",
)  # fmt: skip
INPUTS = ("xs[t]", "xs[t]", "xs[t]", "zs[t]", "xs[t - 1]", "xs[len(xs) - 1 - t]", "rows[t]", "xs[-1]", "zs[t - 1]", "xs[t] * 1.0")
LAYERED = ("for w, u in zip(ws, us):", "for k in range(len(ws)):", "for k, (w, u) in enumerate(zip(ws, us)):")


def indented(lines):
    return ["    " + line for line in lines]


class Writer:
    """Writes one program: `h`, `c` and the list `states` are carried, `hs`, `zs` and `out` are arrays written row by row."""

    def __init__(self, seed: int):
        self.r = random.Random(seed)
        self.batch = self.r.random() < 0.5
        self.values = ["h", "c", "x"]
        self.vectors = False  # whether x is a column of xs

    def pick(self, *choices):
        return self.r.choice(choices)

    def expression(self, depth=0) -> str:
        kind = self.r.random()
        if depth > 2 or kind < 0.25:
            return self.pick(*self.values)
        inner = self.expression(depth + 1)
        if kind < 0.6:
            matrix = self.pick("u", "v", "w", "u.T", "w.T", "v[::-1]", "(u * 0.5)")
            rows = self.batch or self.r.random() < 0.5
            return f"({inner} @ {matrix})" if rows else f"{self.pick('({} @ {})', 'np.dot({}, {})').format(matrix, inner)}"
        if kind < 0.8:
            return f"({inner} {self.pick('+', '*', '-')} {self.pick('b', self.expression(depth + 1))})"
        if kind < 0.95:
            return f"np.{self.pick('tanh', 'sin')}({inner})"
        return f"(0.5 * {inner})"

    def state(self, name: str) -> list[str]:
        return [f"{name} = np.tanh({self.expression()})"]

    def statement(self, k: int) -> list[str]:
        kind, e = self.r.random(), self.expression
        if kind < 0.25:
            lines = [f"z{k} = {e()}"]
            self.values.append(f"z{k}")
            return lines
        if kind < 0.45:
            return self.state("h")
        if kind < 0.52:
            return [f"c = 0.5 * c + {e()}"]
        if kind < 0.62:
            lines = [f"hs[t + 1] = np.tanh({e()})"]
            self.values += [self.pick("hs[t]", "hs[t + 1]", "hs[t - 1]", "hs[-1]", "hs[0]", "hs[2]")]
            return lines
        if kind < 0.67:
            return [f"hs[t] = np.sin(hs[t]) + {e()}"]
        if kind < 0.72:
            return [f"hs[t + 1] += {self.pick('0.3 * ', '')}{e()}"]
        if kind < 0.78:
            return [f"ys.append({e()})"]
        if kind < 0.82:
            return [f"total += np.sum({e()} ** 2)"]
        if kind < 0.86:
            return [f"zs[t] = 0.5 * {e()}"]
        if kind < 0.9:
            test = self.pick("np.sum(h) > 0.1", "t == 0", "t % 2 == 1", "t > 1")
            other = self.r.random() < 0.4
            then = self.pick(self.state("h"), [f"hs[t] = {e()}"], [f"ys.append({e()})"])
            orelse = self.pick(self.state("c"), [f"total += np.sum({e()} * b)"])
            return [f"if {test}:", *indented(then), *(["else:", *indented(orelse)] if other else [])]
        if kind < 0.93:
            return ["w = w * 0.9"] if self.r.random() < 0.5 else [f"v[0] = 0.5 * v[1] + 0.1 * {'h[0]' if self.batch else 'h'}"]
        if kind < 0.96:
            return [f"out[:, t] = {e()}"]
        return self.layers()

    def layers(self) -> list[str]:
        head = self.pick(*LAYERED)
        body = [] if "w, u" in head else ["w, u = ws[k], us[k]"]
        if "k" in head and self.r.random() < 0.8:
            body += [f"states[k] = np.tanh({self.pick('h @ w.T + states[k] @ u.T + b', 'h @ w + states[k] * b', 'states[k] @ u + h')})"]
            body += [self.pick("h = states[k]", "h = states[k]", "h = 0.5 * h + states[k]")]
        else:
            body += self.state("h")
        return [head, *indented(body)]

    def loop(self, number: int) -> list[str]:
        loop = self.pick(*LOOPS)
        body = [] if "enumerate" in loop else [f"x = {self.pick(*INPUTS)}"]
        for k in range(self.r.randint(1, 5)):
            body += self.statement(10 * number + k)
        self.values = self.values[:3]
        return [loop, *indented(body)]

    def text(self) -> str:
        shape = f"({SERIES}, {SIDE})" if self.batch else f"({SIDE},)"
        columns = f"({SERIES}, len(xs) + 1, {SIDE})" if self.batch else f"({SIDE}, len(xs) + 1)"
        lines = [
            f"h = np.zeros({shape})", f"c = np.ones({shape})", "n = len(xs)", "ys = []", "total = 0.0", "v = v * 1.0", "zs = xs * 1.0",
            f"hs = {self.pick('np.zeros', 'np.ones', '0.1 * np.ones')}((n + 2, *{shape}))", "rows = [x * 1.0 for x in xs]",
            f"out = np.zeros({columns})", f"states = [np.zeros({shape}) for _ in ws]", f"us = [u, {self.pick('w.T', 'v', 'v')}]",
        ]  # fmt: skip
        for number in range(self.r.choice((1, 1, 1, 2))):
            lines += self.loop(number)
        lines += ["for y in ys:", "    total += np.sum(y ** 2)", "total += np.sum(h ** 2) + np.sum(c * h) + np.sum(hs ** 2)"]
        lines += ["return total + np.sum(zs ** 3) + np.sum(out ** 2) + sum(np.sum(s * s) for s in states)"]
        return "\n".join(["import numpy as np", "", "", "def program(u, v, w, b, ws, xs):", *indented(lines), ""])


def program_text(seed: int) -> str:
    """A function of three square matrices, a vector, a list of two matrices, and a series of vectors or of batches of them."""
    return Writer(seed).text()


def arguments(seed: int, batch: bool):
    rng, length = np.random.default_rng(seed), random.Random(seed).choice([1, 2, 3, 8, 9])
    u, v, w, *ws = 0.4 * rng.normal(size=(5, SIDE, SIDE))
    return u, v, w, 0.4 * rng.normal(size=SIDE), ws, 0.4 * rng.normal(size=(length, SERIES, SIDE) if batch else (length, SIDE))


def flat(value) -> np.ndarray:
    return np.concatenate([flat(v) for v in value]) if isinstance(value, (list, tuple)) else np.ravel(value)


def along(args, direction, t):
    """The arguments, `t` further in a direction."""
    if isinstance(args, (list, tuple)):
        return type(args)(along(a, d, t) for a, d in zip(args, direction))
    return args + t * direction


def judge(seed: int, folder: Path) -> str:
    """'right', 'split' (right, and products were taken out of a loop), 'refused' or 'unjudged'; anything else says what is wrong."""
    from sourcead import SourceADError, value_and_grad

    path = Path(folder) / f"network_{seed}.py"
    path.write_text(program_text(seed))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    args = arguments(seed, Writer(seed).batch)
    rng = np.random.default_rng(seed + 1)
    direction = _random_like(rng, args)

    def value(t):
        return module.program(*along(args, direction, t))

    with np.errstate(all="ignore"):
        try:
            at = value(0.0)
            rough, numeric = (
                (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h) for h in (1e-4, 2e-5)
            )
        except (IndexError, ValueError):
            return "unjudged"
        if not np.isfinite(at) or abs(at) > 1e8 or abs(rough - numeric) > 1e-3 * abs(numeric):
            return "unjudged"
        try:
            made = value_and_grad(module.program, wrt=tuple(range(6)))
            found = made(*args)
            stored = value_and_grad(module.program, wrt=tuple(range(6)), checkpoint="store")(*args)
        except SourceADError:
            return "refused"
        except Exception as error:  # a user never sees one
            return f"internal: seed {seed}: {type(error).__name__}: {error}\n{path.read_text()}"
    kept, free = flat(stored[1]), flat(found[1])
    slope = np.dot(free, flat(direction))
    scale = max(1.0, np.abs(kept).max())
    if not (np.isclose(found[0], at, rtol=1e-9) and np.allclose(free, kept, rtol=1e-7, atol=1e-9 * scale)):
        return f'wrong: seed {seed} differs from "store" by {np.abs(free - kept).max()}\n{path.read_text()}'
    if abs(slope - numeric) > 1e-5 * max(scale, abs(numeric)):
        return f"wrong: seed {seed} gives {slope}, central differences {numeric}\n{path.read_text()}"
    return "split" if any("products" in note for note in made.lower(*args).notes) else "right"


def _random_like(rng, value):
    if isinstance(value, (list, tuple)):
        return type(value)(_random_like(rng, v) for v in value)
    return rng.normal(size=value.shape)
