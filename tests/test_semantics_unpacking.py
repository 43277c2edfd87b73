"""Unpacking and patterns of values whose length or keys the run decides, against Python and differences."""

import numpy as np
import pytest

from sourcead import check_grads, grad
from tests.semantics import judged_in_all_modes
from tests.test_semantics_exceptions import X, agrees


def parts(v):
    yield v[0]
    yield from v[1:]


def generator_into_names(x):
    a, b, c = parts(x)
    return a * b + c


def generator_into_rest(x):
    a, *b = parts(x)
    return a * b[0] + b[-1] * len(b)


def list_into_names(x):
    a, b = [v for v in x if v > 0.5]
    return a * b


def rest_of_dict(x):
    match {"a": x[0], "b": x[1], "c": x[2]}:
        case {"z": q}:
            return q
        case {"b": q, **rest}:
            return q * rest["a"] * len(rest)


def list_by_length(x):
    match [v for v in x if v > 0.5]:
        case [a]:
            return a
        case [a, b]:
            return a * b
    return x[0]


def list_with_rest(x):
    match [v for v in x if v > 0.2]:
        case [_]:
            return x[1]
        case [a, *b, c]:
            return a * b[0] * c * len(b)
    return x[0]


def value_in_list(x):
    match [k for k in range(3) if x[k] > 0.5]:
        case [2, k]:
            return x[k]
        case [1, k]:
            return x[k] * x[0]
    return x[0]


def names_of_the_alternative_that_matches(x):
    total = 0.0
    for k in range(3):
        match (k, x[k] * x[2]):
            case (0, v) | (v, 1):
                total += v * x[0]
            case (u, v):
                total += v * v + u
    match (1, x[1]):
        case (1, a) | (a, 1):
            total += a * a
    match [x[0], [1, x[2]]]:
        case [a, [2, b] | [1, b] | [b, 1]]:
            return total * a * b


RIGHT = [
    names_of_the_alternative_that_matches, generator_into_names, generator_into_rest, list_into_names, rest_of_dict, list_by_length,
    list_with_rest, value_in_list,
]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_right(f):
    agrees(f, X)


def too_few(x):
    a, b = [v for v in x if v > 0.9]
    return a * b


def too_many(x):
    a, b = [v for v in x if v > 0.1]
    return a * b


@pytest.mark.parametrize("f", [too_few, too_many])
def test_a_wrong_number_of_values_raises(f):
    with pytest.raises(ValueError, match="2 values to unpack"):
        grad(f, verify=False)(np.array(X))


def wrong_count_handled(x):
    try:
        a, b = x
    except ValueError:
        a = 1.5
    return a * x[0]


def wrong_count_in_a_loop(x):
    try:
        for a, b in [x, x]:
            r = a
    except ValueError:
        r = 2.5
    return r * x[0]


@pytest.mark.parametrize("n", [2, 3, 12])
@pytest.mark.parametrize("f", [wrong_count_handled, wrong_count_in_a_loop])
def test_a_wrong_number_of_elements_is_handled(f, n):
    assert judged_in_all_modes(f, np.linspace(0.5, 2.0, n)) == ("right" if n < 8 else "refused")  # a longer array has any length


def three_of(size):
    """Return three sizes, which are given one by one or as one number for all."""
    try:
        across, along, up = size
    except TypeError:
        across = along = up = size
    return across * along + up


def drawn_as_a_list(value):
    try:
        found = list(value)
    except TypeError:
        found = [value, 2.0]
    return found[0] * found[1]


def starred(value):
    try:
        (first, *rest) = value
    except TypeError:
        first, rest = value**2, []
    return first * (len(rest) + 1)


NUMBERS = {
    "an argument": lambda x: three_of(x),
    "an element": lambda x: three_of(x * 3) + three_of((x, 2.0, x**2)),
    "a known number": lambda x: three_of(2) * x,
    "a sum": lambda x: drawn_as_a_list(np.sum(np.array([x, 1.0]))) + drawn_as_a_list((x, 3.0)),
    "with a star": lambda x: starred(x) + starred([x, x]),
}


@pytest.mark.parametrize("f", NUMBERS.values(), ids=NUMBERS)
def test_a_number_has_no_items(f):
    assert judged_in_all_modes(f, 1.3) == "right"


def test_unpacking_a_number_is_refused_as_that():
    def f(x):
        a, b = x
        return a * b

    with pytest.raises(TypeError, match="a number has no items"):
        grad(f)(1.5)


def from_a_comprehension(w, x):
    q, k, v = [w[i] @ x for i in range(3)]
    return np.sum(q * np.tanh(k) * v)


def from_a_generator(w, x):
    rows = (row @ x for row in w)
    q, k, v = rows
    return np.sum(q * np.tanh(k) * v)


def from_a_map(w, x):
    q, k, v = map(lambda row: row @ x, w)  # noqa: C417
    return np.sum(q * np.tanh(k) * v)


def from_a_list(w, x):
    rows = [row @ x for row in w]
    q, k, v = rows
    return np.sum(q * np.tanh(k) * v)


@pytest.mark.parametrize("f", [from_a_comprehension, from_a_generator, from_a_map, from_a_list])
def test_items_that_are_as_many_as_the_names(f):
    rng = np.random.default_rng(0)
    args = rng.normal(size=(3, 9, 9)), rng.normal(size=9)
    check_grads(f, args, wrt=(0, 1))
    text = grad(f).lower(*args).text
    assert "to unpack" not in text and ("for " in text.replace("for row in w", "")) == (f is from_a_list)
    with pytest.raises(ValueError):
        grad(f)(rng.normal(size=(4, 9, 9)), args[1]) if f is not from_a_comprehension else grad(f)(args[0], rng.normal(size=8))


def rest_of_a_set(x):
    *a, b = {len(x), 5}
    return x[0] * b + len(a) * x[1] + a[0] * x[2]


def rest_of_the_keys(x):
    found = {}
    for i in range(3):
        found[f"k{i}"] = x[i]
    first, *others = found
    return found[first] * x[1] + found[others[-1]]


@pytest.mark.parametrize("f", [rest_of_a_set, rest_of_the_keys])
def test_sets_and_keys_are_unpacked_into_a_starred_name(f):
    assert judged_in_all_modes(f, np.array([0.7, -0.4, 1.3])) == "right"
