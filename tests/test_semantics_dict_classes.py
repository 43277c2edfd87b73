"""Arguments that are dicts of other classes: read as Python reads them, with a plain dict of the same keys, in their order, as gradient."""

import collections

import numpy as np
import pytest

from sourcead import grad, hvp, jvp, value_and_grad
from sourcead.errors import SourceADError
from tests.semantics import judged_in_all_modes


class Named(dict):
    """A dict by another name."""

    def total(self):
        return sum(self.values())


class Doubling(dict):
    def __getitem__(self, key):
        return 2 * dict.__getitem__(self, key)


class Filling(dict):
    def __missing__(self, key):
        return 5.0


def product(d):
    return d["a"] ** 2 * d["b"]


def ordered_or_not(d):
    return d["a"] if isinstance(d, collections.OrderedDict) else d["b"]


def counted_or_not(d):
    return d["a"] if isinstance(d, (collections.Counter, int)) else d["b"]


def dict_or_not(d):
    return d["a"] if isinstance(d, dict) else d["b"]


def listed(p):
    return sum(q["a"] if isinstance(q, collections.OrderedDict) else q["b"] for q in p["layers"])


def changed(d):
    d["a"] = d["a"] * 2
    return d["a"] if isinstance(d, collections.OrderedDict) else d["b"]


MAKERS = [
    dict, collections.OrderedDict, collections.Counter, Named, lambda **parts: collections.defaultdict(float, **parts),
]  # fmt: skip


@pytest.mark.parametrize("f", [product, ordered_or_not, counted_or_not, dict_or_not])
def test_each_class_is_read_as_python_reads_it(f):
    derivative = value_and_grad(f, verify=False)
    for make in MAKERS:
        d = make(b=3.0, a=2.0)
        value, slope = derivative(d)
        assert value == f(d)
        assert type(slope) is dict and list(slope) == ["b", "a"]
        for key in d:
            ahead, behind = ({**d, key: d[key] + by} for by in (1e-6, -1e-6))
            np.testing.assert_allclose(slope[key], (f(make(**ahead)) - f(make(**behind))) / 2e-6, rtol=1e-6, atol=1e-9)


def test_dicts_inside_other_arguments():
    layers = [collections.OrderedDict(a=1.0, b=2.0), collections.OrderedDict(a=3.0, b=5.0)]
    assert value_and_grad(listed, verify=False)({"layers": layers})[0] == 4.0
    assert value_and_grad(listed, verify=False)({"layers": [dict(q) for q in layers]})[0] == 7.0


def test_dicts_in_lists_of_several_lengths():
    derivative = value_and_grad(listed, verify=False)
    for count in (2, 3, 4):
        plain = [{"a": 1.0, "b": 10.0} for _ in range(count)]
        assert derivative({"layers": plain})[0] == 10.0 * count
        assert derivative({"layers": [collections.OrderedDict(q) for q in plain]})[0] == count
        assert derivative({"layers": [collections.OrderedDict(plain[0]), *plain[1:]]})[0] == 10.0 * (count - 1) + 1.0


def test_a_gradient_is_a_tangent():
    for make in MAKERS:
        d = make(a=2.0, b=3.0)
        slope = grad(product)(d)
        assert hvp(product)(d, slope) == {"a": 2 * 3.0 * 12.0 + 2 * 2.0 * 4.0, "b": 2 * 2.0 * 12.0}
        assert jvp(product, (d,), (slope,))[1] == 12.0**2 + 4.0**2


@pytest.mark.parametrize("make", [Doubling, Filling])
def test_classes_that_read_in_a_way_of_their_own_are_refused(make):
    with pytest.raises(SourceADError, match="a dict whose class has a `__[a-z]*__` of its own"):
        grad(product)(make(a=2.0, b=3.0))
    with pytest.raises(SourceADError, match="a dict whose class has a"):
        grad(lambda p: product(p["d"]))({"d": make(a=2.0, b=3.0)})


def test_the_class_of_a_dict_that_was_changed_is_refused():
    with pytest.raises(SourceADError, match="the class of a dict that was changed before"):
        value_and_grad(changed)(collections.OrderedDict(a=2.0, b=3.0))


class Filled:
    def __init__(self, a, **others):
        for name in ["u", "v"]:
            self.__dict__[name] = None
        self.a = a
        self.__dict__.update(others)


def filled_by_name(x):
    p = Filled(x, b=x[0] * 2, c=3.0)
    return np.sum(p.a) * p.b * p.c + (1.0 if p.u is None else 0.0)


def walked_and_asked(x):
    p, s = Filled(x[0], b=x[1] * 2), 0.0
    for name, value in vars(p).items():
        s += len(name) if value is None else value * len(name)
    return s + ("b" in p.__dict__) * x[0] + ("zz" in vars(p)) * x[1] + len(vars(p)) * x[2]


def one_and_the_same(x):
    p = Filled(x)
    d, before = p.__dict__, vars(p).copy()
    d["c"], p.e = x[1], x[2] ** 2
    p.a = x * 2
    return p.c**2 + d["e"] * d.get("zz", 2.0) + np.sum(before["a"]) * d["a"][0]


def grown_in_a_loop(x):
    p = Filled(x)
    for name in list(p.__dict__):
        if name != "a":
            p.__dict__.pop(name)
    for v in x:
        p.__dict__.setdefault("q", 0.0)
        p.q += v * v
    return p.q


@pytest.mark.parametrize("f", [filled_by_name, walked_and_asked, one_and_the_same, grown_in_a_loop], ids=lambda f: f.__name__)
def test_the_dict_of_an_object_is_the_object(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "right"
