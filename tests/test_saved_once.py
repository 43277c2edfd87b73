"""What a loop saves for products after it is saved once: in the array that the products read, not on a list as well."""

import re

import numpy as np
import pytest

from sourcead import Segments, check_grads, grad, hvp, value_and_grad, vjp

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)


def arrays(*shapes, dtype=float):
    return [np.asarray(0.3 * rng.normal(size=s), dtype) for s in shapes]


def two_stages(w, u, z, steps):
    for _ in range(steps):
        first = np.tanh(z @ w)
        second = np.tanh((z + first @ u) @ w)
        z = z + 0.1 * (first @ u + second @ u)
    return np.sum(z**2)


def stages_in_a_list(w, u, z, steps):
    for _ in range(steps):
        stages = [z]
        for _ in range(3):
            stages.append(np.tanh(stages[-1] @ w) @ u)
        z = z + 0.1 * (stages[1] + stages[2] + stages[3])
    return np.sum(z**2)


def vectors(w, u, z, steps):
    h = z[0]
    for _ in range(steps):
        first = np.tanh(u @ h)
        second = np.tanh(u @ (h + w @ first))
        h = h + 0.1 * w @ second
    return np.sum(h**2)


def counted_from_one(w, u, z, steps):
    for k in range(1, steps + 1):
        first = np.tanh(z @ w)
        z = z + 0.1 * np.tanh(first @ u) / k
    return np.sum(z**2)


def in_a_branch(w, u, z, steps):
    for k in range(steps):
        first = np.tanh(z @ w)
        second = np.tanh(first @ u)
        if k % 2:
            second = np.sin(second) * second
        z = z + 0.1 * second
    return np.sum(z**2)


def left_early(w, u, z, steps):
    for _ in range(steps):
        first = np.tanh(z @ w)
        z = z + 0.1 * np.tanh(first @ u)
        if np.sum(z) > 1e3:
            break
    return np.sum(z**2)


def nested(w, u, z, steps):
    for _ in range(2):
        for _ in range(steps):
            first = np.tanh(z @ w)
            z = z + 0.1 * np.tanh(first @ u)
        z = np.tanh(z @ w @ u)
    return np.sum(z**2)


def written_later(w, u, z, steps):
    for _ in range(steps):
        first = np.tanh(z @ w)
        second = np.tanh((z + first @ u) @ w)
        z = z + 0.1 * second @ u
        first[0] = 0
        second += first
        z = z + 0.1 * second @ u
    return np.sum(z**2)


PROGRAMS = [two_stages, stages_in_a_list, vectors, counted_from_one, in_a_branch, left_early, nested, written_later]


@pytest.mark.parametrize("f", [two_stages, vectors, written_later])
def test_no_value_is_saved_on_a_list_and_in_an_array(f):
    gradient = grad(f, wrt=("w", "u"))
    few_rows = (*arrays((9, 10), (10, 9), (2, 9)), 4)
    gradient(*few_rows)
    assert "products after the loop" in "".join(gradient.lower(*few_rows).notes)
    popped = re.findall(r"^ +(\w+) = \w+\.pop\(\)\n(?:.*\n)*? +\w+\[.*\] = \1$", gradient.source, re.M)
    assert not popped, gradient.source


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("steps", [0, 1, 4])
@pytest.mark.parametrize("shape", [(2, 3), (8, 9)])
def test_gradients(f, steps, shape):
    rows, columns = shape
    args = (*arrays((columns, 10), (10, columns), shape), steps)
    check_grads(f, args, wrt=("w", "u", "z"), modes=("reverse",))


@pytest.mark.parametrize("f", PROGRAMS)
def test_single_precision_and_policies(f):
    args = (*arrays((9, 10), (10, 9), (8, 9), dtype=np.float32), 5)
    found = grad(f, wrt=("w", "u", "z"))(*args)
    for policy in ("store", "recompute", Segments(2)):
        for a, b in zip(found, grad(f, wrt=("w", "u", "z"), checkpoint=policy)(*args)):
            assert a.dtype == np.float32
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize("f", [two_stages, written_later])
def test_a_pullback_called_twice(f):
    args = (*arrays((9, 10), (10, 9), (8, 9)), 4)
    value, pullback = vjp(f, *args, wrt=("w", "u"))
    expected = grad(f, wrt=("w", "u"))(*args)
    for _ in range(2):
        for a, b in zip(pullback(1.0), expected):
            np.testing.assert_allclose(a, b, rtol=1e-10)


def test_the_hessian_times_a_vector():
    args = (*arrays((9, 10), (10, 9), (8, 9)), 3)
    (v,) = arrays((9, 10))
    step = 1e-5
    expected = grad(two_stages)(args[0] + step * v, *args[1:]) - grad(two_stages)(args[0] - step * v, *args[1:])
    np.testing.assert_allclose(hvp(two_stages)(*args, v), expected / (2 * step), rtol=1e-6, atol=1e-7)


@pytest.mark.compiled
@pytest.mark.parametrize("f", [two_stages, written_later])
def test_compiled(f):
    for steps in (0, 4):
        args = (*arrays((9, 10), (10, 9), (8, 9)), steps)
        for a, b in zip(grad(f, wrt=("w", "u"), backend="numba")(*args), grad(f, wrt=("w", "u"))(*args)):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def divided_in_place(xs, w):
    total = 0.0
    for x in xs:
        a = np.exp(x - x.max())
        a /= a.sum()
        total += np.sin(a @ w)
    return total


def assigned_as_a_whole(xs, w):
    total, kept = 0.0, np.zeros(len(w))
    for x in xs:
        part = np.sin(x * w)
        kept[...] = part
        kept[2] *= 3.0
        total += np.sum(kept * part)
    return total


def of_another_shape(xs, w):
    total, kept = 0.0, np.zeros((2, len(w)))
    for x in xs:
        part = np.sin(x * w)
        kept[...] = part
        kept[0] *= part
        total += np.sum(kept * part)
    return total


@pytest.mark.parametrize("f", [divided_in_place, assigned_as_a_whole, of_another_shape])
def test_what_is_written_into_a_whole_array(f):
    check_grads(f, arrays((5, 9), 9))
    f32 = arrays((5, 9), 9, dtype=np.float32)
    assert grad(f)(*f32).dtype == np.float32


def test_a_quotient_that_replaces_the_whole_array_is_saved_once():
    text = value_and_grad(divided_in_place).lower(*arrays((5, 9), 9)).text
    assert "a[...]" not in text and text.count("append") == 1, text
