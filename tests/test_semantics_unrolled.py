"""Programs that are lowered iteration by iteration, where every name holds something that is known: slices, functions, objects in lists."""

import itertools

import numpy as np
import pytest

from sourcead.frontend.control import loops
from tests.semantics import judged_in_all_modes, made

pytestmark = pytest.mark.sampled(3)

X, S = np.sin(np.arange(9) * 0.7), 0.8


def moved(part, by, size):
    if part.start + by < 0 or part.stop + by > size:
        raise IndexError("out of bounds")
    return slice(part.start + by, part.stop + by, part.step)


def weights(offsets):
    """The weights of a stencil, and the order up to which they hold, which a loop of unknown length finds."""
    powers = np.array([[float(k) ** n for k in offsets] for n in range(len(offsets))])
    found = np.linalg.solve(powers, [0.0, 1.0] + [0.0] * (len(offsets) - 2))
    order = 1
    while True:
        error = 0.0
        for k, w in zip(offsets, found):
            error += w * k ** (order + 1)
        if abs(error) > 1e-6:
            break
        order += 1
    return {"weights": list(dict(zip(offsets, found)).values()), "offsets": np.array(offsets), "order": order}


STENCIL = """
    scheme = weights(list(range(-1, 2)))
    part = slice(1, len(x) - 1, 1)
    parts = [moved(part, scheme["offsets"][k], len(x)) for k in range(len(scheme["offsets"]))]
    y = np.zeros_like(x)
    for w, p in zip(scheme["weights"], parts):
        y[part] += w * x[p] ** 2
    return s * np.sum(y ** 3) + scheme["order"]"""
RIGHT = {
    "slices in a list": STENCIL,
    "slices in lists of an axis each": STENCIL.replace("x[p]", "np.stack([x, x])[tuple([slice(None)] + [p])][1]"),
    "places of a product": """
        held = {}
        for i, j in itertools.product(range(2), [1, 2]):
            held[i, j] = x[i:i + j] ** 2
        y = held[1, 2] * np.sum(held[0, 1]) + held[0, 2]
        parts = [slice(k, n) for k, n in itertools.product(range(2), (3, 5))]
        return s * sum(np.sum(y) * np.sum(x[p] ** 2) for p in parts)""",
    "functions beside numbers": """
        total = 0.0
        for w, f in zip(np.stack([x[0], x[1], x[2]]), [np.sin, lambda v: v ** 3, np.tanh]):
            total += f(w * s)
        return total""",
    "loops of known length inside one of unknown length": """
        total, parts = 0.0, [slice(0, 3), slice(3, 6), slice(6, 9)]
        while total < 20.0:
            for k, p in enumerate(parts):
                for v in [x[0], x[1], s]:
                    total += np.sum(x[p] ** 2) + v * v / (k + 1)
        return total * s""",
}
KNOWN = {"np": np, "itertools": itertools, "moved": moved, "weights": weights}


@pytest.mark.parametrize("name", RIGHT)
def test_gradient_is_right(name):
    assert judged_in_all_modes(made(RIGHT[name], "x, s", **KNOWN), X, S) == "right"


def test_rounds_of_a_loop_that_stays_one_count_once(monkeypatch):
    monkeypatch.setattr(loops, "MOST_UNROLLED", 100)
    assert judged_in_all_modes(made(STENCIL, "x, s", **KNOWN), X, S) == "right"
