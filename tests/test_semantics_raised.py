"""Exceptions that a statement in a branch or loop raises for sure, and a `try` around it handles."""

import inspect

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes


def raises_in_a_branch(x):
    alt = np.abs(x)
    inside = alt > 1
    try:
        if inside.any():
            alt[inside] = -alt[inside]
    except (TypeError, AttributeError):
        if inside:
            alt = -alt
    return alt * 2


def raises_in_a_loop(x):
    s = x
    try:
        for k in range(3):
            if s > 0.5:
                s = s.rescale(3)
            s = s * 2
    except AttributeError:
        s = s * 7
    return s


def missing_key(x):
    d = {"a": x}
    try:
        if x > 1:
            y = d["b"]
        else:
            y = d["a"]
    except KeyError:
        y = 5 * x
    return y


def item_of(d, k):
    return d[k] * 2


def missing_key_in_a_callee(x):
    d = {"a": x}
    try:
        if x > 1:
            return item_of(d, "b")
        y = 3 * x
    except KeyError:
        return 5 * x
    finally:
        x = x * 9
    return y + x


def continues_in_a_handler(x):
    n = 0.0
    for k in range(3):
        try:
            if x > k:
                n = (x * k).nope
            n = n + x
        except AttributeError:
            n = n + x * x
            continue
        n = n * 2
    return n


def raises_through_an_inner_try(x):
    try:
        try:
            if x > 1:
                [][0]
            y = x
        except KeyError:
            y = 100 * x
    except IndexError:
        y = 4 * x
    return y


def raises_after_effects(x):
    log = []
    try:
        if x > 1:
            log.append(x)
            log.append(len(x))
        log.append(3 * x)
    except TypeError:
        log.append(7 * x)
    return sum(log)


def leaves_an_endless_loop(x):
    k = 0
    while True:
        try:
            if k > 2:
                x[0] = 3
            k += 1
            x = x * 1.5
        except TypeError:
            break
    return x


def raises_in_a_comprehension(x):
    try:
        vals = [v.foo for v in (x, 2 * x)]
    except AttributeError:
        vals = [x]
    return sum(vals)


def raises_in_a_manager(x):
    try:
        with np.errstate(all="ignore"):
            if x > 1:
                y = None + x
            else:
                y = x
    except TypeError:
        y = 2 * x
    return y


def raises_under_a_condition(x):
    for _ in range(2):
        try:
            if x > 1:
                int("a")
            x = x + 1
        except ValueError:
            x = x * 2
    return x

PROGRAMS = [f for f in list(globals().values()) if inspect.isfunction(f) and f.__module__ == __name__ and f.__code__.co_argcount < 2]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.3, 1.7])
@pytest.mark.filterwarnings("ignore")
def test_program(f, x):
    assert judged_in_all_modes(f, x) == "right"
