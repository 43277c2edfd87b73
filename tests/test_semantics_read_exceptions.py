"""Handlers that read what their exception says, exception classes defined inside the function, and exceptions that are raised again."""

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import SourceADError
from tests.semantics import judged, judged_in_all_modes


class Far(Exception):
    def __init__(self, value, factor=2.0):
        super().__init__("far")
        self.value = value
        self.factor = factor

    def scaled(self):
        return self.value * self.factor


def raised_with_data(x):
    if x[0] > 0.5:
        raise Far(x[0] * x[1], factor=3.0)
    return x[0] * 0.9


def attribute(x):
    try:
        y = raised_with_data(x)
    except Far as e:
        y = e.scaled() + e.value**2
    return y * x[2]


def arguments(x):
    total = 0.0
    for k in range(3):
        try:
            if x[k] > 0.5:
                raise ValueError("large", x[k] * k)
            if x[k] < 0.3:
                raise Far(x[k])
            total += x[k]
        except ValueError as e:
            total += e.args[1] ** 2
        except Far as e:
            total *= e.value
    return total * x[0]


def defined_inside(x):
    class Near(Far):
        def __init__(self, u, *, more):
            super().__init__(u)
            self.more = more * u

        def total(self):
            return self.value + self.more

    total = 0.0
    for k in range(3):
        try:
            if x[k] > 0.5:
                raise Near(x[k], more=x[1])
            total += x[k]
        except Near as e:
            total += e.total() ** 2
        finally:
            total *= 0.9
    return total


def class_without_a_call(x):
    try:
        if x[0] > 0.5:
            raise LookupError
        y = x[1]
    except Exception as e:
        y = x[2] ** 2 if isinstance(e, LookupError) else x[0]
    return y * x[0]


def kept_in_a_list(x):
    errors = [Far(x[k]) for k in range(3) if x[k] > 0.25]
    return sum(e.value**2 for e in errors) * x[0]


def raised_again(x):
    a = x * 1.0
    try:
        try:
            if x[0] > 0.5:
                raise Far(x[0] * x[1])
            y = x[2]
        except Far as e:
            a[0] = x[1] * 3
            e.value *= 2
            raise
    except Far as f:
        y = f.value
    return y * a[0]


def raised_from(x):
    try:
        try:
            if x[0] > 0.5:
                raise Far(x[0] * x[1])
            y = x[2]
        except Far as e:
            raise ValueError(e.value * 2) from e
    except ValueError as f:
        y = f.args[0] ** 2
    return y * x[2]


READERS = [attribute, arguments, defined_inside, class_without_a_call, kept_in_a_list, raised_again, raised_from]
POINTS = [np.array([0.7, 0.2, 0.4]), np.array([0.2, 0.7, 0.45])]


@pytest.mark.parametrize("f", READERS, ids=lambda f: f.__name__)
def test_handlers_read_their_exception(f):
    for x in POINTS:
        assert judged_in_all_modes(f, x) == "right"


def raised_again_in_a_call(x):
    a = x * 1.0

    def inner(u):
        try:
            if u > 0.5:
                raise Far(u)
        except Far:
            a[0] = x[1] * 3
            raise
        return u

    try:
        y = inner(x[0])
    except Exception:
        y = x[1]
    return y * a[0]


def told_by_python(x):
    table = {"a": x[0]}
    try:
        y = table["missing"]
    except KeyError as e:
        y = x[1] * len(e.args)
    return y


def test_what_is_not_known_of_an_exception_is_refused():
    with pytest.raises(SourceADError):
        grad(told_by_python)(POINTS[0])


def test_an_exception_that_a_caller_handles_is_raised_again():
    assert [judged(raised_again_in_a_call, point) for point in POINTS] == ["right"] * len(POINTS)


def test_an_exception_of_a_class_defined_inside_leaves_the_gradient():
    def f(x):
        class Bad(Exception):
            def __init__(self, u):
                super().__init__("bad", 3)
                self.u = u

        if x[0] > 0.5:
            raise Bad(x[0])
        return x[0] * x[1]

    assert judged(f, POINTS[1]) == "right"
    with pytest.raises(Exception) as caught:
        grad(f)(POINTS[0])
    assert type(caught.value).__name__ == "Bad" and caught.value.args == ("bad", 3) and caught.value.u == 0.7


def surely_raised_in_a_call(x):
    def inner(u, k):
        if k > 1:
            raise Far(u * x[1])
        return u

    try:
        x = x * 2
        y = inner(x[0], 1) + inner(x[1], 2)
    except Far as e:
        y = e.value
    return y * x[2]


def test_what_a_call_surely_raises_is_read():
    assert judged_in_all_modes(surely_raised_in_a_call, POINTS[0]) == "right"


def test_an_exception_that_is_kept_is_read_later():
    def f(x):
        last = None
        for u in x:
            try:
                if u > 0.42:
                    raise Far(u * x[0])
            except Far as e:
                last = e
        return last.value ** 2 if last is not None else x[1]

    for x in POINTS:
        assert judged_in_all_modes(f, x) == "right"
