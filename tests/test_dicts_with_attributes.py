"""Dicts whose class gives their items as attributes, too, as libraries of settings do: `p.rate` is `p["rate"]`."""

import copy
import warnings

import numpy as np
import pytest

from sourcead import AliasError, UnsupportedValueError, grad, hvp, jvp, value_and_grad
from sourcead.errors import ProgramError, UnsupportedSyntaxError
from sourcead.ir.records import deep_copy
from tests.semantics import judged_in_all_modes


class OfClass(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class OwnDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class InPython(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value

    def norm(self):
        return np.sqrt(np.sum(self.w ** 2) + self["b"] ** 2)

    @property
    def twice(self):
        return 2 * self.b


class KeptTwice(dict):
    """As the class `EasyDict` of a package of that name does."""

    def __init__(self, **items):
        for name, value in items.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        super().__setitem__(name, value)

    __setitem__ = __setattr__


class Lenient(dict):
    __getattr__ = dict.get


CLASSES = [OfClass, OwnDict, InPython, KeptTwice]
W = np.array([0.5, -1.5, 2.0])


def model(p, x, n=3):
    h = x
    for i in range(n):
        h = np.tanh(p.w * h + p.layer.b) + p["b"] * i
    return np.sum(h ** p.power) * (2.0 if hasattr(p, "w") and p.act == "tanh" else 1.0)


@pytest.mark.parametrize("cls", CLASSES)
def test_attributes_are_items(cls):
    def settings(w, b):
        return cls(w=w, b=b, layer=cls(b=b * b), power=2, act="tanh")

    x = np.array([0.3, 0.2, -0.4])
    value, d_p = value_and_grad(model)(settings(W, 0.7), x)
    assert value == model(settings(W, 0.7), x)
    steps = 1e-6 * np.eye(3)
    d_w = [(model(settings(W + h, 0.7), x) - model(settings(W - h, 0.7), x)) / 2e-6 for h in steps]
    np.testing.assert_allclose(d_p["w"], d_w, rtol=1e-6)
    d_b = d_p["b"] + d_p["layer"]["b"] * 2 * 0.7
    np.testing.assert_allclose(d_b, (model(settings(W, 0.7 + 1e-6), x) - model(settings(W, 0.7 - 1e-6), x)) / 2e-6, rtol=1e-6)
    assert grad(model, wrt="x")(settings(W.astype(np.float32), 0.7), x.astype(np.float32)).dtype == np.float32


def test_settings_from_outside_in_all_modes():
    for cls in CLASSES:
        p = cls(w=W, b=0.7, layer=cls(b=0.2), power=2, act="tanh")
        judged_in_all_modes(lambda x, p=p: model(p, x), np.array([0.3, 0.2, -0.4]))


@pytest.mark.parametrize("cls", [OfClass, OwnDict, InPython])
def test_assigned_attributes_are_items(cls):
    def f(x, p):
        p.b = x * p.b
        if p["b"] > 1:
            p.c = p["b"] * x
        return p.b * p["c"]

    p = cls(b=2.0, c=3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert grad(f)(1.5, p) == pytest.approx(3 * 2.0 ** 2 * 1.5 ** 2) and grad(f)(0.2, p) == pytest.approx(6.0)
        assert jvp(f, (1.5, p), (1.0, None))[1] == pytest.approx(27.0) and hvp(f)(1.5, p, 1.0) == pytest.approx(36.0)
    assert p == {"b": 2.0, "c": 3.0}


def test_methods_and_properties_of_the_class():
    p = InPython(w=W, b=0.7)
    d = grad(lambda p: p.norm() * p.twice)(p)
    norm = np.sqrt(np.sum(W ** 2) + 0.49)
    np.testing.assert_allclose(d["w"], W / norm * 1.4)
    assert d["b"] == pytest.approx(0.7 / norm * 1.4 + 2 * norm)


def test_what_is_not_there():
    assert grad(lambda p: p.b if p.other is None else 0.0)(Lenient(b=2.0)) == {"b": 1.0}
    for cls, error in ((OfClass, KeyError), (OwnDict, AttributeError), (InPython, AttributeError), (KeptTwice, AttributeError)):
        with pytest.raises(error):
            grad(lambda p: p.other * p.b)(cls(b=2.0))
    assert grad(lambda p: getattr(p, "other", 3.0) * p.b)(OwnDict(b=2.0)) == {"b": 3.0}
    with pytest.raises(ProgramError):
        grad(lambda p: p.other)(OfClass(b=2.0))


def test_items_that_are_kept_twice_are_not_written():
    def by_attribute(x, p):
        p.b = x
        return p.b * x

    def by_key(x, p):
        p["b"] = x
        return p.b * x

    for f in (by_attribute, by_key):
        with pytest.raises(AliasError, match="keeps each item twice, as an item and as an attribute"):
            grad(f)(2.0, KeptTwice(b=1.0))


def test_attributes_that_are_not_the_items_are_refused():
    def f(p):
        return p.b * p["b"]

    p = OfClass(b=2.0)
    assert grad(f)(p) == {"b": 4.0}
    object.__setattr__(p, "b", 7.0)
    with pytest.raises(UnsupportedSyntaxError, match="what its class may add to a dict is not seen"):
        grad(f)(p)
    other = KeptTwice(b=2.0)
    dict.__setitem__(other, "b", 3.0)
    with pytest.raises((UnsupportedSyntaxError, UnsupportedValueError)):
        grad(f)(other)


def test_a_method_that_is_hidden_by_an_item():
    with pytest.raises(UnsupportedValueError, match="a dict whose attribute `items` hides its method\nWrite instead: `dict"):
        grad(lambda p: p.items * p.b)(OwnDict(items=2.0, b=3.0))


def test_one_gradient_for_dicts_of_several_classes():
    g = grad(lambda x, p: x * p.b)
    assert [g(1.0, cls(b=float(i))) for i, cls in enumerate([*CLASSES, Lenient, OfClass])] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_copies_keep_attributes_and_sharing():
    p = OwnDict(w=W)
    q, r = deep_copy([OwnDict(p=p, again=[p]), p])
    assert q.p is r and q.again[0] is r and r.w is not W and np.array_equal(r.w, W) and not hasattr(copy.deepcopy(p), "w")


@pytest.mark.compiled
def test_compiled():
    for cls in CLASSES:
        p = cls(w=W, b=0.7)
        d = grad(lambda p, x: np.sum(p.w * x) * p.b, backend="numba")(p, W)
        np.testing.assert_allclose(d["w"], W * 0.7)
        assert d["b"] == pytest.approx(np.sum(W * W))


def test_methods_of_the_class_that_are_replaced_afterwards():
    class Settings(dict):
        def __getattr__(self, name):
            return self[name]

        def scaled(self):
            return 2 * self.b

    g = grad(lambda p: p.scaled() * p.b)
    assert g(Settings(b=3.0)) == {"b": 12.0}
    Settings.scaled = lambda self: 3 * self.b
    assert g(Settings(b=3.0)) == {"b": 18.0}
    Settings.__getattr__ = lambda self, name: 10 * self[name]
    assert g(Settings(b=3.0)) == {"b": 3 * 100 * 2 * 3.0}
