"""Arrays with named fields carry no derivative: what would need one is refused, and all else is as in Python."""

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import UnsupportedSyntaxError
from tests.semantics import judged_in_all_modes, made

X = np.arange(1.0, 13.0).reshape(4, 3) / 7
KIND = np.dtype([("place", np.float32, (3,)), ("mass", np.float64)])
TABLE = np.array([(0.5, 2), (1.5, 3)], dtype=[("weight", float), ("count", int)])
KNOWN = {"np": np, "KIND": KIND, "TABLE": TABLE}

REFUSED = {
    "a field is written": "d = np.zeros(4, dtype=KIND)\nd['place'] = x\nreturn np.sum(d['place'] ** 2)",
    "a field of a part is written": "d = np.zeros(4, dtype=KIND)\ne = d[1:]\ne['mass'] = x[1:, 0]\nreturn np.sum(d['mass'] ** 2)",
    "a field of an argument is written": "d['mass'] += x[:, 0]\nreturn np.sum(d['mass'] ** 2)",
    "an array with fields of the argument": "d = np.array([(x[0], x[0, 1])], dtype=KIND)\nreturn np.sum(d['mass'])",
    "rows are written": "d = np.empty(4, KIND)\nd[0] = (x[0], x[0, 1])\nreturn d['mass'][0]",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_a_derivative_is_refused(name):
    with pytest.raises(UnsupportedSyntaxError, match="named fields|may be a number"):
        grad(made(REFUSED[name], "x, d", **KNOWN), verify=False)(X, np.zeros(4, KIND))


RIGHT = {
    "fields are read": "return np.sum(TABLE['weight'] * x[:2, 0] ** 2) * TABLE['count'][1]",
    "constants are written": "d = np.zeros(4, dtype=KIND)\nd['mass'] = 2.5\nreturn np.sum(d['mass'] * x[:, 0] ** 2)",
}


@pytest.mark.parametrize("name", RIGHT)
def test_gradient_is_right(name):
    assert judged_in_all_modes(made(RIGHT[name], "x", **KNOWN), X) == "right"
