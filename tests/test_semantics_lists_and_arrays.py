"""Lists and tuples beside NumPy: augmented assignment stores what it makes, an operator of an array comes before that of a list, and
NumPy makes an array of a tuple whose length is known only at run time."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes, made

pytestmark = pytest.mark.sampled(3)

TABLE = np.array([1.0, 2.0, 4.0])
X = np.array([1.0, 2.5, 4.0])
B = [0.3, 0.2, 0.7]


class Box:
    def __init__(self, items):
        self.items, self.writes = items, 1.0

    def __getitem__(self, i):
        return self.items[i]

    def __setitem__(self, i, value):
        self.items[i] = value
        self.writes *= 2.0


def halves(x):
    for item in x:
        yield item * 0.5


# -- augmented assignment ------------------------------------------------------------------------------------------------


def slice_grows(x, b):
    b[1:] += [x[0], x[1]]
    return b[0] + 2 * b[1] + 3 * b[3] * b[4]


def slice_grows_in_loop(x, b):
    for i in range(2):
        b[1:2] += [x[i]]
    return b[0] * b[1] * b[2] + b[-1] * b[-2]


def slice_grows_in_branch(x, b):
    if x[0] > 0:
        b[1:] += [x[1]]
    return sum(b) * b[-1]


def slice_repeats(x, b):
    c = [x[0], *b]
    c[:2] *= 2
    return sum(c) + c[2] * c[1]


def slice_of_arrays(x, b):
    c = [x, x * 2]
    c[0] += 1
    c[:1] += [x * 3]
    return sum(np.sum(v) for v in c) * np.sum(c[1])


def setter_of_items(x, b):
    box = Box([x, x * 2])
    box[0] += 1
    return sum(box[0]) * box.writes


def array_added(x, b):
    b += x
    return b[1] * b[0]


def array_added_to_slice(x, b):
    b[:] += x
    return b[1] * b[0] + len(b)


def array_added_to_another_name(x, b):
    y = b
    y += x
    return sum(b) * y[0]


def array_added_in_dict(x, b):
    d = {"k": b}
    d["k"] += x
    return np.sum(d["k"] ** 2)


def array_of_module_added(x, b):
    b = [x[0], *b[1:]]
    b += TABLE
    return b[1] * b[0] * x[0]


def array_multiplied(x, b):
    b *= x
    return b[1] * b[0]


def number_of_numpy_added(x, b):
    b += x[1]
    return np.sum(b * b)


def number_of_numpy_subtracted(x, b):
    b -= np.float64(2.0) * x[0]
    return np.sum(b * b)


def other_iterables_added(x, b):
    c = []
    for v in x:
        c += (v, v * v)
    c += {"a": 1.0}.values()
    c += (q for q in b)
    return sum(c) * c[0]


# -- operators and functions of NumPy ---------------------------------------------------------------------------------------


def number_minus_list(x, b):
    c = x[0] - b
    return np.sum(c * c)


def power_of_list(x, b):
    c = np.abs(np.sin(x[0])) ** b
    return np.sum(c * c)


def tuple_by_number(x, b):
    c = tuple(b) / x[0]
    return np.sum(c * c)


def function_of_tuple(x, b):
    return np.prod(np.cos(tuple(halves(x))))


def norm_of_tuple(x, b):
    u = tuple([r * 2 for r in x])
    return np.dot(u, x) + np.max(u) + np.linalg.norm(u)


def functions_of_tuple(x, b):
    u = tuple([r * 2 for r in x])
    return np.sum(np.where(x > 2, u, x) * np.arctan(u) * np.abs(u)) + np.mean(u) ** 2


def operators_of_tuple(x, b):
    u = tuple([r * 2 for r in x])
    return np.sum(x - u) * np.sum(u * x)


def tuple_of_loop(x, b):
    for _ in range(2):
        u = tuple([r * 2 for r in x])
    return np.sum(np.cos(u))


def loops_over_tuple(x, b):
    u, total = tuple(halves(x)), 0.0
    for v in u:
        total = total * 0.5 + v
    return total + sum(v * w for v, w in zip(u, x)) * u[0] + len(u)


def builtins_of_tuple(x, b):
    u = tuple(halves(x))
    return max(u) * min(u) + sorted(u)[1] + sum(reversed(u)) + sum([*u, 1.0]) * list(u)[1] + sum(u[1:])


def tuple_of_tuple(x, b):
    u, i = tuple(halves(x)), 0
    while i < 2:
        u, i = tuple(v * 2 for v in u), i + 1
    return np.sum(np.cos(u)) * u[0]


def parts_replaced_by_numbers(x, b):
    parts = np.split(x, [1])
    parts[0], parts[1] = parts[1] * 1.0
    return parts[int(b[0]) % 2] ** 2


def parts_replaced_by_rows(x, b):
    parts = np.split(x, [1])
    parts[:] = np.mean((parts[1], parts[1]), 0)
    return sum(parts) * parts[0]


def function_of_list_of_unknown(x, b):
    for y, q in zip(x, [*x, 0.5]):
        last = y * q
    rows = [[last, 2], x]
    return np.sum(np.cos(rows[0]))


def no_place_of_list(x, b):
    z = [x[0]]
    try:
        z[...] = x
    except TypeError:
        z = z * 2
    try:
        z = z * 1.5
    except TypeError:
        z[0] *= x[1]
    return z[0] ** 2 + z[1]


PROGRAMS = [
    slice_grows, slice_grows_in_loop, slice_grows_in_branch, slice_repeats, slice_of_arrays, setter_of_items, array_added,
    array_added_to_slice, array_added_to_another_name, array_added_in_dict, array_of_module_added, array_multiplied,
    number_of_numpy_added, number_of_numpy_subtracted, other_iterables_added, number_minus_list, power_of_list, tuple_by_number,
    function_of_tuple, norm_of_tuple, functions_of_tuple, operators_of_tuple, tuple_of_loop,
    loops_over_tuple, builtins_of_tuple, tuple_of_tuple, parts_replaced_by_numbers, parts_replaced_by_rows,
    function_of_list_of_unknown, no_place_of_list,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(program):
    assert judged_in_all_modes(program, X, B) == "right"


# -- a name that is an array or a list as the program runs -------------------------------------------------------------------

USES = ["np.sum(w)", "np.inner(w, w)", "np.max(w)", "np.cumsum(w)[-1]", "np.multiply(w, w).sum()", "np.dot(w[1:], w[1:])", "np.tanh(w)[0]"]
WAYS = {
    "branch": """
        w = x
        if x[0] > 0.1:
            w = [x[0], x[1], x[2] * 2]
        return {use}
    """,
    "loop": """
        w = x
        for _ in range(2):
            w = [{use}, *x]
        return w[1] + w[0]
    """,
    "while": """
        w, k = x, 0
        while k < 3:
            s = {use}
            w = [s, s * w[1], x[0]] if k % 2 else x * s
            k += 1
        return s
    """,
    "rows": """
        rows = [x, [x[0], x[1] * 2, x[2]], (x[0], x[1], x[1])]
        s = 0.0
        for w in rows:
            s = s + {use}
        return s
    """,
    "by place": """
        rows = [x, [x[0], x[1] * 2, x[2]]]
        w = rows[int(x[0] > 0.1)]
        return {use}
    """,
    "callee": """
        def g(w):
            return {use}
        d = dict(a=x, b=[x[0], x[1], x[2] * 5])
        return sum(g(q) for q in d.values())
    """,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("way", WAYS)
def test_an_array_or_a_list(way, use):
    f = made(WAYS[way].replace("{use}", use), np=np)
    assert judged_in_all_modes(f, np.array([0.5, 0.75, 0.25])) == "right"


def with_first_again(data, axis=-1):
    """Return data with the first element along the last axis at its end, by functions that suit masked arrays too."""
    library = np.ma if np.ma.is_masked(data) else np
    return library.concatenate((data, data[..., :1]), axis=axis)


PLAIN = {
    "differentiated": lambda x: with_first_again(x) ** 2,
    "constant": lambda x: with_first_again(np.array([1.0, 2.0, 3.0])) * with_first_again(x),
    "made": lambda x: with_first_again(np.outer(x, x)),
    "a list": lambda x: x[0] if np.ma.isMaskedArray([x[1], x[2]]) else with_first_again(x),
}


@pytest.mark.parametrize("found", PLAIN.values(), ids=PLAIN)
def test_arrays_are_not_masked(found):
    assert judged_in_all_modes(lambda x: np.sum(found(x)), np.array([0.5, 0.75, 0.25])) == "right"


def record_behind_numbers(x):
    parts = x.tolist()
    x[0] = 5.0
    parts += [Box([x[0], x[1]])]
    return parts[-1].items[1] * parts[0] + parts[1] * (2.0 if type(parts[1]) is float else 3.0) + x[0]


def dict_behind_rows(x):
    rows = np.outer(x, x).tolist()
    rows.append({"a": x[0]})
    rows[0][1] = 3.0
    return rows[-1]["a"] * rows[0][0] + rows[1][2] + rows[0][1] * x[2]


@pytest.mark.parametrize("f", [record_behind_numbers, dict_behind_rows])
def test_tolist_gives_a_list_that_may_hold_other_kinds(f):
    assert judged_in_all_modes(f, X) == "right"
