"""Descriptors of users' own classes: `__get__` and `__set__` are called as Python calls them, also where they store what they computed."""

import functools

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import SourceADError
from tests.semantics import judged_in_all_modes

X = np.array([1.1, 2.3, 4.2])


class computed_once:
    """Stores what it computed in the object, where Python finds it before it asks the descriptor again."""

    def __init__(self, method):
        self.method = method
        functools.update_wrapper(self, method)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = self.method(instance)
        instance.__dict__[self.__name__] = value
        return value


class kept:
    """Stores what it computed in a dict of the object, and is asked each time."""

    def __init__(self, function, place="_kept"):
        self.function, self.name, self.place = function, function.__name__, place

    def __get__(self, obj, owner=None):
        if obj is None:
            return self.function
        cache = getattr(obj, self.place, None)
        if cache is None:
            setattr(obj, self.place, {})
            cache = getattr(obj, self.place)
        if cache.get(self.name, None) is None:
            cache[self.name] = self.function(obj)
        return cache[self.name]

    def __set__(self, obj, value):
        raise AttributeError("it is computed")


class Part:
    def __init__(self, place):
        self.place = place

    def __get__(self, obj, owner):
        return obj.data[self.place]

    def __set__(self, obj, value):
        obj.data[self.place] = value


class Doubled:
    def __set_name__(self, owner, name):
        self.place = "_" + name

    def __get__(self, obj, owner=None):
        return getattr(obj, self.place)

    def __set__(self, obj, value):
        setattr(obj, self.place, value * 2.0)


class Unit:
    def __init__(self, name, factor, of):
        self.name, self.factor, self.of = name, factor, of

    def __get__(self, obj, owner=None):
        value = getattr(obj, self.of) * self.factor
        obj.__dict__[self.name] = value
        return value


class Positive:
    """Is asked where an attribute is written, but not where it is read."""

    def __set_name__(self, owner, name):
        self.name = name

    def __set__(self, obj, value):
        obj.__dict__[self.name] = abs(value)


class Body:
    size = Positive()
    km = Unit("km", 0.5, "m")
    width = Doubled()

    def __init__(self, x):
        self.x, self.m, self.width = x, x, x

    @computed_once
    def square(self):
        return self.x**2

    @computed_once
    def sum_of_squares(self):
        return self.square * 2.0 + self.square


class Sample:
    def __init__(self, x):
        self.x = x

    @kept
    def mean(self):
        return np.mean(self.x)

    @kept
    def var(self):
        return np.mean((self.x - self.mean) ** 2)


class Pair:
    first, second, both = Part(0), Part(1), Part([0, 1])

    def __init__(self, x):
        self.data = x.copy()


def read_twice(x):
    body = Body(x)
    return np.sum(body.sum_of_squares + body.square)


def stale_after_a_write(x):
    body = Body(x)
    before = body.square
    body.x = x * 3.0
    return np.sum(body.square + body.sum_of_squares + before)


def read_first_in_a_loop(x):
    body, s = Body(x), 0.0
    for i in range(3):
        s = s + np.sum(body.square) * i
        body.x = body.x * 2.0
    return s


def in_a_dict(x):
    sample, s = Sample(x), 0.0
    for k in range(4):
        s = s + sample.var * k + sample.mean
        sample.x = sample.x * 2.0
    return s


def parts_of_an_array(x):
    pair = Pair(x)
    pair.first = pair.second * 2.0
    return np.sum(pair.both**2) + pair.first


def set_by_name(x):
    body = Body(x)
    body.width = body.width * body.width
    return np.sum(body.width + body.km)


def checked_where_it_is_written(x):
    body = Body(x)
    body.size = -x
    body.size = body.size * x
    return np.sum(body.size)


def derived(x):
    class Small(Body):
        def size(self):
            return np.sum(self.square * self.km)

    return Small(x).size()


RIGHT = [
    read_twice, stale_after_a_write, read_first_in_a_loop, in_a_dict, parts_of_an_array,
    set_by_name, checked_where_it_is_written, derived,
]  # fmt: skip


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_as_python(f):
    assert judged_in_all_modes(f, X) == "right"


def read_in_one_arm(x):
    body = Body(x)
    s = np.sum(body.square) if x[0] > 0.5 else 0.0
    body.x = 2.0 * x
    return s + np.sum(body.square)


def kept_in_one_arm(x):
    sample = Sample(x)
    s = sample.var if x[0] > 0.5 else 1.0
    sample.x = 2.0 * x
    return s + sample.mean


@pytest.mark.parametrize("f", [read_in_one_arm, kept_in_one_arm], ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [X, X / 3], ids=["one_side", "the_other"])
def test_what_one_arm_alone_computed_may_be_read_again(f, x):
    assert judged_in_all_modes(f, x) == "right"


def test_the_attributes_of_a_descriptor_are_read_in_each_call():
    class Pairs(Pair):
        second = Part(1)

    def f(x):
        return Pairs(x).second ** 2

    derivative = grad(f)
    np.testing.assert_allclose(derivative(X), [0, 2 * X[1], 0])
    vars(Pairs)["second"].place = 2
    np.testing.assert_allclose(derivative(X), [0, 0, 2 * X[2]])
    Pairs.second = Part(0)
    np.testing.assert_allclose(derivative(X), [2 * X[0], 0, 0])


def test_a_descriptor_that_changes_itself_does_so_in_each_call():
    class Counted:
        def __init__(self):
            self.count = 0

        def __get__(self, obj, owner=None):
            self.count += 1
            return obj.x * self.count

    class Holder:
        size = Counted()

        def __init__(self, x):
            self.x = x

    made = grad(lambda x: np.sum(Holder(x).size))
    np.testing.assert_array_equal(made(X), np.full_like(X, 1.0))
    np.testing.assert_array_equal(made(X), np.full_like(X, 2.0))
    np.testing.assert_array_equal(Holder(X).size, 3 * X)


def test_a_property_of_a_class_with_a_getter_of_its_own_is_refused():
    class Tripled(property):
        def __get__(self, obj, owner=None):
            return super().__get__(obj, owner) * 3.0

    class Holder:
        def __init__(self, x):
            self.x = x

        size = Tripled(lambda self: np.sum(self.x))

    with pytest.raises(SourceADError, match="descriptor of class Tripled"):
        grad(lambda x: Holder(x).size)(X)


def test_an_attribute_that_a_branch_adds_to_the_dict_of_an_object():
    def f(x):
        body = Body(x)
        if x[0] > 0.5:
            body.__dict__["more"] = x * 2.0
            s = np.sum(body.more)
        else:
            s = 0.0
        body.x = 2.0 * x
        return s + np.sum(body.x)

    assert judged_in_all_modes(f, X) == "right"
