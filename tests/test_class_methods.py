"""Derivatives of class methods, static methods and methods, whichever decorator stands above: positions in wrt count after the class."""

import numpy as np
import pytest

from sourcead import grad, pushforward, value_and_grad

X, Y = np.array([1.0, 2.0]), np.array([3.0, 5.0])


class Losses:
    scale = 3.0

    def __init__(self):
        self.w = X

    @classmethod
    @grad
    def below(cls, x, y):
        return cls.scale * np.sum(x * y)

    @grad
    @classmethod
    def above(cls, x, y):
        return cls.scale * np.sum(x * y)

    @classmethod
    @grad(wrt=1)
    def below_by_position(cls, x, y):
        return cls.scale * np.sum(x**2 * y)

    @grad(wrt=1)
    @classmethod
    def above_by_position(cls, x, y):
        return cls.scale * np.sum(x**2 * y)

    @classmethod
    @grad(wrt=("y", 0))
    def below_by_both(cls, x, y):
        return cls.scale * np.sum(x * y)

    @classmethod
    @value_and_grad
    def with_value(cls, x, y):
        return cls.scale * np.sum(x * y)

    @classmethod
    @grad(wrt=1)
    def inside(cls, x, y):
        return np.sum(x**2 * y)

    @grad
    def whole(self):
        return np.sum(self.w**2)


class Derived(Losses):
    scale = 5.0


@pytest.mark.parametrize("name, expected", [
    ("below", Y), ("above", Y), ("below_by_position", X**2), ("above_by_position", X**2), ("below_by_both", (X, Y)),
    ("with_value", (np.sum(X * Y), Y)),
])  # fmt: skip
@pytest.mark.parametrize("holder", [Losses, Derived, Losses(), Derived()], ids=["class", "derived", "object", "object derived"])
def test_a_class_method_counts_after_the_class(name, expected, holder):
    found = getattr(holder, name)(X, y=Y)
    for d, e in zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]:
        np.testing.assert_allclose(d, holder.scale * e)


def fresh():
    class Fresh:
        @classmethod
        @grad(wrt=1)
        def loss(cls, x, y):
            return np.sum(x**2 * y)

        @classmethod
        @pushforward
        def push(cls, x):
            return np.sum(x**2)

    return Fresh


def test_a_class_method_counts_after_the_class_before_its_first_call():
    made = fresh()
    assert "d_y" in made.loss.lower(made, X, Y).text or "with respect to y" in made.loss.lower(made, X, Y).text
    np.testing.assert_allclose(grad(lambda x: np.sum(made.loss(x, Y) * Y))(X), 2 * X * Y)
    made = fresh()
    np.testing.assert_allclose(grad(lambda x: np.sum(made.loss(x, Y) * Y))(X), 2 * X * Y)
    assert made.push(X, t_x=Y) == (5.0, np.sum(2 * X * Y))


def test_a_class_that_is_an_argument_like_others_is_counted():
    def loss(model, x, y):
        return model.scale * np.sum(x**2 * y)

    np.testing.assert_allclose(grad(loss, wrt=1)(Losses, X, Y), 6.0 * X * Y)
    np.testing.assert_allclose(grad(loss, wrt=2)(Losses, X, Y), 3.0 * X**2)


def test_a_method_without_other_parameters_is_differentiated_by_its_object():
    np.testing.assert_allclose(Losses().whole().w, 2 * X)
