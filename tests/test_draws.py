"""Random draws in a differentiated function: each happens once, in order, and is a constant for differentiation."""

import functools
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


WEIGHTS = np.array([1.0, 10.0, 100.0, 1000.0])


def shuffled_array(x, rng):
    y = x ** 2
    rng.shuffle(y)
    return np.sum(y * WEIGHTS) + rng.uniform(0, 1)


def shuffled_rows(x, rng):
    y = np.outer(x, x)
    rng.shuffle(y)
    return WEIGHTS @ y @ x + rng.uniform(0, 1)


def shuffled_places(x, rng):
    order = np.arange(4)
    rng.shuffle(order)
    return np.sum(x[order] ** 2 * WEIGHTS)


def shuffled_list(x, rng):
    items = [a * a for a in x]
    rng.shuffle(items)
    return items[0] * items[1] + 2 * items[2] + rng.uniform(0, 1)


def shuffled_list_of_arrays(x, rng):
    items = [x, 2 * x, x * x]
    rng.shuffle(items)
    return np.sum(items[0] * WEIGHTS * items[2]) + rng.uniform(0, 1)


def shuffled_pairs(x, rng):
    pairs, total = list(zip(x, WEIGHTS)), 0.0
    rng.shuffle(pairs)
    for a, b in pairs:
        total = total * a + b * a
    return total


def permuted(x, rng):
    return WEIGHTS @ rng.permutation(x ** 2) + rng.uniform(0, 1)


def some(x, rng):
    return np.prod(rng.choice(x, 2, replace=False)) + rng.choice(x) ** 2


def sample_of_list(x, rng):
    a, b = rng.sample([x[0], x[1], x[2] * x[3]], 2)
    return a * a * b + sum(rng.sample(list(x), k=3)) + rng.choice(x) ** 2


NUMPY_DRAWS = [shuffled_array, shuffled_rows, shuffled_places, shuffled_list, shuffled_list_of_arrays, shuffled_pairs, permuted, some]
PYTHON_DRAWS = [shuffled_array, shuffled_places, shuffled_list, shuffled_list_of_arrays, shuffled_pairs, sample_of_list]


@pytest.mark.parametrize("f, make", [
    *((f, make) for f in NUMPY_DRAWS for make in (np.random.default_rng, np.random.RandomState)),
    *((f, random.Random) for f in PYTHON_DRAWS),
], ids=lambda x: getattr(x, "__name__", ""))  # fmt: skip
def test_draws_from_sequences_are_those_of_the_library(f, make):
    x = np.array([1.5, -0.5, 2.0, 0.7])
    value, d_x = value_and_grad(f)(x, make(3))
    assert value == f(x, make(3))  # also of the numbers drawn afterwards
    steps = 1e-6 * np.eye(4)
    np.testing.assert_allclose(d_x, [(f(x + h, make(3)) - f(x - h, make(3))) / 2e-6 for h in steps], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(jvp(f, (x, make(3)), (WEIGHTS, None))[1], d_x @ WEIGHTS, rtol=1e-9)
    assert grad(f)(x.astype(np.float32), make(3)).dtype == np.float32


def by_functions_of_modules(x):
    np.random.seed(4)
    random.seed(4)
    y, items = x ** 2, [x[1], x[2], x[3] * x[0]]
    np.random.shuffle(y)
    random.shuffle(items)
    drawn = np.random.permutation(x) * y + np.random.choice(x, 4)
    return items[0] * items[1] ** 2 + WEIGHTS @ drawn + sum(random.sample(items, 2)) * random.random() + np.random.random()


def test_draws_of_the_functions_of_modules(tmp_path):
    x = np.array([1.5, -0.5, 2.0, 0.7])
    made = value_and_grad(by_functions_of_modules)
    value, d_x = made(x)
    f = by_functions_of_modules
    assert value == f(x)
    np.testing.assert_allclose(d_x, [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)], rtol=1e-6)
    made.save(tmp_path / "saved.py", x)
    names = {}
    exec((tmp_path / "saved.py").read_text(encoding="utf-8"), names)
    assert np.array_equal(names["by_functions_of_modules_value_and_grad"](x)[1], d_x)


def test_a_shuffled_argument_is_left_as_it_was():
    def f(x, items):
        random.shuffle(items)
        return x * items[0] + items[1]

    items = [1.0, 2.0, 3.0]
    with pytest.warns(UserWarning, match="`f` changes `items`"):
        assert grad(f)(2.0, items) in items
    assert items == [1.0, 2.0, 3.0]


def test_what_shuffle_does_not_take():
    def rows(x):
        y = np.outer(x, x)
        random.shuffle(y)
        return y[0, 1]

    def columns(x, rng):
        y = np.outer(x, x)
        rng.shuffle(y, axis=1)
        return y[0, 1]

    with pytest.raises(UnsupportedSyntaxError, match="`random.shuffle` of rows, which Python mixes up"):
        grad(rows)(np.ones(3))
    with pytest.raises(UnsupportedSyntaxError, match=r"`shuffle` along an axis\n(.*\n)*.*`x = x\[:, rng.permutation\(x.shape\[1\]\)\]`"):
        grad(columns)(np.ones(3), np.random.default_rng(0))


def test_the_text_draws_as_the_user_does():
    made = grad(dropout)
    made(np.ones(4), np.random.default_rng(0), 0.5)
    assert "rng.random(x.shape)" in made.source


def test_a_function_with_a_cache_that_shuffles_is_asked_what_it_keeps():
    @functools.cache
    def order():
        places = [0, 1, 2]
        random.shuffle(places)
        return places[0]

    found = grad(lambda x: x[order()] * x[order()])(np.array([3.0, 4.0, 5.0]))
    np.testing.assert_array_equal(found, 2 * np.array([3.0, 4.0, 5.0]) * (np.arange(3) == order()))
