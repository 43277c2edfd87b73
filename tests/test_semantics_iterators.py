"""Objects of classes with `__next__`: loops over them call it until it raises StopIteration; what cannot be seen so is refused."""

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import SourceADError
from tests.semantics import judged, judged_in_all_modes

V = np.array([0.1, 0.3, 0.5])


class Up:
    def __init__(self, v, n):
        self.v, self.k, self.n = v, 0, n

    def __iter__(self):
        return self

    def __next__(self):
        if self.k >= self.n:
            raise StopIteration
        self.k += 1
        return self.v * self.k


class Skipping(Up):
    def __next__(self):
        self.k += 1
        if self.k > self.n:
            raise StopIteration("no more")
        if self.k % 2:
            return self.v
        self.v = self.v * 2
        return self.v * self.k


class Container:
    def __init__(self, v):
        self.v = v

    def __iter__(self):
        return Up(self.v, 3)


class Through(Up):
    def __next__(self):
        return 2 * super().__next__()


class Checked(Up):
    def check(self):
        if self.k >= self.n:
            raise StopIteration

    def __next__(self):
        self.check()
        self.k += 1
        return self.v * self.k


class Searching(Up):
    def __next__(self):
        for k in range(3):
            if k == self.k:
                self.k += 1
                return self.v * k
        raise StopIteration


class Endless(Up):
    __next__ = None


def in_a_loop(x):
    s = 0.0
    for q in Up(x, 3):
        s = s + np.sin(q)
    return np.sum(s)


def in_a_comprehension(x):
    return sum([np.sum(np.sin(q)) for q in Up(x, 3)])


def two_returns(x):
    return sum(Skipping(x[0], 5))


def of_another_class(x):
    s = 0.0
    for q in Container(x[0]):
        s = s * 0.5 + q * q
    return s


def left_and_taken_up_again(x):
    u, s = Up(x[0], 4), 0.0
    for q in u:
        if q > 0.25:
            break
        s += q
    for q in u:
        s += q * q
    return s * u.k


def nested(x):
    s = 0.0
    for k, q in enumerate(Up(x, 3)):
        for r in Up(q, k):
            s = s + np.sum(r)
    return s


@pytest.mark.parametrize("program", [in_a_loop, in_a_comprehension, two_returns, of_another_class, left_and_taken_up_again, nested])
def test_iterators_of_classes(program):
    assert judged_in_all_modes(program, V) == "right"


@pytest.mark.parametrize("cls", [Through, Checked, Searching])
def test_steps_that_do_not_end_in_the_method_itself_are_refused(cls):
    assert judged(lambda x: sum(cls(x[0], 3)), V) == "refused"


def test_what_python_cannot_iterate_over_is_refused():
    with pytest.raises(SourceADError):
        value_and_grad(lambda x: sum(Endless(x[0], 3)))(V)


def written_item(z):
    q = next(iter(z))
    q *= 2
    return np.sum(z[0] * z[1])


def written_items(z):
    it = iter(z)
    for _ in range(2):
        q = next(it)
        q *= 2
    return np.sum(z[0] * z[1])


@pytest.mark.parametrize("make", [tuple, list])
@pytest.mark.parametrize("f", [written_item, written_items])
def test_what_next_takes_may_be_written(f, make):
    z = make([V * 1.0, V * 3.0])
    value, gradient = value_and_grad(f, verify=False)(z)
    factor = 2 if f is written_item else 4
    np.testing.assert_allclose(value, factor * np.sum(z[0] * z[1]))
    np.testing.assert_allclose(gradient, [factor * z[1], factor * z[0]])
    assert type(gradient) is make
