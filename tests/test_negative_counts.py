"""Loops over `range(n)` where n is negative or below the start: no iterations, for the stacks of products as well."""

import numpy as np
import pytest

from sourcead import value_and_grad


def up_to_a_number(w, u, xs, n):
    h = np.zeros(3)
    for t in range(n):
        h = np.tanh(w @ xs[t] + u @ h)
    return np.sum(h**2) + np.sum(w)


def from_the_second(w, u, xs, n):
    h = np.zeros(3)
    for t in range(1, len(xs)):
        h = np.tanh(w @ xs[t] + u @ h)
    return np.sum(h**2) + np.sum(w)


def later_inputs(w, u, xs, n):
    h = np.zeros(3)
    for t in range(len(xs) - n):
        h = np.tanh(w @ xs[t + n] + u @ h)
    return np.sum(h**2) + np.sum(w)


def downward_into_an_array(w, u, xs, n):
    hs = np.zeros((len(xs) + 1, 3))
    for t in range(n - 1, -1, -1):
        hs[t] = np.tanh(w @ xs[t] + u @ hs[t + 1])
    return np.sum(hs**2) + np.sum(w)


def inputs_before(w, u, xs, n):
    h = np.zeros(3)
    for t in range(2, n):
        h = np.tanh(w @ xs[t - 2] + u @ (h + xs[t - 1]))
    return np.sum(h**2) + np.sum(w)


def layers_and_times(w, u, xs, n):
    hs = [np.zeros(3), np.zeros(3)]
    for t in range(n):
        x = xs[t]
        for k in range(2):
            hs[k] = np.tanh(w @ x + u @ hs[k])
            x = hs[k]
    return np.sum(hs[1] ** 2) + np.sum(w)


PROGRAMS = (up_to_a_number, from_the_second, later_inputs, downward_into_an_array, inputs_before, layers_and_times)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_where_a_loop_may_have_no_iterations(program):
    rng = np.random.default_rng(0)
    w, u = rng.normal(size=(2, 3, 3))
    made = value_and_grad(program, wrt=(0, 1, 2))  # one text for all lengths, as far as that goes
    for length in (5, 2, 1, 0):
        for n in (length, 2, 1, 0, -1, -3):
            args = w, u, rng.normal(size=(length, 3)), n
            if n > length or program is later_inputs and n < 0:
                continue
            value, gradients = made(*args)
            assert value == pytest.approx(program(*args), rel=1e-12)
            for k, gradient in enumerate(gradients):
                direction = rng.normal(size=gradient.shape)
                further, nearer = ([*args[:k], args[k] + h * direction, *args[k + 1 :]] for h in (1e-6, -1e-6))
                slope = (program(*further) - program(*nearer)) / 2e-6
                assert np.sum(gradient * direction) == pytest.approx(slope, rel=1e-6, abs=1e-7)
