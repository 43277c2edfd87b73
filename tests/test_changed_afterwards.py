"""What is changed after a gradient was made is what the next call differentiates: defaults, methods, classes, names."""

import dataclasses
import functools
import itertools
import types

import numpy as np
import pytest

from sourcead import grad, hessian, hvp, jacobian
from sourcead.backends.load import load

pytestmark = pytest.mark.sampled(3)

HERE = globals()


def numbered():
    """Two classes, the second derived from the first, made anew for each test."""

    class Base:
        rate, mode, table, function = 2.0, "a", {"a": 2.0}, staticmethod(np.sin)

        def __init__(self):
            self.w = 2.0

        def method(self, x):
            return 2 * x**2

        @property
        def prop(self):
            return 2.0

        @classmethod
        def of_class(cls, x):
            return 2 * x**2

        @staticmethod
        def static(x):
            return 2 * x**2

        def __call__(self, x):
            return 2 * x**2

        def __mul__(self, x):
            return 2 * x**2

        def __getattr__(self, name):
            if name != "made":
                raise AttributeError(name)
            return 2.0

        def __enter__(self):
            return 2.0

        def __exit__(self, *error):
            return False

    class Derived(Base):
        pass

    return Base, Derived


def within(manager, x):
    with manager as rate:
        return rate * x**2


def tried(cls, x):
    try:
        rate = cls.missing
    except AttributeError:
        rate = 2.0
    return rate * x**2


def five(*args):
    return 5 * args[-1] ** 2


USES = {  # name: the function of the base, the derived class, an object of it, and x; the names and values that are set on a class
    "method": (lambda b, d, o, x: o.method(x), {"method": five}),
    "method of an object made inside": (lambda b, d, o, x: d().method(x), {"method": five}),
    "property": (lambda b, d, o, x: o.prop * x**2, {"prop": property(lambda self: 5.0)}),
    "class method": (lambda b, d, o, x: o.of_class(x), {"of_class": classmethod(five)}),
    "class method of the class": (lambda b, d, o, x: d.of_class(x), {"of_class": classmethod(five)}),
    "static method": (lambda b, d, o, x: d.static(x), {"static": staticmethod(five)}),
    "function of NumPy": (lambda b, d, o, x: d.function(x), {"function": staticmethod(np.cos)}),
    "call": (lambda b, d, o, x: o(x) + 0, {"__call__": five}),
    "operator": (lambda b, d, o, x: o * x, {"__mul__": five}),
    "attributes made on request": (lambda b, d, o, x: o.made * x**2, {"__getattr__": lambda self, name: 5.0}),
    "attribute in place of one made on request": (lambda b, d, o, x: o.made * x**2, {"made": 5.0}),
    "constructor": (lambda b, d, o, x: d().w * x**2, {"__init__": lambda self: setattr(self, "w", 5.0)}),
    "number": (lambda b, d, o, x: o.rate * d.rate * x**2, {"rate": 5.0}),
    "text": (lambda b, d, o, x: (2 if d.mode == "a" else 5) * x**2, {"mode": "b"}),
    "text of an object": (lambda b, d, o, x: (2 if o.mode == "a" else 5) * x**2, {"mode": "b"}),
    "dict": (lambda b, d, o, x: o.table["a"] * x**2, {"table": {"a": 5.0}}),
    "context manager": (lambda b, d, o, x: within(o, x), {"__enter__": lambda self: 5.0}),
    "truth": (lambda b, d, o, x: 2 * x**2 if o else 5 * x**2, {"__bool__": lambda self: False}),
    "attribute that was missing": (lambda b, d, o, x: tried(d, x), {"missing": 5.0}),
    "attribute that was asked for": (lambda b, d, o, x: (5 if hasattr(o, "missing") else 2) * x**2, {"missing": 5.0}),
    "attribute with a default": (lambda b, d, o, x: getattr(d, "missing", 2.0) * x**2, {"missing": 5.0}),
    "setter": (lambda b, d, o, x: d().w * x**2, {"__setattr__": lambda self, name, v: object.__setattr__(self, name, 2.5 * v)}),
}


@pytest.mark.parametrize(("use", "where"), itertools.product(USES, [0, 1]), ids=str)
def test_a_class_that_is_changed(use, where):
    body, changes = USES[use]
    classes = numbered()
    obj = classes[1]()

    def f(x):
        return body(*classes, obj, x)

    gradient, second = grad(f), grad(lambda x: grad(f)(x) * x)
    before = [gradient(1.5), second(1.5)]
    np.testing.assert_allclose(before[0], slope(f), rtol=1e-6)
    for name, value in changes.items():
        setattr(classes[where], name, value)
    assert abs(slope(f) - before[0]) > 1e-3
    np.testing.assert_allclose(gradient(1.5), slope(f), rtol=1e-6)
    assert second(1.5) != before[1]
    assert gradient.lower(1.5).text == gradient.source


def slope(f):
    return (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6


def test_a_class_with_another_base():
    class First:
        def method(self, x):
            return 2 * x

    class Second:
        def method(self, x):
            return 5 * x

    class Derived(First):
        pass

    obj = Derived()
    gradient = grad(lambda x: obj.method(x))
    assert gradient(1.0) == 2.0
    Derived.__bases__ = (Second,)
    assert gradient(1.0) == 5.0


def test_a_dataclass_whose_default_or_method_is_changed():
    @dataclasses.dataclass
    class Scale:
        by: float = 2.0

        def of(self, x):
            return self.by * x

    gradient = grad(lambda x: Scale().of(x) + Scale(1.0).by * x)
    assert gradient(1.0) == 3.0
    Scale.of = lambda self, x: 2 * self.by * x
    assert gradient(1.0) == 5.0


def test_data_of_a_class_that_changes_in_every_call_makes_no_new_text():
    class Counted:
        calls, weights = 0, np.ones(2)

        def of(self, x):
            return np.sum(self.weights * x) * self.calls

    obj, texts = Counted(), set()
    gradient = grad(lambda x: obj.of(x))
    for calls in range(5):
        Counted.calls, Counted.weights = calls, np.full(2, calls + 1.0)
        assert gradient(1.0) == 2.0 * (calls + 1) * calls
        texts.update(gradient._texts.values())
    assert len(texts) == 1


@pytest.mark.parametrize(("before", "after"), [(2.0, 5.0), ("a", "b"), (np.sin, np.cos), (None, 3.0)])
def test_defaults_by_name_that_are_changed_in_place(before, after):
    def f(x, *, k=before):
        return 2 * x if k is None or k == "a" else 5 * x if k == "b" else k * x if isinstance(k, float) else k(x)

    direct, of_caller, second = grad(f), grad(lambda x: f(x) * 10), grad(lambda x: grad(f)(x) * x)
    first = direct(1.5), of_caller(1.5)
    second(1.5)
    f.__kwdefaults__["k"] = after
    now = slope(f)
    np.testing.assert_allclose((direct(1.5), of_caller(1.5)), (now, 10 * now), rtol=1e-6)
    assert direct(1.5) != first[0] and of_caller(1.5) != first[1]
    del f.__kwdefaults__["k"]
    with pytest.raises(TypeError):
        direct(1.5)


def test_arguments_of_a_partial_that_are_changed_in_place():
    partial = functools.partial(lambda x, k: k * x, k=2.0)
    gradient = grad(lambda x: partial(x))
    assert gradient(1.0) == 2.0
    partial.keywords["k"] = 5.0
    assert gradient(1.0) == 5.0


def test_names_that_appear_or_mean_another_module(monkeypatch):
    def f(x):
        try:
            rate = NOT_YET
        except NameError:
            rate = 2.0
        return rate * model.of(x)

    model = types.ModuleType("model_a")
    model.of = lambda x: x
    gradient = grad(f)
    assert gradient(1.0) == 2.0
    monkeypatch.setitem(HERE, "NOT_YET", 5.0)
    assert gradient(1.0) == 5.0
    model = types.ModuleType("model_b")
    model.of = lambda x: 3 * x
    assert gradient(1.0) == 15.0
    asked = grad(lambda x: x * (2.0 if hasattr(model, "extra") else 1.0))
    assert asked(1.0) == 1.0
    model.extra = 1
    assert asked(1.0) == 2.0


def cubed(x, k=1.0):
    return k * x ** 3


def test_derivatives_follow_a_partial_whose_keywords_change():
    partial = functools.partial(cubed, k=2.0)
    derivatives = [grad(partial), grad(grad(partial)), jacobian(partial), hessian(partial), lambda x: hvp(partial)(x, 1.0)]
    assert [float(d(1.0)) for d in derivatives] == [6.0, 12.0, 6.0, 12.0, 12.0]
    partial.keywords["k"] = 5.0
    assert [float(d(1.0)) for d in derivatives] == [15.0, 30.0, 15.0, 30.0, 30.0]


def test_derivatives_follow_the_call_of_a_class():
    class Model:
        def __call__(self, x):
            return x ** 2

    model = Model()
    derivatives = [grad(model), grad(functools.partial(model))]
    assert [d(3.0) for d in derivatives] == [6.0, 6.0]
    Model.__call__ = lambda self, x: x ** 3
    assert [d(3.0) for d in derivatives] == [27.0, 27.0]


def test_a_global_that_hides_a_builtin_afterwards_is_read():
    f = load("def f(x):\n    return sum([x, x])\n", "f", {})
    derivatives = [grad(f), grad(lambda x: f(x))]
    assert [d(1.0) for d in derivatives] == [2.0, 2.0]
    f.__globals__["sum"] = lambda items: 100.0 * items[0]
    assert [d(1.0) for d in derivatives] == [100.0, 100.0]
    del f.__globals__["sum"]
    assert [d(1.0) for d in derivatives] == [2.0, 2.0]


FACTOR, WEIGHTS = 2.0, np.ones(3)


def of_globals(x):
    return FACTOR * np.sum(WEIGHTS * x**2)


def test_globals_may_change_between_lowering_and_the_first_call(monkeypatch):
    gradient = grad(of_globals)
    gradient.lower(np.ones(3))
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    monkeypatch.setitem(globals(), "WEIGHTS", np.full(3, 5.0))
    np.testing.assert_allclose(gradient(np.ones(3)), [30.0, 30.0, 30.0])


def test_a_closure_variable_may_change_between_lowering_and_the_first_call():
    factor = 2.0
    gradient = grad(lambda x: factor * x**2)
    gradient.lower(1.0)
    factor = 5.0
    assert gradient(1.0) == 10.0
