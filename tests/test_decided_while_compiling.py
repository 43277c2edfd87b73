"""What is known decides which code is lowered: equality and membership of containers, predicates of constants, known strings."""

import collections
import math

import numpy as np
import pytest

from sourcead import UnsupportedSyntaxError, check_grads, grad

WHITE = np.array([0.9, 1.0, 1.1])


def equal_dicts(x):
    one, other = {"name": "lab", "white": WHITE}, {"white": WHITE, "name": "lab"}
    scale = [2.0] if one == other and one != {"name": "lab"} else 3.0
    return x * scale[0]


def equal_lists(x):
    scale = [2.0] if [1, "a", (2, None)] == [1.0, "a", (2, None)] and (1, 2) != [1, 2] else 3.0
    return x * scale[0]


def equal_to_itself(x):
    values = np.array([x, x * x])
    scale = [2.0] if (values, 1) == (values, True) else 3.0
    return values[1] * scale[0]


def no_container(x):
    bounds = [x, 1.0]
    scale = 3.0 if bounds in [None, (), []] or bounds == () else [2.0]
    return x * scale[0]


def in_a_list(x):
    scale = [2.0] if [1, 2] in [[1], [1, 2]] and "b" not in ("a", "c") and 1.0 in [True] else 3.0
    return x * scale[0]


def predicates(x):
    bounds = [-1.0, float("inf"), 2]
    finite = [b for b in bounds if np.isfinite(b) and not math.isnan(b)]
    scale = 3.0 if not all(np.isfinite(b) for b in finite) else [len(finite) * 1.0]
    return x * scale[0] * (~np.isfinite(1.0) + 2.0)


def chosen_letters(x):
    values = {"a": x, "b": 2.0}
    total = 0.0
    name = "ab" if x > 100 else "ba"
    if name == "ba":
        for letter in name:
            total = total * 3.0 + values[letter]
        total = total * values[name[1]]
    return total + x


def operators_by_name(x):
    total = x
    for operator in (float.__mul__, float.__add__, float.__rsub__, float.__pow__, float.__rtruediv__):
        total = operator(float(total), 2.0)
    return total.__neg__() * x.__radd__(3).__mul__(2)


def factory_taken_away(x):
    found = collections.defaultdict(float)
    found["a"] += x
    found.default_factory = None
    try:
        return found["b"]
    except KeyError:
        return found["a"] * x


def other_factory(x):
    found = collections.defaultdict(float)
    found.default_factory = lambda: x * x
    return found["a"] + found["b"]


def shape_of_numbers(x):
    made = np.empty(np.broadcast_shapes(np.shape(x), np.shape(2.0)) + (2, 2))
    made[..., 0, 0], made[..., 0, 1], made[..., 1, 0], made[..., 1, 1] = x, x * x, 1.0, 2.0
    return np.sum(made ** 2)


def no_named_fields(x):
    made = np.full((2, 2), x)
    return made[0, 0] * (3.0 if made.dtype.names else [2.0][0])


EDGES = [("a", "b"), ("b", "c"), ("a", "c")]


def edges_and_weights(x):
    graph = {}
    for (a, b), weight in zip(EDGES, np.array([x, x * x, 3.0])):
        for node in (a, b):
            if node not in graph:
                graph[node] = {}
        graph[a][b] = {"weight": weight}
    return sum(edge["weight"] ** 2 for edges in graph.values() for edge in edges.values()) + len(graph)


class Water:
    constants = {"M": 18.0, "name": "water"}


def absent_key_of_a_class(x):
    if x > 1:
        return x * Water.constants.get("R", 3.0)
    return x * Water.constants.get("M", 2.0)


def object_in_a_test(x):
    fluid = Water() if x > 100 else Water()
    scale = 1.0
    if x and fluid:
        scale = 2.0
    if x > 1 or fluid and not x:
        scale = scale * (3.0 if fluid and x else 5.0)
    return x * scale


class Counted:
    asked = 0

    def __bool__(self):
        self.asked = self.asked + 1
        return self.asked > 1


def asked_once(x):
    counted = Counted()
    if x > 0 and counted:
        x = x * 7.0
    if counted:
        x = x * 5.0
    return x * counted.asked


def power_of_integers(x):
    total = 0.0
    for i, k in ((2, 3), (3, -1), (1, 2)):
        total = total + x ** (i ** k) + (i ** k) * x
    return total


PROGRAMS = [equal_dicts, equal_lists, equal_to_itself, no_container, in_a_list, predicates, chosen_letters, operators_by_name,
            factory_taken_away, other_factory, shape_of_numbers, no_named_fields, edges_and_weights, absent_key_of_a_class,
            object_in_a_test, asked_once, power_of_integers]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("x", [0.7, 1.9])
def test_what_is_known_decides(f, x):
    check_grads(f, (x,))


def test_a_factory_assigned_in_an_arm_is_not_taken_for_that_of_the_other():
    def f(x):
        found = collections.defaultdict(float)
        if x > 1:
            found.default_factory = None
        return x * 2.0 + found["a"]

    assert grad(f)(0.5) == 2.0
    with pytest.raises(UnsupportedSyntaxError, match="in a branch"):
        grad(f)(1.5)


def test_the_method_of_an_integer_leaves_a_float_to_the_other_operand():
    with pytest.raises(Exception, match="__mul__"):
        grad(lambda x: int.__mul__(2, x))(1.5)
