"""Iterators that are left early have the others left; elements that a generator changes after it yielded them are not taken at once."""
# ruff: noqa: B023, B905, C416, C417, E731, SIM, UP, PERF

import functools
import itertools
import operator

import numpy as np
import pytest

from sourcead import grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

POINTS = [np.array([0.3, 0.9, 0.52, 0.1]), np.array([0.1, 0.52, 0.9, 0.3]), np.array([-0.3, -0.9, -0.52, -0.1])]


def map_of_two(x):
    it = map(operator.add, x, x * 2)
    return next(it, 0.0) + 3 * sum(itertools.islice(it, 4))


def parts_of_a_slice(x):
    it = itertools.islice(x * x, 1, None)
    s = 0.0
    for k in itertools.islice(it, 2):
        s += k
    return s + sum(itertools.islice(it, 4)) * 3


def taken_while(x):
    it = itertools.takewhile(lambda k: k < 5.0, x)
    return next(it, 0.2) * 2 + next(it, 0.1) * 3


def filtered(x):
    it = filter(lambda k: k > 0.0, x)
    return next(it, 0.2) * 2 + next(it, 0.1) * 3


def totals(x):
    it = itertools.accumulate(x)
    s = 0.0
    for k in itertools.islice(it, 2):
        s += k
    return s + sum(itertools.islice(it, 4)) * 3


def left_by_break(x):
    it = iter(x)
    s = 0.0
    for k in it:
        s += k * k
        if s > 0.4:
            break
    return s + sum(it) * 3


def generator_left_by_break(x):
    it = (k * 2 for k in x)
    s = 0.0
    for k in it:
        s += k
        if s > 1.0:
            break
    else:
        s += 10 * x[0]
    for k in it:
        s += 2 * k
    return s


def generator_that_returns(x):
    def g(s):
        t = 0.0
        for k in s:
            t += k
            if t > 2.0:
                return
            yield t

    it = g(x * 2)
    return next(it, 0.1) + next(it, 0.2) * 2 + sum(it) * 3


def first_of_a_cycle(x):
    it = itertools.cycle([x[0], x[1]])
    return sum(itertools.islice(it, 3)) + next(it) * 2


def written_while_it_is_walked(x):
    w = x * 1.0
    it = iter(w)
    s = 0.0
    for k in it:
        s += k
        w[2] = s
        if s > 1.0:
            break
    return s + sum(it) * 2


def left_by_return(x):
    it = iter(x)

    def f(v):
        for k in it:
            if k > v:
                return k
        return 0.5

    return f(0.4) + 2 * f(0.2) + 3 * f(0.05) + 5 * f(0.0)


def left_by_an_exception(x):
    it = iter(x)
    s = 0.0
    try:
        for k in it:
            if k > 0.8:
                raise ValueError
            s += k
    except ValueError:
        s += 0.1 * x[3]
    return s + 3 * sum(it)


def left_on_one_side(x):
    it = iter(x)
    if x[0] > 0:
        for k in it:
            if k > 0.4:
                break
    else:
        k = next(it)
    return k + 2 * sum(it)


def under_another_name(x):
    it = iter(x)
    other = it
    s = 0.0
    for k in other:
        s += k
        if s > 1.0:
            break
    return s + 2 * sum(it)


def rows_after_the_first(x):
    s = 0.0
    it = zip(x, map(lambda k: k * k, x))
    next(it)
    for a, b in it:
        s += a * b
    return s


def rows_left_by_break(x):
    it = zip((k * k for k in x), x)
    s = 0.0
    for a, b in it:
        s += a * b
        if s > 0.05:
            break
    for a, b in it:
        s += 2 * a * b
    return s


def numbers_go_on(x):
    it = enumerate(k * 2 for k in x)
    _, s = next(it)
    for i, k in it:
        if k > 1:
            break
        s += i * k
    return s + sum(i * k for i, k in it)


def chain_of_iterators(x):
    it = itertools.chain(iter(x), [x[0] * 2])
    s = next(it)
    for k in it:
        s += k * k
        if s > 1:
            break
    return s + next(it, 0.3) * 3 + sum(it)


def functions_with_defaults(x):
    return sum(f(m) for f, m in zip((lambda v, k=k: v * k for k in x), x))


RIGHT = [
    functions_with_defaults, rows_after_the_first, rows_left_by_break, numbers_go_on, chain_of_iterators,
    map_of_two, parts_of_a_slice, taken_while, filtered, totals, left_by_break, generator_left_by_break, generator_that_returns,
    first_of_a_cycle, written_while_it_is_walked, left_by_return, left_by_an_exception, left_on_one_side, under_another_name,
]  # fmt: skip


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_what_is_left_of_an_iterator(f):
    assert {judged_in_all_modes(f, x.copy()) for x in POINTS} == {"right"}


# -- what would show that elements were taken too early ------------------------------------------------------------------------


def array_filled_anew(x):
    def g():
        b = np.zeros(2)
        for k in x:
            b[0] = k
            b[1] = k * k
            yield b

    return sum(b.sum() * m for b, m in zip(g(), x))


def functions_of_the_loop(x):
    def g():
        for k in x:
            yield lambda: k * 2

    return sum(f() * m for f, m in zip(g(), x))


def list_that_grows(x):
    def g():
        items = []
        for k in x:
            items.append(k)
            yield items

    return sum(sum(b) * m for b, m in zip(g(), x))


def dict_of_the_last(x):
    def g():
        d = {}
        for k in x:
            d["a"] = k
            yield d

    return sum(b["a"] * m for m, b in zip(x, g()))


def object_that_moves(x):
    class Point:
        pass

    def g():
        p = Point()
        for k in x:
            p.at = k
            yield p

    return sum(p.at * m for m, p in zip(x, g()))


def changed_after_the_yield(x):
    def g():
        d = np.zeros(2)
        for k in x:
            d = d + k
            yield d
            d[0] = 0.0

    return sum(b.sum() * m for m, b in zip(x, g()))


def first_functions(x):
    def g():
        for k in x:
            yield lambda v: v * k

    return sum(f(2.0) for f in itertools.islice(g(), 2))


def pairs_of_functions(x):
    def g():
        for k in x:
            yield lambda: k

    return sum(a() * b() for a, b in itertools.pairwise(g()))


def first_sums(x):
    def g():
        d = np.zeros(2)
        for k in x:
            d += k
            yield d

    return sum(a.sum() for a in itertools.islice(g(), 2)) + sum(functools.reduce(lambda a, b: a + b, g()))


def accumulated_lists(x):
    def g():
        b = [0.0]
        for k in x:
            b[0] = k
            yield b

    return sum(k[0] for k in itertools.accumulate(g(), lambda p, q: [p[0] * 0.5 + q[0]]))


def mapped_lists(x):
    def g():
        b = [0.0]
        for k in x:
            b[0] = k
            yield b

    return sum(map(lambda p, q: p[0] * q, g(), x))


def written_between(x):
    w = x * 1.0
    it = (k * w[0] for k in x if k > -4)
    s = next(it, 0.1)
    w[0] = 5.0
    s += next(it, 0.2) * 3
    return s + sum(it)


def list_that_got_more(x):
    items = [x[0], x[1]]
    it = iter(items)
    s = 0.0
    for k in it:
        s += k
        if s > 0.2:
            break
    items.append(x[2])
    for k in it:
        s += 3 * k
    return s


def generator_over_a_list_that_got_more(x):
    items = [x[0], x[1]]
    it = (k * 2 for k in items)
    s = 0.0
    for k in it:
        s += k
        if s > 0.5:
            break
    items.append(x[2])
    for k in it:
        s += 3 * k
    return s


def list_that_grows_in_the_loop(x):
    items = [x[0], x[1]]
    s = 0.0
    for a, b in zip((k * 2 for k in items), x):
        s += a * b
        if len(items) < 4:
            items.append(x[2])
    return s


def taken_inside_the_loop(x):
    it = iter(x)
    s = 0.0
    for k in it:
        if k > 0.5:
            break
        s += k * next(it, 0.3)
    return s + next(it, 0.7) * x[0]


def counts_what_it_gives(x):
    n = 0

    def g():
        nonlocal n
        for k in x:
            n += 1
            yield k * n

    it = g()
    s = 0.0
    for k in it:
        s += k * n
        if s > 1.0:
            break
    return s + n * x[0] + sum(it) * 2 + n * x[1]


def row_after_a_write(x):
    w = x * 1.0
    it = zip(x, map(lambda k: k * w[0], x))
    s = next(it)[1]
    w[0] = 3.0
    for a, b in it:
        s += a * b
    return s


def row_after_another_number(x):
    n = 2.0
    it = enumerate(map(lambda k: k * n, x))
    s = next(it)[1]
    n = 3.0
    for a, b in it:
        s += a * b
    return s


def taken_below(x):
    base = iter(x)
    it = enumerate(base)
    s = next(it)[1]
    s += 2 * next(base)
    for a, b in it:
        s += a * b
    return s


def functions_of_an_array(x):
    def g():
        b = np.zeros(2)
        for k in x:
            b[0] = k
            yield lambda: b.sum()

    return sum(f() * m for f, m in zip(g(), x))


def functions_of_a_function(x):
    def g():
        for k in x:

            def scaled(v):
                return v * k

            yield lambda: scaled(2.0)

    return sum(f() * m for f, m in zip(g(), x))


def others_after_a_filter(x):
    it = iter(x)
    return next(filter(lambda k: k > 0.5, it), 0.4) * x[1] + sum(it)


def others_after_an_expression(x):
    it = iter(x)
    return next((k for k in it if k > 0.5), 0.4) * x[1] + sum(it)


def others_after_any(x):
    it = iter(x)
    return any(k > 0.5 for k in it) * x[1] + sum(it)


def others_after_a_generator_that_skips(x):
    def large():
        for k in it:
            if k > 0.5:
                yield k

    it, found = iter(x), large()
    return next(found, 0.4) * x[1] + sum(it)


def others_after_a_loop_over_those_dropped(x):
    it, k = iter(x), 0.4
    for k in itertools.dropwhile(lambda k: k < 0.5, it):
        break
    return k * x[1] + sum(it)


def totals_of_a_list_written_meanwhile(x):
    items = list(x)
    it = itertools.accumulate(items)
    first = next(it)
    items[2] = x[1] * 3
    return first + sum(it)


def totals_of_a_list_written_later(x):
    items = list(x)
    it = itertools.accumulate(items)
    two = next(it) * next(it)
    items[3] = x[1] * 3
    return two + sum(it)


NEVER_WRONG = [
    functions_of_an_array, functions_of_a_function,
    row_after_a_write, row_after_another_number, taken_below,
    array_filled_anew, functions_of_the_loop, list_that_grows, dict_of_the_last, object_that_moves, changed_after_the_yield,
    first_functions, pairs_of_functions, first_sums, accumulated_lists, mapped_lists, written_between, list_that_got_more,
    generator_over_a_list_that_got_more, list_that_grows_in_the_loop, taken_inside_the_loop, counts_what_it_gives,
    others_after_a_filter, others_after_an_expression, others_after_any, others_after_a_generator_that_skips,
    others_after_a_loop_over_those_dropped, totals_of_a_list_written_meanwhile, totals_of_a_list_written_later,
]  # fmt: skip


@pytest.mark.parametrize("f", NEVER_WRONG, ids=lambda f: f.__name__)
def test_elements_that_change_are_not_taken_too_early(f):
    for x in POINTS:
        judged_in_all_modes(f, x.copy())


def test_an_iterator_whose_end_the_run_decides():
    def f(x):
        def upto(s):
            t = 0.0
            for k in s:
                t = t + k
                if t > 2:
                    return
                yield t

        it = upto([0.5, x])
        try:
            v = next(it)
        except StopIteration:
            v = 3.0
        return v * x

    assert grad(f)(2.0) == 0.5


def test_text_of_known_numbers_is_a_number():
    def f(x):
        n = 2
        return float(f"1e{n}") * x + float(f"{0.25:.2f}") * x + float(str(2.5)) * x + float(format(2.5, ".1f")) * x

    assert grad(f)(2.0) == 105.25
