"""Arrays that have another shape in each iteration: what is known of a part holds in one iteration alone."""

import numpy as np
import pytest

from sourcead import check_grads


def shrinks(x):
    c = np.maximum(x, 0.1)
    for _ in range(4):
        c[:-1] = 0.3 * c[:-1] + 0.7 * c[1:] ** 2
        c = c[:-1]
    return c[0] + np.sum(c)


def part_of_the_iteration_before(x):
    c = x * 1.0
    part = x[:1] * 0.0
    total = 0.0
    for i in range(3):
        if i > 0:
            total = total + np.sum(part[: len(c)] * c)
        part = c[:-1] * 2.0
        c = c[:-1] * x[i]
    return total + np.sum(part) + np.sum(c[:-1])


def parts_after_the_loop(x):
    c = x * 1.0
    part = x[:-1]
    for i in range(2):
        part = c[:-1] ** 2
        c = c[1:] * x[i]
    last = c[:-1]
    return np.sum(part) + np.sum(last * x[: len(last)]) + np.sum(np.ones(len(last)) * last)


def grows(x):
    c = x[:1]
    for i in range(4):
        c = np.concatenate([c, c[-1:] * x[i]])
        c[1:] *= 1.0 + c[:-1]
    return np.sum(c * c)


def nested(x):
    s = 0.0
    for i in range(3):
        c = x[i:]
        for _ in range(2):
            c = c[:-1] * c[1:] + c[:-1]
        s = s + np.sum(c) * np.sum(c[:-1] ** 2)
    return s


@pytest.mark.parametrize("f", [shrinks, part_of_the_iteration_before, parts_after_the_loop, grows, nested], ids=lambda f: f.__name__)
def test_gradient_is_right(f):
    for n in (5, 6, 9, 12):
        check_grads(f, (np.linspace(0.4, 1.3, n),))
