"""`hasattr`, and `getattr` with a default, of attributes that a property or a slot gives, or does not give."""

import functools

import pytest

from sourcead import grad
from sourcead.errors import SourceADError
from tests.semantics import judged_in_all_modes


class Point:
    __slots__ = ("filled", "empty")

    def __init__(self, filled):
        self.filled = filled

    @property
    def raising(self):
        raise AttributeError("it has none")

    @property
    def reading(self):
        return self.nothing

    @property
    def doubled(self):
        return 2.0 * self.filled

    @property
    def perhaps(self):
        if self.filled > 0:
            raise AttributeError("it has none")
        return 1.0

    def method(self):
        return 1.0


class Cached:
    @functools.cached_property
    def computed(self):
        return 4.0

    @functools.cached_property
    def lost(self):
        return self.nothing


def asked(make, name):
    def f(x):
        return x * 2 if hasattr(make(x), name) else x * 3

    return f


def with_default(make, name):
    def f(x):
        return x * getattr(make(x), name, x)

    return f


NAMES = ["raising", "reading", "doubled", "filled", "empty", "missing"]


@pytest.mark.parametrize("name", [*NAMES, "method", "__len__", "__eq__"])
def test_hasattr(name):
    assert judged_in_all_modes(asked(Point, name), 1.5) == "right"


@pytest.mark.parametrize("name", NAMES)
def test_getattr_with_a_default(name):
    assert judged_in_all_modes(with_default(Point, name), 1.5) == "right"


@pytest.mark.parametrize("name", ["computed", "lost"])
def test_cached_properties(name):
    assert judged_in_all_modes(asked(lambda x: Cached(), name), 1.5) == "right"
    assert judged_in_all_modes(with_default(lambda x: Cached(), name), 1.5) == "right"


def test_a_property_that_has_a_value_on_some_paths_is_refused():
    for make in (asked, with_default):
        with pytest.raises(SourceADError, match="whether `perhaps`, which a property computes, has a value here is not known"):
            grad(make(Point, "perhaps"))(1.5)
