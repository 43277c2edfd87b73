"""Patterns of `match` for values that are None, a number, a text or a tuple, as the run decides."""

# ruff: noqa: F841  (names that a pattern captures)

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(2)


def a_number_or_none(x, w):
    match w if x[0] > 0 else None:
        case [a, *b]:
            return a
        case float() as a:
            return a**2
        case None:
            return x[1]


def none_first(x, w):
    match w if x[0] > 0 else None:
        case None:
            return x[1] * 3
        case (a, b):
            return a
        case float(a):
            return a**2
        case _:
            return 0.3


def a_number_of_a_loop_or_none(x, w):
    v = None
    for q in x:
        if q > 0:
            v = q * w
    match v:
        case {"a": a}:
            return a
        case [a]:
            return a
        case None:
            return w
        case float(a) if a > 0.3:
            return a**2
        case float(a):
            return a * 3
        case np.float64():
            return v
    return 0.1


def a_float_or_an_integer(x, w):
    match w if x[0] > 0 else 3:
        case int():
            return x[1]
        case float(a):
            return a * x[2]


def a_number_or_a_text(x, w):
    match w if x[0] > 0 else "t":
        case str():
            return x[1]
        case float(a):
            return a * x[2]


def one_of_two_classes(x, w):
    match w if x[0] > 0 else None:
        case int() | float() as a:
            return x[1] * a
        case _:
            return w * 2


def a_tuple_or_none(x, w):
    match (w, "t") if x[0] > 0 else None:
        case (a, "t"):
            return x[1] * a
        case _:
            return w * 2


def no_array(x, w):
    match x[1] if x[0] > 0 else None:
        case np.ndarray():
            return w * 2
        case float() as a:
            return a * 3
        case _:
            return w


def in_a_loop(x, w):
    r = 0.0
    for q in x:
        match q if q > 0 else None:
            case None:
                continue
            case float(a) if a > 1.5:
                break
            case float(a):
                r += a * w
    return r


def the_best_of_a_loop(x, w):
    best = None
    for i, q in enumerate(x):
        if q > 0 and (best is None or q > best[0]):
            best = (q, i)
    match best:
        case (q, 0):
            return q * w
        case (q, i) if i > 2:
            return q * w * i
        case (a, b, c):
            return 0.0
        case [_, i]:
            return i * w**2
        case None:
            return w**3


def nested(x, w):
    best = None
    for i, q in enumerate(x):
        if q > 0:
            best = (q, (i, q * w))
    match best:
        case (q, (i, r)):
            return q * r
        case None:
            return w**3


def matched_in_a_loop(x, w):
    best = None
    for q in x:
        match best:
            case None:
                best = (q, w)
            case (a, b) if q > a:
                best = (q, b * a)
            case (a, b):
                w = w + b
    match best:
        case (a, *rest):
            return a * w + sum(rest)
        case _:
            return 0.0


def tuples_with_texts(x, w):
    match ("p", w) if x[0] > 0 else ("m", x[1]) if x[1] > 0 else None:
        case ("p", v):
            return v * 2
        case ("m", v):
            return v * w
        case None:
            return w**2


PROGRAMS = [
    a_number_or_none, none_first, a_number_of_a_loop_or_none, a_float_or_an_integer, a_number_or_a_text, one_of_two_classes,
    a_tuple_or_none, no_array, in_a_loop, the_best_of_a_loop, nested, matched_in_a_loop, tuples_with_texts,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_patterns_of_optional_values(program):
    def f(x):
        return program(x[:5], x[5])

    for x in (
        [0.3, 0.5, 1.0, 2.0, 3.0],
        [-0.3, 0.5, -1.0, 0.2, 0.3],
        [0.3, -0.5, -1.0, -0.2, -0.3],
        [-0.3, -0.5, -1.0, -0.2, -0.3],
    ):
        assert judged_in_all_modes(f, np.array([*x, 0.5])) == "right"
