"""Residuals that one place of a loop saves lie as tuples on one list: `emit/text/joined_stacks.py`; what needs no work is saved."""

import re

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, vjp

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)


def stages(w, z, steps):
    for _ in range(steps):
        first = np.tanh(z @ w)
        second = np.sin(first @ w)
        z = z + 0.1 * np.exp(-second) * first
    return np.sum(z**2)


def variant_that_moves_on(w, z, steps):
    """`z` has its next value before the last residual is there."""
    total = 0.0
    for _ in range(steps):
        first = np.tanh(z @ w)
        z = np.exp(-first @ w) * z
        total = total + np.sum(np.sin(z) * np.tanh(z * first))
    return total


def cells(w, z, steps):
    """`cell` has its next value before the last residual is there, and in reverse nothing reads that afterwards."""
    cell = np.zeros(z.shape)
    for _ in range(steps):
        gate = np.tanh(z @ w)
        cell = gate * cell + np.sin(z)
        z = np.tanh(cell) * np.exp(gate)
    return np.sum(z**2)


def in_an_arm(w, z, steps):
    for k in range(steps):
        first = np.tanh(z @ w)
        if k % 2:
            second = np.sin(first @ w)
            z = z + np.exp(second) * np.cos(second @ w) * first
        else:
            z = z + first
    return np.sum(z**2)


def in_inner_loops(w, z, steps):
    for _ in range(2):
        for _ in range(steps):
            first = np.tanh(z @ w)
            z = z + 0.1 * np.sin(first @ w) * np.exp(first)
        z = np.tanh(z) * np.exp(-z)
    return np.sum(z**2)


def rows_that_are_written(w, z, steps):
    zs = z * 1.0
    for k in range(steps):
        row = zs[k % len(zs)]
        first = np.tanh(row @ w)
        zs[k % len(zs)] = first * row
        second = np.sin(zs[(k + 1) % len(zs)] @ w)
        zs[k % len(zs)] += second * first
        first[0] = 0.5
        zs[0] += first
    return np.sum(zs**2)


def left_early(w, z, steps):
    for k in range(steps):
        first = np.tanh(z @ w)
        z = z + np.exp(first) * np.sin(first @ w)
        if k == 2:
            break
    return np.sum(z**2)


def while_it_grows(w, z, steps):
    k = 0
    while k < steps and np.sum(z) < 1e6:
        first = np.tanh(z @ w)
        z = z + np.exp(first) * np.sin(first @ w)
        k += 1
    return np.sum(z**2)


def inputs(steps, rows=8):
    return 0.3 * rng.normal(size=(9, 9)), 0.3 * rng.normal(size=(rows, 9)), steps


PROGRAMS = [stages, variant_that_moves_on, cells, in_an_arm, in_inner_loops, rows_that_are_written, left_early, while_it_grows]


@pytest.mark.parametrize("steps", [0, 1, 5])
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f, steps):
    check_grads(f, inputs(steps), wrt=("w", "z"), modes=("reverse",))


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_pullback_called_twice_and_products_with_the_hessian(f):
    w, z, steps = inputs(5)
    _, pullback = vjp(f, w, z, steps, wrt=("w", "z"))
    expected = grad(f, wrt=("w", "z"))(w, z, steps)
    for _ in range(2):
        for a, b in zip(pullback(1.0), expected):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    v, step = rng.normal(size=w.shape), 1e-5
    difference = (grad(f)(w + step * v, z, steps) - grad(f)(w - step * v, z, steps)) / (2 * step)
    np.testing.assert_allclose(hvp(f)(w, z, steps, v), difference, rtol=1e-5, atol=1e-5 * np.abs(difference).max())


@pytest.mark.parametrize("f", [stages, in_inner_loops, left_early, while_it_grows])
def test_one_list_takes_what_is_saved_in_one_place(f):
    text = grad(f, wrt=("w", "z")).lower(*inputs(5)).text
    inner = re.findall(r"^( *)(\w+)\.append\((.*)\)$", text, re.M)
    deepest = max(len(indent) for indent, _, _ in inner)
    found = [(name, value) for indent, name, value in inner if len(indent) == deepest]
    assert len(found) == 1 and re.fullmatch(r"\(\w+(, \w+)+\)", found[0][1]), text
    assert f"{found[0][1][1:-1]} = {found[0][0]}.pop()" in text, text


def test_a_variant_that_moves_on_has_another_name_until_it_is_saved():
    text = grad(cells, wrt=("w", "z"), checkpoint="store").lower(*inputs(5)).text
    assert text.count(".append(") == text.count(".pop()") == 1 and "cell_prev = cell\n" in text, text


def test_both_sweeps_of_a_pullback_use_one_list():
    _, pullback = vjp(stages, *inputs(5), wrt=("w", "z"))
    text = grad(stages, wrt=("w", "z")).lower(*inputs(5)).text
    assert text.count(".append(") == text.count(".pop()") == 1
    assert [a.shape for a in pullback(1.0)] == [(9, 9), (8, 9)]


def test_a_variant_that_moves_on_needs_no_further_assignment():
    text = grad(variant_that_moves_on, wrt=("w", "z"), checkpoint="store").lower(*inputs(5)).text
    assert not re.search(r"^ +z(_\d)? = z(_\d)?$", text, re.M), text


def test_the_next_state_is_carried_and_not_computed_again():
    def gated(w, u, h, xs):
        total = 0.0
        for x in xs:
            gate = 1 / (1 + np.exp(-(x + h @ w)))
            h = gate * h + (1 - gate) * np.tanh(x)
            total = total + np.sum((h @ u) ** 2)
        return total

    args = *0.3 * rng.normal(size=(2, 9, 9)), 0.3 * rng.normal(size=(8, 9)), 0.3 * rng.normal(size=(6, 8, 9))
    check_grads(gated, args, wrt=("w", "u", "h"), modes=("reverse",))
    reverse = grad(gated, wrt=("w", "u", "h")).lower(*args).text.partition("# reverse")[2]
    assert "gate * h +" not in re.sub(r"#.*", "", reverse), reverse


@pytest.mark.compiled
@pytest.mark.parametrize("f", PROGRAMS)
def test_compiled(f):
    args = inputs(4)
    for a, b in zip(grad(f, wrt=("w", "z"), backend="numba")(*args), grad(f, wrt=("w", "z"))(*args)):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_a_tuple_that_is_saved_beside_another_value_is_unpacked_after_it():
    def f(x):
        total, waiting = x[0], [(x[1] * np.max(x), 0)]
        while waiting:
            value, depth = waiting.pop(0)
            total = total * np.sin(value)
            if depth < 2:
                waiting.append((value * 0.5, depth + 1))
        return total

    def g(x):
        total, waiting = x[0], [(np.percentile(x, 40), 0)]
        while waiting:
            value, depth = waiting.pop(0)
            total += value * 0.3
            if depth < 2:
                waiting.append((value * 0.5, depth + 1))
        for v in np.arange(0.0, 1.0, 0.4):
            total += x[0] * v
        return total

    for h in (f, g):
        check_grads(h, (np.array([0.7, 0.2, 0.4, 0.6]),))
