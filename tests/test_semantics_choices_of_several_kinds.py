"""An expression that is one of several values of different kinds, as the run decides: what follows it is done with the one that it is."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes


class Square:
    def __init__(self, a):
        self.a = a

    def area(self):
        return self.a * 2


class Box:
    def __init__(self, a, b):
        self.a, self.b = a * 2, b

    def area(self):
        return self.b * self.a


def three(x):
    return [Square(x[0]), Box(x[1], x[2]), Square(x[3])]


def largest(x):
    return max(three(x), key=lambda e: e.a).a * x[0]


def smallest_is_written(x):
    shapes = three(x)
    small = min(shapes, key=lambda e: e.a)
    small.a += x[1]
    return sum(e.a * e.a for e in shapes) + isinstance(small, Square) * x[0]


def sorted_by_key(x):
    return sorted(three(x), key=lambda e: -e.area())[0].a * x[0]


def largest_of_each_step(x):
    shapes, total = three(x), 0.0
    for _ in range(4):
        best = max(shapes, key=lambda e: e.area())
        best.a = best.a * 0.5 - 0.1
        total += best.area()
    return total


def between_calls(x):
    k = 0

    def bump():
        nonlocal k
        k += 1
        return x[k]

    return bump() * max(three(x), key=lambda e: e.area()).a * bump() + k


def places_in_lists(x):
    shapes, k = three(x), int(x[3] > 0)
    shapes[k].a += shapes[1 - k].area()
    return sum(e.area() for e in shapes) + shapes[k].a


def kept_in_a_function(x):
    shapes = three(x)
    one = shapes[int(x[0] > x[1])]

    def scaled(z):
        return one.area() * z

    one = shapes[1]
    return scaled(x[3]) + isinstance(one, Square) * x[1]


def keys_of_dicts(x):
    table, total = {"a": x[0], "b": x * 2, "c": [x[1], x[2]]}, 0.0
    for k in range(3):
        name = "abc"[int(abs(x[k]) * 10) % 3]
        total += float(np.sum(table[name])) * x[k]
    return total


def numbers_and_arrays(x):
    return float(np.sum([x[0], x * 3, (x[1], x[2])][int(abs(x[1]) * 7) % 3])) * x[3]


def arguments_of_functions(x):
    shapes = three(x)

    def made(a, b=0.7):
        return lambda t: a * t + b

    found = {"one": made(max(shapes, key=lambda e: -e.a).a), "other": made(x[0], x[3])}
    return found["one"](x[1]) * found["other"](x[2])


def parts_of_slices(x):
    x = x * 1.0
    x[1:3] += max(three(x), key=lambda e: e.a).area()
    return x.sum() * x[0]


CASES = [largest, smallest_is_written, sorted_by_key, largest_of_each_step, between_calls, places_in_lists, kept_in_a_function,
         keys_of_dicts, numbers_and_arrays, arguments_of_functions, parts_of_slices]  # fmt: skip


@pytest.mark.parametrize("program", CASES, ids=lambda f: f.__name__)
def test_each_value_goes_its_own_way(program):
    for x in ([0.61, 0.33, -0.43, 0.83], [-0.23, 0.71, 1.33, -0.45]):
        assert judged_in_all_modes(program, np.array(x)) == "right"
