"""A `finally` that returns, breaks or continues: no exception of the body leaves it."""
# ruff: noqa: B012, F821, F841

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([0.5, -1.2, 2.0])


def unassigned_name(x):
    def g(e):
        try:
            if e > 1.3:
                return e
            b = b + 1
        finally:
            return 3.0
    return g(np.sum(x)) * x[0]


def item_of_unassigned(x):
    def g(e):
        try:
            if e > 1.3:
                return e
            p[1] = u[1]
        finally:
            return e * 2
    return g(np.sum(x)) * x[0]


def missing_key_then_continue(x):
    s = 1.0
    for v in x:
        try:
            s = s * v
            d = {}
            s = d["k"]
        finally:
            s = s + v
            continue
    return s


def raised_then_break(x):
    s = 1.0
    for v in x:
        try:
            s = s * v
            if v > 1:
                raise ValueError
            s = s * v
        finally:
            s = s + v
            break
    return s


def index_out_of_range(x):
    def g(v):
        try:
            return v * x[10]
        finally:
            return v * v
    return g(x[0]) + g(x[1])


def handler_too(x):
    def g(v):
        try:
            return v * v
        except ValueError:
            return 1.0
        finally:
            return v ** 3
    return g(x[0]) + g(x[1])


def return_on_both_sides(x):
    def g(e):
        try:
            if e > 1.3:
                return e
            b = b + 1
        finally:
            if e > 0:
                return 3.0
            else:
                return 2.0
    return g(np.sum(x)) * x[0]


def continue_or_break(x):
    s = 0.0
    for v in x:
        try:
            s = s + {}["k"]
        finally:
            if v > 0:
                s = s + v
                continue
            break
    return s


def return_in_a_with(x):
    def g(e):
        try:
            raise ValueError
        finally:
            with np.errstate(all="ignore"):
                return e * 2
    return g(x[0]) * x[1]


@pytest.mark.parametrize(
    "f",
    [
        unassigned_name, item_of_unassigned, missing_key_then_continue, raised_then_break, index_out_of_range,
        handler_too, return_on_both_sides, continue_or_break, return_in_a_with,
    ],
)
def test_exception_is_swallowed(f):
    assert judged_in_all_modes(f, X) == "right"
