"""Objects whose class answers for attributes that they do not have: their data is what they have."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from sourcead import value_and_grad
from tests.semantics import judged_in_all_modes

X = np.array([1.132, 0.891])


class Answering:
    """An object with a `__getattr__` that knows every name."""

    def __init__(self, v):
        self.v = v
        self.total = None

    def __getattr__(self, name):
        return self.v[0] * len(name)

    def __lt__(self, other):
        return self.v[0] < other.v[0]


class AnsweringByName(Answering):
    def __getattr__(self, name):
        return {"alpha": self.v[1]}.get(name, 0.5)


@dataclass
class AnsweringData:
    v: np.ndarray
    unset: float = field(init=False, repr=False, compare=False)

    def __getattr__(self, name):
        return 2.5

    def __lt__(self, other):
        return self.v[0] < other.v[0]


def least_of_a_sorted_list(cls):
    def f(x):
        first, second = cls(x), cls(x * -1.072)
        return sorted([first, second])[0].v[0] + first.v[1]

    return f


def least_found_by_min(cls):
    def f(x):
        return min(cls(x), cls(x * -1.072)).v[0] ** 2

    return f


def appended_in_a_loop(cls):
    def f(x):
        kept = []
        for k in range(3):
            kept.append(cls(x * k))
        return sum(part.v[1] ** 2 for part in sorted(kept))

    return f


@pytest.mark.parametrize("cls", [Answering, AnsweringByName, AnsweringData])
@pytest.mark.parametrize("made", [least_of_a_sorted_list, least_found_by_min, appended_in_a_loop])
def test_objects_that_answer_for_every_name(made, cls):
    assert judged_in_all_modes(made(cls), X) == "right"


def asked_for_a_name_it_makes_up(x):
    return Answering(x).anything + AnsweringByName(x).alpha


def test_an_attribute_that_is_made_up():
    assert judged_in_all_modes(asked_for_a_name_it_makes_up, X) == "right"


def scaled(part, x):
    return np.sum(part.v * x)


@pytest.mark.parametrize("part", [Answering(X * 2), AnsweringData(X * 3)])
def test_an_argument_that_answers_for_every_name(part):
    value, d_x = value_and_grad(scaled, wrt="x")(part, X)
    assert np.isclose(value, scaled(part, X))
    np.testing.assert_allclose(d_x, part.v)
