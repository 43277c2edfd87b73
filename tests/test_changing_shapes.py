"""Arrays that have another shape in each iteration: what is known of a part holds in one iteration alone."""

import numpy as np
import pytest

from sourcead import check_grads
from tests.semantics import judged_in_all_modes, made

pytestmark = pytest.mark.sampled(3)


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


# -- the items of a list need not be of one size -----------------------------------------------------------------------------

OF_SEVERAL_SIZES = {
    "sorted": """
        e = sorted([x[:3], x[2:], x[1:6]], key=np.sum)
        for q in e:
            a = q
        return np.sum(a * a)
    """,
    "pairs": """
        c = list(enumerate([x[:4] * x[4], x[4:] * 2]))
        k = int(x[0] > 0)
        return np.sum(c[k][1] ** 2) + c[0][1][2] * c[1][1][1]
    """,
    "popped": """
        c = [x[:3] * 2, x[3:] * x[0]]
        s = 0.0
        while c:
            m = c.pop(0)
            s = s + np.sum(m * m)
        return s + np.sum(m)
    """,
    "branch": """
        w = x[:3] if x[0] > 0.1 else x[2:]
        rows = [w, w * 2]
        v = rows[int(x[0] > 0)]
        return np.sum(v * rows[0])
    """,
    "grows": """
        rows, w = [], x
        for k in range(3):
            w = np.append(w, x[k])
            rows.append(w)
        i = int(x[0] > 0)
        return np.sum(rows[i] ** 2) + rows[0][-1] * rows[2][-2]
    """,
    "shrinks": """
        rows, w = [], x
        for k in range(3):
            w = w[1:] * x[0]
            rows.append((k, w))
        last = rows[0][1]
        for k, r in rows:
            last = r
        i = int(x[0] > 0)
        return np.sum(rows[i][1] ** 2) + np.sum(last)
    """,
    "dict": """
        d = {"a": x[:3], "b": x[2:], "c": x}
        for k, v in d.items():
            last = v
        return np.sum(last ** 2) + sum(np.sum(v * v) for v in d.values())
    """,
    "nested": """
        rows = [[x[:3], x[3:]], [x[1:], x[:2]]]
        s = 0.0
        for r in rows:
            for q in r:
                s = s + np.sum(q * q)
                last = q
        i = int(x[0] > 0)
        return s + np.sum(last * 3) + np.sum(rows[i][1 - i] ** 3)
    """,
    "previous": """
        s, before = 0.0, x[:2]
        for q in [x[:3], x[2:], x]:
            s = s + np.sum(before * 3) * q[0]
            before = q
        return s + np.sum(before)
    """,
    "swapped": """
        a, b = x[:3], x[2:]
        for _ in range(3):
            a, b = b * x[0], a
        return np.sum(a) + np.sum(b * b)
    """,
    "records": """
        rows = [dict(v=x[:3], k=1.0), dict(v=x[2:], k=2.0)]
        i = int(x[0] > 0)
        for r in rows:
            last = r["v"] * r["k"]
        return np.sum(rows[i]["v"] ** 2) + np.sum(last ** 2)
    """,
}


@pytest.mark.parametrize("size", [7, 12])
@pytest.mark.parametrize("program", OF_SEVERAL_SIZES)
def test_items_of_several_sizes(program, size):
    assert judged_in_all_modes(made(OF_SEVERAL_SIZES[program], np=np), np.linspace(0.3, 0.9, size)) == "right"


def previous_of_another_shape(x):
    u, k = x[1:], 3
    while True:
        k = k - 1
        if not k:
            u = x[:1]
            break
        c = u
        u = u + 0
    c = c**2
    return np.sum(c)


def shorter_each_time(x):
    parts = {"now": x, "before": x}
    for _ in range(3):
        parts["before"] = parts["now"]
        parts["now"] = parts["now"][1:]
    return np.sum(parts["before"] ** 2) + np.sum(parts["now"])


@pytest.mark.parametrize("size", [5, 12])
@pytest.mark.parametrize("f", [previous_of_another_shape, shorter_each_time])
def test_value_of_the_iteration_before_has_a_size_of_its_own(f, size):
    assert judged_in_all_modes(f, np.linspace(0.3, 0.9, size)) == "right"
