"""What a name holds after a branch: one object or another, or things of two kinds, each with what the program does to it afterwards."""

import numpy as np
import pytest

from sourcead import value_and_grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

G = np.array([1.0, 2.0, 3.0])
X = np.array([0.6, -1.2, 2.0])


def one_of_two_arrays_is_written(x):
    a = x.copy()
    b = a if x[0] > 0 else x.copy()
    b[0] = 7.0 * x[1]
    return a @ G + b[0]


def an_array_or_another_in_an_if(x):
    a = x.copy()
    if x[0] > 0:
        b = a
    else:
        b = a * 2
    b[0] = 7.0 * x[1]
    a[1] *= 3
    return np.sum(a * G * b) + b[1]


def one_of_two_lists_grows(x):
    found = [x[0], x[1]]
    m = found if x[0] > 9 else [x[2]]
    m.append(x[1])
    return sum(found) * len(m) + m[-1]


def object_or_none(x):
    class A:
        def __init__(self):
            self.t = 0.0
    a = A() if x[0] > 0 else None
    if a is not None:
        a.t += x[1]
    return a.t * x[2] if a else x[1]


def function_or_none(x):
    f = None
    if x[0] > 0:
        f = lambda t: t * x[1]
    if f is None:
        return x[2]
    return f(x[2])


def number_or_list(x):
    v = x[0]
    if x[1] < 0:
        v = [x[1], x[2]]
    if isinstance(v, list):
        v = sum(v)
    return v * x[0]


def map_or_generator(x):
    m = map(np.sin, x) if x[0] > 0 else (t + 1 for t in x)
    return sum(m)


def in_each_iteration(x):
    s = 0.0
    for i in range(3):
        a = x.copy()
        b = a if x[i] > 0 else x * 2
        b[0] = x[i] * 2
        s += a @ G + b @ G
    return s


def in_a_function_called_twice(x):
    def pick(a, c):
        b = a if c else a.copy()
        b[1] = x[2] * 5
        return np.sum(a) + b[1]
    a = x * 1.0
    r = pick(a, x[0] > 0)
    return r * a[1] + pick(a, x[1] > 0)


def one_of_two_dicts(x):
    d = {"a": x[0]}
    if x[0] > 0:
        e = d
    else:
        e = {"a": x[1], "b": x[2]}
    e["a"] = x[1] * x[2]
    e["c"] = 2.0
    return sum(e.values()) * d["a"]


def left_by_a_loop(x):
    a = x.copy()
    for i in range(3):
        if x[i] > 0:
            b = a
        else:
            b = x.copy()
    b[0] = 7.0 * x[1]
    return a @ G


def in_a_with(x):
    with np.errstate(all="ignore"):
        a = x.copy()
        b = a if x[0] > 0 else x.copy()
        b[0] = 7.0 * x[1]
        s = a @ G
    return s * b[0]


def inside_a_branch(x):
    if x[2] > 0:
        a = x.copy()
        if x[0] > 0:
            b = a
        else:
            b = x.copy()
        b[0] = 7.0 * x[1]
    else:
        a = b = x * 2
    return a @ G * b[1]


def branch_in_a_branch(x):
    a = x.copy()
    if x[2] > 0:
        if x[0] > 0:
            b = a
        else:
            b = x.copy()
    else:
        b = x * 2
    b[0] = 7.0 * x[1]
    return a @ G * b[1]


def pairs_exchanged(x):
    a = x.copy()
    b, c = (a, x.copy()) if x[0] > 0 else (x.copy(), a)
    b[0] = 7.0 * x[1]
    c[1] *= 4
    return a @ G * b[1] + c @ c


def views_of_either(x):
    a = x.copy()
    b = a if x[0] > 0 else x.copy()
    c = b if x[1] > 0 else x * 3
    d = c[1:] if x[2] > 0 else a
    d[0] = 7.0 * x[1]
    c[1] *= 4
    return a @ G * b[1] + c @ c + np.sum(d)


def left_to_a_function(x):
    def scale(a, by):
        a *= by
        return a

    a = x * 1.0
    b = x * 3 if x[2] > 0 else a
    c = scale(b, x[1])
    c[0] += x[2]
    return a @ G + b @ b + c[0]


def with_a_return_between(x):
    a = x * 1.0
    b = a if x[0] > 0 else a[::-1]
    if x[1] > 0:
        return b @ G
    b[0] *= x[2]
    return a @ a + b @ G


def raised_between(x):
    a = x * 1.0
    b = a if x[0] > 0 else a[::-1]
    try:
        if x[1] < 0:
            raise ValueError
        b[0] = 1.0
    except ValueError:
        b[1] = x[2] * 2
    return a @ G


def broken_off(x):
    a = x * 1.0
    s = 0.0
    for v in x:
        b = a if v > 0 else x * 2
        b[0] += v
        if v > 1:
            break
        s += b @ a
    return s + a @ G


def base_bound_anew(x):
    y = x * 2
    if x[0] < 9.5:
        a = y[1:]
        y = y + 1
    y[1] = x[2]
    return np.sum(y * y) * a[0]


def one_of_two_views(x):
    y = x * 2
    a = y[1:] if x[0] < 0.5 else y[:2]
    y[2] = 5.0 * x[1]
    return np.sum(y * y) * a[1]


def read_after_a_branch(x):
    z = (x, x[1]) if x[0] > 0 else x
    return np.sum(z[0])


def identity_after_a_branch(x):
    w = [x, x[1]]
    z = w if x[0] > 0 else x
    return (1.0 if z is w else 2.0) * x.sum()


class Track:
    def __init__(self, p):
        self.p, self.seen = p, []

    def step(self, v):
        self.seen.append(self.p)
        self.p = self.p * 0.9 + v


def one_of_two_objects_that_keep_a_list(x):
    a = Track(x[0])
    b = a if x[1] > 0 else Track(x[2])
    for v in x:
        b.step(v)
    return a.p * b.p + sum(a.seen)


def test_text_of_a_list_that_is_empty_on_one_side_has_no_empty_comment_and_no_loop_over_nothing():
    text = value_and_grad(one_of_two_objects_that_keep_a_list).lower(X).text
    assert "" not in text.strip().split("\n")
    assert "range(0)" not in text


def bound_on_one_side_alone(x):
    z = x.copy()
    if x[0] != 9:
        e = z[1:]
    z *= 0.64
    return np.sum(e**2) * 2


def in_a_tuple_of_one_side(x):
    if x[0] > 5:
        c = 1
    else:
        b = x * G
        c = (x, b)
        b[0] += 1.0
    b[2] *= x[0]
    return np.sum(c[1] * c[0])


CASES = (
    one_of_two_arrays_is_written, an_array_or_another_in_an_if, one_of_two_lists_grows, object_or_none, function_or_none, number_or_list,
    map_or_generator, in_each_iteration, in_a_function_called_twice, one_of_two_dicts, in_a_with, inside_a_branch, branch_in_a_branch,
    pairs_exchanged, views_of_either, left_to_a_function, with_a_return_between, raised_between, broken_off,
    base_bound_anew, one_of_two_views, read_after_a_branch, identity_after_a_branch,
    one_of_two_objects_that_keep_a_list, bound_on_one_side_alone, in_a_tuple_of_one_side,
    left_by_a_loop,
)  # fmt: skip


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [X, -X], ids=["one_side", "the_other"])
def test_what_differs_between_the_sides_of_a_branch(f, x):
    assert judged_in_all_modes(f, x) == "right"
