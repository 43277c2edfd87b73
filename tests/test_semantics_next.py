"""`next` takes the elements of a generator one by one, as Python does: what is between two `yield`s happens between two calls."""

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import UnsupportedSyntaxError
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([0.5, -1.2, 2.0])


def endless(x):
    def moments():
        y = x
        while 1:
            yield y
            y = y * 2
    m = moments()
    a = next(m)
    b = next(m)
    return np.sum(a * b)


class G:
    def __init__(self, x):
        self.x = x

    def items(self):
        for v in self.x:
            yield v * v


def of_a_method(x):
    it = G(x).items()
    return next(it) + 2 * next(it)


def then_a_loop_over_the_rest(x):
    it = G(x).items()
    first = next(it)
    s = 0.0
    for v in it:
        s += v * first
    return s


def continue_and_break_inside(x):
    def g(n):
        for k in range(n):
            if k == 1:
                continue
            yield x[k]
            if k > 1:
                break
        yield x[0] * 3
    it = g(5)
    return next(it) * next(it) * next(it) + next(it, 2.0)


def in_one_arm(x):
    def g():
        k = 0
        while k < 3:
            yield x[k] * k
            k += 1
    it = g()
    s = next(it)
    if x[0] > 0:
        s += next(it) * 3
    return s


def expression_then_a_sum(x):
    it = (v * v for v in x)
    a = next(it)
    return a * sum(it)


def of_another_generator(x):
    def inner():
        yield x[0]
        yield x[1] ** 2
    def outer():
        yield from inner()
        yield x[2] ** 3
    it = outer()
    a = next(it)
    b = next(it)
    c = next(it)
    return a * b + c * next(it, 4.0)


def counter_in_a_loop(x):
    def counter():
        n = 0
        while True:
            n += 1
            yield n
    c = counter()
    s = 0.0
    for v in x:
        s += v ** 2 * next(c)
    return s


def powers_in_a_loop(x):
    def powers():
        p = 1.0
        while True:
            yield p
            p = p * x[0]
    c = powers()
    s = 0.0
    for v in x:
        s += v * next(c)
    return s


def first_that_is_positive(x):
    it = (v for v in x if v > 0)
    return next(it) ** 2


def writes_between_the_elements(x):
    y = x.copy()
    def g():
        for k in range(3):
            yield y[k]
            y[k] *= 2
    it = g()
    a = next(it)
    y[1] = 5.0 * a
    b = next(it)
    c = sum(it)
    return a + b * c + np.sum(y)


def of_tuples(x):
    def g():
        a, b = yield x[0], x[1]
        yield a
    return next(g())[1] * x[2]


def until_it_stops(x):
    def g():
        for v in x:
            yield 2 * v
    it = g()
    s = 0.0
    try:
        while True:
            s += next(it) ** 2
    except StopIteration:
        pass
    return s


def two_at_once(x):
    def g(n):
        y = x.copy()
        while True:
            y[n] = y[n] * 2
            yield y
    it, jt = g(0), g(1)
    a = next(it)
    b = next(jt)
    c = next(it)
    return np.sum(a * b) + np.sum(c ** 2)


def through_a_helper(x):
    def g():
        s = 0.0
        for v in x:
            s += v
            yield s
    def take(it):
        return next(it)
    it = g()
    a = take(it)
    L = list(it)
    return a * L[0] + L[1] ** 2


def in_a_loop_of_known_length(x):
    def g():
        s = 0.0
        for v in x:
            s += v
            yield s
    it = g()
    out = 0.0
    for k in range(3):
        out += next(it) * k
    return out


def in_both_arms(x):
    def g():
        for v in x:
            yield 2 * v
    it = g()
    out = 0.0
    if x[0] > 10:
        out += next(it)
    else:
        out -= next(it)
    return out + next(it)


def in_one_arm_and_after_it(x):
    def g():
        for v in x:
            yield 2 * v
    it = g()
    out = 0.0
    if x[0] > 10:
        out += next(it)
    return out + next(it)


def of_enumerate(x):
    it = iter(enumerate(x))
    k, a = next(it)
    for j, b in it:
        a += b * j
    return a


def that_receives_nothing(x):
    def g():
        n = 0.0
        while True:
            w = yield n
            n += x[1] if w is None else w
    it = g()
    next(it)
    return next(it) * next(it)


def pairs_of_an_iterator(x):
    def pair(it):
        while True:
            try:
                a = next(it)
            except StopIteration:
                return
            yield a * next(it)
    s = 0.0
    for p in pair(iter([x[0], x[1], x[2], x[0]])):
        s += p
    return s


def array_written_between(x):
    def g():
        z = x
        yield z
        z *= 2
        yield z
    it = g()
    a = next(it)
    s = np.sum(a)
    b = next(it)
    return s + np.sum(a * b)


class Stream:
    def __init__(self, x):
        self.it = self.make(x)
    def make(self, x):
        k = 0
        while True:
            yield x[k % 3] * (k + 1)
            k += 1
    def take(self, n):
        return [next(self.it) for _ in range(n)]


def kept_by_an_object(x):
    st = Stream(x)
    return sum(st.take(2)) * sum(st.take(3))


def after_all_were_taken(x):
    it = (v * v for v in x)
    s = sum(it)
    t = 0.0
    again = (v * 3 for v in x)
    for v in again:
        t += v * x[1]
    return s + t * next(it, x[0]) + next(again, 2.0)


def second_that_is_positive(x):
    it = (v for v in x if v > 0)
    return next(it) ** 2 + next(it)


def as_far_as_the_branch_went(x):
    def numbered():
        k = 0
        while k < 3:
            yield x[k] * k
            k += 1

    it = numbered()
    s = next(it)
    if x[0] > 0:
        s += next(it) * 3
    return s + next(it)


def inside_a_try(x):
    def tried():
        try:
            yield x[0]
            yield x[1]
        finally:
            pass

    it = tried()
    return next(it) * next(it)


def that_counts_its_steps(x):
    n = 0

    def positive():
        nonlocal n
        for v in x:
            n = n + 1
            if v > 0:
                yield v * n

    it = positive()
    return next(it) + next(it) * n


def that_counts_its_steps_after_the_first(x):
    n = 0

    def positive():
        nonlocal n
        yield x[0]
        for v in x:
            n = n + 1
            if v > 0:
                yield v * n

    it = positive()
    return next(it) + next(it) * n


REFUSED = (that_counts_its_steps, that_counts_its_steps_after_the_first)
RIGHT = (
    endless, of_a_method, then_a_loop_over_the_rest, continue_and_break_inside, in_one_arm, expression_then_a_sum,
    of_another_generator, counter_in_a_loop, powers_in_a_loop, first_that_is_positive, writes_between_the_elements, of_tuples,
    until_it_stops, two_at_once, through_a_helper, in_a_loop_of_known_length, in_both_arms, in_one_arm_and_after_it, of_enumerate,
    that_receives_nothing, pairs_of_an_iterator, array_written_between, kept_by_an_object, after_all_were_taken,
    second_that_is_positive, as_far_as_the_branch_went, inside_a_try
)  # fmt: skip


@pytest.mark.parametrize("f", [*RIGHT, *REFUSED], ids=lambda f: f.__name__)
def test_elements_taken_one_by_one(f):
    assert judged_in_all_modes(f, X) == ("right" if f in RIGHT else "refused")


@pytest.mark.parametrize("f", [counter_in_a_loop, powers_in_a_loop], ids=lambda f: f.__name__)
def test_a_loop_that_is_not_unrolled_does_not_know_which_yield_is_next(f):
    assert judged_in_all_modes(f, np.linspace(0.3, 1.7, 12)) == "refused"


def test_the_reason_names_what_depends_on_the_run():
    with pytest.raises(UnsupportedSyntaxError, match="which `yield` of a generator is the next depends on the run"):
        value_and_grad(that_counts_its_steps_after_the_first)(X)


def test_text_has_the_elements_alone():
    assert "for " not in value_and_grad(powers_in_a_loop).lower(X).text.split('"""')[2].replace("# for", "")
