"""Recursive functions that write into arguments, lists and dicts, or have caches, against Python and differences."""

import functools
import logging

import numpy as np
import pytest

from sourcead import grad, hvp
from sourcead.errors import AliasError, UnsupportedSyntaxError
from tests.semantics import judged_in_all_modes, made
from tests.test_semantics_exceptions import X, agrees

pytestmark = pytest.mark.sampled(3)


def fib(n, q, memo):
    if n not in memo:
        memo[n] = q if n < 2 else fib(n - 1, q, memo) * 0.5 + fib(n - 2, q, memo)
    return memo[n]


def memo(x):
    return fib(4, x[0], {}) * x[1]


def doubled(a, n):
    if n == 0:
        return
    a[n - 1] *= 2
    doubled(a, n - 1)


def array(x):
    a = x * 1.0
    doubled(a, 3)
    return np.sum(a * a)


def collected(n, v, out):
    if n == 0:
        return out
    out.append(v * n)
    return collected(n - 1, v, out)


def list_of_results(x):
    return sum(collected(3, x[0], [])) * x[1]


def nonlocal_name(x):
    total = 0

    def go(n, v):
        nonlocal total
        total = total + v
        if n > 0:
            go(n - 1, v * x[1])

    go(3, x[0])
    return total


def factorial(n):
    return 1 if n == 0 else n * factorial(n - 1)


def integers(x):
    return x[0] * factorial(4)


def moved(n, a, b, c):
    if n == 0:
        return
    moved(n - 1, a, c, b)
    c.append(a.pop())
    moved(n - 1, b, a, c)


def hanoi(x):
    a, b, c = [x[0], x[1], x[2]], [], []
    moved(3, a, b, c)
    return c[0] * 2 + c[1] ** 2 + c[2]


@pytest.mark.parametrize("f", [memo, array, list_of_results, nonlocal_name, integers, hanoi], ids=lambda f: f.__name__)
def test_right(f):
    agrees(f, X)


def twice_the_rest(v):
    if len(v) > 1:
        v[1:] *= 1.1
        twice_the_rest(v[1:])


def parts_of_an_array(x):
    y = x * 1.0
    twice_the_rest(y)
    return np.sum(y * y)


def halved(a):
    if a[0] > 0.1:
        a[0] /= 2
        halved(a)


def depth_of_data(x):
    a = x * 1.0
    halved(a)
    return a @ a


def put_in_order(a, low, high):
    if low >= high:
        return
    pivot, i = a[high], low
    for j in range(low, high):
        if a[j] < pivot:
            a[i], a[j] = a[j], a[i]
            i += 1
    a[i], a[high] = a[high], a[i]
    put_in_order(a, low, i - 1)
    put_in_order(a, i + 1, high)


def quicksort(x):
    a = x * x[0]
    part = a[1:]
    put_in_order(a, 0, len(a) - 1)
    return part @ np.sin(np.arange(len(part))) + a[0]


def quicksort_of_a_part(x):
    a = x * x[0]
    part = a[1:]
    put_in_order(part, 0, len(part) - 1)
    return a @ np.sin(np.arange(len(a))) + part[0]


def quicksort_of_rows(x):
    a = np.outer(np.sin(x * 9), x)
    for row in a:
        put_in_order(row, 0, len(row) - 1)
    return np.sum(a[:, 0] * a[:, 1])


def captured_array(x):
    seen = np.zeros(len(x))

    def visit(k):
        if seen[k] > 0:
            return 0.0
        seen[k] = 1 + x[k] ** 2
        return x[k] + 0.5 * visit((k + 1) % len(x)) + 0.3 * visit((k + 2) % len(x))

    return visit(0) + np.sum(seen)


def two_arrays(x):
    def exchange(a, b, left):
        if left == 0 or a[0] > 50:
            return a[1]
        a[0] += b[1] * 0.3
        b[1] *= a[0]
        return exchange(b, a, left - 1) * 2

    a, b = x * 2.0, np.sin(x)
    return exchange(a, b, 3) + a @ b


@pytest.mark.parametrize("size", [3, 12])
@pytest.mark.parametrize(
    "f", [parts_of_an_array, depth_of_data, quicksort, quicksort_of_a_part, quicksort_of_rows, captured_array, two_arrays],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_arrays_that_are_written_are_returned_too(f, size):
    assert judged_in_all_modes(f, np.sin(np.arange(size) * 2.3) + 1.2) == "right"


def one_array_twice(x):
    def go(a, b):
        if a[0] < 3:
            a[0] += b[1]
            go(b, a)

    a = x * 1.0
    go(a, a)
    return a @ a


def a_row_that_is_in_a_list_too(x):
    def go(a, k):
        if k < 3 and a[0] < 50:
            a[k + 1] += rows[1][k] * 0.5
            go(a, k + 1)

    table, rows = np.outer(x, x), []
    for row in table:
        if row[0] > -9:
            rows.append(row)
    go(table[1], 0)
    return np.sum(table * table)


def list_of_unknown_length(x):
    def go(v, out):
        if v > 0.1:
            out.append(v)
            go(v / 2, out)

    out = []
    go(x[0], out)
    return sum(out)


def list_that_is_sorted(x):
    def sort(values, low, high):
        if low >= high:
            return 0
        at = low
        for k in range(low, high):
            if values[k] < values[high]:
                values[at], values[k] = values[k], values[at]
                at += 1
        values[at], values[high] = values[high], values[at]
        return 1 + sort(values, low, at - 1) + sort(values, at + 1, high)

    values = [v * v for v in x]
    count = sort(values, 0, len(values) - 1)
    return sum(values[i] * i for i in range(len(values))) + count


def lists_that_change_places(x):
    def go(v, ones, others):
        if v > 0.1:
            ones.append(v)
            others.append(v * v)
            go(v / 2, others, ones)

    ones, others = [], [x[1]]
    go(x[0], ones, others)
    return sum(ones) * sum(others)


def one_list_twice(x):
    def go(v, ones, others):
        if v > 0.1:
            ones.append(v)
            others.append(v * v)
            go(v / 2, ones, others)

    both = [x[1]]
    go(x[0], both, both)
    return sum(both) * both[1]


@pytest.mark.parametrize("f", [list_of_unknown_length, list_that_is_sorted, lists_that_change_places], ids=lambda f: f.__name__)
def test_lists_of_numbers_that_recursive_functions_write(f):
    assert judged_in_all_modes(f, np.sin(np.arange(9) * 2.3) + 1.2) == "right"


@pytest.mark.parametrize("f", [one_array_twice, a_row_that_is_in_a_list_too, one_list_twice], ids=lambda f: f.__name__)
def test_other_writes_are_refused_if_no_known_value_bounds_the_depth(f):
    with pytest.raises((AliasError, UnsupportedSyntaxError), match="`go` calls itself and writes into|may share memory"):
        grad(f, verify=False)(0.3 * (np.sin(np.arange(9) * 2.3) + 1.2))  # the run comes to the call


SIZES = {
    "memo": """
        def go(k, kept):
            if k not in kept:
                kept[k] = x[0] if k < 2 else 0.6 * go(k - 1, kept) + x[1] * go(k - 2, kept)
            return kept[k]
        return go(len(x), {})""",
    "cache": """
        @functools.cache
        def go(k):
            return x[k] if k < 2 else x[k] * go(k - 1) + go(k - 2)
        return go(len(x) - 1) * go(1)""",
    "cache of two": """
        a = np.outer(x, x)
        @functools.lru_cache(None)
        def go(i, j):
            return a[i, j] if i == 0 or j == 0 else a[i, j] * 2 + min(go(i - 1, j), go(i, j - 1))
        return go(x.size - 1, a.shape[1] - 1)""",
    "a decorator of the program": """
        def keeping(fn):
            kept = {}
            def inner(*key):
                if key not in kept:
                    kept[key] = fn(*key)
                return kept[key]
            return inner
        @keeping
        def go(i):
            return x[i] if i < 1 else x[i] * go(i - 1)
        return go(len(x) - 1) + go(0)""",
}


@pytest.mark.parametrize("name", SIZES)
def test_the_depth_is_a_size(name):
    f = made(SIZES[name], functools=functools, np=np)
    assert judged_in_all_modes(f, np.array([0.4, 0.7, -0.3, 0.9])) == "right"


class Unit:
    def __init__(self, weight):
        self.weight, self.seen = weight, [weight * 2]

    def __call__(self, value):
        return np.tanh(self.weight * value)


def test_recursion_that_reads_an_object_which_can_be_called():
    def f(x):
        unit = Unit(x)

        def again(value, n=3):
            if n <= 0:
                return value
            value = again(value * 0.5 + 0.1, n - 1) * 0.7
            return value * 0.5 if unit.seen[-1] < 9 else unit(value)

        return again(x) + unit(x)

    assert judged_in_all_modes(f, 0.3) == "right"


def ordered(x):
    places = []
    for i in range(len(x)):
        places.append(i)
    for i in range(len(x)):
        places[i] = x[places[i]]  # integers, in whose places the items come
    return places


class Newton:
    """The table of Newton's divided differences."""

    def __init__(self, xs, ys):
        self.xs, self.ys, self.table = xs, ordered(ys), []
        for i in range(len(xs)):
            self.table.append(self.difference(0, i))

    def difference(self, a, b):
        if a == b:
            return self.ys[a]
        return (self.difference(a, b - 1) - self.difference(a + 1, b)) / (self.xs[a] - self.xs[b])


def test_a_list_of_what_a_method_calculates_from_the_other_items():
    assert judged_in_all_modes(lambda x: sum(Newton([1.0, 2.0, 3.5], list(x)).table), np.array([0.4, 0.7, -0.3])) == "right"


def test_functions_of_a_text_read_different_objects_of_one_name():
    loud, quiet = logging.getLogger("loud"), logging.getLogger("quiet")

    def halved(x, n):
        loud.debug("%s", n)
        return x if n <= 0 else np.sin(halved(x * 0.5, n - 1))

    def thirds(x, n):
        quiet.debug("%s", n)
        return x if n <= 0 else np.cos(thirds(x / 3, n - 1))

    assert judged_in_all_modes(lambda x: halved(x[0], int(3 + x[1])) * thirds(x[1], int(2 + x[0])), np.array([0.4, 0.7])) == "right"


def times(k):
    return lambda v: v * k


def a_function_of_another_scope(x):
    k = 5.0

    def applied(n, h):
        return k * x[1] if n <= 0 else h(applied(n - 1, h))

    return applied(int(x[2] * 9), times(x[0]))


def a_function_of_another_scope_around_it(x):
    k = 5.0
    h = times(x[0])

    def applied(n):
        return k * x[1] if n <= 0 else h(applied(n - 1))

    return applied(int(x[2] * 9))


def twice(h):
    return lambda v: h(h(v))


def lambdas_in_lambdas(x):
    return twice(twice(lambda v: v * x[0]))(x[1])


def power(n):
    return (lambda v: 1.0) if n == 0 else (lambda v, rest=power(n - 1): v * rest(v))  # noqa: B008


def lambdas_as_defaults(x):
    return power(3)(x[0]) * x[1]


@pytest.mark.parametrize("f", [a_function_of_another_scope, a_function_of_another_scope_around_it])
def test_names_of_functions_of_other_scopes_are_theirs(f):
    assert judged_in_all_modes(f, np.array(X)) in ("refused", "right")


@pytest.mark.parametrize("f", [lambdas_in_lambdas, lambdas_as_defaults])
def test_lambdas_that_call_themselves_of_other_scopes(f):
    assert judged_in_all_modes(f, np.array(X)) == "right"


def even_steps(v, n):
    if n <= 0:
        return v
    return odd_steps(v * 1.1, n) + even_steps(v * 0.5, n - 1)


def odd_steps(v, n):
    if n > 5:
        return odd_steps(v * 0.9, n - 1)
    if v > 100.0:
        return v * v
    return even_steps(v * v + 0.3, n - 1) * 0.5


def each_calls_both(x):
    return even_steps(x[0], int(x[2] * 3 + 0.5)) * odd_steps(x[1], 7) + odd_steps(x[0], 2) + even_steps(x[1], 2)


def test_functions_that_call_themselves_and_each_other_have_all_their_branches():
    assert judged_in_all_modes(each_calls_both, np.array(X)) == "right"


def checked_series(v, n):
    if v < 0:
        raise ValueError("v is negative")
    return v if n <= 0 else v * checked_series(v * 0.5, n - 1)


def of_recursion_that_raises(x):
    return checked_series(x[0], int(x[2] * 3 + 0.5)) * x[1]


def test_second_derivatives_of_recursion_that_may_raise():
    x, v = np.array(X), np.ones(len(X))
    rows = [grad(of_recursion_that_raises)(x + h * v) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(hvp(of_recursion_that_raises)(x, v), (rows[0] - rows[1]) / 2e-5, rtol=1e-6, atol=1e-8)
