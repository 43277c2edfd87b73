"""What surprised those who used the package for the first time, each as they wrote it."""

import collections

import numpy as np
import pytest

from sourcead import SourceADError, check_grads, grad


def running_means(x, n):
    window, total = collections.deque(maxlen=n), 0.0
    for item in x:
        window.append(item)
        total += (sum(window) / len(window)) ** 2
    return total


def test_a_window_of_a_length_that_is_an_argument_is_differentiated():
    for n in (1, 3, 8):
        check_grads(running_means, (np.arange(5.0), n))


def with_slots(p):
    class Spring:
        __slots__ = ("k", "x")
        __match_args__ = ("k", "x")

        def __init__(self, k, x):
            self.k, self.x = k, x

    spring = Spring(p[0], p[1])
    spring.x *= 2
    match spring:
        case Spring(k, x):
            return k * x**2


def test_a_class_inside_a_function_may_have_slots():
    check_grads(with_slots, ([2.0, 3.0],))


def test_slots_that_are_a_list_are_refused_with_what_to_write():
    def f(x):
        class Holder:
            __slots__ = ["x"]

            def __init__(self, x):
                self.x = x

        return Holder(x).x

    with pytest.raises(SourceADError, match=r'a tuple of names, `__slots__ = \("a", "b"\)`'):
        grad(f)(2.0)


def test_a_loop_over_nditer_is_refused_with_a_reason_and_what_to_write():
    def f(x):
        total = 0.0
        for item in np.nditer(x):
            total += item**2
        return total

    with pytest.raises(SourceADError, match=r"gives views that .*\n.*nditer\(x\).*\n.*\nWrite instead: `for x in a.flat`"):
        grad(f)(np.ones(3))
