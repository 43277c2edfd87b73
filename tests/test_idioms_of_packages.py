"""Idioms of public packages, each in small programs: value and all derivatives as Python and central differences have them."""

import collections
import enum
import functools
import math
import sys
from collections.abc import MutableMapping
from fractions import Fraction

import numpy as np
import pytest
from numpy import array

from sourcead import grad, value_and_grad
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


class Cloud(np.ndarray):
    """Points, which operations leave as points if they are still rows of numbers."""

    def __new__(cls, values):
        return np.array(values).view(cls)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return Cloud(array) if array.ndim == 2 else np.asarray(array)[()]

    def spread(self):
        return np.sum(self**4)


class Shape(dict):
    def __init__(self, given=(), **named):
        super().__init__(given)
        self["kind"] = getattr(self, "kind", type(self).__name__)
        self.update(named)

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Tree:
    def __init__(self, value):
        self.value, self.kids, self.parent = value, [], None

    def grow(self, value):
        kid = Tree(value)
        kid.parent = self
        self.kids.append(kid)
        return kid

    def total(self):
        return self.value + sum(kid.total() for kid in self.kids)

    def height(self):
        return self.value if self.parent is None else self.value * self.parent.height()


def unit(v):
    n = np.linalg.norm(v)
    if n < 1e-9:
        return None, None
    return v / n, n


def vector(v):
    kind = np.float64
    if isinstance(v, (list, tuple)):
        if any([isinstance(item, str) for item in v]):  # noqa: C419
            kind = None
        if len(v) != 3:
            raise ValueError("not of length 3")
        return np.array(v, dtype=kind)
    if isinstance(v, np.ndarray):
        return v.flatten()
    raise TypeError("no vector")


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
    "parts that NumPy gives a class": """
        _, sizes, axes = np.linalg.svd(Cloud(np.sin(9 * A**2) * x[:, None]), full_matrices=False)
        return sizes[0] + axes[:, :2].spread()""",
    "a part of what may be None": """
        direction, size = unit(x)
        return np.sum(vector(direction[1:]) ** 3) * np.sum(vector(math.sin(size) * direction - size) ** 2)""",
    "the shape of an array whose rank is not known": """
        y = np.asarray(x if s > 0 else [x, x])
        spread = np.broadcast(np.pi, y[..., 0])
        z = np.broadcast_to(y, (2,) + spread.shape + y.shape)
        copied = np.array(z)
        copied[..., 1:] *= -1
        return np.sum(copied * np.arange(4.0))""",
    "objects in the lists of each other": """
        tree = Tree(x[0])
        for v in x[1:]:
            tree = tree.grow(v * tree.value)
        return tree.parent.total() * tree.height() + tree.parent.parent.kids[0].value""",
    "a mean that is spread again": """
        axes = [slice(d) for d in x.shape]
        axes[-1] = np.newaxis
        centred = x - np.mean(x, axis=-1)[tuple(axes)]
        size = 2 ** int(np.ceil(np.log2(2 * centred.shape[-1] - 1)))
        transformed = np.fft.fft(centred, size, axis=-1)
        power = np.fft.ifft(transformed * np.conj(transformed), axis=-1).real
        first = power[0].real
        first *= 1 - power[1] ** 2
        return first * s + power[2]""",
    "a dict that makes its items attributes": """
        shape = Shape(corner=x[0], others=[x[1], s])
        return shape.corner * getattr(shape, "others", None)[1] * getattr(shape, "absent", 3.0) * len(shape["kind"])""",
    "a power with a fraction": "return np.sum(np.abs(x) ** Fraction(1, 3)) * float(x[0]) ** Fraction(5, 2) + s / 3",
    "counted names": """
        counts = collections.Counter(["a", "b", "a"])
        return x[0] * counts["a"] + x[1] * counts["z"] + x[2] * len([k for k, n in counts.items() if n > 1])""",
}


KNOWN = {"np": np, "math": math, "array": array, "collections": collections}
KNOWN |= {each.__name__: each for each in (Asked, Cloud, Folded, Fraction, Settings, Shape, Spread, Tree, unit, vector)}


@pytest.mark.parametrize("name", RIGHT)
def test_gradient_is_right(name):
    assert judged_in_all_modes(made(RIGHT[name], "x, A, s", **KNOWN), X, A, S) == "right"


ASKED = ("x * Spread(x)", "x[0] * Spread(x)", "np.float64(2.0) * Asked(x)", "np.multiply(x, Spread(x))", "np.sin(Asked(x))")


@pytest.mark.parametrize("line", ASKED)
def test_what_numpy_asks_of_an_object_is_refused(line):
    with pytest.raises(UnsupportedSyntaxError, match="NumPy"):
        grad(made(f"return np.sum({line})", "x", **KNOWN), verify=False)(X)


def test_a_part_of_what_may_be_none_is_known_to_be_an_array():
    f = made(RIGHT["a part of what may be None"], "x, A, s", **KNOWN)
    assert "isinstance" not in grad(f).lower(X, A, S).text


class Base:
    def __init__(self, v):
        self.v = v
        self.followed = hasattr(super(), "triple")
        following = getattr(super(), "triple", None)
        if following is not None:
            following()


class Triple:
    def triple(self):
        self.v = self.v * 3


class Both(Base, Triple):
    pass


@pytest.mark.parametrize("cls, derivative", [(Base, 2.0), (Both, 12.0)])
def test_what_super_lacks_may_be_asked(cls, derivative):
    def f(x):
        made = cls(x)
        return made.v * (4 if made.followed else 2)

    assert value_and_grad(f)(1.5) == (f(1.5), derivative)


class Kind(enum.Enum):
    ARRAY = 1
    NUMBER = 2


@functools.lru_cache(maxsize=100)
def is_class(cls, module, name):
    try:
        found = sys.modules[module]
    except KeyError:
        return False
    return issubclass(cls, getattr(found, name))


@functools.lru_cache(maxsize=100)
def library_of(cls):
    if is_class(cls, "numpy", "ndarray"):
        return np, Kind.ARRAY
    return (None, Kind.NUMBER) if issubclass(cls, float) else (None, None)


def library(*values):
    libraries = []
    for value in values:
        found, kind = library_of(type(value))
        if kind is Kind.NUMBER or kind is Kind.ARRAY and is_class(type(value.dtype), "numpy.dtypes", "VoidDType"):
            continue
        libraries.append(found)
    names, different = {one.__name__ for one in libraries}, []
    for one in libraries:
        if (name := one.__name__) in names:
            different.append(one)
            names.remove(name)
    try:
        (only,) = different
    except ValueError:
        raise TypeError("not one library") from None
    return only


def test_the_library_of_arrays_is_asked_of_caches():
    def f(x, s):
        try:
            of = library(x, s, x)
        except TypeError:
            return s
        return of.sum(of.sin(x)) * s

    value, (d_x, d_s) = value_and_grad(f, wrt=("x", "s"))(X, S)
    assert value == f(X, S)
    np.testing.assert_allclose(d_x, np.cos(X) * S, rtol=1e-14)
    np.testing.assert_allclose(d_s, np.sum(np.sin(X)), rtol=1e-14)


@pytest.mark.parametrize("mode", [np._CopyMode.IF_NEEDED, np._CopyMode.ALWAYS, None, True])
def test_an_array_is_copied_as_its_mode_says(mode):
    def f(x):
        y = np.array(x * 1.0, copy=mode)
        y[0] = 0.0
        return np.sum(y**2)

    np.testing.assert_allclose(grad(f)(X), 2 * X * (np.arange(4) > 0), rtol=1e-14)
