"""Arrays of Python objects are lists inside each other: items by places that are known; what NumPy does with all at once is refused."""

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import SourceADError
from tests.semantics import judged_in_all_modes, made

pytestmark = pytest.mark.sampled(2)

X, S = np.array([0.4, 0.7, -0.3, 0.9]), 0.6


def parts_of(data):
    """Arrays of numbers in an array of arrays, whatever they were in."""
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype == object and isinstance(data[0, 0], np.ndarray):
        return data
    if isinstance(data, (int, float, np.number)):
        out = np.empty((1, 1), dtype=np.ndarray)
        out[0, 0] = np.array([data])
    elif isinstance(data, (list, tuple, np.ndarray)) and all([isinstance(d, (float, np.number)) for d in data]):  # noqa: C419
        out = np.empty((1, 1), dtype=np.ndarray)
        out[0, 0] = np.array(data)
    else:
        out = np.empty((len(data), len(data[0])), dtype=np.ndarray)
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = np.atleast_1d(data[i][j])
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(len(out[i, j])):
                if isinstance(out[i, j][k], (int, np.integer)):
                    out[i, j][k] = float(out[i, j][k])
    return out


class Fraction:
    def __init__(self, above, below):
        self.above, self.below = parts_of(above), parts_of(below)
        self.constant = True
        for each in [self.above, self.below]:
            for part in np.nditer(each, flags=["refs_ok"]):
                if part.item().size > 1:
                    self.constant = False
        self.rows, self.columns = self.above.shape

    def __call__(self, s):
        out = np.empty((self.rows, self.columns))
        for i in range(self.rows):
            for j in range(self.columns):
                out[i, j] = np.polyval(self.above[i, j], s) / np.polyval(self.below[i][j], s)
        return out


RIGHT = {
    "fractions": "return np.sum(Fraction(x[:2], [1.0, s, 2.0])(s + 1)) * (2.0 if Fraction(s, 1.0).constant else x[0])",
    "fractions in rows": "return np.sum(Fraction([[x[0], [1.0, x[1]]], [[x[2], s], 3.0]], [[1.0, [s, x[3]]], [2.0, 1.0]])(1.5) ** 2)",
    "parts that are taken as they are": "return np.sum(Fraction(parts_of(x), parts_of([1.0, s]))(0.5))",
    "an item is the object that was put there": """
        held, y = np.empty(3, dtype=object), x * 1.0
        held[0] = held[-1] = y
        held[1] = x * 3
        y *= s
        held[2][1] = x[0]
        return np.sum(held[0] ** 2) + np.sum(held[1] * y)""",
    "of objects and of dicts": """
        listed = [Fraction(x[0], 1.0), Fraction(x[1], 2.0)]
        held, dicts = np.array(listed), np.asarray(({"v": x[2]}, {"v": s}))
        listed.append(None)
        dicts[0]["v"] = dicts[0]["v"] * x[3]
        return np.sum(held[0](1.0) * listed[1](s)) * dicts[0]["v"] * dicts[1]["v"] * len(held) * held.shape[0]""",
    "rows are views": """
        held = np.empty((2, 2), dtype=object)
        row = held[1]
        held[1, 0], row[1] = x[:2] ** 2, s
        held[0][0] = {"a": x[3]}
        return np.sum(held[1][0]) * held[1, 1] * held[0, 0]["a"] * (held[0, 1] is None) * held.size * len(held)""",
    "lists of it": """
        held = np.empty((2, 2), object)
        for i in range(2):
            for j in range(2):
                held[i, j] = x[i] * x[j + 1] * np.ones(2)
        return sum(np.sum(part ** 2) for row in held.tolist() for part in row) + sum(np.sum(row[1]) for row in held)""",
}
KNOWN = {"np": np, "Fraction": Fraction, "parts_of": parts_of}


@pytest.mark.parametrize("name", RIGHT)
def test_gradient_is_right(name):
    assert judged_in_all_modes(made(RIGHT[name], "x, s", **KNOWN), X, S) == "right"


BEGIN = "held = np.empty(2, dtype=object)\nheld[0], held[1] = x, x ** 2\n"
REFUSED = (
    "np.sum(held + 1.0)", "np.sum(held * held)[0]", "np.sum(np.sum(held))", "np.sum(held[:1][0])", "np.sum(held[[0, 1]][0])",
    "np.sum(x if held == 3 else x[0])", "np.sum(held.T[0])", "np.sum(held[int(x[0] * 2)])", "np.sum(np.sin(held)[0])",
    "np.sum(x * held)", "np.sum(x * (hasattr(held, 'nope') + 1)) if held else 0.0", "np.sum(held.flatten()[0])", "np.sum(-held)[0]",
    "np.sum(held.copy()[0])", "np.sum(np.concatenate(held))", "np.sum(held[...][0])", "held[0, 0]", "held[()][0][0]", "held[True][0][0]",
)


@pytest.mark.parametrize("line", REFUSED)
def test_what_numpy_does_with_all_at_once_is_refused(line):
    with pytest.raises(SourceADError):
        grad(made(f"{BEGIN}return {line}", "x", np=np), verify=False)(X)


def test_what_is_put_as_its_item_is_refused():
    with pytest.raises(SourceADError):
        grad(made("held = np.empty(1, dtype=object)\nheld[0] = np.array(x[0])\nreturn held[0] * x[1]", "x", np=np), verify=False)(X)


def test_an_attribute_of_arrays_is_there():
    line = "return x[0] * (hasattr(np.empty(1, dtype=object), 'strides') + 1)"
    assert judged_in_all_modes(made(line, "x", np=np), X) == "right"
