"""Idioms of public packages, each in small programs: value and all derivatives as Python and central differences have them."""

import collections
from collections.abc import MutableMapping

import numpy as np
import pytest
from numpy import array

from sourcead import grad
from sourcead.errors import UnsupportedSyntaxError
from tests.semantics import judged_in_all_modes, made

X, A, S = np.array([0.4, 0.7, -0.3, 0.9]), np.arange(12.0).reshape(4, 3) / 7, 0.6



class Spread:
    """An object of which NumPy asks what it is."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values) * 5

    def __mul__(self, other):
        return Spread(self.values * other)

    def __rmul__(self, other):
        return Spread(self.values * other * 3)


class Asked(Spread):
    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        return 7.0


class Folded(MutableMapping):
    """A dict whose keys are found whatever the case of their letters."""

    def __init__(self, **items):
        self.held = dict(items)

    def __getitem__(self, key):
        return self.held[dict(zip([name.lower() for name in self.keys()], self.keys()))[key.lower()]]

    def __setitem__(self, key, value):
        self.held[key] = value

    def __delitem__(self, key):
        del self.held[key]

    def __iter__(self):
        yield from self.held.keys()

    def __len__(self):
        return len(self.held)


class Settings(collections.UserDict):
    def doubled(self, key):
        return 2 * self[key]


RIGHT = {
    "diagonals are written through einsum": """
        eye = np.zeros((2, 2, 2))
        np.einsum('ijj->ij', eye)[...] = x.reshape(2, 2) ** 2
        other = np.einsum('ijj->ji', eye)
        other *= s
        return np.sum(np.sin(eye) @ x[:2])""",
    "a diagonal is a view": """
        y = np.outer(x, x)
        line = np.einsum('ii->i', y)
        y[0, 0] = s * x[1]
        return np.sum(line ** 3) + y[1, 1]""",
    "a number becomes an array": """
        y = array(s * x[0], dtype=complex).reshape(-1)
        z = np.array(x[1]).reshape(1, 1)
        y[y == np.inf] = 1e9
        z[z > 0.6] *= x[2]
        return np.abs(y[0] - 3j) * np.sum(z)""",
    "an array without axes is written through its views": """
        y = np.array(x[0])
        flat = y.reshape(-1)
        flat[0] = x[1] ** 2
        flat *= s
        y += x[2]
        return np.sum(flat * y)""",
    "an array of a common dtype": """
        out = np.empty_like(x, dtype=np.result_type(x.dtype, A.dtype))
        out[...] = x * s
        return np.sum(out ** 2)""",
    "objects that NumPy could ask": "return np.sum((Spread(x) * s).values ** 2) + np.sum((3.0 * Asked(x)).values * x)",
    "an object of a mapping": """
        items = Folded(First=x[0], Second=s)
        items["third"] = x[1] ** 2
        return items["SECOND"] * items["first"] * items.get("THIRD", 1.0) * len(items)""",
    "a user's dict": """
        items = Settings(first=x[0])
        items["second"] = x[1] * s
        return items.doubled("second") * sum(v for v in items.values()) * ("third" not in items)""",
    "counted names": """
        counts = collections.Counter(["a", "b", "a"])
        return x[0] * counts["a"] + x[1] * counts["z"] + x[2] * len([k for k, n in counts.items() if n > 1])""",
}


KNOWN = {"np": np, "array": array, "collections": collections}
KNOWN |= {cls.__name__: cls for cls in (Asked, Folded, Settings, Spread)}


@pytest.mark.parametrize("name", RIGHT)
def test_gradient_is_right(name):
    assert judged_in_all_modes(made(RIGHT[name], "x, A, s", **KNOWN), X, A, S) == "right"


ASKED = ("x * Spread(x)", "x[0] * Spread(x)", "np.float64(2.0) * Asked(x)", "np.multiply(x, Spread(x))", "np.sin(Asked(x))")


@pytest.mark.parametrize("line", ASKED)
def test_what_numpy_asks_of_an_object_is_refused(line):
    with pytest.raises(UnsupportedSyntaxError, match="NumPy"):
        grad(made(f"return np.sum({line})", "x", **KNOWN), verify=False)(X)
