"""Lists and dicts that an iteration hands to the next under the same name, as in `xs = grown(xs, v)` and in methods that return `self`."""

import numpy as np
import pytest

from sourcead import SourceADError, check_grads, grad


def grown(items, item):
    items.append(item)
    return items


def put(items, key, value):
    items[key] = items.get(key, 0.0) + value
    return items


class Log:
    def __init__(self):
        self.items, self.count = [], 0

    def push(self, item):
        self.items.append(item)
        self.count += 1
        return self

    def total(self):
        return sum(i * item for i, item in enumerate(self.items, 1))


def itself(x, n):
    items = []
    for i in range(n):
        items.append(x * i)
        items = items
    return sum(items) * len(items)


def on_one_side(x, n):
    items = []
    for i in range(n):
        if i % 2:
            items = grown(items, x * i)
        else:
            items = items + [x**2]
    return sum(i * item for i, item in enumerate(items))


def exchanged(x, n):
    one, other = [], [x]
    for i in range(n):
        one = grown(one, x * i)
        one, other = other, one
    return sum(one) + 2 * sum(other)


def fluent(x, n):
    log = Log()
    while log.count < n:
        log = log.push(x**log.count)
    return log.total()


def fluent_on_one_side(x, n):
    log = Log()
    for i in range(n):
        log = log.push(x * i) if i % 3 else log
    return log.total() + x


def dict_handed_on(x, n):
    items = {}
    for i in range(n + 1):
        items = put(items, i % 2, x * (i + 1))
    return items[0] * items[1]


def started_anew(x, n):
    items = []
    for i in range(n):
        items = grown(items, x * i)
        if i == 2:
            items = [x]
    return sum(i * item for i, item in enumerate(items, 1))


def in_a_tuple(x, n):
    pair = ([], x)
    for i in range(n):
        pair = (grown(pair[0], pair[1] * i), pair[1] * 1.1)
    return sum(pair[0]) * pair[1]


def nested(x, n):
    rows = []
    for i in range(n):
        row = []
        for j in range(i + 1):
            row = grown(row, x * j)
        rows = grown(rows, row)
    return sum(sum(row) * len(row) for row in rows)


def read_under_another_name(x, n):
    items = []
    for i in range(n):
        old = items
        items = grown(items, x * i)
        x = x + len(old) * 0.1 + old[-1]
    return sum(items) + x


@pytest.mark.parametrize("f", [
    itself, on_one_side, exchanged, fluent, fluent_on_one_side, dict_handed_on, started_anew, in_a_tuple, nested, read_under_another_name,
])  # fmt: skip
def test_what_an_iteration_hands_on_is_followed(f):
    for n in (1, 3, 4):
        check_grads(f, (0.7, n))


def second_name(x, n):
    items = []
    same = items
    for i in range(n):
        items = grown(items, x * i)
    return sum(same) * len(same) + sum(items)


def in_a_list(x, n):
    log = Log()
    logs = [log]
    for i in range(n):
        log = log.push(x * i)
    return logs[0].total()


def written_elsewhere(x, n):
    items = [np.array([x, x])]
    for _ in range(n):
        items = grown(items, items[-1] * x)
        items[0][0] = 5.0 * x
    return sum(np.sum(item) for item in items)


@pytest.mark.parametrize("f", [second_name, in_a_list, written_elsewhere])
def test_what_has_a_second_name_is_right_or_refused(f):
    try:
        found = grad(f)(0.7, 3)
    except SourceADError as error:
        assert "memory" in str(error) or "several times" in str(error)
        return
    assert found == pytest.approx((f(0.7 + 1e-6, 3) - f(0.7 - 1e-6, 3)) / 2e-6)
