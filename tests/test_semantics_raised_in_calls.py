"""Exceptions that a function raises in some runs, and that one of its callers handles."""

import numpy as np
import pytest

from sourcead import grad, hvp
from sourcead.errors import SourceADError
from tests.semantics import judged, judged_in_all_modes, made


def root(x):
    if x < 0.1:
        raise ZeroDivisionError("too small")
    if x > 5:
        raise KeyError("too large")
    return np.sqrt(x) * x


def doubled(x):
    y = root(x)
    return y * 2


def written(a, x):
    a[0] = x * 2
    if x < 0.1:
        raise ValueError
    a[1] = x**2


class Large(Exception):
    pass


class VeryLarge(Large):
    pass


def summed(x, n):
    total = 0.0
    for k in range(n):
        total += x**k
        if total > 3:
            raise Large
    return total


def summed_or_less(x):
    try:
        return summed(x, 4)
    except VeryLarge:
        return -x


class Square:
    def __init__(self, x):
        if x < 0.1:
            raise ZeroDivisionError
        self.x = x * x

    @property
    def root(self):
        if self.x > 25:
            raise KeyError("too large")
        return np.sqrt(self.x)

    @property
    def both(self):
        return self.root, 2 * self.x

    def times(self, y):
        if y < 2.0:
            raise ValueError(y)
        return self.x * y


RIGHT = {
    "a call in a call": """
        try:
            y = doubled(x)
        except ZeroDivisionError:
            y = 3 * x
        except KeyError:
            return 7 * x
        return y**2""",
    "a call that is returned": """
        try:
            return root(x)
        except ZeroDivisionError:
            return 3 * x
        except KeyError:
            pass
        return x""",
    "in a loop": """
        total = 0.0
        for k in range(3):
            try:
                y = root(x * k * 1.1)
            except ZeroDivisionError:
                continue
            except KeyError:
                break
            else:
                total += y
            total = 2 * total
        return total + x""",
    "what was written before": """
        a = np.ones(3)
        try:
            written(a, x)
        except ValueError:
            a[2] = x
        finally:
            a *= x
        return np.sum(a)""",
    "a constructor": """
        try:
            y = Square(x).x
        except ZeroDivisionError:
            return 5 * x
        return y * x""",
    "a method": """
        squared = Square(x + 1)
        try:
            y = squared.times(x)
        except ValueError as error:
            y = 100 * x
        return y""",
    "properties, one in another": """
        squared = Square(x + 1)
        try:
            first, second = squared.both
        except KeyError:
            return 9 * x
        return first * second**2""",
    "several calls in an expression": """
        seen = []
        def note(value):
            seen.append(value)
            return value
        try:
            y = note(x) * 2 + root(note(2 * x)) * note(3 * x)
        except (ZeroDivisionError, KeyError):
            y = x
        return y + sum(seen)""",
    "an argument that is not always evaluated": """
        seen = []
        def note(value):
            seen.append(value)
            return value
        def third(a, b, c):
            seen.append(root(x))
            return c
        try:
            y = third(*[note(x), note(2 * x)], note(3 * x) if x > 1 else x)
        except (ZeroDivisionError, KeyError):
            y = x
        return y + sum((k + 1) * value for k, value in enumerate(seen))""",
    "an augmented assignment": """
        y = x
        try:
            y += root(x) - Square(x).x
        except ZeroDivisionError:
            y *= 5
        except KeyError:
            y *= 7
        return y""",
    "a name that the call binds anew": """
        n = 1.0
        def raised():
            nonlocal n
            n = n + x
            if x < 0.1:
                raise ValueError
            return n
        try:
            y = n + raised() * n
        except ValueError:
            y = n * x
        return y + n""",
    "another exception is handled between": """
        try:
            y = summed_or_less(x)
        except Large:
            y = 7 * x
        return y * x""",
    "handlers around each other": """
        try:
            try:
                y = summed(x, 4)
            except VeryLarge:
                y = 1.0
            finally:
                x = 2 * x
        except Large:
            y = 7 * x
        return y * x""",
    "around a loop": """
        total = 0.0
        try:
            for k in range(4):
                total += summed(0.5 * k * x, 3)
                total = total * 2
        except Large:
            total = total + 11 * x
        return total""",
    "around a loop of unknown length": """
        total = x
        try:
            while total < 9:
                more = summed(total, 2)
                total = total + more
        except Large:
            return 3 * total
        return 5 * total""",
    "around a loop in a loop": """
        total = x
        for k in range(3):
            try:
                for _ in range(2):
                    total = total + summed(0.5 * total, 3)
            except Large:
                total = 0.5 * total
        return total""",
    "an item of what was called": """
        try:
            return [Square(x).x, root(x)][1]
        except ZeroDivisionError:
            return 11 * x
        except KeyError:
            return 13 * x""",
}
KNOWN = {"np": np, "root": root, "doubled": doubled, "written": written, "Square": Square}
KNOWN |= {each.__name__: each for each in (Large, VeryLarge, summed, summed_or_less)}


SLOW = {"around a loop in a loop": pytest.mark.long}


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(name, ())) for name in RIGHT])
def test_gradient_is_right_on_each_path(name):
    f = made(RIGHT[name], "x", **KNOWN)
    assert [judged(f, x) for x in (0.04, 1.3, 20.0)] == ["right"] * 3
    assert judged_in_all_modes(f, 3.9) == "right"


def test_second_derivatives():
    f = made(RIGHT["a call in a call"], "x", **KNOWN)
    for x in (0.04, 1.3, 20.0):
        slopes = [grad(f)(x + by) for by in (1e-5, -1e-5)]
        np.testing.assert_allclose(hvp(f)(x, 1.0), (slopes[0] - slopes[1]) / 2e-5, rtol=1e-5)


def test_what_is_not_the_value_of_a_statement_is_refused():
    f = made("""
        try:
            if root(x) > 0.5:
                return x
        except ZeroDivisionError:
            return 2 * x
        return 3 * x""", "x", root=root)  # fmt: skip
    with pytest.raises(SourceADError, match="whether an exception is raised here"):
        hvp(f)(0.04, 1.0)
    assert [hvp(f)(x, 1.0) for x in (0.2, 1.3)] == [0.0, 0.0]  # in these runs nothing is raised
