"""The stacked Elman network in all the ways of writing it: containers of the parameters, ways to begin, ways to update the states.

`ways()` yields the name, the source and the container of each; `network(container, ...)` makes the parameters.
"""

import dataclasses
import itertools
from collections import namedtuple
from collections.abc import Iterator

import numpy as np

Layer = namedtuple("Layer", "w u b")


@dataclasses.dataclass
class Cell:
    w: np.ndarray
    u: np.ndarray
    b: np.ndarray


CONTAINERS = {
    "tuples": "w, u, b = layers[k]",
    "named tuples": "w, u, b = layers[k].w, layers[k].u, layers[k].b",
    "dicts": "w, u, b = layers[k]['w'], layers[k]['u'], layers[k]['b']",
    "objects": "w, u, b = layers[k].w, layers[k].u, layers[k].b",
    "dict of lists": "w, u, b = layers['w'][k], layers['u'][k], layers['b'][k]",
}
SIZES = {"dict of lists": "len(layers['b'])"}
BEGIN = {
    "comprehension": "hs = [np.zeros((xs.shape[1], xs.shape[2])) for _ in range(n)]",
    "appended": "hs = []\n    for _ in range(n):\n        hs.append(np.zeros((xs.shape[1], xs.shape[2])))",
    "repeated": "hs = [np.zeros((xs.shape[1], xs.shape[2]))] * n",
    "array": "hs = np.zeros((n, xs.shape[1], xs.shape[2]))",
}
UPDATE = {
    "new list": ("states = []", "states.append(x)", "hs = states"),
    "in place": ("", "hs[k] = x", ""),
    "copied list": ("states = list(hs)", "states[k] = x", "hs = states"),
    "joined lists": ("states = []", "states = states + [x]", "hs = states"),
}
OPERANDS = {"two products": "x @ w + h @ u + b", "concatenated": "np.concatenate((x, h), axis=1) @ w + b"}


def ways() -> Iterator[tuple[str, str, str]]:
    """Yield for each way its name, the source of the function `f(layers, xs)`, and the name of its container."""
    for (container, read), (begin, first), (update, (before, write, after)), (operand, sum_) in itertools.product(
        CONTAINERS.items(), BEGIN.items(), UPDATE.items(), OPERANDS.items()
    ):
        lines = [
            "def f(layers, xs):",
            f"    n = {SIZES.get(container, 'len(layers)')}",
            f"    {first}",
            "    for x in xs:",
            *([f"        {before}"] if before else []),
            "        for k in range(n):",
            f"            {read}",
            "            h = hs[k]",
            f"            x = np.tanh({sum_})",
            f"            {write}",
            *([f"        {after}"] if after else []),
            "    return np.sum(hs[-1] ** 2)",
        ]
        yield f"{container}, {begin}, {update}, {operand}", "\n".join(lines) + "\n", container


def network(container: str, layers: int, size: int, concatenated: bool, seed: int = 0):
    """Return parameters in a container."""
    rng = np.random.default_rng(seed)
    rows = 2 * size if concatenated else size
    drawn = [(rng.normal(size=(rows, size)) / 3, rng.normal(size=(size, size)) / 3, rng.normal(size=size)) for _ in range(layers)]
    match container:
        case "named tuples":
            return [Layer(*each) for each in drawn]
        case "dicts":
            return [dict(zip("wub", each)) for each in drawn]
        case "objects":
            return [Cell(*each) for each in drawn]
        case "dict of lists":
            return {name: [each[k] for each in drawn] for k, name in enumerate("wub")}
    return drawn
