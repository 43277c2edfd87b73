"""Random draws in a differentiated function: each happens once, in order, and is a constant for differentiation."""

import random

import numpy as np
import pytest

from sourcead import NoRuleError, UnsupportedSyntaxError, grad, jvp, value_and_grad

RNG = np.random.default_rng(7)


def dropout(x, rng, rate):
    keep = rng.random(x.shape) > rate
    return np.sum(np.sin(x * keep / (1 - rate)) ** 2)


def noise(x, rng):
    total = 0.0
    for _ in range(3):
        total += np.sum(np.tanh(x + 0.1 * rng.normal(size=len(x))))
    return total


def reparameterised(x, rng):
    return np.sum((x[0] + x[1] * rng.standard_normal(5)) ** 3)


def shuffled(x, rng):
    order = rng.permutation(len(x))
    return np.sum(x[order] * np.arange(len(x)))


def chosen(x, rng):
    return x[rng.integers(0, 3)] * x[rng.integers(3)] + np.sum(x[rng.choice(4, size=2)] ** 2)


@pytest.mark.parametrize("f, more", [
    (dropout, (0.4,)), (noise, ()), (reparameterised, ()), (shuffled, ()), (chosen, ()),
], ids=lambda f: getattr(f, "__name__", ""))  # fmt: skip
def test_gradient_with_the_draws_held(f, more):
    x = np.linspace(0.3, 1.2, 5)
    value, got = value_and_grad(f)(x, np.random.default_rng(3), *more)
    assert value == f(x, np.random.default_rng(3), *more)
    expected = np.zeros(5)
    for k in range(5):
        e = 1e-6 * np.eye(5)[k]
        up, down = (f(x + s * e, np.random.default_rng(3), *more) for s in (1, -1))
        expected[k] = (up - down) / 2e-6
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)
    _, slope = jvp(f, (x, np.random.default_rng(3), *more), (np.ones(5), None, *(None for _ in more)))
    np.testing.assert_allclose(slope, np.sum(got), rtol=1e-12)


def made_inside(x):
    rng = np.random.default_rng(5)
    return np.sum(x * rng.uniform(size=3)) + x[0] * np.random.RandomState(1).randn()


def global_generator(x):
    return x * RNG.normal() + x * RNG.normal()


def plain_random(x):
    return x * (random.random() + random.random())


def test_generators_made_inside_and_global():
    expected = np.random.default_rng(5).uniform(size=3)
    expected[0] += np.random.RandomState(1).randn()
    np.testing.assert_allclose(grad(made_inside)(np.ones(3)), expected)
    state = RNG.bit_generator.state
    expected = RNG.normal() + RNG.normal()
    RNG.bit_generator.state = state
    assert grad(global_generator)(2.0) == expected


def test_two_draws_are_two():
    random.seed(1)
    expected = plain_random(1.0)
    random.seed(1)
    assert grad(plain_random)(1.5) == pytest.approx(expected)


def active_parameter(x, rng):
    return np.sum(rng.normal(x, 1.0))


def passive_parameter(x, scale, rng):
    return x * rng.normal(0.0, scale)


def test_a_draw_from_active_parameters_is_refused():
    with pytest.raises(NoRuleError, match="what is drawn has none by its parameters"):
        grad(active_parameter)(np.ones(3), np.random.default_rng(0))
    got = grad(passive_parameter)(2.0, 3.0, np.random.default_rng(0))
    assert got == np.random.default_rng(0).normal(0.0, 3.0)


def test_a_shuffle_is_refused():
    def f(x, rng):
        rng.shuffle(x)
        return x[0]

    with pytest.raises(UnsupportedSyntaxError, match="writes into its argument"):
        grad(f)(np.ones(3), np.random.default_rng(0))


def test_the_text_draws_as_the_user_does():
    made = grad(dropout)
    made(np.ones(4), np.random.default_rng(0), 0.5)
    assert "rng.random(x.shape)" in made.source
